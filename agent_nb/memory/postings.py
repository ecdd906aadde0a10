"""Which records hold which words: sorted arrays for the bulk, small growing lists for what came since."""

from __future__ import annotations

import functools
import hashlib
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@functools.lru_cache(maxsize=100_000)
def hashed(term: str) -> int:
    """64 bits that stand for a term, the same in every process."""
    return int.from_bytes(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


class Postings:
    """Term → places and counts.

    Args:
        block: arrays `terms` (sorted uint64), `offsets` (one more than terms), `places`, `counts`; see `gathered`.
    """

    def __init__(self, block: Mapping[str, NDArray[Any]] | None = None) -> None:
        self._block = block
        self._new: dict[int, tuple[array[int], array[float]]] = {}
        self._change: Counter[int] = Counter()

    def add(self, place: int, counts: Mapping[int, int]) -> None:
        """Take in the terms of a new place."""
        for term, count in counts.items():
            at, often = self._new.setdefault(term, (array("i"), array("f")))
            at.append(place)
            often.append(count)
            self._change[term] += 1

    def drop(self, terms: Sequence[int]) -> None:
        """One record fewer holds each of the terms; its place stays and is passed over by the reader."""
        self._change.subtract(terms)

    def of(self, terms: Sequence[int]) -> tuple[list[int], list[tuple[Any, Any]]]:
        """For each term: how many active records hold it, and the places and counts (two arrays) it stands in."""
        import numpy as np

        frequency = [self._change[term] for term in terms]
        found: list[tuple[Any, Any]] = []
        starts, ends = self._ranges(terms)
        for i, term in enumerate(terms):
            parts = []
            if starts[i] < ends[i]:
                assert self._block is not None
                frequency[i] += ends[i] - starts[i]
                here = slice(starts[i], ends[i])
                parts.append((self._block["places"][here], self._block["counts"][here]))
            if term in self._new:
                at, often = self._new[term]
                parts.append((np.array(at, np.int32), np.array(often, np.float32)))
            if len(parts) == 2:
                parts = [tuple(np.concatenate(pair) for pair in zip(*parts, strict=True))]  # type: ignore[list-item]
            found.append(parts[0] if parts else (np.empty(0, np.int32), np.empty(0, np.float32)))
        return frequency, found

    def _ranges(self, terms: Sequence[int]) -> tuple[list[int], list[int]]:
        import numpy as np

        nothing = [0] * len(terms)
        if self._block is None or not terms or not len(self._block["terms"]):
            return nothing, nothing
        known, offsets = self._block["terms"], self._block["offsets"]
        asked = np.array(terms, np.uint64)
        at = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        hit = known[at] == asked
        return np.where(hit, offsets[at], 0).tolist(), np.where(hit, offsets[at + 1], 0).tolist()


def gathered(
    names: Sequence[str], ids: NDArray[np.int32], lengths: NDArray[np.int32]
) -> dict[str, NDArray[Any]]:
    """The block of many records at once.

    Args:
        names: the distinct terms. ids: which of them each word is, record after record. lengths: words of each record.
    """
    import numpy as np

    hashes = np.array([hashed(name) for name in names], np.uint64)
    order = np.argsort(hashes)
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    places = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    pairs = np.sort(rank[ids] << 32 | places)
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    pairs, counts = pairs[starts], np.diff(starts, append=len(pairs))
    offsets = np.searchsorted(pairs >> 32, np.arange(len(names) + 1))
    return {
        "terms": hashes[order],
        "offsets": offsets.astype(np.int64),
        "places": (pairs & 0xFFFFFFFF).astype(np.int32),
        "counts": counts.astype(np.float32),
    }
