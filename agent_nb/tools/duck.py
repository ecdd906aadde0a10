"""Read-only SQL by DuckDB over the notebook's tables and the files that the user named."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import SettingError, ToolError
from ..redact import secret_name
from .files import table_names
from .table import FRAMES, column_name, kind_of, unique_names
from .variables import shown
from .waiting import waiting

Json = dict[str, Any]
ROWS = 1_000_000
"""Rows that a query may bring back."""
_WORD = re.compile(r"\w+")
_QUERIES = ("SELECT", "EXPLAIN")


class Duck:
    """One in-memory database, opened at the first query and locked: no files, no settings, no extensions.

    Args:
        namespace: its tables can be named in a query.
        allowed_paths: CSV, Parquet and JSON files (or folders of them) that a query may read; each file is
            also a table under its own name.
    """

    def __init__(self, namespace: Json, allowed_paths: Iterable[Any] = ()) -> None:
        self.namespace = namespace
        self.paths = [os.path.abspath(os.fspath(path)) for path in allowed_paths]
        for path in self.paths:
            if not os.path.exists(path):
                raise SettingError(f"there is no file {path}; name files and folders that exist")
        self.files = table_names(path for path in self.paths if not os.path.isdir(path))
        self._connection: Any = None

    def file_tables(self) -> Iterator[Json]:
        """One entry a file for the list of variables; a file that cannot be read says why."""
        for name, path in self.files.items():
            entry: Json = {"name": name, "type": "file"}
            try:
                found, _ = self.query(f"DESCRIBE SELECT * FROM {_text(path)}")
            except ToolError as error:
                yield entry | {"summary": str(error)}
                continue
            rows = zip(found["column_name"], found["column_type"], strict=True)
            yield entry | {"columns": [{"name": column, "dtype": kind} for column, kind in rows]}

    def query(self, sql: str, rows: int = ROWS) -> tuple[Any, bool]:
        """(DataFrame of at most `rows` rows, whether that is all) of one SELECT.

        Raises:
            ToolError: it is not exactly one SELECT, or DuckDB refuses it.
        """
        connection = self._open()
        self._check(connection, sql)
        used = self._register(connection, sql)
        try:
            return waiting(lambda: _fetch(connection, sql, rows), connection.interrupt, "query_sql")
        except Exception as error:
            raise ToolError(self._explain(error, sql)) from None
        finally:
            for name in used:
                connection.unregister(name)

    def _open(self) -> Any:
        if self._connection is None:
            import duckdb

            settings: dict[str, Any] = {
                "python_enable_replacements": False,
                "temp_directory": "",
                "memory_limit": "2GB",
                "threads": min(4, os.cpu_count() or 1),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
            connection = duckdb.connect(":memory:", config=settings)
            files = [path for path in self.paths if not os.path.isdir(path)]
            folders = [path for path in self.paths if os.path.isdir(path)]
            connection.execute(f"SET allowed_paths={_list(files)}" if files else "SELECT 1")
            connection.execute(f"SET allowed_directories={_list(folders)}" if folders else "SELECT 1")
            for name, path in self.files.items():
                # A file that cannot be read must not keep the others from being queried.
                with contextlib.suppress(duckdb.Error):
                    connection.execute(f"CREATE VIEW {quoted(name)} AS SELECT * FROM {_text(path)}")
            connection.execute("SET enable_external_access=false")
            connection.execute("SET lock_configuration=true")
            self._connection = connection
        return self._connection

    def _check(self, connection: Any, sql: str) -> None:
        """By DuckDB's own parser: exactly one statement, and one that reads."""
        try:
            statements = connection.extract_statements(sql)
        except Exception as error:
            raise ToolError(self._explain(error, sql)) from None
        kinds = [statement.type.name for statement in statements]
        if len(kinds) != 1:
            raise ToolError(f"give exactly one SELECT; this has {len(kinds)} statements")
        if kinds[0] == "MULTI":
            raise ToolError("PIVOT needs its values named: PIVOT t ON c IN ('a', 'b') USING sum(x)")
        if kinds[0] not in _QUERIES:
            raise ToolError(f"only SELECT may run here, not {kinds[0]}; it reads and changes nothing")

    def _register(self, connection: Any, sql: str) -> list[str]:
        """Hand the tables that the query names to DuckDB, as they are now; nothing else of the namespace."""
        words = set(_WORD.findall(sql))
        folded = {word.casefold() for word in words}
        tables = {name: value for name, value in list(self.namespace.items()) if is_table(name, value)}
        named = [name for name in tables if name in words]
        taken = {name.casefold() for name in named}
        named += [name for name in tables if name.casefold() in folded and name.casefold() not in taken]
        named = [n for n in named if kind_of(tables[n]) != "polars.LazyFrame" or _is_source(n, sql)]
        for name in named:
            try:
                connection.register(name, readable(tables[name]))
            except Exception as error:
                raise ToolError(f"{name} cannot be queried: {_first_line(error)}") from None
        return named

    def _explain(self, error: Exception, sql: str) -> str:
        """DuckDB's message as one line, with what can be done about it."""
        text = _first_line(error)
        if "Candidate bindings" in str(error):
            found = re.search(r"Candidate bindings: (.*)", str(error))
            text += f" Columns like it: {found.group(1)}" if found else ""
        if "Table with name" in text:
            names = [n for n, v in list(self.namespace.items()) if is_table(n, v) and shown(n, v)]
            text += f" Tables: {', '.join(names[:20]) or 'none'}."
        if type(error).__name__ == "ParserException":
            words = {word.casefold() for word in _WORD.findall(text)}
            keywords = [n for n in self.namespace if isinstance(n, str) and n.casefold() in words]
            text += f' Put names that are SQL words in double quotes: "{keywords[0]}".' if keywords else ""
        if type(error).__name__ == "PermissionException":
            text = "only the notebook's tables and files that the user allowed may be read: " + text
        return text


