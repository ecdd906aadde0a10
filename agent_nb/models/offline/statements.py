"""SQL for the questions, written as one would by hand: groups, two periods beside each other, contributions."""

from __future__ import annotations

from .periods import Period
from .query import Dimension, Query, aggregate, counted
from .schema import Column
from .text import literal, own, quote


def statistic(query: Query) -> str:
    """The statistic that is computed first."""
    if query.measure.predicate:
        return "mean"
    return "mean" if query.stat == "mean or extreme" else query.stat or "count"


def period_filter(query: Query) -> str:
    """The one period or range that the goal names, as a predicate."""
    if len(query.periods) == 1 and query.axis:
        return query.axis.where(query.periods[0])
    return ""


def overall(query: Query, extra: str = "") -> str:
    """One row: each measure's statistic, rows that count, rows without a value."""
    stat, picks = statistic(query), []
    for i, m in enumerate(query.measures or [query.measure]):
        tail = "" if i == 0 else f"_{i + 1}"
        picks.append(f"{aggregate(m.stat or stat, m)} AS value{tail}")
        if stat != "count":
            picks += [f"{counted(m)} AS n{tail}", f"COUNT(*) - {counted(m)} AS missing{tail}"]
    return f"SELECT{_listed(picks)}\nFROM {query.source}{query.conditions(period_filter(query), extra)}"


def share(query: Query) -> str:
    """One row: the part of the rows (or of the measure) that the conditions pick, the whole, and the share."""
    inside = " AND ".join(f"({w})" if len(query.where) > 1 else w for w in query.where)
    whole = f"SUM({query.measure.sql})" if query.measure.sql else "COUNT(*)"
    period = period_filter(query)
    return (
        f"WITH parts AS (\n  SELECT {whole} FILTER (WHERE {inside}) AS part, {whole} AS whole\n"
        f"  FROM {query.source}" + (f"\n  WHERE {period}" if period else "") + "\n)\n"
        "SELECT part, whole, 100.0 * part / NULLIF(whole, 0) AS share_pct\nFROM parts"
    )


def grouped(query: Query, order: str, limit: int, offset: int = 0) -> str:
    """A row a group: its keys, statistics, rows, rank (ties share one), number of groups."""
    stat = statistic(query)
    picks = [_named(d.sql, d.label) for d in query.dims]
    for i, m in enumerate(query.measures or [query.measure]):
        tail = "" if i == 0 else f"_{i + 1}"
        picks.append(f"{aggregate(m.stat or stat, m)} AS value{tail}")
        if i == 0 and stat != "count":
            picks += [f"{counted(m)} AS n", f"COUNT(*) - {counted(m)} AS missing"]
    if query.stat == "mean or extreme":
        end = "MAX" if query.want.direction == "desc" else "MIN"
        picks.append(f"{end}({query.measure.sql}) AS extreme")
    keys = ", ".join(_key(d, i) for i, d in enumerate(query.dims, 1))
    having = f"\nHAVING {query.having}" if query.having else ""
    where = query.conditions(period_filter(query))
    body = f"SELECT{_listed(picks)}\nFROM {query.source}{where}\nGROUP BY {keys}{having}"
    shown = _with_names(query.dims, "grouped")
    value = "value" if stat in ("count", "distinct") else "ROUND(value, 9)"
    direction = "ASC" if order == "asc" else "DESC"
    names = [quote(d.label) for d in query.dims]
    known = " AND ".join(f"{n} IS NOT NULL" for n in names)
    columns = ["grouped.*", *shown]
    columns.append(f"RANK() OVER (ORDER BY {known} DESC, {value} {direction} NULLS LAST) AS rank")
    columns.append("COUNT(*) OVER () AS group_count")
    if stat != "count":
        columns.append("SUM(missing) OVER () AS missing_in_all")
    if query.want.says("share") and stat in ("total", "count"):
        columns.append("100.0 * value / NULLIF(SUM(value) OVER (), 0) AS share_pct")
    if query.together and stat in ("total", "count"):
        columns.append("SUM(value) OVER () AS together")
    if query.stat == "mean or extreme":
        columns.append(f"RANK() OVER (ORDER BY extreme {order}) AS extreme_rank")
    sort = ["rank"] if order else []
    if query.stat == "mean or extreme":
        sort = ["CASE WHEN extreme_rank = 1 THEN 1 ELSE rank END", "rank"]
    tail = f" OFFSET {offset}" if offset else ""
    return (
        f"WITH grouped AS (\n{_indented(body)}\n)\nSELECT{_listed(columns)}\nFROM grouped\n"
        f"ORDER BY {', '.join([*sort, *names])}\nLIMIT {limit}{tail}"
    )


