# ruff: noqa: E501
"""Statistics over all rows, by group and over time."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import statements
from .query import Dimension, Measure, Query
from .reading import Unclear
from .steps import chart, group_name, nothing, records, run, scope, what
from .wording import Steps, Words, number, signed, table

Json = dict[str, Any]

MOST_LISTED = 40
"""Groups or periods that are all fetched, where a tool shows only the first rows of a result."""


def single(query: Query, say: Words) -> Steps:
    want = query.want
    if want.quality or (want.which and want.direction and not query.stat):
        raise Unclear("by which number, and of what groups?", "按哪个数、对哪些组？")
    if (
        want.direction and query.measures and query.stat in ("max", "min", "mean or extreme") and want.n > 1
    ) or query.single_rows:
        return (yield from single_rows(query, say))
    if want.direction and query.stat not in ("max", "min"):
        raise Unclear(
            "the highest or lowest among which groups? Name the column to group by.",
            "在哪些组里最高或最低？请说明按哪一列分组。",
        )
    if query.stat == "share" or any(s == "share" for s, _, _ in want.stats):
        return (yield from _share(query, say))
    got = yield from run(
        query,
        say(f"I compute the {what(query, say)} in one query.", f"一次查询算出{what(query, say)}。"),
        statements.overall(query),
    )
    row = records(got)[0]
    if not row.get("n", row["value"]) and not (query.stat == "count" and not query.periods):
        return nothing(query, say)
    lines = []
    for i, m in enumerate(query.measures or [query.measure]):
        tail = "" if i == 0 else f"_{i + 1}"
        lines.append(_one_value(query, m, row, tail, say))
    return "\n".join(lines)


def _one_value(query: Query, m: Measure, row: Json, tail: str, say: Words) -> str:
    value, n, gone = row[f"value{tail}"], row.get(f"n{tail}"), row.get(f"missing{tail}")
    unit = "%" if m.predicate else ""
    if value is None:
        return (
            nothing(query, say)
            if not n
            else say(
                f"The {what(query, say, m)} cannot be told from {number(n)} rows; what else shall I look at?",
                f"{number(n)} 行算不出{what(query, say, m)}；要看别的吗？",
            )
        )
    text = say(
        f"The {what(query, say, m)} is **{number(value)}{unit}**{scope(query, say)}",
        f"{what(query, say, m)}是 **{number(value)}{unit}**{scope(query, say)}",
    )
    if query.stat != "count" and (m.sql or m.predicate):
        text += say(f", over {number(n)} rows", f"，共 {number(n)} 行")
        if gone:
            text += say(
                f" ({number(gone)} rows without a value left out)",
                f"（另有 {number(gone)} 行没有值，未计入）",
            )
    return text + say(f" in {query.table.name}.", f"（{query.table.name}）。")


def _share(query: Query, say: Words) -> Steps:
    m = query.measure
    if m.predicate:
        query.stat = "mean"
        got = yield from run(
            query, say("I count the rows and their share.", "计算占比。"), statements.overall(query)
        )
        row = records(got)[0]
        return _one_value(query, m, row, "", say) if row["n"] else nothing(query, say)
    if not query.where:
        raise Unclear("the share of what? Name the value or condition.", "什么的占比？请说明条件或取值。")
    m = query.measure
    got = yield from run(
        query, say("I compute the part and the whole.", "计算部分与整体。"), statements.share(query)
    )
    row = records(got)[0]
    if not row["whole"]:
        return nothing(query, say)
    label = m.label if m.sql else say("rows", "行数")
    return say(
        f"**{number(row['share_pct'])}%** of {label}{scope(query, say)}: {number(row['part'])} of {number(row['whole'])} in {query.table.name}.",
        f"占{label}的 **{number(row['share_pct'])}%**{scope(query, say)}：{number(row['part'])} / {number(row['whole'])}（{query.table.name}）。",
    )


def single_rows(query: Query, say: Words) -> Steps:
    if not query.measures or query.measure.predicate:
        raise Unclear("by which number shall I order the rows?", "按哪个数排序？")
    want = query.want
    ranked = {c.name for c in query.measure.columns}
    own = [c for c in query.table.columns if c.name in ranked]
    others = [
        c
        for c in query.table.columns
        if c not in own
        and (
            c.is_id or c.kind in ("text", "date") or c.signature & {"year", "month", "day", "flight", "order"}
        )
    ]
    n = max(want.n, 1)
    got = yield from run(
        query,
        say(f"I order the rows by {query.measure.label}.", f"按 {query.measure.label} 排序。"),
        statements.rows(query, want.direction or "desc", n + 5, own + others[:8]),
    )
    found = records(got)
    if not found:
        return nothing(query, say)
    first = [r for r in found if r["rank"] <= n]
    low = want.direction == "asc"
    label, value = query.measure.label, number(first[0][own[0].name])
    naming = [c.name for c in others if c.is_id or "name" in c.signature or c.signature == {"flight"}][:1]
    who = ", ".join(f"**{r[naming[0]]}**" for r in first[:10]) if naming else say("one row", "一行")
    head = say(
        f"{who} has the {'lowest' if low else 'highest'} {label}{scope(query, say)}: **{value}**",
        f"{who} 的 {label} {'最低' if low else '最高'}{scope(query, say)}：**{value}**",
    )
    columns = [c for c in got["columns"] if c != "rank"]
    tie = say(f" ({len(first)} rows tie)", f"（{len(first)} 行并列）") if len(first) > n else ""
    return f"{head}{tie}\n\n{table(columns, [[r[c] if isinstance(r[c], str) or c == own[0].name else str(r[c]) for c in columns] for r in first])}"


def by_group(query: Query, names: set[str], say: Words) -> Steps:
    want = query.want
    if query.single_rows:
        return (yield from single_rows(query, say))
    if query.outer:
        return (yield from _inside_each(query, query.outer, say))
    order = want.direction or _quality(query)
    if (
        query.stat == "share"
        and len(query.where) == len(query.dims) == 1
        and not query.measures
        and not query.together
    ):
        inside = query.dims[0].label
        query.measures = [Measure("", query.where_labels[0], (), query.where[0])]
        query.where, query.where_labels = [], []
        query.notes.append(
            (f"the share is of the rows of each {inside}", f"占比以每个 {inside} 的行数为整体")
        )
    if any(s == "share" for s, _, _ in want.stats) and not query.measure.predicate:
        if query.where and not order and not query.measures:
            raise Unclear(
                "the share of which part in which whole? Ask for one of them without the group or the value.",
                "是哪一部分占哪一个整体？请去掉分组或取值之一再问。",
            )
        query.stat = "total" if query.measures else "count"
    if query.stat == "share" and query.measure.predicate:
        query.stat = "mean"
    limit = max((want.n or 1) + 7, 10) if order else 50
    thought = say(
        f"I group {query.table.name} by {', '.join(d.label for d in query.dims)} and compute the {what(query, say)}.",
        f"按 {'、'.join(d.label for d in query.dims)} 分组计算{what(query, say)}。",
    )
    real = query.stat
    if real == "mean or extreme":
        got = yield from run(query, thought, statements.grouped(query, order, limit))
        query.stat = "mean"
        _same_extreme(query, records(got))
    else:
        got = yield from run(query, thought, statements.grouped(query, order, limit))
    found = records(got)
    if not found:
        return nothing(query, say)
    if not order:
        more = int(got.get("total_rows") or len(found))
        while len(found) < more <= MOST_LISTED:
            rest = yield from run(
                query,
                say("The result was cut; I fetch the rest.", "结果被截断，取剩下的行。"),
                statements.grouped(query, order, limit, len(found)),
            )
            if not records(rest):
                break
            found += records(rest)
    _note_alike(query, found, order)
    body = _ranked(query, found, order, say) if order else _listed(query, found, say)
    return body + (
        yield from chart(
            query,
            names,
            got,
            query.dims[0].label,
            "bar",
            len(found),
            say,
        )
    )


def _note_alike(query: Query, found: list[Json], order: str) -> None:
    """Groups that differ only in capitals or blanks were counted apart: say so."""
    spelt: dict[str, list[str]] = {}
    for r in found:
        name = group_name(query, r)
        spelt.setdefault(" ".join(name.lower().split()), []).append(f'"{name}"')
    alike = [", ".join(names) for names in spelt.values() if len(names) > 1]
    if alike and order and query.stat in ("total", "count"):
        together: dict[str, float] = {}
        for r in found:
            key = " ".join(group_name(query, r).lower().split())
            together[key] = together.get(key, 0.0) + (r["value"] or 0)
        best = (min if order == "asc" else max)(together, key=lambda key: together[key])
        if best != " ".join(group_name(query, found[0]).lower().split()):
            raise Unclear(
                f"{'; '.join(alike)} may be the same, and then another group comes first: can you unify them first?",
                f"{'；'.join(alike)} 可能是同一个，合并后排名会变：能先统一写法吗？",
            )
    if alike:
        listed = "; ".join(alike)
        query.notes.append(
            (f"spelt differently, so counted apart: {listed}", f"写法不同，分开统计：{listed}")
        )


def _inside_each(query: Query, outer: Dimension, say: Words) -> Steps:
    """The first of the inner dimension for each value of the outer one."""
    want, inner = query.want, next(d for d in query.dims if d.label != (query.outer or d).label)
    if query.stat in ("mean or extreme", "share") or (query.measure.predicate and not query.stat):
        query.stat = "mean"
    query.stat = query.stat or "count"
    order = want.direction or _quality(query) or "desc"
    sql = statements.best_of_each(query, outer, order, max(want.n, 1))
    thought = say(
        f"I rank {inner.label} inside each {outer.label}.", f"在每个 {outer.label} 里给 {inner.label} 排名。"
    )
    got = yield from run(query, thought, sql)
    found = records(got)
    if not found:
        return nothing(query, say)
    while len(found) < int(found[0]["row_count"]) <= 60:
        rest = yield from run(query, say("I fetch the rest.", "取剩下的行。"), f"{sql} OFFSET {len(found)}")
        if not records(rest):
            break
        found += records(rest)
    unit = "%" if query.measure.predicate else ""
    end = say("lowest" if order == "asc" else "highest", "最低" if order == "asc" else "最高")
    by_outer: dict[str, list[str]] = {}
    for r in found:
        told = f"**{number_free(r[inner.label])}** ({number(r['value'])}{unit})"
        by_outer.setdefault(number_free(r[outer.label]), []).append(told)
    head = say(
        f"{inner.label} with the {end} {what(query, say)} in each {outer.label}{scope(query, say)}: ",
        f"每个 {outer.label} 里{what(query, say)}{end}的 {inner.label}{scope(query, say)}：",
    )
    cut = "" if len(found) >= int(found[0]["row_count"]) else say(" (cut)", "（未列全）")
    return (
        head + "; ".join(f"{key}: {', '.join(told)}" for key, told in by_outer.items()) + cut + say(".", "。")
    )


def number_free(value: Any) -> str:
    """A group's own value as it stands: no separators in "2024"."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _same_extreme(query: Query, found: list[Json]) -> None:
    """Say whom "highest" would name when it meant the single highest value of a group."""
    if not found or all(r["n"] <= 1 for r in found):
        query.notes = [n for n in query.notes if "no statistic" not in n[0]]
        query.stat = "max" if query.want.direction == "desc" else "min"
        return
    best = [r for r in found if r["extreme_rank"] == 1]
    names = ", ".join(group_name(query, r) for r in best)
    word = query.want.extreme
    query.notes.append(
        (
            f'"{word}" was read as the {word} mean of a group; the single {word} value is '
            f"{number(best[0]['extreme'])} ({names})",
            f"“{word}”按各组平均值理解；单个{word}的值是 {number(best[0]['extreme'])}（{names}）",
        )
    )


