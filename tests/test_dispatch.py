"""Tools that never return, lie or raise what nobody expects, and askers that fail: each call is answered, the run goes on."""

import asyncio
import contextlib
import json
import os
import select
import signal
import sys
import threading
import time

import pytest

from agent_nb import Limits, Session, events, tool
from agent_nb.alarm import within
from agent_nb.approval import Verdict
from agent_nb.errors import CutShort
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages


def say(text):
    return {"type": "text", "text": text}


def use(name, id="t1", **given):
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def run(*calls, tools, **settings):
    script = [{"content": list(calls)}, {"content": [say("the end")]}]
    made = Session(ScriptedModel(script), tools=tools, memory=None, name="d", **settings)
    result = made.run("goal")
    validate_messages([*made.messages, {"role": "user", "content": [say("next")]}])
    json.dumps([event.to_dict() for event in made.trace], allow_nan=False)
    return result


def sleep():
    time.sleep(30)


def busy():
    while True:
        pass


def blocked():
    reader, writer = os.pipe()
    try:
        os.read(reader, 1)
    finally:
        os.close(reader)
        os.close(writer)


def selecting():
    select.select([], [], [], 30)


def swallowing():
    while True:
        try:
            time.sleep(30)
        except Exception:
            continue


def deaf_once():
    for _ in range(2):
        with contextlib.suppress(BaseException):
            time.sleep(30)
    return "late, and yet here"


async def awaiting():
    await asyncio.sleep(30)


NEVER = [sleep, busy, blocked, selecting, swallowing, awaiting]


@pytest.mark.parametrize("body", NEVER, ids=lambda body: body.__name__)
def test_a_tool_that_never_returns_is_cut_when_the_time_is_up(body):
    @tool
    def stuck() -> object:
        """Never come back."""
        return body()

    before = signal.getsignal(signal.SIGALRM)
    result = run(use("stuck"), use("stuck", "t2"), tools=[stuck], limits=Limits(seconds=0.3))
    assert result.stop_reason == "limit_seconds"
    first, second = result.task.observations
    assert (first.kind, second.kind) == ("failed", "failed")
    assert "cut: the time was up after" in first.text
    assert "not run" in second.text
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_tool_that_swallows_the_cut_is_cut_again_and_its_late_answer_counts():
    @tool
    def stuck() -> str:
        """Come back late."""
        return deaf_once()

    result = run(use("stuck"), tools=[stuck], limits=Limits(seconds=0.3))
    assert "yet here" in result.task.observations[0].text
    assert result.stop_reason == "limit_seconds"


def test_a_parallel_tool_that_never_returns_is_left_behind_and_the_others_count():
    gate = threading.Event()

    @tool(parallel=True)
    def stuck() -> None:
        """Wait for good."""
        gate.wait(30)

    @tool(parallel=True)
    def quick() -> str:
        """Be quick."""
        return "here"

    result = run(use("stuck"), use("quick", "t2"), tools=[stuck, quick], limits=Limits(seconds=0.4))
    gate.set()
    assert [seen.id for seen in result.task.observations] == ["t1", "t2"]
    assert "left behind" in result.task.observations[0].text
    assert "here" in result.task.observations[1].text
    assert result.stop_reason == "limit_seconds"


def test_beside_the_main_thread_it_is_left_behind_as_well():
    @tool
    def stuck() -> None:
        """Wait for good."""
        time.sleep(3)

    found = []
    worker = threading.Thread(
        target=lambda: found.append(run(use("stuck"), tools=[stuck], limits=Limits(seconds=0.3)))
    )
    worker.start()
    worker.join(20)
    assert found[0].stop_reason == "limit_seconds"
    assert "left behind" in found[0].task.observations[0].text


@pytest.mark.parametrize("when", ["before the first piece", "in mid-stream"])
def test_a_model_that_never_answers_is_cut_as_well(when):
    class Silent:
        name = "silent"

        def reply(self, messages, *, system, tools, max_tokens):
            if when == "in mid-stream":
                yield {"type": "text_delta", "text": "I was abou"}
            time.sleep(30)

    made = Session(Silent(), tools=[], memory=None, name="d", limits=Limits(seconds=0.3))
    result = made.run("goal")
    assert result.stop_reason == "limit_seconds"
    assert result.text == ("I was abou" if when == "in mid-stream" else "")


def test_an_alarm_of_the_users_own_still_rings():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    was = signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(CutShort):
            within(0.1, busy)
        assert within(5, lambda: "back") == "back"
        ends = time.monotonic() + 5
        while not rang and time.monotonic() < ends:
            time.sleep(0.01)
        assert rang
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *was)


class Bomb:
    def __repr__(self):
        raise SystemExit(1)

    __str__ = __repr__


class TwoFaced(dict):
    __class__ = list

    def items(self):
        raise GeneratorExit

    def __len__(self):
        return -1


def mutates(orders):
    orders.clear()
    return orders


def talks(orders):
    print("to the page")
    threading.Thread(target=lambda: print("from a thread"), daemon=True).start()
    return "said"


def raises(error):
    def body(orders):
        raise error

    return body


class Own(BaseException):
    def __str__(self):
        raise Own


LIES = {
    "another type": lambda orders: [object(), {1: 2}],
    "itself": lambda orders: globals(),
    "a function": lambda orders: print,
    "two-faced": lambda orders: TwoFaced(a=1),
    "a bomb": lambda orders: Bomb(),
    "bombs": lambda orders: [Bomb(), {"a": Bomb()}],
    "mutates": mutates,
    "talks": talks,
    "exits": lambda orders: sys.exit(3),
    "base": raises(BaseException("x")),
    "own": raises(Own()),
    "generator exit": raises(GeneratorExit()),
    "cancelled": raises(asyncio.CancelledError()),
    "group": raises(BaseExceptionGroup("g", [SystemExit(1), ValueError("x")])),
    "memory": raises(MemoryError()),
    "endless": lambda orders: iter(int, 1),
    "recursion": lambda orders: (lambda f: f(f))(lambda f: f(f)),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("parallel", [False, True], ids=["main", "thread"])
def test_whatever_a_tool_does_its_call_is_answered_and_the_run_goes_on(lie, parallel):
    @tool(parallel=parallel)
    def count(orders: list[int]) -> int:
        """Count orders."""
        return LIES[lie](orders)

    given = [1, 2, 3]
    result = run(use("count", orders=given), tools=[count])
    assert (result.text, result.done) == ("the end", True)
    seen = result.task.observations[0]
    assert seen.input == {"orders": [1, 2, 3]}
    assert given == [1, 2, 3]
    failed = {"exits", "base", "own", "generator exit", "cancelled", "group", "memory", "recursion"}
    assert seen.ok == (lie not in failed)


@tool(effect="write")
def store(value: int) -> str:
    """Write."""
    return f"stored {value}"


def fails(question):
    raise RuntimeError("the widget is gone, key sk-ant-api03-" + "a1B2" * 20)


@pytest.mark.parametrize(
    "asker",
    [fails]
    + [lambda q, a=answer: a for answer in (None, True, "approve")]
    + [
        lambda q, a=given: Verdict("approve", input=a)
        for given in ([1], {"value": {1}}, {"value": float("nan")})
    ],
)
def test_an_asker_that_fails_is_a_no_that_is_told(asker):
    result = run(use("store", value=1), tools=[store], asker=asker)
    assert result.done
    assert result.task.observations[0].kind == "denied"
    told = [event.text for event in result.trace if isinstance(event, events.Noticed)]
    assert "nobody could be asked about store" in told[0]
    assert "a1B2" not in told[0]
