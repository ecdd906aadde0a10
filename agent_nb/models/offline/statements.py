# ruff: noqa: E501
"""SQL for the questions: groups, two periods side by side, contributions, rows, missing values, outliers."""

from __future__ import annotations

from .periods import Period
from .query import Dimension, Measure, Query, aggregate, counted, known
from .schema import Column
from .text import literal, quote


def plain(query: Query) -> tuple[str, Measure]:
    """(statistic, measure), a share of rows turned into a mean of 0 and 100."""
    m = query.measure
    if m.predicate:
        inside = f"CASE WHEN {known(m)} THEN CASE WHEN {m.predicate} THEN 100.0 ELSE 0.0 END END"
        return "mean", Measure(inside, m.label, m.columns)
    return "mean" if query.stat == "mean or extreme" else query.stat or "count", m


def period_filter(query: Query) -> str:
    """The one period or range that the goal names, as a predicate."""
    if len(query.periods) == 1 and query.axis:
        return query.axis.where(query.periods[0])
    return ""


def overall(query: Query, extra: str = "") -> str:
    """One row: each measure's statistic, rows that count, rows without a value."""
    stat, _ = plain(query)
    picks = []
    for i, m in enumerate(query.measures or [query.measure]):
        measure = plain_of(m)
        tail = "" if i == 0 else f"_{i + 1}"
        picks += [
            f"{aggregate(stat, measure)} AS value{tail}",
            f"{counted(measure)} AS n{tail}",
            f"COUNT(*) - {counted(measure)} AS missing{tail}",
        ]
    return f"SELECT {', '.join(picks)} FROM {query.source}{query.conditions(period_filter(query), extra)}"


def plain_of(m: Measure) -> Measure:
    """A share of rows as a measure of 0 and 100."""
    if not m.predicate:
        return m
    return Measure(
        f"CASE WHEN {known(m)} THEN CASE WHEN {m.predicate} THEN 100.0 ELSE 0.0 END END", m.label, m.columns
    )


def grouped(query: Query, order: str, limit: int, offset: int = 0) -> str:
    """A row a group: its keys, statistics, rows, rank (ties share one), number of groups, share of the whole."""
    stat, _ = plain(query)
    keys, names = _keys(query.dims)
    picks = list(keys)
    for i, m in enumerate(query.measures or [query.measure]):
        measure = plain_of(m)
        tail = "" if i == 0 else f"_{i + 1}"
        picks.append(f"{aggregate(stat, measure)} AS value{tail}")
        if i == 0:
            picks += [f"{counted(measure)} AS n", f"COUNT(*) - {counted(measure)} AS missing"]
            if query.stat == "mean or extreme":
                picks.append(
                    f"{'MAX' if query.want.direction == 'desc' else 'MIN'}({measure.sql}) AS extreme"
                )
    having = f" HAVING {query.having}" if query.having else ""
    inner = (
        f"SELECT {', '.join(picks)} FROM {query.source}{query.conditions(period_filter(query))} "
        f"GROUP BY {', '.join(str(i) for i in range(1, len(query.dims) + 1))}{having}"
    )
    extra = (
        ", value * 100.0 / NULLIF(SUM(value) OVER (), 0) AS share_pct, SUM(value) OVER () AS together"
        if stat in ("total", "count")
        else ""
    )
    if query.stat == "mean or extreme":
        extra += f", RANK() OVER (ORDER BY extreme {order}) AS extreme_rank"
    nulls = " OR ".join(f"{n} IS NULL" for n in names)
    direction = "ASC" if order == "asc" else "DESC"
    rank = f"RANK() OVER (ORDER BY CASE WHEN {nulls} THEN 1 ELSE 0 END, ROUND(value, 9) {direction} NULLS LAST) AS rank"
    tail = f" OFFSET {offset}" if offset else ""
    sort = "rank, " if order else ""
    if query.stat == "mean or extreme":
        sort = "CASE WHEN extreme_rank = 1 THEN 1 ELSE rank END, rank, "
    return (
        f"SELECT *, {rank}, COUNT(*) OVER () AS groups, SUM(missing) OVER () AS missing_in_all{extra} FROM ({inner}) AS g "
        f"ORDER BY {sort}{', '.join(names)} LIMIT {limit}{tail}"
    )


def _keys(dims: list[Dimension]) -> tuple[list[str], list[str]]:
    keys = [f"{d.sql} AS {quote(d.label)}" for d in dims]
    keys += [f"MIN({d.name_sql}) AS {quote(d.label + ' name')}" for d in dims if d.name_sql]
    return keys, [quote(d.label) for d in dims]


