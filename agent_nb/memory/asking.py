"""What rules could not decide is asked: one short question at the start of a turn, answered by the next words."""

from __future__ import annotations

import re
from typing import Any

from . import store, writing
from .record import MemoryRecord

Json = dict[str, Any]

_VERDICTS = [
    (
        "keep",
        r"(?:keep|use|take) the new(?:er)?(?: one)?|the new one(?: is right)?|new|approve(?:d)?"
        r"|保留新的|用新的|新的对?|以新的为准|同意",
    ),
    (
        "drop",
        r"(?:keep|use) the old(?:er)?(?: one)?|the old one(?: is right)?|old|drop (?:it|the new one)|reject"
        r"|保留旧的|用旧的|旧的对?|以旧的为准|不要新的",
    ),
    ("both", r"(?:keep )?both(?: hold)?|both are right|都保留|两个都对|都对|两个都留"),
]


def verdict(words: str) -> str:
    """keep, drop or both, where the words are an answer to such a question and nothing else; else ""."""
    said = words.strip().rstrip(".。!！ ").lower()
    return next((name for name, pattern in _VERDICTS if re.fullmatch(pattern, said)), "")


def unasked(db: Any, user: str) -> list[MemoryRecord]:
    """Pending records about which nobody was asked, the oldest first."""
    return store.select(
        db,
        user,
        "status='pending' AND id NOT IN (SELECT id FROM log WHERE user=? AND action='asked')",
        [user],
    )


def ask(db: Any, user: str) -> Json | None:
    """The oldest of them, from now on asked: dict of id, text, against."""
    found = unasked(db, user)
    if not found:
        return None
    record = found[0]
    against = [old.text for old in writing.contradicted(db, record)]
    store.note(db, user, "asked", record.id)
    return {"id": record.id, "text": record.text, "against": against[0] if against else ""}


def asked_last(db: Any, user: str) -> MemoryRecord | None:
    """The pending record that was asked about last."""
    rows = db.execute(
        "SELECT id FROM log WHERE user=? AND action='asked' ORDER BY n DESC LIMIT 20", (user,)
    ).fetchall()
    for (id,) in rows:
        found = store.select(db, user, "id=? AND status='pending'", [id])
        if found:
            return found[0]
    return None
