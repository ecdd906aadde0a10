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
    together: NDArray[Any]  # whether a turn and the next are of one session, (n - 1,)
    asks: NDArray[Any]
    long: NDArray[Any]
    speaker: NDArray[Any]


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
        gain = np.zeros_like(own)
        gain[1:] += (
            order.together
            * own[:-1]
            * np.where(order.asks[:-1], np.float32(BEFORE + REPLY), np.float32(BEFORE))
        )
        gain[:-1] += order.together * own[1:] * np.float32(AFTER)
        gain += np.repeat(np.float32(SESSION) * np.maximum.reduceat(own, order.starts), order.sizes)
        for named in self._speakers.within(terms):
            gain += np.float32(SPEAKER) * ((order.speaker == named) & (own > 0))
        whole = (own + gain) * order.long - np.float32(ASKS) * order.asks * own
        # What is beyond FULL comes ever closer to 1: turns keep their order, and nothing is more than certain.
        over = np.flatnonzero(whole > FULL)
        whole[over] = 1 - (1 - FULL) * np.exp((FULL - whole[over]) / (1 - FULL))
        mixed = scores.copy()
        mixed[order.places] = np.maximum(whole, 0)
        return mixed

    def around(self, places: Any, upper: Any, lower: Any) -> Any:
        """All places whose scores (between `lower` and `upper`) the mix of `places` depends on, these included."""
        import numpy as np

        order = self.order
        if order is None:
            return places
        at = order.position[places]
        at = at[at >= 0]
        last = len(order.places) - 1
        asked = np.zeros(len(order.places), bool)
        asked[at] = asked[np.maximum(at - 1, 0)] = asked[np.minimum(at + 1, last)] = True
        # Of the rest of a session only the best counts, and only what may be the best has to be known.
        session = np.zeros(len(order.starts), bool)
        session[np.searchsorted(order.starts, at, "right") - 1] = True
        surely = np.maximum.reduceat(lower[order.places], order.starts)
        surely[~session] = np.inf
        asked |= upper[order.places] >= np.repeat(surely, order.sizes)
        return np.union1d(places, order.places[asked])


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
    return _Order(
        places,
        position,
        starts,
        np.diff(starts, append=len(places)),
        session[1:] == session[:-1],
        columns["asks"][places],
        np.float32(1) + np.float32(LONG) * (length - np.float32(TYPICAL)),
        columns["speaker"][places],
    )
