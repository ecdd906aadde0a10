"""What is in the notebook: names, types, columns. Only types and sizes are looked at: it costs nothing."""

from __future__ import annotations

import datetime
import fnmatch
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import ToolError
from ..redact import redact, secret_name
from . import database
from .result import Reply
from .table import FRAMES, column_name, kind_of
from .tool import Tool, tool

Json = dict[str, Any]
TOTAL_CHARS = 60_000
COLUMNS = 60
_OWN = re.compile(
    r"_+|_\d+|_i+|_i\d+|_[dios]h|_r\d+|_exit_code|_agent|__\w+|In|Out|exit|quit|get_ipython|open"
)
_SKIPPED = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType,
    types.BuiltinMethodType, type,
)  # fmt: skip
_SIZED = (list, tuple, set, frozenset, dict, bytes, bytearray)


def variables_tool(namespace: Json, files: Callable[[], Iterable[Json]] = tuple) -> Tool:
    """`list_variables` over `namespace`; `files` gives entries of the data files that the user named."""

    @tool
    def list_variables(pattern: str = "") -> object:
        """List the notebook's variables: tables with their columns and types, other values by type and size.

        Databases (SQLAlchemy engines) list their tables as "engine.table"; files that the user named are tables
        under their own name, in double quotes in SQL. Values of secret-looking names are never shown.

        Args:
            pattern: part of a name, or a pattern with * and ?; empty for all.
        """
        entries = list(described(namespace, pattern))
        entries += [e for e in files() if pattern not in namespace and _matches(e["name"], pattern, False)]
        entries.sort(key=lambda entry: "columns" not in entry)
        return Reply(_within(entries, pattern), total_chars=TOTAL_CHARS)

    return list_variables


def described(namespace: Json, pattern: str = "") -> Iterator[Json]:
    """One entry a variable, and one a table of a database; an exact name means that name alone."""
    exact = pattern in namespace
    for name, value in list(namespace.items()):
        if not shown(name, value):
            continue
        is_engine = database.is_engine(value)
        if not _matches(name, pattern, exact) and not (is_engine and not exact):
            continue
        if not is_engine:
            yield describe(name, value)
            continue
        for entry in _tables(name, value):
            if _matches(name, pattern, exact) or _matches(entry["name"], pattern, exact):
                yield entry


def shown(name: Any, value: Any) -> bool:
    """Whether a name of the namespace is a variable of the user's."""
    if not isinstance(name, str) or _OWN.fullmatch(name):
        return False
    kind = type(value)
    return not issubclass(kind, _SKIPPED) and not kind.__module__.startswith(("agent_nb", "IPython"))


def find(namespace: Json, name: str) -> Any:
    """The user's variable of that name. Raises ToolError naming those that look like it."""
    if name in namespace and (shown(name, namespace[name]) or re.fullmatch(r"_r\d+", name)):
        return namespace[name]
    import difflib

    names = [known for known, value in list(namespace.items()) if shown(known, value)]
    near = difflib.get_close_matches(name, names, n=5, cutoff=0.5) or names[:12]
    raise ToolError(f"there is no variable {name!r}; there are {', '.join(near) or 'none'}")


def describe(name: str, value: Any) -> Json:
    """Type, size and columns of one variable."""
    entry: Json = {"name": name, "type": type(value).__name__}
    try:
        kind = kind_of(value)
        if kind in FRAMES or kind == "polars.LazyFrame":
            return entry | _frame(kind, value)
        if secret_name(name):
            return entry | {"summary": "hidden: its name looks like a secret"}
        return entry | {"summary": _summary(kind, value)}
    except Exception as error:  # a half-built frame of the user's own
        return entry | {"summary": f"cannot be described ({type(error).__name__})"}


