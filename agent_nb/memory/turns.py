"""Episodes are turns of conversations: what stands beside a turn that matches may be the answer.

A turn gains from its neighbours of the same session, most as the reply to a question that matches, and a little
from its whole session; a turn that itself asks tells less. Nothing else than episodes is touched.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .columns import Columns
from .phrases import Phrases
from .postings import hashed
from .text import tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPEAKER = re.compile(r"(\w[\w .'-]{0,40}?)[:：]")

BEFORE, AFTER = 0.3, 0.1
"""Share of the score of the turn before and after that a turn gains."""
REPLY = 0.4
"""… of the score of the question right before it."""
SESSION = 0.3
"""… of the mean score of its session's best turns."""
ASKS = 0.1
"""What a turn loses that is a question itself."""
SPEAKER = 0.2
"""Gain of a turn whose speaker ("Ana: …") the question names."""
LONG, TYPICAL = 0.1, 2.5
"""A turn gains this share for every factor of e that it is longer than the typical one (log of its terms)."""
FULL = 0.8
"""Scores up to here stay as they are."""


def told(text: str) -> tuple[bool, list[str]]:
    """Whether a turn asks, and the terms of its speaker's name."""
    name = _SPEAKER.match(text)
    return text.rstrip().endswith(("?", "？")), tokens(name[1]) if name else []


@dataclasses.dataclass(frozen=True)
class _Order:
    """The active turns, session after session, each in the order of writing; arrays over them, but for `position`."""

    places: NDArray[Any]
    position: NDArray[Any]  # place → where it stands in `places`, -1 for what is no active turn
    starts: NDArray[Any]  # where each session begins
    sizes: NDArray[Any]
    before: NDArray[Any]  # share of the turn before that a turn gains, and of the turn after
    after: NDArray[Any]
    asks: NDArray[Any]  # what it loses as a question
    long: NDArray[Any]
    speaker: NDArray[Any]

    def sessions_of(self, at: Any) -> tuple[Any, Any, Any]:
        """The sessions that hold the turns `at`: all their turns, where each begins in these, which each of `at` is."""
        import numpy as np

        sessions, which = np.unique(np.searchsorted(self.starts, at, "right") - 1, return_inverse=True)
        sizes = self.sizes[sessions]
        starts = np.cumsum(sizes) - sizes
        turns = np.arange(sizes.sum()) + np.repeat(self.starts[sessions] - starts, sizes)
        return turns, starts, which


