"""Which station broke: a run's events read backwards to what went wrong, each with what shows it and what to change.

Pure functions over events, so that any saved transcript can be examined. They know what events tell and no more: where
nothing is found, the run may still be wrong.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import events, evidence
from .planning import drift, kinds
from .transcript import Transcript

Json = dict[str, Any]
Turn = Sequence[events.Event]

BREAKS = {
    "memory_not_loaded": "load",
    "split_badly": "plan",
    "wrong_tool": "act",
    "tool_wrong": "observe",
    "misread": "act",
    "judged_wrong": "judge",
    "written_wrong": "consolidate",
}
"""Kinds of breaks, in the order in which a run can have them, and the station of each."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One break.

    Args:
        kind: a key of `BREAKS`. said: what was wrong, in a sentence.
        step: step of the run; event: class of the event that shows it; shown: what that event holds.
        change: what to do about it.
    """

    kind: str
    said: str
    step: int
    event: str
    shown: str
    change: str

    @property
    def station(self) -> str:
        """The station that broke."""
        return BREAKS[self.kind]


def examine(turn: Turn, memory: Any = None, question: str = "") -> list[Finding]:
    """The breaks of one turn, in the order of the stations: the first is the one to mend first.

    Args:
        memory: the user's Memory, which is asked what became of what it holds about this. question: the user's own.
    """
    found = [finding for check in _CHECKS for finding in check(turn)]
    if by_memory := _by_memory(turn, memory, question, found):
        found = [f for f in found if f.kind != "memory_not_loaded"] + [by_memory]
    order = list(BREAKS)
    return sorted(dict.fromkeys(found), key=lambda f: (order.index(f.kind), f.step))


def turn_about(told: Sequence[events.Event], question: str = "") -> list[events.Event]:
    """The turn that a question is about, by its words; the last one where it names none. Empty without a run."""
    transcript = Transcript()
    transcript.events = list(told)
    turns = transcript.turns()
    if not turns:
        return []

    def nearness(at: int) -> tuple[float, int]:
        started = _first(turns[at], events.RunStarted)
        answer = _last(turns[at], events.Answered)
        said = f"{started.goal if started else ''} {answer.text if answer else ''}"
        return round(drift.similarity(said, question), 2) if question else 0.0, at

    return turns[max(range(len(turns)), key=nearness)]


def is_about(turn: Sequence[events.Event], question: str) -> bool:
    """Whether the question and the turn have any word in common."""
    started, answer = _first(turn, events.RunStarted), _last(turn, events.Answered)
    said = f"{started.goal if started else ''} {answer.text if answer else ''}"
    return round(drift.similarity(said, question), 2) > 0


# -- load, plan ----------------------------------------------------------------------------------------------

_RELIES = re.compile(
    r"\b(?:as (?:usual|always|before|last time)|my usual|remember(?:ed)? (?:that|what|how)|like last (?:time|week)|"
    r"i (?:told|said)|as agreed)\b|照旧|像上次|上次说|记得|老规矩|按惯例",
    re.IGNORECASE,
)


def _load(turn: Turn) -> Iterator[Finding]:
    loaded = _last(turn, events.Loaded)
    if loaded is None:
        return
    note = loaded.note
    relies = _RELIES.search(loaded.query)
    if note.startswith("memory could not be read"):
        change = "see %memory stats for the file, mend or move it, and run the cell again"
        yield _of("memory_not_loaded", note, loaded, note, change)
    elif note and relies:
        said = f"the goal relies on memory (“{relies.group()}”), and {note}"
        yield _of("memory_not_loaded", said, loaded, note, "leave out --no-memory, or say it in the goal")
    elif not loaded.hits and not note:
        score = next((gate for gate in _rows(loaded.gates) if gate.get("name") == "score"), {})
        listed = _rows(score.get("listed"))
        near = max(listed, key=lambda row: drift.similarity(str(row.get("text")), loaded.query), default=None)
        if near is not None and drift.similarity(str(near.get("text")), loaded.query) > 0:
            said = "a memory that shares words with the goal was not close enough"
            told = f"{near.get('text')} ({score.get('why', '')})"
            yield _of(
                "memory_not_loaded", said, loaded, told, "ask with its words; %memory why shows the gate"
            )
        elif relies:
            said = f"the goal relies on memory (“{relies.group()}”), and none was recalled"
            change = "tell it: “Remember: …”, or say it in the goal"
            yield _of("memory_not_loaded", said, loaded, f"0 of {loaded.total} memories", change)


def with_memory(turn: Turn) -> Json:
    """What a run did with memory, as `Memory.why` asks for it: goal, memory, answer, left_out, note."""
    started, loaded = _last(turn, events.RunStarted), _last(turn, events.Loaded)
    answered, kept = _last(turn, events.Answered), _last(turn, events.Consolidated)
    return {
        "goal": started.goal if started else "",
        "memory": [*_rows(loaded.hits), *_rows(loaded.memo)] if loaded else [],
        "note": loaded.note if loaded else "",
        "answer": answered.text if answered else "",
        "left_out": kept.left_out if kept else [],
    }


def _by_memory(turn: Turn, memory: Any, question: str, found: list[Finding]) -> Finding | None:
    """What the memory itself says, where the user asks, the goal relies on it, or the events show a loss."""
    started, loaded = _last(turn, events.RunStarted), _last(turn, events.Loaded)
    answered = _last(turn, events.Answered)
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
        return _of("memory_not_loaded", told.explanation, loaded, shown, told.change)
    if told.broke == "ignored" and answered:
        return _of("misread", told.explanation, answered, shown, told.change)
    return None


def _plan(turn: Turn) -> Iterator[Finding]:
    planned = [e for e in turn if isinstance(e, events.Planned)]
    started, ended = _first(turn, events.RunStarted), _last(turn, events.RunEnded)
    if not planned or started is None:
        return
    first, last = planned[0], planned[-1]
    if "no usable plan" in first.note:
        change = "state the goal's parts as a list, or ask a stronger model"
        yield _of("split_badly", "the model gave no plan that could be used", first, first.note, change)
    parts = kinds.parts(started.goal)
    if len(last.subtasks) < 2 and len(parts) > 1 and ended is not None and not ended.done:
        said = f"the goal has {len(parts)} parts and was worked on as one"
        yield _of(
            "split_badly", said, first, f"planner {first.planner}", "use -p hybrid, or a cell for each part"
        )
    for node in _rows(last.subtasks) if len(last.subtasks) > 1 else ():
        text, status = str(node.get("text") or ""), node.get("status")
        if status == "failed" or (status == "skipped" and ended is not None and ended.done):
            said = f"subtask {node.get('id')} ({text[:80]}) is {status}, and the answer does without it"
            change = "make it smaller, or name in the goal where its data is"
            yield _of("split_badly", said, last, str(node.get("result") or status)[:200], change)
        elif not _related(text, f"{started.goal} {_seen_words(turn)}"):
            said = f"subtask {node.get('id')} shares no word with the goal or with what was seen"
            yield _of(
                "split_badly", said, last, text[:200], "say in the goal what belongs to it and what does not"
            )
    anew = [e for e in planned if "planned anew" in e.note]
    if len(anew) > 1:
        said = f"the plan had to be made anew {len(anew)} times"
        yield _of(
            "split_badly", said, anew[-1], anew[-1].note, "split the goal yourself, a cell for each part"
        )


# -- act, observe --------------------------------------------------------------------------------------------

_KINDS = {
    "unknown_tool": ("a tool was called that does not exist", "mount it: Session(tools=[…]) or @tool in the notebook"),
    "not_allowed": ("a tool was called that this run does not allow", "name it in --tools"),
    "bad_input": ("a tool was called with arguments that do not fit", "say in its docstring what each argument is"),
    "invented": ("an identifier was made up", "give it in the goal"),
    "denied": ("a call was denied", "approve it, or use --approve auto"),
}  # fmt: skip


def _act(turn: Turn) -> Iterator[Finding]:
    planned = _first(turn, events.Planned)
    for sentence in re.split(r";\s*", planned.note) if planned else ():
        if planned and ("not mounted" in sentence or "no tool that" in sentence or "not allowed" in sentence):
            change = "mount the tool, or install what it needs (%agent status tells)"
            yield _of("wrong_tool", sentence, planned, planned.note, change)
    for event, seen in _observations(turn):
        if seen.get("kind") in _KINDS and not _mended(turn, event):
            said, change = _KINDS[seen["kind"]]
            yield _of("wrong_tool", f"{said}: {event.name}", event, _text(seen), change)
    for failed in turn:
        if isinstance(failed, events.CallFailed) and failed.wait_s is None:
            change = "check the connection and %agent status, then %agent resume"
            yield _of("wrong_tool", "the model could not be reached", failed, failed.error, change)
    answered = _last(turn, events.Answered)
    bare = _bare(answered)
    if answered and bare and not any(True for _ in _observations(turn)):
        change = "mount a tool that can compute them, or tell it in rules to query first"
        yield _of("wrong_tool", "numbers were told, and no tool was called", answered, _numbers(bare), change)


_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any )?(?:the )?(?:previous|prior|above|earlier|your) "
    r"(?:instructions?|rules?|prompts?)|忽略(?:以上|之前|前面)?的?(?:所有)?(?:指令|规则|指示)",
    re.IGNORECASE,
)


def _observe(turn: Turn) -> Iterator[Finding]:
    answers: dict[str, str] = {}
    ended = _last(turn, events.RunEnded)
    for event, seen in _observations(turn):
        if seen.get("kind") == "failed" and not _mended(turn, event):
            yield _of("tool_wrong", f"{event.name} failed", event, _text(seen), "mend the tool or its data")
        if not seen.get("ok"):
            continue
        if _empty(seen) and not _mended(turn, event):
            change = "check the filter and the spelling of the values that it asks for"
            yield _of(
                "tool_wrong",
                f"{event.name} found nothing",
                event,
                json.dumps(_input(seen), ensure_ascii=False),
                change,
            )
        if found := _ORDERS.search(_text(seen, 20_000)):
            said = f"a result of {event.name} holds a sentence that gives orders"
            yield _of(
                "tool_wrong", said, event, found.group(), "clean the data; such text is never to be followed"
            )
        key = f"{event.name} {json.dumps(_input(seen), sort_keys=True, default=str)}"
        told = re.sub(r'\b_r\d+\b|"cached": true,? ?', "", _text(seen, 20_000))
        if seen.get("effect") == "read" and answers.setdefault(key, told) != told and ended is not None:
            said = f"{event.name} gave two answers to the same question"
            yield _of("tool_wrong", said, event, told[:200], "see what changes between the calls")
        answers = {} if seen.get("effect") != "read" else answers | {key: told}
    for reflected in turn:
        if isinstance(reflected, events.Reflected) and reflected.trigger.startswith("result against"):
            change = "check the data, or the expectation in the plan"
            yield _of(
                "tool_wrong", "a result was not what its subtask expects", reflected, reflected.text, change
            )


def _misread(turn: Turn) -> Iterator[Finding]:
    answered = _last(turn, events.Answered)
    held = [seen for _, seen in _observations(turn) if seen.get("ok")]
    rows = _bare(answered) if held else []
    for row in rows[:5]:
        near = _nearest(row, held)
        if answered is None:
            return
        if near:
            said = f"the answer says {row['text']}, and a result holds {near}"
            yield _of(
                "misread", said, answered, str(row["text"]), "ask again with “every number has evidence”"
            )
        else:
            cut = next((s for s in held if (s.get("total_rows") or 0) > len(s.get("rows") or ())), None)
            said = f"no result holds {row['text']}"
            said += " (and one was cut: it may be read off rows that were not shown)" if cut else ""
            change = "ask for it to be computed in the query; done when: every number has evidence"
            yield _of("misread", said, answered, str(row["text"]), change)


def _nearest(row: Json, held: list[Json]) -> str:
    """A number of a result that the answer's may have been meant to be: within 2 %, or its digits in another order."""
    value = row.get("value")
    if not isinstance(value, int | float) or not value:
        return ""
    digits = sorted(re.sub(r"\D", "", str(row["text"])))
    for seen in held:
        for number in evidence.trace(_text(seen, 20_000), []):
            if number.value is None or number.value == value:
                continue
            close = abs(number.value - value) <= 0.02 * abs(value)
            if close or (len(digits) > 2 and sorted(re.sub(r"\D", "", number.text)) == digits):
                return number.text.strip()
    return ""


