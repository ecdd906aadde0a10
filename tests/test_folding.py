"""What stays of a turn's own steps in the window: the last ones whole, the older ones a line each."""

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb import Limits, Session, tool, window
from agent_nb.errors import ContextFull, SettingError
from agent_nb.folding import HEAD, Folding, size_of
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages
from agent_nb.planning import progress
from agent_nb.task import Observation, Subtask, Task
from agent_nb.tokens import cut_to, estimate_tokens
from agent_nb.zones import Zones

SCHEMA = [{"name": "look", "description": "", "input_schema": {"type": "object"}}]
GOAL = {"role": "user", "content": [{"type": "text", "text": "How much did we sell? 卖了多少？"}]}


def step(task, n, text, ok=True):
    """One more exchange of the task, as the loop appends it."""
    id = f"t{n}"
    shown = [{"type": "text", "text": json.dumps({"ok": ok, "value": text}, ensure_ascii=False)}]
    seen = Observation(id, "look", {"n": n}, ok, shown, value_name=f"_r{n}" if ok else "")
    call = {"type": "tool_use", "id": id, "name": "look", "input": {"n": n}}
    thought = {"type": "thinking", "thinking": f"thought {n}", "signature": "c2ln"}
    task.messages.append(
        {"role": "assistant", "content": [thought, {"type": "text", "text": f"I look at {n}."}, call]}
    )
    task.messages.append({"role": "user", "content": [seen.block(), {"type": "text", "text": "[status]"}]})
    task.observations.append(seen)


def lines_of(messages):
    found = [b["text"] for b in messages[0]["content"] if b["type"] == "text" and b["text"].startswith(HEAD)]
    return re.findall(r"^- .*$", found[0], re.MULTILINE) if found else []


