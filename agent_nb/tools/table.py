"""Tables of any library, read the same way: columns, the first rows, and how many there are."""

from __future__ import annotations

import dataclasses
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


def kind_of(value: Any) -> str:
    """Library and class of a table or array ("polars.LazyFrame"), or "" where it is none.

    Only the type is looked at, never the value: an object may answer any question with work or an error.
    """
    for cls in type(value).__mro__:
        library = cls.__module__.partition(".")[0]
        if library in ("pandas", "polars", "pyarrow", "numpy"):
            return f"{library}.{cls.__name__}"
    return ""


FRAMES = ("pandas.DataFrame", "polars.DataFrame", "pyarrow.Table", "pyarrow.RecordBatch")


def as_table(value: Any) -> Table | None:
    """`value` as a Table, or None where it is none. No library is imported for it."""
    kind = kind_of(value)
    try:
        if kind in ("pandas.DataFrame", "pandas.Series"):
            return _pandas(value.to_frame(_series_name(value)) if kind.endswith("Series") else value)
        if kind in ("polars.DataFrame", "polars.Series"):
            frame = value.to_frame() if kind.endswith("Series") else value
            return Table(list(frame.columns), frame.height, lambda n: [list(r) for r in frame.head(n).rows()])
        if kind in ("pyarrow.Table", "pyarrow.RecordBatch"):
            return _arrow(value)
        if kind == "numpy.ndarray" and value.ndim == 2 and value.dtype.names is None:
            names = [str(i) for i in range(value.shape[1])]
            return Table(names, value.shape[0], lambda n: list(value[:n].tolist()))
        if type(value) is list:
            return _dicts(value)
    except Exception:  # a subclass of the user's own may break any of it; then it is shown as a value
        return None
    return None


def _series_name(value: Any) -> Any:
    return value.name if value.name is not None else "value"


def _pandas(value: Any) -> Table:
    index = value.index
    plain_index = type(index).__name__ == "RangeIndex" and index.name is None

    def flat(n: int) -> Any:
        head = value.head(n)
        return head if plain_index else head.reset_index(allow_duplicates=True, names=_index_names(head))

    def head(n: int) -> list[list[Any]]:
        frame = flat(n)
        columns = [_cells(frame.iloc[:, i]) for i in range(frame.shape[1])]
        return [list(row) for row in zip(*columns, strict=True)]

    return Table([column_name(name) for name in flat(0).columns], len(value), head)


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


def unique_names(names: list[str]) -> list[str]:
    """SQL does not tell "A" from "a": the second becomes "a_1"."""
    taken: set[str] = set()
    kept = []
    for name in names:
        name = name or "column"
        number, free = 0, name
        while free.casefold() in taken:
            number += 1
            free = f"{name}_{number}"
        taken.add(free.casefold())
        kept.append(free)
    return kept


def _arrow(value: Any) -> Table:
    def head(n: int) -> list[list[Any]]:
        columns = [column.to_pylist() for column in value.slice(0, n).columns]
        return [list(row) for row in zip(*columns, strict=True)]

    return Table([str(name) for name in value.schema.names], value.num_rows, head)


def _dicts(value: list[Any]) -> Table | None:
    """A list of dicts of the same plain keys is a table."""
    if not value or type(value[0]) is not dict:
        return None
    names = list(value[0])
    if not names or not all(isinstance(name, str) for name in names):
        return None
    if any(type(row) is not dict or list(row) != names for row in value):
        return None
    return Table(names, len(value), lambda n: [[row[name] for name in names] for row in value[:n]])
