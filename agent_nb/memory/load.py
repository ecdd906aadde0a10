"""Recall: a question goes through four gates, and each keeps what entered, what left and why."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import html
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..tokens import estimate_tokens
from . import candidates, chunks, draft, fit, forget, query, relevance, store, teams
from .candidates import Candidates, Meaning
from .importance import importance_of
from .index import Index
from .record import MemoryRecord
from .relevance import FLOOR
from .standing import DECAY
from .text import is_han

Json = dict[str, Any]

WEIGHTS = (0.5, 0.3, 0.2)
"""Parts of similarity, importance and freshness in the score."""
THRESHOLD = 0.35
NAMED = 0.6
"""Similarity of a record whose subject the question names: a definition belongs to its term."""
CANDIDATES = 20
LISTED = 40
BEGINNING = 60
"""Characters by which a piece of a long record is named."""
NEWER = 12
"""Hits among which the newer of two statements about one thing comes first."""
_FENCE = str.maketrans({"<": "‹", ">": "›"})


@dataclasses.dataclass(frozen=True)
class Hit:
    """A record that came through all gates; all scores are in 0…1.

    Args:
        needed: the similarity that the default threshold asks of it, see `relevance`.
    """

    record: MemoryRecord
    score: float
    similarity: float
    importance: float
    freshness: float
    reason: str
    note: str = ""
    needed: float = FLOOR


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
    ms: float
    told: Callable[[], tuple[Json, ...]] = dataclasses.field(repr=False, compare=False)

    @functools.cached_property
    def gates(self) -> tuple[Json, ...]:
        """What each gate did. Their rows are put into words when they are first asked for."""
        return self.told()

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
    read: query.Query | None = None

    def moment(self) -> datetime.datetime:
        """When it is asked."""
        return self.now or store.now()

    def asked(self) -> query.Query:
        """What gate 1 made of it."""
        return self.read or query.read(self.text, self.moment())


@dataclasses.dataclass(frozen=True)
class Gathered:
    """What came through the first three gates: the hits, the best first; `scope` of a team's.

    Args:
        told: what each gate kept; put into words when it is first asked for.
    """

    told: Callable[[], list[Json]]
    passed: Sequence[Hit]
    scope: str = ""

    @functools.cached_property
    def gates(self) -> list[Json]:
        """What each gate kept."""
        return self.told()


def gather(question: Question, index: Index, embedder: Any) -> Gathered:
    """Walk the first three gates over one owner's index; nothing in the store changes."""
    asked = question.asked()
    now = question.moment()
    found, gate = _candidates(question, asked, index, embedder, now)
    scored = Scored(question, asked, found, index, now)
    return Gathered(lambda: [asked.gate(len(question.text)), gate, scored.gate()], scored)


def finish(question: Question, found: Gathered, started: float) -> Recall:
    """The fourth gate, and the block for the window. `started`: when the recall began (perf_counter)."""
    hits, lines, used, budget = _within_budget(question, found.passed)
    ms = round((time.perf_counter() - started) * 1000, 2)
    return Recall(question.text, tuple(hits), "\n".join(lines), used, ms, lambda: (*found.gates, budget))


def line(record: MemoryRecord, now: datetime.datetime, note: str = "") -> str:
    """A record as it stands in the window. It is data: it can neither end its line nor its fence."""
    whole = record.text.encode("utf-8", "replace").decode()
    text = " ".join(whole.split()).translate(_FENCE)
    when = f"{record.created.date().isoformat()}{_age((now - record.created).days)}"
    parts = [record.type, when, record.source, record.id]
    parts += ([teams.shown(record.user)] if teams.shown(record.user) else []) + ([note] if note else [])
    return f"- [{' · '.join(parts)}] {text}"


def _age(days: int) -> str:
    if days < 1:
        return ""
    told = f"{days} d" if days < 60 else f"{days // 30} months" if days < 730 else f"{days // 365} years"
    return f" ({told} ago)"


