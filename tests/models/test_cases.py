"""The 25 ways in which a reply can go, each over the wire: the real SDK against a server that refuses what the API would.

The names tell the case; `talk` plays a script and checks what must always hold: no request was refused, the
history that is left may be followed by a next goal, and the transcript tells the same history again.
"""

import io
import json
import time

import pytest

from agent_nb import Limits, Session, events, tool
from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.scripted_server import Failure, ScriptedServer, Streamed
from agent_nb.models.sse import events_of, sse
from agent_nb.models.validate import validate_messages


@tool
def add(a: int, b: int) -> int:
    """Add.

    Args:
        a: the first.
        b: the second.
    """
    return a + b


@tool
def fail(why: str) -> str:
    """Fail."""
    raise RuntimeError(why)


@tool(effect="write")
def store(value: int) -> str:
    """Write."""
    return f"stored {value}"


def say(text):
    return {"type": "text", "text": text}


def use(name="add", id="toolu_1", **given):
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def reply(*content, stop=None):
    return {"content": list(content)} | ({"stop_reason": stop} if stop else {})


THINKING = {"type": "thinking", "thinking": "先看 {\u2028", "signature": "c2lnbmF0dXJl"}
HIDDEN = {"type": "redacted_thinking", "data": "ZGF0YQ=="}


class Talk:
    """What came of a script: the results, the session, and what the server saw."""

    def __init__(self, script, goals=("goal",), **settings):
        self.model = AnthropicModel(read_timeout_s=5)
        settings = {"tools": [add, fail, store], "memory": None, "name": "case"} | settings
        with ScriptedServer(script) as server:
            self.server = server
            self.environment.setenv("ANTHROPIC_BASE_URL", server.url)
            self.session = Session(self.model, **settings)
            self.results = [self.session.run(goal) for goal in goals]
            self.finish()
            self.model.close()
        self.result = self.results[-1]
        assert server.refused == []
        validate_messages([*self.session.messages, {"role": "user", "content": [say("next")]}])
        again = Session.open("case", model=self.model, memory=None, tools=[])
        assert again.messages == self.session.messages

    def finish(self):
        """More to do while the server is up."""

    @property
    def sent(self):
        """The histories of the requests."""
        return [request["messages"] for request in self.server.requests]

    @property
    def answers(self):
        """The tool_result blocks of the history, by id."""
        blocks = [b for m in self.session.messages for b in m["content"]]
        return {b["tool_use_id"]: b for b in blocks if b["type"] == "tool_result"}

    def told(self, kind):
        return [event for event in self.result.trace if isinstance(event, kind)]


