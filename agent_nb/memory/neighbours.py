"""The turn before a turn: what an answer answers belongs to what it means, and so to what is embedded of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import store
from .record import MemoryRecord

_TURNS = "user=? AND session=? AND type='episode'"
_NUMBER = "(SELECT n FROM records WHERE id=? AND user=?)"


def before(db: Any, user: str, records: Sequence[MemoryRecord]) -> list[str]:
    """What was said just before each of the records in its session; "" for what is no turn, or where it is gone."""
    query = f"SELECT status, data FROM records WHERE {_TURNS} AND n < {_NUMBER} ORDER BY n DESC LIMIT 1"
    return [
        _said(db.execute(query, (user, record.session, record.id, user)).fetchone())
        if _is_turn(record)
        else ""
        for record in records
    ]


def before_new(db: Any, user: str, records: Sequence[MemoryRecord]) -> list[str]:
    """The same of records that are about to be written, in this order."""
    query = f"SELECT status, data FROM records WHERE {_TURNS} ORDER BY n DESC LIMIT 1"
    last: dict[str, str] = {}
    found = []
    for record in records:
        if not _is_turn(record):
            found.append("")
            continue
        if record.session not in last:
            last[record.session] = _said(db.execute(query, (user, record.session)).fetchone())
        found.append(last[record.session])
        last[record.session] = record.text
    return found


def part(db: Any, user: str, id: str) -> None:
    """Take away the vector of the turn behind one that is about to be deleted; it is made anew without its words."""
    row = db.execute("SELECT session, type FROM records WHERE id=? AND user=?", (id, user)).fetchone()
    if row and row[0] and row[1] == "episode":
        after = f"(SELECT min(n) FROM records WHERE {_TURNS} AND n > {_NUMBER})"
        db.execute(
            f"UPDATE records SET embedder='', vector=NULL WHERE user=? AND n = {after}",
            (user, user, row[0], id, user),
        )


def _is_turn(record: MemoryRecord) -> bool:
    return record.type == "episode" and bool(record.session)


def _said(row: Any) -> str:
    return store.load_text(row[1]) if row and row[0] == "active" else ""