def _candidates(
    question: Question, asked: query.Query, index: Index, embedder: Any, now: datetime.datetime
) -> tuple[Candidates, Json]:
    """Gate 2: the lexical and embedding candidates that are still valid."""
    valid, expired, other = index.valid(now, question.types)
    meaning = _meaning(asked.text, index, embedder)
    keep = max(CANDIDATES, 4 * question.k)
    created = index.columns["created"]

    def dated(scores: Any, places: Any) -> Any:
        return fit.dated(scores, created[places], asked)

    found = candidates.search(index, asked.terms, meaning, valid, keep, asked.also, dated)
    out = {"expired": expired, "other type": other, **index.out}
    gone = ", ".join(f"{n} {name}" for name, n in out.items() if n)
    top, near, both = len(found.words), len(found.near), len(found.words & found.near)
    why = f"lexical {top} · embedding {near} · both {both}" + (f"; out: {gone}" if gone else "")
    gate = {"name": "candidates", "entered": index.active, "left": len(found.places), "why": why}
    return found, gate | {"lexical": top, "embedding": near, "both": both, "out": out}


def _meaning(text: str, index: Index, embedder: Any) -> Meaning | None:
    import numpy as np

    if embedder is None or index.vectors is None:
        return None
    vector = embedder.question(text) if text.strip() else None
    low, high, trust = embedder.scale(index.active)
    # A question without a text is near to nothing; so is one that nothing embeds at the moment, and every one to an
    # embedder that does not even find the user's own records.
    if vector is None or not trust:
        vector = np.zeros(index.vectors.dim, np.float32)
    return Meaning(index, vector, low, high, trust)