# -- judge, consolidate --------------------------------------------------------------------------------------

_NEVER = {
    "limit_steps": "%agent resume --max-steps 24 goes on",
    "limit_tokens": "%agent resume --max-tokens 200000 goes on",
    "limit_cost": "%agent resume --max-cost 1 goes on",
    "limit_seconds": "%agent resume --max-seconds 1200 goes on",
    "no_progress": "say in the goal what to do when nothing is found, or give it another tool",
    "truncated": "ask for a shorter answer",
    "empty": "run the cell again, or use another model",
    "context_full": "begin a new session (--new), or ask for less at once",
    "refused": "put the goal in other words",
    "error": "%agent explain or %agent trace shows the error; %agent resume tries again",
}


def _judge(turn: Turn) -> Iterator[Finding]:
    ended, judged = _last(turn, events.RunEnded), _last(turn, events.Judged)
    if ended is None:
        return
    if not ended.done:
        if ended.stop_reason in _NEVER:
            said = f"it never came to an end that counts ({ended.stop_reason})"
            yield _of(
                "judged_wrong", said, ended, ended.reason or ended.stop_reason, _NEVER[ended.stop_reason]
            )
        for row in _rows(judged.criteria) if judged else ():
            if judged and not row.get("met") and row.get("reason"):
                said = f"a criterion was not met: {row.get('text')}"
                change = "put it so that it can be checked (contains '…', at most N words), or drop it"
                yield _of("judged_wrong", said, judged, str(row["reason"]), change)
        return
    seen = list(_observations(turn))
    if seen and not seen[-1][1].get("ok") and judged:
        said = f"it was judged done though its last call, of {seen[-1][0].name}, did not succeed"
        change = "give a criterion under done when: that this answer would fail"
        yield _of("judged_wrong", said, seen[-1][0], _text(seen[-1][1]), change)
    planned = _last(turn, events.Planned)
    skipped = (
        [n for n in _rows(planned.subtasks) if n.get("status") in ("pending", "skipped")] if planned else []
    )
    if planned and len(planned.subtasks) > 1 and skipped and judged:
        said = f"it was judged done with {len(skipped)} of {len(planned.subtasks)} subtasks not worked on"
        yield _of(
            "judged_wrong", said, judged, "; ".join(str(n.get("text"))[:60] for n in skipped), "ask for them"
        )


