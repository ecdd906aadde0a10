"""Replies that no model should give: none of them raises, and every history that is sent stays valid."""

import asyncio
import itertools
import json
import time

import pytest

from agent_nb import Limits, Session, events, tool
from agent_nb.models.validate import validate_messages

NAMES = itertools.count()
NAN, INF = float("nan"), float("inf")


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Raw:
    """Gives its replies as they stand: a dict as the message, a list as the pieces, an error is raised."""

    name = "raw"

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    def reply(self, messages, *, system, tools, max_tokens):
        self.asked.append(json.loads(json.dumps(messages)))
        reply = self.replies.pop(0) if self.replies else message([say("the end")])
        if isinstance(reply, BaseException):
            raise reply
        for piece in reply if isinstance(reply, list) else [{"type": "message", "message": reply}]:
            if isinstance(piece, BaseException):
                raise piece
            yield piece


def say(text):
    return {"type": "text", "text": text}


def use(name="add", id="t1", **given):
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def message(content, stop="end_turn", **more):
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"role": "assistant", "content": content, "stop_reason": stop, "usage": usage} | more


def deep(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
CUT = {"type": "text_delta", "text": "half"}
ODD = [
    *(message([say("x")], usage=usage) for usage in (None, 5, [1], {"input_tokens": "many"})),
    *(message([say("x")], usage={"input_tokens": n, "output_tokens": n}) for n in (-5, "12", NAN, INF)),
    *(message([say("x")], stop=stop) for stop in (None, 5, ["a"], "", "solar_flare")),
    *(message(content) for content in (None, 5, "plain", say("one"), {}, ["a", None, 5, say("x")])),
    *(message([{"type": "text", "text": text}, say("x")]) for text in (None, 5, [], " ", "\ud800")),
    *(message([{"type": kind, "text": "y"}, say("x")]) for kind in (None, 5, ["a"], "hologram", "image")),
    message([{"type": "tool_result", "tool_use_id": "t1", "content": "x"}, say("x")]),
    message([say("x") | {"index": 0, "citations": None}]),
    *(message([say("x")], "refusal", stop_details=why) for why in (None, "no", ["no"], {"category": 5})),
    message([use(a=1, b=2)], "refusal"),
    *(message([say("x")], unknown=unknown) for unknown in (5, "x", [1, 2])),
    *(message([use(a=1, b=2)], stop) for stop in ("pause_turn", "end_turn", "stop_sequence", "max_tokens")),
    *(message([THINKING], stop) for stop in ("pause_turn", "end_turn", "max_tokens", "odd", "tool_use")),
    *(message([], stop) for stop in ("pause_turn", "end_turn", "max_tokens", "odd", "tool_use")),
    *(message([THINKING | {"thinking": text}, say("x")]) for text in (None, 5, "\ud800")),
    *(message([use(name)], "tool_use") for name in ("", None, 5, "x" * 300, "a b/…", "\ud800")),
    *(message([use(id=id, a=1, b=2)], "tool_use") for id in ("", None, 5, "a b", "…", ["t"])),
    *(message([use() | {"input": given}], "tool_use") for given in (None, [1], '{"a": 1}', 5)),
    *(message([use(a=a, b=1)], "tool_use") for a in ({1}, object(), NAN, INF, 10**5000, deep(3000), "\ud800")),
    message([use(**{"\ud800": 1})], "tool_use"),
    message([use(a=1, b=2) | {"index": 0, "caller": {"type": "direct"}}], "tool_use"),
    message([use(a=1, b=2), use(id="t2"), use("no", "t2"), use(a="x", b=1), use(id=None, a=1, b=1)], "tool_use"),
    message([use(a=1, b=2), use(id="t2")], "max_tokens"),
    *([piece] for piece in (None, "abc", 5, {}, {"type": "message"}, {"type": "message", "message": [1]})),
    [{"type": "text_delta", "text": None}, {"type": "thinking_delta"}, {"type": "input_json_delta", "id": 5}],
    *([CUT, error] for error in (StopIteration(), SystemExit(1), GeneratorExit(), asyncio.CancelledError())),
    *(SystemExit(1), GeneratorExit(), MemoryError(), RecursionError(), BaseException("x")),
]  # fmt: skip


def run(*replies, model=None, **settings):
    made = Session(model or Raw(*replies), memory=None, tools=[add], name=f"odd{next(NAMES)}", **settings)
    result = made.run("goal")
    validate_messages([*made.messages, {"role": "user", "content": [say("next")]}])
    for asked in made.model.asked if isinstance(made.model, Raw) else ():
        validate_messages(asked, paused=True)
    json.dumps([event.to_dict() for event in made.trace], allow_nan=False)
    again = Session.open(made.name, model=Raw(), memory=None, tools=[])
    assert again.messages == made.messages
    return result


@pytest.mark.parametrize("reply", ODD, ids=[f"{n}" for n in range(len(ODD))])
@pytest.mark.parametrize("before", [(), (message([say("I"), use(id="t0", a=1, b=1)], "tool_use"),)], ids=["1st", "2nd"])  # fmt: skip
def test_no_reply_raises_or_spoils_the_history(before, reply, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda s: None)
    result = run(*before, reply)
    assert result.stop_reason in ("done", "error", "truncated", "refused", "empty")
    assert "\n" not in result.reason
    assert all(count >= 0 for count in (result.usage.input, result.usage.output))


class Attributes(Raw):
    pass


@pytest.mark.parametrize(
    "cost", [None, 5, "free", lambda usage: 1 / 0, lambda usage: "free", lambda usage: NAN]
)
@pytest.mark.parametrize("room", [None, -1, "many", 0])
def test_odd_attributes_of_a_model_do_no_harm(cost, room):
    model = Attributes()
    model.name, model.note, model.cost, model.max_tokens = None, None, cost, room
    result = run(model=model)
    assert result.done
    assert result.usage.cost is None


def test_a_limit_on_cost_that_cannot_close_is_told():
    made = run(limits=Limits(cost=1.0))
    assert any("cost" in e.text for e in made.trace if isinstance(e, events.Noticed))


def test_an_error_that_cannot_tell_what_it_is_ends_in_one_line():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    assert run(Mute()).reason.startswith("Mute")


def test_a_secret_in_an_error_reaches_neither_result_nor_transcript(own_home):
    key = "sk-ant-api03-" + "a1B2" * 20
    result = run(RuntimeError(f"bad key {key}"))
    assert key not in result.reason
    assert key not in "".join(path.read_text() for path in (own_home / "sessions").iterdir())


def test_an_unknown_block_is_kept_in_the_transcript_and_not_sent_back():
    block = {"type": "hologram", "x": 1}
    for more in [], [use(a=1, b=2)]:
        result = run(message([block, say("hm"), *more], "tool_use" if more else "end_turn"))
        acted = next(e for e in result.trace if isinstance(e, events.Acted))
        assert acted.message["content"][0] == block
        assert block not in [b for m in result.task.messages for b in m["content"]]
        assert (result.stop_reason, result.text) == ("error", "hm")
        assert "hologram" in result.reason
        assert result.task.observations == []


def test_the_answer_is_whole_where_it_went_on_after_a_pause():
    result = run(message([say("one")], "pause_turn"), message([say("two")]))
    assert result.text == "one\n\ntwo"


def test_a_refused_answer_leaves_no_text():
    assert run(message([say("I was about to")], "refusal")).text == ""


def test_numbers_of_a_partial_answer_are_traced_too():
    result = run(message([say("It is 4711.")], "max_tokens"))
    assert [(row.text, row.sources) for row in result.evidence] == [("4711", ())]
    closed = run(message([say("It is 99."), use(a=1, b=2)], "tool_use"), limits=Limits(steps=1))
    assert [row.text for row in closed.evidence] == ["99"]


def test_asking_again_and_again_is_fine_while_the_results_change():
    count = itertools.count()

    @tool
    def poll() -> int:
        """Ask how far it is."""
        return next(count)

    made = Session(
        Raw(*(message([use("poll", f"p{i}")], "tool_use") for i in range(6))),
        memory=None,
        tools=[poll],
        name="p",
    )
    assert made.run("goal").done


def test_the_same_calls_in_one_reply_are_not_a_circle_but_in_three_they_are():
    step = lambda i: message([use(id=f"t{i}a", a=1, b=2), use(id=f"t{i}b", a=3, b=4)], "tool_use")  # noqa: E731
    once = message([use(id=f"t{i}", a=1, b=2) for i in range(4)], "tool_use")
    assert run(once).done
    assert run(*map(step, range(5))).stop_reason == "no_progress"


@pytest.mark.parametrize("limits", [Limits(), Limits(steps=1)])
@pytest.mark.parametrize("kind", [events.Judged, events.Answered, events.RunEnded])
def test_closed_near_its_end_a_run_ends_once_and_is_counted_once(kind, limits):
    made = Session(
        Raw(message([use(a=1, b=2)], "tool_use")), memory=None, tools=[add], name="c", limits=limits
    )
    stream = made.stream("goal")
    for event in stream:
        if isinstance(event, kind) and getattr(event, "verdict", "") != "go_on":
            break
    stream.close()
    ends = [type(e).__name__ for e in made.trace if isinstance(e, events.Answered | events.RunEnded)]
    assert ends == ["Answered", "RunEnded"]
    assert made.result.stop_reason == ("limit_steps" if limits.steps == 1 else "done")
    assert made.usage.calls == made.result.usage.calls


KEY = "sk-ant-api03-" + "a1B2" * 20


@tool
def look(x: str = "", data: str = "", id: str = "") -> dict:
    """Look, and find a key everywhere."""
    return {"id": KEY, "data": KEY, "signature": KEY, "rows": [KEY]}


@pytest.mark.parametrize(
    "reply",
    [
        message([say(KEY)]),
        message([use("look", x=KEY)], "tool_use"),
        message(
            [{"type": "tool_use", "id": "t1", "name": "look", "input": {"id": KEY, "data": KEY}}], "tool_use"
        ),
        message([use("look", **{KEY: 1})], "tool_use"),
        message([use(KEY)], "tool_use"),
        message([THINKING | {"thinking": KEY}, say("x")]),
        message([{"type": "hologram", "data": KEY, "id": KEY, "signature": KEY}, say("x")]),
        message([say("x")], "refusal", stop_details=KEY),
        message([say("x")], KEY),
        message([say("x")], usage={KEY: KEY, "id": KEY}),
    ],
)
def test_no_secret_reaches_the_transcript_or_what_is_drawn_of_it(reply, own_home):
    from agent_nb.notebook.views import run_html, run_text
    from agent_nb.transcript import redacted

    made = Session(Raw(reply), memory=None, tools=[look], name="k")
    result = made.run(f"use {KEY}\ndone when:\n- contains '{KEY}'")
    assert KEY not in (own_home / "sessions" / "k.jsonl").read_text()
    clean = [redacted(event) for event in result.trace]
    assert KEY not in run_html(clean) + run_text(clean)
    again = Session.open("k", model=Raw(), memory=None, tools=[])
    validate_messages([*again.messages, {"role": "user", "content": [say("next")]}])


def test_pictures_and_thinking_come_back_byte_for_byte():
    block = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "sk-" + "a" * 40},
    }
    started = events.Observed(run="r", message={"role": "user", "content": [block, THINKING]})
    from agent_nb.transcript import redacted

    assert redacted(started) == started


def test_an_unknown_tool_is_answered_with_the_allowed_ones_only():
    result = run(message([use("nope")], "tool_use"), limits=Limits(tools=["add"]))
    assert result.task.observations[0].kind == "unknown_tool"
    made = Session(
        Raw(message([use("nope")], "tool_use")),
        memory=None,
        tools=[add, look],
        name="w",
        limits=Limits(tools=["add"]),
    )
    assert "look" not in made.run("goal").task.observations[0].text
