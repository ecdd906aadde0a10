"""Records as they are first written: checked, dated, read for what they say, and made searchable."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import os
from typing import Any

from ..errors import SettingError
from ..redact import has_secret, redact
from . import chunks, forget, pieces, statement
from .record import SOURCES, TYPES, MemoryRecord
from .text import normal, searchable

Json = dict[str, Any]
Moment = datetime.datetime | str | None

RANK = {"user_explicit": 3, "import": 2, "task": 1, "tool": 0}
"""Who is believed where two sources say different things."""
WEIGHT = {"user_explicit": 0.9, "import": 0.6, "task": 0.5, "tool": 0.4}
MERGED_EVIDENCE = 20
BEFORE = 500
"""Characters of the turn before that are embedded together with a turn."""
_FIELDS = {"text", "type", "source", "evidence", "tags", "entities", "created", "session", "run"}


def new(user: str, row: Json) -> MemoryRecord:
    """The record of `user` that `Memory.add`'s arguments describe. Raises SettingError where they are wrong."""
    if unknown := set(row) - _FIELDS:
        raise SettingError(f"a memory has no {sorted(unknown)[0]!r}; give {', '.join(sorted(_FIELDS))}")
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise SettingError("a memory is a text that is not empty")
    if has_secret(text):
        raise SettingError(
            "this holds a secret (a key, token or password), which memory never keeps; leave it out"
        )
    type, source = row.get("type", "fact"), row.get("source", "user_explicit")
    for value, choices, name in ((type, TYPES, "type"), (source, SOURCES, "source")):
        if value not in choices:
            raise SettingError(f"a memory's {name} is one of {', '.join(choices)}, not {value!r}")
    now = datetime.datetime.now(datetime.UTC)
    said = statement.Statement() if type == "episode" else statement.read(text)
    days = forget.DAYS.get(type)
    return MemoryRecord(
        id=new_id(),
        user=user,
        text=text,
        type=type,
        source=source,
        subject=said.subject,
        attribute=said.attribute,
        value=said.value,
        session=sendable(row.get("session") or ""),
        run=sendable(row.get("run") or ""),
        created=moment(row.get("created")) or now,
        recorded=now,
        weight=WEIGHT[source],
        expires=now + datetime.timedelta(days=days) if days else None,
        tags=tuple(row.get("tags") or ()),
        entities=tuple(row.get("entities") or ()),
        evidence=tuple(_cleaned(e) for e in row.get("evidence") or ()),
    )


def anew(old: MemoryRecord, text: str) -> MemoryRecord:
    """What the user says in place of `old`: about the same, in other words."""
    row = {
        "text": text,
        "type": old.type,
        "source": "user_explicit",
        "tags": old.tags,
        "session": old.session,
    }
    return new(old.user, row | {"entities": old.entities, "created": old.created})


def merged(old: MemoryRecord, new: MemoryRecord) -> MemoryRecord:
    """What was said before, said again: it counts more, and keeps the better source."""
    stronger = new if RANK[new.source] > RANK[old.source] else old
    evidence = old.evidence + tuple(row for row in new.evidence if row not in old.evidence)
    return dataclasses.replace(
        old,
        mentions=old.mentions + 1,
        source=stronger.source,
        weight=min(1.0, max(old.weight, new.weight) + 0.02),
        status="active" if stronger is new else old.status,
        last_access=max(new.recorded, old.last_access or new.recorded),
        expires=forget.renewed(old, new.recorded),
        evidence=evidence[-MERGED_EVIDENCE:],
    )


def _cleaned(row: Any) -> Json:
    row = row if isinstance(row, dict) else {"text": str(row)}
    return {name: redact(value) if isinstance(value, str) else value for name, value in row.items()}


def moment(value: Moment) -> datetime.datetime | None:
    """A time as aware UTC; one without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            raise SettingError(f"created is {value!r}; give a datetime or ISO 8601 text") from None
    if value is None:
        return None
    zoned = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return zoned.astimezone(datetime.UTC)


def new_id() -> str:
    """An id that no other record has: of a billion such 80 bits, two are equal with a chance of one in two million."""
    return "m" + base64.b32encode(os.urandom(10)).decode().lower()


def sendable(text: str) -> str:
    """`text` without lone surrogates, which neither SQLite nor an embedder takes."""
    return text.encode("utf-8", "replace").decode()


def normal_of(record: MemoryRecord) -> str:
    """What two records with the same text share."""
    return sendable(normal(record.text))


def key_of(record: MemoryRecord) -> str:
    """What two records about the same subject and attribute share; "" where rules cannot tell."""
    subject, attribute = statement.Statement(record.subject, record.attribute).key()
    return sendable(f"{' '.join(subject)}|{attribute}") if subject else ""


def terms_of(record: MemoryRecord) -> list[str]:
    """The terms a record is found by; those of a long one piece by piece, `pieces.END` after each."""
    # Date and tags belong to what is searched: "in May" and a business term find what was said then or under it.
    extra = f"{record.created:%B %Y} {' '.join(record.tags)} {' '.join(record.entities)}"
    parts = chunks.pieces(sendable(record.text))
    if len(parts) == 1:
        return [sendable(term) for term in searchable(f"{record.text} {extra}")]
    found: list[str] = []
    for part in parts:
        found += [*searchable(part), pieces.END]
    return found + [sendable(term) for term in searchable(extra)]


def embedded_of(record: MemoryRecord, before: str = "") -> list[str]:
    """What is embedded of a record: each of its pieces with its type and tags, and behind the end of what came before.

    Args:
        before: the turn before it in its session.
    """
    about = sendable(", ".join((record.type, *record.tags)))
    parts = chunks.pieces(sendable(record.text))
    if before and len(parts) == 1:
        parts = [f"{sendable(before)[-BEFORE:]}\n{parts[0]}"]
    return [f"{part} ({about})" for part in parts]
