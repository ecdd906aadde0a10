"""`describe_variable`: what the columns of a table hold, computed by SQL, so that it can be interrupted."""

from __future__ import annotations

import re
from typing import Any

from ..errors import ToolError
from ..redact import MASK, secret_name
from . import duck
from .plain import Plainly
from .result import Reply
from .sql import Queries
from .table import column_name, kind_of
from .tool import Tool, tool
from .variables import describe, find

Json = dict[str, Any]
COLUMNS = 40
TOP = 5
EXACT_CELLS = 50_000_000
"""Above so many cells, distinct values are estimated rather than counted."""
_NUMBER = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*)$")
_TIME = re.compile(r"^(DATE|TIMESTAMP.*|TIME.*)$")


def describe_tool(queries: Queries) -> Tool:
    """`describe_variable` over the tables and other variables of `queries`."""

    @tool
    def describe_variable(name: str, column: str = "") -> object:
        """Describe a table column by column: type, nulls, distinct, min, max, mean, quartiles, top values.

        Other values are described by their type, size and first items.

        Args:
            name: a variable, or "engine.table" for a table of a database.
            column: one column only; empty for all.
        """
        value, database, source = _source(queries, name)
        if source:
            return Reply(_table(queries, name, column, database, source))
        if column:
            raise ToolError(f"{name} is no table, so it has no column {column!r}; leave column empty")
        entry = describe(name, value)
        if not secret_name(name) and type(value) in (list, tuple, dict):
            first = value if len(value) <= 10 else _first(value)
            entry["first"] = Plainly(2_000, 100)(first)
        return Reply(entry)

    return describe_variable


def _first(value: Any) -> Any:
    items = [
        item for _, item in zip(range(10), value.items() if type(value) is dict else value, strict=False)
    ]
    return dict(items) if type(value) is dict else items


def _source(queries: Queries, name: str) -> tuple[Any, str, str]:
    """(value, database, what stands behind FROM); the last is "" for what is no table."""
    engine, dot, table = name.partition(".")
    if dot and name not in queries.namespace:
        return None, engine, table
    value = find(queries.namespace, name)
    return value, "", duck.quoted(name) if duck.is_table(name, value) else ""


def _table(queries: Queries, name: str, column: str, database: str, source: str) -> Json:
    if database:
        return _database_table(queries, name, column, database, source)
    value = queries.namespace[name]
    try:
        whole = duck.readable(value)
    except ToolError as error:
        raise ToolError(f"{name} cannot be queried: {error}") from None
    names = [
        str(each) for each in (whole.schema.names if kind_of(whole).startswith("pyarrow") else whole.columns)
    ]
    if column and column not in names:
        raise ToolError(f"{name} has no column {column!r}; columns: {', '.join(names[:40])}")
    wanted = [column] if column else names[:COLUMNS]
    # Only these are handed over: thousands of columns would be read again for each question.
    narrow = whole[wanted] if kind_of(whole).startswith("pandas") else whole.select(wanted)
    inner = Queries({name: narrow})
    types, _ = inner.run(f"DESCRIBE SELECT * FROM {source}")
    kinds: dict[str, str] = dict(zip(types["column_name"], types["column_type"], strict=True))
    dtypes = kinds | _dtypes(value)
    rows = int(inner.run(f"SELECT count(*) FROM {source}")[0].iat[0, 0])
    exact = rows * len(wanted) <= EXACT_CELLS
    columns = [_column(inner, source, c, kinds[c], dtypes[c], exact) for c in wanted]
    body: Json = {"name": name, "type": type(value).__name__, "rows": rows, "columns": columns}
    return body | _left_out(len(names) - len(wanted) if not column else 0, exact)


def _left_out(count: int, exact: bool) -> Json:
    notes = [f"{count:,} more columns; give column to describe one"] if count else []
    notes += [] if exact else ["distinct values are estimated"]
    return {"note": "; ".join(notes)} if notes else {}