def side_by_side(
    query: Query, dim: Dimension | None, a: Period, b: Period, *extra: str, order: str = "", limit: int = 10
) -> str:
    """Two periods beside each other: the whole, or a row for each value of `dim`.

    Columns: the key and its name, before, after, change, change_pct, rows_before, rows_after and, for totals,
    counts and means, contribution: what the group adds to the change of the whole.
    """
    assert query.axis is not None
    stat, measure = plain(query)
    first, second = query.axis.where(a), query.axis.where(b)
    value = measure.sql or "1"
    key = f"{dim.sql} AS k, " + (f"MIN({dim.name_sql}) AS kname, " if dim.name_sql else "") if dim else ""
    by = "1, p" if dim else "p"
    inner = (
        f"SELECT {key}CASE WHEN {first} THEN 1 ELSE 2 END AS p, {aggregate(stat, measure)} AS v, {counted(measure)} AS n, "
        f"SUM({value}) AS s FROM {query.source}{query.conditions(f'({first}) OR ({second})', *extra)} GROUP BY {by}"
    )
    if stat not in ("total", "count", "mean"):
        inner = inner.replace(f"SUM({value}) AS s", "0 AS s")
    zero = stat in ("total", "count", "distinct")
    v1, v2 = (f"MAX(CASE WHEN p = {p} THEN v END)" for p in (1, 2))
    if zero:
        v1, v2 = f"COALESCE({v1}, 0)", f"COALESCE({v2}, 0)"
    rows = [f"COALESCE(MAX(CASE WHEN p = {p} THEN n END), 0)" for p in (1, 2)]
    sums = [f"COALESCE(MAX(CASE WHEN p = {p} THEN s END), 0)" for p in (1, 2)]
    names = "k, " + ("MIN(kname) AS kname, " if dim.name_sql else "") if dim else ""
    group = " GROUP BY k" if dim else ""
    pivot = (
        f"SELECT {names}{v1} AS v1, {v2} AS v2, {rows[0]} AS n1, {rows[1]} AS n2, {sums[0]} AS s1, {sums[1]} AS s2 "
        f"FROM ({inner}) AS i{group}"
    )
    shown = (
        f"k AS {quote(dim.label)}, " + (f"kname AS {quote(dim.label + ' name')}, " if dim.name_sql else "")
        if dim
        else ""
    )
    change, pct = "(v2 - v1)", "(v2 - v1) * 100.0 / NULLIF(ABS(v1), 0)"
    contribution = (
        "v2 - v1"
        if stat in ("total", "count")
        else "s2 * 1.0 / NULLIF(SUM(n2) OVER (), 0) - s1 * 1.0 / NULLIF(SUM(n1) OVER (), 0)"
    )
    extra_column = f", {contribution} AS contribution" if stat in ("total", "count", "mean") and dim else ""
    ranked = (
        f", COUNT(*) OVER () AS groups, COUNT(CASE WHEN {change} > 0 THEN 1 END) OVER () AS rose, COUNT(CASE WHEN {change} < 0 THEN 1 END) OVER () AS fell"
        if dim
        else ""
    )
    least = "CASE WHEN SUM(n1 + n2) OVER () >= 400 THEN 10 ELSE 1 END"
    enough = f", CASE WHEN n1 >= {least} AND n2 >= {least} THEN 1 ELSE 0 END AS enough" if dim else ""
    rows_all = (
        f"SELECT {shown}v1 AS before, v2 AS after, {change} AS change, {pct} AS change_pct, n1 AS rows_before, "
        f"n2 AS rows_after{extra_column}{ranked}{enough} FROM ({pivot}) AS t"
    )
    if not dim:
        return rows_all
    return f"SELECT * FROM ({rows_all}) AS r ORDER BY {order} LIMIT {limit}"


def trend(query: Query, grain: str, limit: int = 60) -> str:
    """A row a month (quarter, year …), with the change from the one before."""
    assert query.axis is not None
    stat, measure = plain(query)
    key = query.axis.key(grain)
    inner = (
        f"SELECT {key} AS {quote(grain)}, {aggregate(stat, measure)} AS value, {counted(measure)} AS n, COUNT(*) - {counted(measure)} AS missing FROM {query.source}"
        f"{query.conditions(period_filter(query))} GROUP BY 1"
    )
    g = quote(grain)
    return (
        f"SELECT *, value - LAG(value) OVER (ORDER BY {g}) AS change, "
        f"(value - LAG(value) OVER (ORDER BY {g})) * 100.0 / NULLIF(ABS(LAG(value) OVER (ORDER BY {g})), 0) AS change_pct, "
        f"RANK() OVER (ORDER BY ROUND(value, 9) DESC NULLS LAST) AS rank_high, RANK() OVER (ORDER BY ROUND(value, 9) ASC NULLS LAST) AS rank_low, "
        f"COUNT(*) OVER () AS periods FROM ({inner}) AS g WHERE {g} IS NOT NULL ORDER BY {g} LIMIT {limit}"
    )


