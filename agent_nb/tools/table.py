"""Tables of any library, read the same way: columns, the first rows, and how many there are."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Table:
    """A table that is read only as far as it is shown.

    Args:
        columns: names, as text.
        total: rows in all. complete: False where there are more than that, uncounted.
        head: the first n rows, as lists of cells.
    """

    columns: list[str]
    total: int
    head: Callable[[int], list[list[Any]]]
    complete: bool = True


@dataclasses.dataclass(frozen=True)
class Cut:
    """A table whose source has more rows than were fetched."""

    frame: Any


def as_table(value: Any) -> Table | None:
    """`value` as a Table, or None where it is none. No library is imported for it."""
    if isinstance(value, Cut):
        table = as_table(value.frame)
        return dataclasses.replace(table, complete=False) if table else None
    module = type(value).__module__.partition(".")[0]
    try:
        if module == "pandas":
            return _pandas(value)
        if module == "polars":
            return _polars(value)
        if module == "pyarrow":
            return _arrow(value)
        if module == "numpy" and getattr(value, "ndim", 0) == 2 and value.dtype.names is None:
            names = [str(i) for i in range(value.shape[1])]
            return Table(names, value.shape[0], lambda n: value[:n].tolist())
        if type(value) is list:
            return _dicts(value)
    except Exception:  # a subclass of the user's own may break any of it; then it is shown as a value
        return None
    return None


def _pandas(value: Any) -> Table | None:
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.Series):
        value = value.to_frame(value.name if value.name is not None else "value")
    if not isinstance(value, pandas.DataFrame):
        return None
    plain_index = isinstance(value.index, pandas.RangeIndex) and value.index.name is None

    def flat(n: int) -> Any:
        head = value.head(n)
        return head if plain_index else head.reset_index(allow_duplicates=True, names=_index_names(value))

    def head(n: int) -> list[list[Any]]:
        return [
            list(row)
            for row in zip(*(_cells(flat(n).iloc[:, i]) for i in range(flat(0).shape[1])), strict=True)
        ]

    return Table([column_name(c) for c in flat(0).columns], len(value), head)


def _index_names(frame: Any) -> list[Any]:
    names = list(frame.index.names)
    return [("index" if len(names) == 1 else f"level_{i}") if n is None else n for i, n in enumerate(names)]


def _cells(column: Any) -> list[Any]:
    """The cells of a column; days where all of its times are midnight."""
    cells: list[Any] = column.tolist()
    if getattr(column.dtype, "kind", "") == "M" and cells and getattr(column.dtype, "tz", None) is None:
        midnight = all(c != c or (c.hour, c.minute, c.second, c.microsecond) == (0, 0, 0, 0) for c in cells)
        return [None if c != c else (c.date() if midnight else c) for c in cells]
    return cells


def column_name(name: Any) -> str:
    """A column's name as text; the levels of a MultiIndex are joined by "_"."""
    return "_".join(str(part) for part in name if str(part)) if isinstance(name, tuple) else str(name)


def _polars(value: Any) -> Table | None:
    polars = sys.modules["polars"]
    if isinstance(value, polars.Series):
        value = value.to_frame()
    if not isinstance(value, polars.DataFrame):
        return None
    return Table(list(value.columns), value.height, lambda n: [list(row) for row in value.head(n).rows()])


def _arrow(value: Any) -> Table | None:
    if type(value).__name__ not in ("Table", "RecordBatch"):
        return None

    def head(n: int) -> list[list[Any]]:
        columns = [column.to_pylist() for column in value.slice(0, n).columns]
        return [list(row) for row in zip(*columns, strict=True)]

    return Table([str(name) for name in value.schema.names], value.num_rows, head)


def _dicts(value: list[Any]) -> Table | None:
    """A list of dicts of the same plain keys is a table."""
    if not value or not all(type(row) is dict for row in value[:100]):
        return None
    names = list(value[0])
    if not names or not all(isinstance(n, str) for n in names):
        return None
    if any(type(row) is not dict or list(row) != names for row in value):
        return None
    return Table(names, len(value), lambda n: [[row[name] for name in names] for row in value[:n]])
