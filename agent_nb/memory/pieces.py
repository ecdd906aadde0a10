"""Long records piece by piece: each piece has words and a vector of its own, and the best one speaks for its record.

Of a record as a whole a long text would be found by nothing: its length divides what each word says, and one vector
of twenty pages is near to no question. A short record has no rows here and costs nothing.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import postings
from .postings import Postings, hashed
from .vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

END = ""
"""What stands after the terms of each piece of a long record; what follows the last one belongs to every piece."""


def words(terms: Sequence[str]) -> Sequence[str]:
    """The terms of a record without the marks between its pieces."""
    return [term for term in terms if term] if END in terms else terms


def parted(terms: Sequence[str]) -> list[list[str]]:
    """The terms of each piece of a long record; [] for a short one."""
    if END not in terms:
        return []
    found: list[list[str]] = [[]]
    for term in terms:
        if term:
            found[-1].append(term)
        else:
            found.append([])
    return [piece + found[-1] for piece in found[:-1]]


def length(terms: Sequence[str]) -> int:
    """Terms by which a record's length is told: of a long one, those of a piece, which it is measured by."""
    pieces = terms.count(END)
    return (len(terms) - pieces) // pieces if pieces else len(terms)


class Pieces:
    """Rows, one for each piece of the long records at some places; those of a place follow one another.

    Args:
        dim: of a vector, 0 for none. block: arrays `place` and `first` (a long record each: where it stands, and its
        first row), `length` and `rows` (a piece each: terms, vector) and those of `postings`; see `gathered`.
    """

    def __init__(self, dim: int, block: Mapping[str, NDArray[Any]] | None = None) -> None:
        block = block or {}
        self._places, self._firsts, self._lengths = array("i"), array("i"), array("i")
        if block:
            for name, held in (("place", self._places), ("first", self._firsts), ("length", self._lengths)):
                held.frombytes(block[name].astype("int32").tobytes())
        self._row_of = dict(zip(self._places, range(len(self._places)), strict=True))
        self._postings = Postings(block or None)
        self._vectors = Vectors(dim, {"rows": block["rows"]} if block else None) if dim else None

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._lengths)

    def add(self, place: int, parts: Sequence[Sequence[str]]) -> None:
        """Take in the terms of each piece of the record at a place."""
        self._row_of[place] = len(self._places)
        self._places.append(place)
        self._firsts.append(len(self))
        for terms in parts:
            self._postings.add(len(self), Counter(hashed(term) for term in terms))
            self._lengths.append(len(terms))

    def give(self, place: int, vectors: Sequence[bytes]) -> None:
        """Keep the vectors of a place's pieces; one that stands for a whole long text stands with the first."""
        import numpy as np

        rows = self._rows(place)
        if self._vectors is None:
            return
        nothing = np.zeros(self._vectors.dim, np.float32)
        for at, row in enumerate(rows):
            whole = np.frombuffer(vectors[at], np.float32) if at < len(vectors) else nothing
            if whole.any() or self._vectors.has(row):
                self._vectors.give(row, whole)

    def _rows(self, place: int) -> range:
        at = self._row_of.get(place)
        if at is None:
            return range(0)
        return range(self._firsts[at], self._firsts[at + 1] if at + 1 < len(self._firsts) else len(self))

    def words(self, weights: Mapping[str, float], k1: float, b: float, average: float) -> Floats:
        """BM25 of every piece (float32 (pieces,)) with the weights of the terms that are asked for."""
        import numpy as np

        _, found = self._postings.of([hashed(term) for term in weights])
        norms = (k1 * (1 - b + b * np.array(self._lengths, np.float32) / average)).astype(np.float32)
        scores = np.zeros(len(self), np.float32)
        for weight, (rows, counts) in zip(weights.values(), found, strict=True):
            scores[rows] += weight * (k1 + 1) * counts / (counts + norms[rows])
        return scores

    def cosines(self, vector: Any) -> Floats:
        """Of every piece with a question's vector, 0 where it has none yet."""
        import numpy as np

        if self._vectors is None:
            return np.zeros(len(self), np.float32)
        upper: Floats = self._vectors.bounds(vector, len(self)).upper
        return upper

    def best(self, scores: Floats) -> tuple[Any, Any]:
        """The places of the long records, and the best of their pieces' scores."""
        import numpy as np

        return np.array(self._places, np.int64), np.maximum.reduceat(scores, np.array(self._firsts, np.int64))

    def matched(self, places: Sequence[int], scores: Floats) -> dict[int, tuple[int, int]]:
        """Place → which of its pieces scores best, and of how many; of the long ones alone."""
        import numpy as np

        rows = {place: self._rows(place) for place in places if place in self._row_of}
        return {
            place: (int(np.argmax(scores[each.start : each.stop])), len(each)) for place, each in rows.items()
        }


class Draft:
    """Plain lists that grow with each long record of a block that is being made; see `block.Draft`."""

    def __init__(self) -> None:
        self.held: dict[str, list[int]] = {"place": [], "first": [], "length": []}
        self._words: dict[str, int] = {}
        self._ids = array("i")
        self._vectors: list[bytes] = []

    def add(self, place: int, terms: Sequence[str], vectors: Sequence[bytes]) -> None:
        """Take in a record's pieces, where it is a long one."""
        if not (parts := parted(terms)):
            return
        self.held["place"].append(place)
        self.held["first"].append(len(self.held["length"]))
        for at, part in enumerate(parts):
            self.held["length"].append(len(part))
            self._ids.extend([self._words.setdefault(word, len(self._words)) for word in part])
            self._vectors.append(vectors[at] if at < len(vectors) else b"")

    def arrays(self, dim: int) -> dict[str, NDArray[Any]]:
        """The block; empty where there are no long records."""
        import numpy as np

        if not self._vectors:
            return {}
        found: dict[str, NDArray[Any]] = {name: np.array(all, np.int32) for name, all in self.held.items()}
        ids = np.frombuffer(self._ids, np.int32) if self._ids else np.empty(0, np.int32)
        found |= postings.gathered(list(self._words), ids, found["length"])
        nothing = bytes(4 * dim)
        whole = b"".join(vector if len(vector) == 4 * dim else nothing for vector in self._vectors)
        rows: Floats = np.zeros((len(self._vectors), dim), np.float32)
        found["rows"] = np.frombuffer(whole, np.float32).reshape(rows.shape) if dim else rows
        return found
