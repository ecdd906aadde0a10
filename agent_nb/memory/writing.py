"""Where a new record goes: beside the others, into one that says the same, or in the place of one it contradicts.

Every function works inside a transaction of the caller's, on the records of `record.user` alone. Whatever it changes
can be taken back by `undo`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..errors import SettingError
from . import claims, draft, forget, graph, statement, store, undo
from .record import MemoryRecord

Json = dict[str, Any]
SAME, CONFLICT, UNCLEAR, BOTH = claims.SAME, claims.CONFLICT, "unclear", claims.BOTH


def place(db: Any, record: MemoryRecord, vectors: store.Vectors, embedder: str) -> tuple[MemoryRecord, str]:
    """The record as it stands after the write, with what was done: added, merged, superseded, pending.

    Args:
        vectors: of its pieces by the embedder of that name, or none. A record whose status is `pending` (it came
        from a tool) takes nothing's place; it waits.
    """
    topic = claims.topic(record)
    if old := same(db, record, topic):
        return _merge(db, old, record), "merged"
    rivals = _rivals(db, record, topic)
    against = [old for old, verdict in rivals if verdict == CONFLICT]
    doubted = [old for old, verdict in rivals if verdict == UNCLEAR]
    weaker = [old for old in against if draft.RANK[record.source] < draft.RANK[old.source]]
    if weaker or doubted or record.status == "pending":
        record = put(db, dataclasses.replace(record, status="pending"), vectors, embedder, topic)
        why = "unclear" if doubted else "a weaker source" if weaker else "it came from a tool"
        others = [old.id for old in weaker or doubted or against]
        store.note(db, record.user, "pending", record.id, contradicts=", ".join(others), why=why)
        return record, "pending"
    change = undo.keep(db, "superseded", None, record) if against else ""
    for old in against:
        supersede(db, old, record.id, change)
    record = put(db, record, vectors, embedder, topic)
    store.note(db, record.user, "added", record.id)
    return record, "superseded" if against else "added"


def same(db: Any, record: MemoryRecord, topic: str | None = None) -> MemoryRecord | None:
    """The active or pending record that says this already, in the same words or in others."""
    topic = claims.topic(record) if topic is None else topic
    waiting = "status IN ('active','pending')"
    for old in store.select(db, record.user, f"normal=? AND {waiting}", [draft.normal_of(record)]):
        if _same_thing(old, record):
            return old
    for old in _of_topic(db, record.user, topic, waiting):
        if old.type != "episode" and claims.compare(old.text, record.text) == SAME:
            return old
    return None


def put(
    db: Any, record: MemoryRecord, vectors: store.Vectors, embedder: str, topic: str | None = None
) -> MemoryRecord:
    """Insert a record with its index."""
    record = dataclasses.replace(record, embedder=embedder if vectors else "")
    store.put(db, record, draft.normal_of(record), draft.key_of(record), draft.terms_of(record), vectors)
    graph.keep(db, record)
    topic = claims.topic(record) if topic is None else topic
    if topic:
        row = (record.id, record.user, topic)
        db.execute("INSERT INTO topics (id, user, topic) VALUES (?,?,?)", row)
    return record


def supersede(db: Any, old: MemoryRecord, by: str, change: str = "") -> None:
    """The record of id `by` takes the place of `old`, which stays in the history."""
    undo.keep(db, "superseded", old, old, change)
    store.update(db, dataclasses.replace(old, status="superseded", superseded_by=by))
    store.note(db, old.user, "superseded", old.id, by=by)


def contradicted(db: Any, record: MemoryRecord) -> list[MemoryRecord]:
    """Active records that cannot hold beside this one, or may not; an episode contradicts nothing."""
    return [old for old, _ in _rivals(db, record, claims.topic(record))]


def edit(
    db: Any, old: MemoryRecord, new: MemoryRecord, vectors: store.Vectors, embedder: str
) -> MemoryRecord:
    """Put `new` in the place of `old`, whatever they say."""
    if old.status in ("superseded", "revoked"):
        raise SettingError(f"memory {old.id} is {old.status}; edit the one at the head of its history")
    change = undo.keep(db, "edited", old, old)
    undo.keep(db, "edited", None, new, change)
    store.update(db, dataclasses.replace(old, status="superseded", superseded_by=new.id))
    new = put(db, new, vectors, embedder)
    store.note(db, new.user, "edited", new.id, supersedes=old.id)
    return new


def revoke(db: Any, old: MemoryRecord) -> None:
    """Take a record back: it is never recalled again."""
    undo.keep(db, "revoked", old, old)
    store.update(db, dataclasses.replace(old, status="revoked"))
    store.note(db, old.user, "revoked", old.id)


def use(db: Any, user: str, ids: Sequence[str], run: str) -> None:
    """Count that a run was given these records: hits, last access, and their period begins again."""
    now = store.now()
    for id in ids:
        for record in store.select(db, user, "id=?", [id]):
            latest = max(now, record.last_access or now)  # clocks also go back
            ends = forget.renewed(record, now)
            store.update(
                db, dataclasses.replace(record, hits=record.hits + 1, last_access=latest, expires=ends)
            )
            store.note(db, user, "used", id, run=run)


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
    change = undo.keep(db, "resolved", record, record)
    if verdict == "keep":
        for old in contradicted(db, record):
            supersede(db, old, record.id, change)
    record = dataclasses.replace(record, status="revoked" if verdict == "drop" else "active")
    store.update(db, record)
    store.note(db, record.user, "resolved", record.id, verdict=verdict)
    return record


def take_back(db: Any, user: str, id: str) -> MemoryRecord:
    """Undo the last merge, supersede, edit, forget or verdict that touched a record; the record as it stands then."""
    rows = undo.last(db, user, id)
    back: MemoryRecord | None = None
    for other, action, before in rows:
        found = store.select(db, user, "id=?", [other])
        now = found[0] if found else None
        if before == undo.ADDED:
            if now:
                store.update(db, dataclasses.replace(now, status="revoked"))
            continue
        record = undo.restored(before, now)
        if now:
            store.update(db, record)
        else:
            put(db, record, (), "")  # it was merged away; its vector follows
        store.note(db, user, "undone", other, was=action)
        back = record if other == id or back is None else back
    undo.done(db, user, id)
    if back is None:
        raise SettingError(f"nothing of memory {id!r} could be taken back")
    return back


def _merge(db: Any, old: MemoryRecord, new: MemoryRecord) -> MemoryRecord:
    merged = draft.merged(old, new)
    change = undo.keep(db, "merged", old, old)
    if draft.normal_of(old) != draft.normal_of(new):  # in other words: they are kept, to be split off again
        undo.keep(db, "merged", dataclasses.replace(new, embedder=""), new, change)
        said = {"text": new.text, "source": f"said in other words by {new.source}", "run": new.run}
        merged = dataclasses.replace(merged, evidence=(*merged.evidence, said)[-draft.MERGED_EVIDENCE :])
    if merged.status != old.status:  # a better source says what was doubted: the other yields
        for other in contradicted(db, merged):
            supersede(db, other, merged.id, change)
    store.update(db, merged)
    store.note(db, merged.user, "merged", merged.id, mentions=merged.mentions)
    return merged


def _rivals(db: Any, record: MemoryRecord, topic: str) -> list[tuple[MemoryRecord, str]]:
    if record.type == "episode":
        return []
    near = {old.id: old for old in _of_topic(db, record.user, topic, "status='active'")}
    if record.subject:
        others = store.select(db, record.user, "key=? AND status='active'", [draft.key_of(record)])
        near |= {old.id: old for old in others}
    found = []
    for old in near.values():
        if old.id != record.id and old.type != "episode":
            verdict = _verdict(old, record)
            if verdict in (CONFLICT, UNCLEAR):
                found.append((old, verdict))
    return found


def _verdict(old: MemoryRecord, new: MemoryRecord) -> str:
    one, other = claims.read(old.text), claims.read(new.text)
    if one and other and one.topic == other.topic:
        return claims.compare(old.text, new.text)
    if one and other and not claims.nested(one, other):
        return BOTH
    said = [statement.Statement(r.subject, r.attribute, r.value) for r in (old, new)]
    if not statement.contradict(said[0], said[1]):
        return BOTH
    # "30 days" against "14 days for members": one of them holds in fewer cases, and nobody said which.
    return UNCLEAR if claims.limited(old.text) != claims.limited(new.text) else CONFLICT


def _of_topic(db: Any, user: str, topic: str, where: str) -> list[MemoryRecord]:
    if not topic:
        return []
    query = "SELECT data FROM records WHERE id IN (SELECT id FROM topics WHERE user=? AND topic=?)"
    query += f" AND {store.OWNED} AND {where} ORDER BY recorded, n"
    return [store.load(row[0]) for row in db.execute(query, (user, topic, user)).fetchall()]


def _same_thing(old: MemoryRecord, new: MemoryRecord) -> bool:
    """Whether two records of one text are one memory; the same words at another time are another episode."""
    if "episode" not in (old.type, new.type):
        return True
    return old.type == new.type and (old.created == new.created or new.created == new.recorded)
