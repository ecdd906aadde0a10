"""Random reply scripts: no traceback leaves a run, and what it leaves behind can be gone on with."""

import itertools
import json
import os
import random
import time

import pytest

from agent_nb import Limits, Session, events, tool
from agent_nb.approval import Verdict
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages
from agent_nb.zones import Zones

NAMES = itertools.count()
STOPS = {
    "done", "needs_input", "limit_steps", "limit_tokens", "limit_cost", "limit_seconds", "truncated", "empty",
    "no_progress", "context_full", "refused", "interrupted", "error",
}  # fmt: skip
TEXTS = (
    "9" * 400 + " and 1e999 %",
    " ",
    "42 of 1,000 (4.2 %)",
    "共 3.2万 元",
    "Which order?",
    "<b>x</b>",
    "x" * 3_000,
    "[]",
    "{}",
    "done",
)
OPS = ("start", "finish", "fail", "skip", "change", "add", "rule", "remove", "??")


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(parallel=True)
def beside(n: int) -> list[int]:
    """Count up."""
    return list(range(n % 50))


@tool(effect="write", keys=("order_id",))
def cancel(order_id: str, why: str = "") -> dict[str, str]:
    """Cancel an order."""
    return {"order_id": order_id, "status": "cancelled"}


@tool
def lies(x: str) -> object:
    """Say anything."""
    if x == "raise":
        raise SystemExit("no")
    return {"nan": float("nan"), "rows": [[1, float("inf")]], "self": lies, "text": x * 50}


TOOLS = [add, beside, cancel, lies]


def sound(r, n):
    """A reply that a good model might give: text, calls that fit, edits of the plan."""
    calls = [
        ("add", {"a": r.randint(0, 3), "b": 1}), ("beside", {"n": r.randint(0, 99)}), ("lies", {"x": "y"}),
        ("cancel", {"order_id": r.choice(["A-1", "B-2"])}), ("lies", {"x": "raise"}),
        ("update_plan", {"edits": [edit(r)]}), ("update_plan", {"edits": [{"op": "add", "text": f"Look {n}"}]}),
    ]  # fmt: skip
    chosen = r.sample(calls, r.choice([0, 1, 1, 2, 3]))
    content = [{"type": "text", "text": r.choice(TEXTS)}] if not chosen or r.random() < 0.5 else []
    content += [{"type": "tool_use", "id": f"s{n}_{i}", "name": name, "input": given} for i, (name, given) in enumerate(chosen)]  # fmt: skip
    return {"content": content}


def script(r):
    """Thirty replies, sound ones in most places of most scripts."""
    sane = r.choice([0, 0.5, 0.9, 0.9])
    return [sound(r, n) if r.random() < sane else reply(r) for n in range(30)]


