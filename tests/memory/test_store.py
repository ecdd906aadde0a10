"""The file: whole transactions or nothing, whoever writes and whatever kills them; one clear line where it cannot be."""

import contextlib
import dataclasses
import datetime
import hashlib
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from agent_nb.errors import SettingError, StoreError
from agent_nb.memory import Memory, schema, store

WRITER = """
import sys
from agent_nb.memory import Memory
memory, n = Memory(sys.argv[1], embedder="hashing"), 0
while True:
    print(memory.add(f"the limit of gate {n % 7} is {n}").id, flush=True)
    n += 1
"""


def test_a_writer_that_is_killed_leaves_all_it_acknowledged_and_nothing_half(tmp_path):
    path, told = tmp_path / "m.db", []
    for _ in range(2):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True)
        told += [writer.stdout.readline().strip()]
        time.sleep(0.15)
        writer.send_signal(signal.SIGKILL)
        told += [line for line in writer.stdout.read().split("\n")[:-1] if line]
        writer.wait()
        writer.stdout.close()
    with Memory(path, embedder="hashing") as memory:
        assert all(memory.get(id) for id in told)
        heads = memory.search()
        assert len({record.subject for record in heads}) == len(heads)  # never two, never none
        for record in memory.search(status="superseded"):
            assert memory.get(record.superseded_by)
        assert {hit.record.id for hit in memory.recall("limit", k=50, threshold=0)} == {r.id for r in heads}
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = db.execute("SELECT embedder, length(vector) FROM records").fetchall()
        assert set(rows) == {(store.form("hashing-1024"), 4096)}


def test_a_supersede_that_breaks_in_the_middle_changes_nothing(tmp_path, monkeypatch):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        old = memory.add("the refund window is 14 days")
        log = memory.log()

        def broken(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(store, "put", broken)
        with pytest.raises(KeyboardInterrupt):
            memory.add("the refund window is 30 days")
        monkeypatch.undo()
        assert memory.search() == [old]
        assert memory.log() == log
        assert [hit.record.id for hit in memory.recall("refund window")] == [old.id]
        assert memory.add("the refund window is 30 days").status == "active"


def test_several_in_one_transaction_are_all_there_or_none(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        with pytest.raises(SettingError):
            memory.add_many([{"text": "one"}, {"text": "two"}, {"text": "  "}])
        assert memory.search() == []


@pytest.mark.parametrize("embedder", [None, "hashing"])
def test_recall_changes_no_byte_of_the_file(tmp_path, embedder):
    path = tmp_path / "m.db"
    with Memory(path, embedder=embedder) as memory:
        memory.add("the refund window is 14 days")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with Memory(path, embedder=embedder) as memory:
        for question in ("refund window", "", "zebra"):
            memory.recall(question, threshold=0)
            memory.why(question)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


@pytest.mark.parametrize(
    "content", [b"hello" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000, b"\x80\x04K\x01."]
)
def test_a_file_that_is_no_memory_is_one_line_and_stays_as_it_is(tmp_path, content):
    path = tmp_path / "m.db"
    path.write_bytes(content)
    for use in (lambda m: m.add("x"), lambda m: m.recall("x"), lambda m: m.search(), lambda m: m.stats()):
        with pytest.raises(StoreError, match=r"m\.db") as caught:
            use(Memory(path, embedder=None))
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_untouched(tmp_path):
    path = tmp_path / "m.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE records (a)")
        db.execute("INSERT INTO records VALUES (1)")
        db.commit()
    with pytest.raises(StoreError):
        Memory(path, embedder=None).add("x")
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT * FROM records").fetchall() == [(1,)]


def test_a_damaged_file_is_one_line(tmp_path):
    path = tmp_path / "m.db"
    with Memory(path, embedder=None) as memory:
        memory.add_many({"text": f"number {n} of many", "type": "episode"} for n in range(200))
    whole = bytearray(path.read_bytes())
    whole[4096:-4096] = b"\x55" * (len(whole) - 8192)
    path.write_bytes(whole)
    with pytest.raises(StoreError):
        Memory(path, embedder=None).search()


def test_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "m.db"
    with Memory(path, embedder=None) as memory:
        memory.add("x y")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer"):
        Memory(path, embedder=None).search()


def test_a_file_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "m.db"
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add("the refund window is 14 days")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(schema.MIGRATIONS[0] + "PRAGMA user_version = 1;")
        row = (record.id, "default", "active", record.recorded.isoformat(), "", record.text, "", '["refund"]')
        db.execute("INSERT INTO records VALUES (?,?,?,?,?,?,?,?,'',NULL,?)", (*row, store.dump(record)))
        db.execute("INSERT INTO changes VALUES ('default', 1)")
        db.commit()
    with Memory(path, embedder=None) as memory:
        assert [hit.record.id for hit in memory.recall("refund")] == [record.id]
        assert memory.stats()["type"] == {"fact": 1}
        memory.add("tea is green")
        assert len(memory.search()) == 2


def test_records_keep_their_order_and_vectors_when_they_are_numbered(tmp_path):
    path = tmp_path / "m.db"
    with Memory(":memory:", embedder="hashing") as memory:
        records = memory.add_many({"text": f"zebra {n} of the herd", "type": "episode"} for n in range(30))
        with memory._store.reading() as db:
            rows = db.execute(
                "SELECT id, user, status, recorded, superseded_by, normal, key, terms, embedder, vector, data, changed"
                " FROM records ORDER BY n DESC"
            ).fetchall()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(schema.MIGRATIONS[0] + schema.MIGRATIONS[1] + "PRAGMA user_version = 2;")
        db.executemany(
            "INSERT INTO records (id, user, status, recorded, superseded_by, normal, key, terms, embedder, vector,"
            " data, changed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            rows,
        )
        db.execute("INSERT INTO changes (user, n) VALUES ('default', 1)")
        db.commit()
    with Memory(path, embedder="hashing") as memory:
        assert sorted(memory.search(), key=lambda r: r.id) == sorted(records, key=lambda r: r.id)
        with memory._store.reading() as db:
            numbers = db.execute("SELECT n, id, vector FROM records ORDER BY n").fetchall()
        assert [id for _, id, _ in numbers] == [row[0] for row in rows]
        assert [vector for *_, vector in numbers] == [row[9] for row in rows]
        last = memory.add("one more", "episode")
        memory.forget(last.id, erase=True)
        memory.add("and another", "episode")
        with memory._store.reading() as db:
            assert (
                db.execute("SELECT max(n) FROM records").fetchone()[0] == len(rows) + 2
            )  # never given twice


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        Memory(tmp_path / "file" / "m.db", embedder=None).add("x")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only_is_one_line(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError):
        Memory(tmp_path / "m.db", embedder=None).add("x")


def test_every_file_of_the_store_is_private(tmp_path):
    with Memory(tmp_path / "deep" / "m.db", embedder=None) as memory:
        memory.add("x y")
        assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "deep").iterdir()} == {0o600}
        assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700
        memory.export(tmp_path / "out.md")
    assert stat.S_IMODE((tmp_path / "out.md").stat().st_mode) == 0o600


