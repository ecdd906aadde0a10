"""What a run that goes on takes over from the one that stopped: work order, model, valves, edited results."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Sequence
from typing import Any

from . import criteria, events, transcript
from .errors import SettingError
from .events import Event
from .limits import Limits
from .planning import restoring
from .task import Observation, Task

Json = dict[str, Any]


def task_of(turn: Sequence[Event], session: str) -> tuple[Task, Json]:
    """The work order as the turn left it, and the user message that asks to go on ({} where none is needed)."""
    goal = str(getattr(turn[0], "goal", ""))
    task = Task(goal=goal, run=uuid.uuid4().hex[:12], session=session)
    task.criteria = criteria.split(goal)[1]
    restoring.restore(task, turn)
    task.messages = transcript.turn_messages(turn)
    seen = [e.observation for e in turn if isinstance(e, events.ToolFinished)]
    task.observations = [Observation.from_dict(observation) for observation in seen]
    if not task.messages or task.messages[-1]["role"] != "assistant":
        return task, {}
    message = {"role": "user", "content": [{"type": "text", "text": "Go on from where you stopped."}]}
    task.messages.append(message)
    return task, message


def valves(was: events.RunStarted, mine: Limits) -> Limits:
    """The session's valves, with the tools and the money of the stopped run where the session names none."""
    try:
        then = Limits.from_dict(was.limits)
    except (TypeError, ValueError):  # damaged, or of a version that had other rules
        return mine
    tools = then.tools if mine.tools is None else mine.tools
    return mine.but(tools=tools, cost=then.cost if mine.cost is None else mine.cost)


def model_of(was: events.RunStarted, namespace: Json) -> Any:
    """The model that the run was on: an object of the notebook, or one chosen by its name; None where there is none."""
    for model in [v for v in namespace.values() if hasattr(v, "reply") and not isinstance(v, type)]:
        if getattr(model, "name", type(model).__name__) == was.model:
            return model
    from .models import choose

    try:
        return choose(was.model, namespace)[0]
    except SettingError:
        return None


def edited(turn: Sequence[Event], step: int, results: Json) -> Json:
    """Results that the user puts in place of others, as history holds them; SettingError for a call that is unknown."""
    kept = [e.id for e in transcript.until_step(turn, step) if isinstance(e, events.ToolFinished)]
    for id in results:
        if id not in kept:
            known = ", ".join(kept[-8:]) or "none"
            raise SettingError(f"no call {id!r} has a result up to step {step}; there are: {known}")
    return {id: _as_text(result) for id, result in results.items()}


def _as_text(result: Any) -> str:
    """A result as one JSON object, as tools give it."""
    if isinstance(result, str):
        with contextlib.suppress(ValueError):
            if isinstance(json.loads(result), dict):
                return result
        result = {"ok": True, "text": result}
    if not isinstance(result, dict):
        raise SettingError(f"the edited result is {result!r:.60}; give a dict")
    return json.dumps(result, ensure_ascii=False, default=str)
