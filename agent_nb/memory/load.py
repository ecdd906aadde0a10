"""Recall: a question goes through four gates, and each keeps what entered, what left and why."""

from __future__ import annotations

import dataclasses
import datetime
import html
import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ..tokens import estimate_tokens
from . import forget, teams
from .index import Index
from .record import MemoryRecord
from .text import tokens

Json = dict[str, Any]

WEIGHTS = (0.5, 0.3, 0.2)
"""Parts of similarity, importance and freshness in the score."""
THRESHOLD = 0.35
FLOOR = 0.2
"""A record less similar than this does not enter, however important and fresh it is."""
NAMED = 0.6
"""Similarity of a record whose subject the question names: a definition belongs to its term."""
DECAY = 0.07
"""λ of e^(−λ·days since last access)."""
CANDIDATES = 20
LISTED = 40
EMBEDDED = 0.75
"""Most that an embedding alone can say: words that match say more."""
_SOURCE = {"user_explicit": 1.0, "import": 0.7, "task": 0.5, "tool": 0.4}
_FENCE = str.maketrans({"<": "‹", ">": "›"})


@dataclasses.dataclass(frozen=True)
class Hit:
    """A record that came through all gates; all scores are in 0…1."""

    record: MemoryRecord
    score: float
    similarity: float
    importance: float
    freshness: float
    reason: str
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Recall:
    """What a question recalled. Iterable of hits, the best first.

    Args:
        text: the block for the window, a record a line. tokens: what it costs.
        gates: four dicts of name, entered, left, why and details: query, candidates, score, budget.
        ms: milliseconds it took.
    """

    query: str
    hits: tuple[Hit, ...]
    text: str
    tokens: int
    gates: tuple[Json, ...]
    ms: float

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def _repr_html_(self) -> str:
        gates = "".join(
            f"<li><b>{g['name']}</b> {g['entered']} → {g['left']}: {html.escape(g['why'])}</li>"
            for g in self.gates
        )
        hits = "".join(f"<li>{hit.score:.2f} {html.escape(hit.record.text)}</li>" for hit in self.hits)
        whole = f"<div><ol>{gates}</ol><ul>{hits or '<li>nothing</li>'}</ul></div>"
        return whole.encode("utf-8", "replace").decode()


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked of the gates."""

    text: str
    k: int = 5
    budget: int = 600
    threshold: float | None = None
    types: Sequence[str] | None = None
    now: datetime.datetime | None = None
    decay: float = DECAY

    def moment(self) -> datetime.datetime:
        """When it is asked."""
        return self.now or datetime.datetime.now(datetime.UTC)


@dataclasses.dataclass(frozen=True)
class Gathered:
    """What came through the first three gates: what each kept, and the hits, the best first; `scope` of a team's."""

    gates: list[Json]
    passed: list[Hit]
    scope: str = ""


def gather(question: Question, index: Index, embedder: Any) -> Gathered:
    """Walk the first three gates over one owner's index; nothing in the store changes."""
    now = question.moment()
    terms = list(dict.fromkeys(tokens(question.text)))
    gates: list[Json] = [_query_gate(question.text, terms)]
    found = _candidates(question, terms, index, embedder, now, gates)
    passed = _scored(question, found, index, now, gates)
    return Gathered(gates, passed)


def finish(question: Question, found: Gathered, started: float) -> Recall:
    """The fourth gate, and the block for the window. `started`: when the recall began (perf_counter)."""
    gates = list(found.gates)
    hits, used = _within_budget(question, found.passed, gates)
    text = "\n".join(line(hit.record, question.moment(), hit.note) for hit in hits)
    ms = round((time.perf_counter() - started) * 1000, 2)
    return Recall(question.text, tuple(hits), text, used, tuple(gates), ms)


