"""A real IPython shell for each test, with nothing left behind."""

import atexit
import pathlib
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # sample_events, html_check, front_end

@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for name in ("JPY_SESSION_NAME",):
        monkeypatch.delenv(name, raising=False)
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    made = InteractiveShell.instance(config=config)
    yield made
    made.run_line_magic("unload_ext", "agent_nb")
    made.atexit_operations()
    atexit.unregister(made.atexit_operations)
    InteractiveShell.clear_instance()


@pytest.fixture
def loaded(shell):
    shell.run_line_magic("load_ext", "agent_nb")
    return shell
