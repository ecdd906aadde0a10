"""Numbers of an answer → the observations that hold them.

A number counts as evidenced when the goal gives it, or a tool result or an injected memory holds it (equal after
rounding to the digits shown; hours told of minutes count). It also does when simple arithmetic gives it: the
sum, difference, ratio, share or relative change of two evidenced numbers of the same answer, or of cells that
stand in one row or one column of a table that was seen. Everything else has no sources, and views mark it.
Rows that were cut from a tool result were never seen and do not count.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .figures import SMALL, Figure, dated, figures, values

FIRM = 16
"""So many evidenced numbers of an answer are taken for arithmetic among them."""
CELLS = 12
"""Rows and columns of a table whose cells are taken for arithmetic."""
BY_CHANCE = 0.1
"""Arithmetic over a table explains a number only where fewer results than this would hit it by chance."""

_IDENTIFIER = re.compile(r"(?=\D*\d)[^\s,;，；]{2,64}")

_IN = {
    ("min", "minute", "minutes", "mins", "分钟"): (60,),
    ("h", "hr", "hrs", "hour", "hours", "小时"): (60, 3_600),
    ("day", "days", "天"): (24, 1_440, 86_400),
    ("week", "weeks", "周"): (7,),
    ("km", "kg", "t", "公里", "公斤", "吨"): (1_000,),
}
_SMALLER = {name: factors for names, factors in _IN.items() for name in names}


@dataclasses.dataclass(frozen=True)
class Number:
    """One number of an answer.

    Args:
        text: as written. span: (start, end) in the answer, in characters.
        value: what it amounts to with its unit (40 % is 0.4), None for a date.
        sources: where it was seen ("goal", "memory ID", "_r1 query_sql"); none: no evidence.
        formula: how it follows from other numbers, or "".
    """

    text: str
    span: tuple[int, int]
    value: float | None
    sources: tuple[str, ...] = ()
    formula: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        row = dataclasses.asdict(self)
        return row | {"span": list(self.span), "sources": list(self.sources)}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Number:
        """The number that `to_dict` wrote."""
        span = (int(row["span"][0]), int(row["span"][1]))
        return cls(row["text"], span, row["value"], tuple(row["sources"]), row.get("formula", ""))


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """What a piece of arithmetic gives: the error is how far the rounding of its terms moves it."""

    formula: str
    value: float
    error: float
    sources: tuple[str, ...]


def trace(answer: str, seen: Iterable[tuple[str, str]]) -> list[Number]:
    """The numbers of `answer`, in order, each with its sources among `seen`: pairs of (name, text)."""
    told = list(seen)
    shown = list(figures(answer))
    dates = any(figure.value is None for figure in shown)
    known = [(name, dated(text) if dates else text, sorted(map(abs, values(text)))) for name, text in told]
    found = [(figure, _held(figure, known)) for figure in shown]
    if all(number.sources for _, number in found):
        return [number for _, number in found]
    firm = [(n.text, n.value, f.high - abs(n.value), n.sources) for f, n in found if n.sources and n.value]
    pairs = list(itertools.permutations(firm[:FIRM], 2))
    compared = [result for a, b in pairs for result in _compared(a, b)]
    found = [(f, n if n.sources else _derived(f, n, compared)) for f, n in found]
    if all(number.sources for _, number in found):
        return [number for _, number in found]
    more = [result for a, b in pairs for result in _joined(a, b)]
    more += [result for name, text in told for result in _tables(name, text)]
    tables = sorted(more, key=lambda result: abs(result.value))
    return [number if number.sources else _computed(figure, number, tables) for figure, number in found]


def invented(given: dict[str, Any], keys: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """The arguments among `keys` whose value is an identifier (one word with a digit in it) that no text holds.

    A model that lacks an order's number must ask for it: one that it makes up may belong to somebody else.
    """
    named = {key: str(given[key]).strip() for key in keys if isinstance(given.get(key), str | int)}
    ids = {key: value for key, value in named.items() if _IDENTIFIER.fullmatch(value)}
    if not ids:
        return {}
    told = _folded("\n".join(texts))
    return {key: value for key, value in ids.items() if not re.search(_spellings(value), told)}


_DASH = "[-‐‑–—_ ]"


def _spellings(identifier: str) -> str:
    """A pattern for an identifier as people write it (A-1001, a1001, A 1001), not for a piece of a longer one."""
    pieces = [
        p for p in re.split(rf"{_DASH}+|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)", _folded(identifier)) if p
    ]
    written = re.escape(pieces[0])
    for before, piece in itertools.pairwise(pieces):
        joint = _DASH if before[-1].isdigit() and piece[0].isdigit() else f"{_DASH}?"
        written += joint + re.escape(piece)
    return rf"(?<![a-z0-9])(?<!\d[-_.]){written}(?![a-z0-9]|[-_]\d|\.(?!0+\b)\d)"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


# -- held as it is ---------------------------------------------------------------------------------------------


def _held(figure: Figure, known: list[tuple[str, str, list[float]]]) -> Number:
    sources = tuple(dict.fromkeys(name for name, text, sizes in known if _holds(figure, text, sizes)))
    number = Number(figure.text, figure.span, figure.value, sources)
    if sources or figure.value is None or figure.small:
        return number
    for factor in _SMALLER.get(figure.measure, ()):
        for name, _, sizes in known:
            held = _within(sizes, figure.low * factor, figure.high * factor)
            if held is not None and held > SMALL and figure.value % 1:  # "2 hours" follows from any 120
                return dataclasses.replace(number, sources=(name,), formula=f"{held:g} ÷ {factor:,}")
    return number


def _holds(figure: Figure, text: str, sizes: list[float]) -> bool:
    """Whether the text holds a value that, rounded as the figure is, gives it; `sizes`: its values unsigned.

    A fall may be told without its sign, and a share of 0.4 as 40 %.
    """
    if figure.value is None:
        date = dated(figure.text)
        parts = [float(part) for part in re.findall(r"\d+", date)] if date != figure.text else []
        return date in text or (bool(parts) and all(_within(sizes, n, n) is not None for n in parts))
    if _within(sizes, figure.low, figure.high) is not None:
        return True
    return figure.factor == 0.01 and _within(sizes, 100 * figure.low, 100 * figure.high) is not None


def _within(sizes: list[float], low: float, high: float) -> float | None:
    slack = 1e-9 * max(1.0, high)
    at = bisect.bisect_left(sizes, low - slack)
    return sizes[at] if at < len(sizes) and sizes[at] <= high + slack else None


# -- arithmetic ------------------------------------------------------------------------------------------------


def _derived(figure: Figure, number: Number, results: list[Result]) -> Number:
    if figure.value is None or figure.small:
        return number  # a small count follows from too many pairs by chance
    for sign in (1, -1):  # "fell by 6.85" is told without its sign, but a match with it comes first
        for result in results:
            if _gives(sign * result.value, result.error, figure):
                return dataclasses.replace(number, sources=result.sources, formula=result.formula)
    return number


def _gives(value: float, error: float, figure: Figure) -> bool:
    assert figure.value is not None
    slack = error + 1e-9 * max(1.0, figure.high)
    same_sign = value * figure.value >= 0 or abs(value) <= slack
    return same_sign and figure.low - slack <= abs(value) <= figure.high + slack


def _computed(figure: Figure, number: Number, results: list[Result]) -> Number:
    """From the cells of a table, unless so many results lie close by that one of them had to hit."""
    if figure.value is None or figure.small:
        return number
    width = figure.high - figure.low or 1e-6 * figure.high
    size = dataclasses.replace(figure, value=abs(figure.value))
    low, high = figure.low - 50 * width, figure.high + 50 * width
    at = bisect.bisect_left(results, low, key=lambda result: abs(result.value))
    near = list(
        itertools.takewhile(lambda result: abs(result.value) <= high, itertools.islice(results, at, None))
    )
    hits = [r for r in near if _gives(abs(r.value), r.error, size)]
    others = {round(abs(r.value), 12) for r in near} - {round(abs(r.value), 12) for r in hits}
    if not hits or len(others) / 100 >= BY_CHANCE:
        return number
    sign = figure.value
    first = min(hits, key=lambda result: (result.value * sign < 0, len(result.formula)))
    return dataclasses.replace(number, sources=first.sources, formula=first.formula)


_Term = tuple[str, float, float, tuple[str, ...]]
"""(as written, value, error, sources)"""


def _compared(a: _Term, b: _Term) -> Iterator[Result]:
    """How a differs from b; the other order is asked for by itself."""
    (name_a, x, error_x, sources_x), (name_b, y, error_y, sources_y) = a, b
    sources = tuple(dict.fromkeys(sources_x + sources_y))
    yield Result(f"{name_a} − {name_b}", x - y, error_x + error_y, sources)
    if x and y:
        error = abs(x / y) * (error_x / abs(x) + error_y / abs(y))
        yield Result(f"{name_a} / {name_b}", x / y, error, sources)
        yield Result(f"({name_a} − {name_b}) / {name_b}", x / y - 1, error, sources)


def _joined(a: _Term, b: _Term) -> Iterator[Result]:
    """What a and b are together, and a's share of it."""
    (name_a, x, error_x, sources_x), (name_b, y, error_y, sources_y) = a, b
    sources = tuple(dict.fromkeys(sources_x + sources_y))
    yield Result(f"{name_a} + {name_b}", x + y, error_x + error_y, sources)
    if x > 0 and y > 0:
        error = (error_x + error_y) / (x + y)
        yield Result(f"{name_a} / ({name_a} + {name_b})", x / (x + y), error, sources)