@pytest.fixture(autouse=True)
def talk(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-123456")
    monkeypatch.setattr(Talk, "environment", monkeypatch, raising=False)
    return Talk


def error_of(block):
    assert block["is_error"] is True
    return json.loads(block["content"][0]["text"])


def test_01_text_before_a_call_is_kept_in_order(talk):
    done = talk([reply(say("I add."), use(a=1, b=2)), "It is 3."])
    assert done.session.messages[1]["content"] == [say("I add."), use(a=1, b=2)]
    assert done.sent[1][1]["content"] == [say("I add."), use(a=1, b=2)]
    assert done.result.text == "It is 3."


def test_02_several_calls_are_answered_in_one_message_one_result_an_id(talk):
    done = talk([reply(*(use(id=f"t{i}", a=i, b=1) for i in range(4))), "ok"])
    assert [b.get("tool_use_id") for b in done.session.messages[2]["content"]] == [
        "t0",
        "t1",
        "t2",
        "t3",
        None,
    ]
    assert [json.loads(o.text)["value"] for o in done.result.task.observations] == [1, 2, 3, 4]


def test_03_of_several_calls_only_the_failed_one_is_an_error(talk):
    done = talk([reply(use(id="a", a=1, b=1), use("fail", "b", why="no luck"), use(id="c", a=2, b=2)), "ok"])
    assert [key for key, block in done.answers.items() if block.get("is_error")] == ["b"]
    assert "no luck" in error_of(done.answers["b"])["error"]


def test_04_an_unknown_tool_is_an_error_that_names_the_others_and_counts_as_a_step(talk):
    done = talk([reply(use("divide", a=1)), "sorry"])
    assert "add" in error_of(done.answers["toolu_1"])["error"]
    assert done.result.task.steps == 2


@pytest.mark.parametrize(
    "settings", [{"approve": "never"}, {"approve": "ask"}, {"limits": Limits(tools=["add"])}]
)
def test_05_a_call_that_is_denied_or_off_the_whitelist_is_answered(talk, settings):
    done = talk([reply(use("store", value=1)), "not stored"], **settings)
    said = error_of(done.answers["toolu_1"])["error"]
    assert ("denied" in said) if "approve" in settings else ("not allowed" in said)


@pytest.mark.parametrize(
    ("given", "field"), [({"a": 1}, "b"), ({"a": "one", "b": 2}, "a"), ({"a": 1, "b": 2, "c": 3}, "c")]
)
def test_06_input_that_breaks_the_schema_is_an_error_with_the_field_and_what_was_expected(talk, given, field):
    said = error_of(talk([reply(use(**given)), "sorry"]).answers["toolu_1"])
    assert said["field"] == field
    assert said["expected"]


def test_07_a_call_cut_at_the_output_limit_never_runs_and_is_asked_for_again_with_more_room(talk):
    half = list(events_of(reply(say("I"), use("store", value=1), stop="max_tokens")))
    last = max(i for i, e in enumerate(half) if e.get("delta", {}).get("type") == "input_json_delta")
    half[last]["delta"]["partial_json"] = ""  # '{"value"' is all that came of its arguments
    done = talk([Streamed(events=half), "done"], approve="auto")
    assert done.result.task.observations == []
    assert done.result.done
    first, second = (request["max_tokens"] for request in done.server.requests)
    assert second == 4 * first
    twice = talk([Streamed(events=half)] * 2, approve="auto")
    assert twice.result.stop_reason == "truncated"
    assert twice.result.task.observations == []


def test_08_a_text_cut_at_the_output_limit_is_a_partial_answer_and_flagged(talk):
    done = talk([reply(say("The first half of"), stop="max_tokens")])
    assert (done.result.stop_reason, done.result.done) == ("truncated", False)
    assert done.result.text == "The first half of"
    assert done.told(events.Answered)[0].partial


@pytest.mark.parametrize("content", [[], [say("")], [say(" \n")]])
def test_09_an_empty_reply_gets_one_nudge_and_never_stands_in_the_history(talk, content):
    done = talk([reply(*content, stop="end_turn"), "here"])
    assert done.result.text == "here"
    assert [m["role"] for m in done.session.messages] == ["user", "assistant"]
    twice = talk([reply(*content, stop="end_turn")] * 2)
    assert twice.result.stop_reason == "empty"
    assert len(twice.server.requests) == 2


def test_10_a_call_that_is_announced_and_not_named_stops(talk):
    done = talk([reply(say("I call"), stop="tool_use")])
    assert done.result.stop_reason == "error"
    assert "named none" in done.result.reason


def test_11_a_call_beside_end_turn_runs_with_a_warning(talk):
    done = talk([reply(use(a=1, b=2), stop="end_turn"), "3"])
    assert done.result.task.observations[0].ok
    assert any("the call is run" in e.text for e in done.told(events.Noticed))


def test_12_a_paused_turn_goes_back_unchanged(talk):
    done = talk([reply(THINKING, say("one"), stop="pause_turn"), reply(say("two"))])
    assert done.sent[1][-1] == {"role": "assistant", "content": [THINKING, say("one")]}
    assert [b.get("text") for b in done.session.messages[1]["content"]] == [None, "one", "two"]
    assert done.result.text == "one\n\ntwo"


@pytest.mark.parametrize("begun", [[], [say("I was about to")], [say("I"), use("store", value=1)]])
def test_13_a_refusal_tells_why_drops_the_partial_and_writes_no_memory(talk, begun, tmp_path):
    from agent_nb import Memory

    memory = Memory(":memory:", user="ana", embedder=None)
    why = {"type": "refusal", "category": "cyber", "explanation": "not this"}
    refused = reply(*begun, stop="refusal") | {"stop_details": why}
    done = talk([refused], memory=memory, goals=["Remember: the office closes at five."])
    assert done.result.stop_reason == "refused"
    assert "not this" in done.result.reason
    assert "about to" not in json.dumps(done.session.messages) + done.result.text
    assert memory.search() == []
    memory.close()


def test_14_a_full_context_is_folded_and_tried_once(talk):
    full = reply(say("x"), stop="model_context_window_exceeded")
    done = talk(["first answer", full, "second answer"], goals=["one", "two"])
    assert done.result.text == "second answer"
    assert len(done.sent[2]) < len(done.sent[1])
    too_long = Failure(400, "prompt is too long: 210000 tokens > 200000 maximum")
    done = talk(["first answer", too_long, "second answer"], goals=["one", "two"])
    assert done.result.done
    done = talk(["a", full, full], goals=["one", "two"])
    assert done.result.stop_reason == "context_full"


ODD_BLOCK = {"type": "hologram", "frames": [1, {"x": None}]}
ODD_EVENT = {"type": "weather_report", "sky": "clear"}
ODD_DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "frame_delta", "frame": 2}}