def new_task(plan=()):
    task = Task(goal="How much did we sell?", messages=[copy.deepcopy(GOAL)])
    task.plan = list(plan) or [Subtask("1", task.goal, "running")]
    return task


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.booleans(), st.sampled_from("123")), min_size=1, max_size=40),
    st.integers(0, 3_000),
    st.integers(0, 10),
)
def test_whatever_is_folded_the_history_stays_valid_and_its_end_whole(steps, working, last):
    task = new_task([Subtask(n, f"part {n} 部分", "pending") for n in "123"])
    zones = Zones(working=working, steps=last, lines=300)
    folding = Folding(zones)
    before = []
    for n, (length, ok, node) in enumerate(steps, 1):
        for each in task.plan:
            each.status = "running" if each.id == node else "done"
        step(task, n, "字 word <b>" * (length // 8), ok)
        whole = copy.deepcopy(task.messages)
        messages, sizes, left_out = folding.view(task)
        assert task.messages == whole, "the work order itself stays whole"
        validate_messages(messages, SCHEMA)
        kept = min(n, last)
        assert messages[len(messages) - 2 * kept :] == whole[len(whole) - 2 * kept :]
        assert messages[0]["content"][0] == GOAL["content"][0]
        verbatim = [m for m in messages[1:] if m in whole]
        assert len(verbatim) == len(messages) - 1, "what is kept of the middle is kept word for word"
        lines = lines_of(messages)
        assert all(estimate_tokens(line) <= zones.archive for line in lines)
        assert not any("<" in line for line in lines)
        assert bool(left_out) == (len(messages) < len(whole))
        if size_of(whole[1:]) <= working:
            assert messages == whole, "nothing is folded under the cap"
        dropped = "stand in the transcript only" in json.dumps(messages[0])
        assert lines[: len(before)] == before or dropped, "what was summarised stays as it was"
        before = lines
        assert abs(sum(sizes.values()) - size_of(messages)) <= 8


def test_steps_of_the_finished_subtask_least_like_the_running_one_go_first():
    plan = [
        Subtask("1", "sales of the north region"),
        Subtask("2", "weather in Oslo"),
        Subtask("3", "compare sales of the north region with those of the south"),
    ]
    task, folding = new_task(plan), Folding(Zones(working=10**6))
    for n, node in enumerate("112233", 1):
        for each in plan:
            each.status = "running" if each.id == node else "done" if each.id < node else "pending"
        folding.view(task)
        step(task, n, "word " * 60)
    folding.zones = Zones(working=0, steps=3)
    heads = [line.split(":")[0] for line in lines_of(folding.view(task)[0])]
    assert heads == ["- step 3 of subtask 2", "- step 1–2 of subtask 1"]
    folding.zones = Zones(working=0, steps=1)
    messages, _, left_out = folding.view(task)
    heads = [line.split(":")[0] for line in lines_of(messages)]
    assert heads[2:] == ["- step 4 of subtask 2", "- step 5 of subtask 3"]
    assert "_r1" in lines_of(messages)[1]
    assert left_out == "5 steps of this turn"


def test_a_line_says_what_was_called_and_what_came_of_it():
    task, folding = new_task(), Folding(Zones(working=0, steps=0))
    step(task, 1, "4711")
    step(task, 2, "no such table", ok=False)
    first, second = lines_of(folding.view(task)[0])
    assert first.startswith('- step 1: look {"n": 1} → _r1')
    assert "4711" in first
    assert 'look {"n": 2} failed' in second
    assert "no such table" in second


def test_finished_subtasks_are_a_line_each_and_go_when_the_core_is_full():
    long = "the sum of everything that was sold in the north " * 8
    plan = [Subtask(str(n), f"part {n}: {long}", "done", result=f"result {n} {long}") for n in range(1, 12)]
    plan[0].text = "apples"
    plan.append(Subtask("12", f"the last: {long}", "running", needs=["3"]))
    task = new_task(plan)
    text = progress.text(task, Zones(core=10**6))
    finished = [line for line in text.splitlines() if line.startswith("[x]")]
    assert len(finished) == 11
    assert all(estimate_tokens(line) <= 40 for line in finished)
    assert all(f"result {n}" in line for n, line in enumerate(finished, 1))
    text = progress.text(task)
    assert estimate_tokens(text) <= 600
    assert plan[-1].text in text, "what is open is never cut"
    hidden = re.search(r"in the transcript only: (.*)\.", text)[1].split(", ")
    assert "1" in hidden, "what shares no word goes first"
    assert "3" not in hidden, "what the running one needs goes last"


@tool
def look(n: int) -> str:
    """Look at a thing.

    Args:
        n: which.
    """
    return f"thing {n}: " + "word " * 200


def calls(count):
    uses = [{"type": "tool_use", "id": f"t{n}", "name": "look", "input": {"n": n}} for n in range(count)]
    return [{"content": [{"type": "text", "text": f"I look at {u['input']['n']}."}, u]} for u in uses]


def session(replies, **more):
    model = ScriptedModel(replies)
    limits = Limits(steps=300, tokens=10**8)
    return Session(model, tools=[look], memory=None, limits=limits, **more)


def test_in_a_long_run_the_window_stays_small_and_the_transcript_whole():
    made = session([*calls(60), "done"])
    result = made.run("Look at all of them.")
    assert result.done
    sizes = [size_of(request["messages"]) for request in made.model.requests]
    assert max(sizes[10:]) < 4_000 + 1_500 + 500
    assert len(made.messages) == 122, "the history itself is whole"
    assert sum(json.dumps(m).count("word word") > 0 for m in made.messages) == 60
    told = [event for event in result.trace if getattr(event, "left_out", [])]
    assert re.fullmatch(r"\d+ steps of this turn", told[-1].left_out[-1])
    assert {"earlier steps", "this turn"} <= {part["part"] for part in made.window()}


def test_the_zones_are_settings_of_the_session_and_of_its_fork():
    made = session([*calls(30), "done"], zones=Zones(working=10**6))
    assert made.run("Look at all of them.").done
    assert len(made.model.requests[-1]["messages"]) == 61
    assert made.fork("other").zones == made.zones
    for wrong in ({"working": -1}, {"archive": 3}):
        with pytest.raises(SettingError, match="give"):
            Zones(**wrong)
    with pytest.raises(TypeError):
        Zones(steps=2.5)
    with pytest.raises(SettingError, match="zones"):
        session([], zones=4_000)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("zones.working = -1", "Zones.working is -1; give zero or more"),
        ("zones.depth = 3", "no zone setting 'depth'; there are core, working, archive, lines, steps"),
        ("zones = 3", "table of whole numbers"),
        ("zones.steps = 'two'", "table of whole numbers"),
    ],
)
def test_the_zones_of_the_users_own_settings(own_home, written, said):
    own_home.mkdir(parents=True)
    (own_home / "config.toml").write_text("zones.working = 1000000")
    made = session([*calls(20), "done", "more"])
    assert made.run("Look at all of them.").done
    assert len(made.model.requests[-1]["messages"]) == 41
    (own_home / "config.toml").write_text(written)
    with pytest.raises(SettingError, match=said):
        made.run("again")


def test_a_run_that_is_resumed_folds_too():
    made = session([*calls(30), "done"], name="long")
    made.limits = Limits(steps=25, tokens=10**8)
    assert made.run("Look at all of them.").stop_reason == "limit_steps"
    assert made.resume(steps=50).done
    assert size_of(made.model.requests[-1]["messages"]) < 6_000


def test_a_model_that_needs_its_whole_turn_gets_it():
    made = session([*calls(30), "done"])
    made.model.needs_whole_turn = True
    assert made.run("Look at all of them.").done
    assert len(made.model.requests[-1]["messages"]) == 61


def test_a_full_context_in_the_middle_of_a_first_turn_is_folded_and_asked_again():
    class Small(ScriptedModel):
        def reply(self, messages, **more):
            if size_of(messages) > 1_500:
                raise ContextFull("the request is too long")
            return super().reply(messages, **more)

    made = Session(Small([*calls(7), "done"]), tools=[look], memory=None, limits=Limits(steps=20))
    result = made.run("Look at all of them.")
    assert result.done, result.reason
    assert len(made.messages) == 16


def test_the_memory_keeps_its_place_however_long_the_turn_grows():
    task = new_task()
    task.memory_text = "- [m1] amounts are in thousands"
    folding = Folding()
    for n in range(1, 60):
        step(task, n, "word " * 300)
        view = window.build(task, SCHEMA, folding=folding)
    assert "amounts are in thousands" in view.system
    assert view.tokens < 8_000


@given(st.text(max_size=300), st.integers(0, 60))
def test_a_text_that_is_cut_fits(text, tokens):
    cut = cut_to(text, tokens)
    assert estimate_tokens(cut) <= max(tokens, 1)
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1].rstrip()))
