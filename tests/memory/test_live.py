"""The live ledger follows every change, is never in the way, and forgets what is erased."""

import json
import stat
import time

import pytest

from agent_nb.errors import AgentError
from agent_nb.memory import Memory


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as opened:
        yield opened


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_it_follows_each_kind_of_change_and_reads_back(memory, tmp_path):
    file = tmp_path / "ledger.md"
    memory.ledger(file)
    assert file.stat().st_mode & 0o777 == stat.S_IRUSR | stat.S_IWUSR
    record = memory.add("退货期限是14天 <!-- -->")
    until(lambda: "退货期限是14天" in file.read_text())
    memory.edit(record.id, "退货期限是30天")
    until(lambda: "30天" in file.read_text() and "superseded" in file.read_text())
    memory.add_many({"text": f"row {n} is {n}"} for n in range(200))
    until(lambda: file.read_text().count("- **fact**") == 202)
    with Memory(":memory:", embedder=None) as other:
        assert other.import_(file)["new"] == 202


def test_what_was_changed_right_before_the_end_is_written(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.ledger(tmp_path / "ledger.md")
        memory.add("the office is in Lyon")
    assert "Lyon" in (tmp_path / "ledger.md").read_text()
    with Memory(tmp_path / "m.db", embedder=None) as memory:  # the setting stands in the store
        assert memory.ledger() == memory.stats()["ledger"] == str(tmp_path / "ledger.md")
        memory.add("the office is in Oslo")
    assert "Oslo" in (tmp_path / "ledger.md").read_text()
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.ledger("")
        memory.add("the office is in Rome")
    assert "Rome" not in (tmp_path / "ledger.md").read_text()


def test_it_is_ones_own(tmp_path):
    with Memory(tmp_path / "m.db", "ana", None) as ana, Memory(tmp_path / "m.db", "bob", None) as bob:
        bob.add("the secret aardvark")
        ana.ledger(tmp_path / "ana.md")
        ana.add("the office is in Lyon")
        assert bob.ledger() == ""
    assert "aardvark" not in (tmp_path / "ana.md").read_text()


@pytest.mark.parametrize("text", ["the zyzzyva is under gate 7", "钥匙放在三号柜子的蓝色盒子里"])
def test_an_erased_text_is_gone_from_it_at_once(memory, tmp_path, text):
    memory.ledger(tmp_path / "ledger.md")
    record = memory.add(text)
    memory.ledger(tmp_path / "ledger.md")
    assert text in (tmp_path / "ledger.md").read_text()
    memory.erase(record.id)
    assert text not in (tmp_path / "ledger.md").read_text()
    assert json.dumps(text)[1:-1] not in (tmp_path / "ledger.md").read_text()


def test_where_it_cannot_be_written_the_memory_is_kept_and_it_is_said_once(memory, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    memory.ledger(folder / "ledger.md")
    (folder / "ledger.md").unlink()
    folder.rmdir()
    folder.write_text("a file stands in its place")
    memory.add("one is one")
    until(lambda: memory._live.fault)
    with pytest.warns(UserWarning, match="the memory itself is kept"):
        memory.add("two is two")
    memory.add("three is three")
    assert len(memory.search()) == 3
    assert "could not be written" in memory.stats()["ledger"]


@pytest.mark.parametrize("wrong", ["ledger.txt", "ledger.ipynb", "/nonexistent\0/x.md"])
def test_a_name_that_will_not_do_is_refused_and_not_kept(memory, wrong):
    with pytest.raises(AgentError):
        memory.ledger(wrong)
    assert memory.ledger() == ""
