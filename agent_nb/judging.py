"""Whether an answer will do: its numbers, its criteria, or a question to the user."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from . import calling, criteria, evidence
from .events import Event
from .planning import plan_tool
from .task import Criterion, Task

if TYPE_CHECKING:
    from .bench import Bench

Json = dict[str, Any]

REPEATS = 3
"""How often an answer is sent back because a criterion does not hold."""

_OFFER = re.compile(
    r"^\W*(?:would you like|do you want me|shall i|should i also|want me to|anything else|is there anything|"
    r"需要我|要不要我|还需要|是否需要我)",
    re.IGNORECASE,
)


def trace_numbers(task: Task, bench: Bench) -> list[Json]:
    """The numbers of the task's text with what in this session's window holds them."""
    # The nearest source comes first: a result of this run says more than a memory that holds the same number.
    seen = [
        (f"{o.value_name} {o.name}".strip() + (", as edited by you" if o.edited else ""), o.text)
        for o in task.observations
        if o.ok and o.name != plan_tool.NAME
    ]
    seen += [("goal", task.goal)]
    seen += [(f"memory {hit['id']}", hit["text"]) for hit in task.memory]
    for turn in bench.turns:
        for message in turn:
            for block in message["content"]:
                if block.get("type") == "tool_result" and not block.get("is_error"):
                    texts = [b["text"] for b in block.get("content") or [] if b.get("type") == "text"]
                    seen.append(("an earlier turn", "\n".join(texts)))
    return [number.to_dict() for number in evidence.trace(task.text, seen)]


def asks_user(task: Task) -> bool:
    """Whether the answer is a question to the user rather than a result."""
    lines = [line for line in task.text.strip().splitlines() if line.strip()]
    if not lines or not lines[-1].rstrip("*_ )）").endswith(("?", "？")):
        return False
    last = re.split(r"(?<=[.!。！])\s*", lines[-1].strip())[-1]
    return not (_OFFER.match(last) and any(row["sources"] for row in task.evidence))


def judge_criteria(task: Task, bench: Bench) -> Generator[Event, None, tuple[list[Criterion], bool]]:
    """Each criterion judged, in code where that is possible and else by the model.

    Returns the criteria, and whether the model may be asked for a better answer.

    A model that cannot judge (`can_judge` False) leaves its criteria unmet, and says so.
    """
    checked = [criteria.check(c, task.text, task.evidence, task.observations) for c in task.criteria]
    open_ones = [c for c in checked if c.met is None]
    can_judge = bool(getattr(bench.model, "can_judge", True))
    if open_ones and can_judge:
        yield from _by_model(task, bench, open_ones)
    for criterion in open_ones:
        if criterion.met is None:
            name = getattr(bench.model, "name", "this model")
            criterion.met = False
            criterion.reason = f"model {name} cannot judge this; check it yourself, or ask a model that can"
    return checked, can_judge


def _by_model(task: Task, bench: Bench, open_ones: list[Criterion]) -> Iterator[Event]:
    wanted = "\n".join(f"{i}. {c.text}" for i, c in enumerate(open_ones, 1))
    prompt = (
        "Judge strictly whether this answer meets each criterion. Reply with one JSON list only, one object "
        f'a criterion in order: {{"met": true or false, "reason": "one sentence"}}.\n\nGoal:\n{task.goal}\n\n'
        f"Criteria:\n{wanted}\n\nAnswer:\n{task.text}"
    )
    text = yield from calling.ask_once(task, bench, "a verdict on the criteria", prompt)
    try:
        verdicts = json.loads(text[text.index("[") : text.rindex("]") + 1])
    except ValueError:
        return
    for criterion, verdict in zip(open_ones, verdicts, strict=False):
        if isinstance(verdict, dict) and isinstance(verdict.get("met"), bool):
            criterion.met, criterion.reason = verdict["met"], str(verdict.get("reason", ""))
