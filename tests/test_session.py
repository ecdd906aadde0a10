"""Sessions: stopping at any point, going on, starting anew, and settings that make no sense."""

import contextlib
import itertools
import json
import shutil

import pytest

from agent_nb import Limits, Memory, Session, events, tool
from agent_nb.approval import Verdict
from agent_nb.errors import SettingError
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="write")
def store(value: int) -> str:
    """Write a value."""
    return f"stored {value}"


@tool
def stop(when: str) -> str:
    """Press the stop button in the middle of a tool."""
    raise KeyboardInterrupt


def use(name, call_id, **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def say(text):
    return {"type": "text", "text": text}


def replies():
    return [
        {"content": [say("I add."), use("add", "t1", a=1, b=2), use("store", "t2", value=3)]},
        {"content": [use("add", "t3", a=3, b=4)]},
        {"content": [say("It is 3, then 7.")]},
    ]


def session(script=None, **settings):
    settings = {"memory": None, "tools": [add, store, stop], "name": "s", "approve": "auto"} | settings
    return Session(ScriptedModel(script or replies()), **settings)


def valid(made):
    validate_messages([*made.messages, {"role": "user", "content": [say("next")]}])


def reopened(**settings):
    return Session.open(
        "s", model=ScriptedModel([{"content": [say("went on")]}]), memory=None, tools=[add], **settings
    )


EVENTS = 24  # a few more than the run has


@pytest.mark.parametrize("n", range(EVENTS))
def test_closed_after_any_event_everything_agrees_and_goes_on(n):
    made = session()
    stream = made.stream("goal")
    seen = [event for _, event in zip(range(n), stream, strict=False)]
    ended = bool(seen) and isinstance(seen[-1], events.RunEnded)
    stream.close()
    if not seen:
        return
    assert made.result.stop_reason == ("done" if made.result.done else "interrupted")
    if not ended:
        valid(made)
    again = reopened()
    assert again.messages == made.messages
    assert [e for e in again.trace if isinstance(e, events.RunEnded)][
        -1
    ].stop_reason == made.result.stop_reason
    if made.result.done:
        assert again.run("more").done
    else:
        assert again.resume().text == "went on"
    valid(again)


def interrupting(place):
    """A session that is interrupted in the middle of a stream, a tool or a question."""
    if place == "stream":
        pieces = [{"type": "text_delta", "text": "half an ans"}, KeyboardInterrupt()]
        return session([replies()[0], pieces])
    if place == "tool":
        return session(
            [
                {
                    "content": [
                        use("add", "t1", a=1, b=2),
                        use("stop", "t2", when="now"),
                        use("add", "t3", a=1, b=1),
                    ]
                }
            ]
        )

    def asker(question):
        raise KeyboardInterrupt

    return session(approve="ask", asker=asker)


@pytest.mark.parametrize("place", ["stream", "tool", "question"])
def test_interrupted_anywhere_the_run_ends_and_can_go_on(place):
    made = interrupting(place)
    result = made.run("goal")
    assert (result.stop_reason, result.done) == ("interrupted", False)
    assert isinstance(result.trace[-1], events.RunEnded)
    valid(made)
    if place == "stream":
        assert result.text == "half an ans"
        assert "half an ans" not in json.dumps(made.messages)
    else:
        answers = [b for m in made.messages for b in m["content"] if b["type"] == "tool_result"]
        assert [b.get("is_error", False) for b in answers] == [False, True, True][: len(answers)]
        assert "interrupted" in answers[1]["content"][0]["text"]
    again = reopened()
    assert again.resume().text == "went on"
    valid(again)


def test_a_killed_kernel_loses_at_most_the_step_under_way(own_home):
    made = session()
    made.run("goal")
    path = own_home / "sessions" / "s.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for n in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:n]) + lines[n][: len(lines[n]) // 2])
        again = reopened()
        valid(again)
        whole = [json.loads(line) for line in lines[:n]]
        kept = [line["message"] for line in whole if line["event"] in ("Acted", "Observed")]
        for message in kept:
            for block in message["content"]:
                assert json.dumps(block) in json.dumps(again.messages)


def test_turns_follow_each_other_and_reach_the_model():
    made = session([{"content": [say("one")]}, {"content": [say("two")]}])
    made.run("first")
    made.run("second")
    texts = [m["content"][0]["text"] for m in made.model.requests[1]["messages"]]
    assert texts == ["first", "one", "second"]
    assert made.usage.calls == 2


def test_the_same_cell_again_does_not_see_its_earlier_turn():
    made = session([{"content": [say("one")]}, {"content": [say("two")]}])
    made.run("first", cell="c1")
    made.run("first, better", cell="c1")
    assert len(made.model.requests[1]["messages"]) == 1
    assert [m["content"][0]["text"] for m in made.messages] == ["first, better", "two"]


def test_a_new_kernel_continues_the_session():
    session([{"content": [say("one")]}]).run("first")
    again = reopened()
    again.run("second")
    assert [m["content"][0]["text"] for m in again.model.requests[0]["messages"]] == [
        "first",
        "one",
        "second",
    ]
    assert Session.names() == ["s"]


def test_whole_values_stay_under_names_and_tools_see_the_namespace():
    namespace = {}
    made = session(namespace=namespace)
    made.run("goal")
    assert [seen.value_name for seen in made.task.observations if seen.value_name] == [
        name for name in namespace if name.startswith("_r")
    ]


def test_tools_of_the_namespace_are_mounted_but_private_ones_not():
    made = Session(ScriptedModel([]), memory=None, namespace={"add": add, "_store": store, "x": 1})
    names = made.toolbox().names
    assert "add" in names
    assert "store" not in names
    assert {"list_variables", "describe_variable", "query_sql", "draw_chart", "run_python"} <= set(names)


def test_handed_over_variables_enter_the_window():
    import pandas as pd

    frame = pd.DataFrame({"region": ["north"], "amount": [1.5]})
    made = Session(ScriptedModel([{"content": [say("ok")]}]), memory=None, name="s", namespace={"kpi": frame})
    made.run("goal", use=["kpi"])
    assert "amount" in made.model.requests[0]["system"]
    assert any(part["part"] == "handed over" for part in made.window())
    with pytest.raises(SettingError, match="kpi"):
        made.run("goal", use=["nothing"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"planner": "psychic"}, "react"),
        ({"approve": "yes"}, "auto"),
        ({"model": "no-such-model"}, "no-such-model"),
    ],
)
def test_settings_that_do_not_exist_are_one_line(settings, said):
    with pytest.raises(SettingError, match=said) as caught:
        Session(**({"memory": None, "name": "s", "tools": []} | settings)).run("goal")
    assert "\n" not in str(caught.value)