def _tables(name: str, text: str) -> Iterator[Result]:
    """Sums, means and shares of a table's columns, and what pairs of cells in one row or column give."""
    table = _table(text)
    if table is None:
        return
    columns, rows, whole = table
    cells = [[_number(cell) for cell in row[:CELLS]] for row in rows]
    for at, column in enumerate(columns[:CELLS]):
        given = [row[at] for row in cells if at < len(row) and row[at] is not None]
        if whole and len(given) > 1:
            yield from _column(name, str(column), [n for n in given if n is not None])
        yield from _pairs(name, given)
    for row in cells[:CELLS]:
        yield from _pairs(name, row)


def _table(text: str) -> tuple[list[Any], list[list[Any]], bool] | None:
    """(columns, rows, whether these are all rows) of a tool result that is a table, else None."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        told, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    columns, rows = told.get("columns"), told.get("rows")
    if (
        not isinstance(columns, list)
        or not isinstance(rows, list)
        or not all(isinstance(r, list) for r in rows)
    ):
        return None
    return columns, rows, told.get("total_rows", len(rows)) == len(rows)


def _number(cell: Any) -> float | None:
    return (
        float(cell)
        if isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell) < 1e300
        else None
    )


def _column(name: str, column: str, given: Sequence[float]) -> Iterator[Result]:
    total = sum(given)
    yield Result(f"sum of {column}", total, 0.0, (name,))
    yield Result(f"mean of {column}", total / len(given), 0.0, (name,))
    if total:
        for value in given:
            yield Result(f"{value:g} / sum of {column}", value / total, 0.0, (name,))


def _pairs(name: str, cells: Sequence[float | None]) -> Iterator[Result]:
    terms: list[_Term] = [(f"{n:g}", n, 0.0, (name,)) for n in cells[:CELLS] if n is not None]
    for a, b in itertools.permutations(terms, 2):
        yield from _compared(a, b)
        yield from _joined(a, b)