class Scored(Sequence[Hit]):
    """Gate 3: the candidates that passed, the best first. A hit is made of its row when it is asked for."""

    def __init__(
        self,
        question: Question,
        asked: query.Query,
        found: Candidates,
        index: Index,
        now: datetime.datetime,
    ) -> None:
        import numpy as np

        self.threshold = THRESHOLD if question.threshold is None else question.threshold
        self._is_default = question.threshold is None
        self.floor = FLOOR if question.threshold is None else min(FLOOR, question.threshold)
        state, places = index.columns, found.places
        named = np.isin(places, list(found.named)) if found.named else np.zeros(len(places), bool)
        similarity = np.where(named & (found.mixed < NAMED), NAMED, found.mixed.astype(np.float64))
        importance, age = state["importance"][places], np.maximum(0, now.timestamp() - state["last"][places])
        freshness = np.exp(-question.decay * age / 86_400)
        score = WEIGHTS[0] * similarity + WEIGHTS[1] * importance + WEIGHTS[2] * freshness
        low = state["expires"][places] <= now.timestamp()
        rare = ~low & (age > forget.RARE_DAYS * 86_400)
        score[low] *= forget.FACTOR["low"]
        score[rare] *= forget.FACTOR["rare"]
        self._kind = np.zeros(len(places), bool)
        for kind in fit.kinds(asked.text):
            self._kind |= state["type"][places] == store.TYPE_CODES[kind]
        score[self._kind] = np.minimum(score[self._kind] + fit.KIND, 1)
        score, similarity = score.round(4), similarity.round(4)
        self._timely = fit.within(state["created"][places], asked.dates)
        needed = self._needed = _needed(asked, found, index, self._timely)
        if not self._is_default:
            needed = np.full(len(places), self.floor)
        passed = (similarity >= needed) & (score >= self.threshold)
        self._index, self._numbers = index, state["number"][places].tolist()
        self._rows: dict[int, str] = {}
        self._hits: dict[int, Hit] = {}
        order = np.lexsort((state["number"][places], -score)).tolist()
        types = state["type"][places].tolist()
        first = [at for at in order[:NEWER] if types[at] in fit.LASTING]
        order = self._read(order, order[: question.k] + (first if len(first) > 1 else []))
        self._order = self._newer_first(order, first, score, similarity, state, places)
        self._passed = [
            at for at in self._order if passed[at] or (at in self._newer and similarity[at] >= needed[at])
        ]
        self._subjects = state["subject"][places]
        self._values = [
            each.tolist() for each in (score, similarity, importance.round(4), freshness.round(4))
        ]
        self._why = [each.tolist() for each in (found.mixed, found.own, found.lexical, named)]
        self._low, self._rare = low, rare
        self._pieces = [found.pieces.get(place) for place in places.tolist()] if found.pieces else []

    def _read(self, order: list[int], wanted: Sequence[int]) -> list[int]:
        """Get the rows of those wanted. What another process erased a moment ago has none, and is left out."""
        numbers = [self._numbers[at] for at in wanted]
        self._rows |= self._index.rows(number for number in numbers if number not in self._rows)
        gone = {at for at, number in zip(wanted, numbers, strict=True) if number not in self._rows}
        return [at for at in order if at not in gone] if gone else order

    def __len__(self) -> int:
        return len(self._passed)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[at] for at in range(*i.indices(len(self))) if at < len(self)]
        if self._numbers[self._passed[i]] not in self._rows:
            self._passed = self._read(self._passed, self._passed)
        return self._hit(self._passed[i])

    def has_subjects(self, among: int) -> bool:
        """Whether two of the first `among` say of what they speak."""
        return int((self._subjects[self._passed[:among]] >= 0).sum()) > 1

    def _hit(self, at: int) -> Hit:
        if at not in self._hits:
            record = store.load(self._rows[self._numbers[at]])
            score, similarity, importance, freshness = (values[at] for values in self._values)
            why, needed = self._reason(at) + self._piece(at, record.text), round(float(self._needed[at]), 2)
            self._hits[at] = Hit(record, score, similarity, importance, freshness, why, needed=needed)
        return self._hits[at]

    def _reason(self, at: int) -> str:
        mixed, own, lexical, named = (each[at] for each in self._why)
        stands = "low" if self._low[at] else "rare" if self._rare[at] else ""
        said = [_reason(mixed, own, lexical, named)]
        said += ["of that time"] if self._timely[at] else []
        said += ["fits the kind of question"] if self._kind[at] else []
        said += ["newer"] if at in self._newer else []
        return " · ".join(said + ([f"{stands}: long unused"] if stands else []))

    def _piece(self, at: int, text: str) -> str:
        """Which piece of a long record matched, by its first words."""
        if not self._pieces or (found := self._pieces[at]) is None:
            return ""
        parts = chunks.pieces(draft.sendable(text))
        number, count = found
        began = " ".join(parts[number].split())[:BEGINNING] if number < len(parts) else ""
        return f" · piece {number + 1} of {count}: “{began}…”"

    def _newer_first(
        self, order: list[int], first: list[int], score: Any, similarity: Any, state: Any, places: Any
    ) -> list[int]:
        """The order with the newer of two lasting statements about one thing before the older one, with its score."""
        self._newer: set[int] = set()
        kinds, created = state["type"][places], state["created"][places]
        first = [at for at in first if self._numbers[at] in self._rows]
        for i, older in enumerate(first):
            for newer in first[i + 1 :]:
                if kinds[older] != kinds[newer] or created[newer] <= created[older]:
                    continue
                one, other = (store.load_text(self._rows[self._numbers[at]]) for at in (older, newer))
                if similarity[newer] >= fit.NEAR * similarity[older] and fit.same(one, other):
                    score[newer] = score[older]
                    order.remove(newer)
                    order.insert(order.index(older), newer)
                    self._newer.add(newer)
        return order

    def gate(self) -> Json:
        """What entered, what left and why."""
        self._order = self._read(self._order, self._order[:LISTED])
        entered, left = len(self._order), len(self._passed)
        kept = set(self._passed)
        under = [at for at in self._order if at not in kept]
        why = f"score ≥ {self.threshold:g}, similarity ≥ {self.floor:g}"
        why += " and more where a record holds few words of the question" if self._is_default else ""
        if under:
            near = self._hit(under[0])
            low = (
                f"score {near.score:.2f}"
                if near.score < self.threshold
                else f"similarity {near.similarity:.2f}"
            )
            if self._is_default and near.similarity < near.needed and near.needed > self.floor:
                low += f", and {relevance.told(near.needed)}"
            why += f"; {len(under)} fell short, the nearest with {low}"
        return {
            "name": "score",
            "entered": entered,
            "left": left,
            "why": why,
            "threshold": self.threshold,
            "floor": self.floor,
            "listed": [row(self._hit(at), at in kept) for at in self._order[:LISTED]],
            "unlisted": max(0, entered - LISTED),
        }


