"""Step mode and the student's seat in a real JupyterLab: seen, steered by keys, and kept in the saved notebook."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

STEP, REPLY = ".agent-nb-step", ".agent-nb-reply"
SETUP = """
%load_ext agent_nb
import pandas as pd
from agent_nb.models.student import Student
销售 = pd.DataFrame({"地区": ["华北", "华南"], "销售额": [120, 80]})
query = {"name": "query_sql", "input": {"query": 'SELECT SUM("销售额") AS total FROM 销售'}}
me = Student(replies=[["<img src=x onerror=window.hacked=true>", query], "200。"])
"""


def text_of(cell):
    return "".join("".join(output.get("data", {}).get("text/plain", "")) for output in cell["outputs"])


def test_a_run_step_by_step_by_keys_alone(lab, run_all, wait_idle):
    name = lab.write([SETUP, "%%agent -m me --no-memory --step\n各地区的销售额总计是多少？"])
    page = lab.open(name, width=600, theme="JupyterLab Dark")
    run_all(page)
    title = page.locator(f"{STEP} .agent-nb-title")
    for at in ("1 · load", "2 · plan", "3 · act", "4 · act"):
        expect(title).to_contain_text(at)
        expect(page.get_by_role("button", name="Next", exact=True)).to_be_focused()
        page.keyboard.press("Space" if at.startswith("2") else "Enter")
    expect(page.locator("[role=status]")).to_have_text("waits for you")
    expect(title).to_contain_text("5 · observe")
    assert page.locator(".agent-nb-trace").evaluate("node => node.scrollWidth <= node.clientWidth")

    # Keys that would cut or delete the cell reach nobody while the trace has the keyboard.
    page.locator(".agent-nb-moments summary").first.focus()
    for key in ("x", "d", "d", "b"):
        page.keyboard.press(key)
        expect(page.locator(".jp-Cell")).to_have_count(2)
    page.get_by_role("button", name="Run on").click()
    wait_idle(page)
    assert page.evaluate("window.hacked") is None
    html = page.locator(".jp-RenderedHTML", has_text="step by step")
    html.locator("summary", has_text="step by step").click()
    html.locator("summary", has_text="the reply of the model, 1 call").click()
    expect(html.get_by_text("other wires:")).to_be_visible()
    assert "── 5 observe" in text_of(lab.saved(page, name)["cells"][1])
    page.close()


def test_the_student_errs_mends_it_and_answers(lab, run_all, wait_idle):
    name = lab.write([SETUP, "%%agent -m student --no-memory\n各地区的销售额总计是多少？"])
    page = lab.open(name)
    run_all(page)
    text = page.get_by_role("textbox", name="Text of your reply")
    expect(text).to_be_focused()
    for n, field in enumerate(("SELECT SUM(销售额) FROM 销售", "")):
        page.get_by_role("button", name="Call a tool").click()
        call = page.locator(".agent-nb-call").nth(n)
        call.get_by_label("Tool", exact=True).select_option("query_sql")
        call.locator("[data-field=query]").fill(field)
    page.get_by_role("button", name="Send 2 calls").click()
    expect(page.locator(REPLY)).to_contain_text("is_error: true")

    page.get_by_role("button", name="Call a tool").click()
    page.get_by_label("arguments as JSON, as they are").check()
    page.get_by_role("textbox", name="Arguments as JSON").fill("{broken")
    page.get_by_role("button", name="Send 1 call").click()
    expect(page.get_by_role("alert").filter(has_text="not valid JSON")).to_be_visible()
    text.fill("总计 200。")
    page.get_by_role("button", name="Send the answer").click()
    wait_idle(page)
    told = text_of(lab.saved(page, name)["cells"][1])
    assert "总计 200" in told
    assert "'query' is missing" in told
    page.close()
