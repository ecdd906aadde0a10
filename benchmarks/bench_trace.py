"""How long a trace of 200 steps takes to stand in a real JupyterLab, and a finished one to be drawn.

    python benchmarks/bench_trace.py

The events come as fast as the kernel gives them. Live: the time until the card of the last step stands on the page. The
peer is what IPython gives every cell: `update_display` with the whole trace, and only once in ten steps. Needs Chromium
and the `test` extra; figures of a busy machine are rough.
"""

from __future__ import annotations

import importlib.util
import pathlib
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
STEPS = 200
EVENTS = """
from IPython.display import HTML, display
from agent_nb.events import Acted, CallStarted, Judged, RunStarted, Streamed, ToolFinished, ToolStarted
from agent_nb.notebook.trace import LiveTrace
from agent_nb.notebook.views import run_html

def events(steps=200):
    yield RunStarted(run="r", goal="A long run", message={}, session="s", model="m", limits={"steps": steps})
    for n in range(1, steps + 1):
        at, id = {"run": "r", "step": n}, f"t{n}"
        given = {"query": f"SELECT carrier, avg(delay) FROM flights WHERE month = {n} GROUP BY carrier"}
        rows = [[f"C{i}", i * 1.5 + n] for i in range(10)]
        seen = {"id": id, "name": "query_sql", "input": given, "ok": True, "content": [{"type": "text", "text": "{}"}]}
        seen |= {"columns": ["carrier", "delay"], "rows": rows, "total_rows": 10, "value_name": f"_r{n}", "ms": 3.0}
        said = [{"type": "text", "text": f"Now month {n}."}]
        said += [{"type": "tool_use", "id": id, "name": "query_sql", "input": given}]
        yield CallStarted(**at, window=[{"part": "system", "tokens": 400}, {"part": "this turn", "tokens": 20 * n}])
        yield Streamed(**at, kind="text", text=f"Now month {n}.")
        yield Acted(**at, message={"role": "assistant", "content": said}, usage={"input_tokens": 9}, ms=5.0)
        yield ToolStarted(**at, id=id, name="query_sql", input=given)
        yield ToolFinished(**at, id=id, name="query_sql", observation=seen)
        yield Judged(**at, verdict="go_on", valves={"steps": [n, steps]})
"""
LIVE = "every = list(events())\ntrace = LiveTrace()\nfor event in every:\n    trace.show(event)"
PEER = """
every = list(events())
shown, handle = [], display(HTML(""), display_id=True)
for event in every:
    shown.append(event)
    if isinstance(event, Judged) and event.step % 10 == 0:
        handle.update(HTML(run_html(shown)))
"""


def main() -> None:
    spec = importlib.util.spec_from_file_location("lab", ROOT / "tests" / "browser" / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    browser = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(browser)
    with tempfile.TemporaryDirectory() as home, browser.started(pathlib.Path(home)) as lab:
        live = _seconds(lab, browser, LIVE, ".agent-nb-trace summary")
        peer = _seconds(lab, browser, PEER, ".jp-RenderedHTML summary")
    print(f"live trace of {STEPS} steps, {6 * STEPS + 1:,} events: {live:.1f} s until its last card stands")
    print(f"update_display once in ten steps, same events: {peer:.1f} s, {peer / live:.1f} times as long")
    _finished()


def _seconds(lab: Any, browser: Any, source: str, where: str) -> float:
    page = lab.open(lab.write([EVENTS, source]))
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
    browser.wait_idle(page)
    began = time.perf_counter()
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-cell')")
    page.locator(where, has_text=f"{STEPS} query_sql").first.wait_for(timeout=180_000, state="attached")
    taken = time.perf_counter() - began
    page.close()
    return taken


def _finished() -> None:
    """The HTML and the text that stay in the notebook."""
    space: dict[str, Any] = {}
    exec(EVENTS, space)
    every = list(space["events"]())
    began = time.perf_counter()
    page = space["run_html"](every)
    print(
        f"finished trace: {1_000 * (time.perf_counter() - began):.0f} ms, {len(page) / 1_000:,.0f} kB of HTML"
    )


if __name__ == "__main__":
    main()