def _needed(asked: query.Query, found: Candidates, index: Index, timely: Any) -> Any:
    """The similarity that the default threshold asks of each candidate (float32 (n,))."""
    import numpy as np

    held = index.held(relevance.words(asked.terms, asked.also), found.places)
    meant = (found.own - found.lexical) / np.maximum(1 - found.lexical, np.float32(1e-6))
    around = (found.mixed > found.own * 1.5) & (found.mixed - found.own > 0.1)
    least = relevance.needed(held, found.lexical, meant, timely, around, han=any(map(is_han, asked.terms)))
    if asked.only_dated:
        least[timely] = FLOOR
    return least


def row(hit: Hit, passed: bool) -> Json:
    """A hit as gate 3 lists it."""
    names = ("score", "similarity", "importance", "freshness", "reason", "needed")
    return {
        "id": hit.record.id,
        "text": hit.record.text[:200].encode("utf-8", "replace").decode(),
        "passed": passed,
    } | {n: getattr(hit, n) for n in names}


def _reason(mixed: float, own: float, lexical: float, named: bool) -> str:
    if named and mixed < NAMED:
        return "the question names its subject"
    if mixed > own * 1.5 and mixed - own > 0.1:
        return f"what was said around it {mixed:.2f}"
    return f"words {lexical:.2f}" if lexical >= own / 2 else f"meaning {own:.2f}"


def _within_budget(question: Question, passed: Sequence[Hit]) -> tuple[list[Hit], list[str], int, Json]:
    """Gate 4: whole records only; one that does not fit is skipped, and the next may still."""
    hits: list[Hit] = []
    taken: list[Json] = []
    lines: list[str] = []
    now = question.moment()
    skipped: list[Json] = []
    used = 0
    for hit in passed if question.k > 0 else ():
        told = line(hit.record, now, hit.note)
        cost = estimate_tokens(told)
        if used + cost > question.budget:
            skipped.append({"id": hit.record.id, "tokens": cost})
            continue
        hits.append(hit)
        taken.append({"id": hit.record.id, "tokens": cost})
        lines.append(told)
        used += cost
        if len(hits) == question.k:
            break
    rest = len(passed) - len(hits) - len(skipped)
    why = f"{used} of {question.budget} tokens, at most {question.k} records"
    why += f"; {len(skipped)} did not fit" if skipped else ""
    if over := [row for row in skipped if row["tokens"] > question.budget]:
        why += f", {len(over)} of them at any time: {over[0]['id']} alone is {over[0]['tokens']:,} tokens"
        why += " (records enter whole: keep what matters of it as a short memory, or raise the budget)"
    why += f"; {rest} more were over the threshold" if rest else ""
    gate = {"name": "budget", "entered": len(passed), "left": len(hits), "why": why, "used": used}
    gate |= {"budget": question.budget, "k": question.k, "taken": taken[:LISTED]}
    return hits, lines, used, gate | {"skipped": skipped[:LISTED]}


def importance(record: MemoryRecord) -> float:
    """0…1 from weight, source, hits and mentions."""
    return importance_of(record.weight, record.source, record.hits, record.mentions)


def freshness(record: MemoryRecord, now: datetime.datetime, decay: float = DECAY) -> float:
    """e^(−λ·days since it was last used or written)."""
    last = max(record.last_access or record.recorded, record.recorded)
    return math.exp(-decay * max(0.0, (now - last).total_seconds() / 86_400))