class Sessions:
    """Which places are turns of which conversation. Session 0 is none.

    Args:
        columns: of the index; session, speaker, asks, length, number and alive are read here.
        names: hashes of the sessions' names by number, and `speakers`, the phrases of who spoke, of a block.
    """

    def __init__(
        self,
        columns: Columns,
        names: NDArray[Any] | None = None,
        speakers: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        known = [0] if names is None else names.tolist()
        self._columns = columns
        self._numbers = {name: number for number, name in enumerate(known)}
        self._speakers = Phrases(speakers)
        self._order: _Order | None = None

    def fields(self, session: str, text: str) -> dict[str, Any]:
        """Columns of the next place; `session` is "" for whatever is no turn of a conversation."""
        if not session:
            return {}
        asks, name = told(text)
        number = self._numbers.setdefault(hashed(session), len(self._numbers))
        return {"session": number, "asks": asks, "speaker": self._speakers.add(name)}

    def changed(self) -> None:
        """Places were added, or are no longer active."""
        self._order = None

    @property
    def order(self) -> _Order | None:
        """How the turns stand; None where there are none."""
        if len(self._numbers) == 1:
            return None
        if self._order is None:
            self._order = _ordered(self._columns)
        return self._order if len(self._order.places) else None

    def mixed(self, scores: Any, terms: Sequence[str]) -> Any:
        """What each place scores (float32 (n,), 0…1) once turns have gained of those around them.

        No result may fall when any of `scores` rises: the search bounds scores from above, and the bound of the
        mix is the mix of the bounds. `around` names the scores that a result depends on.
        """
        import numpy as np

        order = self.order
        if order is None:
            return scores
        own = scores[order.places]
        previous, following = np.zeros_like(own), np.zeros_like(own)
        previous[1:], following[:-1] = own[:-1], own[1:]
        most = np.repeat(np.maximum.reduceat(own, order.starts), order.sizes)
        mixed = scores.copy()
        mixed[order.places] = self._gained(order, slice(None), own, previous, following, most, terms)
        return mixed

    def mixed_at(self, places: Any, scores: Any, terms: Sequence[str]) -> Any:
        """`mixed` at those places alone."""
        import numpy as np

        order = self.order
        mixed = scores[places]
        if order is None or not len(mixed):
            return mixed
        at = order.position[places]
        talked = np.flatnonzero(at >= 0)
        at = at[talked]
        if not len(at):
            return mixed
        turns, starts, which = order.sessions_of(at)
        most = np.maximum.reduceat(scores[order.places[turns]], starts)[which]
        # The first turn gains nothing of the last one, nor the last of the first: there the shares are 0.
        previous, following = (scores[order.places[(at + step) % len(order.places)]] for step in (-1, 1))
        mixed[talked] = self._gained(order, at, mixed[talked], previous, following, most, terms)
        return mixed

    def _gained(
        self, order: _Order, at: Any, own: Any, previous: Any, following: Any, most: Any, terms: Sequence[str]
    ) -> Any:
        """What turns score with what they gain. `previous`, `following`, `most`: of their neighbours and session."""
        import numpy as np

        gain = order.before[at] * previous + order.after[at] * following + np.float32(SESSION) * most
        for named in self._speakers.within(terms):
            gain += np.float32(SPEAKER) * ((order.speaker[at] == named) & (own > 0))
        whole = (own + gain) * order.long[at] - order.asks[at] * own
        # What is beyond FULL comes ever closer to 1: turns keep their order, and nothing is more than certain.
        over = np.flatnonzero(whole > FULL)
        whole[over] = 1 - (1 - FULL) * np.exp((FULL - whole[over]) / (1 - FULL))
        return np.maximum(whole, 0, out=whole)

    def around(self, places: Any, upper: Any, lexical: Any, known: Any) -> Any:
        """All places whose scores the mix of `places` depends on, these included.

        The scores are `upper` where they are `known`, else between `lexical` and `upper`.
        """
        import numpy as np

        order = self.order
        if order is None:
            return places
        at = order.position[places]
        at = at[at >= 0]
        if not len(at):
            return places
        # Of the rest of a session only the best counts, and only what may be the best has to be known.
        turns, starts, _ = order.sessions_of(at)
        theirs = order.places[turns]
        high = upper[theirs]
        surely = np.maximum.reduceat(np.where(known[theirs], high, lexical[theirs]), starts)
        best = theirs[high >= np.repeat(surely, np.diff(starts, append=len(turns)))]
        last = len(order.places) - 1
        beside = order.places[np.concatenate([np.maximum(at - 1, 0), np.minimum(at + 1, last)])]
        return np.unique(np.concatenate([places, beside, best]))


def _ordered(columns: Columns) -> _Order:
    import numpy as np

    places = np.flatnonzero((columns["session"] > 0) & columns["alive"])
    # A record that came back has an old number and a new place.
    places = places[np.lexsort((columns["number"][places], columns["session"][places]))]
    session = columns["session"][places]
    starts = np.flatnonzero(np.diff(session, prepend=0))
    position = np.full(columns.size, -1, np.int32)
    position[places] = np.arange(len(places))
    length = np.log1p(columns["length"][places].astype(np.float32))
    asks = columns["asks"][places].astype(np.float32)
    before, after = np.zeros(len(places), np.float32), np.zeros(len(places), np.float32)
    together = session[1:] == session[:-1]
    before[1:] = together * (np.float32(BEFORE) + np.float32(REPLY) * asks[:-1])
    after[:-1] = together * np.float32(AFTER)
    return _Order(
        places,
        position,
        starts,
        np.diff(starts, append=len(places)),
        before,
        after,
        np.float32(ASKS) * asks,
        np.float32(1) + np.float32(LONG) * (length - np.float32(TYPICAL)),
        columns["speaker"][places],
    )
