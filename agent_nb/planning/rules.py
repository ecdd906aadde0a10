"""Temporary rules: what a run has learnt about itself, with a scope and an expiry.

A rule is a dict of id, text (as the model reads it), scope ("run", "tool NAME" or "subtask ID"), since and until
(steps; it holds from `since` to `until`), why, and call: {} or the name and input of a call that is not made again.
A rule can advise and forbid. It never allows anything: no rule opens a valve, a whitelist or an approval.
"""

from __future__ import annotations

import json
from typing import Any

from ..redact import has_secret
from ..task import Task

Json = dict[str, Any]

MOST = 3
"""Rules that hold at a time; the oldest makes room."""
LONGEST = 10
"""Steps that a rule can hold."""
TEXT_CHARS = 240


def fault(rule: Json, task: Task, tools: list[str]) -> str:
    """Why a rule must not be used, or "": it is checked before it holds."""
    text, scope = str(rule.get("text") or "").strip(), str(rule.get("scope") or "")
    kind, _, name = scope.partition(" ")
    if not text or len(text) > TEXT_CHARS:
        return f"a rule is one sentence of at most {TEXT_CHARS} characters"
    if has_secret(text):
        return "a rule holds no secret"
    if kind not in ("run", "tool", "subtask") or bool(name) != (kind != "run"):
        return f"the scope is {scope!r}; give run, tool NAME or subtask ID"
    if kind == "tool" and name not in tools:
        return f"there is no tool {name!r} to make a rule for; tools: {', '.join(tools)}"
    if kind == "subtask" and name not in [n.id for n in task.plan if n.status in ("pending", "running")]:
        return f"there is no open subtask {name!r} to make a rule for"
    if not 0 < rule["until"] - rule["since"] + 1 <= LONGEST:
        return f"a rule holds for 1 to {LONGEST} steps"
    call = rule.get("call")
    if call and not any(_same(call, seen.name, seen.input) for seen in task.observations):
        return "the call that the rule forbids was never made"
    return ""


def add(task: Task, rule: Json) -> Json:
    """Let a checked rule hold; one of the same scope and call is replaced."""
    same = ("scope", "call", "level")
    kept = [r for r in active(task, task.steps + 1) if any(r.get(f) != rule.get(f) for f in same)]
    taken = [int(r["id"][1:]) for r in task.rules]
    rule = {"id": f"r{max(taken, default=0) + 1}", **rule}
    task.rules = [*kept[-(MOST - 1) :], rule]
    return rule


def active(task: Task, step: int | None = None) -> list[Json]:
    """The rules that hold at this step: not over, and their subtask still open."""
    step = task.steps if step is None else step
    closed = {f"subtask {n.id}" for n in task.plan if n.status not in ("pending", "running")}
    return [r for r in task.rules if r["since"] <= step <= r["until"] and r["scope"] not in closed]


def forbids(task: Task, name: str, given: Json) -> str:
    """What the rule says that forbids this call, or ""."""
    for rule in active(task) if task.rules else ():
        if rule.get("call") and _same(rule["call"], name, given):
            return str(rule["text"])
    return ""


def after_write(task: Task) -> None:
    """Something was changed: a call that brought nothing new before may do so now."""
    task.rules = [rule for rule in task.rules if not rule.get("call")]


def _same(call: Json, name: str, given: Json) -> bool:
    return call["name"] == name and _key(call["input"]) == _key(given)


def _key(given: Json) -> str:
    return json.dumps(given, sort_keys=True, default=str)
