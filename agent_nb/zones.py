"""The zones of the window and how large each may grow."""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import SettingError


@dataclasses.dataclass(frozen=True, slots=True)
class Zones:
    """Caps of the window's zones. An unknown field is a TypeError, a negative one a ValueError.

    Args:
        core: tokens of what always stands there beside the goal: plan, temporary rules. What is open is never cut.
        working: tokens of the steps of the running turn that stay word for word.
        archive: tokens of the line that is left of a finished subtask, or of an older step.
        lines: tokens of all lines of older steps together; the oldest then stand in the transcript only.
        steps: so many last steps stay word for word, however large they are.
    """

    core: int = 600
    working: int = 4_000
    archive: int = 40
    lines: int = 1_500
    steps: int = 8

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"Zones.{field.name} is a whole number, not {value!r}")
            least = 10 if field.name == "archive" else 0
            if value < least:
                raise SettingError(f"Zones.{field.name} is {value}; give {least or 'zero'} or more")

    @classmethod
    def of(cls, given: Any) -> Zones:
        """The zones of a table of settings; what it leaves out is as it is by default."""
        names = [field.name for field in dataclasses.fields(cls)]
        try:
            unknown = [name for name in given if name not in names]
            if unknown:
                raise SettingError(f"there is no zone setting {unknown[0]!r}; there are {', '.join(names)}")
            return cls(**given)
        except TypeError as error:
            raise SettingError(f"[zones] is a table of whole numbers ({error})") from None
