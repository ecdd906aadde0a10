"""The memory inspector in a real JupyterLab: search, keys, edit, forget, undo, resolve, recall, and the saved page."""

import json

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

BOX, ROW, CARD, STATUS = ".agent-nb-inspector", ".agent-nb-row", ".agent-nb-card", ".agent-nb-status"
MEMORIES = """
%load_ext agent_nb
from agent_nb import Memory
with Memory(user="lab", embedder=None) as memory:
    memory.add_many({"text": f"Gate {i} was closed.", "type": "episode", "created": f"2026-01-{1 + i % 28:02d}"} for i in range(120))
    memory.add("A flight is late when its delay is over 10 minutes. <img src=x onerror=window.hacked=true>")
    memory.add("客户投诉必须在两天内回复。", "constraint")
    memory.add("The deadline is Friday.")
    memory.add("The deadline is Monday.", source="tool")
"""
VIEW = "application/vnd.jupyter.widget-view+json"


def test_the_inspector_from_search_to_the_saved_page(lab, run_all, wait_idle):
    name = lab.write([MEMORIES, "%memory browse --user lab", "%memory search --user lab late"])
    page = lab.open(name)
    run_all(page)
    box = page.locator(BOX)
    expect(box.locator(ROW).first).to_contain_text("The deadline is Friday.", timeout=30_000)
    wait_idle(page)

    # As many rows as can be seen, whichever they are.
    assert box.locator(ROW).count() < 30
    expect(box.locator(".agent-nb-count")).to_have_text("123 of 124")
    search = box.get_by_label("Search memories")
    search.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    expect(box.locator(f"{ROW}.agent-nb-here")).to_contain_text("Gate")
    expect(box.locator(f"{ROW}.agent-nb-here")).to_have_attribute("aria-posinset", "123")

    # The notebook's own keys do nothing here: "a" and "d d" would add and delete cells.
    for key in ("a", "d", "d", "x"):
        page.keyboard.press(key)
    cells = "window.jupyterapp.shell.currentWidget.content.model.cells.length"
    assert page.evaluate(cells) == 3

    search.press_sequentially("客户")
    expect(box.locator(ROW)).to_have_count(1)
    search.fill("late")
    expect(box.locator(ROW)).to_contain_text("over 10 minutes. <img src=x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    card = box.locator(CARD)
    expect(card).to_contain_text("over 10 minutes")
    expect(card).to_be_focused()

    card.get_by_role("button", name="Edit").click()
    card.get_by_label("The new text").fill("A flight is late when its delay is over 15 minutes.")
    page.keyboard.press("Control+Enter")
    expect(card).to_contain_text("2 versions")
    expect(box.locator(ROW)).to_contain_text("over 15 minutes")

    card.get_by_role("button", name="Forget").click()
    expect(card.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Forget").click()
    card.get_by_role("button", name="Yes, forget").click()
    expect(box.locator(ROW)).to_have_count(0)
    expect(box.locator(STATUS)).to_contain_text("Forgotten")
    box.locator(STATUS).get_by_role("button", name="Undo").click()
    expect(box.locator(ROW)).to_contain_text("over 15 minutes")

    box.get_by_role("tab", name="Conflicts (1)").click()
    box.get_by_role("button", name="Keep the new one").click()
    expect(box.locator(STATUS)).to_contain_text("is active")
    expect(box.get_by_role("tab", name="Conflicts")).to_have_text("Conflicts")

    box.get_by_role("tab", name="Recall").click()
    page.keyboard.type("when is a flight late?")
    page.keyboard.press("Enter")
    expect(box).to_contain_text("threshold 0.35")
    box.locator(".agent-nb-out [data-record]:visible").first.click()
    expect(card).to_contain_text("over 15 minutes")

    # What is saved is a page; the live one is in its place until the notebook is opened without this kernel.
    book = lab.saved(page, name)
    assert page.evaluate("window.hacked") is None
    page.close()
    (output,) = book["cells"][1]["outputs"]
    assert set(output["data"]) == {"text/html", "text/plain"}
    assert VIEW not in json.dumps(book["cells"])
    book["cells"][0]["source"] = "1"
    copy = lab.write([])
    (lab.folder / copy).write_text(json.dumps(book), "utf-8")
    page = lab.open(copy)
    saved = page.locator(".jp-RenderedHTML", has_text="%memory show ID opens one").first
    saved.locator("summary", has_text="over 10 minutes").click()
    expect(saved.locator("details[open]")).to_contain_text("from user_explicit")
    assert page.locator(BOX).count() == 0
    assert page.evaluate("window.hacked") is None
    page.close()


def test_a_memory_is_opened_from_the_live_trace(lab, run_all, wait_idle):
    setup = (
        "%load_ext agent_nb\nfrom agent_nb import Memory\n"
        "Memory(user='trace', embedder=None).add('A flight is late when its delay is over 10 minutes.')\n"
        "import pathlib, time\nfrom agent_nb.models.scripted import ScriptedModel\n"
        "def waits(request):\n    while not pathlib.Path('seen').exists():\n        time.sleep(0.1)\n"
        "    return 'Over 10 minutes.'\n"
        "m = ScriptedModel([waits])\n"
    )
    name = lab.write([setup, "%%agent -m m --user trace\nWhen is a flight late?"])
    page = lab.open(name)
    run_all(page)
    trace = page.locator(".agent-nb-trace")
    trace.locator("summary", has_text="load").click()
    trace.locator("[data-record]").first.click()
    expect(trace.locator(".agent-nb-record")).to_contain_text("user_explicit")
    (lab.folder / "seen").touch()
    wait_idle(page)
    expect(
        page.locator(".jp-RenderedHTML", has_text="%memory browse ID opens a record").first
    ).to_be_visible()
    page.close()
