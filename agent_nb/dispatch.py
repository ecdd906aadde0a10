"""The tool calls of one step: checked, asked about where they write, run, each answered under its own id."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from . import evidence
from .alarm import may_cut, within
from .approval import Verdict
from .errors import CutShort, ToolInputError, one_line
from .events import ApprovalAsked, ApprovalGiven, Event, Noticed, ToolFinished, ToolStarted
from .planning import plan_tool, rules
from .redact import redact
from .task import Observation, Task

if TYPE_CHECKING:
    from .bench import Bench
    from .tools.tool import Tool

Json = dict[str, Any]


def run(task: Task, bench: Bench) -> Iterator[Event]:
    """Run `task.calls`; the observations stand in `task.results`, in the order of the calls.

    Tools declared `parallel=True` run side by side in threads of their own; all others run on the main
    thread, one after the other, where figures and signals are at home. A call that is not back when the run's
    time is up is answered with an error: on the main thread it is cut, in a thread of its own it is left behind.
    """
    mark: Json = {"run": task.run, "step": task.steps}
    finished: dict[str, Observation] = {}
    parallel: queue.SimpleQueue[Observation] = queue.SimpleQueue()
    waiting = 0
    for call in task.calls:
        tool = bench.toolbox.get(call["name"])
        effect, takes = (tool.effect, float(tool.takes)) if tool else ("read", 0.0)
        yield ToolStarted(**mark, **_named(call), effect=effect, takes=takes)
        refused = _refused(task, call, tool, bench)
        if refused is None and bench.seconds_left() <= 0:
            refused = _late(call, bench, "not run")
        aside = tool is not None and (tool.parallel or not may_cut())
        if refused is None and tool is not None and aside and not _asks(tool):
            waiting += 1
            _in_thread(bench, call, parallel)
            continue
        if refused is None and tool is not None and _asks(tool):
            call, refused = yield from _approved(task, bench, call, tool)
        seen = refused or _in_time(bench, call)
        yield _finish(task, finished, seen)
    while waiting:
        try:
            seen = parallel.get(timeout=0.1)  # short waits, so that an interrupt ends it
        except queue.Empty:
            if bench.seconds_left() > 0:
                continue
            for call in [call for call in task.calls if call["id"] not in finished]:
                yield _finish(task, finished, _late(call, bench, "left behind in its thread"))
            return
        waiting -= 1
        yield _finish(task, finished, seen)


def refusal(call: Json, kind: str, text: str, **more: Any) -> Observation:
    """An observation that says why a call was not run."""
    body = json.dumps({"ok": False, "error": text, **more}, ensure_ascii=False)
    content = [{"type": "text", "text": body}]
    return Observation(call["id"], call["name"], call["input"], ok=False, content=content, kind=kind)


def _named(call: Json) -> Json:
    return {"id": call["id"], "name": call["name"], "input": call["input"]}


def _finish(task: Task, finished: dict[str, Observation], seen: Observation) -> Event:
    finished[seen.id] = seen
    task.results = [finished[call["id"]] for call in task.calls if call["id"] in finished]
    observation = dict(vars(seen))
    return ToolFinished(run=task.run, step=task.steps, id=seen.id, name=seen.name, observation=observation)


def _asks(tool: Tool) -> bool:
    return tool.effect != "read" and getattr(tool, "asks", True)


def _refused(task: Task, call: Json, tool: Tool | None, bench: Bench) -> Observation | None:
    """Why the call may not run at all, or None."""
    names = ", ".join(schema["name"] for schema in bench.schemas()) or "none"
    if tool is None:
        return refusal(call, "unknown_tool", f"there is no tool {call['name']!r}; tools: {names}")
    if not bench.allows(call["name"]):
        return refusal(call, "not_allowed", f"{call['name']} is not allowed in this run; allowed: {names}")
    try:
        bench.toolbox.validate(call["name"], call["input"])
    except ToolInputError as error:
        return refusal(call, "bad_input", str(error), field=error.field, expected=error.expected)
    if tool.effect != "read" and (made_up := evidence.invented(call["input"], tool.keys, _told(task, bench))):
        field, value = next(iter(made_up.items()))
        text = f"{field} {value!r} was neither given by the user nor seen in a result; ask the user for it"
        return refusal(call, "invented", text, field=field)
    if rule := rules.forbids(task, call["name"], call["input"]):
        return refusal(call, "ruled_out", f"not called, by a temporary rule of this run: {rule}")
    return None


def _told(task: Task, bench: Bench) -> list[str]:
    """What the user said, tools answered and memory holds: where an identifier may come from."""
    texts = [
        task.goal,
        task.memory_text,
        *(seen.text for seen in task.observations if seen.name != plan_tool.NAME),
    ]
    messages = [m for turn in bench.turns for m in turn if m["role"] == "user"]
    for block in (block for message in messages for block in message["content"]):
        inner = block.get("content") if block.get("type") == "tool_result" else [block]
        texts += [str(part["text"]) for part in inner or () if isinstance(part, dict) and "text" in part]
    return texts


def _approved(
    task: Task, bench: Bench, call: Json, tool: Tool
) -> Generator[Event, None, tuple[Json, Observation | None]]:
    """The call as the user lets it run, or why it may not."""
    mark: Json = {"run": task.run, "step": task.steps}
    if bench.approve == "auto":
        return call, None
    if bench.approve == "never":
        yield ApprovalGiven(**mark, id=call["id"], verdict="deny", reason="this run never writes")
        return call, refusal(call, "denied", "denied: this run may not write (approve is 'never')")
    yield ApprovalAsked(**mark, **_named(call), effect=tool.effect)
    with bench.waiting():
        verdict, fault = _asked(bench, {**_named(call), "effect": tool.effect})
    if fault:
        yield Noticed(**mark, text=f"nobody could be asked about {call['name']}, so it is denied: {fault}")
    edited = {**call, "input": call["input"] if verdict.input is None else verdict.input}
    yield ApprovalGiven(
        **mark,
        id=call["id"],
        verdict=verdict.verdict,
        by=verdict.by,
        reason=verdict.reason,
        input=edited["input"],
    )
    if verdict.verdict != "approve":
        why = f": {verdict.reason}" if verdict.reason else ""
        who = "by policy" if verdict.by == "policy" else "by the user"
        return call, refusal(call, "denied", f"denied {who}{why}")
    return edited, None


def _asked(bench: Bench, question: Json) -> tuple[Verdict, str]:
    """The user's word, and what was wrong where there is none: then it is no."""
    fault = ""
    try:
        verdict = bench.asker(question)
        if isinstance(verdict, Verdict) and isinstance(verdict.input, dict | None):
            json.dumps(verdict.input, allow_nan=False)  # what was edited stands in the transcript, too
            return verdict, ""
        fault = f"the asker answered {verdict!r:.60}, not a Verdict"
    except Exception as error:
        fault = redact(one_line(error))
    return Verdict("deny", reason="the question could not be put"), fault


def _in_time(bench: Bench, call: Json) -> Observation:
    """The call's observation, or that it was cut. What is left of the clock is all that it gets."""
    try:
        return within(
            bench.seconds_left(), lambda: bench.toolbox.run(call["id"], call["name"], call["input"])
        )
    except CutShort:
        return _late(call, bench, "cut")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its result would not even be looked at
        return refusal(call, "failed", redact(one_line(error)))


def _late(call: Json, bench: Bench, what: str) -> Observation:
    """The answer to a call that the seconds valve ended."""
    after = f"after {bench.seconds():.3g} s of the run, which may take {bench.limits.seconds:g} s"
    return refusal(call, "failed", f"{what}: the time was up {after}")


def _in_thread(bench: Bench, call: Json, done: queue.SimpleQueue[Observation]) -> None:
    def work() -> None:
        try:
            done.put(bench.toolbox.run(call["id"], call["name"], call["input"]))
        except BaseException as error:  # the loop waits for this call: it must always be answered
            done.put(refusal(call, "failed", redact(one_line(error))))

    # A daemon: a call that never returns must not keep the kernel from ending.
    threading.Thread(target=work, name=f"tool-{call['name']}", daemon=True).start()
