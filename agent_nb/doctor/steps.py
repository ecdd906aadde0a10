"""Breaks of the stations act and observe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .. import events
from .reading import (
    Finding,
    Json,
    Turn,
    first,
    found_nothing,
    input_of,
    last,
    mended,
    numbers,
    observations,
    of,
    table_of,
    text_of,
    without_evidence,
)  # fmt: skip

_KINDS = {
    "unknown_tool": ("a tool was called that does not exist", "mount it: Session(tools=[…]) or @tool in the notebook"),
    "not_allowed": ("a tool was called that this run does not allow", "name it in --tools"),
    "bad_input": ("a tool was called with arguments that do not fit", "say in its docstring what each argument is"),
    "invented": ("an identifier was made up", "give it in the goal"),
    "denied": ("a call was denied", "approve it, or use --approve auto"),
}  # fmt: skip


def act(turn: Turn) -> Iterator[Finding]:
    planned = first(turn, events.Planned)
    for sentence in re.split(r";\s*", planned.note) if planned else ():
        if planned and ("not mounted" in sentence or "no tool that" in sentence or "not allowed" in sentence):
            change = "mount the tool, or install what it needs (%agent status tells)"
            yield of("wrong_tool", sentence, planned, planned.note, change)
    for event, seen in observations(turn):
        if seen.get("kind") in _KINDS and not mended(turn, event):
            said, change = _KINDS[seen["kind"]]
            yield of("wrong_tool", f"{said}: {event.name}", event, text_of(seen), change)
    for failed in turn:
        if isinstance(failed, events.CallFailed) and failed.wait_s is None:
            change = "check the connection and %agent status, then %agent resume"
            yield of("wrong_tool", "the model could not be reached", failed, failed.error, change)
    answered = last(turn, events.Answered)
    unproved = without_evidence(answered)
    if answered and unproved and not any(True for _ in observations(turn)):
        change = "mount a tool that can compute them, or tell it in rules to query first"
        yield of(
            "wrong_tool", "numbers were told, and no tool was called", answered, numbers(unproved), change
        )


_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any )?(?:the )?(?:previous|prior|above|earlier|your) "
    r"(?:instructions?|rules?|prompts?)|忽略(?:以上|之前|前面)?的?(?:所有)?(?:指令|规则|指示)",
    re.IGNORECASE,
)


def observe(turn: Turn) -> Iterator[Finding]:
    """A tool failed, or gave something that cannot be right."""
    for event, seen in observations(turn):
        if seen.get("kind") == "failed" and not mended(turn, event):
            yield of("tool_wrong", f"{event.name} failed", event, text_of(seen), "mend the tool or its data")
        if seen.get("ok"):
            yield from _brought(turn, event, seen)
    yield from _two_answers(turn)
    for reflected in turn:
        if isinstance(reflected, events.Reflected) and reflected.trigger.startswith("result against"):
            said = "a result was not what its subtask expects"
            yield of(
                "tool_wrong",
                said,
                reflected,
                reflected.text,
                "check the data, or the expectation in the plan",
            )


def _brought(turn: Turn, event: events.ToolFinished, seen: Json) -> Iterator[Finding]:
    """What a call that went well brought: nothing, an error in the clothes of a result, orders."""
    if found := _ORDERS.search(text_of(seen, 20_000)):
        said = f"a result of {event.name} holds a sentence that gives orders"
        change = "clean the data; such text is never to be followed"
        yield of("tool_wrong", said, event, found.group(), change)
    if mended(turn, event):
        return
    if found_nothing(seen):
        change = "check the filter and the spelling of the values that it asks for"
        told = json.dumps(input_of(seen), ensure_ascii=False)
        yield of("tool_wrong", f"{event.name} found nothing", event, told, change)
    if error := _hidden_error(seen):
        said = f"{event.name} told of an error, and gave it out as a result"
        yield of("tool_wrong", said, event, error, "raise an exception in the tool where it fails")
    if column := _empty_column(seen):
        said = f"{event.name} brought no values: {column} is empty throughout"
        yield of("tool_wrong", said, event, text_of(seen), "check where the tool takes its values from")


_ERROR = re.compile(r"\s*(?:error|exception|traceback|fatal|failed)\b|\s*(?:错误|失败|异常)", re.IGNORECASE)
_FAILED = {"error", "failed", "failure", "timeout", "false"}


def _hidden_error(seen: Json) -> str:
    """What a result says of an error of its own; "" where it does not. A state alone may be what was asked for."""
    value = _value(seen)
    if isinstance(value, str):
        return value if _ERROR.match(value) else ""
    if not isinstance(value, dict):
        return ""
    states = {str(value.get(name)).lower() for name in ("status", "state", "success", "ok")}
    explained = any(value.get(name) for name in ("message", "detail", "reason"))
    failed = any(value.get(name) for name in ("error", "errors", "exception")) or (
        explained and states & _FAILED
    )
    return json.dumps(value, ensure_ascii=False) if failed else ""


def _value(seen: Json) -> Any:
    """The value of a result that is no table."""
    try:
        told = json.loads(text_of(seen, 20_000).split("\n")[0])
    except ValueError:
        return None
    return told.get("value", told.get("text")) if isinstance(told, dict) else None


def _empty_column(seen: Json) -> str:
    """The column or field that holds nothing, where all others hold names only."""
    columns, rows = table_of(seen)
    value = _value(seen)
    if isinstance(value, dict) and len(value) > 1:
        columns, rows = list(value), [list(value.values())]
    if not rows or any(isinstance(cell, int | float) for row in rows for cell in row):
        return ""
    cells = zip(columns, zip(*rows, strict=True), strict=True)
    return next((str(name) for name, column in cells if all(cell is None for cell in column)), "")


def _two_answers(turn: Turn) -> Iterator[Finding]:
    """One question, asked twice with nothing written between, and two answers."""
    answers: dict[str, str] = {}
    for event, seen in observations(turn):
        if not seen.get("ok"):
            continue
        if seen.get("effect") != "read":
            answers = {}
            continue
        key = f"{event.name} {json.dumps(input_of(seen), sort_keys=True, default=str)}"
        told = re.sub(r'\b_r\d+\b|"cached": true,? ?', "", text_of(seen, 20_000))
        if answers.setdefault(key, told) != told:
            said = f"{event.name} gave two answers to the same question"
            yield of("tool_wrong", said, event, told[:200], "see what changes between the calls")
        answers[key] = told
