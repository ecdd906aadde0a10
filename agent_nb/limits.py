"""The valves of a run: how far it may go before it stops and says so."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .errors import SettingError


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """How far one run may go. An unknown field is a TypeError, a negative one a ValueError.

    Args:
        steps: model calls with their tools.
        tokens: input and output tokens of all calls of the run together.
        cost: US dollars of all calls together; None: no limit.
        seconds: wall-clock time; the time spent waiting for the user's answer does not count.
        tools: names of the tools that may be called; None: all that are mounted.
    """

    steps: int = 12
    tokens: int = 100_000
    cost: float | None = None
    seconds: float = 600.0
    tools: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "tokens", "cost", "seconds"):
            value = getattr(self, name)
            if value is None and name == "cost":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"Limits.{name} is a number, not {value!r}")
            if value != value or value < 0:
                raise SettingError(f"Limits.{name} is {value!r}; give zero or more")
            if name in ("steps", "tokens"):
                if value == math.inf or value != int(value):
                    raise SettingError(f"Limits.{name} is a whole number, not {value!r}")
                object.__setattr__(self, name, int(value))
        if self.cost == math.inf:
            object.__setattr__(self, "cost", None)
        if self.tools is not None:
            names = [self.tools] if isinstance(self.tools, str) else list(self.tools)
            if isinstance(self.tools, str) or not all(isinstance(name, str) for name in names):
                raise TypeError("Limits.tools is a list of tool names, or None for all")
            object.__setattr__(self, "tools", tuple(names))

    def but(self, **changes: Any) -> Limits:
        """The same limits with some fields changed (None keeps the old value)."""
        return dataclasses.replace(self, **{k: v for k, v in changes.items() if v is not None})

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as they stand in a transcript; seconds without an end are None."""
        seconds = None if self.seconds == math.inf else self.seconds
        tools = None if self.tools is None else list(self.tools)
        return {**dataclasses.asdict(self), "seconds": seconds, "tools": tools}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Limits:
        """The limits that `to_dict` wrote; fields that another version had are left out."""
        known = {key: row[key] for key in ("steps", "tokens", "cost", "seconds", "tools") if key in row}
        if known.get("seconds", 0) is None:
            known["seconds"] = math.inf
        return cls(**known)
