"""Which records have no vector of the embedder in use, and how they get one; the statements behind `embedding`."""

from __future__ import annotations

import dataclasses

from . import store
from .record import MemoryRecord
from .store import Connection


def is_any(db: Connection, user: str, embedder: str, dim: int) -> bool:
    """Whether any active record has no vector of `embedder` with that dimension; a quick look, not a count."""
    query = "SELECT 1 FROM records WHERE user=? AND status='active' AND embedder{}? LIMIT 1"
    other = any(db.execute(query.format(sign), (user, store.form(embedder))).fetchone() for sign in "<>")
    return other or misfit(db, user, embedder, dim)


def some(db: Connection, user: str, embedder: str, before: str, after: str, limit: int) -> list[MemoryRecord]:
    """Active records without a vector of `embedder`, by id from `after` on.

    Those under another embedder only where they were recorded before that time (ISO text, "" for none of them): two
    processes with different embedders would else take each other's vectors away for ever.
    """
    query = (
        "SELECT data FROM records WHERE user=? AND status='active' AND embedder=? AND recorded<=? AND id>?"
    )
    named = "SELECT DISTINCT embedder FROM records WHERE user=? AND status='active' AND embedder<>?"
    others = [row[0] for row in db.execute(named, (user, store.form(embedder)))] if before else []
    for name in dict.fromkeys(["", *others]):
        values = (user, name, before if name else "9", after, limit)
        rows = db.execute(query + " ORDER BY id LIMIT ?", values).fetchall()
        if rows:
            return [store.load(row[0]) for row in rows]
    return []


def count(db: Connection, user: str, embedder: str) -> int:
    """How many active records have no vector of `embedder`."""
    query = "SELECT count(*) FROM records WHERE user=? AND status='active' AND embedder<>?"
    return int(db.execute(query, (user, store.form(embedder))).fetchone()[0])


def misfit(db: Connection, user: str, embedder: str, dim: int) -> bool:
    """Whether vectors of `embedder` are from when it had another dimension; some stand for all."""
    query = "SELECT length(vector) FROM records WHERE user=? AND status='active' AND embedder=? ORDER BY id LIMIT 16"
    return any(size != 4 * dim for (size,) in db.execute(query, (user, store.form(embedder))))


def drop_misfits(db: Connection, user: str, embedder: str, dim: int) -> None:
    """Take away the vectors of `embedder` that have another dimension."""
    db.execute(
        f"UPDATE records SET embedder='', vector=NULL, changed={store.CHANGED}"
        " WHERE user=? AND status='active' AND embedder=? AND length(vector)<>?",
        (user, user, store.form(embedder), 4 * dim),
    )


def some_embedded(db: Connection, user: str, embedder: str, limit: int) -> list[tuple[str, bytes]]:
    """Texts and vectors of active records, in no order that says anything about them."""
    query = (
        "SELECT data, vector FROM records WHERE user=? AND status='active' AND embedder=? ORDER BY id LIMIT ?"
    )
    return [
        (store.load_text(data), vector)
        for data, vector in db.execute(query, (user, store.form(embedder), limit))
    ]


def give(db: Connection, user: str, record: MemoryRecord, embedder: str, vectors: store.Vectors) -> bool:
    """The vectors of a record that was read earlier; False where it is gone, superseded or says something else."""
    query = "SELECT data FROM records WHERE user=? AND id=? AND status='active'"
    row = db.execute(query, (user, record.id)).fetchone()
    now = store.load(row[0]) if row else None
    if now is None or now.text != record.text:
        return False
    db.execute(
        f"UPDATE records SET embedder=?, vector=?, data=?, changed={store.CHANGED} WHERE user=? AND id=?",
        (
            store.form(embedder),
            vectors[0],
            store.dump(dataclasses.replace(now, embedder=embedder)),
            user,
            user,
            record.id,
        ),
    )
    store.renew_pieces(db, now, vectors)
    return True
