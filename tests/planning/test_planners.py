"""Planners in the loop: what is asked of the model, what the plan becomes, and what falls back."""

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_nb import Limits, Session, events, tool
from agent_nb.errors import ModelError
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages
from agent_nb.notebook.views.html import run_html
from agent_nb.notebook.views.text import run_text
from agent_nb.planning import restoring, tree


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail(reason: str) -> str:
    """Fail with a reason."""
    raise RuntimeError(reason)


@tool
def rows(n: int) -> list[dict]:
    """A table of n rows."""
    return [{"x": i} for i in range(n)]


def use(name, call_id="t1", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def say(text):
    return {"type": "text", "text": text}


def reply(*content):
    return {"content": list(content)}


def plan(*texts, **more):
    nodes = [{"id": str(n), "text": text} for n, text in enumerate(texts, 1)]
    return json.dumps({"subtasks": nodes, **more})


def edits(*changes, call_id="p1"):
    return use("update_plan", call_id, edits=list(changes))


def session(replies, planner="plan", **settings):
    settings = {"memory": None, "tools": [add, fail, rows], "name": "t"} | settings
    return Session(ScriptedModel(replies), planner=planner, **settings)


def planned(result):
    return [event for event in result.trace if isinstance(event, events.Planned)]


def seen_by(made, n):
    """The text that the n-th call's last message ends with."""
    return made.model.requests[n]["messages"][-1]["content"][-1]["text"]


def valid(made):
    validate_messages([*made.messages, {"role": "user", "content": [say("next")]}])


def test_react_calls_no_model_to_plan_and_shows_no_plan():
    made = session([reply(use("add", a=1, b=2)), reply(say("3"))], planner="react")
    result = made.run("goal")
    assert result.usage.calls == 2
    assert len(planned(result)) == 1
    assert [t["name"] for t in made.model.requests[0]["tools"]] == ["add", "fail", "rows"]
    assert "<progress>" not in json.dumps(made.model.requests)


def test_a_plan_is_asked_for_once_walked_and_shown_as_it_changes():
    second = reply(edits({"op": "finish", "id": "1", "result": "the sum is 3"}), use("add", "t2", a=3, b=4))
    made = session(
        [plan("add 1 and 2", "add 4 to it"), reply(use("add", a=1, b=2)), second, reply(say("It is 7."))]
    )
    result = made.run("add up")
    assert (result.text, result.done) == ("It is 7.", True)
    assert result.usage.calls == 4
    assert made.model.requests[0]["tools"] == []
    assert "not reasoning" not in made.model.requests[0]["messages"][0]["content"][0]["text"]
    states = [[node["status"] for node in event.subtasks] for event in planned(result)]
    assert states == [["running", "pending"], ["done", "running"], ["done", "done"]]
    assert "Work now on subtask 1: add 1 and 2" in seen_by(made, 1)
    assert "[x] 1. add 1 and 2 → the sum is 3" in seen_by(made, 3)
    assert "It is the last one" in seen_by(made, 3)
    assert "<progress>" not in json.dumps(made.messages)
    valid(made)


def test_text_while_subtasks_are_open_is_the_result_of_one_and_the_next_is_asked_for():
    made = session([plan("one", "two"), reply(say("first part")), reply(say("the whole"))])
    result = made.run("goal")
    assert (result.text, result.done) == ("the whole", True)
    assert [node.status for node in result.task.plan] == ["done", "done"]
    assert result.task.plan[0].result == "first part"
    valid(made)


def test_calls_of_independent_subtasks_may_stand_in_one_reply():
    both = reply(edits({"op": "start", "id": "2"}), use("add", "t1", a=1, b=2), use("add", "t2", a=3, b=4))
    finish = edits({"op": "finish", "id": "1"}, {"op": "finish", "id": "2"}, call_id="p2")
    made = session([plan("one", "two", "three"), both, reply(finish), reply(say("3 and 7"))])
    result = made.run("goal")
    assert "Ready as well: 2, 3" in seen_by(made, 1)
    assert [node["status"] for node in planned(result)[1].subtasks] == ["running", "running", "pending"]
    assert [node.status for node in result.task.plan] == ["done", "done", "done"]
    valid(made)


def test_a_wrong_edit_goes_back_as_an_error_and_the_plan_stays():
    wrong = edits({"op": "finish", "id": "9"}, {"op": "skip", "id": "1"})
    made = session([plan("one", "two"), reply(wrong), reply(say("a")), reply(say("b"))])
    result = made.run("goal")
    assert not result.task.observations[0].ok
    assert "no subtask '9'" in result.task.observations[0].text
    assert [node.status for node in result.task.plan] == ["done", "done"]


def test_what_the_model_writes_into_its_plan_is_no_evidence_and_no_source_of_identifiers():
    @tool(effect="write", keys=("order_id",))
    def refund(order_id: str) -> str:
        """Refund an order."""
        return "ok"

    note = edits({"op": "finish", "id": "1", "result": "order B-7731 cost 98,765"})
    wrong = edits({"op": "finish", "id": "B-7731"}, call_id="p2")
    replies = [
        plan("one", "two"),
        reply(note, wrong),
        reply(use("refund", order_id="B-7731")),
        reply(say("98,765")),
    ]
    result = session(replies, tools=[refund], approve="auto").run("Refund it")
    assert [o.kind for o in result.task.observations] == ["", "failed", "invented"]
    assert [row.sources for row in result.evidence] == [()]


def test_editing_the_plan_never_asks_and_no_whitelist_forbids_it():
    finish = edits({"op": "finish", "id": "1"})
    made = session(
        [plan("one", "two"), reply(finish), reply(say("b"))], approve="never", limits=Limits(tools=["add"])
    )
    result = made.run("goal")
    assert result.done
    assert result.task.observations[0].ok
    assert {t["name"] for t in made.model.requests[1]["tools"]} == {"add", "update_plan"}


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("I would first look at the data.", "no JSON object"),
        ('{"subtasks": []}', "no list of objects"),
        ('{"subtasks": [{"id": "1"}]}', "needs a text"),
        (
            '{"subtasks": [{"id": "1", "text": "a", "needs": ["2"]}, {"id": "2", "text": "b", "needs": ["1"]}]}',
            "wait for each other",
        ),
        ('{"subtasks": [{"text": "a", "needs": ["7"]}]}', "no subtask"),
        (json.dumps({"subtasks": [{"text": "a"}] * 20}), "at most"),
    ],
)
def test_a_malformed_plan_is_asked_for_once_more_and_then_done_without(bad, fault):
    made = session([bad, plan("one", "two"), reply(say("a")), reply(say("b"))])
    result = made.run("goal")
    assert fault in made.model.requests[1]["messages"][0]["content"][0]["text"]
    assert len(result.task.plan) == 2
    never = session([bad, bad, reply(say("without"))], name="u")
    result = never.run("goal")
    assert (result.text, result.done) == ("without", True)
    assert planned(result)[0].planner == "react"
    assert fault in planned(result)[0].note
    assert "react" in planned(result)[0].note


