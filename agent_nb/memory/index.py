"""One user's active memories, ready to be searched: postings for BM25 and one matrix of vectors."""

from __future__ import annotations

import datetime
import json
import math
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import forget, store, turns
from .record import MemoryRecord
from .text import faint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

K1, B = 0.9, 0.4
"""BM25 for short texts: a term counts about once, length matters little (facts measured on LoCoMo)."""

SMALL = 50
"""A store counts as at least this large when terms are weighed: in a store of one, no word would be rare."""

FAINT = 0.4
"""Weight of a Chinese bigram that may straddle two words; one that no memory holds does not count at all."""

NEVER = math.inf


class Index:
    """Follows the store: each refresh reads only the records that were written since the last one.

    A record has a place, a number from 0 on in the order of writing. Columns are arrays over places; what is no
    longer active keeps its place, marked dead, until the next full load.
    """

    def __init__(self) -> None:
        self.changes = -1
        self.places: dict[str, int] = {}
        self.rows: list[str | MemoryRecord] = []
        self.alive, self.types, self.lengths = bytearray(), array("b"), array("i")
        self.expires, self.created = array("d"), array("d")
        self.sessions = turns.Sessions()
        self.postings: dict[str, tuple[array[int], array[int]]] = {}
        self.frequency: Counter[str] = Counter()
        self.subjects: dict[str, list[tuple[frozenset[str], int]]] = {}
        self.active = self.length = 0
        self.vectors: Floats | None = None
        self.out: Counter[str] = Counter()

    def refresh(self, db: store.Connection, user: str, embedder: Any) -> None:
        """Bring the index up to the store's present state; a place without a vector has one of zeros."""
        row = db.execute("SELECT n, emptied FROM changes WHERE user=?", (user,)).fetchone()
        changes, emptied = row or (0, 0)
        if changes == self.changes:
            return
        # What was deleted leaves no row to read, and many dead places cost as much as living ones.
        if emptied > self.changes or len(self.rows) > 2 * self.active + 1_000:
            self.__init__()  # type: ignore[misc]
        query = f"SELECT {_COLUMNS} FROM records WHERE user=? AND changed>?"
        query += " AND status='active'" if self.changes < 0 else ""
        blobs = [
            self._apply(row, embedder) for row in db.execute(query + " ORDER BY n", (user, self.changes))
        ]
        if embedder is not None:
            self._keep([blob for blob in blobs if blob is not None], embedder.dim)
        query = "SELECT status, count(*) FROM records WHERE user=? AND status IN ('superseded','revoked','pending')"
        self.out = Counter(dict(db.execute(query + " GROUP BY status", (user,)).fetchall()))
        self.changes = changes

    def _apply(self, row: Sequence[Any], embedder: Any) -> tuple[int, bytes] | None:
        """Take in one written row; gives its place and vector (b"" for none) where it is active."""
        id, status, data, terms, key, type, expires, session, created, name, vector = row
        place = self.places.get(id)
        blob = vector if embedder is not None and name == embedder.name else b""
        if place is not None and status == "active":
            self.rows[place] = data
            self.expires[place] = _ends(expires, type)
            return place, blob  # it may have come later than its record
        if place is not None:
            del self.places[id]
            self._drop(place, json.loads(terms))
        elif status == "active":
            place = self.places[id] = len(self.rows)
            self.rows.append(data)
            self._add(place, json.loads(terms), key)
            self.types.append(store.TYPE_CODES.get(type, -1))
            self.expires.append(_ends(expires, type))
            self.created.append(datetime.datetime.fromisoformat(created).timestamp())
            self.sessions.add(place, session if type == "episode" else "", data)
            return place, blob
        return None

    def _add(self, place: int, terms: Sequence[str], key: str) -> None:
        self.alive.append(1)
        self.lengths.append(len(terms))
        self.active += 1
        self.length += len(terms)
        for term, count in Counter(terms).items():
            at, counts = self.postings.setdefault(term, (array("i"), array("i")))
            at.append(place)
            counts.append(count)
            self.frequency[term] += 1
        subject = key.rpartition("|")[0].split(" ") if key else []
        if subject:
            rarest = min(subject, key=lambda term: len(self.subjects.get(term, ())))
            self.subjects.setdefault(rarest, []).append((frozenset(subject), place))

    def _drop(self, place: int, terms: Sequence[str]) -> None:
        self.alive[place] = 0
        self.active -= 1
        self.length -= len(terms)
        self.frequency.subtract(set(terms))

    def _keep(self, blobs: list[tuple[int, bytes]], dim: int) -> None:
        import numpy as np

        size = len(self.rows)
        if self.vectors is None or len(self.vectors) < size:
            grown = np.zeros((size + size // 4, dim), np.float32)
            if self.vectors is not None:
                grown[: len(self.vectors)] = self.vectors
            self.vectors = grown
        for place, blob in blobs:
            if len(blob) == 4 * dim:
                self.vectors[place] = np.frombuffer(blob, np.float32)

    def record(self, place: int) -> MemoryRecord:
        """The record at a place, read from its row when it is first asked for."""
        row = self.rows[place]
        if isinstance(row, str):
            row = self.rows[place] = store.load(row)
        return row

    def valid(self, now: datetime.datetime, types: Sequence[str] | None) -> tuple[Any, int, int]:
        """Which places may be recalled (bool (n,)), and how many are expired or of another type."""
        import numpy as np

        alive = np.frombuffer(self.alive, np.uint8).astype(bool)
        current = alive & (np.frombuffer(self.expires, np.float64) > now.timestamp())
        typed = current
        if types is not None:
            codes = [store.TYPE_CODES[type] for type in types if type in store.TYPE_CODES]
            typed = current & np.isin(np.frombuffer(self.types, np.int8), codes)
        kept = int(current.sum())
        return typed, self.active - kept, kept - int(typed.sum())

    def naming(self, terms: Sequence[str]) -> set[int]:
        """Places of records whose whole subject is among the terms."""
        asked = set(terms)
        return {place for term in asked for subject, place in self.subjects.get(term, ()) if subject <= asked}

    def weight(self, term: str) -> float:
        """idf = ln(1 + (N − n + ½) / (n + ½)), with N at least SMALL; FAINT of it where a term is hardly one."""
        n = self.frequency[term]
        share = (FAINT if n else 0.0) if faint(term) else 1.0
        return share * math.log(1 + (max(self.active, SMALL) - n + 0.5) / (n + 0.5))

    def lexical(self, terms: Sequence[str]) -> Floats:
        """BM25 of every place (float32 (n,)) divided by the sum of the weights, about the share it covers."""
        import numpy as np

        average = self.length / self.active if self.active else 1.0
        known = sorted(set(terms))
        whole = sum(self.weight(term) for term in known) or 1.0
        scores = np.zeros(len(self.rows), np.float32)
        lengths = np.frombuffer(self.lengths, np.int32)
        for term in known:
            if term in self.postings:
                at, counts = (np.frombuffer(column, np.int32) for column in self.postings[term])
                norm = K1 * (1 - B + B * lengths[at] / (average or 1.0))
                scores[at] += self.weight(term) / whole * counts * (K1 + 1) / (counts + norm)
        return np.minimum(scores, 1.0)

    def semantic(self, vector: Any) -> Floats:
        """Cosine of every place with the question, float32 (n,)."""
        assert self.vectors is not None
        cosines: Floats = self.vectors[: len(self.rows)] @ vector
        return cosines


_COLUMNS = "id, status, data, terms, key, type, expires, session, created, embedder, vector"


def _ends(expires: str | None, type: str) -> float:
    """When a record is no longer recalled: after its second period (seconds); in between it ranks low."""
    if not expires:
        return NEVER
    return datetime.datetime.fromisoformat(expires).timestamp() + 86_400 * forget.DAYS.get(type, 0)