def _frame(kind: str, value: Any) -> Json:
    if kind == "pandas.DataFrame":
        rows: int | None = len(value.index)
        index = [
            (column_name(n), value.index.get_level_values(n).dtype)
            for n in value.index.names
            if n is not None
        ]
        total = len(value.columns) + len(index)
        shown_dtypes = value.dtypes.iloc[:COLUMNS]
        names = [n for n, _ in index] + [column_name(c) for c in value.columns[:COLUMNS]]
        dtypes = [str(d) for _, d in index] + [str(d) for d in shown_dtypes]
    elif kind == "polars.LazyFrame":  # never collected: its plan may read a lake
        return {"rows": None, "summary": "not collected; its columns are known once it is queried"}
    elif kind == "polars.DataFrame":
        rows, total = value.height, value.width
        names = list(value.columns[:COLUMNS])
        dtypes = [str(value.get_column(c).dtype) for c in names]
    else:
        rows, total = value.num_rows, value.num_columns
        names = [str(c) for c in value.schema.names[:COLUMNS]]
        dtypes = [str(value.schema.field(i).type) for i in range(len(names))]
    columns = [{"name": c, "dtype": d} for c, d in zip(names, dtypes, strict=True)]
    return {"rows": rows, "columns": columns} | (
        {"more_columns": total - len(names)} if total > len(names) else {}
    )


def _summary(kind: str, value: Any) -> str:
    if value is None or type(value) in (bool, float, complex):
        return repr(value)
    if type(value) is int:
        return repr(value) if value.bit_length() < 200 else f"an integer of {value.bit_length():,} bits"
    if type(value) is str:
        start = redact(value[:200].encode("utf-8", "replace").decode())
        return start if len(value) <= 200 else f"{len(value):,} characters, beginning {start[:80]!r}"
    if type(value) in (datetime.date, datetime.datetime, datetime.time, datetime.timedelta):
        return str(value)
    if kind == "numpy.ndarray":
        return f"{value.dtype} array of shape {value.shape}"
    if kind in ("pandas.Series", "polars.Series", "pandas.Index"):
        return f"{len(value):,} values of {value.dtype}"
    if type(value) in _SIZED:
        return _sized(value)
    return ""


def _sized(value: Any) -> str:
    size = f"{len(value):,} items" if not isinstance(value, (bytes, bytearray)) else f"{len(value):,} bytes"
    if type(value) is dict and value:
        keys = [key for _, key in zip(range(8), value, strict=False) if type(key) in (str, int)]
        return redact(f"{size}; keys {', '.join(str(key)[:40] for key in keys)}")
    if type(value) in (list, tuple) and value:
        return f"{size}; the first is {type(value[0]).__name__}"
    return size


def _tables(name: str, engine: Any) -> Iterator[Json]:
    try:
        yield from database.tables(name, engine)
    except Exception as error:
        yield {"name": name, "type": "database", "summary": f"cannot be read ({type(error).__name__})"}


def _matches(name: str, pattern: str, exact: bool) -> bool:
    if exact:
        return name == pattern or name.startswith(f"{pattern}.")
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatchcase(name.lower(), pattern.lower())
    return pattern.lower() in name.lower()


def _within(entries: list[Json], pattern: str) -> Json:
    """As many entries as fit; columns go first, then whole entries, and the note says so."""
    room = TOTAL_CHARS - 2_000
    kept: list[Json] = []
    thinned = 0
    for entry in entries:
        cost = len(json.dumps(entry, ensure_ascii=False)) + 2
        if cost > room or (cost > 1_500 and len(entries) > 30):
            columns = entry.get("columns", [])
            entry = {
                **entry,
                "columns": columns[:8],
                "more_columns": entry.get("more_columns", 0) + len(columns[8:]),
            }
            thinned += 1
            cost = len(json.dumps(entry, ensure_ascii=False)) + 2
        if cost > room:
            break
        room -= cost
        kept.append(entry)
    notes = []
    if thinned or any("more_columns" in entry for entry in kept):
        notes.append("not all columns are listed; describe_variable tells of one")
    if len(kept) < len(entries):
        notes.append(f"{len(entries) - len(kept):,} more of {len(entries):,} variables; narrow with pattern")
    if not entries:
        notes.append(f"no variable matches {pattern!r}" if pattern else "the notebook has no variables yet")
    return {"variables": kept} | ({"note": "; ".join(notes)} if notes else {})
