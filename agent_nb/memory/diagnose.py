"""Why a question did not recall what it should: the break, the number that decided, and what would change it.

Four things can have gone wrong with something that was told once: it was not written, not recalled, not injected
into the window, or it stood there and was ignored. What is named as a remedy was tried before it is named.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Sequence
from typing import Any

from ..tokens import estimate_tokens
from . import forget, load, relevance, teams
from .record import MemoryRecord
from .text import normal, tokens

Json = dict[str, Any]

BREAKS = ("", "not_written", "not_recalled", "not_injected", "ignored")
ALIKE = 0.5
"""Share of the question's terms that a record must hold to be what was meant."""
_BUDGET = 10**9


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """Where the way of a memory broke.

    Args:
        broke: one of BREAKS; "" where nothing did.
        explanation, change: sentences: what happened, with the number that decided; what to do about it.
        records: dicts of id, text, reason.
        gate: query, candidates, score or budget, where one of them decided, else "".
        setting: arguments of `Memory.recall` under which the record enters; tried, and found to work.
    """

    question: str
    broke: str
    explanation: str
    change: str
    records: tuple[Json, ...] = ()
    gate: str = ""
    setting: Json = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.explanation} {self.change}".strip()


def why(memory: Any, question: str, run: Json | None = None, **asked: Any) -> Diagnosis:
    """Walk the way of what the question means, and name where it broke.

    Args:
        run: what a run did with this question, as plain values: memory (dicts of id and text that stood in its
            window), answer, left_out (dicts of text, reason) and note (why memory was not read, or "").
        asked: the arguments under which it was recalled: k, budget, threshold, types, now.
    """
    recall = memory.recall(question, **asked)
    terms = set(tokens(question))
    now = {name: value for name, value in asked.items() if name == "now"}
    whole = memory.recall(question, k=10_000, budget=_BUDGET, threshold=0, **now)
    got = {hit.record.id: hit for hit in recall}
    missed = [hit for hit in whole if hit.record.id not in got and _meant(hit, terms)]
    best = max(missed, key=lambda hit: _share(hit.record.text, terms) + hit.similarity, default=None)
    top = max((_share(hit.record.text, terms) + hit.similarity for hit in recall), default=-1.0)
    ended = _ended(memory, terms)
    if run is not None and (found := _of_run(question, run, recall, terms)):
        return found
    if best and _share(best.record.text, terms) + best.similarity > top + 0.05:
        return _at_a_gate(memory, question, asked, recall, best)
    least = max((_share(hit.record.text, terms) for hit in recall), default=0.0)
    if ended and _share(ended[0].text, terms) > least:
        return _no_longer(memory, question, ended[0])
    if recall.hits:
        rows = tuple(_row(hit.record, hit.reason) for hit in recall)
        return Diagnosis(question, "", f"Recalled for this: {len(rows)}.", "", rows)
    return _not_written(memory, question, terms, run)


def _of_run(question: str, run: Json, recall: Any, terms: set[str]) -> Diagnosis | None:
    """What that run did with what is recalled now; None where nothing is recalled that it could have used."""
    if run.get("note"):
        said = f"That run had nothing of the memory: {run['note']}."
        return Diagnosis(question, "not_recalled", said, "Run it again with the memory.", gate="query")
    inside = {row["id"]: row for row in run.get("memory") or ()}
    hits = sorted(recall, key=lambda hit: -_share(hit.record.text, terms))
    if not hits:
        return None
    record = hits[0].record
    rows = (_row(record, hits[0].reason),)
    if record.id not in inside:
        said = (
            f"{record.id} is recalled for this now, but did not stand in that run's window: it was written at "
            f"{record.recorded:%Y-%m-%d %H:%M} UTC."
        )
        return Diagnosis(question, "not_injected", said, "Ask again: it enters now.", rows, "budget")
    answer = str(run.get("answer") or "")
    if _used(record, answer, terms):
        said = f"{record.id} stood in the window, and the answer uses it."
        return Diagnosis(question, "", said, "", rows)
    said = f"{record.id} stood in the window, and the answer says nothing of it: the model ignored it."
    change = "Ask for it by name, say it shorter (%memory edit), or make it a constraint, which stands in every window."
    return Diagnosis(question, "ignored", said, change, rows)


