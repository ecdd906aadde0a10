"""What a user has set for their own memory, kept in the store itself: name → text."""

from __future__ import annotations

from typing import Any


def read(db: Any, user: str, name: str) -> str:
    """The setting of that name; "" where it was never set."""
    row = db.execute("SELECT value FROM settings WHERE user=? AND name=?", (user, name)).fetchone()
    return str(row[0]) if row else ""


def write(db: Any, user: str, name: str, value: str) -> None:
    """Set it; "" takes it back."""
    db.execute("DELETE FROM settings WHERE user=? AND name=?", (user, name))
    if value:
        db.execute("INSERT INTO settings (user, name, value) VALUES (?,?,?)", (user, name, value))