@pytest.mark.parametrize("kind", ["stop reason", "block", "event", "delta"])
@pytest.mark.parametrize("call", [[], [use("store", value=1)]], ids=["text", "call"])
def test_15_what_is_unknown_is_kept_word_for_word_and_the_run_stops(talk, kind, call):
    content = [*([ODD_BLOCK] if kind == "block" else []), say("hm"), *call]
    pieces = list(events_of(reply(*content, stop="solar_flare" if kind == "stop reason" else None)))
    pieces[3:3] = {"event": [ODD_EVENT], "delta": [ODD_DELTA]}.get(kind, [])
    done = talk([Streamed(events=pieces)], approve="auto")
    assert done.result.stop_reason == "error"
    assert done.result.task.observations == []
    assert done.result.text == "hm"
    told = {
        "stop reason": "solar_flare",
        "block": "hologram",
        "event": "weather_report",
        "delta": "frame_delta",
    }
    assert told[kind] in done.result.reason
    acted = done.told(events.Acted)[0]
    kept = {"stop reason": acted.stop_reason == "solar_flare", "block": ODD_BLOCK in acted.message["content"]}
    kept |= {
        "event": acted.message.get("unknown") == [ODD_EVENT],
        "delta": acted.message.get("unknown") == [ODD_DELTA],
    }
    assert kept[kind]
    assert acted in Session.open("case", model=done.model, memory=None, tools=[]).trace


def test_16_thinking_goes_back_byte_for_byte_also_after_folding(talk):
    long = "word " * 20_000
    script = [
        Streamed(reply(say(long)), piece=5_000),
        reply(THINKING, HIDDEN, use(a=1, b=2)),
        reply(THINKING, say("3")),
        "4",
    ]
    done = talk(script, goals=[long, "add", "again"])
    assert done.sent[2][-2]["content"][:2] == [THINKING, HIDDEN]
    assert len(done.sent[2]) == 3  # the first turn is over the cap and left out whole
    assert done.sent[3][-2]["content"] == [THINKING, say("3")]


CUT_AT = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
]


@pytest.mark.parametrize("kind", [*CUT_AT, "bytes", "partial json", "not json", "error event"])
def test_17_a_stream_that_dies_leaves_no_half_message_and_is_asked_for_again(talk, kind, monkeypatch):
    pieces = list(events_of(reply(say("half of it"), use(a=1, b=2))))
    raw = b"".join(map(sse, pieces))
    if kind in CUT_AT:
        at = max(i for i, e in enumerate(pieces) if e["type"] == kind)
        broken = Streamed(events=pieces[: at + (kind != "message_delta")])
    elif kind == "bytes":
        broken = Streamed(events=[raw], cut_after=len(raw) - 40, chunk=11)
    elif kind == "partial json":
        at = max(i for i, e in enumerate(pieces) if e.get("delta", {}).get("type") == "input_json_delta")
        broken = Streamed(events=pieces[:at] + pieces[at + 1 :])
    elif kind == "not json":
        broken = Streamed(events=[raw.replace(b'"text_delta"', b'"text_delta', 1)])
    else:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
        broken = Streamed(events=[*pieces[:5], error])
    monkeypatch.setattr(time, "sleep", lambda s: None)
    done = talk([broken, "whole"])
    assert (done.result.text, done.result.usage.calls) == ("whole", 1)
    assert [e.attempt for e in done.told(events.CallStarted)] == [1, 2]
    assert "half" not in json.dumps(done.session.messages)
    assert done.sent[0] == done.sent[1]


