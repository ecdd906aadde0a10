"""Schemas that find no room: the fitting ones are shown, the others can be asked for, and a full window sheds them."""

import json

import pytest

from agent_nb import Limits, Session
from agent_nb.bench import SCHEMA_TOKENS, Bench
from agent_nb.errors import ContextFull
from agent_nb.models.scripted import ScriptedModel
from agent_nb.planning import mounting
from agent_nb.task import Observation, Subtask, Task
from agent_nb.tools.tool import Toolbox, tool

SUBJECTS = [
    "invoice",
    "weather",
    "shipment",
    "vacation",
    "printer",
    "parking",
    "salary",
    "recipe",
    "library",
    "garden",
]


def many(each=2_000, subjects=SUBJECTS):
    """Ten tools whose schemas take about `each` tokens."""

    def made(subject):
        def look(name: str) -> str:
            return f"{subject} of {name}"

        return tool(
            name=f"look_up_{subject}", description=f"Look up a {subject}. " + "More of it. " * (each // 4)
        )(look)

    return [made(subject) for subject in subjects]


def call(name, /, **given):
    return {"content": [{"type": "tool_use", "id": "t1", "name": name, "input": given}]}


def names(request):
    return [schema["name"] for schema in request["tools"]]


def test_where_there_is_room_all_are_shown_and_nothing_is_added():
    bench = Bench(ScriptedModel([]), Toolbox(many(100)))
    assert bench.shown(Task("What is my salary?")) == (bench.toolbox.schemas(), [])
    assert mounting.NAME not in bench.toolbox


@pytest.mark.parametrize("subject", SUBJECTS)
def test_those_that_fit_the_goal_or_the_running_subtask_stay(subject):
    bench = Bench(ScriptedModel([]), Toolbox(many()))
    for task in (
        Task(f"Which {subject} is the latest?"),
        Task("Go through all of it.", plan=[Subtask("1", f"find the {subject}", status="running")]),
    ):
        shown, left = bench.shown(task)
        kept = [schema["name"] for schema in shown]
        assert f"look_up_{subject}" in kept
        assert mounting.NAME in kept
        assert left
        assert sorted(kept + left) == sorted(bench.toolbox.names)
        assert bench.sizes.schemas(shown) <= SCHEMA_TOKENS * 1.02


def test_what_was_used_or_asked_for_stays_however_big():
    bench = Bench(ScriptedModel([]), Toolbox(many(20_000)))
    task = Task("Which garden?")
    assert [s["name"] for s in bench.shown(task)[0]] == [mounting.NAME]
    task.observations = [
        Observation("a", "look_up_recipe", {"name": "x"}, True, []),
        Observation("b", mounting.NAME, {"names": ["look_up_garden", "nothing"]}, True, []),
        Observation("c", mounting.NAME, {"names": 3}, False, [], kind="bad_input"),
    ]
    assert [s["name"] for s in bench.shown(task)[0]] == ["look_up_recipe", "look_up_garden", mounting.NAME]


def test_a_model_asks_for_a_tool_and_calls_it():
    model = ScriptedModel(
        [
            call(mounting.NAME, names=["look_up_garden", "gone"]),
            call("look_up_garden", name="x"),
            "It is there.",
        ]
    )
    made = Session(model, tools=many(4_000), memory=None)
    result = made.run("Which invoice, weather and shipment?")
    assert result.done
    first, second, third = model.requests
    assert "look_up_garden" not in names(first)
    assert "look_up_garden" in first["system"]
    assert "look_up_garden" in names(second)
    assert "look_up_garden" in names(third)
    told = json.loads(result.task.observations[0].text)
    assert told == {
        "ok": True,
        "shown from the next step on": ["look_up_garden"],
        "there is no tool": ["gone"],
    }
    assert result.task.observations[1].ok
    started = next(event for event in result.trace if type(event).__name__ == "CallStarted")
    assert any(text.startswith("schemas of ") for text in started.left_out)


def test_a_whitelist_is_kept():
    model = ScriptedModel(
        [call(mounting.NAME, names=["look_up_garden"]), call("look_up_garden", name="x"), "No."]
    )
    allowed = Limits(tools=["look_up_invoice", "look_up_weather"])
    made = Session(model, tools=many(8_000), memory=None, limits=allowed)
    result = made.run("Which invoice?")
    assert result.task.observations[1].kind == "not_allowed"
    assert all("look_up_garden" not in names(request) for request in model.requests)


def test_a_window_that_is_smaller_than_thought_sheds_schemas():
    class Small(ScriptedModel):
        def reply(self, messages, **request):
            if len(json.dumps(request["tools"])) > 20_000:
                raise ContextFull("the prompt is too long")
            return super().reply(messages, **request)

    made = Session(Small(["Fine."]), tools=many(900), memory=None)
    result = made.run("Which printer?")
    assert result.done
    assert result.text == "Fine."
