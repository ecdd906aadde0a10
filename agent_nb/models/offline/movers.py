# ruff: noqa: E501
"""Two periods side by side: what changed, who moved most, and where inside the mover it came from."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from . import statements
from .periods import Period
from .query import Dimension, Query
from .reading import Unclear
from .steps import chart, records, run, scope, together, what
from .text import literal, own, quote
from .wording import Steps, Thought, Words, number, signed, table

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
    whole, groups = yield from _fetch(query, a, b, say)
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
        return total + "\n\n" + (yield from _why(query, a, b, "", "", row, set(), say))
    return (yield from _movers(query, groups, total, a, b, names, say))


def _fetch(
    query: Query, a: Period, b: Period, say: Words
) -> Generator[tuple[Thought, str, Json], Json, list[Json]]:
    """The whole, and each group where there are groups, side by side."""
    thought = say(
        f"First the whole: {what(query, say)} in {a.label} and {b.label}.",
        f"先看整体：{a.label} 与 {b.label} 的{what(query, say)}。",
    )
    whole = run(query, thought, statements.whole_change(query, a, b))
    if not query.dims:
        return [(yield from whole), {}]
    dim, want = query.dims[0], query.want
    by = "change_pct" if want.relative else "change"
    falling = (want.change == "down") != (want.direction == "asc" and want.change in ("up", "down"))
    order = f"{by} {'ASC' if falling else 'DESC'} NULLS LAST"
    if want.change in ("any", ""):
        ratio = "(after - before) / NULLIF(before, 0)" if want.relative else "after - before"
        order = f"ABS({ratio}) DESC NULLS LAST"
    sql = statements.movers(query, dim, a, b, order, max((want.n or 1) + 6, 8), not want.direction)
    thought = say(
        f"Then each {dim.label}, the biggest mover first.", f"再看每个 {dim.label}，变化最大的在前。"
    )
    return (yield from together(whole, run(query, thought, sql)))


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


def _movers(query: Query, got: Json, total: str, a: Period, b: Period, names: set[str], say: Words) -> Steps:
    want, dim = query.want, query.dims[0]
    up = want.change != "down"
    by = "change_pct" if want.relative else "change"
    either = want.change == "any" or not want.change
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
    drawn = chart(query, names, got, dim.label, "bar", len(found), say, y="change")
    if len(winners) > 1:
        if len(query.dims) > 1:
            lines.append(say("I drill down only where there is one winner.", "只有一个最大者时才往下钻取。"))
        return "\n\n".join(lines) + (yield from drawn)
    top = winners[0]
    inside, named = f"{dim.sql} = {literal(top[dim.label])}", _named(dim, top)
    drills = [_drill(query, inner, a, b, inside, named, top, say) for inner in query.dims[1:]]
    if want.why and not drills:
        drills = [_why(query, a, b, inside, named, top, set(dim.columns), say)]
    *found_inside, picture = yield from together(*drills, drawn)
    return "\n\n".join([*lines, *found_inside, *([picture.strip()] if picture else [])])


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
    least = say("least", "最少") if query.want.direction == "asc" else say("most", "最多")
    scope_text = scope(query, say, False)
    tail = say(" in percent", "（按百分比）") if by == "change_pct" else ""
    first, groups = winners[0], found[0]["group_count"]
    if len(winners) == 1:
        moved = _moved(query, first, a, b, say)
        if not first["change"]:
            return f"**{_named(dim, first)}**: {what(query, say)} {moved}{scope_text}."
        verb = say("rose", "上升") if first["change"] > 0 else say("fell", "下降")
        return say(
            f"**{_named(dim, first)}** {verb} {least}{tail} of {groups} {dim.label} groups{scope_text}: "
            f"its {what(query, say)} {moved}.",
            f"**{_named(dim, first)}** {verb}{least}{tail}（共 {groups} 个 {dim.label}）{scope_text}："
            f"{what(query, say)}{moved}。",
        )
    spread = ""
    if "rose" in first:
        spread = say(
            f" ({first['rose']} of {groups} rose, {first['fell']} fell)",
            f"（{groups} 个中 {first['rose']} 个上升，{first['fell']} 个下降）",
        )
    head = say(
        f"{what(query, say).capitalize()} by {dim.label}, the biggest change first{tail}{scope_text}{spread}:",
        f"{what(query, say)}，按 {dim.label}，变化最大的在前{tail}{scope_text}{spread}：",
    )
    lines = [f"{i}. **{_named(dim, r)}** {_moved(query, r, a, b, say)}" for i, r in enumerate(winners, 1)]
    return "\n".join([head, *lines])


def _moved(query: Query, r: Json, a: Period, b: Period, say: Words) -> str:
    """ "rose from 3 in 2024-01 to 4 in 2024-02 (+1, +33.33%; 10 and 12 rows)"."""
    unit = "%" if query.measure.predicate else ""
    verb = say(
        "rose" if r["change"] > 0 else "fell" if r["change"] < 0 else "did not change",
        "上升" if r["change"] > 0 else "下降" if r["change"] < 0 else "没有变化",
    )
    pct = say(", from nothing", "，此前为零")
    if r["change_pct"] is not None:
        pct = f", {signed(r['change_pct'])}%"
    rows = ""
    if query.stat != "count":
        rows = say(
            f"; {number(r['rows_before'])} and {number(r['rows_after'])} rows",
            f"；行数 {number(r['rows_before'])} 与 {number(r['rows_after'])}",
        )
    detail = f"{signed(r['change'])}{unit}{pct}{rows}"
    return say(
        f"{verb} from {number(r['before'])}{unit} in {a.label} to {number(r['after'])}{unit} in {b.label} ({detail})",
        f"从 {a.label} 的 {number(r['before'])}{unit} {verb}到 {b.label} 的 {number(r['after'])}{unit}（{detail}）",
    )


def _named(dim: Dimension, row: Json) -> str:
    value = row[dim.label]
    text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
    name = row.get(dim.name_key)
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
    query: Query, dim: Dimension, a: Period, b: Period, inside: str, named: str, whole: Json, say: Words
) -> Steps:
    """Which values of another dimension carry the change, inside the mover."""
    change = float(whole["change"] or 0)
    up = change >= 0
    least = 10 if (whole.get("rows_before") or 0) + (whole.get("rows_after") or 0) >= 400 else 1
    has_contribution = query.stat in ("total", "count", "mean")
    by = "contribution" if has_contribution else "change"
    sql = statements.contributions(query, dim, a, b, inside, up, least)
    where = f" {named}" if named else ""
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
    by_part = sorted(found, key=lambda r: -r[by] if up else r[by])
    top = [r for r in by_part if (r[by] > 0) == up and r[by] != 0][:3]
    own = [
        r for r in found if r.get("by_change") == 1 and r["change"] is not None and (r["change"] > 0) == up
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
            f" The {dim.label} whose own mean {'rose' if up else 'fell'} most is {also}{names}: {number(r['before'])} → {number(r['after'])} ({signed(r['change'])}; {number(r['rows_before'])} / {number(r['rows_after'])} rows).",
            f"自身平均值{'上升' if up else '下降'}最多的{also}是 {names}：{number(r['before'])} → {number(r['after'])}（{signed(r['change'])}；{number(r['rows_before'])} / {number(r['rows_after'])} 行）。",
        )
    return out


def _why(
    query: Query, a: Period, b: Period, inside: str, named: str, whole: Json, used: set[str], say: Words
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
    counts = ", ".join(f"COUNT(DISTINCT {own(c.name)}) AS {quote(c.name)}" for c in columns)
    either = query.axis.sides(a, b)[0]
    sql = f"SELECT {counts}\nFROM {query.source}{query.conditions(inside, either)}"
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
    dims = [Dimension(own(c.name), c.name, "", (c.name,)) for c in usable]
    lines = yield from together(*[_drill(query, d, a, b, inside, named, whole, say) for d in dims])
    lines.append(
        say(
            "These are where the change sits, not proof of its cause.", "这些说明变化出现在哪里，不等于因果。"
        )
    )
    return "\n\n".join(lines)
