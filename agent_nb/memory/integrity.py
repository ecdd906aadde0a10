"""Whether a user's memories are whole: each record agrees with its columns, its index and its chain; and mending them.

What is derived (columns, terms, topics, triples) is made anew from the record. Texts are never changed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from ..errors import StoreError
from . import claims, draft, graph, salvage, store
from .record import STATUSES, MemoryRecord

Json = dict[str, Any]

_COLUMNS = "id, status, recorded, superseded_by, normal, key, terms, embedder, vector, data"
_INDEXES = {"topics": "id", "triples": "record", "marks": "record", "pieces": "record"}
"""Tables that only lead to records, and the column that names one."""


def check(keeper: store.Store, user: str) -> list[Json]:
    """What is wrong with the file and a user's memories: dicts of id, what and repair (what mending would do)."""
    if faults := salvage.faults(keeper):
        again = "what can be read is saved into a new file; the damaged one is kept"
        return [{"id": "", "what": fault, "repair": again} for fault in faults]
    with keeper.reading() as db:
        return [{"id": id, "what": what, "repair": repair} for id, what, repair, _ in _findings(db, user)]


def repair(keeper: store.Store, user: str) -> list[Json]:
    """Mend it; dicts of id, what and repair (what was done). Where the file is whole, one transaction."""
    done: list[Json] = []
    if faults := salvage.faults(keeper):
        saved = salvage.rescue(keeper)
        rows = ", ".join(f"{n} of {table}" for table, n in saved["rows"].items())
        lost = ", ".join(f"{n} of {table}" for table, n in saved["lost"].items()) or "none"
        told = f"saved: {rows}; could not be read: {lost}; the damaged file is {saved['kept']}"
        done.append({"id": "", "what": faults[0], "repair": told})
    with keeper.writing(user) as db:
        for line in done:
            store.note(db, user, "repaired", "", what=line["what"], repair=line["repair"])
        return done + _mend(db, user)


def _mend(db: store.Connection, user: str) -> list[Json]:
    found = list(_findings(db, user))
    for id, what, repair, work in found:
        work()
        store.note(db, user, "repaired", id, what=what, repair=repair)
    if found:
        db.execute("UPDATE changes SET emptied = n WHERE user=?", (user,))  # open indexes are built anew
    return [{"id": id, "what": what, "repair": repair} for id, what, repair, _ in found]


def _findings(db: Any, user: str) -> Iterator[tuple[str, str, str, Any]]:
    records: dict[str, MemoryRecord] = {}
    rows = db.execute(f"SELECT {_COLUMNS} FROM records WHERE user=? ORDER BY n", (user,)).fetchall()
    for row in rows:
        try:
            record = store.load(row[9])
            if record.status not in STATUSES or not isinstance(record.text, str):
                raise ValueError
        except (StoreError, ValueError, TypeError):
            yield row[0], "its content cannot be read", "it is set aside as revoked", _aside(db, user, row)
            continue
        records[row[0]] = record
        yield from _columns(db, user, row, record)
    yield from _chains(db, user, records)
    known = {row[0] for row in rows}
    for table, column in _INDEXES.items():
        for (id,) in db.execute(f"SELECT DISTINCT {column} FROM {table} WHERE user=?", (user,)).fetchall():
            if id not in known:
                what = f"{table} leads to it, but it is not there"
                yield (
                    id,
                    what,
                    "the entry is removed",
                    _do(db, f"DELETE FROM {table} WHERE user=? AND {column}=?", user, id),
                )