def line(record: MemoryRecord, now: datetime.datetime, note: str = "") -> str:
    """A record as it stands in the window. It is data: it can neither end its line nor its fence."""
    whole = record.text.encode("utf-8", "replace").decode()
    text = " ".join(whole.split()).translate(_FENCE)
    when = f"{record.created:%Y-%m-%d}{_age((now - record.created).days)}"
    parts = [record.type, when, record.source, record.id]
    parts += ([teams.shown(record.user)] if teams.shown(record.user) else []) + ([note] if note else [])
    return f"- [{' · '.join(parts)}] {text}"


def _age(days: int) -> str:
    if days < 1:
        return ""
    told = f"{days} d" if days < 60 else f"{days // 30} months" if days < 730 else f"{days // 365} years"
    return f" ({told} ago)"


def _query_gate(text: str, terms: list[str]) -> Json:
    shown = " ".join(terms[:30]) or "nothing to look for"
    return {
        "name": "query",
        "entered": len(text),
        "left": len(terms),
        "why": f"terms: {shown}",
        "terms": terms,
    }


def _candidates(
    question: Question,
    terms: list[str],
    index: Index,
    embedder: Any,
    now: datetime.datetime,
    gates: list[Json],
) -> dict[int, tuple[float, str]]:
    """Gate 2: place → (similarity, reason) of the lexical and embedding candidates that are still valid."""
    import numpy as np

    valid, expired, other = index.valid(now, question.types)
    lexical = index.lexical(terms)
    semantic = _semantic(question.text, index, embedder)
    # Never below lexical alone, however weak the embedder is; each fills part of what the other leaves open.
    own = lexical + (1 - lexical) * EMBEDDED * semantic * semantic
    mixed = np.where(valid, index.sessions.mixed(own, index.lengths, terms), -1)
    keep = max(CANDIDATES, 4 * question.k)
    top = _best(np.where(valid, lexical, 0), keep, 0)
    near = _best(np.where(valid, semantic, -1), keep, -1) if embedder is not None else set()
    named = {i for i in index.naming(terms) if valid[i]}
    found = {}
    for i in _best(mixed, keep, 0) | top | near | named:
        found[i] = _similarity(float(mixed[i]), float(own[i]), float(lexical[i]), i in named)
    out = {"expired": expired, "other type": other, **index.out}
    gone = ", ".join(f"{n} {name}" for name, n in out.items() if n)
    both = len(top & set(near))
    why = f"lexical {len(top)} · embedding {len(near)} · both {both}" + (f"; out: {gone}" if gone else "")
    gates.append(
        {
            "name": "candidates",
            "entered": index.active,
            "left": len(found),
            "why": why,
            "lexical": len(top),
        }
        | {"embedding": len(near), "both": both, "out": out}
    )
    return found


def _semantic(text: str, index: Index, embedder: Any) -> Any:
    """0…1 of every place: 0 where the cosine is one of unrelated texts, 1 where it is one of equal texts."""
    import numpy as np

    if embedder is None or index.vectors is None or not text.strip():
        return np.zeros(len(index.rows), np.float32)
    vector = embedder.question(text)
    if vector is None:
        return np.zeros(len(index.rows), np.float32)
    low, high = embedder.scale(index.active)
    cosines = index.semantic(vector)
    return np.clip((cosines - low) / (high - low), 0.0, 1.0)


def _best(scores: Any, keep: int, over: float) -> set[int]:
    """Places of the `keep` highest scores above `over`; of equal ones the earlier."""
    import numpy as np

    if len(scores) > 4 * keep:
        line = max(float(np.partition(scores, -keep)[-keep]), over)
        among = np.flatnonzero(scores >= line)
    else:
        among = np.arange(len(scores))
    among = among[scores[among] > over]
    return set(among[np.argsort(-scores[among], kind="stable")][:keep].tolist())


def _similarity(mixed: float, own: float, lexical: float, named: bool) -> tuple[float, str]:
    if named and mixed < NAMED:
        return NAMED, "the question names its subject"
    if mixed > own * 1.5 and mixed - own > 0.1:
        return mixed, f"what was said around it {mixed:.2f}"
    return mixed, f"words {lexical:.2f}" if lexical >= own / 2 else f"meaning {own:.2f}"


