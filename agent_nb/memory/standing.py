"""What every recall asks for besides the records. It is read again when something was written, not each time."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import graph, settings, synonyms

DECAY = 0.07
"""λ of e^(−λ·days since last access), unless a user sets it."""


@dataclasses.dataclass(frozen=True)
class Standing:
    """A user's settings as of a change. `binds`: whether they dislike, avoid or are allergic to anything."""

    changes: int
    decay: float
    synonyms: tuple[tuple[str, str], ...]
    binds: bool


def read(db: Any, user: str, known: Standing | None) -> Standing:
    """What stands now: `known`, unless something was written since."""
    row = db.execute("SELECT n FROM changes WHERE user=?", (user,)).fetchone()
    changes = row[0] if row else 0
    if known is not None and known.changes == changes:
        return known
    decay = float(settings.read(db, user, "decay") or DECAY)
    return Standing(changes, decay, tuple(synonyms.read(db, user)), graph.binds(db, user))
