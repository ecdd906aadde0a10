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
"""Scores of which only the highest is looked at first, at most."""
NOWHERE = -2.0
"""Below every score and cosine."""


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Places worth scoring (int (m,)) and what they score; `words`, `near`, `named`: why they are here.

    `pieces`: of long records, which of their pieces is nearest, and of how many.
    """

    places: NDArray[Any]
    mixed: Floats
    own: Floats
    lexical: Floats
    words: set[int]
    near: set[int]
    named: set[int]
    pieces: dict[int, tuple[int, int]]


class Meaning:
    """How near each place is to a question in meaning, from above until it is settled.

    Args:
        vector: of the question. low, high: cosines of unrelated texts and of equal ones.
        trust: how far the embedder is relied on, 0…1.
    """

    def __init__(self, index: Index, vector: Any, low: float, high: float, trust: float = 1) -> None:
        import numpy as np

        self.vector, self._bounds = vector, index.semantic(vector)
        self.cosines, self.known = self._bounds.upper, self._bounds.known
        self.settle = self._bounds.refine
        most = EMBEDDED * trust * trust
        self._low, self._scale, self._most = (np.float32(x) for x in (low, most**0.5 / (high - low), most))

    def own(self, lexical: Any, places: Any = slice(None)) -> Any:
        """What those places score by themselves; `lexical` is their share of words.

        Never below lexical alone, however weak the embedder is; each fills part of what the other leaves open.
        """
        return self.of(self.cosines[places], lexical)

    def of(self, cosines: Any, lexical: Any) -> Any:
        """The same of other cosines and shares of words."""
        import numpy as np

        part = cosines - self._low
        part *= self._scale
        np.maximum(part, 0, out=part)
        part *= part
        np.minimum(part, self._most, out=part)
        part *= 1 - lexical
        part += lexical
        return part


def _as_it_is(scores: Any, places: Any) -> Any:
    return scores


def search(
    index: Index,
    terms: Sequence[str],
    meaning: Meaning | None,
    valid: Any,
    keep: int,
    also: Sequence[Alternative] = (),
    dated: Callable[[Any, Any], Any] = _as_it_is,
) -> Candidates:
    """The `keep` best valid places by words, by meaning and by their mix, and those whose subject is named.

    `also`: other names of what the terms say. `dated`: what the mix of some places becomes by the time that is asked
    for; it keeps the order of what happened at the same time, so that bounds stay bounds. The same as evaluating
    every place would give: what is passed over has a bound below what is kept.
    """
    import numpy as np

    out = np.flatnonzero(~valid)
    lexical = index.lexical(terms, also)
    words = best(_without(lexical, out), keep, 0)
    named = {place for place in index.naming(terms) if valid[place]}
    near = np.empty(0, np.int64) if meaning is None else _nearest(meaning, out, keep)
    own = lexical if meaning is None else meaning.own(lexical)
    upper = _without(dated(index.sessions.mixed(own, terms), slice(None)), out)
    wanted = _together(words, near, np.fromiter(named, np.int64, len(named)))
    # What is made exact gives a line, and only what may reach it has to be made exact as well.
    first = best(upper, keep if meaning is None else 2 * keep, 0)
    places = _together(wanted, first)
    mixed = upper[places]
    if meaning is not None and not meaning.known.all():

        def exact(places: Any) -> Any:
            around = index.sessions.around(places, own, lexical, meaning.known)
            changed = meaning.settle(around)
            own[changed] = meaning.own(lexical[changed], changed)
            return dated(index.sessions.mixed_at(places, own, terms), places)

        mixed = exact(places)
        line = np.partition(mixed, -keep)[-keep] if len(places) >= keep > 0 else 0
        others = np.flatnonzero(upper >= line) if line > 0 else np.flatnonzero(upper > 0)
        places = _together(places, others)
        mixed = exact(places)
    chosen = np.searchsorted(places, _together(wanted, places[best(mixed, keep, 0)]))
    places, mixed = places[chosen], mixed[chosen]
    return Candidates(
        places,
        mixed,
        own[places],
        lexical[places],
        set(words.tolist()),
        set(near.tolist()),
        named,
        _pieces(index, terms, also, meaning, places),
    )


def _pieces(
    index: Index, terms: Sequence[str], also: Sequence[Alternative], meaning: Meaning | None, places: Any
) -> dict[int, tuple[int, int]]:
    """Which piece of each long record among the places is nearest, by words and meaning together."""
    if not len(index.pieces):
        return {}
    scores = index.pieced(terms, also)
    if meaning is not None:
        scores = meaning.of(index.pieces.cosines(meaning.vector), scores)
    return index.pieces.matched(places.tolist(), scores)


def _without(scores: Any, out: Any) -> Any:
    """The scores with nothing at the places that are out."""
    if len(out):
        scores = scores.copy()
        scores[out] = NOWHERE
    return scores


def _together(*places: Any) -> Any:
    """All those places once, in order."""
    import numpy as np

    found = np.concatenate(places)
    found.sort()
    return found[np.append(found[1:] != found[:-1], True)] if len(found) else found


def _nearest(meaning: Meaning, out: Any, keep: int) -> Any:
    """Places of the best by meaning alone, exactly."""
    import numpy as np

    upper = _without(meaning.cosines, out)
    first = best(upper, 2 * keep, NOWHERE)
    meaning.settle(first)
    if len(first) > keep and not meaning.known.all():
        line = np.partition(meaning.cosines[first], -keep)[-keep]
        first = _together(first, np.flatnonzero(upper >= line))
        meaning.settle(first)
    first.sort()
    return first[best(meaning.cosines[first], keep, NOWHERE)]


def best(scores: Any, keep: int, over: float) -> Any:
    """Places of the `keep` highest scores above `over`, the highest first; of equal ones the earlier."""
    import numpy as np

    if not keep or not len(scores):
        return np.empty(0, np.int64)
    group, line = min(GROUP, len(scores) // (2 * keep)), over
    if group > 1:
        # The keep-th best of the groups' best is a line that at least `keep` scores reach.
        heads = scores[: len(scores) // group * group].reshape(group, -1).max(axis=0)
        heads.partition(len(heads) - keep)
        line = max(over, float(heads[-keep]))
    among = np.flatnonzero(scores >= line if line > over else scores > over)
    if len(among) > 8 * keep:
        found = scores[among]
        line = np.partition(found, -keep)[-keep]
        above = among[found > line]
        among = np.append(above, among[found == line][: keep - len(above)])
    return among[np.argsort(-scores[among], kind="stable")][:keep]