def test_goals_and_tools_that_make_no_sense_call_no_model():
    made = session()
    for bad in (lambda: made.run("  \n"), lambda: made.run("g", limits=Limits(tools=["nope"]))):
        with pytest.raises(SettingError):
            bad()
    assert made.model.requests == []
    with pytest.raises(SettingError, match="no session"):
        Session.open("never")


def test_nothing_is_written_before_the_first_run(own_home):
    session()
    assert not own_home.exists()


def test_a_lone_surrogate_or_null_in_a_goal_does_no_harm():
    made = session([{"content": [say("ok \ud800")]}, {"content": [say("ok")]}])
    assert made.run("a \ud83d b \x00 c").done
    assert made.run("next").done
    valid(reopened())


def test_secrets_of_a_goal_do_not_reach_the_transcript(own_home):
    key = "sk-ant-api03-" + "a1B2" * 20
    session([{"content": [say("ok")]}]).run(f"use the key {key}")
    assert key not in (own_home / "sessions" / "s.jsonl").read_text()


def test_the_full_disk_ends_the_run_and_says_so(monkeypatch):
    import os

    made = session()
    real, count = os.write, iter(range(10_000))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, data if next(count) < 4 else data[:9]))
        result = made.run("goal")
    assert result.stop_reason == "error"
    assert "disk is full" in result.reason
    valid(reopened())


def test_denials_do_not_hang_without_anyone():
    made = session(approve="ask")
    assert made.run("goal").task.observations[1].kind == "denied"


def test_waiting_for_the_user_is_not_charged():
    import time

    def asker(question):
        time.sleep(0.3)
        return Verdict("approve", by="widget")

    made = session(approve="ask", asker=asker, limits=Limits(seconds=0.25))
    assert made.run("goal").done


def say_first(*names):
    """A script whose first reply calls tools, each with a value of its own."""
    return [{"content": [use(name, f"x{i}", **given) for i, (name, given) in enumerate(names)]}] + [
        {"content": [say("went on")]}
    ]


