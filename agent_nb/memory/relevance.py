"""How similar a record must be to be recalled by itself: the less of the question it holds, the more similar.

One word in common is no reason in most cases ("why is the sky blue?", and charts in the company's blue), two are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .text import is_han
from .vocabulary import GENERAL, MEASURES, ORDINARY, ORDINARY_HAN, WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .synonyms import Alternative

    Floats = NDArray[np.floating[Any]]

FLOOR = 0.2
"""A record less similar than this does not enter, however important and fresh it is."""
NEEDED = ((2.0, FLOOR), (1.0, 0.4), (0.5, 0.75))
"""Words of the question that a record holds, and the similarity that it needs then; with fewer, words count nothing."""
ONE_HAN = 0.25
"""Needed for one word of a Chinese question, whose other pairs of characters are no words in part."""
NOT_BY_WORDS = 1.01
MEANT = 0.25
"""What the embedder says alone, from which on the floor is enough."""
AROUND = 0.4
"""Needed where most was said around it: by the turns beside it in a conversation."""


def telling(term: str) -> float:
    """How many words a term counts for: an everyday word or a number half, a Chinese character half or less."""
    if is_han(term):
        if len(term) == 1:
            return 0.2 if term in ORDINARY_HAN else 0.5
        # Of a pair the characters count, but for those that are no terms by themselves.
        return 0.5 * (term in WORDS) + 0.5 * sum(char in MEASURES for char in term)
    if term in GENERAL or term in ORDINARY or (term.isdigit() and len(term) < 3):
        return 0.5
    return 1.0


def words(terms: Sequence[str], also: Sequence[Alternative]) -> dict[str, float]:
    """Term → how many words it counts for. A name that the user gave counts as two: it is a term of theirs."""
    found = {term: count for term in terms if (count := telling(term))}
    for other in also:
        whole = max(2.0, sum(map(telling, other.asked)))
        for term in other.terms:
            found[term] = max(found.get(term, 0.0), whole / len(other.terms))
    return found


def needed(held: Floats, lexical: Floats, meant: Floats, timely: Any, around: Any, *, han: bool) -> Floats:
    """The similarity (float32 (n,)) that each record needs.

    Args:
        held: words of the question in it. lexical, meant: 0…1, what words and the embedder say alone.
        timely: whether it happened in the time that is asked for; it needs half of the words then.
        around: whether most of its similarity comes from what was said around it.
        han: whether the question is Chinese.
    """
    import numpy as np

    count = np.where(timely, 2 * held, held)
    least = np.full(len(held), NOT_BY_WORDS, np.float32)
    for enough, similarity in reversed(NEEDED):
        least[count >= enough] = similarity
    if han:
        least[(count >= 1) & (count < 2) & (lexical >= ONE_HAN)] = ONE_HAN
    least[around] = np.minimum(least[around], AROUND)
    least[meant >= MEANT] = FLOOR
    return least


def told(least: float) -> str:
    """Why so much is needed, in words."""
    if least > 1:
        return "it holds no word of the question that tells anything"
    return f"with {'one word' if least < 0.5 else 'an everyday word'} of the question it needs {least:.2f}"
