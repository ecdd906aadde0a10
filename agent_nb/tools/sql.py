"""`query_sql`: one read-only SELECT over the notebook's tables, or over a database of the notebook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import ToolError
from . import database
from .duck import ROWS, Duck
from .result import Reply
from .tool import Tool, tool

Json = dict[str, Any]


class Queries:
    """Where a SELECT of this toolbox runs: DuckDB over the notebook's tables, or one of its databases."""

    def __init__(self, namespace: Json, allowed_paths: Iterable[Any] = ()) -> None:
        self.namespace = namespace
        self.duck = Duck(namespace, allowed_paths)

    def run(self, sql: str, where: str = "", rows: int = ROWS) -> tuple[Any, bool]:
        """(DataFrame of at most `rows` rows, whether that is all). `where`: an engine's name, or ""."""
        if not where:
            return self.duck.query(sql, rows)
        return database.query(self.engine(where), sql, rows)

    def engine(self, name: str) -> Any:
        """The SQLAlchemy engine of that name. Raises ToolError naming those there are."""
        engine = self.namespace.get(name)
        if not database.is_engine(engine):
            engines = [n for n, value in list(self.namespace.items()) if database.is_engine(value)]
            known = ", ".join(engines) or "none; leave database empty to query the notebook's tables"
            raise ToolError(f"there is no database {name!r}; databases: {known}")
        return engine


def sql_tool(queries: Queries) -> Tool:
    """`query_sql` over `queries`."""

    @tool
    def query_sql(query: str, database: str = "") -> object:
        """Run one read-only SELECT (DuckDB SQL) over the notebook's tables, by their variable names.

        The first rows come back with the total; the whole result stays in the kernel under a name that later
        queries can use. Aggregate in SQL rather than reading rows.

        Args:
            query: one SELECT, e.g. SELECT city, sum(sales) AS sales FROM orders GROUP BY city.
            database: name of a SQLAlchemy engine in the notebook, to query that database in its own SQL
                instead; empty for the notebook's tables.
        """
        frame, complete = queries.run(query, database)
        note = "" if complete else f"there are more than {len(frame):,} rows; the rest was not read"
        return Reply({"columns": [], "complete": complete, "note": note}, frame)

    return query_sql
