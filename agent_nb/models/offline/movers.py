# ruff: noqa: E501
"""Two periods side by side: what changed, who moved most, and where inside the mover it came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from typing import Any

from . import statements
from .periods import Period
from .query import Dimension, Query
from .reading import Unclear
from .steps import Steps, chart, records, run, scope, what
from .text import literal, quote
from .wording import Words, number, signed, table

Json = dict[str, Any]

MOST_DRILLED = 3
"""Dimensions that a "why" looks into."""


def compare(query: Query, names: set[str], say: Words) -> Steps:
    """The whole in two periods, then the groups that moved, then the why."""
    a, b = query.periods
    if query.axis and not a.lacks_year and not b.lacks_year:
        (a1, a2), (b1, b2) = a.bounds(), b.bounds()
        if a1 < b2 and b1 < a2:
            raise Unclear(
                f"{a.label} and {b.label} overlap; which two periods shall I compare?",
                f"{a.label} 与 {b.label} 重叠，要比较哪两段？",
            )
    if not query.stat:
        query.stat = "count"
    if query.stat == "mean or extreme":
        query.stat = "mean"
    if query.stat in ("min", "max") and query.want.direction:
        query.stat = "mean"
    if query.stat == "share" and query.measure.predicate:
        query.stat = "mean"
    whole = yield from _whole(query, a, b, say)
    row = records(whole)[0] if records(whole) else {}
    for period, n in ((a, row.get("rows_before")), (b, row.get("rows_after"))):
        if not n:
            first = query.axis.first[:10] if query.axis else ""
            last = query.axis.last[:10] if query.axis else ""
            return say(
                f"There is nothing to compare: no rows for {period.label}{scope(query, say, False)}; the data runs from {first} to {last}.",
                f"无法比较：{period.label} 没有数据{scope(query, say, False)}；数据从 {first} 到 {last}。",
            )
    total = _told(query, row, a, b, say)
    if not query.dims:
        if not query.want.why:
            return total
        return total + "\n\n" + (yield from _why(query, a, b, "", "", float(row["change"] or 0), set(), say))
    return (yield from _movers(query, row, total, a, b, names, say))


def _whole(query: Query, a: Period, b: Period, say: Words) -> Generator[tuple[str, str, Json], Json, Json]:
    thought = say(
        f"First the whole: {what(query, say)} in {a.label} and {b.label}.",
        f"先看整体：{a.label} 与 {b.label} 的{what(query, say)}。",
    )
    return (yield from run(query, thought, statements.side_by_side(query, None, a, b)))


def _told(query: Query, row: Json, a: Period, b: Period, say: Words) -> str:
    unit = "%" if query.measure.predicate else ""
    change = row["change"] or 0
    verb = say(
        "rose" if change > 0 else "fell" if change < 0 else "did not change",
        "上升" if change > 0 else "下降" if change < 0 else "没有变化",
    )
    pct = f" ({signed(row['change_pct'])}%)" if row.get("change_pct") is not None and change else ""
    by = f" {number(abs(change))}{unit}{pct}" if change else ""
    rows = (
        ""
        if query.stat == "count"
        else say(
            f", on {number(row['rows_before'])} and {number(row['rows_after'])} rows",
            f"，行数 {number(row['rows_before'])} 与 {number(row['rows_after'])}",
        )
    )
    return say(
        f"{what(query, say).capitalize()}{scope(query, say, False)} {verb}{' by' + by if by else ''}: {number(row['before'])}{unit} in {a.label}, {number(row['after'])}{unit} in {b.label}{rows}.",
        f"{what(query, say)}{scope(query, say, False)}{verb}{by}：{a.label} 为 {number(row['before'])}{unit}，{b.label} 为 {number(row['after'])}{unit}{rows}。",
    )


def _movers(
    query: Query, whole: Json, total: str, a: Period, b: Period, names: set[str], say: Words
) -> Steps:
    want, dim = query.want, query.dims[0]
    up = want.change != "down"
    by = "change_pct" if want.relative else "change"
    direction = "DESC" if up else "ASC"
    if want.direction == "asc" and want.change in ("up", "down"):
        direction = "ASC" if up else "DESC"
    either = want.change == "any" or not want.change
    order = f"ABS({by}) DESC NULLS LAST, 1" if either else f"{by} {direction} NULLS LAST, 1"
    sql = statements.side_by_side(query, dim, a, b, order=order, limit=max((want.n or 1) + 6, 10))
    got = yield from run(
        query,
        say(f"Then each {dim.label}, the biggest mover first.", f"再看每个 {dim.label}，变化最大的在前。"),
        sql,
    )
    found = [r for r in records(got) if r["change"] is not None and r[dim.label] is not None]
    if not found:
        return (
            total
            + "\n\n"
            + say(f"No {dim.label} has values in both periods.", f"没有 {dim.label} 在两段时间里都有值。")
        )
    lines = []
    moved = [r for r in found if either or ((r["change"] > 0) == up and r["change"] != 0)]
    if not moved:
        lines.append(
            say(
                f"No {dim.label} {'rose' if up else 'fell'}.",
                f"没有 {dim.label} {'上升' if up else '下降'}。",
            )
        )
        lines.append(total)
        lines.append(_table(query, dim, found, a, b, say))
        return "\n\n".join(lines)
    n = want.n or (1 if want.direction or want.which else len(moved))
    if want.which and not want.direction and not want.n and not either:
        n = len(moved)
    winners = moved[:n]
    edge = round(float(winners[-1][by] or 0), 9)
    winners += [r for r in moved[n:] if r[by] is not None and round(float(r[by]), 9) == edge]
    lines.append(_winners(query, dim, winners, found, a, b, by, up, say))
    lines.append(total)
    lines.append(_table(query, dim, found, a, b, say))
    if len(winners) == 1:
        top = winners[0]
        key = top[dim.label]
        inside = f"{dim.sql} = {literal(key)}"
        named = _named(dim, top)
        for inner in query.dims[1:]:
            lines.append((yield from _drill(query, inner, a, b, inside, named, float(top["change"]), say)))
        if want.why and not query.dims[1:]:
            lines.append(
                (yield from _why(query, a, b, inside, named, float(top["change"]), set(dim.columns), say))
            )
    elif len(query.dims) > 1:
        lines.append(say("I drill down only where there is one winner.", "只有一个最大者时才往下钻取。"))
    drawn = yield from chart(query, names, sql, dim.label, "bar", len(found), say, y="change")
    return "\n\n".join(lines) + drawn


def _winners(
    query: Query,
    dim: Dimension,
    winners: list[Json],
    found: list[Json],
    a: Period,
    b: Period,
    by: str,
    up: bool,
    say: Words,
) -> str:
    unit = "%" if query.measure.predicate else ""
    least = query.want.direction == "asc"
    out = []
    for r in winners:
        verb = say(
            "rose" if r["change"] > 0 else "fell" if r["change"] < 0 else "did not change",
            "上升" if r["change"] > 0 else "下降" if r["change"] < 0 else "没有变化",
        )
        pct = (
            f", {signed(r['change_pct'])}%"
            if r["change_pct"] is not None
            else say(", from nothing", "，此前为零")
        )
        rows = (
            ""
            if query.stat == "count"
            else say(
                f"; {number(r['rows_before'])} and {number(r['rows_after'])} rows",
                f"；行数 {number(r['rows_before'])} 与 {number(r['rows_after'])}",
            )
        )
        out.append(
            (
                r,
                say(
                    f"{what(query, say)} {verb} from {number(r['before'])}{unit} in {a.label} to {number(r['after'])}{unit} in {b.label} ({signed(r['change'])}{unit}{pct}{rows})",
                    f"{what(query, say)}从 {a.label} 的 {number(r['before'])}{unit} {verb}到 {b.label} 的 {number(r['after'])}{unit}（{signed(r['change'])}{unit}{pct}{rows}）",
                ),
            )
        )
    scope_text = scope(query, say, False)
    tail = say(" in percent" if by == "change_pct" else "", "（按百分比）" if by == "change_pct" else "")
    if len(out) == 1:
        r, text = out[0]
        most = say("least" if least else "most", "最小" if least else "最大")
        groups = found[0]["groups"]
        return say(
            f"**{_named(dim, r)}** moved {most}{tail} of {groups} {dim.label} groups{scope_text}: its {text}.",
            f"**{_named(dim, r)}** 变化{most}{tail}（共 {groups} 个 {dim.label}）{scope_text}：{text}。",
        )
    head = say(
        f"In order{tail}{scope_text} ({found[0]['rose']} of {found[0]['groups']} rose, {found[0]['fell']} fell):",
        f"依次{tail}{scope_text}（{found[0]['groups']} 个中 {found[0]['rose']} 个上升，{found[0]['fell']} 个下降）：",
    )
    return head + "\n" + "\n".join(f"{i}. **{_named(dim, r)}**: {text}" for i, (r, text) in enumerate(out, 1))


def _named(dim: Dimension, row: Json) -> str:
    value = row[dim.label]
    text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
    name = row.get(f"{dim.label} name")
    return f"{text} ({name})" if name else text


def _table(query: Query, dim: Dimension, found: list[Json], a: Period, b: Period, say: Words) -> str:
    columns = [dim.label, a.label, b.label, say("change", "变化"), "%"]
    has_rows = query.stat != "count"
    columns += [say("rows", "行数")] if has_rows else []
    rows = []
    for r in found[:6]:
        rows.append([_named(dim, r), r["before"], r["after"], signed(r["change"]), signed(r["change_pct"])])
        if has_rows:
            rows[-1].append(f"{number(r['rows_before'])} / {number(r['rows_after'])}")
    return table(columns, rows)


def _drill(
    query: Query, dim: Dimension, a: Period, b: Period, inside: str, named: str, change: float, say: Words
) -> Steps:
    """Which values of another dimension carry the change, inside the mover."""
    up = change >= 0
    direction = "DESC" if up else "ASC"
    has_contribution = query.stat in ("total", "count", "mean")
    by = "contribution" if has_contribution else "change"
    rank = f"RANK() OVER (ORDER BY CASE WHEN enough = 1 THEN change END {direction} NULLS LAST)"
    base = statements.side_by_side(query, dim, a, b, inside, order="1", limit=100_000)
    sql = (
        f"SELECT *, RANK() OVER (ORDER BY {by} {direction} NULLS LAST) AS by_contribution, {rank} AS by_change FROM ({base}) AS d "
        f"WHERE {quote(dim.label)} IS NOT NULL ORDER BY CASE WHEN by_contribution <= 5 OR by_change > 1 THEN by_contribution ELSE 0 END, 1 LIMIT 8"
    )
    where = f" ({named})" if named else ""
    got = yield from run(
        query,
        say(
            f"Inside{where or ' the whole'} I look at {dim.label}, by contribution to the change.",
            f"在{named or '整体'}内部看 {dim.label} 对变化的贡献。",
        ),
        sql,
    )
    found = [r for r in records(got) if r.get(by) is not None]
    if not found:
        return say(f"By {dim.label}: no values in both periods.", f"按 {dim.label}：没有可比的值。")
    by_part = sorted(found, key=lambda r: r["by_contribution"])
    top = [r for r in by_part if (r[by] > 0) == up and r[by] != 0][:3]
    own = [
        r
        for r in found
        if r["by_change"] == 1 and r["enough"] and r["change"] is not None and (r["change"] > 0) == up
    ]
    if not top:
        return say(
            f"By {dim.label}{where}: no group moved that way.", f"按 {dim.label}：没有同方向变化的组。"
        )
    lines = []
    for r in top:
        share = say(f"{signed(r[by])} of {signed(change)}", f"{signed(change)} 中的 {signed(r[by])}")
        moved = (
            f"{number(r['before'])} → {number(r['after'])}"
            if r["before"] is not None and r["after"] is not None
            else say("no rows in one of the periods", "其中一段没有数据")
        )
        rows = (
            ""
            if query.stat == "count"
            else say(
                f", {number(r['rows_before'])} / {number(r['rows_after'])} rows",
                f"，{number(r['rows_before'])} / {number(r['rows_after'])} 行",
            )
        )
        lines.append(f"**{_named(dim, r)}**: {share} ({moved}{rows})")
    out = (
        say(
            f"By {dim.label}{', inside ' + named if named else ''} (contribution to the change): ",
            f"按 {dim.label}{'（' + named + ' 内部）' if named else ''}对变化的贡献：",
        )
        + "; ".join(lines)
        + say(".", "。")
    )
    if own and query.stat == "mean":
        r = own[0]
        names = ", ".join(f"**{_named(dim, x)}**" for x in own)
        also = say("also " if r is top[0] else "", "同样" if r is top[0] else "")
        out += say(
            f" The largest {'rise' if up else 'fall'} of a {dim.label}'s own mean is {also}{names}: {number(r['before'])} → {number(r['after'])} ({signed(r['change'])}; {number(r['rows_before'])} / {number(r['rows_after'])} rows).",
            f"自身平均值{'上升' if up else '下降'}最多的{also}是 {names}：{number(r['before'])} → {number(r['after'])}（{signed(r['change'])}；{number(r['rows_before'])} / {number(r['rows_after'])} 行）。",
        )
    return out


def _why(
    query: Query, a: Period, b: Period, inside: str, named: str, change: float, used: set[str], say: Words
) -> Steps:
    """Look into the other dimensions, the one that concentrates the change most first."""
    columns = [
        c
        for c in query.table.columns
        if c.name not in used
        and not c.is_id
        and (c.kind in ("text", "flag") or c.signature & {"weekday"})
        and not c.signature & {"date", "time", "month"}
    ]
    filtered = {label.split(" ")[0] for label in query.where_labels}
    columns = [c for c in columns if c.name not in filtered][:10]
    if not columns or not query.axis:
        return say("There is no other column to look into.", "没有其他列可以下钻。")
    counts = ", ".join(f"COUNT(DISTINCT f.{quote(c.name)}) AS {quote(c.name)}" for c in columns)
    sql = f"SELECT {counts} FROM {query.source}{query.conditions(f'({query.axis.where(a)}) OR ({query.axis.where(b)})', inside)}"
    got = yield from run(
        query,
        say(
            "For the why I look which other columns have few enough values to compare.",
            "找原因：看哪些列的取值足够少、可以比较。",
        ),
        sql,
    )
    sizes = records(got)[0]
    usable = sorted(
        (c for c in columns if 2 <= (sizes[c.name] or 0) <= 60), key=lambda c: (sizes[c.name], c.name)
    )[:MOST_DRILLED]
    if not usable:
        return say(
            "The other columns have one value only, or too many to compare.",
            "其他列只有一个值，或取值太多，无法比较。",
        )
    lines = []
    for c in usable:
        dim = Dimension(f"f.{quote(c.name)}", c.name, "", (c.name,))
        lines.append((yield from _drill(query, dim, a, b, inside, named, change, say)))
    lines.append(
        say(
            "These are where the change sits, not proof of its cause.", "这些说明变化出现在哪里，不等于因果。"
        )
    )
    return "\n\n".join(lines)


def reduced(query: Query, dims: list[Dimension]) -> Query:
    """The query with other dimensions."""
    return dataclasses.replace(query, dims=dims)