_ASKED = re.compile(r"\b(?:please )?remember(?: that|:| this)|\bkeep in mind\b|记住|记下", re.IGNORECASE)


def _consolidate(turn: Turn) -> Iterator[Finding]:
    kept, loaded = _last(turn, events.Consolidated), _last(turn, events.Loaded)
    started, ended = _first(turn, events.RunStarted), _last(turn, events.RunEnded)
    asked = bool(started and _ASKED.search(started.goal))
    if kept is None:
        if asked and loaded and started and ended is not None:
            said = "it was to be remembered, and memory was never written"
            shown = loaded.note or ended.stop_reason
            yield _of("written_wrong", said, started, shown, "leave out --no-memory, and run it to its end")
        return
    if kept.note:
        yield _of(
            "written_wrong", kept.note, kept, kept.note, "see %memory stats; then say “Remember: …” again"
        )
    saved = any(seen.get("ok") and event.name == "save_memory" for event, seen in _observations(turn))
    if asked and not kept.written and not saved and not kept.note:
        shown = "; ".join(str(row.get("reason")) for row in _rows(kept.left_out)) or "nothing to keep"
        yield _of("written_wrong", "it was to be remembered, and nothing was", kept, shown, "use %memory add")
    answered = _last(turn, events.Answered)
    bare = {row["text"] for row in _bare(answered) if row["text"]}
    for row in _rows(kept.written):
        text = str(row.get("text") or "")
        false = [n for n in bare if re.search(rf"(?<![\w.,]){re.escape(n)}(?![\w])", text)]
        if false:
            said = f"a memory was written with a number that has no evidence ({', '.join(sorted(false))})"
            yield _of("written_wrong", said, kept, text[:200], f"%memory forget {row.get('id', 'ID')}")


