"""What the stations call: plan begins here, act asks what is next, judge whether to look back or to plan anew.

begin    the plan station: choose the planner, make or take up the plan, warn of tools that are missing
focus    before each model call: the subtask that it works on
go_on    an answer while subtasks are open is the result of one of them
review   after each step: what was counted, what follows, and a new plan where the planner makes one
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from .. import judging
from ..events import Event, Planned, Reflected
from ..task import Subtask, Task
from . import drafting, drift, kinds, plan_tool, reflection, restoring, rules, tree

if TYPE_CHECKING:
    from ..bench import Bench

Json = dict[str, Any]

PLANNERS = ("react", "plan", "hybrid", "auto")
MOST_REPLANS = 3
"""Plans that hybrid makes anew in one run; after that it only advises."""


def begin(task: Task, bench: Bench) -> Iterator[Event]:
    """Choose the planner and have a plan. React without more calls no model."""
    notes = [] if task.plan else (yield from _make(task, bench))
    if task.planner != "react" and can_plan(bench):
        plan_tool.mount(task, bench.toolbox)
    if len(task.plan) > 1:
        tree.focus(task.plan)
    yield _planned(task, bench, "; ".join(notes))


def can_plan(bench: Bench) -> bool:
    """Whether the model can make and edit a plan; one that is rules (`can_plan` False) cannot."""
    return bool(getattr(bench.model, "can_plan", True))


def _make(task: Task, bench: Bench) -> Generator[Event, None, list[str]]:
    """A plan for a new goal; what there is to say about it."""
    notes = _after(task) if task.before else []
    if task.plan:
        return notes
    if task.planner == "auto":
        task.planner, why = kinds.choose(task.goal)
        notes.append(f"{task.planner}: {why}")
    named: list[str] = []
    if task.planner != "react":
        if can_plan(bench):
            named = yield from _drafted(task, bench, notes)
        else:
            _by_rules(task, bench, notes)
    if not task.plan:
        task.planner, task.plan = "react", [Subtask("1", task.goal)]
    return notes + kinds.lacking(task.goal, bench, named)


def _after(task: Task) -> list[str]:
    """What the turn before means for this one: its plan goes on, or its goal is void."""
    kind, why = drift.follow_up(task.before, task.goal)
    old = task.before["goal"]
    open_plan = restoring.subtasks(task.before["plan"]) if task.before["planner"] != "react" else []
    if kind == "answer" and tree.unfinished(open_plan) and task.planner != "react":
        task.planner, task.plan = task.before["planner"], open_plan
        return ["goes on with the plan that waited for this answer"]
    if kind == "changed":
        task.void = old if len(old) <= 200 else old[:199] + "…"
        return [f"the goal has changed ({why}), so nothing of the earlier plan is kept"]
    return []


def _drafted(task: Task, bench: Bench, notes: list[str]) -> Generator[Event, None, list[str]]:
    """Ask the model for the plan; the names of the tools that it counts on."""
    made = yield from drafting.draft(task, bench)
    if made.fault:
        notes.append(f"no usable plan came back ({made.fault}), so this run works without one (react)")
        return []
    said = {criterion.text for criterion in task.criteria}
    task.plan = made.nodes
    task.criteria += [criterion for criterion in made.criteria if criterion.text not in said]
    return made.tools


def _by_rules(task: Task, bench: Bench, notes: list[str]) -> None:
    """A model that cannot plan gets its goal in parts, where the goal's own words part it."""
    name = getattr(bench.model, "name", "this model")
    found = kinds.parts(task.goal)
    if len(found) > 1:
        task.plan = [Subtask(str(n), text) for n, text in enumerate(found, 1)]
        notes.append(
            f"model {name} makes no plans; the goal's {len(found)} parts are taken one after the other"
        )
    else:
        notes.append(
            f"model {name} makes no plans, and the goal has one part; working without a plan (react)"
        )


def focus(task: Task, bench: Bench) -> Iterator[Event]:
    """See to it that a subtask is running, and show the plan where that changed it."""
    tree.focus(task.plan)
    yield from changed(task, bench)