def _quality(query: Query) -> str:
    """best and worst as an order, where the measure tells which end is good."""
    quality = query.want.quality
    if not quality:
        return ""
    meaning = query.measure.columns[0].signature if query.measure.columns else frozenset()
    if (
        quality in ("best", "worst")
        and meaning & {"revenue", "profit", "quantity", "score"}
        and not meaning & {"refund", "cost"}
    ):
        return "desc" if quality == "best" else "asc"
    if quality in ("best", "worst") and meaning & {"delay", "cost", "refund", "expense"}:
        return "asc" if quality == "best" else "desc"
    raise Unclear(
        f'"{quality}": is that the highest or the lowest {query.measure.label}?',
        f"“{quality}”是指 {query.measure.label} 最高还是最低？",
    )


def _ranked(query: Query, found: list[Json], order: str, say: Words) -> str:
    n = max(query.want.n, 1) if query.want.n or query.want.which or query.want.direction else len(found)
    n = query.want.n or (1 if query.want.extreme or query.want.quality else min(10, len(found)))
    found = sorted(found, key=lambda r: r["rank"])
    winners = [r for r in found if r["rank"] <= n and r["value"] is not None]
    if not winners:
        return nothing(query, say)
    rest = [r for r in found if r not in winners]
    unit = "%" if query.measure.predicate else ""
    per = "share_pct" in winners[0] and any(s == "share" for s, _, _ in query.want.stats)
    end = say("lowest" if order == "asc" else "highest", "最低" if order == "asc" else "最高")

    def line(r: Json) -> str:
        share = (
            say(f", {number(r['share_pct'])}% of the whole", f"，占 {number(r['share_pct'])}%") if per else ""
        )
        rows = "" if query.stat == "count" else say(f" ({number(r['n'])} rows)", f"（{number(r['n'])} 行）")
        return f"{number(r['value'])}{unit}{share}{rows}"

    what_of = f"{what(query, say)}{scope(query, say)}"
    named = [f"**{group_name(query, r)}**" for r in winners]
    tied = len({r["rank"] for r in winners}) == 1
    if len(winners) == 1:
        head = say(
            f"{named[0]} has the {end} {what_of}: {line(winners[0])}.",
            f"{named[0]} 的{what_of}{end}：{line(winners[0])}。",
        )
    elif tied and n == 1:
        head = say(
            f"{', '.join(named)} tie for the {end} {what_of}: {line(winners[0])} each.",
            f"{'、'.join(named)} 并列，{what_of}{end}：均为 {line(winners[0])}。",
        )
    else:
        order_of = [f"{name} {line(r)}" for name, r in zip(named, winners, strict=True)]
        first = say(
            f"{end.capitalize()} {what_of}: {order_of[0]}, then ",
            f"{what_of}{end}：{order_of[0]}，其后依次为 ",
        )
        head = first + say("; ", "；").join(order_of[1:]) + say(".", "。")
        if len(winners) > n:
            head += say(f" ({len(winners) - n} more than asked, because of a tie)", "（有并列）")
    lines = [
        head,
        say(
            f"Out of {found[0]['group_count']} groups in {query.table.name}.",
            f"{query.table.name} 共 {found[0]['group_count']} 组。",
        )
        + _left_out(query, found[0], say),
    ]
    if rest:
        follow = "; ".join(f"{group_name(query, r)} {number(r['value'])}{unit}" for r in rest[:4])
        lines.append(say(f"Next: {follow}.", f"其后：{follow}。"))
    return "\n\n".join(lines)


