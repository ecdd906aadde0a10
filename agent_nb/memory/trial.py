"""Whether an embedder can be relied on: a half of a record, as a question, has to be nearest to that record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TRIED, FEWEST = 32, 8
"""Records that are halved at most, and records under which nothing can be told."""
BLIND, SEES = 0.75, 0.95
"""Share of the other records that a half's own record is nearer than: chance gives one half, 32 trials of it hardly
ever .75 (five deviations); above the second an embedder counts in full."""
SHORTEST = 8


def chosen(texts: Sequence[str]) -> list[int]:
    """Which of the texts are tried: spread over all that are long enough."""
    long = [i for i, text in enumerate(texts) if len(text) >= SHORTEST]
    return [long[i * len(long) // TRIED] for i in range(TRIED)] if len(long) > TRIED else long


def half(text: str) -> str:
    """The first half of a text, whole words where it has some."""
    cut = text[: (len(text) + 1) // 2]
    return cut.rsplit(" ", 1)[0] or cut


def trust(questions: Any, rows: Any, own: Sequence[int]) -> float:
    """0 for what finds by chance or the wrong, 1 for what finds the record nearly always.

    Args:
        questions: float32 (m, dim), of the halves. rows: float32 (n, dim), of the records. own: places in `rows`.
    """
    import numpy as np

    if len(own) < FEWEST:
        return 1.0
    cosines = questions @ rows.T
    right = cosines[np.arange(len(own)), own][:, None]
    # What an embedder cannot tell apart it does not find: equal cosines count half.
    nearer = ((cosines < right - 1e-6).sum(1) + 0.5 * (abs(cosines - right) <= 1e-6).sum(1) - 0.5) / (
        len(rows) - 1
    )
    return float(np.clip((nearer.mean() - BLIND) / (SEES - BLIND), 0, 1))
