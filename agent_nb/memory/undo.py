"""Taking back the last change of a memory: each change keeps what its records were before, until they are erased."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

from ..errors import SettingError
from . import store
from .record import MemoryRecord

ADDED = ""
"""What a record was before it was written."""


def keep(db: Any, action: str, before: MemoryRecord | None, after: MemoryRecord, change: str = "") -> str:
    """Keep what a record was before `action`; changes of one name are taken back together. Returns that name.

    Args:
        before: None for a record that the change has written, or has merged into another.
    """
    change = change or uuid.uuid4().hex
    at = store.now().isoformat(timespec="milliseconds")
    said = store.dump(before) if before else ADDED
    db.execute(
        "INSERT INTO undo (user, change, id, action, at, before) VALUES (?,?,?,?,?,?)",
        (after.user, change, after.id, action, at, said),
    )
    return change


def last(db: Any, user: str, id: str) -> list[tuple[str, str, str]]:
    """The last change of a record: rows of id, action, before. Raises SettingError where there is none."""
    found = db.execute(
        "SELECT change, action FROM undo WHERE user=? AND id=? ORDER BY n DESC LIMIT 1", (user, id)
    ).fetchone()
    if not found:
        raise SettingError(f"nothing was done to memory {id!r} that can be taken back; forget or edit it")
    change, action = found
    rows = db.execute(
        "SELECT id, action, before FROM undo WHERE user=? AND change=? ORDER BY n", (user, change)
    ).fetchall()
    for other, _, _ in rows:
        newer = db.execute(
            "SELECT change FROM undo WHERE user=? AND id=? ORDER BY n DESC LIMIT 1", (user, other)
        ).fetchone()
        if newer[0] != change:
            raise SettingError(f"memory {other} was changed again since it was {action}; undo {other} first")
    return [(str(a), str(b), str(c)) for a, b, c in rows]


def restored(before: str, now: MemoryRecord | None) -> MemoryRecord:
    """The record as it was; that it was used meanwhile still counts."""
    record = store.load(before)
    if now is None:
        return record
    return dataclasses.replace(
        record, hits=max(now.hits, record.hits), last_access=now.last_access, expires=now.expires
    )


def done(db: Any, user: str, id: str) -> None:
    """The last change of that record is taken back: it cannot be taken back again."""
    db.execute(
        "DELETE FROM undo WHERE user=? AND change="
        "(SELECT change FROM undo WHERE user=? AND id=? ORDER BY n DESC LIMIT 1)",
        (user, user, id),
    )