def test_criteria_of_the_plan_must_hold_as_the_users_own():
    made = session(
        [
            plan("one", "two", criteria=["contains 'Rome'"]),
            reply(say("a")),
            reply(say("Oslo")),
            reply(say("Rome")),
        ]
    )
    result = made.run("goal")
    assert result.text == "Rome"
    assert [c.text for c in result.task.criteria] == ["contains 'Rome'"]
    assert "contains 'Rome'" in made.model.requests[1]["system"]


def test_tools_that_are_needed_and_not_mounted_are_told_before_the_first_call():
    result = session([plan("one", "two", tools=["send_mail"]), reply(say("a")), reply(say("b"))]).run("goal")
    assert "send_mail is not mounted" in planned(result)[0].note
    result = session([reply(say("no"))], planner="react", name="u").run("Draw a bar chart of sales")
    assert "no tool that draws charts" in planned(result)[0].note
    off = session([reply(say("no"))], planner="react", name="v", limits=Limits(tools=["add"]))
    assert "fail is" not in planned(off.run("call the fail tool"))[0].note
    named = session([reply(say("no"))], planner="react", name="w").run("Please call modify_address for A-1")
    assert "modify_address is not mounted" in planned(named)[0].note


@pytest.mark.parametrize("planner", ["plan", "hybrid"])
def test_a_tool_that_raises_makes_hybrid_plan_anew_and_plan_only_advises(planner):
    new = json.dumps({"subtasks": [{"id": "3", "text": "another way"}]})
    replies = [plan("one", "two"), reply(use("fail", reason="locked"))]
    replies += [new] if planner == "hybrid" else []
    made = session([*replies, reply(say("a")), reply(say("b"))], planner=planner)
    result = made.run("goal")
    assert result.done
    told = [e for e in result.trace if isinstance(e, events.Reflected)]
    assert [e.level for e in told] == ["task"]
    assert "locked" in told[0].text
    anew = [event for event in planned(result) if "planned anew" in event.note]
    assert len(anew) == (planner == "hybrid")
    if anew:
        assert "fail failed" in anew[0].note
        assert [node["text"] for node in anew[0].subtasks] == ["another way"]
    assert "another way, not the same call" in seen_by(made, len(replies))


