"""The plan comes back from the transcript: after a stop, in another kernel, rewound, forked, damaged."""

import json

import pytest

from agent_nb import Limits, Session, events, tool
from agent_nb.models.scripted import ScriptedModel
from agent_nb.planning import restoring


@tool
def square(n: int) -> int:
    """The square of a number."""
    return n * n


def use(*calls):
    blocks = [
        {"type": "tool_use", "id": f"{name}{i}", "name": name, "input": given} for name, i, given in calls
    ]
    return {"content": blocks}


PLAN = json.dumps(
    {"subtasks": [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}], "criteria": ["contains 'end'"]}
)
FINISH = ("update_plan", 1, {"edits": [{"op": "finish", "id": "1", "result": "sixteen"}]})


def stopped():
    """A session whose run stopped after it had finished its first subtask."""
    replies = [PLAN, use(("square", 1, {"n": 4})), use(FINISH, ("square", 2, {"n": 5}))]
    made = Session(
        ScriptedModel(replies),
        memory=None,
        tools=[square],
        limits=Limits(steps=2),
        planner="hybrid",
        name="s",
    )
    assert made.run("goal").stop_reason == "limit_steps"
    return made


def reopened(name="s", replies=("the end",)):
    return Session.open(name, model=ScriptedModel(list(replies)), memory=None, tools=[square])


def states(result):
    return [(node.id, node.status, node.result) for node in result.task.plan]


def test_resume_in_another_kernel_goes_on_with_the_plan_and_asks_for_no_new_one():
    stopped()
    made = reopened()
    result = made.resume()
    assert (result.text, result.done) == ("the end", True)
    assert result.usage.calls == 1
    assert states(result) == [("1", "done", "sixteen"), ("2", "done", "")]
    assert "Work now on subtask 2: b" in json.dumps(made.model.requests[0]["messages"][-1])
    assert [c.text for c in result.task.criteria] == ["contains 'end'"]
    assert {t["name"] for t in made.model.requests[0]["tools"]} == {"square", "update_plan"}
    assert next(e for e in result.trace if isinstance(e, events.Planned)).planner == "hybrid"


def test_rewound_the_plan_is_as_it_was_at_that_step_and_a_fork_has_its_own():
    made = stopped()
    other = made.fork("other", 1)
    other.model = ScriptedModel(["part one", "the end"])
    result = other.resume(steps=5)
    assert states(result) == [("1", "done", "part one"), ("2", "done", "")]
    again = reopened()
    assert states(again.resume())[0] == ("1", "done", "sixteen")


def test_a_rule_keeps_the_steps_that_it_had_left():
    calls = [use(("square", i, {"n": 4})) for i in range(4)]
    made = Session(ScriptedModel(calls[:3]), memory=None, tools=[square], limits=Limits(steps=3), name="s")
    made.run("goal")
    assert made.resume is not None
    made = reopened(replies=[use(("square", 9, {"n": 5})), "the end"])
    result = made.resume(steps=9)
    # The valve closed at the step that would have made the rule: nothing is made up afterwards.
    assert result.task.rules == []
    made = Session(
        ScriptedModel([*calls[:3], use(("square", 7, {"n": 5}))]),
        memory=None, tools=[square], limits=Limits(steps=4), name="r",
    )  # fmt: skip
    made.run("goal")
    again = reopened("r", [use(("square", 9, {"n": 4})), "the end"])
    result = again.resume(steps=9)
    assert (
        'Do not call square with {"n": 4}' in again.model.requests[0]["messages"][-1]["content"][-1]["text"]
    )
    assert [o.kind for o in result.task.observations][-1] == "ruled_out"
    assert [rule["until"] for rule in result.task.rules if rule["call"]] == [4]


@pytest.mark.parametrize(
    "rows",
    [
        [1],
        [{"id": "1"}],
        [{"id": 1, "text": "a"}],
        [{"id": "1", "text": "a", "status": "odd"}],
        [{"id": "1", "text": "a", "needs": None}],
        [{"id": "1", "text": "a", "needs": ["2"]}],
        [{"id": "1", "text": "a", "needs": ["1"]}],
        [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}],
    ],
)
def test_a_damaged_plan_is_no_plan_and_the_run_goes_on_without(rows, own_home):
    assert restoring.subtasks(rows) == []
    stopped()
    path = own_home / "sessions" / "s.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        if line["event"] == "Planned":
            line["subtasks"] = rows
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    made = reopened(replies=["no plan", "no plan", "the end", "the end"])
    assert made.resume().done


def test_fields_of_another_version_are_left_out():
    assert restoring.subtasks([{"id": "1", "text": "a", "colour": "red"}])[0].text == "a"


def walk():
    return [PLAN, use(("square", 1, {"n": 4})), use(FINISH, ("square", 2, {"n": 5})), "the end"]


@pytest.mark.parametrize("n", range(24))
def test_closed_after_any_event_the_plan_can_be_gone_on_with(n):
    made = Session(ScriptedModel(walk()), memory=None, tools=[square], planner="plan", name="s")
    stream = made.stream("goal")
    seen = [event for _, event in zip(range(n), stream, strict=False)]
    stream.close()
    if not seen or made.result.done:
        return
    rest = lambda request: "the end" if request["tools"] else PLAN  # noqa: E731
    result = reopened(replies=[rest] * 5).resume()
    assert result.done, result.reason
    assert [node.status for node in result.task.plan] == ["done", "done"]


def test_an_interrupt_while_the_plan_is_made_ends_the_run_and_resume_makes_one():
    made = Session(
        ScriptedModel([KeyboardInterrupt()]), memory=None, tools=[square], planner="plan", name="s"
    )
    assert made.run("goal").stop_reason == "interrupted"
    result = reopened(replies=[PLAN, "a", "the end"]).resume()
    assert result.done
    assert len(result.task.plan) == 2


def test_a_planned_run_is_recorded_and_replayed_exactly(tmp_path):
    from agent_nb.models.replay import RecordingModel

    file = str(tmp_path / "plan.jsonl")
    model = RecordingModel(ScriptedModel(walk()), file)
    first = Session(model, memory=None, tools=[square], planner="plan", name="a").run("goal")
    again = Session(f"replay:{file}", memory=None, tools=[square], planner="plan", name="b").run("goal")
    assert first.done
    assert (again.text, again.stop_reason, states(again)) == (first.text, "done", states(first))
