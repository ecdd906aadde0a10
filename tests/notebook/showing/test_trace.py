"""The live trace in each place where it can stand: page, file, terminal, nowhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from front_end import VIEW, FrontEnd, custom, idle, whole
from html_check import Checked

HERE = Path(__file__).parent
SHOW = """
from agent_nb.notebook.trace import LiveTrace
from sample_events import sample
trace = LiveTrace()
try:
    for event in sample():
        trace.show(event)
finally:
    trace.close()
"""
HANG = """
from agent_nb.notebook.trace import LiveTrace
from sample_events import sample
trace = LiveTrace()
try:
    for event in sample()[:9]:
        trace.show(event)
    time.sleep(600)
finally:
    trace.close()
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    front = FrontEnd(tmp_path_factory.mktemp("kernel"))
    yield front
    front.stop()


@pytest.mark.kernel
def test_in_the_end_html_and_text_stand_in_the_widgets_place(lab):
    lab.run(SHOW)
    lab.until(idle)
    kinds = [kind for kind, *_ in lab.heard]
    first = next(content for kind, content, _ in lab.heard if kind == "display_data")
    assert VIEW in first["data"]
    (left,) = lab.outputs()
    assert set(left) == {"text/html", "text/plain"}
    assert "7 of 8 numbers have evidence" in Checked(left["text/html"]).text
    assert "7 of 8 numbers have evidence" in left["text/plain"]
    assert kinds.index("comm_close") > kinds.index("update_display_data")


@pytest.mark.kernel
def test_a_page_says_hello_and_gets_everything_while_the_cell_runs(lab):
    lab.run(HANG)
    lab.until(lambda kind, content: kind == "display_data")
    slots = set()
    while (
        not {"head", "line", "load", "now"} <= slots
    ):  # the first hello may come before all events are shown
        lab.say(type="hello")
        state = custom(lab.until(whole))
        slots = {op["slot"] for op in state["ops"]}
    assert state["ask"] is None
    assert lab.updates["live"] is True
    lab.say(type="hello")  # a page that was loaded anew
    again = custom(lab.until(whole))
    assert {op["key"] for op in again["ops"]} >= {op["key"] for op in state["ops"]}
    lab.say(type="stop")
    lab.until(idle)
    assert lab.reply()["ename"] == "KeyboardInterrupt"
    assert "text/html" in lab.outputs()[0]
    assert VIEW not in lab.outputs()[0]


@pytest.mark.kernel
def test_clicks_of_another_run_are_ignored(lab):
    lab.run(HANG.replace("600", "1"))
    lab.until(lambda kind, content: kind == "display_data")
    lab.say(type="stop", run="another")
    lab.until(idle)
    assert lab.reply()["status"] == "ok"


@pytest.mark.kernel
def test_a_page_that_cannot_be_heard_still_sees_the_trace(lab):
    lab.run(HANG.replace("600", "3"))
    lab.until(lambda kind, content: kind == "display_data")
    state = custom(lab.until(whole))  # nobody said hello
    assert {op["slot"] for op in state["ops"]} >= {"head", "load"}
    lab.until(idle)
    assert not lab.updates.get("live")


@pytest.mark.kernel
def test_without_stdin_there_is_no_widget_and_one_output(lab):
    lab.run(SHOW, allow_stdin=False)
    lab.until(idle)
    (left,) = lab.outputs()
    assert set(left) == {"text/html", "text/plain"}
    assert not [kind for kind, *_ in lab.heard if kind.startswith(("comm", "update"))]


@pytest.mark.kernel
def test_closing_with_the_whole_transcript_of_a_run_that_was_cut(lab):
    code = SHOW.replace("for event in sample():", "for event in sample()[:6]:")
    lab.run(code.replace("trace.close()", "trace.close(sample()); trace.close()"))
    lab.until(idle)
    (left,) = lab.outputs()
    assert "7 of 8 numbers have evidence" in left["text/plain"]


@pytest.mark.kernel
def test_an_event_that_cannot_be_drawn_costs_neither_run_nor_answer(lab):
    broken = "[*sample()[:2], Loaded(run='r1', query='q', hits=[{'score': 'high'}], total=1), *sample()[3:]]"
    code = SHOW.replace("sample():", f"{broken}:") + "print('went on')"
    lab.run(code.replace("import LiveTrace", "import LiveTrace\nfrom agent_nb.events import Loaded"))
    lab.until(idle)
    left, printed = lab.outputs()
    assert "Virgin America" in left["text/plain"]
    assert "could not be drawn" in left["text/plain"]
    assert printed["stream"]["text"] == "went on\n"


@pytest.mark.kernel
def test_a_trace_that_showed_nothing_leaves_nothing(lab):
    lab.run("from agent_nb.notebook.trace import LiveTrace; LiveTrace().close()")
    lab.until(idle)
    assert lab.outputs() == []


def _python(*arguments, code):
    run = [sys.executable, *arguments, f"import sys, time; sys.path.insert(0, {str(HERE)!r})\n{code}"]
    return subprocess.run(
        run, capture_output=True, text=True, timeout=90, stdin=subprocess.DEVNULL, check=False
    )


@pytest.mark.kernel
def test_a_terminal_prints_lines_and_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    done = _python("-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code=SHOW)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("■ done") == 1
    assert done.stdout.count("→ 16 rows") == 1
    assert "<div" not in done.stdout


@pytest.mark.kernel
def test_a_terminal_hears_the_end_of_a_run_that_was_cut(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    code = """
from agent_nb.notebook.trace import LiveTrace
from sample_events import sample
trace, events = LiveTrace(), sample()
for event in events[:8]:
    trace.show(event)
trace.close([*[e for e in events[:8] if e.saved], *events[-3:]])
"""
    done = _python("-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code=code)
    assert done.stdout.count("▶ Which airline") == 1
    assert done.stdout.count("■ done") == 1


def test_plain_python_shows_nothing_and_loads_no_front_end():
    done = _python("-c", code=SHOW + "\nprint([m for m in ('IPython', 'anywidget') if m in sys.modules])")
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.notebook
def test_a_headless_notebook_holds_the_trace_and_denies_at_once(tmp_path):
    import nbformat
    from nbclient import NotebookClient

    ask = """
from agent_nb.notebook.approval import Gate
print(Gate(trace)({"id": "t", "name": "run_python", "input": {"code": "1"}, "effect": "write"}).verdict)
"""
    cells = [f"import sys; sys.path.insert(0, {str(HERE)!r})", SHOW, ask]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (left,) = book.cells[1].outputs
    assert set(left["data"]) == {"text/html", "text/plain"}
    assert book.cells[2].outputs[0]["text"] == "deny\n"
    assert "widgets" not in json.dumps(book.metadata)