def test_a_closed_memory_opens_again(tmp_path):
    memory = Memory(tmp_path / "m.db", embedder=None)
    record = memory.add("x y")
    memory.close()
    assert memory.get(record.id) == record
    memory.close()


class Toy:
    """An embedder of the user's own."""

    quick = True

    def __init__(self, name, dim):
        self.name, self.dim = name, dim

    def embed(self, texts, kind="record"):
        rows = np.ones((len(texts), self.dim), np.float32)
        rows[:, 0] += [len(text) for text in texts]
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_another_embedder_neither_breaks_the_store_nor_hides_what_was_written_before(tmp_path):
    ids = []
    for embedder in (None, Toy("a", 8), Toy("b", 5), "hashing", Toy("a", 3), None):
        with Memory(tmp_path / "m.db", embedder=embedder) as memory:
            ids.append(memory.add(f"gate {len(ids)} is open", "episode").id)
            recall = memory.recall("gate open", k=20, threshold=0)
            assert {hit.record.id for hit in recall} == set(ids)
            assert memory.wait()
            if embedder is not None:
                assert {memory.get(id).embedder for id in ids} == {memory._embedder.name}
            again = memory.recall("gate open", k=20, threshold=0)
            assert {hit.record.id for hit in again} == set(ids)


EAST = datetime.timezone(datetime.timedelta(hours=8))


@pytest.mark.parametrize(
    ("created", "utc"),
    [
        ("2026-03-01T12:00:00", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01T12:00:00+08:00", "2026-03-01T04:00:00+00:00"),
        (datetime.datetime(2026, 3, 1, 12), "2026-03-01T12:00:00+00:00"),
        (datetime.datetime(2026, 3, 1, 12, tzinfo=EAST), "2026-03-01T04:00:00+00:00"),
    ],
)
def test_every_time_is_kept_as_aware_utc_apart_from_the_time_of_writing(created, utc):
    with Memory(":memory:", embedder=None) as memory:
        record = memory.get(memory.add("x y", created=created).id)
        assert record.created.isoformat() == utc
        assert record.created.utcoffset() == record.recorded.utcoffset() == datetime.timedelta(0)
        assert abs(datetime.datetime.now(datetime.UTC) - record.recorded) < datetime.timedelta(minutes=1)


@pytest.mark.parametrize("created", ["yesterday", "2026-13-01", ""])
def test_a_time_that_is_none_is_one_line(created):
    with Memory(":memory:", embedder=None) as memory, pytest.raises(SettingError, match="created"):
        memory.add("x y", created=created)


@pytest.mark.parametrize("days", [-400, -1, 0, 1, 100])
def test_a_clock_that_jumps_breaks_no_score(days):
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    with Memory(":memory:", embedder=None) as memory:
        memory.add("the refund window is 14 days")
        for moment in (now, now.replace(tzinfo=None), now.astimezone(EAST)):
            (hit,) = memory.recall("refund window", now=moment, threshold=0)
            assert 0 <= hit.freshness <= 1
            assert 0 <= hit.score <= 1


def test_what_has_expired_is_not_recalled_even_before_it_is_let_go():
    with Memory(":memory:", embedder=None) as memory:
        memory.add("the refund window is 14 days")
        later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=400)
        recall = memory.recall("refund window", now=later, threshold=0)
        assert list(recall) == []
        assert recall.gates[1]["out"]["expired"] == 1


