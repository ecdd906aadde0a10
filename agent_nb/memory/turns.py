"""Episodes are turns of conversations: what stands beside a turn that matches may be the answer.

A turn gains from its neighbours of the same session, most as the reply to a question that matches, and a little
from its whole session; a turn that itself asks tells less. Nothing else than episodes is touched.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from typing import Any

from .text import tokens

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


class Sessions:
    """Which places are turns of which conversation, in order. Session 0 is none."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"": 0}
        self.of = array("i")
        self.asks = bytearray()
        self.speakers: dict[str, int] = {"": 0}
        self.speaker = array("i")

    def add(self, place: int, session: str, data: str) -> None:
        """Take in the next place; `session` is "" for whatever is no turn of a conversation."""
        self.of.append(self.numbers.setdefault(session, len(self.numbers)))
        text = json.loads(data)["text"] if session else ""
        self.asks.append(text.rstrip().endswith(("?", "？")))
        name = _SPEAKER.match(text)
        said_by = " ".join(tokens(name[1])) if name else ""
        self.speaker.append(self.speakers.setdefault(said_by, len(self.speakers)))

    def mixed(self, scores: Any, lengths: Any, terms: Sequence[str]) -> Any:
        """What each place scores (float32 (n,), 0…1) once turns have gained of those around them."""
        import numpy as np

        if len(self.numbers) == 1 or len(scores) < 2:
            return scores
        of, asks = np.frombuffer(self.of, np.int32), np.frombuffer(self.asks, np.uint8).astype(bool)
        gain = np.zeros_like(scores)
        together = (of[1:] == of[:-1]) & (of[1:] > 0)
        gain[1:] += together * scores[:-1] * np.where(asks[:-1], BEFORE + REPLY, BEFORE)
        gain[:-1] += together * scores[1:] * AFTER
        best = np.zeros(len(self.numbers), np.float32)
        np.maximum.at(best, of, scores)
        gain += SESSION * best[of]
        named = [number for name, number in self.speakers.items() if name and set(name.split()) <= set(terms)]
        if named:
            gain += SPEAKER * np.isin(np.frombuffer(self.speaker, np.int32), named) * (scores > 0)
        long = np.log1p(np.frombuffer(lengths, np.int32))
        whole = (scores + gain) * (1 + LONG * (long - TYPICAL)) - ASKS * asks * scores
        # What is beyond FULL comes ever closer to 1: turns keep their order, and nothing is more than certain.
        whole = np.where(whole > FULL, 1 - (1 - FULL) * np.exp((FULL - whole) / (1 - FULL)), whole)
        return np.where(of > 0, np.maximum(whole, 0), scores)
