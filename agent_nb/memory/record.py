"""One memory: a frozen value. Where and how it is kept is the store's business."""

from __future__ import annotations

import copy
import dataclasses
import datetime
from typing import Any

TYPES = ("constraint", "preference", "profile", "fact", "decision", "experience", "episode")
SOURCES = ("user_explicit", "task", "tool", "import")
STATUSES = ("active", "superseded", "revoked", "pending")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """What is remembered, where it came from and what became of it. All times are aware UTC datetimes.

    Args:
        id: unique in its store.
        user: whose memory it is, or the name of a team scope.
        text: as it was given, never altered.
        type: one of TYPES. source: one of SOURCES. status: one of STATUSES.
        subject, attribute, value: where they can be told, else "".
        session, run: where it was written, or "".
        created: when it happened. recorded: when it was written. last_access: when a run last used it.
        hits: times a run used it. mentions: times it was said (1 at first).
        weight: 0…1, set by the source (user_explicit is high). confidence: 0…1.
        superseded_by: id of the record that took its place, or "".
        expires: when it ends, or None for never.
        evidence: rows that support it, each a dict (text, source, run …).
        embedder: name of the embedder that its vector came from, or "" while it has none.
    """

    id: str
    user: str
    text: str
    type: str = "fact"
    source: str = "user_explicit"
    subject: str = ""
    attribute: str = ""
    value: str = ""
    session: str = ""
    run: str = ""
    created: datetime.datetime
    recorded: datetime.datetime
    last_access: datetime.datetime | None = None
    hits: int = 0
    mentions: int = 1
    weight: float = 0.5
    confidence: float = 1.0
    status: str = "active"
    superseded_by: str = ""
    expires: datetime.datetime | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    embedder: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; times as ISO 8601 text."""
        row: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("created", "recorded", "last_access", "expires"):
            row[name] = row[name].isoformat() if row[name] is not None else None
        return row | {
            "tags": list(self.tags),
            "entities": list(self.entities),
            "evidence": copy.deepcopy(list(self.evidence)),
        }
