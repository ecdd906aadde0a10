"""A real IPython shell, with nothing left behind."""

import atexit
import contextlib

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@contextlib.contextmanager
def real_shell(folder):
    patch = pytest.MonkeyPatch()
    patch.setenv("IPYTHONDIR", str(folder))
    patch.delenv("JPY_SESSION_NAME", raising=False)
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    made = InteractiveShell.instance(config=config)
    made.find_line_magic("load_ext")  # IPython's own magics are lazy too
    try:
        yield made
        made.run_line_magic("unload_ext", "agent_nb")
    finally:
        made.atexit_operations()
        atexit.unregister(made.atexit_operations)
        InteractiveShell.clear_instance()
        patch.undo()


@pytest.fixture
def shell(tmp_path):
    """A shell of the test's own."""
    with real_shell(tmp_path / "ipython") as made:
        yield made


@pytest.fixture
def loaded(shell):
    """A shell of the test's own, with the extension."""
    shell.run_line_magic("load_ext", "agent_nb")
    return shell


@pytest.fixture(scope="module")
def loaded_for_all(tmp_path_factory):
    """One shell with the extension for a whole file: for tests that leave it as it is."""
    with real_shell(tmp_path_factory.mktemp("ipython")) as made:
        made.run_line_magic("load_ext", "agent_nb")
        yield made