_CHECKS: tuple[Callable[[Turn], Iterator[Finding]], ...] = (
    _load,
    _plan,
    _act,
    _observe,
    _misread,
    _judge,
    _consolidate,
)


# -- reading events ------------------------------------------------------------------------------------------


def _of(kind: str, said: str, event: events.Event, shown: str, change: str) -> Finding:
    shown = " ".join(shown.split())
    shown = shown if len(shown) <= 240 else shown[:239] + "…"
    return Finding(kind, said, event.step, type(event).__name__, shown, change)


def _first(turn: Turn, cls: type[Any]) -> Any:
    return next((event for event in turn if isinstance(event, cls)), None)


def _last(turn: Turn, cls: type[Any]) -> Any:
    return next((event for event in reversed(turn) if isinstance(event, cls)), None)


def _observations(turn: Turn) -> Iterator[tuple[events.ToolFinished, Json]]:
    for event in turn:
        if isinstance(event, events.ToolFinished):
            yield event, event.observation


def _input(seen: Json) -> Json:
    given = seen.get("input")
    return given if isinstance(given, dict) else {}


def _text(seen: Json, chars: int = 300) -> str:
    blocks = seen.get("content")
    texts = (
        [str(b.get("text") or "") for b in blocks if isinstance(b, dict)] if isinstance(blocks, list) else []
    )
    return "\n".join(text for text in texts if text)[:chars]


