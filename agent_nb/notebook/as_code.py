"""A run without its agent: the queries, the Python and the charts that it made, as the source of a cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..events import RunStarted, ToolFinished

Json = dict[str, Any]


def code_of(events: Iterable[Any]) -> str:
    """The source for the last goal among `events`, or "" where no SQL or Python went well for it."""
    goal = ""
    calls: list[Json] = []
    for event in events:
        if isinstance(event, RunStarted) and not event.resumes:
            goal, calls = event.goal, []
        elif isinstance(event, ToolFinished) and (
            event.observation.get("ok") or event.observation.get("edited")
        ):
            calls.append(event.observation)
    parts = [_edited(part, seen) for seen in calls if (part := _statement(seen))]
    if not parts:
        return ""
    imports = []
    if any("duckdb.sql" in part for part in parts):
        imports.append("import duckdb")
    if any("pd.read_sql" in part for part in parts):
        imports.append("import pandas as pd")
    head = [f"# {line}".rstrip() for line in goal.splitlines()]
    return "\n".join([*head, *imports, *parts]) + "\n"


def _edited(statement: str, seen: Json) -> str:
    told = "# The agent went on from another result of this one: its user had edited it.\n"
    return told + statement if seen.get("edited") else statement


def _statement(seen: Json) -> str:
    given = seen.get("input") or {}
    target = f"{seen['value_name']} = " if seen.get("value_name") else ""
    if seen.get("name") == "run_python" and given.get("code"):
        return str(given["code"]).rstrip()
    if seen.get("name") == "draw_chart" and given.get("data") and given.get("x"):
        return _chart(**{name: str(given.get(name) or "") for name in _CHART})
    if seen.get("name") != "query_sql" or not given.get("query"):
        return ""
    query = _quoted(str(given["query"]).strip())
    if database := str(given.get("database") or ""):
        return f"{target}pd.read_sql({query}, {database})"
    return f"{target}duckdb.sql({query}).df()"


_CHART = ("kind", "data", "x", "y", "series", "title")


def _chart(kind: str, data: str, x: str, y: str, series: str, title: str) -> str:
    """The chart by pandas: the same rows, kind and title; its look is that of pandas."""
    query = f'SELECT * FROM "{data.strip()}"' if data.strip().isidentifier() else data.strip().rstrip("; \n")
    frame = f"duckdb.sql({_quoted(query)}).df()"
    titled = f", title={_quoted(title)}" if title else ""
    if kind == "hist":
        return f"{frame}[{_quoted(x)}].plot.hist({titled.removeprefix(', ')})"
    if series and kind != "scatter":
        wide = f"pivot(index={_quoted(x)}, columns={_quoted(series)}, values={_quoted(y)})"
        return f"{frame}.{wide}.plot.{kind}({titled.removeprefix(', ')})"
    return f"{frame}.plot.{kind}(x={_quoted(x)}, y={_quoted(y)}{titled})"


def _quoted(text: str) -> str:
    """A literal of `text`, in triple quotes where that shows it as it is."""
    if '"""' in text or "\\" in text or text.endswith('"') or (not text.isprintable() and "\n" not in text):
        return repr(text)
    return f'"""{text}"""' if "\n" in text or '"' in text else f'"{text}"'
