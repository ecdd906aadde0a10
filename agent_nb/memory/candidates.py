"""Gate 2's search: the best places by words, by meaning and by both, exactly, without reading every vector."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .index import Index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .synonyms import Alternative

    Floats = NDArray[np.float32]

EMBEDDED = 0.75
"""Most that an embedding alone can say: words that match say more."""
GROUP = 64


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Places worth scoring (int (m,)) and what they score; `words`, `near`, `named`: why they are here."""

    places: NDArray[Any]
    mixed: Floats
    own: Floats
    lexical: Floats
    words: set[int]
    near: set[int]
    named: set[int]


class Meaning:
    """How near each place is to a question in meaning: 0…1 of every place, from above until it is settled.

    Args:
        vector: of the question. low, high: cosines of unrelated texts and of equal ones, which give 0 and `trust`.
    """

    def __init__(self, index: Index, vector: Any, low: float, high: float, trust: float = 1) -> None:
        import numpy as np

        bounds = index.semantic(vector)
        self._bounds, self.cosines, self.known = bounds, bounds.upper, bounds.known
        self._low, self._scale, self._trust = np.float32(low), np.float32(1 / (high - low)), np.float32(trust)
        self.scores = self._scaled(self.cosines)

    def _scaled(self, cosines: Any) -> Any:
        import numpy as np

        return self._trust * np.clip((cosines - self._low) * self._scale, 0, 1)

    def settle(self, places: Any) -> Any:
        """Make the scores of those places exact; gives the places that have changed."""
        changed = self._bounds.refine(places)
        self.scores[changed] = self._scaled(self.cosines[changed])
        return changed


def _as_it_is(scores: Any) -> Any:
    return scores


def search(
    index: Index,
    terms: Sequence[str],
    meaning: Meaning | None,
    valid: Any,
    keep: int,
    also: Sequence[Alternative] = (),
    dated: Callable[[Any], Any] = _as_it_is,
) -> Candidates:
    """The `keep` best valid places by words, by meaning and by their mix, and those whose subject is named.

    `also`: other names of what the terms say. `dated`: what a mix becomes by the time that is asked for; it keeps the
    order of what happened at the same time, so that bounds stay
    bounds. The same as evaluating every place would give: what is passed over has a bound below what is kept.
    """
    import numpy as np

    lexical = index.lexical(terms, also)
    words = best(lexical * valid, keep, 0)
    named = {place for place in index.naming(terms) if valid[place]}
    wanted = np.union1d(words, np.fromiter(named, np.int64, len(named)))
    near: Any = np.empty(0, np.int64)
    own = lexical
    if meaning is not None:
        near = _nearest(meaning, valid, keep)
        own = _own(lexical, meaning.scores)
        wanted = np.union1d(wanted, near)
        _settle(index, terms, meaning, lexical, own, valid, keep, wanted, dated)
    mixed = dated(index.sessions.mixed(own, terms))
    top = best(np.where(valid, mixed, np.float32(-1)), keep, 0)
    places = np.union1d(wanted, top)
    return Candidates(
        places, mixed[places], own[places], lexical[places], set(words.tolist()), set(near.tolist()), named
    )


def _own(lexical: Any, meaning: Any) -> Any:
    """Never below lexical alone, however weak the embedder is; each fills part of what the other leaves open."""
    import numpy as np

    return lexical + (1 - lexical) * (np.float32(EMBEDDED) * meaning * meaning)


def _nearest(meaning: Meaning, valid: Any, keep: int) -> Any:
    """Places of the best by meaning alone, exactly."""
    import numpy as np

    nowhere = -2.0
    cosines = np.where(valid, meaning.cosines, np.float32(nowhere))

    def settle(places: Any) -> None:
        changed = meaning.settle(places)
        cosines[changed] = np.where(valid[changed], meaning.cosines[changed], nowhere)

    first = best(cosines, 2 * keep, nowhere)
    settle(first)
    if len(first) > keep:
        settle(np.flatnonzero(cosines >= np.partition(cosines[first], -keep)[-keep]))
    return best(cosines, keep, nowhere)


def _settle(
    index: Index,
    terms: Sequence[str],
    meaning: Meaning,
    lexical: Any,
    own: Any,
    valid: Any,
    keep: int,
    wanted: Any,
    dated: Callable[[Any], Any],
) -> None:
    """Make exact, in `own`, all that the best `keep` of the mix and the places `wanted` depend on."""
    import numpy as np

    def settle(places: Any) -> None:
        lower = np.where(meaning.known, own, lexical)
        changed = meaning.settle(index.sessions.around(places, own, lower))
        own[changed] = _own(lexical[changed], meaning.scores[changed])

    if meaning.known.all():
        return
    upper = np.where(valid, dated(index.sessions.mixed(own, terms)), np.float32(-1))
    settle(np.union1d(best(upper, 2 * keep, 0), wanted))
    surely = dated(index.sessions.mixed(np.where(meaning.known, own, lexical), terms))
    sure = best(np.where(valid, surely, np.float32(-1)), keep, 0)
    line = surely[sure[-1]] if len(sure) == keep else 0
    settle(np.flatnonzero((upper >= line) & (upper > 0)))


def best(scores: Any, keep: int, over: float) -> Any:
    """Places of the `keep` highest scores above `over`, the highest first; of equal ones the earlier."""
    import numpy as np

    if not keep or not len(scores):
        return np.empty(0, np.int64)
    line, size = over, len(scores) - len(scores) % GROUP
    if size // GROUP > keep:
        # The keep-th best of the groups' best is a line that at least `keep` scores reach.
        heads = scores[:size].reshape(-1, GROUP).max(axis=1)
        line = max(over, float(np.partition(heads, -keep)[-keep]))
    among = np.flatnonzero(scores >= line) if line > over else np.flatnonzero(scores > over)
    return among[np.argsort(-scores[among], kind="stable")][:keep]