def test_17_slow_bytes_are_no_fault(talk):
    slow = Streamed(reply(THINKING, say("as the 水 wears"), use(a=1, b=2)), chunk=3, pause_s=0.0005)
    done = talk([slow, "3"])
    assert done.result.text == "3"
    assert done.session.messages[1]["content"][:2] == [THINKING, say("as the 水 wears")]


@pytest.mark.parametrize("status", [429, 529, 500, 503, 408])
def test_18_overload_is_waited_for_in_view_and_costs_nothing(talk, status):
    done = talk([Failure(status, "busy", retry_after_s=0.02), "here"])
    waits = [e.wait_s for e in done.told(events.CallFailed)]
    assert waits == [0.02]
    assert done.result.usage.calls == 1
    assert done.result.usage.input == 100


def test_18_a_wait_that_the_clock_has_no_room_for_ends_the_run(talk):
    started = time.monotonic()
    done = talk([Failure(529, "busy", retry_after_s=50)], limits=Limits(seconds=5))
    assert done.result.stop_reason == "error"
    assert "busy" in done.result.reason
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("moment", [events.Streamed, events.Acted, events.ToolStarted, events.ToolFinished])
def test_19_an_interrupt_anywhere_leaves_every_call_answered(talk, moment):
    class Stopped(Talk):
        def finish(self):
            stream = self.session.stream("stop me")
            for event in stream:
                if isinstance(event, moment):
                    break
            stream.close()
            self.results.append(self.session.result)
            self.results.append(self.session.run("go on"))

    calls = reply(say("I add"), use(id="a", a=1, b=1), use(id="b", a=2, b=2))
    done = Stopped(["hello", calls, "on"])
    assert done.results[1].stop_reason == "interrupted"
    assert done.result.text == "on"
    if moment is not events.Streamed:
        assert "interrupted" in json.dumps(done.answers["b"])


class Bomb:
    def __repr__(self):
        raise SystemExit(1)

    __str__ = __repr__


def odd_values():
    import pandas as pd

    wide = pd.DataFrame({"a": range(100_000)})
    endless = (n for n in iter(int, 1))
    return [
        None,
        b"\xff\x00",
        wide,
        ValueError("x"),
        "y" * 10_000_000,
        "lone \ud800",
        Bomb(),
        endless,
        {1: {2, 3}},
    ]


@pytest.mark.parametrize("n", range(9))
def test_20_whatever_a_tool_returns_is_serialised_and_capped_with_a_notice(talk, n):
    value = odd_values()[n]

    @tool
    def give() -> object:
        """Give."""
        return value

    done = talk([reply(use("give")), "ok"], tools=[give])
    block = done.answers["toolu_1"]
    text = block["content"][0]["text"]
    assert len(text) < 40_000
    if n == 2:
        assert json.loads(text)["total_rows"] == 100_000
    if n == 4:
        assert "10000000" in text.replace(",", "")
    assert done.result.done


def test_21_empty_pictures_and_structured_results_go_back_as_what_they_are(talk):
    import matplotlib.figure

    @tool
    def draw() -> object:
        """Draw."""
        figure = matplotlib.figure.Figure(figsize=(1, 1))
        figure.savefig(io.BytesIO())
        return figure

    @tool
    def order() -> dict:
        """Find."""
        return {"id": "A-1", "lines": [{"n": 2, "ok": True}]}

    @tool
    def nothing() -> list:
        """Find nothing."""
        return []

    calls = reply(use("draw", "p"), use("order", "s"), use("nothing", "e"))
    done = talk([calls, "ok"], tools=[draw, order, nothing])
    assert [b["type"] for b in done.answers["p"]["content"]] == ["text", "image"]
    assert json.loads(done.answers["s"]["content"][0]["text"])["value"]["lines"] == [{"n": 2, "ok": True}]
    assert json.loads(done.answers["e"]["content"][0]["text"])["ok"] is True


