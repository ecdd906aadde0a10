"""log.jsonl follows the user's own store: one line for each thing done, and none of them tells what a memory says."""

import json
import stat
import subprocess
import sys

import pytest

from agent_nb.errors import StoreError
from agent_nb.memory import Memory, journal

SAID = "the harbourmaster's parrot is called Obadiah"


def lines(home):
    file = home / "log.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def test_each_load_write_merge_conflict_and_expiry_is_a_line(own_home):
    with Memory(user="ana", embedder=None) as memory:
        first = memory.add("the refund window is 14 days")
        assert memory.add("the refund window is 14 days").id == first.id
        second = memory.add("the refund window is 30 days")
        waiting = memory.add("the refund window is 60 days", source="tool")
        memory.mark_used(memory.recall("how long is the refund window?"), run="r1")
        memory.resolve(waiting.id, "drop")
        memory.edit(second.id, "the refund window is 31 days")
        own = memory.log()
    found = lines(own_home)
    assert [(row["action"], row["id"]) for row in found] == [(row["action"], row["id"]) for row in own]
    assert {"added", "merged", "superseded", "pending", "loaded", "used", "resolved", "edited"} <= {
        row["action"] for row in found
    }
    assert {row["user"] for row in found} == {"ana"}
    assert [row["mentions"] for row in found if row["action"] == "merged"] == [2]
    assert [row["by"] for row in found if row["action"] == "superseded"] == [second.id]
    assert stat.S_IMODE((own_home / "log.jsonl").stat().st_mode) == 0o600


def test_it_reads_as_a_frame(own_home):
    import pandas as pd

    with Memory(embedder=None) as memory:
        memory.add("one thing")
    frame = pd.read_json(own_home / "log.jsonl", lines=True)
    assert frame["action"].tolist() == ["added"]


def test_no_line_tells_what_a_memory_says(own_home):
    with Memory(embedder=None) as memory:
        made = memory.add(SAID, tags=["parrot"], entities=["Obadiah"], evidence=[{"text": SAID}])
        memory.add_synonym("parrot", "Obadiah")
        memory.consolidate(goal=f"Remember: {SAID}", answer=SAID, done=True)
        memory.why(SAID)
        memory.edit(made.id, SAID + ", and it sings")
        memory.forget(made.id)
    whole = (own_home / "log.jsonl").read_text("utf-8").lower()
    assert "added" in whole
    assert not [word for word in ("parrot", "obadiah", "harbour", "sings") if word in whole]


@pytest.mark.parametrize("where", [":memory:", "m.db", "m.pkl"])
def test_only_the_own_store_is_followed(own_home, tmp_path, where):
    with Memory(where if where == ":memory:" else tmp_path / where, embedder=None) as memory:
        memory.add("one thing")
    assert lines(own_home) == []


def test_what_was_not_committed_is_no_line(own_home, monkeypatch):
    with Memory(embedder=None) as memory:
        memory.add("one thing")
        with monkeypatch.context() as patch:
            patch.setattr(memory._store, "_committing", full)
            with pytest.raises(StoreError, match="full"):
                memory.add("another thing")
        assert len(memory.log()) == 1
    assert [row["action"] for row in lines(own_home)] == ["added"]


def full(_):
    raise OSError("the disk is full")


def test_a_file_that_cannot_be_written_costs_no_memory_and_is_told_of_once(own_home):
    own_home.mkdir(mode=0o700)
    (own_home / "log.jsonl").mkdir()
    with Memory(embedder=None) as memory:
        with pytest.warns(UserWarning, match="could not be written"):
            memory.add("one thing")
        memory.add("another thing")
        assert len(memory.search()) == 2


def test_it_is_put_aside_before_it_grows_for_ever(own_home, monkeypatch):
    monkeypatch.setattr(journal, "MOST", 1_000)
    with Memory(embedder=None) as memory:
        for n in range(40):
            memory.add(f"thing number {n} of many")
    aside = own_home / "log.jsonl.1"
    assert (own_home / "log.jsonl").stat().st_size < 1_300
    assert 1_000 < aside.stat().st_size < 1_300
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    last = [json.loads(line) for line in aside.read_text().splitlines()] + lines(own_home)
    assert len({row["id"] for row in last}) == len(last)


def test_lines_of_two_processes_do_not_mix(own_home):
    code = "import sys; from agent_nb import Memory; m = Memory(embedder=None)\nfor n in range(30): m.add(f'{sys.argv[1]} {n}', 'episode')"
    running = [subprocess.Popen([sys.executable, "-c", code, who]) for who in ("Ana", "Bo")]
    assert [each.wait(60) for each in running] == [0, 0]
    assert len(lines(own_home)) == 60
