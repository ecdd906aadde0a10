"""Breaks of the stations load and plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .. import events
from ..planning import drift, kinds
from .reading import Finding, Json, Turn, first, last, of, related, rows_of, seen_words

_RELIES = re.compile(
    r"\b(?:as (?:usual|always|before|last time|agreed)|"
    r"(?:my|our) (?:usual|own|preferred|standard|favou?rite|convention)|"
    r"remember(?:ed)? (?:that|what|how)|(?:like|same as) last (?:time|week|month)|i (?:told|said)|"
    r"the way (?:i|we) (?:like|want|prefer|do))\b"
    r"|照旧|(?:像|和|跟|同|如)上次|上次说|记得|老规矩|老样子|惯例|往常|照常",
    re.IGNORECASE,
)


def load(turn: Turn) -> Iterator[Finding]:
    """Memory that the goal needs was not loaded."""
    loaded = last(turn, events.Loaded)
    if loaded is None:
        return
    note, relies = loaded.note, _RELIES.search(loaded.query)
    if note.startswith("memory could not be read"):
        change = "see %memory stats for the file, mend or move it, and run the cell again"
        yield of("memory_not_loaded", note, loaded, note, change)
    elif note and relies:
        said = f"the goal relies on memory (“{relies.group()}”), and {note}"
        yield of("memory_not_loaded", said, loaded, note, "leave out --no-memory, or say it in the goal")
    elif not loaded.hits and not note:
        yield from _fell_short(turn, loaded, relies.group() if relies else "")


def _fell_short(turn: Turn, loaded: events.Loaded, relies: str) -> Iterator[Finding]:
    """Nothing was recalled: a near one counts where the goal relies on it or the run came to no end without it."""
    ended = last(turn, events.RunEnded)
    score = next((gate for gate in rows_of(loaded.gates) if gate.get("name") == "score"), {})
    listed = rows_of(score.get("listed"))
    near = max(listed, key=lambda row: drift.similarity(str(row.get("text")), loaded.query), default=None)
    missed = relies or (ended is not None and not ended.done)
    if missed and near is not None and drift.similarity(str(near.get("text")), loaded.query) > 0:
        said = "a memory that shares words with the goal was not close enough"
        told = f"{near.get('text')} ({score.get('why', '')})"
        yield of("memory_not_loaded", said, loaded, told, "ask with its words; %memory why shows the gate")
    elif relies:
        said = f"the goal relies on memory (“{relies}”), and none was recalled"
        change = "tell it: “Remember: …”, or say it in the goal"
        yield of("memory_not_loaded", said, loaded, f"0 of {loaded.total} memories", change)


def with_memory(turn: Turn) -> Json:
    """What a run did with memory, as `Memory.why` asks for it: goal, memory, answer, left_out, note."""
    started, loaded = last(turn, events.RunStarted), last(turn, events.Loaded)
    answered, kept = last(turn, events.Answered), last(turn, events.Consolidated)
    return {
        "goal": started.goal if started else "",
        "memory": [*rows_of(loaded.hits), *rows_of(loaded.memo)] if loaded else [],
        "note": loaded.note if loaded else "",
        "answer": answered.text if answered else "",
        "left_out": kept.left_out if kept else [],
    }


def by_memory(turn: Turn, memory: Any, question: str, found: list[Finding]) -> Finding | None:
    """What the memory itself says, where the user asks, the goal relies on it, or the events show a loss."""
    started, loaded = last(turn, events.RunStarted), last(turn, events.Loaded)
    answered = last(turn, events.Answered)
    if not started or not loaded or loaded.note or not started.user or not hasattr(memory, "why"):
        return None
    lost = any(finding.kind == "memory_not_loaded" for finding in found)
    if started.user != memory.user or not (question or lost or _RELIES.search(loaded.query)):
        return None
    try:
        told = memory.why(question or started.goal, with_memory(turn))
    except Exception:  # a store that cannot be read now says nothing about the run
        return None
    shown = "; ".join(str(row.get("text")) for row in told.records) or f"0 of {loaded.total} memories"
    if told.broke in ("not_recalled", "not_injected"):
        return of("memory_not_loaded", told.explanation, loaded, shown, told.change)
    if told.broke == "ignored" and answered:
        return of("misread", told.explanation, answered, shown, told.change)
    return None


def plan(turn: Turn) -> Iterator[Finding]:
    """The goal was split badly."""
    planned = [e for e in turn if isinstance(e, events.Planned)]
    started, ended = first(turn, events.RunStarted), last(turn, events.RunEnded)
    if not planned or started is None:
        return
    made, now = planned[0], planned[-1]
    if "no usable plan" in made.note:
        change = "state the goal's parts as a list, or ask a stronger model"
        yield of("split_badly", "the model gave no plan that could be used", made, made.note, change)
    parts = kinds.parts(started.goal)
    if len(now.subtasks) < 2 and len(parts) > 1 and ended is not None and not ended.done:
        said = f"the goal has {len(parts)} parts and was worked on as one"
        change = "use -p hybrid, or a cell for each part"
        yield of("split_badly", said, made, f"planner {made.planner}", change)
    for node in rows_of(now.subtasks) if len(now.subtasks) > 1 else ():
        text = str(node.get("text") or "")
        if node.get("status") == "failed":
            said = f"subtask {node.get('id')} ({text[:80]}) failed, and the answer does without it"
            change = "make it smaller, or name in the goal where its data is"
            yield of("split_badly", said, now, str(node.get("result") or "failed")[:200], change)
        elif not related(text, f"{started.goal} {seen_words(turn)}"):
            said = f"subtask {node.get('id')} shares no word with the goal or with what was seen"
            change = "say in the goal what belongs to it and what does not"
            yield of("split_badly", said, now, text[:200], change)
    anew = [e for e in planned if "planned anew" in e.note]
    if len(anew) > 1:
        said = f"the plan had to be made anew {len(anew)} times"
        yield of(
            "split_badly", said, anew[-1], anew[-1].note, "split the goal yourself, a cell for each part"
        )
