"""What the model sees of the plan and of temporary rules: one block at the end of the last message of a call.

It is made anew for each call and never enters the history, so that the history before it stays as it was sent.
"""

from __future__ import annotations

from ..task import Subtask, Task
from . import rules, tree

OPEN, CLOSE = "<progress>", "</progress>"
_SIGNS = {"pending": "[ ]", "running": "[>]", "done": "[x]", "failed": "[!]", "skipped": "[-]"}
RESULT_CHARS = 140
"""Of a subtask's result in the block: about 40 tokens."""


def text(task: Task) -> str:
    """The block, or "" where there is neither a plan nor a rule (as in most runs of react)."""
    active = rules.active(task) if task.rules else []
    planned = len(task.plan) > 1
    if not (planned or active or task.void):
        return ""
    parts = []
    if task.void:
        parts.append(f"The user has changed the goal. Do not answer the earlier one (“{task.void}”).")
    if planned:
        parts.append(_plan(task))
    if active:
        parts.append("For now, from what this run has shown:\n" + "\n".join(f"- {r['text']}" for r in active))
    return f"{OPEN}\n" + "\n\n".join(parts) + f"\n{CLOSE}"


def _plan(task: Task) -> str:
    lines = ["Plan (edit it with update_plan):"]
    lines += [f"{_SIGNS[node.status]} {node.id}. {line(node)}" for node in task.plan]
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
