"""What the next call will take, so that a valve closes before the call that would pass it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .limits import Limits
from .task import Usage
from .window import Window

Json = dict[str, Any]
Cost = Callable[[Json], float | None]

LEAST_ROOM = 1_024
"""Output tokens below which no call is made smaller."""


@dataclasses.dataclass
class Forecast:
    """Tokens of the next call, from its window and from how the last estimate fared.

    Args:
        ratio: tokens that the server counted for each estimated one, at the last call.
        output: tokens that the last reply took. calls: how many calls it has learnt from.
    """

    ratio: float = 1.0
    output: int = 0
    calls: int = 0

    def learn(self, view: Window, usage: Json) -> None:
        """Take in what a finished call really took."""
        told = Usage()
        told.add(usage, None)
        self.calls += 1
        self.output = told.output
        if view.tokens and told.tokens > told.output:
            self.ratio = (told.tokens - told.output) / view.tokens

    def tokens(self, view: Window) -> tuple[int, int]:
        """(input, output) of a call with this window. Before the first call only the conversation counts:
        what the system prompt and the tools cost is not known yet, and it is the same for every run."""
        if not self.calls:
            told = sum(part["tokens"] for part in view.parts if part["part"] not in ("system", "tools"))
            return told, 0
        return round(self.ratio * view.tokens), self.output

    def closes(
        self, view: Window, used: Usage, limits: Limits, cost: Cost, calls: int = 1
    ) -> tuple[str, str]:
        """The valve that so many calls like the next one would pass, and a sentence; else two empty strings."""
        given, taken = self.tokens(view)
        if used.tokens + calls * (given + taken) > limits.tokens:
            left = max(0, limits.tokens - used.tokens)
            return (
                "limit_tokens",
                f"the next call would take about {given + taken:,} tokens; {left:,} are left",
            )
        price = None if limits.cost is None else cost({"input_tokens": given, "output_tokens": taken})
        if limits.cost is not None and price is not None and (used.cost or 0.0) + calls * price > limits.cost:
            left_usd = max(0.0, limits.cost - (used.cost or 0.0))
            return "limit_cost", f"the next call would cost about ${price:.4f}; ${left_usd:.4f} are left"
        return "", ""

    def room(self, view: Window, used: Usage, limits: Limits, wanted: int) -> int:
        """Output tokens that the next call may take: as many as wanted, or as many as the valve has left."""
        left = limits.tokens - used.tokens - self.tokens(view)[0]
        return min(wanted, max(LEAST_ROOM, left))
