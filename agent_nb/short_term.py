"""The short-term layer: what one session still knows of its earlier turns, beside the last few that stay verbatim.

Older turns become a line each, goal → conclusion, and what tools declared as their key outputs stays at hand as
plain JSON. Both are read from the transcript, which keeps every turn in full: a line is made once and never made
anew, so that the summary only grows.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Sequence
from typing import Any

from . import events
from .events import Event
from .tokens import estimate_tokens

Json = dict[str, Any]

IDLE_H = 24.0
"""A session that was idle for so long begins with the lines of its turns; only the last turn stays verbatim."""
GOAL_CHARS, CONCLUSION_CHARS = 160, 240
SUMMARY_TOKENS = 1_500
"""Most that the lines may take; the oldest are left out, and it is said how many."""
KEPT = 20
"""Key outputs of one tool that are kept, the latest ones."""
_FENCE = str.maketrans({"<": "‹", ">": "›"})


@dataclasses.dataclass(frozen=True)
class ShortTerm:
    """What the window shows of earlier turns.

    Args:
        lines: one a turn, the oldest first. folded: turns that are shown as a line however much room there is.
        state: tool → its latest key outputs, dicts of name and value.
    """

    lines: tuple[str, ...] = ()
    folded: int = 0
    state: Json = dataclasses.field(default_factory=dict)

    def summary(self, verbatim: int) -> str:
        """The lines of all turns but the last `verbatim` ones."""
        older = self.lines[: len(self.lines) - verbatim]
        shown: list[str] = []
        room = SUMMARY_TOKENS
        for line in reversed(older):
            room -= estimate_tokens(line)
            if room < 0:
                break
            shown.insert(0, line)
        if not shown:
            return ""
        gone = len(older) - len(shown)
        head = [f"({gone} older turns stand in the transcript only)"] if gone else []
        return "\n".join([*head, *shown])

    def state_text(self) -> str:
        """The task state as JSON; "" where no tool left any."""
        return json.dumps(self.state, ensure_ascii=False, default=str).translate(_FENCE) if self.state else ""


def of(turns: Sequence[Sequence[Event]], now: datetime.datetime | None = None) -> ShortTerm:
    """What is left of these turns, the oldest first. `now`: when the next one begins."""
    now = now or datetime.datetime.now(datetime.UTC)
    return ShortTerm(tuple(map(line, turns)), _folded(turns, now), state(turns))


def line(turn: Sequence[Event]) -> str:
    """A turn as one line: its goal and what came of it."""
    goals = [event.goal for event in turn if isinstance(event, events.RunStarted)]
    answers = [event for event in turn if isinstance(event, events.Answered)]
    ended = [event.stop_reason for event in turn if isinstance(event, events.RunEnded)]
    goal = _cut(goals[0] if goals else "", GOAL_CHARS)
    said = _cut(_conclusion(answers[-1].text), CONCLUSION_CHARS) if answers else ""
    stopped = "" if ended and ended[-1] == "done" else f" [{ended[-1] if ended else 'interrupted'}]"
    return f"- {goal} → {said or 'no answer'}{stopped}"


def _conclusion(text: str) -> str:
    """The first paragraph that is neither a heading nor a table."""
    for part in text.split("\n"):
        plain = part.strip()
        if plain and not plain.startswith(("|", "#", "```", "---")):
            return plain
    return text


def _cut(text: str, chars: int) -> str:
    flat = " ".join(text.split()).translate(_FENCE)
    return flat if len(flat) <= chars else flat[: chars - 1] + "…"


def state(turns: Sequence[Sequence[Event]]) -> Json:
    """The key outputs that tools declared, tool by tool; a later one of the same id takes the earlier's place."""
    found: dict[str, list[Json]] = {}
    for event in (event for turn in turns for event in turn):
        if not isinstance(event, events.ToolFinished) or not event.observation.get("ok"):
            continue
        keys = event.observation.get("keys")
        if isinstance(keys, dict) and keys:
            known = found.setdefault(event.name, [])
            name = next(iter(keys))
            known[:] = [each for each in known if each.get(name) != keys[name]][1 - KEPT :]
            known.append(keys)
    return dict(found)


def _folded(turns: Sequence[Sequence[Event]], now: datetime.datetime) -> int:
    """How many turns come before the last long pause, without the one that the pause followed."""
    begins = [*(_moment(turn[0]) for turn in turns), now][1:]
    pauses = [
        at
        for at, (turn, begin) in enumerate(zip(turns, begins, strict=True))
        if (end := _moment(turn[-1])) and begin and begin - end >= datetime.timedelta(hours=IDLE_H)
    ]
    return pauses[-1] if pauses else 0


def _moment(event: Event) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(event.at)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
