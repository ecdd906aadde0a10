"""Long texts in pieces of whole sentences, each small enough for an encoder to read."""

from __future__ import annotations

import re

from ..tokens import estimate_tokens

LEAST, MOST = 256, 512
"""Tokens of a piece: it is ended by the first sentence that would take it over MOST; a text up to MOST is one piece."""

_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？；])|\n+")
_BREAKS = re.compile(r"(?<=\s)|(?<=[，、,;:：])|(?<=[\u3400-\u9fff])")


def pieces(text: str) -> list[str]:
    """The pieces of a text in order; [text] where it is short."""
    if len(text) <= MOST or estimate_tokens(text) <= MOST:
        return [text]
    found: list[str] = []
    held, size = "", 0
    for sentence in _sentences(text):
        cost = estimate_tokens(sentence)
        if held and size + cost > MOST:
            found.append(held)
            held, size = "", 0
        held, size = f"{held} {sentence}" if held and held[-1].isascii() else held + sentence, size + cost
    return [*found, held] if held else found


def _sentences(text: str) -> list[str]:
    whole = [part for part in _ENDS.split(text) if part.strip()]
    return [part for sentence in whole for part in _cut(sentence)]


def _cut(sentence: str) -> list[str]:
    """A sentence too long for one piece, broken between words; where there is no break, anywhere."""
    if len(sentence) <= LEAST or estimate_tokens(sentence) <= LEAST:
        return [sentence]
    step = max(1, LEAST * len(sentence) // estimate_tokens(sentence))
    parts, start = [], 0
    while start < len(sentence):
        end = start + step
        if end < len(sentence):
            breaks = [found.end() for found in _BREAKS.finditer(sentence, start + step // 2, end)]
            end = breaks[-1] if breaks and breaks[-1] > start else end
        parts.append(sentence[start:end])
        start = end
    return parts
