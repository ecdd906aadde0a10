"""What comes together after the third gate: a user's own records, their team's, and what binds the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from . import draft, statement, teams
from .graph import Constraint
from .load import LISTED, NAMED, WEIGHTS, Gathered, Hit, Question, Scored, freshness, importance, row

Json = dict[str, Any]


def joined(mine: Gathered, theirs: Gathered) -> Gathered:
    """The user's candidates and the team's, in the gates of one recall."""
    gates = []
    for own, other in zip(mine.gates, theirs.gates, strict=True):
        gate = dict(own)
        if gate["name"] != "query":
            gate |= {"entered": own["entered"] + other["entered"], "left": own["left"] + other["left"]}
            gate["why"] = f"{own['why']}; {theirs.scope}: {other['left']} of {other['entered']}"
        for name in ("lexical", "embedding", "both", "unlisted"):
            if name in own:
                gate[name] = own[name] + other.get(name, 0)
        if "out" in own:
            names = [*own["out"], *(n for n in other["out"] if n not in own["out"])]
            gate["out"] = {n: own["out"].get(n, 0) + other["out"].get(n, 0) for n in names}
        if "listed" in own:
            gate["listed"] = sorted(own["listed"] + other["listed"], key=lambda r: -r["score"])[:LISTED]
        gates.append(gate)
    named = [dataclasses.replace(hit, reason=f"{theirs.scope} · {hit.reason}") for hit in theirs.passed]
    passed = sorted([*mine.passed, *named], key=lambda hit: -hit.score)
    return Gathered(lambda: gates, passed)


def bound(question: Question, found: Gathered, constraints: Sequence[Constraint]) -> Gathered:
    """Bring in what binds the answer: hard constraints first, whatever they score; each says by which relations."""
    allowed = [c for c in constraints if question.types is None or c.record.type in question.types]
    if not allowed:
        return found
    hits = {hit.record.id: hit for hit in found.passed}
    listed = {row["id"]: row for row in found.gates[2]["listed"]}
    first: list[Hit] = []
    shown = []
    for constraint in allowed:
        hit = _hit(question, constraint, hits.get(constraint.record.id))
        if not constraint.hard and question.threshold is not None and hit.score < question.threshold:
            continue
        shown.append(constraint.chain)
        if constraint.hard:
            first.append(hit)
        hits[hit.record.id] = hit
    if not shown:
        return found
    new = [c for c in allowed if c.record.id in hits and c.record.id not in listed]
    known = {hit.record.id for hit in first}
    others = sorted((h for h in hits.values() if h.record.id not in known), key=lambda hit: -hit.score)
    query, candidates, score = (dict(gate) for gate in found.gates)
    candidates["left"] += len(new)
    candidates["why"] += f"; constraints {len(shown)}: {' | '.join(shown)}"
    candidates["constraints"] = len(shown)
    score |= {"entered": score["entered"] + len(new), "left": len(hits)}
    if first:
        one = len(first) == 1
        score["why"] += (
            f"; {len(first)} hard {'constraint enters' if one else 'constraints enter'} whatever the score"
        )
    rows = [row(hits[c.record.id], True) for c in allowed if c.record.id in hits]
    ids = {each["id"] for each in rows}
    score["listed"] = rows + [each for each in score["listed"] if each["id"] not in ids]
    return Gathered(lambda: [query, candidates, score], first + others)


def _hit(question: Question, constraint: Constraint, hit: Hit | None) -> Hit:
    record = constraint.record
    similarity = max(NAMED, hit.similarity if hit else 0.0)
    parts = (similarity, importance(record), freshness(record, question.moment(), question.decay))
    score = sum(weight * part for weight, part in zip(WEIGHTS, parts, strict=True))
    shown = [round(part, 4) for part in (score, *parts)]
    return Hit(record, shown[0], shown[1], shown[2], shown[3], constraint.chain)


def marked(hits: Sequence[Hit], among: int | None = None) -> Sequence[Hit]:
    """The hits with a note where two of the first `among` contradict: a user's own word stands before the team's,
    the newer before the older."""
    if isinstance(hits, Scored) and among is not None and not hits.has_subjects(among):
        return hits
    by_key: dict[str, list[Hit]] = {}
    for hit in hits[:among]:
        if hit.record.subject and (key := draft.key_of(hit.record)):
            by_key.setdefault(key, []).append(hit)
    notes: dict[str, str] = {}
    for same in by_key.values():
        for weaker in same:
            for other in same:
                if other is not weaker and _yields(weaker, other) and _contradict(weaker, other):
                    mine = teams.shown(weaker.record.user) and not teams.shown(other.record.user)
                    said = "is the user's own and says otherwise" if mine else "is newer and wins"
                    notes[weaker.record.id] = f"{other.record.id} {said}"
    if not notes:
        return hits
    return [
        dataclasses.replace(hit, note=notes[hit.record.id], reason=f"{hit.reason} · {notes[hit.record.id]}")
        if hit.record.id in notes
        else hit
        for hit in hits
    ]


def _yields(weaker: Hit, other: Hit) -> bool:
    one, two = bool(teams.shown(weaker.record.user)), bool(teams.shown(other.record.user))
    if one != two:
        return one
    return weaker.record.recorded < other.record.recorded


def _contradict(one: Hit, other: Hit) -> bool:
    first, second = (
        statement.Statement(h.record.subject, h.record.attribute, h.record.value) for h in (one, other)
    )
    return statement.contradict(first, second)