def test_22_ids_that_are_double_missing_or_odd_get_one_of_their_own(talk):
    odd = [use(id="t1", a=1, b=1), use(id="t1", a=2, b=2), use(id="", a=3, b=3), use(id="a b/…", a=4, b=4)]
    done = talk([reply(*odd), reply(use(id="t1", a=5, b=5)), "ok"])
    assert [json.loads(o.text)["value"] for o in done.result.task.observations] == [2, 4, 6, 8, 10]
    assert len(done.answers) == 5


def test_23_a_restored_history_with_orphans_and_gaps_is_mended_before_it_is_sent(talk, own_home):
    class Restored(Talk):
        def finish(self):
            path = own_home / "sessions" / "case.jsonl"
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            for line in lines:
                if line["event"] == "Observed":  # the first result is lost, a stranger's is there
                    line["message"]["content"][0]["tool_use_id"] = "nobody"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            self.session = Session.open("case", model=self.model, memory=None, tools=[add])
            self.results.append(self.session.run("again"))

    done = Restored([reply(use(id="a", a=1, b=1), use(id="b", a=2, b=2)), "first", "second"])
    assert done.result.text == "second"
    assert set(done.answers) == {"a", "b"}
    assert done.answers["a"]["is_error"]


def obedient(body):
    """A model that calls as long as it may, each time otherwise."""
    n = len(body["messages"])
    if body.get("tool_choice") == {"type": "none"}:
        return reply(say("So far it is 3."))
    return reply(say(f"step {n}"), use(id=f"t{n}", a=n, b=1))


def stubborn(body):
    return reply(say("again"), use(id=f"t{len(body['messages'])}", a=1, b=2))


@pytest.mark.parametrize("limits", [Limits(steps=3), Limits(tokens=420)])
def test_24_the_last_call_that_a_limit_allows_asks_for_an_answer_without_a_tool(talk, limits):
    done = talk([obedient] * 9, limits=limits)
    assert done.result.text == "So far it is 3."
    assert done.server.requests[-1]["tool_choice"] == {"type": "none"}
    assert "tools" in done.server.requests[-1]
    assert done.result.usage.calls <= limits.steps
    assert done.result.usage.tokens <= limits.tokens
    assert all("tool_choice" not in request for request in done.server.requests[:-1])
    assert done.result.task.observations


@pytest.mark.parametrize(
    ("limits", "stop"), [(Limits(steps=2), "limit_steps"), (Limits(tokens=300), "limit_tokens")]
)
def test_24_where_it_calls_on_the_record_says_why_and_the_last_results_stand(talk, limits, stop):
    done = talk([lambda body: obedient({**body, "tool_choice": None})] * 9, limits=limits)
    assert done.result.stop_reason == stop
    assert not done.result.done
    assert done.result.task.observations[-1].ok
    assert done.result.usage.tokens <= limits.tokens


def test_24_a_circle_ends_in_one_answer_without_a_tool(talk):
    """Three equal calls are pointed out, the fourth is not made, and the fifth request asks for the answer."""
    done = talk([lambda body: (obedient if body.get("tool_choice") else stubborn)(body)] * 9)
    assert done.result.stop_reason == "no_progress"
    assert done.result.text == "So far it is 3."
    assert done.result.usage.calls == 5
    assert [seen.kind for seen in done.result.task.observations] == ["", "", "", "ruled_out"]
    done = talk([stubborn] * 9)
    assert done.result.stop_reason == "no_progress"
    assert [seen.kind for seen in done.result.task.observations] == ["", "", "", "ruled_out"]
    assert done.result.text == "again"


def test_25_tools_may_change_in_mid_session(talk):
    class Changing(Talk):
        def finish(self):
            self.session.tools = [fail]
            self.results.append(self.session.run("other tools"))
            self.session.tools = []
            self.results.append(self.session.run("no tools"))

    done = Changing([reply(use(a=1, b=2)), "3", reply(use("fail", "t2", why="x")), "it failed", "bye"])
    assert [result.text for result in done.results] == ["3", "it failed", "bye"]
    assert done.server.requests[2]["tools"][0]["name"] == "fail"
    assert done.server.requests[4]["tool_choice"] == {"type": "none"}


def test_every_case_has_its_test():
    numbers = {int(name[5:7]) for name in globals() if name.startswith("test_") and name[5:7].isdigit()}
    assert numbers == set(range(1, 26))
