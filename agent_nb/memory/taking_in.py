"""What an export holds becomes a user's own: ids of others stay theirs, and what is there already stays as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from . import draft, store, teams, writing
from .record import MemoryRecord


def of(read: Sequence[MemoryRecord], user: str) -> list[MemoryRecord]:
    """The records that `user` may take, as theirs."""
    # A member's export holds the team's records too: they go back only into a team's own memory.
    is_team = bool(teams.shown(user)) and any(teams.shown(r.user) for r in read)
    return [dataclasses.replace(r, user=user) for r in read if bool(teams.shown(r.user)) == is_team]


def write(
    db: Any, user: str, records: Sequence[MemoryRecord], vectors: Sequence[store.Vectors], embedder: str
) -> list[MemoryRecord]:
    """Write those that are not there yet; gives them as they stand then."""
    owners = store.owners(db, [record.id for record in records])
    # An id that belongs to someone else: theirs stays untouched, and the links follow the new id.
    renamed = {id: draft.new_id() for id, owner in owners.items() if owner != user}
    written = []
    for record, made in zip(records, vectors, strict=True):
        if owners.get(record.id) == user:
            continue
        owners[record.id] = user  # a second line of the same id is no second record
        by = renamed.get(record.superseded_by, record.superseded_by)
        id = renamed.get(record.id, record.id)
        copy = dataclasses.replace(record, id=id, superseded_by=by)
        written.append(writing.put(db, copy, made, embedder))
        detail = {"id_in_file": record.id} if id != record.id else {}
        store.note(db, user, "imported", id, **detail)
    return written