def _used(record: MemoryRecord, answer: str, asked: set[str]) -> bool:
    """Whether an answer holds what the record adds to the question."""
    numbers = set(re.findall(r"\d+(?:[.,]\d+)*", record.text)) - set(
        re.findall(r"\d+(?:[.,]\d+)*", " ".join(asked))
    )
    if numbers:
        return any(re.search(rf"(?<!\d){re.escape(n)}(?!\d)", answer) for n in numbers)
    adds = set(tokens(record.value or record.text)) - asked or set(tokens(record.text))
    return len(adds & set(tokens(answer))) >= max(1, math.ceil(len(adds) / 3))


def _at_a_gate(memory: Any, question: str, asked: Json, recall: Any, hit: Any) -> Diagnosis:
    """An active record that some gate held back: which, by what number, and the settings that let it in."""
    score = recall.gates[2]
    k, budget, types = asked.get("k", 5), asked.get("budget", 600), asked.get("types")
    record, gate = hit.record, ""
    setting: Json = {}
    said: list[str] = []
    if types is not None and record.type not in types:
        setting["types"] = [*types, record.type]
        gate, said = (
            "candidates",
            [f"it is of type {record.type}, and only {', '.join(types)} were asked for"],
        )
    needed = math.floor(100 * min(hit.score, hit.similarity)) / 100
    floor = score["floor"] if asked.get("threshold") is not None else max(score["floor"], hit.needed)
    if hit.score < score["threshold"] or hit.similarity < floor:
        gate = gate or "score"
        setting["threshold"] = max(0.0, needed)
        said.append(
            f"its score is {hit.score:.2f} (threshold {score['threshold']:g}) and its similarity"
            f" {hit.similarity:.2f} (floor {score['floor']:g})"
        )
        said += [relevance.told(hit.needed)] if hit.similarity < floor and floor > score["floor"] else []
    setting, sides = _room(memory, question, asked, setting, hit)
    if "k" in setting:
        said.append(f"{sides['before']} records stand before it, and k is {k}")
        gate = gate or "budget"
    if "budget" in setting:
        cost = estimate_tokens(load.line(record, load.Question("", now=asked.get("now")).moment(), hit.note))
        said.append(f"it takes {cost} tokens, and {recall.tokens} of the budget of {budget} were used")
        gate = gate or "budget"
    reasons = "; ".join([*said, *_standing(memory, record)])
    broke = "not_injected" if gate == "budget" else "not_recalled"
    told = ", ".join(f"{name}={value!r}" for name, value in setting.items())
    change = f"recall(…, {told}) lets it in." if told else "Ask with its words."
    whose = f" ({teams.shown(record.user)})" if teams.shown(record.user) else ""
    explanation = f"{record.id}{whose} was held back at gate {gate or 'candidates'}: {reasons}."
    return Diagnosis(
        question, broke, explanation, change, (_row(record, hit.reason),), gate or "candidates", setting
    )


def _room(memory: Any, question: str, asked: Json, setting: Json, hit: Any) -> tuple[Json, Json]:
    """The smallest k and budget under which the record enters, beside what is set already; each is tried."""
    k, budget = asked.get("k", 5), asked.get("budget", 600)
    open_ = asked | setting | {"k": 10_000, "budget": _BUDGET}
    ids = [each.record.id for each in memory.recall(question, **open_)]
    if hit.record.id not in ids:
        return setting, {}
    rank = ids.index(hit.record.id) + 1
    if rank > k:
        setting = setting | {"k": rank}
    tight = memory.recall(question, **(asked | setting | {"k": max(k, rank), "budget": budget}))
    if hit.record.id not in [each.record.id for each in tight]:
        free = memory.recall(question, **(asked | setting | {"k": rank, "budget": _BUDGET}))
        setting = setting | {"budget": free.tokens, "k": max(k, rank)}
        if max(k, rank) == k:
            del setting["k"]
            more = memory.recall(question, **(asked | setting))
            if hit.record.id not in [each.record.id for each in more]:
                setting["budget"] = memory.recall(question, **(asked | setting | {"budget": _BUDGET})).tokens
    return setting, {"before": rank - 1}


