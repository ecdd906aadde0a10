"""What a break is, and how a run's events are read: a transcript may be damaged, so nothing is taken for granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from .. import events
from ..planning import drift

Json = dict[str, Any]
Turn = Sequence[events.Event]

BREAKS = {
    "memory_not_loaded": "load",
    "split_badly": "plan",
    "wrong_tool": "act",
    "tool_wrong": "observe",
    "misread": "act",
    "judged_wrong": "judge",
    "written_wrong": "consolidate",
}
"""Kinds of breaks, in the order in which a run can have them, and the station of each."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One break.

    Args:
        kind: a key of `BREAKS`. said: what was wrong, in a sentence.
        step: step of the run; event: class of the event that shows it; shown: what that event holds.
        change: what to do about it.
    """

    kind: str
    said: str
    step: int
    event: str
    shown: str
    change: str

    @property
    def station(self) -> str:
        """The station that broke."""
        return BREAKS[self.kind]


def of(kind: str, said: str, event: events.Event, shown: str, change: str) -> Finding:
    """A finding, with what shows it in one line of bounded length."""
    shown = " ".join(shown.split())
    shown = shown if len(shown) <= 240 else shown[:239] + "…"
    return Finding(kind, said, event.step, type(event).__name__, shown, change)


def first(turn: Turn, cls: type[Any]) -> Any:
    """The first event of that class, or None."""
    return next((event for event in turn if isinstance(event, cls)), None)


def last(turn: Turn, cls: type[Any]) -> Any:
    """The last event of that class, or None."""
    return next((event for event in reversed(turn) if isinstance(event, cls)), None)


def observations(turn: Turn) -> Iterator[tuple[events.ToolFinished, Json]]:
    """The calls that ended, each with its observation."""
    for event in turn:
        if isinstance(event, events.ToolFinished):
            kind = event.observation.get("kind")
            yield event, event.observation | {"kind": kind if isinstance(kind, str) else ""}


def input_of(seen: Json) -> Json:
    """The arguments of a call."""
    found = seen.get("input")
    return found if isinstance(found, dict) else {}


def text_of(seen: Json, chars: int = 300) -> str:
    """What the model read of a result, at most so many characters."""
    blocks = seen.get("content")
    texts = (
        [str(b.get("text") or "") for b in blocks if isinstance(b, dict)] if isinstance(blocks, list) else []
    )
    return "\n".join(text for text in texts if text)[:chars]


def mended(turn: Turn, event: events.ToolFinished) -> bool:
    """Whether the run was done and the call went well later: another way was found."""
    ended = last(turn, events.RunEnded)
    if ended is None or not ended.done:
        return False
    later = turn[next(i for i, other in enumerate(turn) if other is event) + 1 :]
    unknown = event.observation.get("kind") in ("unknown_tool", "not_allowed", "invented")
    fine = [e for e, s in observations(later) if s.get("ok") and not found_nothing(s)]
    return any(unknown or e.name == event.name for e in fine)


def rows_of(rows: Any) -> list[Json]:
    """The rows of an event that are dicts: a damaged transcript may hold anything."""
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list | tuple) else []


def without_evidence(answered: events.Answered | None) -> list[Json]:
    """The numbers of the answer without evidence."""
    rows = rows_of(answered.evidence) if answered else []
    return [row | {"text": str(row.get("text") or "").strip()} for row in rows if not row.get("sources")]


def table_of(seen: Json) -> tuple[list[Any], list[list[Any]]]:
    """Columns and rows of a result, as far as they fit together."""
    columns, rows = seen.get("columns"), seen.get("rows")
    columns = columns if isinstance(columns, list) else []
    rows = [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    return columns, [row for row in rows if len(row) == len(columns)]


def found_nothing(seen: Json) -> bool:
    """Whether a call went well and brought no rows."""
    return seen.get("total_rows") == 0 or '"value": []' in text_of(seen, 100)


def numbers(rows: list[Json]) -> str:
    """Numbers of an answer, as they were written."""
    return ", ".join(str(row.get("text")) for row in rows[:8])


def seen_words(turn: Turn) -> str:
    """What all calls of a turn brought, as one text."""
    return " ".join(text_of(seen, 2_000) for _, seen in observations(turn))


def related(text: str, others: str) -> bool:
    """Whether two texts share a word; texts in different scripts cannot tell."""
    return drift.similarity(text, others) > 0 or not text.strip() or text.isascii() != others.isascii()