def go_on(task: Task, bench: Bench) -> str:
    """What to say where the model's text is the result of a subtask and others are open; "" where it is the answer."""
    if len(task.plan) < 2:
        return ""
    by_rules = not can_plan(bench)
    asks = judging.asks_user(task)
    if asks and not by_rules:
        return ""
    head, body = _without_head(task.text) if by_rules else ("", task.text)
    node = tree.focus(task.plan)
    if node is not None and (by_rules or len(tree.unfinished(task.plan)) > 1):
        node.status, node.result = "failed" if asks else "done", body[: tree.RESULT_CHARS]
    following = tree.focus(task.plan)
    if following is None or following is node:
        if by_rules:
            task.text = _joined(task.plan, head)
        return ""
    left = ", ".join(n.id for n in tree.unfinished(task.plan))
    took = f"That is taken as the result of subtask {node.id}. " if node else ""
    said = f"Go on. {took}Still open: {left}. Next is subtask {following.id}: {following.text}"
    if by_rules:
        return said
    return f"{said}\nWhere your text covers it already, finish or skip it with update_plan, and give the whole answer."


def _without_head(text: str) -> tuple[str, str]:
    """(what a model of rules says of itself in brackets, the rest)."""
    head, blank, rest = text.partition("\n\n")
    return (head, rest) if blank and head.startswith(("(", "（")) else ("", text)


def _joined(nodes: list[Subtask], head: str) -> str:
    """The results of all parts under their questions, those that ask something last."""
    parts = sorted(nodes, key=lambda node: node.status == "failed")
    return "\n\n".join([*([head] if head else []), *(f"**{n.text}**\n\n{n.result}" for n in parts)])


def review(task: Task, bench: Bench) -> Iterator[Event]:
    """Look back at the step. A run that goes round in circles stops; a finding leads to advice or a new plan."""
    if task.calls and not task.stop_reason:
        findings = bench.tally.step(task, bench.toolbox)
        if any(seen.ok and seen.effect != "read" for seen in task.results):
            rules.after_write(task)
        if circle := bench.tally.circle():
            task.stop_reason, task.reason = "no_progress", circle
        else:
            yield from _reflect(task, bench, findings)
    yield from changed(task, bench)


def _reflect(task: Task, bench: Bench, findings: list[reflection.Finding]) -> Iterator[Event]:
    for finding in findings:
        rule = reflection.rule(finding, task)
        if rules.fault(rule, task, bench.toolbox.names):
            continue
        rule = rules.add(task, rule)
        if finding.repeats:
            bench.tally.warned(finding.trigger)
        yield Reflected(
            run=task.run,
            step=task.steps,
            level=finding.level,
            trigger=finding.trigger,
            text=finding.text,
            rule=rule,
        )
    why = next((finding.trigger for finding in findings if finding.replan), "")
    if why and task.planner == "hybrid" and bench.replans < MOST_REPLANS:
        yield from _replan(task, bench, why)


def _replan(task: Task, bench: Bench, why: str) -> Iterator[Event]:
    """Hybrid: what is done stays, the rest is planned anew."""
    if not can_plan(bench) or bench.closed_valve(task)[0]:
        return
    bench.replans += 1
    made = yield from drafting.redraft(task, bench, why)
    if made.fault:
        yield _planned(task, bench, f"{why}; a new plan was asked for, and none could be used: {made.fault}")
        return
    task.plan = made.nodes
    tree.focus(task.plan)
    yield _planned(task, bench, f"planned anew: {why}")


def changed(task: Task, bench: Bench) -> Iterator[Event]:
    """The plan again, where it is not as it was shown last. React has nothing to show."""
    if len(task.plan) > 1 and _rows(task) != bench.shown_plan:
        yield _planned(task, bench, "")


def _planned(task: Task, bench: Bench, note: str) -> Event:
    bench.shown_plan = _rows(task)
    criteria = [dataclasses.asdict(criterion) for criterion in task.criteria]
    return Planned(
        run=task.run,
        step=task.steps,
        planner=task.planner,
        subtasks=bench.shown_plan,
        criteria=criteria,
        note=note,
    )


def _rows(task: Task) -> list[Json]:
    return [dataclasses.asdict(node) for node in task.plan]


def closed(task: Task) -> None:
    """The run has ended: what was under way is done, or has failed."""
    for node in task.plan:
        if task.done and node.status == "pending":
            node.status = "skipped"
        elif node.status == "running" or (len(task.plan) == 1 and not task.done):
            node.status = "done" if task.done else "failed"