def _standing(memory: Any, record: MemoryRecord) -> list[str]:
    """What else weighs on a record: long unused, or without a vector yet."""
    stands = forget.standing(record, load.Question("").moment())
    said = [f"it is {stands}: long unused"] if stands else []
    if memory.stats().get("embedder") and not record.embedder:
        said.append("it waits for its vector and is found by its words only")
    return said


def _ended(memory: Any, terms: set[str]) -> list[MemoryRecord]:
    """Records that are no longer or not yet active and hold most of the question's terms, the nearest first."""
    if not terms:
        return []
    records = [r for status in ("pending", "superseded", "revoked") for r in memory.search(status=status)]
    records = [record for record in records if _share(record.text, terms) >= ALIKE]
    return sorted(records, key=lambda record: -_share(record.text, terms))


def _no_longer(memory: Any, question: str, record: MemoryRecord) -> Diagnosis:
    rows = (_row(record, record.status),)
    if record.status == "pending":
        said = f"{record.id} is pending: it contradicts another one and waits for your word."
        change = f"%memory resolve {record.id} keep"
    elif record.status == "superseded":
        chain = memory.history(record.id)
        head = chain[-1].id if chain else record.superseded_by
        said = f"{record.id} was superseded by {record.superseded_by or head}; only the head of a history is recalled."
        change = f"%memory history {record.id} shows what took its place."
    else:
        said, change = f"{record.id} was taken back (revoked).", "Tell it again: %memory add …"
    return Diagnosis(question, "not_recalled", said, change, rows, "candidates")


def _not_written(memory: Any, question: str, terms: set[str], run: Json | None) -> Diagnosis:
    for text, reason in _left_out(memory, run):
        if _share(text, terms) >= ALIKE or (text == "…" and run is not None):
            said = f"It was left out when the run was written back: {reason}."
            rows = ({"id": "", "text": text, "reason": reason},)
            return Diagnosis(
                question, "not_written", said, "Say it outright: remember …, or %memory add …", rows
            )
    for row in memory.queue():
        if _share(row["goal"], terms) >= ALIKE:
            said = f"The turn that tells it still waits to be distilled ({row['state']}, tried {row['tries']} times"
            said += f": {row['error']})." if row["error"] else ")."
            rows = ({"id": "", "text": row["goal"], "reason": f"queued as {row['n']}"},)
            return Diagnosis(
                question, "not_written", said, "%memory queue shows it; or say it outright.", rows
            )
    said = "No record says anything about it."
    return Diagnosis(question, "not_written", said, "Tell it: remember …, or %memory add …")


def _left_out(memory: Any, run: Json | None) -> list[tuple[str, str]]:
    """What consolidation did not write, with its reason: of that run, then whatever the log tells."""
    found = [
        (str(row.get("text", "")), str(row.get("reason", ""))) for row in (run or {}).get("left_out") or ()
    ]
    for row in reversed(memory.log()[-2_000:]):
        try:
            detail = json.loads(row["detail"]) if isinstance(row["detail"], str) else row["detail"]
        except ValueError:
            continue
        details: Sequence[Any] = detail.get("left_out") or [detail] if isinstance(detail, dict) else []
        found += [
            (str(each["text"]), str(each["reason"]))
            for each in details
            if isinstance(each, dict) and each.get("text") and each.get("reason")
        ]
    return found


def _meant(hit: Any, terms: set[str]) -> bool:
    return _share(hit.record.text, terms) > 0 or hit.similarity > 0.1


def _share(text: str, terms: set[str]) -> float:
    return len(terms & set(tokens(text))) / len(terms) if terms else 0.0


def _row(record: MemoryRecord, reason: str) -> Json:
    return {"id": record.id, "text": record.text, "reason": reason}


def same_question(one: str, other: str) -> bool:
    """Whether two questions ask the same, by their words."""
    a, b = set(tokens(one)), set(tokens(other))
    return normal(one) == normal(other) or bool(a and b and len(a & b) >= 0.6 * len(a | b))
