"""Why a question did not recall what it should: the break, the number that decided, and what would change it."""

from __future__ import annotations

import dataclasses
from typing import Any

from .text import tokens


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """`broke` is "", not_written, not_recalled or not_injected; `records`: dicts of id, text, reason."""

    question: str
    broke: str
    explanation: str
    change: str
    records: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        return f"{self.explanation} {self.change}".strip()


def why(memory: Any, question: str) -> Diagnosis:
    """Walk the gates for `question` and name the first one at which its best record was lost."""
    recall = memory.recall(question)
    terms = set(tokens(question))
    score, budget = recall.gates[2], recall.gates[3]
    if recall.hits:
        rows = tuple({"id": h.record.id, "text": h.record.text, "reason": h.reason} for h in recall.hits)
        return Diagnosis(question, "", f"Recalled for this: {len(rows)}.", "", rows)
    if budget["skipped"]:
        rows = tuple(
            {"id": s["id"], "text": "", "reason": f"{s['tokens']} tokens"} for s in budget["skipped"]
        )
        said = f"Records passed the threshold but not the budget of {budget['budget']} tokens."
        return Diagnosis(question, "not_injected", said, "Raise recall's budget.", rows)
    shared = [row for row in score["listed"] if terms & set(tokens(row["text"]))] or score["listed"][:1]
    best = shared[0] if shared else None
    if best and (terms & set(tokens(best["text"])) or best["similarity"] > 0.1):
        said = (
            f"The best candidate has similarity {best['similarity']:.2f} (floor {score['floor']:g}) and "
            f"score {best['score']:.2f} (threshold {score['threshold']:g})."
        )
        change = "Ask with its words, or lower recall's threshold."
        return Diagnosis(question, "not_recalled", said, change, tuple(shared[:5]))
    for record in (
        memory.search(status="pending") + memory.search(status="superseded") + memory.search(status="revoked")
    ):
        if terms and terms <= set(tokens(record.text)):
            said = f"A record about it is {record.status}."
            change = "%memory conflicts and %memory history show what became of it."
            row = {"id": record.id, "text": record.text, "reason": record.status}
            return Diagnosis(question, "not_recalled", said, change, (row,))
    return Diagnosis(question, "not_written", "No record says anything about it.", "Tell it: remember …")
