"""Reflection in the loop: what is counted, the rule that follows, how it changes a later call, and when it is gone."""

import json

import pytest

from agent_nb import Limits, Session, events, tool
from agent_nb.models.scripted import ScriptedModel
from agent_nb.planning import rules
from agent_nb.task import Subtask, Task


@tool
def look(key: str) -> str:
    """Look a key up."""
    return "nothing found"


@tool
def square(n: int) -> int:
    """The square of a number."""
    return n * n


@tool(effect="write")
def store(value: int) -> str:
    """Write a value."""
    return "ok"


@tool(takes=0.000001)
def slow(n: int) -> int:
    """Takes longer than it declares."""
    return sum(range(1_000)) + n


def use(name, call_id, **given):
    return {"content": [{"type": "tool_use", "id": call_id, "name": name, "input": given}]}


def session(replies, **settings):
    settings = {
        "memory": None,
        "tools": [look, square, store, slow],
        "name": "t",
        "approve": "auto",
    } | settings
    return Session(ScriptedModel(replies), **settings)


def reflected(result):
    return [event for event in result.trace if isinstance(event, events.Reflected)]


def progress(request):
    text = request["messages"][-1]["content"][-1]["text"]
    return text if text.startswith("<progress>") else ""


def test_the_same_call_three_times_makes_a_rule_that_forbids_it_and_the_model_sees_it():
    made = session([use("square", f"t{i}", n=4) for i in range(3)] + ["16"])
    result = made.run("square 4")
    assert result.done
    assert [e.level for e in reflected(result)] == ["strategy", "cognition"]
    rule = reflected(result)[1].rule
    assert (rule["scope"], rule["since"], rule["until"]) == ("tool square", 4, 8)
    assert rule["call"] == {"name": "square", "input": {"n": 4}}
    assert [bool(progress(r)) for r in made.model.requests] == [False, False, False, True]
    assert 'Do not call square with {"n": 4} again' in progress(made.model.requests[3])
    assert any(part["part"] == "plan" for part in made.window())


def test_a_rule_changes_later_calls_and_is_gone_when_it_expires():
    """The model calls as it likes unless the window forbids it; others in between keep the run going."""
    asked = []

    def model(request):
        step = len(asked)
        forbidden = 'square with {"n": 4}' in json.dumps(request["messages"][-1]).replace("\\", "")
        asked.append(forbidden)
        return use("square", f"t{step}", n=100 + step if forbidden else 4)

    made = session([model] * 12, limits=Limits(steps=10))
    result = made.run("squares")
    assert asked == [False] * 3 + [True] * 5 + [False] * 2
    assert [o.input["n"] for o in result.task.observations][3:] == [103, 104, 105, 106, 107, 4, 4]
    assert rules.active(result.task, 9) == []


def test_a_call_that_a_rule_forbids_is_not_made_and_another_way_is_open():
    calls = [use("square", f"t{i}", n=4) for i in range(3)]
    both = {"content": use("square", "t8", n=4)["content"] + use("square", "t9", n=5)["content"]}
    result = session([*calls, both, "25"]).run("squares")
    assert [o.kind for o in result.task.observations] == ["", "", "", "ruled_out", ""]
    assert "temporary rule" in result.task.observations[3].text
    assert result.done


def test_a_write_lifts_the_rule_for_what_was_read_may_have_changed():
    calls = [use("square", f"t{i}", n=4) for i in range(3)]
    result = session([*calls, use("store", "w", value=1), use("square", "t9", n=4), "16"]).run("goal")
    assert [o.kind for o in result.task.observations] == [""] * 5
    assert result.done


@pytest.mark.parametrize("gap", [1, 2])
def test_a_run_in_circles_stops_and_says_why(gap):
    """The same call, or two calls in turn: told once, and stopped when it goes on."""
    result = session([use("square", f"t{i}", n=i % gap) for i in range(12)]).run("goal")
    assert result.stop_reason == "no_progress"
    assert "square was called 3 times with the same arguments and the same result" in result.reason
    assert result.task.steps < 9


