"""The live trace, approval and stopping in a real JupyterLab, and what the saved notebook holds."""

import json
import re

import pytest
from playwright.sync_api import expect

from agent_nb.notebook.views.style import FRAME

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)  # two kernels start at once on a busy machine

VIEW = "application/vnd.jupyter.widget-view+json"
TRACE, ASK, STOP = ".agent-nb-trace", ".agent-nb-ask", ".agent-nb-stop"
FRAME_START = FRAME[:40]
MODEL = '''
%load_ext agent_nb
import pandas as pd, time
from agent_nb.models.scripted import ScriptedModel
delays = pd.DataFrame({"carrier": ["VX", "B6"], "delay": [35.26, 24.9]})
def call(id, name, **input):
    return {"type": "tool_use", "id": id, "name": name, "input": input}
def say(text, *calls):
    return {"content": [{"type": "text", "text": text}, *calls]}
class Slow:
    """Streams for ten minutes."""
    name = "slow"
    def reply(self, messages, *, system, tools, max_tokens):
        for i in range(6000):
            yield {"type": "text_delta", "text": f"word{i} "}
            time.sleep(0.1)
slow = Slow()
'''


def output_html(cell):
    """The HTML below a cell of a notebook file; fails where a widget-view was saved."""
    bundles = [output["data"] for output in cell["outputs"] if "data" in output]
    assert not any(VIEW in bundle for bundle in bundles)
    (html,) = [bundle["text/html"] for bundle in bundles if "text/html" in bundle]
    assert all("text/plain" in bundle for bundle in bundles)
    return "".join(html)


def shown(page, words):
    """Wait for a finished trace that holds `words`."""
    frame = page.locator(f'.jp-RenderedHTML div[style^="{FRAME_START}"]', has_text=words).first
    expect(frame).to_be_visible(timeout=30_000)
    return frame


def test_a_run_is_shown_saved_and_stands_when_reopened(lab, run_all, wait_idle):
    model = MODEL + (
        "evil = '<img src=x onerror=window.hacked=true><script>window.hacked=true</script>'\n"
        "m = ScriptedModel([say('Look first. ' + evil, call('a', 'query_sql', query='SELECT * FROM delays')),\n"
        "  say('**VX** is latest with 35.26 minutes, 99.5 % of all. ' + evil)])\n"
    )
    name = lab.write(
        [model, "%%agent -m m --no-memory\nWhich carrier is latest? <b onclick=x>{braces} $x</b>"]
    )
    page = lab.open(name)
    run_all(page)
    frame = shown(page, "query_sql")
    wait_idle(page)
    expect(frame).to_contain_text("1 of 2 numbers have evidence")
    expect(frame).to_contain_text("<b onclick=x>{braces} $x</b>")
    assert page.locator(TRACE).count() == 0
    frame.locator("summary", has_text="query_sql").click()
    expect(frame.get_by_text("SELECT * FROM delays").last).to_be_visible()
    book = lab.saved(page, name)
    assert page.evaluate("window.hacked") is None
    page.close()
    html = output_html(book["cells"][1])
    assert "35.26" in html

    # A copy with another source is nobody's: untrusted, without a kernel that knows it.
    book["cells"][0]["source"] = "1"
    copy = lab.write([])
    (lab.folder / copy).write_text(json.dumps(book), "utf-8")
    page = lab.open(copy)
    frame = shown(page, "1 of 2 numbers have evidence")
    assert page.evaluate("window.jupyterapp.shell.currentWidget.content.model.cells.get(1).trusted") is False
    frame.locator("summary", has_text="query_sql").click()
    expect(frame.locator("th", has_text="carrier")).to_be_visible()
    assert frame.evaluate("node => getComputedStyle(node).borderRadius") == "8px"
    assert page.evaluate("window.hacked") is None
    page.close()


def test_approve_edit_and_deny_by_button(lab, run_all, wait_idle):
    model = MODEL + (
        "x = y = 0\n"
        "m = ScriptedModel([say('Set x.', call('a', 'run_python', code='x = 1')), say('Set y.',\n"
        "  call('b', 'run_python', code='y = 1')), say('Now both.', call('c', 'run_python', code='x = y = 9')),\n"
        "  say('Ready.')])\n"
    )
    name = lab.write([model, "%%agent -m m --no-memory\nSet x and y.", "print(['values', x, y])"])
    page = lab.open(name)
    run_all(page)
    page.click(f"{ASK} .agent-nb-approve")
    expect(page.locator(f"{ASK} pre")).to_contain_text("y = 1")
    page.click(f"{ASK} .agent-nb-change")
    expect(page.locator(f"{ASK} textarea")).to_have_value("y = 1")
    page.fill(f"{ASK} textarea", "y = 7")
    page.click(f"{ASK} .agent-nb-approve")
    expect(page.locator(f"{ASK} pre")).to_contain_text("x = y = 9")
    page.locator(f"{ASK} .agent-nb-reason").press_sequentially("not twice")
    page.press(f"{ASK} .agent-nb-reason", "Enter")
    frame = shown(page, "denied by you: “not twice”")
    wait_idle(page)
    expect(frame).to_contain_text("approved by you, as edited")
    book = lab.saved(page, name)
    assert book["cells"][2]["outputs"][0]["text"] in ("['values', 1, 7]\n", ["['values', 1, 7]\n"])
    page.close()


