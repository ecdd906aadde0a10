"""The live page as changes: applied one after the other they give the page, each part drawn once."""

import pytest
from html_check import Checked
from sample_events import RUN, sample

from agent_nb.events import Acted, CallStarted, Streamed, ToolStarted
from agent_nb.notebook.views import Board
from agent_nb.notebook.views.board import SLOTS


class Page:
    """What the JavaScript does with changes."""

    def __init__(self):
        self.parts = {}

    def take(self, ops):
        for op in ops:
            if op["op"] == "put":
                assert op["slot"] in SLOTS
                Checked(op["html"], live=True)
                old = self.parts.setdefault(op["key"], (op["slot"], ""))
                assert old[0] == op["slot"]
                self.parts[op["key"]] = (op["slot"], op["html"])
            else:
                self.parts.pop(op["key"], None)
        return self

    @property
    def text(self):
        order = sorted(self.parts.values(), key=lambda part: SLOTS.index(part[0]))
        return Checked("".join(html for _, html in order), live=True).text


@pytest.mark.parametrize("every", [1, 2, 7, 1000])
def test_changes_give_the_same_page_however_they_are_batched(every):
    page, board = Page(), Board()
    for i, event in enumerate(sample()):
        board.add(event)
        if i % every == 0:
            page.take(board.take())
    page.take(board.take())
    assert page.parts == Page().take(board.state()).parts
    for words in ("done", "16 rows", "denied by you", "overloaded", "7 of 8 numbers", "1 kept"):
        assert words in page.text, words
    assert not any(slot == "now" for slot, _ in page.parts.values())


@pytest.mark.parametrize("end", range(1, len(sample()), 4))
def test_a_page_that_comes_late_sees_the_same(end):
    page, board = Page(), Board()
    for event in sample()[:end]:
        board.add(event)
        page.take(board.take())
    assert Page().take(board.state()).parts == page.parts


def stream(board, *texts, kind="text"):
    ops = []
    for text in texts:
        board.add(Streamed(run=RUN, step=1, kind=kind, text=text))
        ops += board.take()
    return ops


def asking():
    board = Board()
    for event in (*sample()[:3], CallStarted(run=RUN, step=1)):
        board.add(event)
    board.take()
    return board


def test_streamed_text_is_markdown_while_it_comes():
    board = asking()
    page = Page().take(stream(board, "Now **bo", "ld** and\n\n```\ncode\n\nmore", "\n```\n\nlast"))
    text = "".join(html for slot, html in page.parts.values() if slot == "now")
    assert "<strong>bold</strong>" in text
    assert text.count("<pre") == 1
    assert "last" in text


def test_a_finished_block_is_never_sent_again():
    board = asking()
    stream(board, "first block\n\nsecond")
    ops = stream(board, " goes on", " and on")
    assert not any("first block" in op.get("html", "") for op in ops)
    assert sum(len(op.get("html", "")) for op in ops) < 400


def test_thinking_and_arguments_are_told_while_they_come():
    board = asking()
    ops = stream(board, "deep thought", kind="thinking") + stream(board, '{"query": 1', kind="input_json")
    assert "deep thought" in ops[-1]["html"]
    assert "11 characters" in ops[-1]["html"]


def test_the_reply_leaves_when_its_step_goes_on():
    board = asking()
    page = Page().take(stream(board, "text"))
    board.add(
        Acted(run=RUN, step=1, message={"role": "assistant", "content": [{"type": "text", "text": "text"}]})
    )
    page.take(board.take())
    assert "text" in page.text  # it stands until something takes its place
    board.add(CallStarted(run=RUN, step=2))
    page.take(board.take())
    assert not [key for key, (slot, _) in page.parts.items() if slot == "now"]
    assert "step 2 · asking offline" in page.text


def test_a_burst_draws_each_part_once():
    board = Board()
    for event in sample():
        board.add(event)
    keys = [op["key"] for op in board.take() if op["op"] == "put"]
    assert len(keys) == len(set(keys))


def test_nothing_new_says_nothing():
    board = Board()
    for event in sample():
        board.add(event)
    board.take()
    assert board.take() == []


def test_a_running_tool_is_counted_against_what_it_declares():
    board = Board()
    board.add(ToolStarted(run="r", step=1, id="a", name="slow", input={}, takes=90.0))
    (line,) = [op["html"] for op in board.take() if op["key"] == "line"]
    assert 'data-takes="90"' in line