def _columns(db: Any, user: str, row: Any, record: MemoryRecord) -> Iterator[tuple[str, str, str, Any]]:
    """Findings of one row: what stands in its columns against what its record says."""
    id, status, recorded, by, normal, key, terms, embedder, vector, _ = row
    again = "columns are written anew from the record"
    mine = dataclasses.replace(record, id=id, user=user)
    if mine != record:
        yield id, "its record has another id or user", again, lambda: store.update(db, mine)
    said = (record.status, record.superseded_by, record.recorded.isoformat())
    if (status, by, recorded) != said:
        query = "UPDATE records SET status=?, superseded_by=?, recorded=? WHERE user=? AND id=?"
        yield id, "status, link or time differ from its record", again, _do(db, query, *said, user, id)
    wanted = (draft.normal_of(record), draft.key_of(record), store.listed(draft.terms_of(record)))
    try:
        held = (normal, key, store.listed(json.loads(terms)))
    except ValueError:
        held = (normal, key, "")
    if held != wanted:
        query = "UPDATE records SET normal=?, key=?, terms=? WHERE user=? AND id=?"
        yield (
            id,
            "it would not be found by its words",
            "its terms are made anew",
            _do(db, query, *wanted, user, id),
        )
    if bool(embedder) != bool(vector) or (vector and len(vector) % 4):
        query = "UPDATE records SET embedder='', vector=NULL WHERE user=? AND id=?"
        yield (
            id,
            "vector and embedder do not belong together",
            "it is embedded again at the next use",
            _do(db, query, user, id),
        )
    topic = claims.topic(record)
    kept = db.execute("SELECT topic FROM topics WHERE user=? AND id=?", (user, id)).fetchone()
    if topic and kept is None:
        query = "INSERT INTO topics (id, user, topic) VALUES (?,?,?)"
        yield id, "a contradiction would not find it", "its topic is written", _do(db, query, id, user, topic)
    stated = len(set(graph.stated(record)))
    found = db.execute("SELECT count(*) FROM triples WHERE user=? AND record=?", (user, id)).fetchone()[0]
    if stated and not found:
        yield id, "its relations are missing", "they are read from its text", lambda: graph.keep(db, record)


def _chains(db: Any, user: str, records: dict[str, MemoryRecord]) -> Iterator[tuple[str, str, str, Any]]:
    def changed(record: MemoryRecord, **fields: Any) -> Any:
        return lambda: store.update(db, dataclasses.replace(record, **fields))

    for id, record in records.items():
        if record.superseded_by and record.superseded_by not in records:
            # What was superseded long ago may outlive its successor; nothing leads into the void.
            what = f"its successor {record.superseded_by} is not there"
            yield id, what, "the link is removed", changed(record, superseded_by="")
        elif record.superseded_by and record.status == "active":
            what = f"it is active beside its successor {record.superseded_by}"
            yield id, what, "it is superseded", changed(record, status="superseded")
    ended: set[str] = set()
    for id in records:
        path: list[str] = []
        while id in records and id not in ended and id not in path:
            path.append(id)
            id = records[id].superseded_by
        if id in path:
            last = max((records[step] for step in path[path.index(id) :]), key=lambda r: (r.recorded, r.id))
            what = "its chain runs in a circle and has no head"
            yield last.id, what, "the newest is its head", changed(last, status="active", superseded_by="")
        ended.update(path)


def _do(db: Any, query: str, *values: Any) -> Any:
    return lambda: db.execute(query, values)


def _aside(db: Any, user: str, row: Any) -> Any:
    """A record whose content is no record any more becomes one that says so; what was there is kept as evidence."""

    def work() -> None:
        now = store.now()
        content = row[9] if isinstance(row[9], str) else repr(row[9])
        record = MemoryRecord(
            id=row[0],
            user=user,
            text="a memory whose content was damaged; what was left of it is its evidence",
            type="episode",
            source="import",
            status="revoked",
            created=now,
            recorded=now,
            evidence=({"text": content.encode("utf-8", "replace").decode(), "source": "repair"},),
        )
        query = "UPDATE records SET status=?, superseded_by='', recorded=?, data=?, terms=?, normal=?, key=?"
        query += " WHERE user=? AND id=?"
        found = (store.listed(draft.terms_of(record)), draft.normal_of(record), draft.key_of(record))
        db.execute(query, (record.status, now.isoformat(), store.dump(record), *found, user, row[0]))

    return work
