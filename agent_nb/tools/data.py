"""The data tools: variables, SQL, describe, chart; those of the `data` extra only where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from .tool import Tool
from .variables import variables_tool

NEEDED = ("duckdb", "pandas", "sqlglot", "matplotlib")


def data_tools(namespace: dict[str, Any], allowed_paths: Iterable[Any] = ()) -> list[Tool]:
    """list_variables, describe_variable, query_sql and draw_chart over the notebook's variables.

    Args:
        namespace: the user's; read at each call, so that a changed table gives fresh answers.
        allowed_paths: CSV and Parquet files, or folders of them, that SQL may read.
    """
    if missing():
        return [variables_tool(namespace)]
    from .chart import chart_tool
    from .describe import describe_tool
    from .sql import Queries, sql_tool

    queries = Queries(namespace, allowed_paths)
    listed = variables_tool(namespace, queries.duck.file_tables)
    return [listed, describe_tool(queries), sql_tool(queries), chart_tool(queries)]


def missing() -> list[str]:
    """Packages of the `data` extra that are not installed; nothing is imported to find out."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]
