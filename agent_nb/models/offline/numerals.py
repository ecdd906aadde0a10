"""Numbers that are kept as text: "€4,200.50", "12%". Read only where every value of the column is written alike."""

from __future__ import annotations

import dataclasses

from . import lexicon
from .reading import Raw, Unclear, is_group
from .schema import Column, Mention, Table
from .text import own
from .wording import Steps

_SIGN = r"([€$£¥₹%元]|[A-Z]{3})?"
_AMOUNT = (
    rf"^\s*{_SIGN}\s*[+-]?([0-9]{{1,3}}(,[0-9]{{3}})+|[0-9]+)(\.[0-9]{{1,2}}|\.[0-9]{{4,}})?\s*{_SIGN}\s*$"
)
"""A point before three digits may divide thousands, as "1.234" does in half of Europe: not read."""
_MEASURED = ("total", "mean", "median", "min", "max", "std")


def find(raw: Raw, table: Table, notes: list[tuple[str, str]]) -> Steps:
    """Give the columns of text that the goal measures a number to compute with. Raises Unclear where that is unsafe.

    A look at the values tells: all are amounts written with a decimal point, and all with the same sign beside them.
    """
    for m in list(raw.mentions):
        own_columns = [c for c in m.columns if c.table == table.name]
        if len(own_columns) == 1 and not table.database and _is_measured(raw, m, own_columns[0]):
            column = yield from _read(own_columns[0], table)
            if column is not None:
                notes.append(
                    (f"{column.name} is text, read as numbers", f"{column.name} 是文本，已按数字读取")
                )
                raw.mentions[raw.mentions.index(m)] = dataclasses.replace(m, columns=(column,))


def _is_measured(raw: Raw, m: Mention, column: Column) -> bool:
    """Whether the goal computes with a column of text: it names an amount, or a statistic stands before it."""
    clock = column.signature & {"date", "time", "month", "name"}
    if column.kind != "text" or clock or column.names or raw.want.missing:
        return False
    stated = any(s in _MEASURED and 0 <= m.start - end <= 5 for s, _, end in raw.want.stats)
    return stated or (bool(m.concepts & lexicon.MEASURES) and not is_group(raw, m))


def _read(column: Column, table: Table) -> Steps:
    """The column as numbers, or None where its values are no amounts at all."""
    text = f"CAST({own(column.name)} AS VARCHAR)"
    sign = rf"regexp_replace({text}, '[0-9,.+\s-]', '', 'g')"
    sql = (
        f"SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE regexp_matches({text}, '{_AMOUNT}')) AS amounts,\n"
        f"  COUNT(DISTINCT {sign}) AS signs,\n"
        f"  MIN({text}) FILTER (WHERE NOT regexp_matches({text}, '{_AMOUNT}')) AS other\n"
        f"FROM {table.sql}\nWHERE {own(column.name)} IS NOT NULL"
    ).replace("\x02", "")
    thought = (
        f"{column.name} is text; I look whether all of it is numbers.",
        f"{column.name} 是文本，先看它是否都是数字。",
    )
    got = yield thought, "query_sql", {"query": sql}
    n, amounts, signs, other = (got.get("rows") or [[0, 0, 0, None]])[0]
    if not amounts:
        return None
    if amounts < n or signs > 1:
        example = f", {other!r}" if other is not None else ""
        raise Unclear(
            f"{column.name} is text, and not all of it is numbers of one kind ({signs} different signs beside them"
            f"{example}): can you make it a column of numbers first?",
            f"{column.name} 是文本，写法或单位不统一（{signs} 种符号{example}）：能先转成数字列吗？",
        )
    number = rf"CAST(regexp_replace({text}, '[^0-9.-]', '', 'g') AS DOUBLE)"
    return dataclasses.replace(column, kind="number", sql=number)
