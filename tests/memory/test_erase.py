"""Erased means gone: from every table and every byte of the file; what holds it elsewhere is listed."""

import json
import sqlite3

import pytest

from agent_nb.errors import AgentError
from agent_nb.memory import Memory
from agent_nb.places import home

TEXTS = [
    "the zyzzyva ledger is kept under the floorboards of gate 7",
    "仓库的备用钥匙放在三号柜子的蓝色盒子里",
    'he said "zyzzyva\\floor" <b>\nand a second line\tof it 🦡',
]
OTHER = "the refund window is 14 days"


def held(folder, text):
    """Files under `folder` whose raw bytes hold the text, in whatever way JSON may write it."""
    ways = {text.encode(), *(json.dumps(text, ensure_ascii=way)[1:-1].encode() for way in (True, False))}
    return [f.name for f in folder.rglob("*") if f.is_file() and any(w in f.read_bytes() for w in ways)]


@pytest.mark.parametrize("suffix", ["db", "pkl"])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("embedder", [None, "hashing"])
def test_no_byte_of_it_stays_in_the_file(tmp_path, text, suffix, embedder):
    folder = tmp_path / "own"
    with Memory(folder / f"m.{suffix}", embedder=embedder) as memory:
        memory.add_many({"text": f"filler number {n} of the lot", "type": "episode"} for n in range(60))
        keep = memory.add(OTHER, evidence=[{"text": f"Remember: {text}. Also: {OTHER}", "source": "goal"}])
        old = memory.add(text, evidence=[{"text": text, "source": "goal"}])
        new = memory.edit(old.id, f"{text}, says Ana")
        memory.recall(text)
        with memory._store.writing("default") as db:
            db.execute(
                "INSERT INTO log (user, at, action, id, detail) VALUES ('default','2026','left_out','',?)",
                (json.dumps({"text": text}),),
            )
        assert held(folder, text)
        told = memory.erase(new.id)
        assert set(told.ids) == {old.id, new.id}
        assert held(folder, text) == []
        assert memory.get(old.id) is None
        assert memory.get(keep.id).text == OTHER
        assert OTHER in memory.get(keep.id).evidence[0]["text"]
        assert [row["id"] for row in memory.log() if row["action"] == "erased"] == list(told.ids)
        assert text not in repr(memory.log())
        assert text not in repr(memory._index.__dict__)
        assert "No transcript" in str(told)
    assert held(folder, text) == []


def test_while_another_process_has_it_open_it_goes_and_that_one_no_longer_finds_it(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as one, Memory(tmp_path / "m.db", embedder=None) as two:
        record = one.add(TEXTS[0])
        assert two.recall("zyzzyva ledger").hits
        one.erase(record.id)
        assert held(tmp_path, TEXTS[0]) == []
        assert list(two.recall("zyzzyva ledger", threshold=0)) == []


def test_where_another_process_reads_an_older_state_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("agent_nb.memory.store.BUSY_S", 0.2)
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        record = memory.add(TEXTS[0])
        reader = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchall()
        with pytest.raises(AgentError, match="close"):
            memory.erase(record.id)
        assert memory.get(record.id) is None
        reader.close()
        memory._store.scrub(lambda path: TEXTS[0].encode() in path.read_bytes())
        assert held(tmp_path, TEXTS[0]) == []


@pytest.mark.parametrize("text", TEXTS)
def test_transcripts_and_backups_that_hold_it_are_listed_with_what_to_do(text):
    with Memory(embedder=None) as memory, Memory(user="bob", embedder=None) as bob:
        record = memory.add(text)
        sessions = home() / "sessions"
        sessions.mkdir()
        for name, user in (("mine", "default"), ("his", "bob")):
            lines = [
                {"event": "RunStarted", "run": "r", "user": user, "goal": f"remember {text}"},
                {"event": "Answered", "run": "r", "text": text},
                {"event": "Answered", "run": "r", "text": "nothing"},
            ]
            told = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (sessions / f"{name}.jsonl").write_text(told + '{"torn')
        bob.add("his own")
        with sqlite3.connect(home() / "memory.db.bak") as backup, memory._store.reading() as db:
            db.backup(backup)
        backup.close()
        told = memory.erase(record.id)
        assert [(row["what"], row["places"]) for row in told.copies] == [("transcript", 2), ("backup", 1)]
        assert all(row["path"] in str(told) and row["advice"] in str(told) for row in told.copies)
        assert "his.jsonl" not in str(told)
        assert bob.add(text).text == text
        assert held(home(), text)


def test_a_short_text_is_blotted_out_only_where_it_stands_alone(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        kept = memory.add("the team drinks tea", evidence=[{"text": "tea"}, {"text": "the team likes tea"}])
        told = memory.erase(memory.add("tea").id)
        assert memory.get(kept.id).text == "the team drinks tea"
        assert [row["text"] for row in memory.get(kept.id).evidence] == ["[erased]", "the team likes tea"]
        assert told.also_in == (kept.id,)


def test_another_users_same_text_stays_and_is_not_told(tmp_path):
    with Memory(tmp_path / "m.db", "ana", None) as ana, Memory(tmp_path / "m.db", "bob", None) as bob:
        his = bob.add(TEXTS[0])
        told = ana.erase(ana.add(TEXTS[0]).id)
        assert bob.get(his.id) == his
        assert (told.also_in, told.copies) == ((), ())
        assert his.id not in str(told)


@pytest.mark.parametrize("text", TEXTS[:2])
def test_it_leaves_the_queue_the_graph_and_what_was_heard(tmp_path, text):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        turn = {"answer": f"{text}. Noted.", "done": True}
        memory.consolidate(goal=f"Remember: {text}", run="r1", queued=True, **turn)
        memory.consolidate(goal=f"By the way, {text}", run="r2", queued=True, **turn)
        record = next(record for record in memory.search() if record.text == text)
        memory.undo(memory.add(text).id)
        memory.erase(record.id)
        assert held(tmp_path, text) == []
        assert text not in repr(memory.queue())


def test_a_backup_that_was_written_elsewhere_is_found(tmp_path):
    (tmp_path / "far").mkdir()
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        record = memory.add(TEXTS[0])
        memory.backup(tmp_path / "far" / "copy.db")
        (copy,) = memory.erase(record.id).copies
        assert (copy["path"], copy["what"], copy["places"]) == (
            str(tmp_path / "far" / "copy.db"),
            "backup",
            1,
        )
