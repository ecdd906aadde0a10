"""What a user's store holds, looked at without ranking: by words and fields, counted, and by its log."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

from ..errors import SettingError
from . import draft, store
from .record import STATUSES, MemoryRecord

Json = dict[str, Any]

_FIELDS = {field.name for field in dataclasses.fields(MemoryRecord)}
_COLUMNS = ("status", "type", "source", "session")


def search(db: Any, user: str, text: str, fields: Json) -> list[MemoryRecord]:
    """Records that hold all words of `text`; active ones, or those of the fields given."""
    if unknown := set(fields) - _FIELDS:
        raise SettingError(
            f"a memory has no field {sorted(unknown)[0]!r}; fields: {', '.join(sorted(_FIELDS))}"
        )
    wanted = {"status": "active"} | fields
    if isinstance(wanted.get("session"), str):
        wanted["session"] = draft.sendable(wanted["session"])
    words = text.casefold().split()
    # The store narrows by what it surely holds as it was given; odd characters are compared here.
    columns = [
        name for name in _COLUMNS if isinstance(value := wanted.get(name), str) and value.isprintable()
    ]
    where = " AND ".join(f"{name}=?" for name in columns)
    return [
        record
        for record in store.select(db, user, where, [wanted[name] for name in columns])
        if all(getattr(record, name) == value for name, value in wanted.items())
        and all(word in record.text.casefold() for word in words)
    ]


def counts(db: Any, user: str) -> Json:
    """How many records there are by status, and how many active ones by type and by source."""
    found: Json = dict.fromkeys(STATUSES, 0) | {"type": {}, "source": {}}
    query = "SELECT status, type, source, count(*) FROM records WHERE user=? GROUP BY 1, 2, 3 ORDER BY 2, 3"
    for status, type, source, n in db.execute(query, (user,)).fetchall():
        found[status] += n
        if status == "active":
            found["type"][type] = found["type"].get(type, 0) + n
            found["source"][source] = found["source"].get(source, 0) + n
    return found


def log(db: Any, user: str) -> list[Json]:
    """The lines of the log, the oldest first: dicts of at, action, id, detail."""
    rows = db.execute("SELECT at, action, id, detail FROM log WHERE user=? ORDER BY n", (user,)).fetchall()
    return [dict(zip(("at", "action", "id", "detail"), row, strict=True)) for row in rows]


def backups(db: Any, user: str) -> list[pathlib.Path]:
    """Where the user has written backups."""
    rows = db.execute("SELECT detail FROM log WHERE user=? AND action='backup'", (user,)).fetchall()
    return [pathlib.Path(json.loads(detail)["path"]) for (detail,) in rows]