def test_errors_in_new_words_are_no_circle_and_different_questions_may_have_one_answer():
    calls = [use("look", f"t{i}", key=str(i)) for i in range(10)]
    result = session([*calls, "not there"]).run("goal")
    assert result.done
    assert {e.trigger for e in reflected(result)} >= {"nothing new in 3 steps", "nothing new in 6 steps"}
    writes = session([use("store", f"t{i}", value=i) for i in range(6)] + ["stored"], name="u").run("goal")
    assert writes.done
    assert reflected(writes) == []


def test_steps_that_bring_something_new_are_not_reflected_on():
    result = session([use("square", f"t{i}", n=i) for i in range(10)] + ["done"]).run("squares of numbers")
    assert result.done
    assert reflected(result) == []


def test_a_tool_slower_than_declared_is_told_after_five_calls():
    made = session([use("slow", f"t{i}", n=i) for i in range(7)] + ["done"])
    result = made.run("goal")
    told = [e for e in reflected(result) if "declared" in e.trigger]
    assert [(e.level, e.step) for e in told] == [("strategy", 5), ("cognition", 5)]
    assert "slow is slow" in progress(made.model.requests[5])


def test_steps_that_left_the_goal_are_told():
    words = "I will now write a poem about mountains, rivers and the wide open sky. "
    replies = [
        {"content": [{"type": "text", "text": words}, *use("square", f"t{i}", n=i)["content"]]}
        for i in range(5)
    ]
    made = session([*replies, "done"])
    result = made.run("Which airline had the highest departure delay in July?")
    assert [(e.trigger, e.step) for e in reflected(result)] == [("off the goal", 3)]
    assert "highest departure delay" in progress(made.model.requests[3])


def test_the_model_can_set_a_rule_of_its_own_and_one_that_is_wrong_is_refused():
    plan = json.dumps({"subtasks": [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]})
    wanted = {"op": "rule", "text": "Use look only for orders.", "scope": "tool look", "steps": 2}
    bad = [
        wanted | {"scope": "tool nope"},
        wanted | {"steps": 99},
        wanted | {"text": "log in with password=Tr0ub4dor&3xyz"},
        wanted | {"text": ""},
        wanted | {"scope": "subtask 7"},
    ]
    for n, edit in enumerate([wanted, *bad]):
        call = use("update_plan", "p", edits=[edit])
        made = session(
            [plan, call, use("square", "t1", n=2), use("square", "t2", n=3), "a", "b"], name=f"s{n}"
        )
        made.planner = "plan"
        result = made.run("goal")
        assert result.task.observations[0].ok == (edit is wanted), result.task.observations[0].text
        seen = ["Use look only" in progress(request) for request in made.model.requests[2:5]]
        assert seen == ([True, True, False] if edit is wanted else [False] * 3)


def test_a_rule_is_checked_before_it_holds_and_only_a_few_hold_at_a_time():
    task = Task("g", plan=[Subtask("1", "a", "running")], steps=1)
    rule = {"text": "x", "scope": "run", "since": 2, "until": 4, "why": "", "call": {}, "level": "task"}
    assert rules.fault(rule, task, []) == ""
    assert "never made" in rules.fault(rule | {"call": {"name": "a", "input": {}}}, task, [])
    for scope in ("tool a", "subtask 1", "run", "tool b", "tool c"):
        rules.add(task, rule | {"scope": scope})
    assert [r["scope"] for r in rules.active(task, 2)] == ["run", "tool b", "tool c"]
    assert len({r["id"] for r in task.rules}) == 3
    rules.add(task, rule | {"scope": "subtask 1"})
    task.plan[0].status = "done"
    assert "subtask 1" not in [r["scope"] for r in rules.active(task, 2)]


def test_a_wrong_edit_of_the_plan_again_and_again_is_a_circle_too():
    plan = json.dumps({"subtasks": [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]})
    wrong = [use("update_plan", f"p{i}", edits=[{"op": "finish", "id": "9"}]) for i in range(9)]
    result = session([plan, *wrong], planner="plan").run("goal")
    assert result.stop_reason == "no_progress"
    assert "update_plan" in result.reason
    assert [node.fails for node in result.task.plan] == [0, 0]