def _left_out(query: Query, row: Json, say: Words) -> str:
    gone = row.get("missing_in_all")
    if not gone or query.stat == "count":
        return ""
    return say(
        f" {number(gone)} rows without a value were left out.", f"另有 {number(gone)} 行没有值，未计入。"
    )


def _listed(query: Query, found: list[Json], say: Words) -> str:
    per = "share_pct" in found[0] and any(s == "share" for s, _, _ in query.want.stats)
    columns = [d.label for d in query.dims] + [what(query, say, m) for m in query.measures or [query.measure]]
    columns += ["%"] if per else []
    columns += [] if query.stat == "count" else [say("rows", "行数")]
    rows = []
    for r in found:
        key = [group_name(dataclasses.replace(query, dims=[d]), r) for d in query.dims]
        values = [r["value" if i == 0 else f"value_{i + 1}"] for i in range(len(query.measures or [0]))]
        rows.append(
            [*key, *values, *([r["share_pct"]] if per else []), *([] if query.stat == "count" else [r["n"]])]
        )
    groups = found[0]["group_count"]
    head = say(
        f"{what(query, say).capitalize()} by {', '.join(d.label for d in query.dims)}{scope(query, say)}, {groups} groups in {query.table.name}:",
        f"按 {'、'.join(d.label for d in query.dims)} 的{what(query, say)}{scope(query, say)}，{query.table.name} 共 {groups} 组：",
    )
    cut = (
        say(
            f"\n\nShown: the first {len(found)} of {groups} groups.",
            f"\n\n只列出 {groups} 组中的前 {len(found)} 组。",
        )
        if len(found) < groups
        else ""
    )
    gone = _left_out(query, found[0], say).strip()
    if query.together and "together" in found[0]:
        gone = (
            say(
                f"Together: **{number(found[0]['together'])}**.",
                f"合计：**{number(found[0]['together'])}**。",
            )
            + gone
        )
    return f"{head}\n\n{table(columns, rows)}{cut}" + (f"\n\n{gone}" if gone else "")


