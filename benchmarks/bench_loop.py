"""CPU time of the loop itself per step, with a model that answers at once and a trivial tool, transcript written.

Against a limit measured in the same run: appending the same transcript to a file line by line, and nothing else; and
against other loops, where they are installed. Then the tokens that a step sends, with a tool that returns a table,
against sending the whole history of the turn, as those other loops do.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import agent_nb
from agent_nb import Limits, Session, tool
from agent_nb.events import CallStarted
from agent_nb.models.scripted import ScriptedModel
from agent_nb.zones import Zones


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def sales(a: int, b: int) -> list[dict[str, object]]:
    """Sales of a day, a row a region."""
    return [{"region": name, "day": a, "units": (a * 37 + n * 101) % 997} for n, name in enumerate("NESW")]


def replies(steps: int, name: str = "add") -> list[object]:
    """`steps` replies with one call each, then an answer."""
    calls = [
        {
            "content": [{"type": "text", "text": f"step {i}"}, _call(i, name)],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        for i in range(steps)
    ]
    return [*calls, "done"]


def _call(i: int, name: str) -> dict[str, object]:
    return {"type": "tool_use", "id": f"t{i}", "name": name, "input": {"a": i, "b": 1}}


class Answering(ScriptedModel):
    """Without the copies and checks that the scripted model makes for tests: they are not the loop's."""

    def reply(self, messages, *, system, tools, max_tokens, tool_choice=None):
        """The next reply."""
        self.requests.append(None)
        return self._play(self.replies[len(self.requests) - 1])


def run(steps: int) -> tuple[float, int]:
    """(CPU milliseconds a step, bytes of transcript)."""
    model = Answering(replies(steps), stream=False)
    name = f"bench-{steps}-{time.monotonic_ns()}"
    session = Session(
        model, tools=[add], memory=None, limits=Limits(steps=steps + 2, tokens=10**9), name=name
    )
    started = time.process_time()
    result = session.run("add numbers")
    spent = time.process_time() - started
    assert result.done, result.reason
    path = os.path.join(os.environ["AGENT_NB_HOME"], "sessions", f"{name}.jsonl")
    return spent * 1000 / steps, os.path.getsize(path)


def sent(steps: int, zones: Zones) -> tuple[float, float]:
    """(tokens that a step sends, the mean over the last tenth of the run; bytes of transcript a step)."""
    name = f"tokens-{steps}-{time.monotonic_ns()}"
    limits = Limits(steps=steps + 2, tokens=10**12)
    session = Session(
        Answering(replies(steps, "sales"), stream=False),
        tools=[sales],
        memory=None,
        limits=limits,
        name=name,
        zones=zones,
    )
    assert session.run("Add up the sales of all days.").done
    calls = [sum(part["tokens"] for part in e.window) for e in session.trace if isinstance(e, CallStarted)]
    last = calls[-max(1, steps // 10) :]
    size = os.path.getsize(os.path.join(os.environ["AGENT_NB_HOME"], "sessions", f"{name}.jsonl"))
    return sum(last) / len(last), size / steps


def limit(size: int, lines: int, folder: str) -> float:
    """CPU milliseconds a step for writing as many bytes in as many lines."""
    data = b"x" * (size // lines - 1) + b"\n"
    started = time.process_time()
    handle = os.open(os.path.join(folder, "limit"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(lines):
        os.write(handle, data)
    os.close(handle)
    return (time.process_time() - started) * 1000


def peers(lengths: list[int]) -> dict[str, dict[str, float]]:
    """The same of other loops, by the Python of AGENT_NB_PEERS (or this one); empty where none is installed."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers_loop.py")
    python = os.environ.get("AGENT_NB_PEERS", sys.executable)
    done = subprocess.run([python, script, *map(str, lengths)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(f"agent_nb {agent_nb.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores")
    lengths = [20, 200, 2000]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AGENT_NB_HOME"] = folder
        run(5)
        ours = {}
        for steps in lengths:
            measured = [run(steps) for _ in range(3 if steps < 1_000 else 1)]
            ours[steps], size = min(measured)
            floor = limit(size, steps * 7, folder) / steps
            print(f"{steps:5} steps: {ours[steps]:.2f} CPU ms a step; writing its lines alone {floor:.3f} ms")
        for steps in lengths:
            (ours_t, size), (whole, _) = sent(steps, Zones()), sent(steps, Zones(working=10**12))
            print(
                f"{steps:5} steps: a step at the end sends {ours_t:,.0f} tokens, with the whole history {whole:,.0f} "
                f"(ratio {ours_t / whole:.2f}); {size:,.0f} bytes of transcript a step"
            )
    others = peers(lengths)
    for name, figures in others.items():
        print(f"{name}: " + ", ".join(f"{ms:.2f} CPU ms a step of {steps}" for steps, ms in figures.items()))
    if others:
        fastest = min(figures["20"] for figures in others.values())
        ratios = ", ".join(f"{ours[steps] / fastest:.2f} at {steps}" for steps in lengths)
        print(f"ours against the fastest of them at 20 steps: {ratios} (ratio)")
    else:
        print(
            "no peer is installed: set AGENT_NB_PEERS to a Python with smolagents, langgraph, pydantic-ai-slim"
        )
