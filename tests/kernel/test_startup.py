"""The start-up file in a real kernel: the magics are there, nothing else is."""

import pathlib
import shutil

import pytest

pytestmark = pytest.mark.kernel

STARTUP = pathlib.Path(__file__).parents[2] / "jupyter-config" / "agent_nb_startup.py"
NAMES = "sorted(n for n in globals() if not n.startswith('_i') and n not in ('In', 'Out', '_', '__', '___', '_dh', '_oh'))"
FINE = "from agent_nb.models.scripted import ScriptedModel\nfine = ScriptedModel(['fine'] * 9)"


@pytest.fixture(scope="module")
def names(tmp_path_factory, start_kernel):
    """The names of a kernel without the file, and its module docstring."""
    made = start_kernel(tmp_path_factory.mktemp("bare"))
    return made.value(NAMES), made.value("__doc__")


@pytest.fixture
def started(tmp_path, start_kernel):
    folder = tmp_path / "ipython" / "profile_default" / "startup"
    folder.mkdir(parents=True)
    shutil.copy(STARTUP, folder)
    return start_kernel(tmp_path)


def test_a_kernel_with_it(started, names, tmp_path):
    assert (started.value(NAMES), started.value("__doc__")) == names
    assert started.value("[m for m in __import__('sys').modules if m.startswith('agent_nb')]") == "[]"
    assert not (tmp_path / "home").exists()
    assert started.run(FINE).status == "ok"
    cell = started.run("%%agent -m fine --no-memory\nwhat is   \n   \n>>> df?")
    assert cell.status == "ok", cell.error
    assert started.value("_agent.task.goal") == repr("what is   \n   \n>>> df?")
    assert started.run("%agent status of?").status == "ok"


def test_first_use_by_a_line(started):
    cell = started.run("%memory search what is late?")
    assert cell.status == "ok", cell.error
    assert "Nothing" in cell.shown[0]["text/plain"] or "No memory" in cell.shown[0]["text/plain"]
    assert started.run("%load_ext agent_nb").status == "ok"
    assert started.run("%unload_ext agent_nb").status == "ok"