def test_what_is_done_is_kept_when_the_rest_is_planned_anew():
    new = json.dumps({"subtasks": [{"id": "4", "text": "other", "needs": ["1"]}]})
    replies = [
        plan("one", "two"),
        reply(say("first")),
        reply(use("fail", reason="x")),
        new,
        reply(say("all")),
    ]
    result = session(replies, planner="hybrid").run("goal")
    assert [(n.id, n.status) for n in result.task.plan] == [("1", "done"), ("4", "done")]


def test_a_result_against_the_expectation_leads_to_a_new_plan():
    first = json.dumps({"subtasks": [{"id": "1", "text": "a", "expects": "at least 1 row"}, {"text": "b"}]})
    replies = [first, reply(use("rows", n=0)), plan("x", "y"), reply(say("1")), reply(say("2"))]
    result = session(replies, planner="hybrid").run("goal")
    told = next(e for e in result.trace if isinstance(e, events.Reflected))
    assert "contradicts" in told.text
    assert any("planned anew" in event.note for event in planned(result))


def test_a_subtask_that_failed_three_times_has_failed_and_others_wait_for_it():
    nodes = [{"id": "1", "text": "a"}, {"id": "2", "text": "b", "needs": ["1"]}, {"id": "3", "text": "c"}]
    tries = [reply(use("fail", f"t{i}", reason=str(i))) for i in range(3)]
    made = session([json.dumps({"subtasks": nodes}), *tries, reply(say("c is done"))])
    result = made.run("goal")
    assert [n.status for n in result.task.plan] == ["failed", "skipped", "done"]
    assert any(
        e.trigger == "subtask 1 failed 3 times" for e in result.trace if isinstance(e, events.Reflected)
    )
    assert "Waiting for what failed: 2" in seen_by(made, 4)


def test_plans_are_made_anew_at_most_three_times():
    def model(request):
        if not request["tools"]:
            return plan("one", "two")
        return reply(use("fail", f"t{len(made.model.requests)}", reason=str(len(made.model.requests))))

    made = session([model] * 40, planner="hybrid", limits=Limits(steps=8))
    result = made.run("goal")
    assert sum("planned anew" in event.note for event in planned(result)) == 3
    assert sum(not request["tools"] for request in made.model.requests) == 4


def test_a_question_in_the_middle_of_a_plan_waits_and_the_answer_goes_on_with_it():
    made = session([plan("one", "two"), reply(say("Which order number is it?"))])
    result = made.run("Refund my order")
    assert result.stop_reason == "needs_input"
    made.model = ScriptedModel([reply(say("found it")), reply(say("refunded"))])
    result = made.run("A-1001")
    assert result.done
    assert result.usage.calls == 2
    assert "goes on with the plan" in planned(result)[0].note


def test_a_follow_up_that_changes_the_goal_is_planned_anew_and_the_model_is_told():
    made = session([plan("one", "two"), reply(say("Which order number is it?"))])
    made.run("Refund my order")
    made.model = ScriptedModel([plan("new"), reply(say("Here is your address."))])
    result = made.run("No, forget it. Show me my address instead")
    assert "the goal has changed" in planned(result)[0].note
    assert [n.text for n in result.task.plan] == ["new"]
    assert "Do not answer the earlier one (“Refund my order”)" in seen_by(made, 1)


@pytest.mark.parametrize(
    ("goal", "planner", "why"),
    [
        ("How many rows has sales?", "react", "one question"),
        ("先查订单，然后改地址，最后发邮件", "hybrid", "in turn"),
        ("Which region fell? Which product rose?", "hybrid", "2 parts"),
        ("Write a report about July", "hybrid", "wide"),
    ],
)
def test_auto_chooses_by_the_goal_and_says_why(goal, planner, why):
    made = session(
        [reply(say("a"))] * 4 if planner == "react" else [plan("x"), reply(say("a"))], planner="auto"
    )
    first = planned(made.run(goal))[0]
    assert first.planner == planner
    assert why in first.note


def test_a_model_of_rules_takes_the_parts_of_a_goal_in_turn_and_answers_all():
    pd = pytest.importorskip("pandas")
    sales = pd.DataFrame({"region": ["N", "S", "N"], "amount": [1.0, 2.0, 4.0]})
    made = Session("offline", namespace={"sales": sales}, memory=None, planner="plan", name="t")
    made.tools = [t for t in made.toolbox()._tools.values() if t.name != "draw_chart"]
    result = made.run("What is the total amount by region? Which region has the highest mean amount?")
    assert result.done, result.text
    assert [node.status for node in result.task.plan] == ["done", "done"]
    assert result.text.index("total amount by region?") < result.text.index("highest mean amount?")
    assert result.text.count("rules answer here") == 1
    assert "makes no plans" in planned(result)[0].note
    one = made.run("What is the mean amount?")
    assert one.done
    assert planned(one)[0].planner == "react"


