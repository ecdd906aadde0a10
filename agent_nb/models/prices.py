"""What tokens cost, as far as it was public on the day below; users can give prices of their own."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

AS_OF = "2026-11-30"
"""The day on which PRICES was read off the public price list."""


@dataclasses.dataclass(frozen=True)
class Price:
    """US dollars for a million tokens.

    Args:
        input: prompt tokens that were neither read from nor written to the cache.
        output: reply tokens, thinking included.
        cache_read, cache_write, cache_write_1h: factors on `input` (written for 5 minutes, for an hour).
        long_prompt: prompts of more tokens than this cost `long_factor` times as much; None: no such step.
    """

    input: float
    output: float
    cache_read: float = 0.1
    cache_write: float = 1.25
    cache_write_1h: float = 2.0
    long_prompt: int | None = None
    long_factor: float = 1.0


PRICES: dict[str, Price] = {
    "claude-haiku-5-5": Price(0.10, 0.50, long_prompt=100_000, long_factor=5.0),
    "claude-sonnet-5-5": Price(2.0, 10.0, cache_read=0.05),
    "claude-opus-5-5": Price(4.0, 20.0, cache_read=0.05),
    "claude-fable-5-1": Price(10.0, 50.0, cache_read=0.025),
    "claude-fable-5": Price(10.0, 50.0),
    "claude-opus-5": Price(5.0, 25.0),
    "claude-opus-4-8": Price(5.0, 25.0),
    "claude-opus-4-7": Price(5.0, 25.0),
    "claude-opus-4-6": Price(5.0, 25.0),
    "claude-sonnet-5": Price(2.0, 10.0),
    "claude-haiku-4-5": Price(1.0, 5.0),
}


def price_of(model: str, prices: Mapping[str, Price | tuple[float, float]]) -> Price | None:
    """The price of `model`, or of the model that it is a dated snapshot of; None where none is known."""
    found = prices.get(model, prices.get(re.sub(r"-\d{8}$", "", model)))
    return Price(*found) if isinstance(found, tuple) else found


def dollars(usage: Mapping[str, Any], price: Price) -> float:
    """US dollars of one call, `usage` in the Messages API's shape."""
    fresh, output, read, written = (
        int(usage.get(field) or 0)
        for field in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        )
    )
    hour = min(written, int((usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0))
    prompt = fresh + price.cache_read * read
    prompt += price.cache_write * (written - hour) + price.cache_write_1h * hour
    total = price.input * prompt + price.output * output
    if price.long_prompt is not None and fresh + read + written > price.long_prompt:
        total *= price.long_factor
    return total / 1_000_000
