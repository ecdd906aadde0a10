"""Every test has a home of its own, no credentials, and no way to the user's files."""

import os

import pytest

# A matplotlib or font cache of the user's own would be written otherwise.
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    home = tmp_path / "agent_nb_home"
    monkeypatch.setenv("AGENT_NB_HOME", str(home))
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "VOYAGE_")):
            monkeypatch.delenv(name)
    return home
