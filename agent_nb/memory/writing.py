"""Where a new record goes: beside the others, into one that says the same, or in the place of one it contradicts.

Every function works inside a transaction of the caller's, on the records of `record.user` alone.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..errors import SettingError
from . import draft, graph, statement, store
from .record import MemoryRecord

Json = dict[str, Any]


def place(db: Any, record: MemoryRecord, vector: bytes | None, embedder: str) -> tuple[MemoryRecord, str]:
    """The record as it stands after the write, with what was done: added, merged, superseded, pending.

    Args:
        vector: its embedding by the embedder of that name, or None.
    """
    same = store.select(
        db, record.user, "normal=? AND status IN ('active','pending')", [draft.normal_of(record)]
    )
    same = [old for old in same if _same_thing(old, record)]
    if same:
        return _merge(db, same[0], record), "merged"
    against = contradicted(db, record)
    for old in against:
        if draft.RANK[record.source] < draft.RANK[old.source]:
            record = put(db, dataclasses.replace(record, status="pending"), vector, embedder)
            store.note(db, record.user, "pending", record.id, contradicts=old.id)
            return record, "pending"
    for old in against:
        supersede(db, old, record.id)
    record = put(db, record, vector, embedder)
    store.note(db, record.user, "added", record.id)
    return record, "superseded" if against else "added"


def put(db: Any, record: MemoryRecord, vector: bytes | None, embedder: str) -> MemoryRecord:
    """Insert a record with its index."""
    if vector is not None:
        record = dataclasses.replace(record, embedder=embedder)
    store.put(db, record, draft.normal_of(record), draft.key_of(record), draft.terms_of(record), vector)
    graph.keep(db, record)
    return record


def supersede(db: Any, old: MemoryRecord, by: str) -> None:
    """The record of id `by` takes the place of `old`, which stays in the history."""
    store.update(db, dataclasses.replace(old, status="superseded", superseded_by=by))
    store.note(db, old.user, "superseded", old.id, by=by)


def contradicted(db: Any, record: MemoryRecord) -> list[MemoryRecord]:
    """Active records that cannot hold beside this one; an episode contradicts nothing."""
    if record.type == "episode" or not record.subject:
        return []
    mine = statement.Statement(record.subject, record.attribute, record.value)
    others = store.select(db, record.user, "key=? AND status='active'", [draft.key_of(record)])
    return [
        old
        for old in others
        if old.type != "episode"
        and statement.contradict(statement.Statement(old.subject, old.attribute, old.value), mine)
    ]


def edit(db: Any, old: MemoryRecord, new: MemoryRecord, vector: bytes | None, embedder: str) -> MemoryRecord:
    """Put `new` in the place of `old`, whatever they say."""
    if old.status in ("superseded", "revoked"):
        raise SettingError(f"memory {old.id} is {old.status}; edit the one at the head of its history")
    store.update(db, dataclasses.replace(old, status="superseded", superseded_by=new.id))
    new = put(db, new, vector, embedder)
    store.note(db, new.user, "edited", new.id, supersedes=old.id)
    return new


def conflicts(db: Any, user: str) -> list[Json]:
    """Pending records with the active ones that they contradict: dicts of id, text, source, against, against_text."""
    rows = []
    for record in store.select(db, user, "status='pending'"):
        row = {"id": record.id, "text": record.text, "source": record.source}
        against = [{"against": old.id, "against_text": old.text} for old in contradicted(db, record)]
        rows += [row | other for other in against or [{"against": "", "against_text": ""}]]
    return rows


def resolve(db: Any, record: MemoryRecord, verdict: str) -> MemoryRecord:
    """Settle a pending record. keep: it takes the place of the other; drop: it is revoked; both: both stay."""
    if record.status != "pending":
        raise SettingError(
            f"memory {record.id} is {record.status}, not pending; %memory conflicts lists those that are"
        )
    if verdict == "keep":
        for old in contradicted(db, record):
            supersede(db, old, record.id)
    record = dataclasses.replace(record, status="revoked" if verdict == "drop" else "active")
    store.update(db, record)
    store.note(db, record.user, "resolved", record.id, verdict=verdict)
    return record


def _merge(db: Any, old: MemoryRecord, new: MemoryRecord) -> MemoryRecord:
    merged = draft.merged(old, new)
    if merged.status != old.status:  # a better source says what was doubted: the other yields
        for other in contradicted(db, merged):
            supersede(db, other, merged.id)
    store.update(db, merged)
    store.note(db, merged.user, "merged", merged.id, mentions=merged.mentions)
    return merged


def _same_thing(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Whether two records of one text are one memory; the same words at another time are another episode."""
    if "episode" not in (old.type, new.type):
        return True
    return old.type == new.type and (old.created == new.created or new.created == new.recorded)
