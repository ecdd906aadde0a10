"""What the model sees of the plan and of temporary rules: one block at the end of the last message of a call.

It is made anew for each call and never enters the history, so that the history before it stays as it was sent.
"""

from __future__ import annotations

import dataclasses

from ..task import Subtask, Task
from ..tokens import cut_to, estimate_tokens
from ..zones import Zones
from . import drift, rules, tree

OPEN, CLOSE = "<progress>", "</progress>"
_SIGNS = {"pending": "[ ]", "running": "[>]", "done": "[x]", "failed": "[!]", "skipped": "[-]"}
RESULT_CHARS = 140
"""Of a subtask's result, where it is told in a line."""


def text(task: Task, zones: Zones | None = None) -> str:
    """The block, or "" where there is neither a plan nor a rule (as in most runs of react).

    Over the cap of the core zone, finished subtasks lose their lines, those first that the running one needs least.
    """
    zones = zones or Zones()
    hidden: list[str] = []
    running = tree.running(task.plan)
    over = [node for node in task.plan if node.status in tree.CLOSED]
    for node in [None, *sorted(over, key=lambda node: drift.likeness(node, running))]:
        hidden += [node.id] if node else []
        told = _text(task, zones, hidden)
        if estimate_tokens(told) <= zones.core:
            break
    return told


def _text(task: Task, zones: Zones, hidden: list[str]) -> str:
    active = rules.active(task) if task.rules else []
    planned = len(task.plan) > 1
    if not (planned or active or task.void):
        return ""
    parts = []
    if task.void:
        parts.append(f"The user has changed the goal. Do not answer the earlier one (“{task.void}”).")
    if planned:
        parts.append(_plan(task, zones, hidden))
    if active:
        parts.append("For now, from what this run has shown:\n" + "\n".join(f"- {r['text']}" for r in active))
    return f"{OPEN}\n" + "\n\n".join(parts) + f"\n{CLOSE}"


def _plan(task: Task, zones: Zones, hidden: list[str]) -> str:
    lines = ["Plan (edit it with update_plan):"]
    lines += [_line(node, zones.archive) for node in task.plan if node.id not in hidden]
    if hidden:
        lines.append(f"Finished before, in the transcript only: {', '.join(hidden)}.")
    return "\n".join(lines + _next(task))


def _next(task: Task) -> list[str]:
    node = tree.running(task.plan)
    stuck = tree.blocked(task.plan)
    said = []
    if node is not None:
        said.append(f"Work now on subtask {node.id}: {node.text}")
        beside = [n.id for n in tree.ready(task.plan)]
        beside += [n.id for n in task.plan if n.status == "running" and n is not node]
        if beside:
            said.append(f"Ready as well: {', '.join(beside)}; their calls may stand in the same reply.")
        elif len(tree.unfinished(task.plan)) == 1:
            said.append("It is the last one: with its result answer the whole goal.")
    if stuck:
        said.append(f"Waiting for what failed: {', '.join(n.id for n in stuck)}; change or skip them.")
    if node is None and not stuck:
        said.append("Nothing is left to do: answer the whole goal.")
    return said


def _line(node: Subtask, tokens: int) -> str:
    if node.status not in tree.CLOSED:
        return f"{_SIGNS[node.status]} {node.id}. {line(node)}"
    text = cut_to(node.text, tokens // 3) if node.result else node.text  # what it brought matters more
    return cut_to(f"{_SIGNS[node.status]} {node.id}. {line(dataclasses.replace(node, text=text))}", tokens)


def line(node: Subtask) -> str:
    """A node in a line: its text, what it needs and expects, what it brought."""
    said = node.text
    if node.needs and node.status in ("pending", "running"):
        said += f" (needs {', '.join(node.needs)})"
    if node.expects and node.status not in tree.CLOSED:
        said += f" (expects: {node.expects})"
    if node.result:
        cut = node.result if len(node.result) <= RESULT_CHARS else node.result[: RESULT_CHARS - 1] + "…"
        said += f" → {' '.join(cut.split())}"
    return said
