"""Forgetting by rule: what is out of date, and when."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from .record import MemoryRecord

DAYS: dict[str, int] = {"preference": 365, "fact": 180, "decision": 180, "experience": 90, "episode": 30}
"""Days from the moment of writing, by type; constraints and profiles never end. A mention renews it."""

SUPERSEDED_DAYS = 180


def renewed(record: MemoryRecord, now: datetime.datetime) -> datetime.datetime | None:
    """When a record ends that is used at `now`."""
    if record.expires is None or record.type not in DAYS:
        return record.expires
    return max(record.expires, now + datetime.timedelta(days=DAYS[record.type]))


def due(records: Iterable[MemoryRecord], now: datetime.datetime) -> list[tuple[MemoryRecord, str]]:
    """Records to let go of at `now`, each with the reason."""
    found = []
    for record in records:
        last = record.last_access or record.recorded
        if record.expires is not None and record.expires <= now:
            found.append((record, f"a {record.type} unused for {DAYS.get(record.type, 0)} days"))
        elif record.status in ("superseded", "revoked") and (now - last).days >= SUPERSEDED_DAYS:
            found.append((record, f"{record.status} for {SUPERSEDED_DAYS} days"))
    return found