def test_a_record_is_frozen():
    with Memory(":memory:", embedder=None) as memory, pytest.raises(dataclasses.FrozenInstanceError):
        memory.add("x y").text = "z"


def test_a_line_of_a_megabyte_is_kept_whole_and_does_not_burst_the_budget():
    text = "limit " * 170_000
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add(text, "episode")
        memory.add("the limit is 3")
        assert memory.get(record.id).text == text
        recall = memory.recall("limit", threshold=0)
        assert [hit.record.text for hit in recall] == ["the limit is 3"]
        assert recall.gates[3]["skipped"][0]["id"] == record.id


@pytest.mark.parametrize("budget", [0, 10, 40, 80, 600])
def test_the_window_gets_whole_records_within_the_budget(budget):
    with Memory(":memory:", embedder=None) as memory:
        memory.add_many({"text": f"limit {n} " + "word " * n, "type": "episode"} for n in range(20))
        recall = memory.recall("limit", k=20, budget=budget, threshold=0)
        assert recall.tokens <= budget
        assert len(recall.text.splitlines()) == len(recall.hits)
        assert all(" ".join(hit.record.text.split()) in recall.text for hit in recall)


class Racing(store.Store):
    """Another process that writes in the moment between what is looked up and what is written."""

    meanwhile = None

    @contextlib.contextmanager
    def writing(self, user):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            meanwhile()
        with super().writing(user) as db:
            yield db


@pytest.fixture
def raced(tmp_path):
    """Two openings of one file, the first of which is overtaken by what is given to it."""
    with (
        Memory(tmp_path / "m.db", embedder=None) as first,
        Memory(tmp_path / "m.db", embedder=None) as second,
    ):
        first._store = Racing(tmp_path / "m.db")
        yield first, second
        first._store.close()


def test_an_edit_that_is_overtaken_makes_no_second_head(raced):
    first, second = raced
    old = first.add("the refund window is 14 days")
    first._store.meanwhile = lambda: second.edit(old.id, "the refund window is 30 days")
    with pytest.raises(SettingError, match="superseded"):
        first.edit(old.id, "the refund window is 60 days")
    assert [record.text for record in first.search()] == ["the refund window is 30 days"]


def test_a_forget_that_is_overtaken_keeps_what_the_other_wrote(raced):
    first, second = raced
    old = first.add("the refund window is 14 days")
    first._store.meanwhile = lambda: second.mark_used([old.id])
    first.forget(old.id)
    assert (first.get(old.id).hits, first.get(old.id).status) == (1, "revoked")
    other = first.add("tea is green")
    first._store.meanwhile = lambda: second.edit(other.id, "tea is black")
    first.forget(other.id, erase=True)
    assert first.get(other.id) is None
    assert first.search() == []  # the text that took its place belongs to the history that was erased


def test_a_verdict_that_is_overtaken_is_not_given_twice(raced):
    first, second = raced
    first.add("the refund window is 14 days")
    doubted = first.add("the refund window is 60 days", source="tool")
    first._store.meanwhile = lambda: second.resolve(doubted.id, "drop")
    with pytest.raises(SettingError, match="not pending"):
        first.resolve(doubted.id, "keep")
    assert [record.text for record in first.search()] == ["the refund window is 14 days"]


def test_expiry_leaves_what_was_renewed_meanwhile(raced):
    first, second = raced
    old = first.add("tea is green", "episode", created="2026-01-01")
    later = old.expires + datetime.timedelta(seconds=1)
    first._store.meanwhile = lambda: store_renewed(second, old, later)
    assert first.expire(later) == []
    assert first.get(old.id)


def store_renewed(memory, record, moment):
    with memory._store.writing(memory.user) as db:
        store.update(db, dataclasses.replace(record, expires=moment + datetime.timedelta(days=30)))


def test_no_add_and_no_recall_walks_over_all_records_of_a_user(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.add_many({"text": f"Room {n} has {n} chairs"} for n in range(300))
        memory.recall("chairs of room 7")
        ran = []
        memory._store._db.set_trace_callback(ran.append)
        memory.add("Room 7 has 12 chairs")  # supersedes
        memory.add("Room 8 has 8 chairs")  # merges
        memory.add("a train left at noon", "episode")
        memory.recall("chairs of room 7")
        memory._store._db.set_trace_callback(None)
        walks = []
        for statement in ran:
            if "records" in statement and "count(*)" not in statement:
                plan = memory._store._db.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                walks += [
                    (statement, step)
                    for *_, step in plan
                    if step.startswith("SCAN records")
                    or re.search(r"records_\w+ \(user=\?(?: AND status=\?)?\)", step)
                ]
        assert walks == []
