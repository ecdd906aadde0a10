"""Stored terms follow the tokeniser: those that an older version made are made anew when a user's memory is opened."""

from __future__ import annotations

from typing import Any

from . import draft, store
from .text import TOKENS_VERSION


def outdated(db: Any, user: str) -> bool:
    """Whether the user's records were made searchable by an older version."""
    row = db.execute("SELECT tokens FROM changes WHERE user=?", (user,)).fetchone()
    return row is not None and row[0] < TOKENS_VERSION


def renew(db: Any, user: str) -> None:
    """Tokenise the user's records again where that is due; inside a transaction of the caller's."""
    if not outdated(db, user):
        return
    for record in store.select(db, user):
        db.execute(
            "UPDATE records SET terms=?, key=?, normal=? WHERE id=? AND user=?",
            (*_searchable(record), record.id, user),
        )
    # Open indexes, of other processes too, are built anew.
    db.execute("UPDATE changes SET tokens=?, emptied=n WHERE user=?", (TOKENS_VERSION, user))


def _searchable(record: Any) -> tuple[str, str, str]:
    return store.listed(draft.terms_of(record)), draft.key_of(record), draft.normal_of(record)