def best_of_each(query: Query, outer: Dimension, order: str, n: int, limit: int = 60) -> str:
    """The first n values of the inner dimension inside each value of the outer one (ties included)."""
    inner = next(d for d in query.dims if d is not outer)
    stat, o, i = statistic(query), quote(outer.label), quote(inner.label)
    picks = [_named(d.sql, d.label) for d in (outer, inner)] + [f"{aggregate(stat, query.measure)} AS value"]
    where = query.conditions(period_filter(query))
    body = f"SELECT{_listed(picks)}\nFROM {query.source}{where}\nGROUP BY 1, 2"
    value = "value" if stat in ("count", "distinct") else "ROUND(value, 9)"
    direction = "ASC" if order == "asc" else "DESC"
    return (
        f"WITH grouped AS (\n{_indented(body)}\n), ranked AS (\n"
        f"  SELECT *, RANK() OVER (PARTITION BY {o} ORDER BY {value} {direction} NULLS LAST) AS place\n"
        f"  FROM grouped\n  WHERE {o} IS NOT NULL AND {i} IS NOT NULL\n)\n"
        f"SELECT *, COUNT(*) OVER () AS row_count\nFROM ranked\nWHERE place <= {n} AND value IS NOT NULL\n"
        f"ORDER BY {o}, place, {i}\nLIMIT {limit}"
    )


def sides(query: Query, dim: Dimension | None, a: Period, b: Period, extra: str = "") -> str:
    """SELECT of two periods beside each other: before, after and their rows, for the whole or each value of `dim`."""
    assert query.axis is not None
    stat, m = statistic(query), query.measure
    either, first, second = query.axis.sides(a, b)
    value = aggregate(stat, m)
    factor, _, call = value.rpartition(" * ")
    picks = [_named(dim.sql, dim.label)] if dim else []
    for name, inside in (("before", first), ("after", second)):
        made = f"{call} FILTER (WHERE {inside})"
        if stat == "total":
            made = f"COALESCE({made}, 0)"
        picks.append(f"{factor + ' * ' if factor else ''}{made} AS {name}")
    if stat != "count" or dim is None:
        for name, inside in (("before", first), ("after", second)):
            picks.append(f"{counted(m)} FILTER (WHERE {inside}) AS rows_{name}")
    group = f"\nGROUP BY {_key(dim, 1)}" if dim else ""
    return f"SELECT{_listed(picks)}\nFROM {query.source}{query.conditions(extra, either)}{group}"


def whole_change(query: Query, a: Period, b: Period) -> str:
    """One row: before, after, change, change_pct, rows_before, rows_after."""
    return f"WITH sides AS (\n{_indented(sides(query, None, a, b))}\n)\nSELECT *, {_CHANGE}\nFROM sides"


_CHANGE = "after - before AS change, 100.0 * (after - before) / NULLIF(ABS(before), 0) AS change_pct"


def movers(query: Query, dim: Dimension, a: Period, b: Period, order: str, limit: int, spread: bool) -> str:
    """A row a group with its change, and how many groups there are; with `spread` also how many rose and fell."""
    columns = [
        "sides.*",
        *_with_names([dim], "sides"),
        _CHANGE,
        "COUNT(*) OVER () AS group_count",
    ]
    if spread:
        columns.append("COUNT(*) FILTER (WHERE after > before) OVER () AS rose")
        columns.append("COUNT(*) FILTER (WHERE after < before) OVER () AS fell")
    return (
        f"WITH sides AS (\n{_indented(sides(query, dim, a, b))}\n)\nSELECT{_listed(columns)}\nFROM sides\n"
        f"ORDER BY {order}, {quote(dim.label)}\nLIMIT {limit}"
    )


