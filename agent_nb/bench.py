"""What a run works with: the live things around the work order."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Iterator
from typing import Any

from .approval import Asker, ask_on_terminal
from .folding import Folding
from .forecast import Forecast
from .limits import Limits
from .models.protocol import Model
from .planning import mounting, plan_tool
from .planning.reflection import Tally
from .short_term import ShortTerm
from .task import Task
from .tools.tool import Toolbox
from .window import Sizes

Json = dict[str, Any]

SCHEMA_TOKENS = 12_000
"""What the tools' schemas may take of one call; above it those that fit the running subtask least are left out."""


@dataclasses.dataclass
class Bench:
    """Model, tools, memory and valves of one run.

    Args:
        memory: a `Memory`, or None for none at all.
        turns: messages of the session's earlier turns, one list a turn. earlier: what is left of the older ones.
        approve: ask, auto or never: what happens to calls that write.
        waited_s: seconds spent waiting for the user or whoever takes the events; they are not charged.
        tally: what reflection counts. replans: how often hybrid has planned anew. shown_plan: as shown last.
        schema_room: tokens that the tools' schemas may take of one call.
        sizes: tokens of each message, counted once. used_ids: tool_use ids of the history so far.
        folding: which steps of this turn stay word for word.
        forecast: what the next call will take, learnt from the calls before it.
    """

    model: Model
    toolbox: Toolbox
    memory: Any = None
    limits: Limits = dataclasses.field(default_factory=Limits)
    turns: list[list[Json]] = dataclasses.field(default_factory=list)
    earlier: ShortTerm = dataclasses.field(default_factory=ShortTerm)
    rules: str = ""
    handed_over: str = ""
    approve: str = "ask"
    asker: Asker = ask_on_terminal
    started_s: float = dataclasses.field(default_factory=time.monotonic)
    waited_s: float = 0.0
    sizes: Sizes = dataclasses.field(default_factory=Sizes)
    folding: Folding = dataclasses.field(default_factory=Folding)
    used_ids: set[str] | None = None
    forecast: Forecast = dataclasses.field(default_factory=Forecast)
    tally: Tally = dataclasses.field(default_factory=Tally)
    replans: int = 0
    schema_room: int = SCHEMA_TOKENS
    shown_plan: list[Json] = dataclasses.field(default_factory=list)

    def seconds(self) -> float:
        """Wall-clock seconds of the run so far, without the time that the user took to answer."""
        return time.monotonic() - self.started_s - self.waited_s

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Somebody takes their time here; it is not charged."""
        began_s = time.monotonic()
        try:
            yield
        finally:
            self.waited_s += time.monotonic() - began_s

    def seconds_left(self) -> float:
        """Seconds until the valve closes; below zero where it is closed."""
        return self.limits.seconds - self.seconds()

    def schemas(self) -> list[Json]:
        """Schemas of the tools that this run may call."""
        return [s for s in self.toolbox.schemas() if self.allows(s["name"])]

    def shown(self, task: Task) -> tuple[list[Json], list[str]]:
        """(schemas that the next call carries, names of the tools for whose schemas there is no room)."""
        schemas = self.schemas()
        if self.sizes.schemas(schemas) <= self.schema_room:
            return schemas, []
        mounting.mount(self.toolbox)
        return mounting.fitting(task, self.schemas(), self.sizes, self.schema_room)

    def shrink(self) -> bool:
        """The model has less room than was thought: no earlier turns, older steps as lines, fewer schemas.

        Returns: whether there was anything to leave out.
        """
        less = self.schema_room // 4
        folds = self.folding.squeeze() or bool(self.turns) or self.sizes.schemas(self.schemas()) > less
        self.turns, self.schema_room = [], less
        return folds

    def allows(self, name: str) -> bool:
        """Whether the whitelist lets this tool be called; a run may always edit its own plan, and look at its tools."""
        own = (plan_tool.NAME, mounting.NAME)
        return self.limits.tools is None or name in self.limits.tools or name in own

    def closed_valve(self, task: Task) -> tuple[str, str]:
        """The stop_reason of the first valve that is closed and a sentence about it, or two empty strings."""
        used, limits = task.usage, self.limits
        if task.steps >= limits.steps:
            return "limit_steps", f"{task.steps} of {limits.steps} steps were used"
        if used.tokens >= limits.tokens:
            return "limit_tokens", f"{used.tokens:,} of {limits.tokens:,} tokens were used"
        if limits.cost is not None and (used.cost or 0.0) >= limits.cost:
            return "limit_cost", f"${used.cost or 0:.4f} of ${limits.cost:g} were spent"
        if self.seconds() >= limits.seconds:
            return "limit_seconds", f"{self.seconds():.0f} of {limits.seconds:g} seconds have passed"
        return "", ""

    def valves(self, task: Task) -> Json:
        """Each valve as [used, limit]; the limit is None where there is none."""
        seconds = self.limits.seconds
        return {
            "steps": [task.steps, self.limits.steps],
            "tokens": [task.usage.tokens, self.limits.tokens],
            "cost": [task.usage.cost, self.limits.cost],
            "seconds": [round(self.seconds(), 2), None if math.isinf(seconds) else seconds],
        }