def missing(query: Query, columns: list[Column]) -> str:
    """A row a column: missing values, rows, share; most missing first."""
    source = f"{query.source}{query.conditions(period_filter(query))}"
    parts = [
        f"SELECT {literal(c.name)} AS column_name, COUNT(*) - COUNT(f.{quote(c.name)}) AS missing, COUNT(*) AS rows_in_all, "
        f"(COUNT(*) - COUNT(f.{quote(c.name)})) * 100.0 / NULLIF(COUNT(*), 0) AS missing_pct FROM {source}"
        for c in columns
    ]
    union = " UNION ALL ".join(parts)
    return f"SELECT *, COUNT(CASE WHEN missing > 0 THEN 1 END) OVER () AS with_missing, SUM(missing) OVER () AS missing_in_all FROM ({union}) AS m ORDER BY missing DESC, column_name LIMIT 50"


def outliers(query: Query) -> str:
    """One row: quartiles, the bounds of the 1.5 × IQR rule, how many values lie outside them."""
    x = query.measure.sql
    source = f"{query.source}{query.conditions(period_filter(query))}"
    return (
        f"WITH q AS (SELECT QUANTILE_CONT({x}, 0.25) AS q1, QUANTILE_CONT({x}, 0.75) AS q3 FROM {source}), "
        "b AS (SELECT q1, q3, q1 - 1.5 * (q3 - q1) AS low, q3 + 1.5 * (q3 - q1) AS high FROM q) "
        f"SELECT ANY_VALUE(q1) AS q1, ANY_VALUE(q3) AS q3, ANY_VALUE(low) AS low, ANY_VALUE(high) AS high, "
        f"COUNT(CASE WHEN {x} < low THEN 1 END) AS below, COUNT(CASE WHEN {x} > high THEN 1 END) AS above, "
        f"COUNT(CASE WHEN {x} < low OR {x} > high THEN 1 END) AS outliers, COUNT({x}) AS n, "
        f"COUNT(CASE WHEN {x} < low OR {x} > high THEN 1 END) * 100.0 / NULLIF(COUNT({x}), 0) AS share_pct, "
        f"MIN({x}) AS smallest, MAX({x}) AS largest FROM {query.source} CROSS JOIN b{query.conditions(period_filter(query))}"
    )


def rows(query: Query, direction: str, limit: int, shown: list[Column]) -> str:
    """Single rows in the order of the measure."""
    x = query.measure.sql
    picks = ", ".join(f"f.{quote(c.name)}" for c in shown)
    order = "ASC" if direction == "asc" else "DESC"
    return (
        f"SELECT RANK() OVER (ORDER BY {x} {order}) AS rank, {picks} FROM {query.source}"
        f"{query.conditions(period_filter(query), f'{x} IS NOT NULL')} ORDER BY rank LIMIT {limit}"
    )


def distribution(query: Query) -> str:
    """One row: count, missing, mean, spread and quantiles."""
    x = query.measure.sql
    quantiles = ", ".join(
        f"QUANTILE_CONT({x}, {p}) AS p{int(p * 100)}" for p in (0.05, 0.25, 0.5, 0.75, 0.95)
    )
    return (
        f"SELECT COUNT({x}) AS n, COUNT(*) - COUNT({x}) AS missing, AVG({x}) AS mean, STDDEV_SAMP({x}) AS std, MIN({x}) AS smallest, "
        f"{quantiles}, MAX({x}) AS largest FROM {query.source}{query.conditions(period_filter(query))}"
    )


def correlation(query: Query) -> str:
    """One row: Pearson's r of two measures and the rows that have both."""
    x, y = (m.sql for m in query.measures[:2])
    return (
        f"SELECT CORR({x}, {y}) AS r, COUNT(CASE WHEN {x} IS NOT NULL AND {y} IS NOT NULL THEN 1 END) AS n, "
        f"COUNT(*) AS rows_in_all FROM {query.source}{query.conditions(period_filter(query))}"
    )
