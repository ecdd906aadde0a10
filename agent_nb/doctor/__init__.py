"""Which station broke: a run's events read backwards to what went wrong, each with what shows it and what to change.

Pure functions over events, so that any saved transcript can be examined. They know what events tell and no more: where
nothing is found, the run may still be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import events
from ..planning import drift
from ..transcript import Transcript
from . import beginning, ending, misreading, steps
from .beginning import with_memory
from .reading import BREAKS, Finding, Turn, first, last

__all__ = ["BREAKS", "Finding", "examine", "turn_about", "with_memory"]

_CHECKS: tuple[Callable[[Turn], Iterator[Finding]], ...] = (
    beginning.load,
    beginning.plan,
    steps.act,
    steps.observe,
    misreading.misread,
    ending.judge,
    ending.consolidate,
)


def examine(turn: Turn, memory: Any = None, question: str = "") -> list[Finding]:
    """The breaks of one turn, in the order of the stations: the first is the one to mend first.

    Args:
        memory: the user's Memory, which is asked what became of what it holds about this. question: the user's own.
    """
    found = [finding for check in _CHECKS for finding in check(turn)]
    if by_memory := beginning.by_memory(turn, memory, question, found):
        found = [f for f in found if f.kind != "memory_not_loaded"] + [by_memory]
    order = list(BREAKS)
    return sorted(dict.fromkeys(found), key=lambda f: (order.index(f.kind), f.step))


def turn_about(told: Sequence[events.Event], question: str = "") -> list[events.Event]:
    """The turn that a question is about, by its words; the last one where it names none. Empty without a run."""
    transcript = Transcript()
    transcript.events = list(told)
    turns = transcript.turns()
    if not turns:
        return []
    return turns[max(range(len(turns)), key=lambda at: (_nearness(turns[at], question), at))]


def is_about(turn: Turn, question: str) -> bool:
    """Whether the question and the turn have any word in common."""
    return _nearness(turn, question) > 0


def _nearness(turn: Turn, question: str) -> float:
    """Share of the words of the question or of the turn's goal and answer that both have, 0…1."""
    started, answer = first(turn, events.RunStarted), last(turn, events.Answered)
    said = f"{started.goal if started else ''} {answer.text if answer else ''}"
    return round(drift.similarity(said, question), 2)