def contributions(
    query: Query, dim: Dimension, a: Period, b: Period, inside: str, up: bool, least: int
) -> str:
    """A row a group: its change and what it adds to the change of the whole, the largest first.

    A total's or count's contribution is its own change. A mean's is the change of (sum of the group / rows of
    all), so that the contributions add up to the change of the mean. `by_change` ranks the groups' own changes,
    those with fewer than `least` rows in a period last.
    """
    stat = statistic(query)
    direction = "DESC" if up else "ASC"
    body = _indented(sides(query, dim, a, b, inside))
    name = quote(dim.label)
    if stat in ("total", "count"):
        return (
            f"WITH sides AS (\n{body}\n)\nSELECT *, after - before AS change, after - before AS contribution\n"
            f"FROM sides\nWHERE {name} IS NOT NULL\nORDER BY contribution {direction}, {name}\nLIMIT 8"
        )
    part = "after - before"
    if stat == "mean":
        now, then = (
            f"COALESCE({side} * rows_{side}, 0) / SUM(rows_{side}) OVER ()" for side in ("after", "before")
        )
        part = f"{now}\n      - {then}"
    enough = f"rows_before >= {least} AND rows_after >= {least}"
    return (
        f"WITH sides AS (\n{body}\n), parts AS (\n  SELECT *, after - before AS change,\n    {part} AS contribution,\n"
        f"    RANK() OVER (ORDER BY {enough} DESC, after - before {direction} NULLS LAST) AS by_change\n"
        "  FROM sides\n)\n"
        f"SELECT *\nFROM parts\nWHERE {name} IS NOT NULL\n"
        f"ORDER BY by_change > 1, contribution {direction} NULLS LAST, {name}\nLIMIT 6"
    )


def trend(query: Query, grain: str, limit: int = 60, offset: int = 0, extremes: str = "") -> str:
    """A row a month (quarter, year …), with the change from the one before; `extremes`: ASC or DESC, best first."""
    assert query.axis is not None
    stat, m, g = statistic(query), query.measure, quote(grain)
    picks = [f"{query.axis.key(grain)} AS {g}", f"{aggregate(stat, m)} AS value"]
    picks += [f"{counted(m)} AS n"] if stat != "count" else []
    body = f"SELECT{_listed(picks)}\nFROM {query.source}{query.conditions(period_filter(query))}\nGROUP BY 1"
    before = f"LAG(value) OVER (ORDER BY {g})"
    columns = [
        "by_time.*",
        f"value - {before} AS change",
        f"100.0 * (value - {before}) / NULLIF(ABS({before}), 0) AS change_pct",
        "COUNT(*) OVER () AS period_count",
    ]
    if query.want.direction or query.want.quality:
        order = "ASC" if query.want.direction == "asc" else "DESC"
        columns.append(f"RANK() OVER (ORDER BY ROUND(value, 9) {order} NULLS LAST) AS rank")
    sort = f"rank, {g}" if extremes else g
    tail = f" OFFSET {offset}" if offset else ""
    return (
        f"WITH by_time AS (\n{_indented(body)}\n)\nSELECT{_listed(columns)}\nFROM by_time\nWHERE {g} IS NOT NULL\n"
        f"ORDER BY {sort}\nLIMIT {limit}{tail}"
    )


def missing(query: Query, columns: list[Column]) -> str:
    """A row a column: missing values, rows, share; most missing first."""
    source = f"{query.source}{query.conditions(period_filter(query))}"
    parts = [
        f"SELECT {literal(c.name)} AS column_name, COUNT(*) - COUNT({own(c.name)}) AS missing, {_blank(c)} AS blank, "
        f"COUNT(*) AS rows_in_all FROM {source}"
        for c in columns
    ]
    union = _indented("\nUNION ALL ".join(parts))
    return (
        f"WITH gaps AS (\n{union}\n)\nSELECT *, 100.0 * missing / NULLIF(rows_in_all, 0) AS missing_pct,\n"
        "  COUNT(*) FILTER (WHERE missing > 0) OVER () AS with_missing, SUM(missing) OVER () AS missing_in_all\n"
        "FROM gaps\nORDER BY missing DESC, blank DESC, column_name\nLIMIT 50"
    )


def _blank(column: Column) -> str:
    """How many texts of a column are empty or blanks only: no NULL, and yet nothing."""
    text = f"CAST({own(column.name)} AS VARCHAR)" if column.mixed else own(column.name)
    return f"COUNT(*) FILTER (WHERE trim({text}) = '')" if column.kind == "text" else "0"