def _scored(
    question: Question,
    found: dict[int, tuple[float, str]],
    index: Index,
    now: datetime.datetime,
    gates: list[Json],
) -> list[Hit]:
    threshold = THRESHOLD if question.threshold is None else question.threshold
    floor = FLOOR if question.threshold is None else min(FLOOR, question.threshold)
    hits = []
    for i, (similarity, reason) in found.items():
        record = index.record(i)
        parts = (similarity, importance(record), freshness(record, now, question.decay))
        score = sum(weight * part for weight, part in zip(WEIGHTS, parts, strict=True))
        if stands := forget.standing(record, now):
            score *= forget.FACTOR[stands]
            reason += f" · {stands}: long unused"
        shown = [round(part, 4) for part in parts]
        hits.append(Hit(record, round(score, 4), shown[0], shown[1], shown[2], reason))
    hits.sort(key=lambda hit: (-hit.score, hit.record.recorded, hit.record.id))
    passed = [hit for hit in hits if hit.similarity >= floor and hit.score >= threshold]
    kept = {hit.record.id for hit in passed}
    under = [hit for hit in hits if hit.record.id not in kept]
    best = f"; the best of {len(under)} under the line had {under[0].score:.2f}" if under else ""
    gates.append(
        {
            "name": "score",
            "entered": len(hits),
            "left": len(passed),
            "why": f"score ≥ {threshold:g}, similarity ≥ {floor:g}{best}",
        }
        | {
            "threshold": threshold,
            "floor": floor,
            "listed": [row(hit, hit.record.id in kept) for hit in hits[:LISTED]],
        }
        | {"unlisted": max(0, len(hits) - LISTED)}
    )
    return passed


def row(hit: Hit, passed: bool) -> Json:
    """A hit as gate 3 lists it."""
    names = ("score", "similarity", "importance", "freshness", "reason")
    return {
        "id": hit.record.id,
        "text": hit.record.text[:200].encode("utf-8", "replace").decode(),
        "passed": passed,
    } | {n: getattr(hit, n) for n in names}


def _within_budget(question: Question, passed: list[Hit], gates: list[Json]) -> tuple[list[Hit], int]:
    """Gate 4: whole records only; one that does not fit is skipped, and the next may still."""
    hits: list[Hit] = []
    skipped: list[Json] = []
    used = 0
    for hit in passed:
        if len(hits) >= question.k:
            break
        cost = estimate_tokens(line(hit.record, question.moment(), hit.note))
        if used + cost > question.budget:
            skipped.append({"id": hit.record.id, "tokens": cost})
            continue
        hits.append(hit)
        used += cost
    rest = len(passed) - len(hits) - len(skipped)
    why = f"{used} of {question.budget} tokens, at most {question.k} records"
    why += f"; {len(skipped)} did not fit" if skipped else ""
    why += f"; {rest} more were over the threshold" if rest else ""
    gates.append(
        {"name": "budget", "entered": len(passed), "left": len(hits), "why": why, "used": used}
        | {"budget": question.budget, "k": question.k, "skipped": skipped[:LISTED]}
    )
    return hits, used


def importance(record: MemoryRecord) -> float:
    """0…1 from weight, source, hits and mentions."""
    used = 1 - math.exp(-0.25 * record.hits)
    said = 1 - math.exp(-0.7 * (record.mentions - 1))
    return min(1.0, 0.45 * record.weight + 0.25 * _SOURCE.get(record.source, 0.4) + 0.15 * used + 0.15 * said)


def freshness(record: MemoryRecord, now: datetime.datetime, decay: float = DECAY) -> float:
    """e^(−λ·days since it was last used or written)."""
    last = max(record.last_access or record.recorded, record.recorded)
    return math.exp(-decay * max(0.0, (now - last).total_seconds() / 86_400))
