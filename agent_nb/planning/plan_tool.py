"""update_plan: the tool by which the model edits its own plan. It changes nothing else, and never asks."""

from __future__ import annotations

import collections
from typing import Any

from ..errors import ToolInputError
from ..task import Task
from ..tools.result import Reply
from ..tools.tool import Tool, Toolbox
from . import rules, tree

Json = dict[str, Any]

NAME = "update_plan"
_ABOUT = """\
Keep the plan true: start, finish (with its result), fail (with the reason) or skip a subtask, change its text, \
needs or expectation, or add one. Edits of one call are made together or not at all. Make it in the same reply as \
the next calls. op "rule" sets a temporary rule for this run: one sentence in text, scope run, tool NAME or \
subtask ID, for some steps."""
_TEXT = {"type": "string"}
_EDIT: Json = {
    "type": "object",
    "properties": {
        "op": {"type": "string", "enum": [*tree.OPS, "rule"]},
        "id": {"type": "string", "description": "of the subtask; a new one may go without"},
        "text": {
            "type": "string",
            "description": "what is to be found out or done; for a rule, its sentence",
        },
        "needs": {"type": "array", "items": _TEXT, "description": "ids of subtasks that come before it"},
        "expects": {"type": "string", "description": "what its result should look like: at least 1 row"},
        "result": {"type": "string", "description": "what it brought, or why it failed or is skipped"},
        "scope": {"type": "string", "description": "of a rule"},
        "steps": {"type": "integer", "description": "how many steps a rule holds", "minimum": 1},
    },
    "required": ["op"],
    "additionalProperties": False,
}
_SCHEMA: Json = {
    "type": "object",
    "properties": {"edits": {"type": "array", "items": _EDIT, "minItems": 1}},
    "required": ["edits"],
    "additionalProperties": False,
}


def mount(task: Task, toolbox: Toolbox) -> None:
    """Give the run its update_plan, where the user has no tool of that name."""
    if NAME not in toolbox:

        def update_plan(edits: list[Json]) -> object:
            return _update(task, toolbox, edits)

        toolbox.add(Tool(NAME, _ABOUT, _SCHEMA, update_plan, effect="read", cached=False))


def _update(task: Task, toolbox: Toolbox, edits: list[Json]) -> object:
    wanted = [given for given in edits if given["op"] == "rule"]
    nodes = tree.edit(task.plan, [given for given in edits if given["op"] != "rule"])
    made = [_rule(task, toolbox, given) for given in wanted]
    if len(nodes) == 1 and len(task.plan) == 1 and not made:
        raise ToolInputError("this plan has one subtask; add others before you edit it, or just answer")
    task.plan = nodes
    for rule in made:
        rules.add(task, rule)
    tree.focus(task.plan)
    # Counts only: what the model says about its plan must not come back as something that a tool has seen.
    states = collections.Counter(node.status for node in task.plan)
    return Reply({"plan": ", ".join(f"{count} {state}" for state, count in sorted(states.items()))})


def _rule(task: Task, toolbox: Toolbox, given: Json) -> Json:
    steps = int(given.get("steps") or 3)
    rule = {
        "text": " ".join(str(given.get("text") or "").split()),
        "scope": str(given.get("scope") or "run").strip(),
        "since": task.steps + 1,
        "until": task.steps + steps,
        "why": "set by the model",
        "call": {},
        "level": "cognition",
    }
    if fault := rules.fault(rule, task, toolbox.names):
        raise ToolInputError(f"the rule was not taken: {fault}; nothing was changed")
    return rule