def test_a_resumed_run_may_do_no_more_than_before_in_a_new_kernel_too(own_home):
    from agent_nb import Memory

    made = session(say_first(("add", {"a": 1, "b": 1})), approve="ask")
    made.run("goal", approve="never", memory=None, limits=Limits(steps=1, cost=0.5, tools=["add", "store"]))
    script = say_first(("store", {"value": 1}), ("stop", {"when": "now"}))
    with Memory(":memory:") as memory:
        again = Session.open("s", model=ScriptedModel(script), memory=memory, tools=[add, store, stop])
        result = again.resume()
    assert [seen.kind for seen in result.task.observations] == ["", "denied", "not_allowed"]
    started = [e for e in again.trace if isinstance(e, events.RunStarted)][-1]
    assert (started.user, started.approve, started.limits["cost"]) == ("", "never", 0.5)
    assert started.limits["steps"] == Limits().steps
    assert result.text == "went on"


def test_two_kernels_on_one_name_leave_a_valid_history():
    both = [session(), session()]
    for _ in itertools.zip_longest(*(made.stream("goal") for made in both)):
        pass
    again = reopened()
    valid(again)
    assert again.run("more").done
    assert sum(m["content"][0].get("text") == "goal" for m in again.messages) == 2


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_transcript_that_is_deleted_in_mid_run_does_no_harm(own_home, what):
    made = session()
    for event in made.stream("goal"):
        if isinstance(event, events.Observed) and event.step == 1:
            path = own_home / "sessions" / "s.jsonl"
            path.unlink() if what == "file" else shutil.rmtree(own_home)
    assert made.result.done
    assert made.run("again").stop_reason == "error"  # its script is over; the session is not
    valid(made)
    valid(reopened())


ODD_VALUES = [None, "x", 5, [], {}, ["a"], {"role": "x", "content": [5]}, {"content": "hello"}, {"id": 5}]


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
@pytest.mark.parametrize(
    "field", ["message", "observation", "usage", "goal", "cell", "resumes", "limits", "kept"]
)
def test_a_damaged_transcript_opens_goes_on_and_is_sent(own_home, field, value):
    made = session()
    for event in made.stream("goal"):
        if isinstance(event, events.Observed):
            break
    path = own_home / "sessions" / "s.jsonl"
    made = None
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [row | {field: value} if field in row else row for row in rows]
    path.write_text("null\n[1]\n\x00\n" + "".join(json.dumps(row) + "\n" for row in rows))
    again = reopened()
    valid(again)
    assert again.usage.calls >= 0
    with contextlib.suppress(SettingError):  # nothing may be left to go on with
        again.resume()
    again.model.replies = [*range(len(again.model.requests)), "more"]
    assert again.run("more 7").text == "more"
    valid(again)


@pytest.mark.parametrize(
    "name", ["a/b", "..", "a\x00b", "\ud800", "名字", " x ", "%2F", "a\nb", "-rf", 'a:*?"<>|']
)
def test_a_session_may_have_any_name(name):
    made = session(name=name)
    made.run("goal")
    (saved,) = Session.names()
    assert saved == name.encode("utf-8", "replace").decode()
    assert Session.open(name, model="offline", memory=None, tools=[]).messages == made.messages


@pytest.mark.parametrize(
    "settings", [{"limits": {"steps": 3}}, {"name": ["a"]}, {"name": 5}, {"model": 5}, {"model": "nope"}]
)
def test_settings_of_a_wrong_kind_are_one_line(settings):
    with pytest.raises(SettingError) as caught:
        Session(**({"model": ScriptedModel([]), "memory": None, "tools": []} | settings)).run("goal")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", [{"goal": 5}, {"goal": None}, {"limits": {"steps": 2}}, {"model": "nope"}])
def test_a_wrong_override_changes_nothing(given):
    made = session()
    with pytest.raises(SettingError):
        made.run(**({"goal": "goal"} | given))
    assert made.run("goal").done


def test_one_tool_and_one_name_need_no_list():
    made = Session(ScriptedModel(["ok"]), memory=None, tools=add, namespace={"kpi": 1})
    assert made.toolbox().names == ["add"]
    assert made.run("goal", use="kpi").done


def stepping(n=4, **settings):
    """A session whose run took `n` steps with a call each, and then an answer."""
    script = [{"content": [say(f"step {i}"), use("add", f"t{i}", a=i, b=1)]} for i in range(1, n + 1)]
    made = session([*script, {"content": [say("the end")]}], **settings)
    assert made.run("goal").done
    return made


@pytest.mark.parametrize("step", range(5))
def test_rewound_to_any_step_it_goes_on_from_there_also_in_a_new_kernel(step):
    made = stepping()
    made.rewind(step)
    assert len(made.messages) == max(
        2 * step + 2, 2
    )  # goal, a call and its result a step, and the end of the turn
    again = reopened()
    assert again.messages == made.messages
    assert again.resume().text == "went on"
    calls = [b["id"] for m in again.messages for b in m["content"] if b["type"] == "tool_use"]
    assert calls == [f"t{i}" for i in range(1, step + 1)]
    assert len(again.result.task.observations) == step
    valid(again)


