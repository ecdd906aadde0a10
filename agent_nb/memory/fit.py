"""What fits a question beyond its words: the time it names, the kind of memory it asks for, the newer of two."""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import dates
from .store import TYPE_CODES
from .text import tokens

if TYPE_CHECKING:
    from .query import Query

DAY, MONTH, LONGER = 0.4, 0.25, 0.15
"""Part of what is missing to 1 that a record gains which happened in a range of that length."""
ONLY_DATED = 0.6
"""Similarity of a record of the range where the question names nothing but a time; others count half."""
CLEAR = 0.2
"""Only above this similarity a record of the range gains: a date alone lifts nothing over the floor."""
KIND = 0.04
"""Gain of the score where the record is of the kind that is asked for."""
NEAR = 0.75
"""A newer statement overtakes an older one that is not more similar to the question than by this factor."""
SAME = 0.5
"""Two statements that share this part of the shorter one's terms speak of one thing."""

_KINDS = {
    "preference": r"\b(?:do|would|did) i (?:like|prefer|love|hate|want|enjoy)|\bmy favou?rite|\bprefer"
    r"|我(?:不|最)?(?:喜欢|爱|讨厌)|偏好|习惯",
    "constraint": r"\b(?:rules?|allowed|must|may (?:i|we|not)|forbidden|required|permitted|never)\b"
    r"|规定|允许|必须|禁止|不许|不能|不得|可不可以",
    "decision": r"\b(?:decid|decision|agreed?\b|settled)|决定|定了|决议|拍板",
    "episode": r"\b(?:what happened|when did|who came|where did)|发生|去了哪|什么时候.*[的了]",
    "experience": r"\b(?:last time|how did we (?:fix|solve)|went wrong|lesson)|上次|怎么(?:解决|处理)|教训",
    "profile": r"\b(?:who am i|my name|do i live|my (?:wife|husband|boss|job))|我(?:叫|住|家|的(?:名字|工作|老家))",
}
_ASKS_FOR = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _KINDS.items()}
LASTING = frozenset(TYPE_CODES[kind] for kind in ("fact", "preference", "profile", "constraint"))
"""Codes of the types of which a newer statement takes the place of an older one."""


def dated(scores: Any, created: Any, query: Query) -> Any:
    """Scores (float32 (n,)) once what happened in the ranges of the question has gained. `created`: seconds."""
    import numpy as np

    if not query.dates:
        return scores
    inside, gain = within(created, query.dates), 0.0
    shortest = min(span.end - span.start for span in query.dates)
    gain = next(
        (g for days, g in ((2, DAY), (92, MONTH)) if shortest <= datetime.timedelta(days=days)), LONGER
    )
    if query.only_dated:
        return np.where(inside, np.maximum(scores, ONLY_DATED), scores * 0.5)
    # What hardly shares a word with the question is not what it asks for, whenever it happened.
    gained = scores + gain * (1 - scores) * np.clip((scores - CLEAR) / 0.1, 0, 1)
    return np.where(scores > 0, np.where(inside, gained, scores * (1 - gain / 2)), scores)


def within(created: Any, spans: Sequence[dates.Span]) -> Any:
    """Which of these moments (seconds, (n,)) lie in one of the ranges: bool (n,)."""
    import numpy as np

    found = np.zeros(len(created), bool)
    for span in spans:
        found |= (created >= span.start.timestamp()) & (created < span.end.timestamp())
    return found


def kinds(question: str) -> frozenset[str]:
    """The types of memory that a question asks for; none where it does not tell."""
    return frozenset(kind for kind, pattern in _ASKS_FOR.items() if pattern.search(question))


def same(one: str, other: str) -> bool:
    """Whether two statements speak of one thing: they share enough of the shorter one's terms."""
    first, second = _terms(one), _terms(other)
    return len(first & second) >= SAME * min(len(first), len(second))


@functools.lru_cache(maxsize=10_000)
def _terms(text: str) -> frozenset[str]:
    return frozenset(tokens(text)) or frozenset((text,))