def outliers(query: Query) -> str:
    """One row: quartiles, the bounds of the 1.5 × IQR rule, how many values lie outside them."""
    x = query.measure.sql
    source = f"{query.source}{query.conditions(period_filter(query), f'{x} IS NOT NULL')}"
    return (
        f"WITH v AS (\n  SELECT {x} AS x\n  FROM {source}\n), q AS (\n"
        "  SELECT QUANTILE_CONT(x, 0.25) AS q1, QUANTILE_CONT(x, 0.75) AS q3 FROM v\n), b AS (\n"
        "  SELECT *, q1 - 1.5 * (q3 - q1) AS low, q3 + 1.5 * (q3 - q1) AS high FROM q\n)\n"
        "SELECT MIN(q1) AS q1, MIN(q3) AS q3, MIN(low) AS low, MIN(high) AS high,\n"
        "  COUNT(*) FILTER (WHERE x < low) AS below, COUNT(*) FILTER (WHERE x > high) AS above,\n"
        "  COUNT(*) FILTER (WHERE x < low OR x > high) AS outliers, COUNT(*) AS n,\n"
        "  100.0 * COUNT(*) FILTER (WHERE x < low OR x > high) / NULLIF(COUNT(*), 0) AS share_pct,\n"
        "  MIN(x) AS smallest, MAX(x) AS largest\nFROM v CROSS JOIN b"
    )


def rows(query: Query, direction: str, limit: int, shown: list[Column]) -> str:
    """Single rows in the order of the measure."""
    x = query.measure.sql
    order = "ASC" if direction == "asc" else "DESC"
    picks = ", ".join([f"RANK() OVER (ORDER BY {x} {order}) AS rank", *[own(c.name) for c in shown]])
    conditions = query.conditions(period_filter(query), f"{x} IS NOT NULL")
    return f"SELECT {picks}\nFROM {query.source}{conditions}\nORDER BY rank\nLIMIT {limit}"


def distribution(query: Query) -> str:
    """One row: count, missing, mean, spread and quantiles."""
    x = query.measure.sql
    quantiles = ", ".join(
        f"QUANTILE_CONT({x}, {p}) AS p{int(p * 100)}" for p in (0.05, 0.25, 0.5, 0.75, 0.95)
    )
    return (
        f"SELECT COUNT({x}) AS n, COUNT(*) - COUNT({x}) AS missing, AVG({x}) AS mean, STDDEV_SAMP({x}) AS std,\n"
        f"  MIN({x}) AS smallest, {quantiles}, MAX({x}) AS largest\n"
        f"FROM {query.source}{query.conditions(period_filter(query))}"
    )


def correlation(query: Query) -> str:
    """One row: Pearson's r of two measures and the rows that have both."""
    x, y = (m.sql for m in query.measures[:2])
    return (
        f"SELECT CORR({x}, {y}) AS r, COUNT(*) FILTER (WHERE {x} IS NOT NULL AND {y} IS NOT NULL) AS n,\n"
        f"  COUNT(*) AS rows_in_all\nFROM {query.source}{query.conditions(period_filter(query))}"
    )


def _with_names(dims: list[Dimension], of: str) -> list[str]:
    """Readable names out of look-up tables; a subquery each, so that no row is ever counted twice."""
    columns = []
    for d in dims:
        if d.named is not None:
            lookup, key = d.named.table.sql, quote(d.named.other)
            found = f"SELECT MIN({d.name_sql}) FROM {lookup} WHERE {lookup}.{key} = {of}.{quote(d.label)}"
            columns.append(f"({found}) AS {quote(d.name_key)}")
    return columns


def _named(sql: str, label: str) -> str:
    return sql if sql == own(label) else f"{sql} AS {quote(label)}"


def _key(d: Dimension, place: int) -> str:
    """What GROUP BY says: a plain column by its name, anything longer by its place."""
    return d.sql if d.sql == own(d.label) else str(place)


def _listed(picks: list[str]) -> str:
    """Short lists in one line, longer ones a line each."""
    one = ", ".join(picks)
    return " " + one if len(one) <= 80 and "\n" not in one else "\n  " + ",\n  ".join(picks)


def _indented(sql: str) -> str:
    return "\n".join("  " + line for line in sql.splitlines())