def block(r):
    """One block of a reply, right or wrong."""
    kind = r.choice(["text"] * 4 + ["use"] * 6 + ["plan"] * 3 + ["thinking", "redacted", "other", "bad"])
    name = r.choice(["add", "beside", "cancel", "lies", "nothing", "update_plan", ""])
    given = r.choice([
        {"a": r.randint(0, 3), "b": 1}, {"n": r.randint(0, 99)}, {"order_id": r.choice(["A-1", "B-2"])},
        {"x": r.choice(["raise", "y"])}, {"a": "one"}, {}, {"a": 1, "b": 2, "c": 3}, None, "text",
    ])  # fmt: skip
    match kind:
        case "text":
            return {"type": "text", "text": r.choice(TEXTS)}
        case "use":
            return {"type": "tool_use", "id": f"t{r.randint(0, 9)}", "name": name, "input": given}
        case "plan":
            edits = [edit(r) for _ in range(r.randint(0, 3))]
            return {
                "type": "tool_use",
                "id": f"p{r.randint(0, 9)}",
                "name": "update_plan",
                "input": {"edits": edits},
            }
        case "thinking":
            return {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        case "redacted":
            return {"type": "redacted_thinking", "data": "c2ln"}
        case "other":
            return {"type": r.choice(["server_tool_use", "image", "tool_result", "??"]), "id": "x"}
    return r.choice([None, 5, "text", {}, {"type": "text"}, {"type": "tool_use"}, []])


def edit(r):
    given = {
        "op": r.choice(OPS),
        "id": r.choice(["1", "2", "9", ""]),
        "text": r.choice(["Look", "Never call add", ""]),
    }
    given |= {
        "needs": r.sample(["1", "2", "3"], r.randint(0, 2)),
        "result": "found",
        "expects": "at least 1 row",
    }
    given |= {"scope": r.choice(["run", "tool add", "subtask 1"]), "steps": r.randint(0, 3)}
    return {key: given[key] for key in r.sample(sorted(given), r.randint(1, 6))}


def reply(r):
    """A whole reply: a message, a plan, verdicts, pieces, an error."""
    usage = r.choice(
        [{"input_tokens": r.randint(0, 900), "output_tokens": r.randint(0, 99)}] * 4 + [None, {}, 5]
    )
    stop = r.choice(["end_turn"] * 3 + ["tool_use"] * 4 + ["max_tokens", "pause_turn", "refusal", "stop_sequence", None, "odd"])  # fmt: skip
    content = [block(r) for _ in range(r.randint(0, 4))]
    rows = [{"id": str(n), "text": r.choice(["Look", "add up", ""]), "needs": r.choice([[], ["1"], ["7"]])} for n in range(r.randint(0, 4))]  # fmt: skip
    plan = {
        "subtasks": rows,
        "criteria": r.choice([[], ["contains 'x'"], ["is good"], 5]),
        "tools": r.choice([[], ["fly"]]),
    }
    verdicts = [
        r.choice([{"met": True}, {"met": False, "reason": "no"}, None, {"met": "yes"}]) for _ in range(3)
    ]
    text = r.choice([json.dumps(plan), json.dumps(verdicts), "no plan", "[{]", "done: 42"])
    if r.random() < 0.3:
        content, stop = [{"type": "text", "text": text}], "end_turn"
    message = {"role": "assistant", "content": content, "stop_reason": stop, "usage": usage}
    odd = r.choice([ValueError("cut"), SystemExit(2), MemoryError(), OSError("gone"), {"type": "?"}, None])
    return r.choice(
        [[{"type": "message", "message": message}]] * 12
        + [[odd], [{"type": "text_delta", "text": "ha"}, odd]]
    )


class Asker:
    def __init__(self, r):
        self.r = r

    def __call__(self, question):
        word = self.r.choice(["approve", "deny", "edit", "raise", "odd"])
        if word == "raise":
            raise RuntimeError("no widget")
        if word == "odd":
            return self.r.choice([None, True, Verdict("perhaps"), Verdict("approve", input=[1])])
        given = self.r.choice([{"order_id": "C-3"}, {}, {"order_id": {1, 2}}]) if word == "edit" else None
        return Verdict("deny" if word == "deny" else "approve", by="input", input=given)


def settings(r, n):
    limits = Limits(steps=r.randint(0, 8), tokens=r.choice([0, 1_500, 6_000, 100_000]), seconds=20)
    return {
        "tools": TOOLS, "memory": None, "limits": limits, "planner": r.choice(["react", "plan", "hybrid", "auto"]),
        "approve": r.choice(["ask", "auto", "never"]), "asker": Asker(r), "name": f"random{n}",
        "rules": r.choice(["", "be brief"]),
        "zones": Zones(working=r.choice([0, 300, 4_000]), steps=r.choice([0, 1, 8])),
    }  # fmt: skip


def holds(made, result):
    """What is true after every run."""
    assert result.stop_reason in STOPS
    assert result.done == (result.stop_reason == "done")
    validate_messages([*made.messages, {"role": "user", "content": [{"type": "text", "text": "next"}]}])
    told = [json.dumps(event.to_dict(), allow_nan=False) for event in made.trace]
    again = Session.open(made.name, model=ScriptedModel([]), memory=None, tools=[])
    assert again.messages == made.messages
    assert [json.dumps(event.to_dict(), allow_nan=False) for event in again.trace] == told
    run = [event for event in made.trace if event.run == made.trace[-1].run]
    ends = [event for event in run if isinstance(event, events.RunEnded)]
    assert len(ends) == 1
    assert run[-1] is ends[0]
    assert sum(isinstance(event, events.Answered) for event in run) == 1
    started = {(e.step, e.id) for e in run if isinstance(e, events.ToolStarted)}
    assert started == {(e.step, e.id) for e in run if isinstance(e, events.ToolFinished)}


def within_valves(made, result, limits):
    steps = sum(isinstance(event, events.Judged) for event in result.trace)
    assert steps <= max(limits.steps, 1)
    assert limits.steps or not steps


@pytest.mark.parametrize("seed", range(int(os.environ.get("AGENT_NB_SOAK", "60"))))
def test_a_random_script(seed, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda s: None)
    r, n = random.Random(seed), next(NAMES)
    goal = r.choice(["sum up", "Cancel order A-1", "First count. Then add up. Then compare.", "合计是多少"])
    goal += r.choice(
        ["", "\ndone when:\n- contains '42'\n- is polite", "\ndone when:\n- every number has evidence"]
    )
    given = settings(r, n)
    made = Session(ScriptedModel(script(r)), **given)
    result = made.run(goal)
    holds(made, result)
    within_valves(made, result, given["limits"])
    again = Session(ScriptedModel(script(r)), **given)
    forked = made.fork(f"{made.name} forked")
    assert forked.messages == made.messages
    if not result.done:
        result = again.resume(steps=r.randint(1, 4))
        holds(again, result)
    if steps := sum(isinstance(event, events.Judged) for event in again._transcript.turns()[-1]):
        again.rewind(r.randrange(steps))
        if not result.done:
            holds(again, again.resume(steps=2))
    third = Session.open(made.name, model=ScriptedModel(["The end."] * 9), memory=None, tools=TOOLS)
    result = third.run("and now?")
    holds(third, result)
    assert result.text == "The end."
