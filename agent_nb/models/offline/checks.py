# ruff: noqa: E501
"""Missing values, outliers, distribution and correlation."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import groups, statements
from .query import Query
from .reading import Unclear
from .steps import chart, nothing, records, run, scope
from .text import quote
from .wording import Steps, Words, number, table

Json = dict[str, Any]


def missing(query: Query, say: Words) -> Steps:
    named = {c.name for m in query.measures for c in m.columns} | {c for d in query.dims for c in d.columns}
    columns = [c for c in query.table.columns if not named or c.name in named]
    got = yield from run(
        query,
        say("I count the missing values of each column.", "统计每列的缺失值。"),
        statements.missing(query, columns[:60]),
    )
    found = records(got)
    if not found or not found[0]["rows_in_all"]:
        return nothing(query, say)
    rows_all = number(found[0]["rows_in_all"])
    holes = [r for r in found if r["missing"]]
    blank = [f"{r['column_name']} ({number(r['blank'])})" for r in found if r["blank"]]
    if blank:
        listed = ", ".join(blank)
        query.notes.append(
            (
                f"texts that are empty or blanks only are not counted as missing: {listed}",
                f"空白文本未计入缺失：{listed}",
            )
        )
    if not holes:
        return say(
            f"No missing values in {query.table.name}{scope(query, say)}: {len(columns)} columns, {rows_all} rows.",
            f"{query.table.name}{scope(query, say)} 没有缺失值：{len(columns)} 列，{rows_all} 行。",
        )
    head = say(
        f"**{holes[0]['column_name']}** has the most missing values in {query.table.name}{scope(query, say)} ({rows_all} rows); {holes[0]['with_missing']} of {len(columns)} columns have some, {number(holes[0]['missing_in_all'])} values in all:",
        f"{query.table.name}{scope(query, say)} 共 {rows_all} 行，{holes[0]['with_missing']} 列有缺失，共缺 {number(holes[0]['missing_in_all'])} 个值，**{holes[0]['column_name']}** 最多：",
    )
    rows = [[r["column_name"], r["missing"], f"{number(r['missing_pct'])}%"] for r in holes]
    return f"{head}\n\n{table([say('column', '列'), say('missing', '缺失'), say('share', '占比')], rows)}"


def outliers(query: Query, names: set[str], say: Words) -> Steps:
    if not query.measures or not query.measure.sql:
        numeric = ", ".join(c.name for c in query.table.columns if c.is_measure)
        raise Unclear(
            f"outliers of which column? {query.table.name} has {numeric}.",
            f"看哪一列的异常值？{query.table.name} 有：{numeric}？",
        )
    got = yield from run(
        query,
        say(
            f"I apply the 1.5 × IQR rule to {query.measure.label}.",
            f"对 {query.measure.label} 用 1.5 倍四分位距规则。",
        ),
        statements.outliers(query),
    )
    r = records(got)[0]
    if not r["n"]:
        return nothing(query, say)
    label = query.measure.label
    text = say(
        f"**{number(r['outliers'])}** of {number(r['n'])} values of {label} are outliers ({number(r['share_pct'])}%){scope(query, say)} by the rule Q1/Q3 ∓ 1.5·IQR: {number(r['below'])} below {number(r['low'])}, {number(r['above'])} above {number(r['high'])} (Q1 {number(r['q1'])}, Q3 {number(r['q3'])}; smallest {number(r['smallest'])}, largest {number(r['largest'])}).",
        f"{label} 的 {number(r['n'])} 个值中有 **{number(r['outliers'])}** 个异常值（{number(r['share_pct'])}%）{scope(query, say)}，按 Q1/Q3 ∓ 1.5·IQR：低于 {number(r['low'])} 的 {number(r['below'])} 个，高于 {number(r['high'])} 的 {number(r['above'])} 个（Q1 {number(r['q1'])}，Q3 {number(r['q3'])}；最小 {number(r['smallest'])}，最大 {number(r['largest'])}）。",
    )
    if not r["outliers"]:
        return text
    shown = dataclasses.replace(query.want, n=5, direction="desc" if r["above"] >= r["below"] else "asc")
    rows = yield from groups.single_rows(dataclasses.replace(query, want=shown), say)
    return f"{text}\n\n{rows}"


def distribution(query: Query, names: set[str], say: Words) -> Steps:
    if query.dims and not query.measures:
        query.stat = "count"
        return (yield from groups.by_group(query, names, say))
    if not query.measures or query.dims or not query.measure.sql:
        raise Unclear("the distribution of which one column?", "看哪一列的分布？")
    got = yield from run(
        query,
        say(f"I look at the spread of {query.measure.label}.", f"看 {query.measure.label} 的分布。"),
        statements.distribution(query),
    )
    r = records(got)[0]
    if not r["n"]:
        return nothing(query, say)
    rows = [[c, r[c]] for c in got["columns"]]
    head = say(
        f"Distribution of {query.measure.label}{scope(query, say)}: median **{number(r['p50'])}**, half of the {number(r['n'])} values between {number(r['p25'])} and {number(r['p75'])}.",
        f"{query.measure.label} 的分布{scope(query, say)}：中位数 **{number(r['p50'])}**，{number(r['n'])} 个值中一半在 {number(r['p25'])} 与 {number(r['p75'])} 之间。",
    )
    where = query.conditions(statements.period_filter(query), f"{query.measure.sql} IS NOT NULL")
    sql = {"name": query.render(f"SELECT {query.measure.sql} AS value\nFROM {query.source}{where}")}
    query.stat = ""
    drawn = yield from chart(
        dataclasses.replace(query, stat="distribution"), names, sql, "value", "hist", 2, say, y=""
    )
    return f"{head}\n\n{table(['', query.measure.label], rows)}{drawn}"


def correlation(query: Query, names: set[str], say: Words) -> Steps:
    if len(query.measures) != 2 or query.dims or any(not m.sql for m in query.measures):
        raise Unclear(
            "a correlation needs exactly two number columns: which two?", "相关性需要两列数字：哪两列？"
        )
    got = yield from run(
        query,
        say(
            "I compute Pearson's correlation over rows that have both values.",
            "对两列都有值的行计算皮尔逊相关系数。",
        ),
        statements.correlation(query),
    )
    r = records(got)[0]
    x, y = query.measures
    if r["r"] is None:
        return say(
            "There are too few rows with both values, or one of them never varies. Which other two?",
            "两列都有值的行太少，或有一列没有变化。换哪两列？",
        )
    strength = abs(r["r"])
    word = say(
        "strong"
        if strength >= 0.7
        else "moderate"
        if strength >= 0.4
        else "weak"
        if strength >= 0.1
        else "hardly any",
        "强" if strength >= 0.7 else "中等" if strength >= 0.4 else "弱" if strength >= 0.1 else "几乎没有",
    )
    where = query.conditions(statements.period_filter(query), f"{x.sql} IS NOT NULL", f"{y.sql} IS NOT NULL")
    picks = f"{x.sql} AS {quote(x.label)}, {y.sql} AS {quote(y.label)}"
    sql = {"name": query.render(f"SELECT {picks}\nFROM {query.source}{where}\nLIMIT 5000")}
    drawn = yield from chart(
        dataclasses.replace(query, stat="relation"), names, sql, x.label, "scatter", 2, say, y=y.label
    )
    return say(
        f"The correlation (Pearson) of {x.label} and {y.label} is **{r['r']:.3f}**{scope(query, say)}, {word}, over {number(r['n'])} of {number(r['rows_in_all'])} rows that have both. It is no proof of a cause.{drawn}",
        f"{x.label} 与 {y.label} 的皮尔逊相关系数是 **{r['r']:.3f}**{scope(query, say)}（{word}），{number(r['rows_in_all'])} 行中有 {number(r['n'])} 行两者都有值。相关不等于因果。{drawn}",
    )