def _dtypes(value: Any) -> dict[str, str]:
    """Types as the table's own library names them, where its columns keep their names in SQL."""
    kind = kind_of(value)
    if kind == "pandas.DataFrame":
        return {
            column_name(name): str(dtype) for name, dtype in zip(value.columns, value.dtypes, strict=True)
        }
    if kind == "polars.DataFrame":
        return {name: str(dtype) for name, dtype in value.schema.items()}
    return {}


def _column(queries: Queries, source: str, column: str, kind: str, dtype: str, exact: bool) -> Json:
    name = duck.quoted(column)
    distinct = f"count(DISTINCT {name})" if exact else f"approx_count_distinct({name})"
    parts = [f"count(*) - count({name})", distinct]
    number, time = _NUMBER.match(kind), _TIME.match(kind)
    if number:
        safe = f"CASE WHEN isfinite({name}::DOUBLE) THEN {name}::DOUBLE END"
        # Whole numbers keep their digits; among fractions, infinities do not count.
        ends = safe if kind in ("FLOAT", "DOUBLE") else name
        parts += [f"min({ends})", f"max({ends})", f"avg({safe})", f"stddev_samp({safe})"]
        parts += [f"quantile_cont({safe}, {q})" for q in (0.25, 0.5, 0.75)]
    elif time or kind == "VARCHAR":
        parts += [f"min({name})", f"max({name})"]
    # Each is named, since two of them may read the same.
    select = ", ".join(f"{part} AS c{i}" for i, part in enumerate(parts))
    frame, _ = queries.run(f"SELECT {select} FROM {source}")
    cells = [frame.iat[0, i] for i in range(len(parts))]
    entry: Json = {"name": column, "dtype": dtype, "nulls": int(cells[0]), "distinct": int(cells[1])}
    if secret_name(column):
        return entry | {"values": MASK}
    entry |= dict(
        zip(("min", "max", "mean", "std", "q25", "median", "q75"), map(_cell, cells[2:]), strict=False)
    )
    if not time or entry["distinct"] <= 50:
        entry["top"] = _top(queries, source, name)
    return entry


def _cell(value: Any) -> Any:
    plain = Plainly(200, 10)(value)
    return plain.removesuffix("T00:00:00") if isinstance(plain, str) else plain


def _top(queries: Queries, source: str, name: str) -> list[Json]:
    counted = f"SELECT {name} AS v, count(*) AS n FROM {source} WHERE {name} IS NOT NULL GROUP BY 1"
    frame, _ = queries.run(f"{counted} ORDER BY 2 DESC, 1 LIMIT {TOP}")
    return [{"value": _cell(frame.iat[i, 0]), "count": int(frame.iat[i, 1])} for i in range(len(frame))]


def _database_table(queries: Queries, name: str, column: str, database: str, table: str) -> Json:
    """In the database's own SQL, which may know no quantiles: what every dialect can say."""
    from . import database as databases

    engine = queries.engine(database)
    columns = {entry["name"]: entry["dtype"] for entry in databases.columns(engine, table)}
    if column and column not in columns:
        raise ToolError(f"{name} has no column {column!r}; columns: {', '.join(list(columns)[:40])}")
    quote = engine.dialect.identifier_preparer.quote
    source = ".".join(quote(part) for part in table.split("."))
    wanted = [column] if column else list(columns)[:COLUMNS]
    profile = []
    rows = 0
    for each in wanted:
        c = quote(each)
        sql = f"SELECT count(*), count(*) - count({c}), count(DISTINCT {c}), min({c}), max({c}) FROM {source}"
        frame, _ = queries.run(sql, database)
        rows, nulls, distinct, low, high = (frame.iat[0, i] for i in range(5))
        entry: Json = {"name": each, "dtype": columns[each], "nulls": int(nulls), "distinct": int(distinct)}
        profile.append(
            entry | ({"values": MASK} if secret_name(each) else {"min": _cell(low), "max": _cell(high)})
        )
    body: Json = {"name": name, "type": "database table", "rows": int(rows), "columns": profile}
    return body | _left_out(len(columns) - len(wanted) if not column else 0, True)
