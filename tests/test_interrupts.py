"""Interrupts at random moments: whatever the run was doing, its session goes on and its history is valid."""

import contextlib
import gc
import json
import os
import random
import signal
import threading
import time

import pytest

from agent_nb import Session, events, tool
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages
from agent_nb.transcript import Transcript


@tool
def wait(ms: int) -> str:
    """Wait."""
    time.sleep(ms / 1000)
    return "waited"


@tool(parallel=True)
def wait_aside(ms: int) -> str:
    """Wait in a thread."""
    time.sleep(ms / 1000)
    return "waited aside"


def say(text):
    return {"type": "text", "text": text}


def script():
    def use(name, i):
        return {"type": "tool_use", "id": f"t{i}", "name": name, "input": {"ms": 1}}

    steps = [
        {"content": [say("s " * 40), use("wait", 3 * i), use("wait_aside", 3 * i + 1)]} for i in range(6)
    ]
    return [*steps, {"content": [say("the end " * 10)]}]


@pytest.fixture
def alarm():
    """Press the stop button after so many seconds: SIGINT to the main thread, as the kernel's own does."""
    timers = []

    def ring(seconds):
        press = lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # noqa: E731
        timers.append(threading.Timer(seconds, press))
        timers[-1].start()

    # Hypothesis counts the time of collections; an interrupt in there would be lost with a warning.
    callbacks, gc.callbacks[:] = gc.callbacks[:], []
    yield ring
    for timer in timers:
        timer.cancel()
        timer.join()
    gc.callbacks[:] = callbacks


def interrupted_run(made, alarm, after):
    """Run until the interrupt has come, wherever that is; it may come when the run is over already."""
    stream = made.stream("goal")
    try:
        alarm(after)
        for _ in stream:
            pass
        time.sleep(0.2)
    except KeyboardInterrupt:  # it came between two events, in the hands of whoever draws them
        stream.close()


@pytest.mark.parametrize("seed", range(int(os.environ.get("AGENT_NB_SOAK", "60"))))
def test_at_a_random_moment(seed, alarm):
    made = Session(ScriptedModel(script()), tools=[wait, wait_aside], memory=None, name="s")
    interrupted_run(made, alarm, random.Random(seed).uniform(0.0005, 0.06))
    if not made.trace:
        return
    again = Session.open(
        "s", tools=[wait, wait_aside], memory=None, model=ScriptedModel([{"content": [say("on")]}] * 2)
    )
    validate_messages([*again.messages, {"role": "user", "content": [say("next")]}])
    ends = [e for e in again.trace if isinstance(e, events.RunEnded)]
    if ends and ends[-1].done:
        assert again.run("next").text == "on"
    else:
        assert again.resume().text == "on"
        goals = [e.message for e in again.trace if isinstance(e, events.RunStarted)]
        assert goals[0]["content"][0]["text"] == "goal"
    validate_messages([*again.messages, {"role": "user", "content": [say("next")]}])


EVENTS = ["RunStarted", "CallStarted", "Acted", "ToolFinished", "Observed", "Judged", "Answered", "RunEnded"]


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("when", ["_line", "_write"])
def test_an_interrupt_while_a_line_is_written_neither_loses_nor_doubles_it(name, when, monkeypatch):
    real, cut = getattr(Transcript, when), []

    def interrupted(self, told):
        done = real(self, told)
        said = type(told).__name__ if when == "_line" else json.loads(told)["event"]
        if said == name and not cut:
            cut.append(said)
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Transcript, when, interrupted)
    made = Session(ScriptedModel(script()), tools=[wait, wait_aside], memory=None, name="s")
    with contextlib.suppress(KeyboardInterrupt):
        made.run("goal")
    assert cut
    again = Session.open("s", tools=[wait, wait_aside], memory=None, model=ScriptedModel(["on"] * 2))
    assert [event.to_dict() for event in again.trace] == [event.to_dict() for event in made.trace]
    kinds = [type(event).__name__ for event in again.trace]
    assert (kinds[0], kinds[-1]) == ("RunStarted", "RunEnded")
    assert [kinds.count(kind) for kind in ("RunStarted", "Answered", "RunEnded")] == [1, 1, 1]
    assert name in kinds
    assert (again.run("next") if again.trace[-1].done else again.resume()).text == "on"