def _mended(turn: Turn, event: events.ToolFinished) -> bool:
    """Whether the run was done and the call went well later: another way was found."""
    ended = _last(turn, events.RunEnded)
    if ended is None or not ended.done:
        return False
    later = turn[next(i for i, other in enumerate(turn) if other is event) + 1 :]
    unknown = event.observation.get("kind") in ("unknown_tool", "not_allowed", "invented")
    fine = [e for e, s in _observations(later) if s.get("ok") and not _empty(s)]
    return any(unknown or e.name == event.name for e in fine)


def _rows(rows: Any) -> list[Json]:
    """The rows of an event that are dicts: a damaged transcript may hold anything."""
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list | tuple) else []


def _bare(answered: events.Answered | None) -> list[Json]:
    """The numbers of the answer without evidence."""
    rows = _rows(answered.evidence) if answered else []
    return [row | {"text": str(row.get("text") or "").strip()} for row in rows if not row.get("sources")]


def _empty(seen: Json) -> bool:
    """Whether a call went well and brought no rows."""
    return seen.get("total_rows") == 0 or '"value": []' in _text(seen, 100)


def _numbers(rows: list[Json]) -> str:
    return ", ".join(str(row.get("text")) for row in rows[:8])


def _seen_words(turn: Turn) -> str:
    return " ".join(_text(seen, 2_000) for _, seen in _observations(turn))


def _related(text: str, others: str) -> bool:
    """Whether two texts share a word; texts in different scripts cannot tell."""
    return drift.similarity(text, others) > 0 or not text.strip() or text.isascii() != others.isascii()
