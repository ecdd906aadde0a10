"""Phrases that a question may hold whole, such as the subjects of definitions and the names of speakers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .postings import hashed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Phrases:
    """Numbered sets of terms, each found under its rarest term, so that common words cost nothing.

    Args:
        block: arrays `rarest` (sorted uint64), `phrase` (the number belonging to each), `offsets` and `terms` (the
            terms of each phrase); see `gathered`.
    """

    def __init__(self, block: Mapping[str, NDArray[Any]] | None = None) -> None:
        self._block = block
        self.size = len(block["phrase"]) if block else 0
        self._new: dict[int, list[tuple[frozenset[int], int]]] = {}
        self._numbers: dict[frozenset[int], int] = {}

    def add(self, terms: Collection[str]) -> int:
        """The number of a phrase, -1 for one without terms; a phrase of the block may get a second number."""
        phrase = frozenset(hashed(term) for term in terms)
        if not phrase:
            return -1
        number = self._numbers.setdefault(phrase, self.size)
        if number == self.size:
            rarest = min(phrase, key=lambda term: len(self._new.get(term, ())))
            self._new.setdefault(rarest, []).append((phrase, number))
            self.size += 1
        return number

    def within(self, terms: Collection[str]) -> list[int]:
        """Numbers of the phrases whose terms are all among `terms`."""
        asked = {hashed(term) for term in terms}
        found = [number for term in asked for phrase, number in self._new.get(term, ()) if phrase <= asked]
        return found + self._in_block(asked)

    def _in_block(self, asked: set[int]) -> list[int]:
        import numpy as np

        if self._block is None or not self.size or not asked:
            return []
        rarest, offsets, terms = self._block["rarest"], self._block["offsets"], self._block["terms"]
        keys = np.array(sorted(asked), np.uint64)
        starts, ends = np.searchsorted(rarest, keys), np.searchsorted(rarest, keys, "right")
        found = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            for number in self._block["phrase"][start:end].tolist():
                if set(terms[offsets[number] : offsets[number + 1]].tolist()) <= asked:
                    found.append(number)
        return found


def gathered(phrases: Sequence[Collection[str]]) -> dict[str, NDArray[Any]]:
    """The block of many phrases, numbered as they come; each needs a term."""
    import numpy as np

    sets = [sorted({hashed(term) for term in phrase}) for phrase in phrases]
    often = Counter(term for terms in sets for term in terms)
    rarest = np.array([min(terms, key=lambda term: often[term]) for terms in sets], np.uint64)
    order = np.argsort(rarest, kind="stable")
    offsets = np.zeros(len(sets) + 1, np.int64)
    np.cumsum([len(terms) for terms in sets], out=offsets[1:])
    return {
        "rarest": rarest[order],
        "phrase": order.astype(np.int32),
        "offsets": offsets,
        "terms": np.array([term for terms in sets for term in terms], np.uint64),
    }
