"""Looking through all records of a user, a page at a time: by words, kind, standing and age, the newest first."""

from __future__ import annotations

import bisect
import dataclasses
import datetime
import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import SettingError
from . import store
from .record import STATUSES, TYPES, MemoryRecord

COUNT = 50
"""Records of a page, where nobody says how many."""
MOST = 500
_ID = re.compile("m[0-9a-z]{5,}")
"""The beginning of an id, see `draft.new_id`."""
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
    Lists of one order, the oldest first: a loop over plain texts is what Python does fastest.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Know nothing; the next look reads anew."""
        self._changes = -1
        self._keys: list[Match] = []
        self._texts: list[str] = []
        self._types: list[str] = []
        self._states: list[str] = []
        self._ids: list[str] = []
        self._last: tuple[Any, list[int]] | None = None
        self.pending = 0

    def __len__(self) -> int:
        return len(self._keys)

    def refresh(self, db: store.Connection, user: str) -> None:
        """Read what was written since the last time."""
        row = db.execute("SELECT n, emptied FROM changes WHERE user=?", (user,)).fetchone()
        changes, emptied = row or (0, 0)
        if changes == self._changes:
            return
        if emptied > self._changes:
            self.clear()
        query = "SELECT COALESCE(created, ''), n, normal, type, status, id FROM records WHERE user=? AND changed>?"
        rows = db.execute(query, (user, self._changes)).fetchall()
        if len(rows) > max(MOST, len(self) // 8):
            rows = list({n: row for row in (*self._rows(), *rows) for n in (row[1],)}.values())
            self.clear()
        for row in sorted(rows):
            self._put(*row)
        self.pending = self._states.count("pending")
        self._changes, self._last = changes, None

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        for key, *rest in zip(self._keys, self._texts, self._types, self._states, self._ids, strict=True):
            yield (*key, *rest)

    def _put(self, created: str, n: int, text: str, type: str, status: str, id: str) -> None:
        """One record, in its place: mostly the last one. When something happened never changes."""
        key = (created, n)
        place = (
            len(self._keys) if not self._keys or key > self._keys[-1] else bisect.bisect_left(self._keys, key)
        )
        known = place < len(self._keys) and self._keys[place] == key
        lists: tuple[list[Any], ...] = (self._keys, self._texts, self._types, self._states, self._ids)
        for column, value in zip(lists, (key, text, type, status, id), strict=True):
            column[place : place + known] = [value]

    def find(self, wanted: Wanted, now: datetime.datetime) -> list[int]:
        """Places of the records that are wanted, the newest first."""
        since = wanted.since(now)[:13]  # to the hour, so that a reader who scrolls sees one list
        key = (wanted.text, wanted.type, wanted.status, since)
        if self._last is None or self._last[0] != key:
            self._last = (key, self._found(wanted, since))
        return self._last[1]

    def _found(self, wanted: Wanted, since: str) -> list[int]:
        first = bisect.bisect_left(self._keys, (since, 0)) if since else 0
        words = sorted(_words(wanted.text), key=len, reverse=True)
        places: Sequence[int] = range(first, len(self))
        if len(words) == 1 and _ID.fullmatch(words[0]):
            id = words[0]
            if named := [place for place in places if self._ids[place].startswith(id)]:
                words, places = [], named
        for word in words:
            texts = self._texts
            if isinstance(places, range) and not first:
                places = [place for place, text in enumerate(texts) if word in text]
            else:
                places = [place for place in places if word in texts[place]]
        for column, value in ((self._types, wanted.type), (self._states, wanted.status)):
            if value:
                places = [place for place in places if column[place] == value]
        return list(reversed(places))

    def when(self, place: int) -> Match:
        """When a record happened and its number: what the order is made of."""
        return self._keys[place]


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
    if sum(map(bool, found)) > 1:
        merged = heapq.merge(*(_side(i, places, sides[i][3]) for i, places in enumerate(found)), reverse=True)
        some = [(i, n) for (_, n), i in itertools.islice(merged, start, start + count)]
    else:  # without walking over all that stands before
        i = next((i for i, places in enumerate(found) if places), 0)
        some = [(i, sides[i][3].when(place)[1]) for place in found[i][start : start + count]]
    records: dict[tuple[int, int], MemoryRecord] = {}
    for i, (_, owner, reading, _) in enumerate(sides):
        with reading() as db:
            for number, record in _read(db, owner, [n for at, n in some if at == i]):
                records[i, number] = record
    shown = tuple(records[key] for key in some if key in records)
    pending = sum(catalogue.pending for *_, catalogue in sides)
    return Page(shown, start, sum(map(len, found)), of, pending)


def _side(i: int, places: list[int], catalogue: Catalogue) -> Iterator[tuple[Match, int]]:
    return ((catalogue.when(place), i) for place in places)


def _read(db: Any, owner: str, numbers: list[int]) -> Iterator[tuple[int, MemoryRecord]]:
    for some, marks in store.in_parts(numbers):
        query = f"SELECT n, data FROM records WHERE n IN ({marks}) AND {store.OWNED}"
        for number, data in db.execute(query, (*some, owner)).fetchall():
            yield number, store.load(data)
