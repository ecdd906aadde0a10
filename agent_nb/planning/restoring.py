"""Plan, criteria and rules out of the saved events of a turn: what resume, rewind and fork go on with."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from .. import events
from ..errors import ToolInputError
from ..task import Criterion, Subtask, Task
from . import tree

Json = dict[str, Any]


def restore(task: Task, turn: Sequence[events.Event]) -> None:
    """Put the plan as `turn` left it into the work order; a rule keeps the steps that it had left."""
    started = [e for e in turn if isinstance(e, events.RunStarted)]
    planned = [e for e in turn if isinstance(e, events.Planned)]
    if started:
        task.planner = started[-1].planner
    if planned:
        task.planner = planned[-1].planner
        task.plan = subtasks(planned[-1].subtasks)
        said = {c.text for c in task.criteria}
        more = [str(row.get("text") or "") for row in planned[-1].criteria if isinstance(row, dict)]
        task.criteria += [Criterion(text) for text in more if text and text not in said]
    last = turn[-1].run if turn else ""
    steps = max((e.step for e in turn if e.run == last), default=0)
    made = [e.rule for e in turn if isinstance(e, events.Reflected) and e.rule and e.run == last]
    task.rules = [rule | {"since": 0, "until": rule["until"] - steps} for rule in made if _holds(rule, steps)]


def before(turns: Sequence[Sequence[events.Event]]) -> Json:
    """The last turn as the next one needs it: goal, answer, stop_reason, planner, plan; {} where there is none."""
    if not turns:
        return {}
    turn = turns[-1]
    first = turn[0]
    answers = [e.text for e in turn if isinstance(e, events.Answered)]
    ends = [e.stop_reason for e in turn if isinstance(e, events.RunEnded)]
    plans = [e for e in turn if isinstance(e, events.Planned)]
    return {
        "goal": getattr(first, "goal", ""),
        "answer": answers[-1] if answers else "",
        "stop_reason": ends[-1] if ends else "interrupted",
        "planner": plans[-1].planner if plans else "react",
        "plan": plans[-1].subtasks if plans else [],
    }


def subtasks(rows: Iterable[Any]) -> list[Subtask]:
    """The plan of an event; none where the event is damaged or the plan could not be walked."""
    known = {field.name for field in dataclasses.fields(Subtask)}
    try:
        nodes = [Subtask(**{k: v for k, v in row.items() if k in known}) for row in rows]
        for node in nodes:
            texts = (node.id, node.text, node.expects, node.result, *node.needs)
            if node.status not in tree.STATES or not all(isinstance(text, str) for text in texts):
                return []
        tree.check(nodes)
    except (TypeError, AttributeError, ToolInputError):
        return []
    return nodes


def _holds(rule: Json, steps: int) -> bool:
    fine = {"id": str, "text": str, "scope": str, "since": int, "until": int, "call": dict, "level": str}
    return all(isinstance(rule.get(k), kind) for k, kind in fine.items()) and rule["until"] > steps
