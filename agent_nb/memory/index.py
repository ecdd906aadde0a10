"""One user's active memories, ready to be searched: postings for BM25 and one matrix of vectors."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import store
from .record import MemoryRecord

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

K1, B = 0.9, 0.4
"""BM25 for short texts: a term counts about once, length matters little (facts measured on LoCoMo)."""

SMALL = 50
"""A store counts as at least this large when terms are weighed: in a store of one, no word would be rare."""


class Index:
    """Built from the store, and built anew when another transaction has changed the user's records."""

    def __init__(self) -> None:
        self.changes = -1
        self.records: list[MemoryRecord] = []
        self.lengths: list[int] = []
        self.postings: dict[str, list[tuple[int, int]]] = {}
        self.vectors: NDArray[np.float32] | None = None
        self.lacking: list[int] = []
        self.out: Counter[str] = Counter()

    def load(self, db: sqlite3.Connection, user: str, changes: int, embedder: Any) -> None:
        """Read the user's active records; `lacking` names those without a vector of this embedder."""
        self.__init__()  # type: ignore[misc]
        query = "SELECT data, terms, embedder, vector FROM records WHERE user=? AND status='active' ORDER BY rowid"
        blobs: list[bytes | None] = []
        for data, terms, name, vector in db.execute(query, (user,)).fetchall():
            self._add(store.load(data), json.loads(terms))
            blobs.append(vector if embedder is not None and name == embedder.name else None)
        rows = db.execute(
            "SELECT status, count(*) FROM records WHERE user=? GROUP BY status", (user,)
        ).fetchall()
        self.out = Counter({status: n for status, n in rows if status != "active"})
        if embedder is not None and self.records:
            import numpy as np

            self.vectors = np.zeros((len(blobs), embedder.dim), np.float32)
            for i, blob in enumerate(blobs):
                if blob is not None:
                    self.vectors[i] = np.frombuffer(blob, np.float32)
            self.lacking = [i for i, blob in enumerate(blobs) if blob is None]
        self.changes = changes

    def _add(self, record: MemoryRecord, terms: Sequence[str]) -> None:
        place = len(self.records)
        self.records.append(record)
        self.lengths.append(len(terms))
        for term, count in Counter(terms).items():
            self.postings.setdefault(term, []).append((place, count))

    def weight(self, term: str) -> float:
        """idf = ln(1 + (N − n + ½) / (n + ½)), with N at least SMALL."""
        n = len(self.postings.get(term, ()))
        return math.log(1 + (max(len(self.records), SMALL) - n + 0.5) / (n + 0.5))

    def lexical(self, terms: Sequence[str]) -> dict[int, float]:
        """Place of a record → BM25 divided by the sum of the question's weights, about the share it covers."""
        average = sum(self.lengths) / len(self.lengths) if self.lengths else 1.0
        whole = sum(self.weight(term) for term in set(terms))
        scores: dict[int, float] = {}
        for term in set(terms):
            weight = self.weight(term) / whole
            for place, count in self.postings.get(term, ()):
                norm = K1 * (1 - B + B * self.lengths[place] / (average or 1.0))
                scores[place] = scores.get(place, 0.0) + weight * count * (K1 + 1) / (count + norm)
        return {place: min(score, 1.0) for place, score in scores.items()}

    def semantic(self, vector: Any) -> Any:
        """Cosine of every record with the question, float32 (n,)."""
        assert self.vectors is not None
        return self.vectors @ vector