def test_no_call_for_a_plan_where_a_valve_is_closed_already():
    result = session([plan("x")], limits=Limits(steps=0)).run("goal")
    assert (result.stop_reason, result.usage.calls) == ("limit_steps", 0)


OPS = st.sampled_from(["add", "change", "start", "finish", "fail", "skip", "rule", "odd"])
EDIT = st.fixed_dictionaries(
    {"op": OPS},
    optional={
        "id": st.sampled_from(["1", "2", "3", "x"]),
        "text": st.sampled_from(["", "more"]),
        "needs": st.lists(st.sampled_from(["1", "2", "x"]), max_size=2),
        "scope": st.sampled_from(["run", "tool add", "subtask 2", "moon"]),
        "steps": st.integers(-1, 12),
    },
)
BLOCK = st.one_of(
    st.builds(lambda a: use("add", "", a=a, b=1), st.integers(0, 2)),
    st.builds(lambda r: use("fail", "", reason=r), st.sampled_from("ab")),
    st.builds(lambda changes: use("update_plan", "", edits=changes), st.lists(EDIT, max_size=3)),
    st.builds(say, st.sampled_from(["The sum is 3.", "Which one?", "", plan("p", "q"), "{"])),
)
REPLIES = st.lists(st.lists(BLOCK, max_size=3), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(replies=REPLIES, planner=st.sampled_from(["plan", "hybrid", "auto"]), planned_first=st.booleans())
def test_whatever_the_model_replies_the_run_ends_and_can_be_gone_on_with(replies, planner, planned_first):
    turn = itertools.cycle(replies)
    first = [plan("one", "two", "three")] * planned_first
    made = session(
        [*first, *(reply(*next(turn)) for _ in range(60))], planner, limits=Limits(steps=8), name=None
    )
    result = made.run("first add, then add more, then finally tell. What? And what?")
    assert result.stop_reason
    assert result.stop_reason != "error" or "reply" in result.reason or "announced" in result.reason, (
        result.reason
    )
    tree.check(result.task.plan)
    assert {node.status for node in result.task.plan} <= set(tree.STATES)
    if result.done:
        assert not tree.unfinished(result.task.plan)
    assert restoring.subtasks(planned(result)[-1].subtasks)
    valid(made)
    if not result.done:
        made.model = ScriptedModel([lambda request: "the end" if request["tools"] else plan("x", "y")] * 40)
        again = made.resume(steps=30)
        assert again.stop_reason in ("done", "needs_input"), again.reason
        valid(made)


def consulted(result):
    return [event for event in result.trace if isinstance(event, events.Consulted)]


def test_a_planning_call_is_a_call_of_its_own_in_the_trace_and_in_the_usage():
    usage = {"input_tokens": 300, "output_tokens": 40}
    first = reply(say(plan("one", "two"))) | {"usage": usage}
    made = session([first, reply(say("first part")), reply(say("the whole"))])
    result = made.run("goal")
    (asked,) = consulted(result)
    assert (asked.what, asked.step, asked.usage["input_tokens"], asked.fault) == ("a plan", 0, 300, "")
    assert "Plan how to reach this goal" in asked.prompt
    assert "one" in asked.text
    acted = [event for event in result.trace if isinstance(event, events.Acted)]
    told = sum(e.usage.get("input_tokens", 0) + e.usage.get("output_tokens", 0) for e in [*acted, asked])
    assert told == result.usage.tokens
    assert result.usage.calls == len(acted) + 1
    where = [type(event).__name__ for event in result.trace]
    assert where.index("Loaded") < where.index("Consulted") < where.index("Planned")
    page, text = run_html(result.trace), run_text(result.trace)
    for drawn in (page, text):
        assert "the model was asked for a plan (340 tokens" in drawn
    assert run_text(made.trace) == run_text(Session.open(made.name).trace)


def test_a_planning_call_that_fails_tells_why():
    def broken(request):
        raise ModelError("no such model")

    made = session([broken, plan("one", "two"), reply(say("first part")), reply(say("the whole"))])
    result = made.run("goal")
    assert [event.fault for event in consulted(result)] == ["ModelError: no such model", ""]
    assert result.done


def test_a_verdict_on_criteria_is_a_call_of_its_own():
    verdict = json.dumps([{"met": True, "reason": "it is"}])
    made = session([reply(say("fine")), reply(say(verdict))], planner="react")
    result = made.run("goal\n\ndone when:\n- the tone is neutral")
    (asked,) = consulted(result)
    assert (asked.what, asked.step, result.done) == ("a verdict on the criteria", 1, True)
    assert "the tone is neutral" in asked.prompt
    assert result.usage.calls == 2
