"""A process that runs a session is killed at a random moment, again and again: its session always goes on."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS = int(os.environ.get("AGENT_NB_SOAK", "25"))


def child(name):
    """Runs goal after goal until it is killed."""
    from agent_nb import Limits, Session, tool
    from agent_nb.models.scripted import ScriptedModel

    @tool
    def work(ms: int) -> str:
        """Work."""
        time.sleep(ms / 10_000)
        return "x" * 500

    @tool(parallel=True)
    def aside(ms: int) -> str:
        """Work in a thread."""
        return "y" * 500

    def use(which, i):
        return {"type": "tool_use", "id": f"t{i}", "name": which, "input": {"ms": 1}}

    n = 0
    while True:
        n += 1
        text = {"type": "text", "text": "s " * 40}
        steps = [{"content": [text, use("work", f"{n}a{i}"), use("aside", f"{n}b{i}")]} for i in range(4)]
        model = ScriptedModel([*steps, "the end"], stream=False)
        Session(model, tools=[work, aside], memory=None, name=name, limits=Limits(steps=9)).run(f"goal {n}")


def survives(name):
    """The session opens, its history is one that the API takes, and it goes on."""
    from agent_nb import Session
    from agent_nb.models.scripted import ScriptedModel
    from agent_nb.models.validate import validate_messages

    following = {"role": "user", "content": [{"type": "text", "text": "next"}]}
    made = Session(ScriptedModel(["on"] * 3), tools=[], memory=None, name=name)
    validate_messages([*made.messages, following])
    ends = [event for event in made.trace if type(event).__name__ == "RunEnded"]
    started = [event for event in made.trace if type(event).__name__ == "RunStarted"]
    stopped = started and not (ends and ends[-1].run == started[-1].run)
    result = made.resume() if stopped else made.run("next")
    assert result.text == "on", (result.stop_reason, result.reason)
    validate_messages([*made.messages, following])


def kill_at(seed):
    pid = os.fork()
    if not pid:
        try:
            child(f"s{seed}")
        finally:
            os._exit(1)
    time.sleep(random.Random(seed).uniform(0.002, 0.12))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), "the child ended by itself"
    survives(f"s{seed}")


def test_killed_at_random_moments(own_home):
    # From a process of its own that has one thread: a fork of this one would copy what other threads hold.
    here = os.path.dirname(__file__)
    code = f"import sys; sys.path.insert(0, {here!r}); import test_kills as t; [t.kill_at(n) for n in range({KILLS})]"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=1_800
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    assert len(list((own_home / "sessions").glob("*.jsonl"))) > KILLS // 2
