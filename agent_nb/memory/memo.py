"""The memo: what is always true of a user – profile, constraints, standing preferences – without a search."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

from ..tokens import estimate_tokens
from . import forget, load, store, together
from .load import Hit
from .record import MemoryRecord

TOKENS = 200
"""Most that a memo takes; it is charged to the budget of the memory."""
TYPES = ("constraint", "profile", "preference")
NEWEST = 200
"""Records that are looked at, the newest ones."""


@dataclasses.dataclass(frozen=True)
class Memo:
    """Whole records within a budget, as hits whose reason says why they stand there."""

    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0


def standing(db: Any, user: str) -> list[MemoryRecord]:
    """Active records of the types that a memo tells."""
    marks = store.marks_for(TYPES)
    rows = db.execute(
        f"SELECT data FROM records WHERE user=? AND status='active' AND type IN ({marks})"
        " ORDER BY recorded DESC LIMIT ?",
        (user, *TYPES, NEWEST),
    ).fetchall()
    return [store.load(row[0]) for row in rows]


def write(records: list[MemoryRecord], now: datetime.datetime, budget: int, decay: float) -> Memo:
    """The memo of these records: constraints first, then profile and preferences, the most important of each first.

    A preference stands only while it is in use.
    """
    hits = [_hit(record, now, decay) for record in records if not _sunk(record, now)]
    hits.sort(key=lambda hit: (TYPES.index(hit.record.type), -hit.importance, hit.record.id))
    kept: list[Hit] = []
    used = 0
    for hit in together.marked(hits):
        cost = estimate_tokens(load.line(hit.record, now, hit.note))
        if used + cost <= budget:
            kept.append(hit)
            used += cost
    text = "\n".join(load.line(hit.record, now, hit.note) for hit in kept)
    return Memo(tuple(kept), text, used)


def _sunk(record: MemoryRecord, now: datetime.datetime) -> bool:
    return bool(forget.standing(record, now)) and record.type == "preference"


def _hit(record: MemoryRecord, now: datetime.datetime, decay: float) -> Hit:
    weight, fresh = load.importance(record), load.freshness(record, now, decay)
    score = load.WEIGHTS[1] * weight + load.WEIGHTS[2] * fresh
    return Hit(record, round(score, 4), 0.0, round(weight, 4), round(fresh, 4), f"memo: {record.type}")
