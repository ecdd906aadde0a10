"""Reflection: what is counted at each step, and what follows from it at three levels.

task       this step failed: another way
strategy   the same call again, nothing new, a slow tool, off the goal: change the plan
cognition  a temporary rule (`rules.py`) that later decisions see, and that can forbid a call

Everything is counted in code, once a step, over that step's calls only; no model is asked.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..task import Observation, Task
from . import expectation, plan_tool, rules, tree
from .drift import Course

if TYPE_CHECKING:
    from ..tools.tool import Toolbox

Json = dict[str, Any]

REPEATS = 3
"""Identical calls with identical results that lead to reflection."""
STALE = 3
"""Steps in a row without new information that lead to reflection."""
FAILS = 3
"""Steps in a row of one subtask that failed, after which it has failed."""
SLOW_CALLS = 5
"""Calls of a tool before its mean latency is held against what it declares."""
TASK_STEPS, STRATEGY_STEPS, RULE_STEPS = 2, 3, 5
"""Steps that advice of each level stays in the window."""

_VARYING = re.compile(r'\b_r\d+\b|"cached": true,? ?')


@dataclasses.dataclass(frozen=True)
class Finding:
    """What a count led to.

    `replan`: the plan should be made anew; `repeats`: it goes round in circles; `call`: not to be made again.
    """

    level: str
    trigger: str
    text: str
    scope: str = "run"
    call: Json = dataclasses.field(default_factory=dict)
    replan: bool = False
    repeats: bool = False


@dataclasses.dataclass(frozen=True)
class _News:
    """Of one call: whether it brought something new, whether it only repeats a call or an error, its count."""

    new: bool
    again: bool
    times: int


class Tally:
    """The counts of a run, kept up step by step, so that a long run costs the same per step as a short one."""

    def __init__(self) -> None:
        self._taken = 0
        self._seen: dict[tuple[Any, ...], int] = {}
        self._told: set[tuple[str, str]] = set()
        self._times: dict[str, tuple[int, float]] = {}
        self._course = Course()
        self._warned = ""
        self.stale = 0
        self.circling = 0

    def step(self, task: Task, toolbox: Toolbox) -> list[Finding]:
        """Count the step that was just observed; what follows from it."""
        seen = [o for o in task.results if o.name != plan_tool.NAME or not o.ok]
        worked = [o for o in seen if o.name != plan_tool.NAME]
        before = len(task.observations) - len(task.results)
        for old in task.observations[self._taken : before]:  # of the run that this one goes on with
            self._news(old)
        self._taken = len(task.observations)
        if not seen:
            return []
        news = [self._news(o) for o in seen]
        self.stale = 0 if any(n.new for n in news) else self.stale + 1
        self.circling = self.circling + 1 if all(n.again for n in news) else 0
        self._warned = self._warned if self.stale else ""
        found = [*self._failed(task, worked), *self._contradicted(task, worked)]
        found += [*self._repeated(seen, news)] or [*self._nothing_new()]
        found += self._slow(seen, toolbox)
        if self._course.off(task):
            text = f"The last steps share no word with the goal. The goal is: {task.goal[:160]}"
            found.append(Finding("strategy", "off the goal", text, replan=True))
        return found

    def circle(self) -> str:
        """Why the run goes round in circles: it was told so, and the step after it was like those before; or ""."""
        if self.circling and self._warned:
            return f"{self._warned}; this was pointed out, and the next step only repeated it"
        return ""

    def warned(self, trigger: str) -> None:
        """The model is told now that it repeats itself."""
        self._warned = trigger

    def _news(self, seen: Observation) -> _News:
        if seen.kind == "ruled_out":
            return _News(False, True, 0)
        text = hash(_VARYING.sub("", seen.text))
        result, call = (seen.name, text), (seen.name, text, _key(seen.input))
        known, times = self._seen.get(result, 0), self._seen.get(call, 0) + 1
        self._seen[result], self._seen[call] = known + 1, times
        if not seen.cached and seen.kind in ("", "failed"):
            count, total = self._times.get(seen.name, (0, 0.0))
            self._times[seen.name] = (count + 1, total + seen.ms / 1_000)
        wrote = seen.effect != "read" and seen.ok
        return _News(times == 1 and (wrote or not known), bool(times > 1 or (known and not seen.ok)), times)

    def _failed(self, task: Task, seen: list[Observation]) -> Iterable[Finding]:
        node = tree.running(task.plan)
        if node is None or not seen:
            return
        if any(o.ok for o in seen):
            node.fails = 0
            return
        node.fails += 1
        raised = next((o for o in seen if o.kind == "failed"), None)
        said = _error(raised or seen[0])
        planned = len(task.plan) > 1
        scope = f"subtask {node.id}" if planned else "run"
        if node.fails >= FAILS:
            if planned:
                node.status, node.result = "failed", f"failed {node.fails} times: {said}"
            if node.fails == FAILS:
                what = (
                    f"Subtask {node.id} failed {FAILS} times" if planned else f"{FAILS} steps in a row failed"
                )
                text = f"{what} ({said}): change the plan, or say what is missing."
                yield Finding("strategy", f"subtask {node.id} failed {FAILS} times", text, replan=True)
        elif node.fails == 2 or (raised is not None and planned):
            text = f"{seen[0].name} failed ({said}): try another way, not the same call."
            yield Finding("task", f"{seen[0].name} failed", text, scope, replan=raised is not None)

    def _contradicted(self, task: Task, seen: list[Observation]) -> Iterable[Finding]:
        node = tree.running(task.plan)
        for o in seen if node is not None and node.expects else ():
            assert node is not None
            said = expectation.contradicted(node.expects, o)
            if said and self._once("contradicted", node.id):
                text = f"The result of {o.name} contradicts what subtask {node.id} expects: {said}."
                yield Finding("task", f"result against expectation: {said}", text, replan=True)

    def _repeated(self, seen: list[Observation], news: list[_News]) -> Iterable[Finding]:
        for o, n in zip(seen, news, strict=True):
            if n.times != REPEATS:
                continue
            told = f"{o.name} was called {REPEATS} times with the same arguments and the same result"
            yield Finding(
                "strategy",
                told,
                f"{told}: change the plan, or answer with what you have.",
                replan=True,
                repeats=True,
            )
            forbidden = f"Do not call {o.name} with {_shown(o.input)} again: its result is known."
            yield Finding("cognition", told, forbidden, f"tool {o.name}", {"name": o.name, "input": o.input})

    def _nothing_new(self) -> Iterable[Finding]:
        if self.stale and self.stale % STALE == 0:
            told = f"nothing new in {self.stale} steps"
            text = f"The last {self.stale} steps brought nothing new: change the plan, or answer with what you have."
            yield Finding("strategy", told, text, replan=True, repeats=True)

    def _slow(self, seen: list[Observation], toolbox: Toolbox) -> Iterable[Finding]:
        for name in {o.name for o in seen}:
            tool = toolbox.get(name)
            count, total = self._times.get(name, (0, 0.0))
            if (
                tool is None
                or count < SLOW_CALLS
                or total / count <= tool.takes
                or not self._once("slow", name)
            ):
                continue
            told = f"{name} takes {total / count:.1f} s a call, {tool.takes:g} s were declared"
            yield Finding("strategy", told, f"{told}: plan with fewer calls of it.", f"tool {name}")
            text = f"{name} is slow ({total / count:.1f} s a call): ask it for more at once, and only where needed."
            yield Finding("cognition", told, text, f"tool {name}")

    def _once(self, kind: str, what: str) -> bool:
        """Whether this is told for the first time."""
        if (kind, what) in self._told:
            return False
        self._told.add((kind, what))
        return True


def rule(finding: Finding, task: Task) -> Json:
    """The finding as a rule from the next step on."""
    steps = {"task": TASK_STEPS, "strategy": STRATEGY_STEPS}.get(finding.level, RULE_STEPS)
    return {
        "text": finding.text[: rules.TEXT_CHARS],
        "scope": finding.scope,
        "since": task.steps + 1,
        "until": task.steps + steps,
        "why": finding.trigger,
        "call": finding.call,
        "level": finding.level,
    }


def _error(seen: Observation) -> str:
    try:
        body = json.loads(seen.text.split("\n")[0])
        said = str(body.get("error") or seen.text) if isinstance(body, dict) else seen.text
    except ValueError:
        said = seen.text
    said = " ".join(said.split())
    return said if len(said) <= 100 else said[:99] + "…"


def _key(given: Json) -> str:
    return json.dumps(given, sort_keys=True, default=str)


def _shown(given: Json) -> str:
    said = json.dumps(given, ensure_ascii=False, default=str)
    return said if len(said) <= 100 else said[:99] + "…"