def is_table(name: Any, value: Any) -> bool:
    """Whether a variable can be named in a query."""
    kind = kind_of(value)
    if kind not in FRAMES and kind not in ("polars.LazyFrame", "pandas.Series", "polars.Series"):
        return False
    return (
        isinstance(name, str)
        and not secret_name(name)
        and (shown(name, value) or re.fullmatch(r"_r\d+", name) is not None)
    )


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever stands in it."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _list(texts: list[str]) -> str:
    """A list of texts as SQL writes it."""
    return "[" + ", ".join(map(_text, texts)) + "]"


def _text(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _fetch(connection: Any, sql: str, rows: int) -> tuple[Any, bool]:
    import pandas as pd

    cursor = connection.execute(sql)
    types = [str(column[1]) for column in cursor.description]
    chunks: list[Any] = []
    count = 0
    while count <= rows:
        chunk = cursor.fetch_df_chunk(50)
        if not len(chunk) and chunks:
            break
        chunks.append(chunk)
        count += len(chunk)
        if not len(chunk):
            break
    frame = chunks[0] if len(chunks) == 1 else pd.concat(chunks, ignore_index=True)
    complete = len(frame) <= rows
    frame = frame.iloc[:rows].reset_index(drop=True)
    frame.columns = unique_names([str(name) for name in frame.columns])
    return _whole_numbers(frame, types), complete


def _whole_numbers(frame: Any, types: list[str]) -> Any:
    """Sums of integers come as floats; where they are exact they become integers again."""
    for name, kind in zip(list(frame.columns), types, strict=True):
        if kind in ("HUGEINT", "UHUGEINT") and frame[name].dtype.kind == "f":
            values = frame[name].dropna()
            if (values.abs() < 2**53).all():
                frame[name] = frame[name].astype("Int64" if len(values) < len(frame) else "int64")
    return frame


def readable(value: Any) -> Any:
    """The table as DuckDB reads it: unique text names, no types that it does not know; the data is shared."""
    kind = kind_of(value)
    if kind in FRAMES and not value.shape[1]:
        raise ToolError("it has no columns")
    if kind == "polars.LazyFrame":
        return value.collect()
    if kind in ("pandas.Series", "polars.Series"):
        value = value.to_frame() if value.name is not None else value.to_frame("value")
        kind = kind.replace("Series", "DataFrame")
    if kind != "pandas.DataFrame":
        names = [str(name) for name in (value.columns if kind.startswith("polars") else value.schema.names)]
        unique = unique_names(names)
        if unique == names:
            return value
        return (
            value.rename(dict(zip(names, unique, strict=True)))
            if kind.startswith("polars")
            else value.rename_columns(unique)
        )
    return _readable_pandas(value)


def _readable_pandas(value: Any) -> Any:
    named = [name for name in value.index.names if name is not None]
    if named:
        value = value.reset_index(level=named, allow_duplicates=True)
    names = [column_name(name) for name in value.columns]
    unique = unique_names(names)
    odd = [i for i, dtype in enumerate(value.dtypes) if _is_odd(dtype)]
    if odd or unique != list(value.columns):
        value = value.copy(deep=False)
        value.columns = unique
    for i in odd:
        dense = getattr(value.iloc[:, i].dtype, "subtype", None) is not None and "Sparse" in str(
            value.dtypes.iloc[i]
        )
        column = value.iloc[:, i]
        value[unique[i]] = column.sparse.to_dense() if dense else column.astype("str")
    return value


def _is_odd(dtype: Any) -> bool:
    return str(dtype).startswith(("period", "interval", "Sparse", "complex"))


def _is_source(name: str, sql: str) -> bool:
    return re.search(rf'(?:\b(?:from|join)\s+|,\s*)"?{re.escape(name)}\b', sql, re.IGNORECASE) is not None


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = []
    for line in lines[:6]:
        if line.startswith(("LINE ", "Candidate bindings", 'Did you mean "pg_', "^")):
            break
        kept.append(line)
    return " ".join(kept)[:500] or type(error).__name__
