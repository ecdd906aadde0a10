"""What a user calls by several names: GMV = 成交额 = gross merchandise volume. A question asks for all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..errors import SettingError
from .text import tokens

SHARE = 0.8
"""What a synonym weighs of the words that were asked for."""
MOST = 8
"""Names that one question adds at most."""


@dataclasses.dataclass(frozen=True)
class Alternative:
    """Another name of something that a question names.

    Args:
        term, means: as the user wrote both. asked: terms of the question that it stands for. terms: its own.
    """

    term: str
    means: str
    asked: tuple[str, ...]
    terms: tuple[str, ...]


def alternatives(asked: Sequence[str], table: Sequence[tuple[str, str]]) -> list[Alternative]:
    """Other names of what the terms of a question name, also over several steps, each once."""
    found: list[Alternative] = []
    seen: set[tuple[str, ...]] = set()
    for name in sorted({name for pair in table for name in pair}):
        terms = tuple(tokens(name))
        if not terms or not _stands_in(terms, asked):
            continue
        for other in _names_of(name, table):
            others = tuple(tokens(other))
            if others and others not in seen and not _stands_in(others, asked) and len(found) < MOST:
                seen.add(others)
                found.append(Alternative(name, other, terms, others))
    return found


def _stands_in(terms: tuple[str, ...], asked: Sequence[str]) -> bool:
    size = len(terms)
    return any(tuple(asked[i : i + size]) == terms for i in range(len(asked) - size + 1))


def _names_of(name: str, table: Sequence[tuple[str, str]]) -> list[str]:
    """All names that are linked with `name`, the nearest first."""
    found = [name]
    for each in found:
        for pair in table:
            if each in pair:
                found += [other for other in pair if other not in found]
    return found[1:]


def read(db: Any, user: str) -> list[tuple[str, str]]:
    """The user's table: pairs of term and meaning, in the order in which they were set."""
    rows = db.execute("SELECT term, means FROM synonyms WHERE user=? ORDER BY n", (user,)).fetchall()
    return [(term, means) for term, means in rows]


def add(db: Any, user: str, term: str, means: str) -> None:
    """Keep a pair; the same one again changes nothing. Raises SettingError where a side says nothing."""
    term, means = (" ".join(side.split()) for side in (term, means))
    for side in (term, means):
        if not tokens(side):
            raise SettingError(f"a synonym is a word or a few, not {side!r}")
    if tokens(term) == tokens(means):
        raise SettingError(f"{term!r} and {means!r} are the same word already")
    db.execute(
        "INSERT INTO synonyms (user, term, means) VALUES (?,?,?) ON CONFLICT (user, term, means) DO NOTHING",
        (user, term, means),
    )


def remove(db: Any, user: str, term: str, means: str = "") -> int:
    """Drop what links `term` (with `means`, where it is given); returns how many pairs."""
    term, means = (" ".join(side.split()) for side in (term, means))
    pairs = [pair for pair in read(db, user) if term in pair and (not means or means in pair)]
    for one, other in pairs:
        db.execute("DELETE FROM synonyms WHERE user=? AND term=? AND means=?", (user, one, other))
    return len(pairs)
