"""One user's active memories, ready to be searched: what the parts hold, and how they follow the store."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from . import block, pieces, store, synonyms, turns
from .columns import Columns
from .phrases import Phrases
from .pieces import Pieces
from .postings import Postings, hashed
from .snapshot import Snapshots, witnessed
from .synonyms import Alternative
from .text import faint, share
from .vectors import Bounds, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

K1, B = 0.9, 0.4
"""BM25 for short texts: a term counts about once, length matters little (facts measured on LoCoMo)."""

SMALL = 50
"""A store counts as at least this large when terms are weighed: in a store of one, no word would be rare."""

BULK = 2_000
"""Records from which on an index starts from a block."""
SHARE = 32
"""A new block is made once a part of it as large as one in SHARE has come."""
KEPT = 5_000
"""Rows that are kept as they were read."""


class Index:
    """Follows the store: each refresh reads only the records that were written since the last one.

    A record has a place, a row of the columns. Places from a block come first, in the order of writing; what comes
    later is added one by one, until there is so much of it that a new block is made. What is no longer active keeps
    its place, marked dead, until then.

    Args:
        reading: gives a connection for the rows of records that are asked for.
        snapshots: where blocks are kept between processes; None for nowhere.
    """

    bulk = BULK

    def __init__(
        self,
        reading: Callable[[], contextlib.AbstractContextManager[store.Connection]] | None = None,
        snapshots: Snapshots | None = None,
    ) -> None:
        self._reading, self._snapshots = reading, snapshots
        self.user = ""
        self._unseen = 0
        self.clear()

    def clear(self) -> None:
        """Know nothing; the next refresh starts anew."""
        self.changes = -1
        self._start({}, 0)
        self._complete = True
        self.out: Counter[str] = Counter()

    def _start(self, arrays: block.Arrays, dim: int) -> None:
        columns = block.part(arrays, "column")
        self.columns = Columns(columns or None)
        self.postings = Postings(block.part(arrays, "word") or None)
        self.subjects = Phrases(block.part(arrays, "subject") or None)
        speakers = block.part(arrays, "speaker") or None
        self.sessions = turns.Sessions(self.columns, arrays.get("session.names"), speakers)
        self.vectors = Vectors(dim, block.part(arrays, "vector")) if dim else None
        self.pieces = Pieces(dim, block.part(arrays, "piece") or None)
        self._block = self.columns.size
        self._numbers = columns.get("number")
        self._later: dict[int, int] = {}
        self._rows: dict[int, str] = {}
        self._norms: Floats | None = None
        self.active = int(self.columns["alive"].sum())
        self.length = int(self.columns["length"].sum())

    @property
    def size(self) -> int:
        """Places, dead ones included."""
        return self.columns.size

    def refresh(self, db: store.Connection, user: str, embedder: Any) -> None:
        """Bring the index up to the store's present state; a place without a vector has one of zeros."""
        row = db.execute("SELECT n, emptied FROM changes WHERE user=?", (user,)).fetchone()
        changes, emptied = row or (0, 0)
        renewed = self._snapshots is not None and self._snapshots.renewed
        if changes == self.changes and self._complete and not renewed:
            return
        # What was deleted leaves no row to read, many dead places cost as much as living ones, and what an interrupt
        # left half done is not to be trusted.
        if not self._complete or emptied > self.changes or renewed or self._overgrown():
            self.clear()
        self._complete = False
        self.user = user
        if self.changes < 0:
            self._open(db, embedder, changes, emptied)
        query = f"SELECT {block.COLUMNS} FROM records WHERE user=? AND changed>?"
        query += " AND status='active'" if self.changes < 0 else ""
        more = block.further(db, user, self.changes)
        for written in db.execute(query + " ORDER BY n", (user, self.changes)):
            self._apply(written, embedder, more.get(written[0], ()))
        query = "SELECT status, count(*) FROM records WHERE user=? AND status IN ('superseded','revoked','pending')"
        self.out = Counter(dict(db.execute(query + " GROUP BY status", (user,)).fetchall()))
        self._settle()
        self.changes = changes
        self._complete = True
        if self._snapshots and self._late > self.bulk + self._block // SHARE and self._snapshots.idle:
            self._snapshots.renew(user, embedder)

    def _open(self, db: store.Connection, embedder: Any, changes: int, emptied: int) -> None:
        """Start from a block: one that was kept, or a new one where there are many records."""
        dim = embedder.dim if embedder is not None else 0
        if self._snapshots:
            self._snapshots.wait()  # one may just be made
            if kept := self._snapshots.newest(db, self.user, embedder, changes, emptied):
                self.changes = kept.changes
                self._start(kept.arrays, dim)
                return
        query = "SELECT count(*) FROM records WHERE user=? AND status='active'"
        if db.execute(query, (self.user,)).fetchone()[0] < self.bulk:
            self._start({}, dim)
            return
        witness = witnessed(db, self.user)
        arrays = block.build(db, self.user, embedder)
        self._start(arrays, dim)
        self.changes = changes
        if self._snapshots:
            self._snapshots.keep(self.user, embedder, changes, witness, arrays)

    def _overgrown(self) -> bool:
        dead = self.size - self.active
        share = 1 if self._snapshots else 4  # where there are snapshots, new ones are made long before
        return dead > self.active + 1_000 or self._late > self.bulk + self._block // share

    @property
    def average(self) -> float:
        """Terms of an active record, of a long one those of a piece."""
        return (self.length / self.active if self.active else 1.0) or 1.0

    @property
    def _late(self) -> int:
        return max(len(self._later), self.vectors.late if self.vectors else 0)

    def written(self, count: int, user: str, embedder: Any) -> None:
        """So many records were just written: what is not in a block yet, and grows large, is put into one."""
        self._unseen += count
        kept = self._snapshots
        if kept and kept.idle and self._unseen >= self.bulk + kept.size // SHARE:
            self._unseen = 0
            kept.renew(user, embedder)

    def another(self) -> Self:
        """An index of nothing yet over the same store, for another user."""
        return type(self)(self._reading, Snapshots(self._snapshots.path) if self._snapshots else None)

    def close(self, user: str, embedder: Any) -> None:
        """Leave a snapshot behind for the next opening where much was written."""
        if self._snapshots:
            self._snapshots.wait()
            if self._unseen >= self.bulk:
                self._unseen = 0
                self._snapshots.renew(user, embedder)
                self._snapshots.wait()

    def _apply(self, row: Sequence[Any], embedder: Any, more: store.Vectors) -> None:
        """Take in one written row; `more`: the vectors of its further pieces."""
        number, status, data, terms, key, type, expires, session, name, vector = row
        place = self._place(number)
        if status != "active":
            if place is not None:
                self._drop(place, json.loads(terms))
            return
        known = json.loads(data)
        if place is None:
            place = self._add(number, json.loads(terms), key, type, session or "", known)
        state = self.columns
        state["expires"][place], state["removal"][place] = block.ends(expires, type)
        state["importance"][place] = block.importance(known)
        state["last"][place] = block.last_use(known)
        self._rows[number] = data
        fits = (
            vector and block.is_of(name, embedder.name) and len(vector) == 4 * embedder.dim
            if embedder
            else False
        )
        if fits:
            self._give(place, vector, more)

    def _give(self, place: int, vector: bytes, more: store.Vectors) -> None:
        """Keep a place's vector, which may have come later than its record, or be another one than before."""
        import numpy as np

        assert self.vectors is not None
        row = np.frombuffer(vector, np.float32)
        if not self.columns["embedded"][place] or not np.array_equal(self.vectors.row(place), row):
            self.vectors.give(place, row)
            self.columns["embedded"][place] = True
            self.pieces.give(place, [vector, *more])

    def _place(self, number: int) -> int | None:
        """Where an active record stands."""
        import numpy as np

        place = self._later.get(number)
        if place is None and self._numbers is not None:
            at = int(np.searchsorted(self._numbers, number))
            place = at if at < self._block and self._numbers[at] == number else None
        return place if place is not None and self.columns["alive"][place] else None

    def _add(
        self, number: int, terms: Sequence[str], key: str, type: str, session: str, known: dict[str, Any]
    ) -> int:
        turn = self.sessions.fields(session if type == "episode" else "", known["text"])
        place = self.columns.append(
            number=number,
            alive=True,
            type=store.TYPE_CODES.get(type, -1),
            created=block.seconds(known["created"]),
            length=pieces.length(terms),
            subject=self.subjects.add(block.subject_of(key).split()),
            **turn,
        )
        self._later[number] = place
        self.postings.add(place, Counter(hashed(term) for term in pieces.words(terms)))
        if parts := pieces.parted(terms):
            self.pieces.add(place, parts)
        self.active += 1
        self.length += pieces.length(terms)
        if turn:
            self.sessions.changed()
        return place

    def _drop(self, place: int, terms: Sequence[str]) -> None:
        self.columns["alive"][place] = False
        self.active -= 1
        self.length -= pieces.length(terms)
        self.postings.drop([hashed(term) for term in set(pieces.words(terms))])
        self._rows.pop(int(self.columns["number"][place]), None)
        self.sessions.changed()

    def _settle(self) -> None:
        import numpy as np

        state = self.columns
        self._norms = (K1 * (1 - B + B * state["length"] / self.average)).astype(np.float32)
        if len(self._rows) > KEPT:
            self._rows.clear()

    def rows(self, numbers: Iterable[int]) -> dict[int, str]:
        """Records by their numbers as they stand in the store, or as they were read before; what was erased is not."""
        wanted = list(numbers)
        missing = [number for number in wanted if number not in self._rows]
        if missing and self._reading is not None:
            with self._reading() as db:
                for some, marks in store.in_parts(missing):
                    query = f"SELECT n, data FROM records WHERE n IN ({marks}) AND {store.OWNED}"
                    self._rows |= db.execute(query, (*some, self.user)).fetchall()
        known = self._rows
        return {number: known[number] for number in wanted if number in known}

    def valid(self, now: datetime.datetime, types: Sequence[str] | None) -> tuple[Any, int, int]:
        """Which places may be recalled (bool (n,)), and how many are expired or of another type."""
        import numpy as np

        current = self.columns["alive"] & (self.columns["removal"] > now.timestamp())
        kept = int(np.count_nonzero(current))
        if types is None:
            return current, self.active - kept, 0
        codes = [store.TYPE_CODES[type] for type in types if type in store.TYPE_CODES]
        typed = current & np.isin(self.columns["type"], codes)
        return typed, self.active - kept, kept - int(np.count_nonzero(typed))

    def naming(self, terms: Sequence[str]) -> set[int]:
        """Places of records whose whole subject is among the terms."""
        import numpy as np

        # What only holds general words names nothing.
        general = self.subjects.within([term for term in terms if share(term) < 1])
        named = list(set(self.subjects.within(terms)).difference(general))
        if not named:
            return set()
        return set(np.flatnonzero(np.isin(self.columns["subject"], named)).tolist())

    def weigh(self, term: str, frequency: int) -> float:
        """idf = ln(1 + (N − n + ½) / (n + ½)) of a term that n active records hold, with N at least SMALL.

        Less where a term is hardly one, nothing where no record holds such a one.
        """
        if not frequency and faint(term):
            return 0.0
        return share(term) * math.log(1 + (max(self.active, SMALL) - frequency + 0.5) / (frequency + 0.5))

    def weight(self, term: str) -> float:
        """`weigh` of a term as often as it is held."""
        return self.weigh(term, self.postings.of([hashed(term)])[0][0])

    def weights(self, terms: Sequence[str], also: Sequence[Alternative] = ()) -> dict[str, float]:
        """What each term weighs, those of other names included: together a little less than what they stand for."""
        known = sorted(set(terms))
        return self._weighed(known, also, self.postings.of([hashed(term) for term in known])[0])

    def _weighed(
        self, known: Sequence[str], also: Sequence[Alternative], frequency: Sequence[int]
    ) -> dict[str, float]:
        found = {term: self.weigh(term, n) for term, n in zip(known, frequency, strict=True)}
        for each in also:
            whole = synonyms.SHARE * sum(self.weight(term) for term in each.asked)
            for term in each.terms:
                found[term] = max(found.get(term, 0.0), whole / len(each.terms))
        return found

    def lexical(self, terms: Sequence[str], also: Sequence[Alternative] = ()) -> Floats:
        """BM25 of every place (float32 (n,)) divided by the sum of the weights, about the share it covers.

        `also`: other names of what some of the terms say.
        """
        import numpy as np

        known = sorted(set(terms))
        frequency, found = self.postings.of([hashed(term) for term in known])
        weighed = self._weighed(known, also, frequency)
        whole = sum(weighed[term] for term in known) or 1.0
        if len(weighed) > len(known):
            found += self.postings.of([hashed(term) for term in list(weighed)[len(known) :]])[1]
        sizes = [len(at) for at, _ in found]
        if not any(sizes):
            return np.zeros(self.size, np.float32)
        assert self._norms is not None
        at = np.concatenate([at for at, _ in found])
        counts = np.concatenate([counts for _, counts in found])
        parts = np.repeat(np.array(list(weighed.values())) * ((K1 + 1) / whole), sizes)
        parts *= counts / (counts + self._norms[at])
        scores = np.bincount(at, parts, self.size).astype(np.float32)
        if len(self.pieces):
            places, best = self.pieces.best(self._pieced(weighed, whole))
            scores[places] = best
        if self.active < self.size:
            scores *= self.columns["alive"]
        floats: Floats = np.minimum(scores, 1, out=scores)
        return floats

    def held(self, words: Mapping[str, float], places: NDArray[Any]) -> Floats:
        """How many words of a question each place holds (float32 (m,)). `words`: term → what it counts for."""
        import numpy as np

        found, places = np.zeros(len(places), np.float32), places.astype(np.int32)
        postings = self.postings.of([hashed(term) for term in words])[1]
        for count, (at, _) in zip(words.values(), postings, strict=True):
            if len(at):  # sorted: a few places are looked up in many
                near = np.minimum(np.searchsorted(at, places), len(at) - 1)
                found[at[near] == places] += count
        return found

    def semantic(self, vector: Any) -> Bounds:
        """Cosines of every place with the question, bounded from above until they are asked for exactly."""
        assert self.vectors is not None
        bounds = self.vectors.bounds(vector, self.size)
        if len(self.pieces):
            places, best = self.pieces.best(self.pieces.cosines(vector))
            bounds.upper[places], bounds.known[places] = best, True
        return bounds

    def pieced(self, terms: Sequence[str], also: Sequence[Alternative] = ()) -> Floats:
        """`lexical` of every piece of the long records (float32 (pieces,))."""
        known = sorted(set(terms))
        weighed = self.weights(known, also)
        return self._pieced(weighed, sum(weighed[term] for term in known) or 1.0)

    def _pieced(self, weighed: dict[str, float], whole: float) -> Floats:
        import numpy as np

        found = self.pieces.words({term: each / whole for term, each in weighed.items()}, K1, B, self.average)
        floats: Floats = np.minimum(found, 1, out=found)
        return floats
