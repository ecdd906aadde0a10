"""The loop with scripted replies: what every kind of reply becomes, and what stands in the history after it."""

import json
import time

import pytest

from agent_nb import Limits, Memory, Session, events, tool
from agent_nb.approval import Verdict
from agent_nb.errors import CredentialsError, ModelUnavailable
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages

USAGE = {"input_tokens": 100, "output_tokens": 20}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first.
        b: the second.
    """
    return a + b


@tool
def fail(reason: str) -> str:
    """Fail with a reason."""
    raise RuntimeError(reason)


@tool(effect="write")
def store(value: int) -> str:
    """Write a value somewhere."""
    return f"stored {value}"


def use(name, call_id="toolu_1", **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def say(text):
    return {"type": "text", "text": text}


def reply(*content, stop=None):
    message = {"content": list(content), "usage": USAGE}
    return message | ({"stop_reason": stop} if stop else {})


def session(replies, **settings):
    settings = {"memory": None, "tools": [add, fail, store], "name": "t"} | settings
    return Session(ScriptedModel(replies), **settings)


def results(made):
    blocks = [b for m in made.messages if m["role"] == "user" for b in m["content"]]
    return [b for b in blocks if b["type"] == "tool_result"]


def valid(made):
    """The history must be one that a next goal can follow."""
    validate_messages([*made.messages, {"role": "user", "content": [say("next")]}])


def test_one_call_then_an_answer():
    made = session([reply(say("I add."), use("add", a=2, b=3)), reply(say("The sum is 5."))])
    result = made.run("what is 2 + 3?")
    assert (result.text, result.done, result.stop_reason) == ("The sum is 5.", True, "done")
    assert [seen.name for seen in result.task.observations] == ["add"]
    assert json.loads(result.task.observations[0].text)["value"] == 5
    assert result.usage.input == 200
    assert result.usage.calls == 2
    names = [type(event).__name__ for event in result.trace]
    assert names == (
        ["RunStarted", "Loaded", "Planned", "CallStarted", "Acted", "ToolStarted", "ToolFinished", "Observed"]
        + ["Judged", "CallStarted", "Acted", "Judged", "Answered", "RunEnded"]
    )
    valid(made)


def test_text_before_a_call_stays_in_order_and_results_come_first():
    made = session([reply(say("first"), use("add", a=1, b=1)), reply(say("2"))])
    made.run("goal")
    assert [b["type"] for b in made.messages[1]["content"]] == ["text", "tool_use"]
    assert [b["type"] for b in made.messages[2]["content"]] == ["tool_result", "text"]


def test_several_calls_one_message_one_result_an_id_only_the_failed_one_is_an_error():
    calls = [use("add", "t1", a=1, b=1), use("fail", "t2", reason="no luck"), use("add", "t3", a=2, b=2)]
    made = session([reply(*calls), reply(say("4"))])
    made.run("goal")
    got = {block["tool_use_id"]: block.get("is_error", False) for block in results(made)}
    assert got == {"t1": False, "t2": True, "t3": False}
    assert "no luck" in results(made)[1]["content"][0]["text"]
    assert len([m for m in made.messages if m["role"] == "user"]) == 2


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (use("nothing_like_it"), "unknown_tool", "add"),
        (use("add", a=1), "bad_input", "b"),
        (use("add", a="one", b=2), "bad_input", "a"),
        (use("add", a=1, b=2, c=3), "bad_input", "c"),
    ],
)
def test_a_bad_call_becomes_an_error_that_names_the_remedy(call, kind, said):
    made = session([reply(call), reply(say("sorry"))])
    result = made.run("goal")
    assert result.task.observations[0].kind == kind
    assert results(made)[0]["is_error"] is True
    assert said in results(made)[0]["content"][0]["text"]
    assert result.steps if hasattr(result, "steps") else result.task.steps == 2


def test_off_the_whitelist_is_told_not_dropped():
    made = session([reply(use("add", a=1, b=2)), reply(say("sorry"))], limits=Limits(tools=["fail"]))
    result = made.run("goal")
    assert result.task.observations[0].kind == "not_allowed"
    assert [t["name"] for t in made.model.requests[0]["tools"]] == ["fail"]


@pytest.mark.parametrize("approve", ["ask", "never"])
def test_writes_are_denied_where_nobody_can_answer(approve):
    made = session([reply(use("store", value=1)), reply(say("not stored"))], approve=approve)
    result = made.run("goal")
    assert result.task.observations[0].kind == "denied"
    assert "denied" in results(made)[0]["content"][0]["text"]


def test_the_users_word_counts_with_edits_and_reasons():
    asked = []

    def asker(question):
        asked.append(question)
        if len(asked) == 1:
            return Verdict("approve", by="widget", input={"value": 7})
        return Verdict("deny", by="widget", reason="no files, please")

    replies = [reply(use("store", "t1", value=1)), reply(use("store", "t2", value=2)), reply(say("done"))]
    made = session(replies, asker=asker)
    result = made.run("goal")
    first, second = result.task.observations
    assert json.loads(first.text)["ok"] is True
    assert "stored 7" in first.text
    assert second.kind == "denied"
    assert "no files, please" in second.text
    assert [q["name"] for q in asked] == ["store", "store"]
    valid(made)


def test_edited_arguments_are_checked_as_well():
    asker = lambda question: Verdict("approve", by="widget", input={"value": "seven"})  # noqa: E731
    made = session([reply(use("store", value=1)), reply(say("not stored"))], asker=asker)
    assert made.run("goal").task.observations[0].kind == "bad_input"


def test_parallel_tools_run_side_by_side_and_others_on_the_main_thread():
    import threading

    threads = {}
    meet = threading.Barrier(2, timeout=5)

    @tool(parallel=True)
    def together(label: str) -> str:
        """Wait for the other one."""
        meet.wait()
        threads[label] = threading.current_thread()
        return label

    @tool
    def alone(label: str) -> str:
        """Run alone."""
        threads[label] = threading.current_thread()
        return label

    calls = [
        use("together", "t1", label="a"),
        use("alone", "t2", label="b"),
        use("together", "t3", label="c"),
    ]
    made = session([reply(*calls), reply(say("ok"))], tools=[together, alone])
    result = made.run("goal")
    assert [seen.ok for seen in result.task.observations] == [True, True, True]
    assert [block["tool_use_id"] for block in results(made)] == ["t1", "t2", "t3"]
    assert threads["b"] is threading.main_thread()
    assert threads["a"] is not threading.main_thread()


def test_cut_inside_a_call_is_never_run_and_asked_again_with_more_room():
    cut = reply(say("I write"), use("store", value=1), stop="max_tokens")
    made = session([cut, reply(say("done"))], approve="auto")
    result = made.run("goal")
    assert result.done
    assert result.task.observations == []
    rooms = [request["max_tokens"] for request in made.model.requests]
    assert rooms[1] > rooms[0]
    valid(made)
    twice = session([cut, cut], approve="auto", name="u")
    assert twice.run("goal").stop_reason == "truncated"
    assert twice.task.observations == []
    valid(twice)


def test_a_cut_answer_is_partial_and_flagged():
    made = session([reply(say("The half of the ans"), stop="max_tokens")])
    result = made.run("goal")
    assert (result.stop_reason, result.done, result.text) == ("truncated", False, "The half of the ans")
    valid(made)


def test_an_empty_reply_gets_one_nudge_and_leaves_no_trace_in_the_history():
    made = session([reply(), reply(say("here it is"))])
    assert made.run("goal").done
    assert "empty" in made.model.requests[1]["messages"][-1]["content"][-1]["text"]
    assert len(made.messages) == 2
    twice = session([reply(), reply(say("  "))], name="u")
    assert twice.run("goal").stop_reason == "empty"
    valid(twice)


def test_tool_use_without_a_block_stops():
    made = session([reply(say("I call"), stop="tool_use")])
    assert made.run("goal").stop_reason == "error"
    valid(made)


def test_end_turn_with_a_block_runs_it_with_a_warning():
    made = session([reply(use("add", a=1, b=2), stop="end_turn"), reply(say("3"))])
    result = made.run("goal")
    assert result.task.observations[0].ok
    assert any(isinstance(e, events.Noticed) for e in result.trace)


def test_a_pause_is_sent_back_unchanged_and_joined():
    made = session([reply(say("one"), stop="pause_turn"), reply(say("two"))])
    made.model.strict = False  # a paused turn is the one that ends with the assistant's message
    result = made.run("goal")
    assert result.done
    assert made.model.requests[1]["messages"][-1] == {"role": "assistant", "content": [say("one")]}
    assert [b["text"] for b in made.messages[1]["content"]] == ["one", "two"]
    valid(made)


def test_a_refusal_says_why_and_drops_the_partial():
    message = reply(say("I was about to"), stop="refusal") | {"stop_details": {"explanation": "not allowed"}}
    made = session([message])
    result = made.run("goal")
    assert result.stop_reason == "refused"
    assert "not allowed" in result.reason
    assert "about to" not in json.dumps(made.messages)
    valid(made)


def test_a_full_window_is_folded_once():
    full = reply(say("x"), stop="model_context_window_exceeded")
    made = session([reply(say("first answer")), full, reply(say("second answer"))])
    made.run("one")
    assert made.run("two").done
    assert len(made.model.requests[2]["messages"]) == 1
    alone = session([full], name="u")
    assert alone.run("goal").stop_reason == "context_full"
    valid(alone)


def test_an_unknown_stop_reason_is_kept_and_stops():
    made = session([reply(say("hm"), stop="solar_flare")])
    result = made.run("goal")
    assert result.stop_reason == "error"
    assert "solar_flare" in result.reason
    acted = next(e for e in result.trace if isinstance(e, events.Acted))
    assert acted.stop_reason == "solar_flare"


def test_thinking_goes_back_byte_for_byte():
    thinking = {"type": "thinking", "thinking": "hm\u2028 {", "signature": "c2lnbmF0dXJl"}
    hidden = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    made = session([reply(thinking, hidden, use("add", a=1, b=2)), reply(say("3"))])
    made.run("goal")
    assert made.model.requests[1]["messages"][1]["content"][:2] == [thinking, hidden]
    assert Session.open("t", memory=None, model="offline", tools=[]).messages[1]["content"][:2] == [
        thinking,
        hidden,
    ]


@pytest.mark.parametrize(
    "fault",
    [
        [{"type": "text_delta", "text": "half"}, ValueError("bad partial json")],
        [{"type": "text_delta", "text": "half"}, ConnectionResetError("cut")],
        [{"type": "text_delta", "text": "half"}],
        ModelUnavailable("overloaded", retry_after_s=0.0),
    ],
)
def test_a_broken_stream_is_tried_again_and_leaves_no_half_message(fault, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda s: None)
    made = session([fault, reply(say("whole"))])
    result = made.run("goal")
    assert (result.text, result.done) == ("whole", True)
    assert any(isinstance(e, events.CallFailed) for e in result.trace)
    assert [e.attempt for e in result.trace if isinstance(e, events.CallStarted)] == [1, 2]
    assert "half" not in json.dumps(made.messages)
    assert result.usage.calls == 1
    never = session([fault] * 3, name="u")
    assert never.run("goal").stop_reason == "error"
    valid(never)


@pytest.mark.parametrize("fault", [CredentialsError("no key"), TypeError("oops"), "not a stream"])
def test_what_asking_again_cannot_mend_ends_the_run_in_one_line(fault):
    class Broken:
        name = "broken"

        def reply(self, messages, *, system, tools, max_tokens):
            if isinstance(fault, str):
                return [{"type": "message", "message": fault}]
            raise fault

    made = Session(Broken(), memory=None, tools=[], name="t")
    result = made.run("goal")
    assert result.stop_reason == "error"
    assert "\n" not in result.reason
    assert result.reason
    valid(made)


def test_ids_that_are_missing_odd_or_double_get_one_of_their_own():
    odd = [use("add", "t1", a=1, b=1), use("add", "t1", a=2, b=2), use("add", "", a=3, b=3)]
    odd.append({"type": "tool_use", "name": "add", "input": {"a": 4, "b": 4}})
    made = session([reply(*odd), reply(use("add", "t1", a=5, b=5)), reply(say("ok"))])
    made.model.stream = False
    result = made.run("goal")
    assert [json.loads(o.text)["value"] for o in result.task.observations] == [2, 4, 6, 8, 10]
    assert len({o.id for o in result.task.observations}) == 5
    valid(made)


def test_the_same_call_again_and_again_is_no_progress():
    replies = [reply(use("fail", f"t{i}", reason="x")) for i in range(9)]
    result = session(replies).run("goal")
    assert result.stop_reason == "no_progress"
    assert "fail was called 3 times" in result.reason
    assert [seen.kind for seen in result.task.observations] == ["failed"] * 3 + ["ruled_out"]


@pytest.mark.parametrize(
    ("limits", "stop"),
    [
        (Limits(steps=2), "limit_steps"),
        (Limits(tokens=200), "limit_tokens"),
        (Limits(steps=0), "limit_steps"),
        (Limits(cost=0.02), "limit_cost"),
        (Limits(seconds=0), "limit_seconds"),
    ],
)
def test_a_closed_valve_says_which_and_can_be_resumed_with_more(limits, stop):
    replies = [reply(say("so far"), use("add", f"t{i}", a=i, b=1)) for i in range(4)] + [
        reply(say("end"))
    ] * 9
    made = session(replies, limits=limits)
    made.model.cost = lambda usage: 0.01
    result = made.run("goal")
    assert result.stop_reason == stop
    assert not result.done
    assert result.reason
    valid(made)
    goal_count = len([m for m in made.messages if m["role"] == "user"])
    made.model.replies = made.model.replies[: len(made.model.requests)] + [reply(say("end"))]
    again = made.resume(steps=12, tokens=100_000, cost=1.0, seconds=60)
    assert again.done
    assert again.text == "end"
    assert len([m for m in made.messages if m["role"] == "user"]) == goal_count
    valid(made)


def test_a_finished_run_cannot_be_resumed():
    made = session([reply(say("end"))])
    made.run("goal")
    with pytest.raises(ValueError, match="nothing to go on with"):
        made.resume()


def test_seconds_close_in_the_middle_of_a_stream():
    def slow(request):
        def pieces():
            for _ in range(1000):
                time.sleep(0.01)
                yield {"type": "text_delta", "text": "x"}

        return pieces()

    class Slow(ScriptedModel):
        def _play(self, given):
            return given

    made = Session(Slow([slow]), memory=None, tools=[], limits=Limits(seconds=0.1), name="t")
    assert made.run("goal").stop_reason == "limit_seconds"
    valid(made)


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        ("Which order number is it?", "needs_input"),
        ("订单号是多少？", "needs_input"),
        ("The sum is 5.", "done"),
        ("Why? Because 5 is the sum.", "done"),
        ("The sum is 5. Would you like a chart?", "done"),
    ],
)
def test_a_question_waits_for_the_user(answer, stop):
    made = session([reply(use("add", a=2, b=3)), reply(say(answer))])
    result = made.run("goal")
    assert result.stop_reason == stop
    assert result.done == (stop == "done")


def test_criteria_are_checked_and_failed_ones_sent_back():
    goal = "what is 2+3?\ndone when:\n- contains 'five'\n- at most 3 words"
    made = session([reply(say("It is 5, of course it is")), reply(say("It is five"))])
    result = made.run(goal)
    assert result.done
    assert result.task.goal == goal
    sent = made.model.requests[1]["messages"][-1]["content"][0]["text"]
    assert "five" in sent
    assert "at most 3" in sent
    assert [c.met for c in result.task.criteria] == [True, True]
    never = session([reply(say("no"))] * 4, name="u")
    assert never.run(goal).stop_reason == "no_progress"
    valid(never)


def test_what_code_cannot_judge_the_model_judges():
    verdict = reply(say('[{"met": false, "reason": "rude"}]'))
    fine = reply(say('Sure: [{"met": true, "reason": "kind"}]'))
    made = session([reply(say("5!")), verdict, reply(say("It is 5, dear.")), fine])
    result = made.run("2+3?\ndone when:\n- it is polite")
    assert result.done
    assert result.task.criteria[0].reason == "kind"


def test_a_model_that_cannot_judge_says_so_and_is_not_done():
    made = session([reply(say("5"))])
    made.model.can_judge = False
    result = made.run("2+3?\ndone when:\n- it is polite")
    assert not result.done
    assert "cannot judge" in result.task.criteria[0].reason
    assert len(made.model.requests) == 1


def test_every_event_survives_the_transcript():
    made = session([reply(say("I add."), use("add", a=2, b=3)), reply(say("5"))])
    result = made.run("2 + 3?")
    saved = Session.open("t", memory=None, model="offline", tools=[])
    assert saved.trace == list(result.trace)
    assert saved.messages == made.messages


def test_a_run_keeps_going_when_memory_is_broken():
    class Broken:
        user = "x"

        def __getattr__(self, name):
            raise OSError("disk on fire")

    made = session([reply(say("answer"))], memory=Broken(), tools=[])
    result = made.run("goal")
    assert result.done
    assert "disk on fire" in next(e for e in result.trace if isinstance(e, events.Loaded)).note


def test_a_result_of_this_run_is_named_before_the_goal_as_a_numbers_source():
    made = session([reply(use("add", a=20, b=30)), reply(say("The sum is 50."))])
    result = made.run("is 20 + 30 really 50?")
    assert [source.split()[-1] for source in result.evidence[0].sources] == ["add", "goal"]


@pytest.mark.parametrize(
    ("goal", "given", "ok"),
    [
        ("Cancel order A-17", {"order_id": "A-17"}, True),
        ("Cancel order a-17, please", {"order_id": "A-17"}, True),
        ("Cancel my order", {"order_id": "A-17"}, False),
        ("Cancel order A-170", {"order_id": "A-17"}, False),
        ("Cancel order A-17", {"order_id": "A-17", "note": "B-99 is late"}, True),  # no identifier
        ("Cancel what `find` shows", {"order_id": "A-42"}, True),  # seen in a result
    ],
)
def test_a_write_never_runs_on_an_identifier_that_nobody_gave(goal, given, ok):
    done = []

    @tool
    def find() -> str:
        """Find the order."""
        return "order A-42"

    @tool(effect="write", keys=("order_id", "note"))
    def cancel(order_id: str, note: str = "") -> str:
        """Cancel an order."""
        done.append(order_id)
        return "cancelled"

    first = {"content": [{"type": "tool_use", "id": "f", "name": "find", "input": {}}]}
    second = {"content": [{"type": "tool_use", "id": "c", "name": "cancel", "input": given}]}
    model = ScriptedModel([first, second, {"content": [{"type": "text", "text": "Ready."}]}])
    result = Session(model=model, tools=[find, cancel], memory=None, approve="auto").run(goal)
    seen = result.task.observations[1]
    assert (seen.ok, seen.kind) == ((True, "") if ok else (False, "invented"))
    assert done == ([given["order_id"]] if ok else [])


def test_episodes_stand_near_the_turn_and_all_else_of_memory_in_the_cached_prefix(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.add("The audit meeting with Ana was moved to the blue room.", type="episode")
        memory.add("The audit report covers whole quarters only.", type="constraint")
        made = session([reply(say("I add."), use("add", a=1, b=2)), "Three."], memory=memory)
        result = made.run("What about the audit meeting and the audit report?")
        assert result.done
        for request in made.model.requests:
            assert "whole quarters" in request["system"]
            assert "blue room" not in request["system"]
            last = request["messages"][-1]["content"][-1]["text"]
            assert "blue room" in last
            assert "whole quarters" not in last
            assert "blue room" not in json.dumps(request["messages"][:-1])
        assert "blue room" not in json.dumps(made.messages)
        parts = {part["part"] for part in made.window()}
        assert {"memory", "episodes"} <= parts
