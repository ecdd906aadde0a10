"""What of a finished turn is written, in one transaction: by rules at once, by a model from the queue.

Four things promote a statement to long-term memory: that the user asks for it, that it is the evidenced conclusion of
a task, that it was said three times, that it put an error right. An executed write is remembered, too. Everything
else stays short-term.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from . import claims, consolidate, distill, draft, heard, queue, store, writing
from .consolidate import Turn
from .record import MemoryRecord
from .text import normal

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Draft:
    """A record that may be written. `said` is set where it has to be said three times first."""

    record: MemoryRecord
    said: heard.Said | None = None


def drafts(user: str, turn: Turn) -> tuple[list[Draft], list[Json]]:
    """What rules find in a turn, and what they leave out."""
    proposed, left_out = consolidate.propose(turn)
    found = [Draft(_record(user, turn, row)) for row in proposed]
    asked = [normal(text) for text in consolidate.statements(turn.goal)]
    for said in heard.statements(turn.goal, turn.after_failure):
        if consolidate.statements(said.text) or any(normal(said.text) in text for text in asked):
            continue
        proof = {"text": said.text[:500], "source": "goal", "run": turn.run}
        row = {"text": said.text, "type": consolidate.kind(said.text), "source": "user_explicit"}
        found.append(Draft(_record(user, turn, row | {"evidence": [proof]}), said))
    return found, left_out


def distilled(user: str, turn: Turn, items: Sequence[Json]) -> tuple[list[Draft], list[Json]]:
    """What a model found in a turn, as far as the checks let it pass, and what they leave out."""
    kept, left_out = distill.checked(items, turn)
    found = []
    for item in kept:
        source = {"user": "user_explicit"}.get(item["source"], item["source"])
        record = _record(user, turn, {**item, "source": source})
        if source == "tool":  # somebody else's words: they wait for the user's approval
            record = dataclasses.replace(record, status="pending")
        claim = claims.read(record.text)
        topic = claim.topic if claim else f"text {normal(record.text)}"
        found.append(Draft(record, heard.Said(record.text, topic) if item["source"] == "user" else None))
    return found, left_out


def write(
    db: Any, turn: Turn, found: Sequence[Draft], vectors: Sequence[store.Vectors], embedder: str
) -> tuple[list[Json], list[Json], list[MemoryRecord]]:
    """Write the drafts: dicts of id, text, type, source, action; those that stay short-term; the records."""
    written, left_out, records = [], [], []
    for one, made in zip(found, vectors, strict=True):
        record = one.record
        same = writing.same(db, record)
        if same and same.run == turn.run and turn.run:
            continue  # this turn has written it already
        if one.said and not same and not one.said.corrects:
            times = heard.count(db, record.user, one.said, turn.session, turn.run)
            if times < heard.TIMES:
                why = f"said {times} of {heard.TIMES} times: it stays short-term"
                left_out.append({"text": record.text[:200], "reason": why})
                continue
            heard.drop(db, record.user, one.said.topic)
        record, action = writing.place(db, record, made, embedder)
        row = {"id": record.id, "text": record.text, "type": record.type, "source": record.source}
        written.append(row | {"action": action})
        records.append(record)
    return written, left_out, records


def taken_back(db: Any, user: str, turn: Turn) -> list[Json]:
    """What was said in this session no longer counts, where the user takes it back."""
    if not heard.takes_back(turn.goal):
        return []
    gone = heard.forget(db, user, turn.session)
    return [{"text": f"{gone} statements of this session", "reason": "you took them back"}] if gone else []


def ended(db: Any, user: str, n: int, turn: Turn, written: Sequence[Json]) -> None:
    """A queued turn is done, in the transaction that wrote what it yielded."""
    queue.end(db, user, n)
    store.note(db, user, "distilled", "", run=turn.run, written=len(written))


def _record(user: str, turn: Turn, row: Json) -> MemoryRecord:
    row = dict(row)
    confidence = row.pop("confidence", 1.0)
    record = draft.new(user, row | {"session": turn.session, "run": turn.run})
    return dataclasses.replace(record, confidence=confidence)