def by_period(query: Query, say: Words) -> Steps:
    if query.dims:
        raise Unclear(
            "one period at a time, please, or ask how it changed between two: which?",
            "请一次问一段时间，或者问两段时间之间的变化？",
        )
    lines = []
    for period in query.periods:
        one = dataclasses.replace(query, periods=[period])
        lines.append((yield from single(one, say)))
    return "\n".join(lines)


def trend(query: Query, names: set[str], say: Words) -> Steps:
    want = query.want
    if query.dims:
        raise Unclear(
            "over time and by another column at once is more than I do; which one first?",
            "同时按时间和其他列分组超出了我的能力，先看哪一个？",
        )
    if not query.stat:
        query.stat = "count"
    grain = want.grain or ("year" if want.against == "year" else "month")
    if query.axis and query.axis.level == "year":
        grain = "year"
    got = yield from run(
        query,
        say(f"I compute the {what(query, say)} for each {grain}.", f"按{grain}计算{what(query, say)}。"),
        statements.trend(query, grain),
    )
    found = records(got)
    if not found:
        return nothing(query, say)
    total = int(found[0]["period_count"])
    while len(found) < total <= MOST_LISTED:
        rest = yield from run(
            query,
            say("The result was cut; I fetch the rest.", "结果被截断，取剩下的行。"),
            statements.trend(query, grain, offset=len(found)),
        )
        if not records(rest):
            break
        found += records(rest)
    drawn = yield from chart(query, names, got, grain, "line", len(found), say)
    if want.direction:
        key = "rank"
        if len(found) < total:  # too many to list: the extremes first
            sql = statements.trend(query, grain, limit=10, extremes=want.direction)
            best_first = yield from run(
                query, say("I put the extremes first.", "把最大最小的排在前面。"), sql
            )
            found = records(best_first)
        best = sorted((r for r in found if r[key] <= max(want.n, 1)), key=lambda r: r[key])
        end = say(
            "lowest" if want.direction == "asc" else "highest", "最低" if want.direction == "asc" else "最高"
        )
        named = "; ".join(f"**{r[grain]}**: {number(r['value'])}" for r in best)
        head = say(
            f"{end.capitalize()} {what(query, say)}{scope(query, say)}: {named}.",
            f"{what(query, say)}{end}{scope(query, say)}：{named}。",
        )
        return f"{head}\n\n{_periods(query, found, grain, say)}{drawn}"
    head = say(
        f"{what(query, say).capitalize()} by {grain}{scope(query, say)} in {query.table.name}:",
        f"{query.table.name} 按{grain}的{what(query, say)}{scope(query, say)}：",
    )
    return f"{head}\n\n{_periods(query, found, grain, say)}{drawn}"


def _periods(query: Query, found: list[Json], grain: str, say: Words) -> str:
    columns = [grain, what(query, say), say("change", "变化"), "%"] + (
        [] if query.stat == "count" else [say("rows", "行数")]
    )
    rows = [
        [
            r[grain],
            r["value"],
            signed(r["change"]) if r["change"] is not None else None,
            r["change_pct"],
            *([] if query.stat == "count" else [r["n"]]),
        ]
        for r in found
    ]
    cut = (
        say(
            f"\n\nShown: {len(found)} of {found[0]['period_count']}.",
            f"\n\n只列出 {found[0]['period_count']} 个中的 {len(found)} 个。",
        )
        if len(found) < int(found[0]["period_count"])
        else ""
    )
    return table(columns, rows) + cut
