"""Which tools a call shows with their schemas, where all of them would take too much of the window."""

from __future__ import annotations

import json
from typing import Any

from ..task import Task
from ..tools.result import Reply
from ..tools.tool import Tool, Toolbox
from ..window import Sizes
from . import drift, plan_tool, tree

Json = dict[str, Any]

NAME = "show_tools"
_ABOUT = """\
Not all tools are shown, for lack of room. This one shows the schemas of those that you name, from the next step on; \
they can be called then. It changes nothing."""
_SCHEMA: Json = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 20}},
    "required": ["names"],
    "additionalProperties": False,
}


def fitting(task: Task, schemas: list[Json], sizes: Sizes, room: int) -> tuple[list[Json], list[str]]:
    """(schemas of the next call, names of the tools that are left out), both in the order of `schemas`.

    What the run has used or asked for stays; then the tools whose name and description share most words with the
    running subtask, as far as `room` tokens go.
    """
    wanted = _wanted(task)
    node = tree.running(task.plan)
    about = f"{task.goal} {node.text if node else ''}"
    fit = {s["name"]: (s["name"] in wanted, drift.similarity(about, _words(s))) for s in schemas}
    kept = set[str]()
    for schema in sorted(schemas, key=lambda s: fit[s["name"]], reverse=True):
        size = sizes.text(json.dumps(schema, ensure_ascii=False))
        if size <= room or schema["name"] in wanted:
            room -= size
            kept.add(schema["name"])
    return [s for s in schemas if s["name"] in kept], [s["name"] for s in schemas if s["name"] not in kept]


def mount(toolbox: Toolbox) -> None:
    """Give the run its show_tools, where the user has no tool of that name."""
    if NAME not in toolbox:

        def show_tools(names: list[str]) -> object:
            known = [name for name in names if name in toolbox]
            told: Json = {"shown from the next step on": known}
            if unknown := [name for name in names if name not in known]:
                told["there is no tool"] = unknown
            return Reply(told)

        toolbox.add(Tool(NAME, _ABOUT, _SCHEMA, show_tools, effect="read", cached=False))


def _wanted(task: Task) -> set[str]:
    asked = [
        name for seen in task.observations if seen.name == NAME and seen.ok for name in seen.input["names"]
    ]
    return {NAME, plan_tool.NAME, *asked, *(seen.name for seen in task.observations if seen.ok)}


def _words(schema: Json) -> str:
    return f"{schema['name'].replace('_', ' ')} {schema.get('description', '')}"