def test_rewound_over_a_part_that_was_resumed():
    made = session(
        [{"content": [use("add", "t1", a=1, b=1)]}, {"content": [use("add", "t2", a=2, b=1)]}, "end"],
        limits=Limits(steps=1),
    )
    made.run("goal")
    made.resume(steps=5)
    for step, left in ((2, ["t1", "t2"]), (1, ["t1"]), (0, [])):
        made.rewind(step)
        assert [b["id"] for m in made.messages for b in m["content"] if b["type"] == "tool_use"] == left
        valid(made)
    made.model = ScriptedModel(["anew"])
    assert made.resume().text == "anew"


@pytest.mark.parametrize("step", [-1, 5, 99, True, "2", None, 1.0])
def test_a_step_that_is_none_is_one_line(step):
    made = stepping()
    before = made.messages
    with pytest.raises(SettingError, match="step"):
        made.rewind(step)
    assert made.messages == before
    with pytest.raises(SettingError, match="no run"):
        session(name="empty").rewind(0)


def test_a_fork_goes_its_own_way():
    made = stepping()
    forked = made.fork("other", 2)
    forked.model = ScriptedModel([{"content": [say("otherwise")]}])
    assert forked.resume().text == "otherwise"
    assert made.messages[-1]["content"][0]["text"] == "the end"
    assert set(Session.names()) == {"s", "other"}
    valid(forked)
    with pytest.raises(SettingError, match="already"):
        made.fork("other")


def test_rewound_with_an_edited_result_it_goes_on_from_that():
    made = stepping()
    before = list(made.trace)
    made.rewind(2, {"t1": {"ok": True, "value": 41}, "t2": "nothing <found>"})
    assert made.trace[:-1] == before
    again = reopened()
    assert again.messages == made.messages
    results = {
        b["tool_use_id"]: b for m in again.messages for b in m["content"] if b["type"] == "tool_result"
    }
    assert json.loads(results["t1"]["content"][0]["text"]) == {"ok": True, "value": 41}
    assert json.loads(results["t2"]["content"][0]["text"]) == {"ok": True, "text": "nothing <found>"}
    again.model = ScriptedModel(["It is 41, and 57."])
    result = again.resume()
    by_text = {number.text: list(number.sources) for number in result.evidence}
    assert by_text == {"41": ["add, as edited by you"], "57": []}
    notices = [e.text for e in result.trace if isinstance(e, events.Noticed)]
    assert "results that you edited: add, add" in " ".join(notices)
    assert [o.edited for o in result.task.observations] == [True, True]
    valid(again)


def test_an_edited_result_may_be_a_table_or_an_error():
    made = stepping()
    table = {"ok": True, "columns": ["a"], "rows": [[1], [2]], "total_rows": 2}
    made.rewind(2, {"t1": table, "t2": '{"ok": false, "error": "gone"}'})
    assert made.cards["1"]["rows"] == [[1], [2]]
    assert made.cards["2"]["ok"] is False
    blocks = [b for m in made.messages for b in m["content"] if b["type"] == "tool_result"]
    assert [b.get("is_error", False) for b in blocks] == [False, True]
    made.rewind(1, {"t1": {"ok": True, "value": 5}})
    assert made.cards["1"]["rows"] == []


@pytest.mark.parametrize("results", [{"t3": "x"}, {"": "x"}, {"t1": 3}, {"t1": None}])
def test_an_edit_of_no_call_or_no_result_changes_nothing(results):
    made = stepping()
    before = made.messages
    with pytest.raises(SettingError):
        made.rewind(2, results)
    assert made.messages == before


def test_numbers_of_an_edited_result_are_not_remembered():
    memory = Memory(":memory:", embedder=None)
    for edit in (False, True):
        made = session(
            [{"content": [use("add", f"own{edit}", a=20, b=21)]}, "The total of sales is 41."], memory=memory
        )
        made.run("What is the total of sales?")
        if edit:
            made.rewind(1, {"ownTrue": {"ok": True, "value": 77}})
            made.model = ScriptedModel(["The total of sales is 77."])
            made.resume()
    texts = " ".join(record.text for record in memory.search() if record.type != "episode")
    assert "41" in texts
    assert "77" not in texts
    memory.close()