def test_stop_in_mid_stream_keeps_what_was_said_and_aborts_the_next_cells(lab, run_all, wait_idle):
    name = lab.write([MODEL, "%%agent -m slow --no-memory\nTalk.", "print('not reached')"])
    page = lab.open(name)
    run_all(page)
    expect(page.locator(".agent-nb-now")).to_contain_text("word3")
    page.click(STOP)
    frame = shown(page, "stopped by you")
    wait_idle(page)
    expect(frame).to_contain_text("word3")
    book = lab.saved(page, name)
    assert "word3" in output_html(book["cells"][1])
    assert book["cells"][2]["outputs"] == []
    errors = [o for o in book["cells"][1]["outputs"] if o["output_type"] == "error"]
    assert [e["ename"] for e in errors] == ["AgentStopped"]
    page.close()


def test_what_the_reader_opened_stays_open_and_a_reload_can_be_mended(lab, run_all, wait_idle):
    model = (
        MODEL
        + "m = ScriptedModel([say('Look.', call('a', 'list_variables')), lambda r: slow_reply()])\n"
        + ("def slow_reply():\n    time.sleep(6)\n    return say('Slept well.')\n")
    )
    name = lab.write([model, "%%agent -m m --no-memory -s reloaded\nLook around.", "%agent trace reloaded"])
    page = lab.open(name)
    run_all(page)
    page.locator(f"{TRACE} summary", has_text="list_variables").click()
    expect(page.locator(f"{TRACE} details[open]")).to_have_count(1)
    expect(page.locator(".agent-nb-line")).to_contain_text(
        re.compile(r"step 2 · asking scripted · [1-9]\.\d s")
    )
    expect(page.locator(f"{TRACE} details[open]")).to_have_count(1)
    lab.saved(page, name)
    page.reload()
    lab.ready(page)
    # The run goes on without a page; the next cell waits for its end.
    page.locator(".jp-Cell").nth(2).click()
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-cell')")
    shown(page, "Slept well.")
    page.close()


def test_a_narrow_window_holds_wide_tables_pictures_and_a_long_goal(lab, run_all, wait_idle):
    model = MODEL + (
        "wide = pd.DataFrame({f'a_rather_long_column_{i}': ['some text in a cell'] * 20 for i in range(40)})\n"
        "m = ScriptedModel([say('Look at both.', call('a', 'query_sql', query='SELECT * FROM wide'),\n"
        "  call('b', 'draw_chart', kind='bar', data='delays', x='carrier', y='delay')), say('Seen.')])\n"
    )
    goal = "Look. " + "This goal is long, and its end is told only to those who unfold it. " * 40
    name = lab.write([model, f"%%agent -m m --no-memory\n{goal}"])
    page = lab.open(name, width=600)
    run_all(page)
    frame = shown(page, "Seen.")
    wait_idle(page)
    for summary in frame.locator("summary").all()[1:]:
        summary.click()
    expect(frame.locator("th", has_text="a_rather_long_column_9")).to_have_count(1)
    assert frame.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert frame.locator("img").evaluate("node => node.clientHeight <= 420 && node.clientWidth <= 520")
    assert frame.locator("summary").first.bounding_box()["height"] < 200
    page.close()


def test_two_notebooks_at_once_have_their_own_traces_questions_and_answers(lab, run_all, wait_idle):
    model = (
        MODEL
        + "x = 0\nm = ScriptedModel([say('Set it.', call('a', 'run_python', code='x = {n}')), say('x is {n}.')])\n"
    )
    names = [
        lab.write([model.replace("{n}", n), f"%%agent -m m --no-memory\nSet x to {n}.", "print(['x', x])"])
        for n in ("71", "72")
    ]
    pages = [lab.open(name) for name in names]
    for page in pages:
        run_all(page)
    for page, n in zip(pages, ("71", "72"), strict=True):
        expect(page.locator(f"{ASK} pre")).to_contain_text(f"x = {n}")
        expect(page.locator("[role=status]")).to_have_text("step 1 · run_python waits for your word")
    pages[1].get_by_role("button", name="Approve").click()
    shown(pages[1], "x is 72")
    expect(pages[0].locator(ASK)).to_be_visible()
    pages[0].get_by_role("textbox", name="Reason for denying").fill("not now")
    pages[0].get_by_role("button", name="Deny").click()
    shown(pages[0], "not now")
    for page, name, x in zip(pages, names, (0, 72), strict=True):
        wait_idle(page)
        assert "".join(lab.saved(page, name)["cells"][2]["outputs"][0]["text"]) == f"['x', {x}]\n"
        page.close()


def test_a_reply_that_streams_fast_and_long_stays_small_and_the_page_can_be_used(lab, run_all, wait_idle):
    model = MODEL + (
        "class Flood:\n    name = 'flood'\n    def reply(self, messages, *, system, tools, max_tokens):\n"
        "        text = ''.join(f'word{i} ' + chr(10) * 2 * (i % 40 == 39) for i in range(15_000))\n"
        "        for i in range(0, len(text), 100):\n"
        "            yield {'type': 'text_delta', 'text': text[i:i + 100]}\n            time.sleep(0.002)\n"
        "        yield {'type': 'message', 'message': say(text) | {'role': 'assistant', 'stop_reason': 'end_turn',"
        " 'usage': {'input_tokens': 1, 'output_tokens': 1}}}\nm = Flood()\n"
    )
    name = lab.write([model, "%%agent -m m --no-memory\nTalk."])
    page = lab.open(name, theme="JupyterLab Dark", width=520)
    run_all(page)
    expect(page.locator(".agent-nb-now")).to_contain_text("word900")
    assert page.locator(TRACE).evaluate("node => node.textContent.length") < 40_000
    frame = shown(page, "word900")
    wait_idle(page)
    assert frame.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert len(output_html(lab.saved(page, name)["cells"][1])) < 200_000
    page.close()
