"""How much a record matters by itself: who said it, how often it was said and used."""

from __future__ import annotations

import functools
import math

_SOURCE = {"user_explicit": 1.0, "import": 0.7, "task": 0.5, "tool": 0.4}


@functools.lru_cache(maxsize=10_000)
def importance_of(weight: float, source: str, hits: int, mentions: int) -> float:
    """0…1 from weight, source, hits and mentions."""
    used = 1 - math.exp(-0.25 * hits)
    said = 1 - math.exp(-0.7 * (mentions - 1))
    return min(1.0, 0.45 * weight + 0.25 * _SOURCE.get(source, 0.4) + 0.15 * used + 0.15 * said)
