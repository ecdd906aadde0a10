"""Looking through all records of a user, a page at a time: by words, kind, standing and age, the newest first."""

from __future__ import annotations

import dataclasses
import datetime
import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import SettingError
from . import store
from .record import STATUSES, TYPES, MemoryRecord

COUNT = 50
"""Records of a page, where nobody says how many."""
MOST = 500
ID_CHARS = 6
"""A word of so many characters may be the beginning of an id."""
SCOPES = ("", "own", "team")
_MARKS = ".。!！;；, ，"
"""A kept text ends without these, see `text.normal`."""

Match = tuple[str, int]
"""When it happened and its number in the store: what the order is made of."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What to look for; "" and 0 stand for no wish.

    Args:
        text: words that a record must hold, or the beginning of an id. type: one of TYPES.
        status: one of STATUSES. scope: own or team. days: at most so old, by when it happened.
    """

    text: str = ""
    type: str = ""
    status: str = ""
    scope: str = ""
    days: int = 0

    def __post_init__(self) -> None:
        for name, known in (("type", TYPES), ("status", STATUSES), ("scope", SCOPES)):
            value = getattr(self, name)
            if value and value not in known:
                raise SettingError(f"the {name} is {value!r}; give one of {', '.join(filter(None, known))}")

    def since(self, now: datetime.datetime) -> str:
        """The first moment that is young enough, as the store writes it; "" for any."""
        if self.days <= 0:
            return ""
        with_room = min(self.days, (now - now.min.replace(tzinfo=now.tzinfo)).days - 1)
        return (now - datetime.timedelta(days=with_room)).isoformat()


@dataclasses.dataclass(frozen=True)
class Page:
    """Some of the records that were looked for.

    Args:
        records: from `start` on, the newest first. total: how many there are of them. of: how many there are at all.
        pending: how many wait for a verdict.
    """

    records: tuple[MemoryRecord, ...]
    start: int
    total: int
    of: int
    pending: int = 0


class Catalogue:
    """What is looked for in each record of one user. It follows the store: only what was written since is read.

    Held in this process only, and dropped whole when anything is deleted, so that an erased text is not kept here.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Know nothing; the next look reads anew."""
        self._changes = -1
        self._rows: dict[int, tuple[str, str, str, str, str]] = {}
        self.pending = 0
        self._sorted: list[int] | None = None
        self._last: tuple[Any, list[int]] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def refresh(self, db: store.Connection, user: str) -> None:
        """Read what was written since the last time."""
        row = db.execute("SELECT n, emptied FROM changes WHERE user=?", (user,)).fetchone()
        changes, emptied = row or (0, 0)
        if changes == self._changes:
            return
        if emptied > self._changes:
            self.clear()
        query = "SELECT n, id, normal, status, type, created FROM records WHERE user=? AND changed>?"
        for n, id, normal, status, type, created in db.execute(query, (user, self._changes)).fetchall():
            self._rows[n] = (normal, status, type, created or "", id)
        self.pending = sum(row[1] == "pending" for row in self._rows.values())
        self._changes, self._sorted, self._last = changes, None, None

    def find(self, wanted: Wanted, now: datetime.datetime) -> list[int]:
        """Numbers of the records that are wanted, the newest first."""
        since = wanted.since(now)[:13]  # to the hour, so that a reader who scrolls sees one list
        key = (wanted.text, wanted.type, wanted.status, since)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        rows, order = self._rows, self._order()
        if wanted.status:
            order = [n for n in order if rows[n][1] == wanted.status]
        if wanted.type:
            order = [n for n in order if rows[n][2] == wanted.type]
        if since:
            order = list(itertools.takewhile(lambda n: rows[n][3] >= since, order))
        words = sorted(_words(wanted.text), key=len, reverse=True)
        id = words[0] if len(words) == 1 and len(words[0]) >= ID_CHARS else ""
        if id and (named := [n for n in order if rows[n][4].startswith(id)]):
            words, order = [], named
        for word in words:
            order = [n for n in order if word in rows[n][0]]
        self._last = (key, order)
        return order

    def when(self, number: int) -> Match:
        """What a record is ordered by."""
        return self._rows[number][3], number

    def _order(self) -> list[int]:
        if self._sorted is None:
            rows = self._rows
            self._sorted = sorted(rows, key=lambda n: (rows[n][3], n), reverse=True)
        return self._sorted


def _words(text: str) -> list[str]:
    return [word for part in text.casefold().split() if (word := part.rstrip(_MARKS))]


Reading = Callable[[], Any]


def page(
    sides: Sequence[tuple[str, str, Reading, Catalogue]], wanted: Wanted, start: int, count: int
) -> Page:
    """Some of the records of one or several owners together.

    Args:
        sides: scope, owner, connection and catalogue of each.
    """
    start, count, now = max(0, start), max(0, min(count, MOST)), store.now()
    found: list[list[int]] = []
    of = 0
    for scope, owner, reading, catalogue in sides:
        with reading() as db:
            catalogue.refresh(db, owner)
        of += len(catalogue)
        found.append(catalogue.find(wanted, now) if wanted.scope in ("", scope) else [])
    order = [_told(i, numbers, sides[i][3]) for i, numbers in enumerate(found)]
    merged = heapq.merge(*order, key=lambda row: row[0], reverse=True)
    if sum(map(bool, found)) == 1:  # without walking over all that stands before
        i = next(i for i, numbers in enumerate(found) if numbers)
        some = [(i, n) for n in found[i][start : start + count]]
    else:
        some = [(i, n) for _, i, n in itertools.islice(merged, start, start + count)]
    records: dict[tuple[int, int], MemoryRecord] = {}
    for i, (_, owner, reading, _) in enumerate(sides):
        with reading() as db:
            for number, record in _read(db, owner, [n for at, n in some if at == i]):
                records[i, number] = record
    shown = tuple(records[key] for key in some if key in records)
    pending = sum(catalogue.pending for *_, catalogue in sides)
    return Page(shown, start, sum(map(len, found)), of, pending)


def _told(i: int, numbers: list[int], catalogue: Catalogue) -> Iterator[tuple[Match, int, int]]:
    return ((catalogue.when(n), i, n) for n in numbers)


def _read(db: Any, owner: str, numbers: list[int]) -> Iterator[tuple[int, MemoryRecord]]:
    for some, marks in store.in_parts(numbers):
        query = f"SELECT n, data FROM records WHERE user=? AND n IN ({marks})"
        for number, data in db.execute(query, (owner, *some)).fetchall():
            yield number, store.load(data)
