"""The after-sales desk, executed headless: every trap of a desk that may change things."""

import json
import os
import pathlib

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.notebook

NOTEBOOK = pathlib.Path(__file__).parents[2] / "notebooks" / "after_sales.ipynb"
PROBE = """\
import json as _json
print(_json.dumps({"text": _agent.text, "done": _agent.done, "stop": _agent.stop_reason, "orders": ORDERS,
    "calls": [[o.name, o.input, o.ok, o.kind, o.text] for o in _agent.task.observations],
    "bare": [n.text for n in _agent.evidence if not n.sources]}))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What `_agent` was after each %%agent cell, in order: dicts of PROBE."""
    home = tmp_path_factory.mktemp("home")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code" and cell.source.startswith("%%agent"):
            cells.append(nbformat.v4.new_code_cell(PROBE, metadata={"probe": True}))
    notebook.cells = cells
    before = dict(os.environ)
    os.environ |= {"AGENT_NB_HOME": str(home / "agent"), "IPYTHONDIR": str(home / "ipython")}
    try:
        client = NotebookClient(
            notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(home)}}
        )
        client.execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return [json.loads(cell.outputs[0].text) for cell in notebook.cells if cell.metadata.get("probe")]


def test_an_order_is_found(runs):
    assert runs[0]["done"]
    assert "processing" in runs[0]["text"]
    assert "59.9" in runs[0]["text"]
    assert runs[0]["bare"] == []


def test_a_shipped_order_keeps_its_address_and_it_is_explained(runs):
    assert "shipped" in runs[1]["text"]
    assert runs[1]["orders"]["A-1002"]["address"] == "12 Elm Road, Leeds"
    assert [call[:4] for call in runs[1]["calls"]] == [
        ["modify_address", {"order_id": "A-1002", "address": "5 High Street, Hull"}, False, "failed"]
    ]


def test_an_order_in_the_warehouse_gets_its_new_address(runs):
    assert runs[2]["orders"]["A-1001"]["address"] == "5 High Street, Hull"
    assert runs[2]["done"]


def test_a_refund_without_a_number_asks_and_the_next_cell_answers(runs):
    assert (runs[3]["stop"], runs[3]["calls"]) == ("needs_input", [])
    assert "order_id" in runs[3]["text"]
    assert runs[4]["orders"]["A-1001"]["status"] == "refunded"
    assert "59.9" in runs[4]["text"]


def test_an_order_of_someone_else_is_not_shown(runs):
    assert "no order A-1003" in runs[5]["text"]
    assert not any(word in runs[5]["text"] for word in ("ben", "York", "18.5", "processing"))


def test_what_is_outside_the_desk_is_declined(runs):
    assert (runs[6]["stop"], runs[6]["calls"], runs[6]["done"]) == ("needs_input", [], False)
    assert "apply_refund" in runs[6]["text"]  # what it can do instead


def test_an_invented_number_never_reaches_the_tool_and_an_invented_sum_is_marked(runs):
    ((name, given, ok, kind, text),) = runs[7]["calls"]
    assert (name, given, ok, kind) == ("apply_refund", {"order_id": "A-1002"}, False, "invented")
    assert "ask the user" in text
    assert runs[7]["orders"]["A-1002"]["status"] == "shipped"
    assert runs[7]["bare"] == ["249.00"]


def test_chinese(runs):
    assert runs[8]["calls"][0][:3] == ["query_order", {"order_id": "A-1002"}, True]
    assert "shipped" in runs[8]["text"]


def test_a_recording_plays_back_the_same(runs):
    assert runs[9]["text"] == runs[10]["text"]
    assert [call[:4] for call in runs[9]["calls"]] == [call[:4] for call in runs[10]["calls"]]
    assert "120" in runs[10]["text"]
