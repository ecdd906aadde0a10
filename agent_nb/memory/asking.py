"""What rules could not decide is asked: one short question at the start of a turn, answered by the next words."""

from __future__ import annotations

import re
from typing import Any

from . import store, writing
from .record import MemoryRecord
from .text import is_han, tokens

Json = dict[str, Any]

# The question names the new one first, then the old one, then both; so do "the first" and "the second".
_ONE = r"(?: (?:one|statement))?(?: is right| holds| please)?"
_VERDICTS = [
    (
        "keep",
        rf"(?:(?:keep|use|take) )?(?:the )?(?:new(?:er|est)?|first|former){_ONE}|approve(?:d)?"
        r"|(?:保留|用|要|选|以)?(?:新的?|第一个|第一条|前者|前一个)(?:那个|为准|对|是对的)?|同意",
    ),
    (
        "drop",
        rf"(?:(?:keep|use|take) )?(?:the )?(?:old(?:er|est)?|second|latter){_ONE}"
        rf"|(?:drop|reject)(?: (?:it|the new{_ONE}))?"
        r"|(?:保留|用|要|选|以)?(?:旧的?|老的|原来的|第二个|第二条|后者|后一个)(?:那个|为准|对|是对的)?|不要新的",
    ),
    (
        "both",
        r"(?:keep )?(?:the )?both(?: of them)?(?: hold| are right)?|(?:两个|两条|二者|两者)?都(?:保留|对|要|留|是对的)",
    ),
]
_LONG = 6
"""Words of an answer that may name one of the two by what only that one says."""


def verdict(words: str, new: str = "", old: str = "") -> str:
    """keep, drop or both, where the words are an answer to such a question and nothing else; else "".

    `new`, `old`: what was asked about; "800 dollars" means the one that says 800.
    """
    said = words.strip().rstrip(".。!！ ").lower()
    if found := next((name for name, pattern in _VERDICTS if re.fullmatch(pattern, said)), ""):
        return found
    named = set(tokens(said))
    # Only a value: other words may as well be a goal of their own.
    if (
        not old
        or len(named) > _LONG
        or not any(char.isdigit() for char in said)
        or said.endswith(("?", "？"))
    ):
        return ""
    first, second = (named <= set(tokens(text)) for text in (new, old))
    return "" if first == second else "keep" if first else "drop"


def question(new: str, old: str, id: str) -> str:
    """What the user is asked, in the language of the new record."""
    if any(map(is_han, new)):
        known = f"，但已知“{old}”" if old else ""
        ways = f"（或 %memory resolve {id} keep|drop|both）"
        return f"记忆里新听到“{new}”{known}。请回答“用新的”“用旧的”或“都保留”{ways}"
    known = f", but it is known that “{old}”" if old else ""
    ways = f" (or %memory resolve {id} keep|drop|both)"
    return f"memory heard “{new}”{known}. Say “keep the new one”, “keep the old one” or “both”{ways}"


def unasked(db: Any, user: str) -> list[MemoryRecord]:
    """Pending records about which nobody was asked, the oldest first."""
    return store.select(
        db,
        user,
        "status='pending' AND id NOT IN (SELECT id FROM log WHERE user=? AND action='asked')",
        [user],
    )


def ask(db: Any, user: str) -> Json | None:
    """The oldest of them, from now on asked: dict of id, text, against, question."""
    found = unasked(db, user)
    if not found:
        return None
    record = found[0]
    old = against(db, record)
    store.note(db, user, "asked", record.id)
    asked = question(record.text, old, record.id)
    return {"id": record.id, "text": record.text, "against": old, "question": asked}


def against(db: Any, record: MemoryRecord) -> str:
    """What a pending record contradicts first; "" for nothing."""
    return next((old.text for old in writing.contradicted(db, record)), "")


def asked_last(db: Any, user: str) -> MemoryRecord | None:
    """The pending record that was asked about last."""
    rows = db.execute(
        "SELECT id FROM log WHERE user=? AND action='asked' ORDER BY n DESC LIMIT 20", (user,)
    ).fetchall()
    for (id,) in rows:
        found = store.select(db, user, "id=? AND status='pending'", [id])
        if found:
            return found[0]
    return None
