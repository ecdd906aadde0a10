"""What a run gives back."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .events import Event
from .evidence import Number
from .task import Task, Usage

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """The outcome of one run, whatever the model replied.

    Args:
        text: the answer as the model wrote it, or what there was of it.
        done: it answered, and every acceptance criterion holds.
        stop_reason: done, needs_input, limit_steps, limit_tokens, limit_cost, limit_seconds, truncated,
            empty, no_progress, context_full, refused, interrupted or error.
        reason: why it stopped, in a sentence, or "".
        task: the work order. trace: the run's events. usage: tokens, calls and cost.
        evidence: one row a number of the answer; a number without sources has no evidence.
        artifacts: pictures, each {"mime", "data" (base64 text), "name"}.
    """

    text: str
    done: bool
    stop_reason: str
    reason: str
    task: Task
    trace: tuple[Event, ...]
    usage: Usage
    evidence: tuple[Number, ...]
    artifacts: tuple[Json, ...]

    @classmethod
    def of(cls, task: Task, trace: Sequence[Event]) -> Result:
        """The result of a work order that has come to its end."""
        return cls(
            text=task.text,
            done=task.done,
            stop_reason=task.stop_reason,
            reason=task.reason,
            task=task,
            trace=tuple(trace),
            usage=task.usage,
            evidence=tuple(Number.from_dict(row) for row in task.evidence),
            artifacts=tuple(picture for seen in task.observations for picture in seen.artifacts),
        )

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 200 else self.text[:199] + "…"
        return f"Result({self.stop_reason}, {text!r})"

    def _repr_markdown_(self) -> str:
        if self.done:
            return self.text
        why = f": {self.reason}" if self.reason else ""
        return f"{self.text}\n\n*{self.stop_reason}{why}*".strip()
