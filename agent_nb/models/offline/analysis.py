# ruff: noqa: E501
"""The analyst: looks at the tables, reads the goal against them, queries, and words the answer.

Each step is a generator that yields (thought, tool, input) and gets the tool's JSON back; the answer is what it
returns. Nothing is kept between calls: the model runs it again over the results that the history holds.
"""

from __future__ import annotations

from typing import Any

from . import checks, groups, movers, resolve
from .query import Query
from .reading import Unclear
from .schema import Table, tables_of
from .steps import Failed
from .wording import MODEL, Steps, Words, number

Json = dict[str, Any]


def analyse(
    goal: str, earlier: list[str], texts: list[str], handed: str, names: set[str], say: Words
) -> Steps:
    """Answer a question about the data."""
    lacking = [n for n in ("list_variables", "query_sql") if n not in names]
    if lacking:
        listed = ", ".join(lacking)
        return say(
            f"I cannot look at data here: the tool {listed} is not mounted. Is there something else I can do?",
            f"这里没有 {listed} 工具，看不到数据。要做别的吗？",
        )
    listing = yield (say("I look at which tables there are.", "先看有哪些表。"), "list_variables", {})
    if not listing.get("ok", True):
        return say(
            f"The variables could not be listed: {listing.get('error')}",
            f"无法列出变量：{listing.get('error')}",
        )
    tables = tables_of(listing)
    if not tables:
        return say(
            "I find no table among the variables: no DataFrame and no database. Can you load one and ask again?",
            "变量里没有表（没有 DataFrame，也没有数据库）。能先载入数据再问吗？",
        )
    try:
        query = yield from resolve.resolve(goal, earlier, tables, texts, handed)
        body = yield from _answer(query, tables, names, say)
    except Unclear as unclear:
        return _asks(unclear, say)
    except Failed as failed:
        return say(
            f"The query did not work: {failed}. What shall I try instead?",
            f"查询没有成功：{failed}。要换个问法吗？",
        )
    notes = [say(*note) for note in query.notes]
    return "\n\n".join([body, *(["\n".join(f"- {n}" for n in notes)] if notes else [])])


def _asks(unclear: Unclear, say: Words) -> str:
    text = say(*unclear.texts)
    text = text[0].upper() + text[1:]
    hint = say(
        f"For a freer question use a language model (-m {MODEL}).",
        f"更自由的问题请用语言模型（-m {MODEL}）。",
    )
    if text.rstrip().endswith(("?", "？")):
        return f"{hint}\n\n{text}"
    return f"{hint}\n\n{text}\n\n" + say("What would you like instead?", "要怎么改？")


def _answer(query: Query, tables: list[Table], names: set[str], say: Words) -> Steps:
    want = query.want
    if want.listing and not query.measures:
        return _listing(tables, say)
    if want.missing:
        return (yield from checks.missing(query, say))
    if want.range and query.axis:
        a = query.axis
        return say(
            f"{query.table.name} runs from {a.first} to {a.last} ({a.label}).",
            f"{query.table.name} 的时间从 {a.first} 到 {a.last}（{a.label}）。",
        )
    if want.describe and not query.measures:
        return _listing([query.table], say)
    if want.correlation:
        return (yield from checks.correlation(query, names, say))
    if want.outliers:
        return (yield from checks.outliers(query, names, say))
    if want.distribution:
        return (yield from checks.distribution(query, names, say))
    part = query.stat == "share" and (query.where or (query.rows and query.dims))
    if not query.measures and query.stat != "count" and not query.having and not part:
        raise Unclear(
            f"I see the table {query.table.name} ({', '.join(c.name for c in query.table.columns[:20])}), but which number do you want, and as total, mean or count?",
            f"表 {query.table.name} 有这些列：{', '.join(c.name for c in query.table.columns[:20])}。要看哪个数，求和、平均还是计数？",
        )
    if query.having and not query.dims:
        raise Unclear(
            f"{query.having_label} of what? Name the column whose values shall be counted one by one.",
            f"{query.having_label}：是哪一列的每个值？",
        )
    if query.having and not query.stat and not query.measures:
        query.stat = "count"
    if want.change or (want.against and len(query.periods) == 2):
        if len(query.periods) == 2:
            return (yield from movers.compare(query, names, say))
        if len(query.periods) > 2 or ((want.why or want.direction) and not query.where):
            raise Unclear("which two periods shall I compare?", "要比较哪两段时间？")
    if want.why:
        raise Unclear(
            "why needs two periods to compare: which ones?", "要解释原因，得有两段时间可比：哪两段？"
        )
    if want.grain or want.trend or (want.against and not query.dims):
        return (yield from groups.trend(query, names, say))
    if want.change and want.change != "any":
        raise Unclear("which two periods shall I compare?", "要比较哪两段时间？")
    if len(query.periods) >= 2:
        return (yield from groups.by_period(query, say))
    if query.dims:
        return (yield from groups.by_group(query, names, say))
    return (yield from groups.single(query, say))


def _listing(tables: list[Table], say: Words) -> str:
    lines = []
    for t in tables[:20]:
        rows = (
            f", {number(t.rows)} rows"
            if t.rows is not None and not say.zh
            else f"，{number(t.rows)} 行"
            if t.rows is not None
            else ""
        )
        more = f" … (+{len(t.columns) - 20})" if len(t.columns) > 20 else ""
        lines.append(f"- **{t.name}**{rows}: {', '.join(c.name for c in t.columns[:20])}{more}")
    return say("I see these tables:", "我看到这些表：") + "\n" + "\n".join(lines)
