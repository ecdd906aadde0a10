"""Whether a result contradicts what a subtask expects, as far as code can tell."""

from __future__ import annotations

import json
import re
from typing import Any

from ..task import Observation

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_ROWS = re.compile(
    r"(?P<how>at least|at most|exactly|no more than|more than|fewer than|less than|至少|至多|不超过|多于|少于)?\s*"
    r"(?P<n>\d+)\s*(?:rows?|records?|results?|lines?|行|条)\b",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"non-?empty|not empty|some rows?|(?:a|one|any) rows?\b|a result\b|非空|有结果|有数据", re.IGNORECASE
)
_NONE = re.compile(r"\bno (?:rows?|records?|results?)\b|\bempty\b|没有(?:行|结果|数据)|为空", re.IGNORECASE)
_BETWEEN = re.compile(rf"between {_NUMBER} and {_NUMBER}|{_NUMBER}\s*(?:到|至|~)\s*{_NUMBER}(?:之间)?", re.I)
_BOUND = re.compile(rf"(?P<how>>=|<=|>|<|≥|≤|above|over|below|under|大于|小于)\s*(?P<n>{_NUMBER})", re.I)


def contradicted(expects: str, seen: Observation) -> str:
    """A sentence where the result is not what was expected, else "": also where code cannot tell.

    Understood are numbers of rows ("at least 3 rows", "non-empty", "no rows") and bounds on a single number
    ("between 0 and 100", "> 0"); a result of another kind, or a call that failed, contradicts nothing.
    """
    if not expects or not seen.ok:
        return ""
    value = _value(seen)
    rows = len(value) if isinstance(value, list) else seen.total_rows
    if rows is not None and (said := _rows(expects, rows)):
        return said
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _number(expects, float(value)) if is_number else ""


def _rows(expects: str, rows: int) -> str:
    found = _ROWS.search(expects)
    if found:
        how, n = (found["how"] or "exactly").lower(), int(found["n"])
        least = {"at least": n, "至少": n, "more than": n + 1, "多于": n + 1, "exactly": n}.get(how, 0)
        most = {"fewer than": n - 1, "less than": n - 1, "少于": n - 1}.get(how)
        most = n if how in ("at most", "exactly", "no more than", "至多", "不超过") else most
        wrong = rows < least or (most is not None and rows > most)
    elif _SOME.search(expects):
        wrong = rows == 0
    else:
        wrong = bool(_NONE.search(expects)) and rows > 0
    return f"it has {rows:,} rows, expected was: {expects}" if wrong else ""


def _number(expects: str, value: float) -> str:
    wrong = False
    if found := _BETWEEN.search(expects):
        low, high = (float(n) for n in found.groups() if n is not None)
        wrong = not low <= value <= high
    elif bound := _BOUND.search(expects):
        n, how = float(bound["n"]), bound["how"].lower()
        least = how in (">", ">=", "≥", "above", "over", "大于")
        wrong = value < n if least else value > n
        wrong = wrong or (value == n and how not in (">=", "<=", "≥", "≤"))
    return f"it is {value:g}, expected was: {expects}" if wrong else ""


def _value(seen: Observation) -> Any:
    """What the result amounts to, where it is a single value or a list."""
    if seen.total_rows is not None:
        single = seen.total_rows == 1 and len(seen.columns) == 1 and seen.rows
        return seen.rows[0][0] if single else None
    try:
        body = json.loads(seen.text.split("\n")[0])
    except ValueError:
        return None
    return body.get("value") if isinstance(body, dict) else None
