"""Numbers of an answer → the observations that hold them.

A number counts as evidenced when the goal gives it, when a tool result or an injected memory holds it (equal
after rounding to the digits shown), or when it is the difference, ratio, share or relative change of two
numbers of the same answer that are evidenced themselves. Everything else has no sources, and views mark it.
Rows that were cut from a tool result were never seen and do not count.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

_UNITS = {"%": 0.01, "％": 0.01, "万": 1e4, "亿": 1e8, "k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9}
_DATE = re.compile(
    r"(?<![\w.-])\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?![\w-])"
    r"|(?<![\w:])\d{1,2}:\d{2}(?![\w:])"
)
# "15min" is the number 15, but "9E" and "B6" are names: letters may follow only where they are a unit.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<sign>[-+−–]?)(?P<digits>\d{1,3}(?:[,，]\d{3})+|\d+)(?P<fraction>\.\d+)?"
    r"(?P<exponent>[eE][-+]?\d+)?(?P<unit>\s?(?:%|％|万|亿)|(?:k|K|M|bn)(?![A-Za-z]))?"
    r"(?:(?![A-Za-z0-9_])|(?=(?:min|ms|sec|s|h|hrs?|km|kg|m|mi|pts?|pp|x|USD|EUR)\b))"
)
_NAME = re.compile(r"(?<!\w)[A-Za-z]\w*(?:-\w+)+")  # claude-sonnet-5-5, A-1001
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_LIST_NUMBER = re.compile(r"^[ \t]*\d+[.)](?=\s)", re.MULTILINE)


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


def trace(answer: str, seen: Iterable[tuple[str, str]]) -> list[Number]:
    """The numbers of `answer`, in order, each with its sources among `seen`: pairs of (name, text)."""
    known = [(name, text, sorted(abs(value) for value in _values(text))) for name, text in seen]
    numbers = []
    for number, decimals, unit in _numbers(answer):
        sources = tuple(name for name, text, sizes in known if _holds(number, decimals, unit, text, sizes))
        numbers.append((dataclasses.replace(number, sources=tuple(dict.fromkeys(sources))), decimals, unit))
    firm = [(n, _error(d, u)) for n, d, u in numbers if n.sources and n.value is not None][:16]
    formulas = [formula for a, b in itertools.permutations(firm, 2) for formula in _arithmetic(*a, *b)]
    return [
        number if number.sources or number.value is None else _derived(number, decimals, unit, formulas)
        for number, decimals, unit in numbers
    ]


def _numbers(text: str) -> Iterator[tuple[Number, int, float]]:
    """(number, decimals shown, factor of its unit) for each number outside code and list markers."""
    blank = text
    for pattern in (_CODE, _NAME, _LIST_NUMBER):
        blank = pattern.sub(lambda m: " " * len(m.group()), blank)
    dates = [m.span() for m in _DATE.finditer(blank)]
    found: list[tuple[int, Number, int, float]] = [
        (a, Number(text[a:b], (a, b), None), 0, 1.0) for a, b in dates
    ]
    spaced = _DATE.sub(lambda m: " " * len(m.group()), blank)
    for m in _NUMBER.finditer(spaced):
        value, decimals, unit = _parse(m)
        found.append((m.start(), Number(text[slice(*m.span())], m.span(), value), decimals, unit))
    for _, number, decimals, unit in sorted(found, key=lambda item: item[0]):
        yield number, decimals, unit


def _parse(m: re.Match[str]) -> tuple[float, int, float]:
    digits = m["digits"].replace(",", "").replace("，", "")
    value = float(digits + (m["fraction"] or "") + (m["exponent"] or ""))
    unit = _UNITS.get((m["unit"] or "").strip(), 1.0)
    return (-value if m["sign"] in ("-", "−", "–") else value) * unit, len(m["fraction"] or ".") - 1, unit


def _values(text: str) -> Iterator[float]:
    for m in _DATE.finditer(text):
        if "-" in m.group():
            yield float(m.group()[:4])
    for m in _NUMBER.finditer(_DATE.sub(" ", text)):
        yield _parse(m)[0]


def _holds(number: Number, decimals: int, unit: float, text: str, sizes: list[float]) -> bool:
    """Whether the text holds a value that, rounded as the number is, gives it; `sizes`: its values unsigned.

    A fall may be told without its sign, and a share of 0.4 as 40 %.
    """
    if number.value is None:
        return number.text in text
    size = abs(number.value)
    small_count = decimals == 0 and unit == 1.0 and size <= 12
    slack = 1e-9 * max(1.0, size) + (0.0 if small_count else _error(decimals, unit))
    return _within(sizes, size, slack) or (unit == 0.01 and _within(sizes, 100 * size, 100 * slack))


def _within(sizes: list[float], size: float, slack: float) -> bool:
    at = bisect.bisect_left(sizes, size - slack)
    return at < len(sizes) and sizes[at] <= size + slack


def _error(decimals: int, unit: float) -> float:
    """The most by which rounding to the digits shown moves a number."""
    return 0.5 * 10.0**-decimals * unit


_Formula = tuple[str, float, float, tuple[str, ...]]


def _derived(number: Number, decimals: int, unit: float, formulas: list[_Formula]) -> Number:
    if number.value is None or (decimals == 0 and unit == 1.0 and abs(number.value) <= 12):
        return number  # a small count follows from too many pairs by chance
    for sign in (1, -1):  # "fell by 6.85" is told without its sign, but a match with it comes first
        for formula, value, error, sources in formulas:
            if abs(number.value - sign * value) <= error + _error(decimals, unit) * (1 + 1e-9):
                return dataclasses.replace(number, sources=sources, formula=formula)
    return number


def _arithmetic(a: Number, error_a: float, b: Number, error_b: float) -> Iterator[_Formula]:
    """(formula, value, error, sources): what follows from a and b, and how far their rounding moves it."""
    if a.value is None or b.value is None:
        return
    sources = tuple(dict.fromkeys(a.sources + b.sources))
    yield f"{a.text} − {b.text}", a.value - b.value, error_a + error_b, sources
    if a.value and b.value:
        ratio = a.value / b.value
        error = abs(ratio) * (error_a / abs(a.value) + error_b / abs(b.value))
        yield f"{a.text} / {b.text}", ratio, error, sources
        yield f"({a.text} − {b.text}) / {b.text}", ratio - 1, error, sources
