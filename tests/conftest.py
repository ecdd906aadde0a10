"""Every test has a home of its own, no credentials, and no way to the user's files."""

import os
import signal
import sys

import hypothesis
import pytest

# A matplotlib or font cache of the user's own would be written otherwise.
os.environ.setdefault("MPLBACKEND", "Agg")
# A shell that starts the tests in the background has interrupts ignored, by the kernels of the tests as well.
signal.signal(signal.SIGINT, signal.default_int_handler)
# No run depends on luck or on how busy the machine is; the long series look further.
hypothesis.settings.register_profile("alike", derandomize=True, deadline=None)
hypothesis.settings.register_profile("soak", deadline=None)
hypothesis.settings.load_profile("soak" if os.environ.get("AGENT_NB_SOAK") else "alike")


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    home = tmp_path / "agent_nb_home"
    monkeypatch.setenv("AGENT_NB_HOME", str(home))
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "VOYAGE_")):
            monkeypatch.delenv(name)
    return home


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Tests run in any order: no figure stands open, and `__main__` is the runner's, when the next one begins."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main  # IPython puts the user's namespace there
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot:
        pyplot.close("all")


# Files that take more than a few seconds each; `make quick` leaves them out, `make test` runs them.
SLOW = {
    "memory": [
        "candidates",
        "claims",
        "complaints",
        "definitions",
        "distil",
        "embed",
        "embedding",
        "erase",
        "index",
        "integrity",
        "labelled",
        "ledger",
        "model",
        "pickle",
        "postgres",
        "postgres_layers",
        "snapshot",
        "store",
        "users",
        "weak_embedders",
    ],
    "models": [
        "anthropic",
        "broken_streams",
        "cases",
        "choose",
        "in_the_loop",
        "random_wire",
        "scripted_server",
    ],
    "notebook": ["completion", "explain", "magics", "magics_loading", "magics_memory", "verbatim"],
    "offline": ["answers", "conversation", "flights", "memories", "strangers", "traps", "unseen"],
    "planning": ["planners"],
    "soak": ["killed_writers"],
    "showing": ["views_board", "views_html", "views_markdown"],
    "tests": [
        "dispatch",
        "evidence",
        "older_transcript",
        "doctor_labelled",
        "kills",
        "lease",
        "interrupts",
        "odd_replies",
    ],
    "tools": ["chart", "python", "result", "sql"],
}


def slow(path):
    return path.stem.removeprefix("test_") in SLOW.get(path.parent.name, ())


def pytest_ignore_collect(collection_path, config):
    """What will not be run need not be imported either: that is half of a quick run's time."""
    if collection_path.stem == "test_witness" and config.option.markexpr != "witness":
        return True  # it needs a server and weights that `make witness` installs
    return True if config.option.markexpr.startswith("not") and slow(collection_path) else None


def pytest_collection_modifyitems(items):
    for item in items:
        if slow(item.path):
            item.add_marker(pytest.mark.slow)
