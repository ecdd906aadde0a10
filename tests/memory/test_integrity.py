"""Damage is seen, told in one line and mended; what could be read is saved, what was lost is said, copies are whole."""

import contextlib
import json
import pathlib
import random
import resource
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from agent_nb.errors import AgentError, StoreError
from agent_nb.memory import Memory, store
from agent_nb.places import network_kind


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.db"


def filled(path, count=60):
    with Memory(path, embedder=None) as memory:
        memory.add_many({"text": f"note {n} about gate {n}", "type": "episode"} for n in range(count))
        for days in (14, 30, 14):
            memory.add(f"the refund window is {days} days")
        return {record.id: record.text for record in memory.search()}


def raw(path, query, *values):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(query, values)
        db.commit()


DAMAGE = {
    "content that is no memory": """UPDATE records SET data='{"text": 3}' WHERE n=1""",
    "content of another kind": "UPDATE records SET data='[1]' WHERE n=1",
    "a status that disagrees": "UPDATE records SET status='revoked' WHERE n=1",
    "another's content": "UPDATE records SET data=(SELECT data FROM records WHERE n=2) WHERE n=1",
    "no terms": "UPDATE records SET terms='[]' WHERE n=1",
    "terms that are no JSON": "UPDATE records SET terms='[' WHERE n=1",
    "another normal form": "UPDATE records SET normal='x' WHERE n=1",
    "an embedder without a vector": "UPDATE records SET embedder='x' WHERE n=1",
    "a vector that was cut": "UPDATE records SET vector=x'0102', embedder='x' WHERE n=1",
    "an index entry that leads nowhere": "INSERT INTO topics (id, user, topic) VALUES ('gone', 'default', 'x|y')",
    "a mark that leads nowhere": "INSERT INTO marks VALUES ('default', 'gone', 1)",
}


@pytest.mark.parametrize("query", DAMAGE.values(), ids=DAMAGE)
def test_what_disagrees_is_found_and_mended(path, query):
    texts = filled(path, 5)
    with Memory(path, embedder=None) as memory, Memory(path, "bob", None) as bob:
        bob.add("the canary of bob")
        assert memory.check() == bob.check() == []
        raw(path, query)
        found = memory.check()
        assert found
        assert bob.check() == []
        assert memory.repair() == found
        assert memory.check() == memory.repair() == []
        assert [row["action"] for row in memory.log()].count("repaired") == len(found)
        left = {record.id: record.text for record in memory.search()}
        assert len(set(texts.items()) - set(left.items())) <= 1
        assert memory.recall("gate", k=3, threshold=0).hits
        assert [r.text for r in bob.search()] == ["the canary of bob"]


def test_what_was_left_of_a_content_is_kept(path):
    texts = filled(path, 2)
    raw(path, """UPDATE records SET data='{"text": "half of i"}' WHERE n=1""")
    with Memory(path, embedder=None) as memory:
        with pytest.raises(StoreError, match="repair"):
            memory.search()
        memory.repair()
        aside = memory.search(status="revoked")
        assert aside[0].id in texts
        assert "half of i" in aside[0].evidence[0]["text"]


def test_chains_are_mended(path):
    with Memory(path, embedder=None) as memory:
        a, b, c = [memory.add(f"the refund window is {n} days") for n in (14, 30, 60)]

        def link(record, **fields):
            row = memory.get(record.id).to_dict() | fields
            raw(
                path,
                "UPDATE records SET data=?, status=?, superseded_by=? WHERE id=?",
                json.dumps(row),
                row["status"],
                row["superseded_by"],
                record.id,
            )

        link(a, status="active")  # two heads
        assert [row["id"] for row in memory.repair()] == [a.id]
        assert [r.id for r in memory.search()] == [c.id]
        link(b, superseded_by="gone")
        assert [row["id"] for row in memory.repair()] == [b.id]
        link(b, superseded_by=a.id)
        link(a, superseded_by=b.id)
        assert [row["id"] for row in memory.repair()] == [b.id]
        assert {r.id for r in memory.search()} == {b.id, c.id}
        assert memory.check() == []


def test_a_file_with_a_broken_page_is_saved_row_by_row(path):
    texts = filled(path, 400)
    whole = path.read_bytes()
    assert len(whole) > 20 * 4096
    page = next(
        n
        for n in range(4, len(whole) // 4096)
        if whole[n * 4096] == 13 and b"note 2" in whole[n * 4096 : (n + 1) * 4096]
    )
    damaged = bytearray(whole)
    damaged[page * 4096 : (page + 1) * 4096] = b"\x55" * 4096
    path.write_bytes(damaged)
    with Memory(path, embedder=None) as memory:
        assert "saved into a new file" in memory.check()[0]["repair"]
        done = memory.repair()
        left = {record.id: record.text for record in memory.search()}
        assert left.items() <= texts.items()
        assert len(left) > 0.8 * len(texts)
        kept = [file for file in path.parent.iterdir() if ".damaged-" in file.name]
        assert kept[0].read_bytes() == bytes(damaged)
        assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(kept[0].stat().st_mode) == 0o600
        assert str(kept[0]) in done[0]["repair"]
        assert memory.check() == []
        memory.add("tea is green")


def told_of(memory):
    """What using a damaged file says ("" where it works), and what it gave."""
    found = {}
    try:
        found = {record.id: record.text for record in memory.search()}
        memory.recall("gate 7", threshold=0)
        memory.add("tea is green")
    except AgentError as error:
        return str(error), found
    return "", found


def test_random_damage_works_or_is_one_line_that_names_repair(path, tmp_path):
    texts = filled(path, 80)
    whole, random_ = path.read_bytes(), random.Random(7)
    told = 0
    for number in range(10):
        file = tmp_path / f"d{number}" / "m.db"
        file.parent.mkdir()
        data = bytearray(whole)
        if number % 4 == 3:
            del data[random_.randrange(1, len(data)) :]
        for _ in range(random_.choice([1, 10, 300])):
            data[random_.randrange(len(data))] = random_.randrange(256)
        file.write_bytes(data)
        with Memory(file, embedder=None) as memory:
            said, found = told_of(memory)
            told += bool(said)
            assert "\n" not in said
            assert not said or any(word in said for word in ("repair", "newer version", "check the file")), (
                said
            )
            # A flipped letter inside a text is what no check of pages can see; more than that is seen.
            assert len(set(found.items()) - set(texts.items())) < 20 or memory.check()
            with contextlib.suppress(AgentError):
                memory.repair()
                assert memory.check() == []
                memory.add("repaired and in use")
    assert told > 2


def test_a_file_in_use_is_not_taken_away(path):
    filled(path)
    with Memory(path, embedder=None) as other:
        other.search()
        with path.open("rb+") as file:
            file.seek(5 * 4096)
            file.write(b"\x55" * 4096)
        with pytest.raises(StoreError, match="in use"):
            Memory(path, embedder=None).repair()
    assert [file.name for file in path.parent.glob("*damaged*")] == []
    with Memory(path, embedder=None) as memory:
        memory.repair()
        assert memory.check() == []


def test_a_backup_is_whole_while_others_write(path, tmp_path):
    filled(path)
    stop = threading.Event()

    def write():
        with Memory(path, "bob", None) as bob:
            n = 0
            while not stop.is_set():
                bob.add(f"the limit of gate 7 is {(n := n + 1)}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Memory(path, embedder=None) as memory:
            for number in range(3):
                copy = tmp_path / f"copy{number}.db"
                memory.backup(copy)
                assert stat.S_IMODE(copy.stat().st_mode) == 0o600
                with Memory(copy, embedder=None) as there, Memory(copy, "bob", None) as bob:
                    assert there.search() == memory.search()
                    assert there.check() == bob.check() == []
                    assert len(bob.search()) <= 1
    finally:
        stop.set()
        writer.join()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("name", ["m.db", "m.pkl"])
def test_a_backup_neither_overwrites_the_memory_nor_leaves_half(name, tmp_path):
    with Memory(tmp_path / name, embedder=None) as memory:
        memory.add("tea is green")
        with pytest.raises(StoreError, match="itself"):
            memory.backup(tmp_path / name)
        memory.backup(tmp_path / f"copy-{name}")
        with Memory(tmp_path / f"copy-{name}", embedder=None) as copy:
            assert copy.search() == memory.search()
        with pytest.raises(StoreError):
            memory.backup(tmp_path / "none" / ".." / name / "x.db")


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
tmpfs /home/ana/fast tmpfs rw 0 0
//win/share /mnt/my\\040share cifs rw 0 0
me@host: /mnt/far fuse.sshfs rw 0 0
overlay / overlay rw 0 0
odd line
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/home/ana/m.db", "nfs4"),
        ("/home", "nfs4"),
        ("/homes/m.db", ""),
        ("/home/ana/fast/m.db", ""),
        ("/mnt/my share/a/m.db", "cifs"),
        ("/mnt/far/m.db", "fuse.sshfs"),
        ("/var/m.db", ""),
    ],
)
def test_network_file_systems_are_told_from_the_mount_table(place, kind):
    assert network_kind(pathlib.Path(place), MOUNTS) == kind
    assert network_kind(pathlib.Path(place), "") == ""


def test_on_a_network_file_system_there_is_no_write_ahead_log_and_it_is_said(path, monkeypatch):
    filled(path, 2)
    monkeypatch.setattr(store, "network_kind", lambda path: "nfs4")
    with Memory(path, embedder=None) as memory:
        with pytest.warns(UserWarning, match="nfs4"):
            memory.add("tea is green")
        assert not list(path.parent.glob("*-wal"))
        assert "nfs4" in memory.stats()["journal"]
        memory.close()
        assert len(memory.search()) == 4  # said once, not at every opening
        with memory._store.reading() as db:
            assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)


FULL = """
import resource, signal, sys
from agent_nb.memory import Memory
from agent_nb.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Memory(sys.argv[1], embedder=None)
memory.add("the first")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
for n in range(3000):
    try:
        print(memory.add(f"note {n} " + "x" * 2000, "episode").id, flush=True)
    except StoreError as error:
        print("told", str(error), flush=True)
        break
print(len(memory.search()))
"""


@pytest.mark.parametrize("name", ["m.db", "m.pkl"])
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path, name):
    file = tmp_path / name
    size = 600_000
    ran = subprocess.run(
        [sys.executable, "-c", FULL, file, str(size)], capture_output=True, text=True, check=True
    )
    lines = ran.stdout.splitlines()
    ids, told = [line for line in lines if line.startswith("m")], lines[-2]
    assert told.startswith("told "), lines[-3:]
    assert int(lines[-1]) == len(ids) + 1
    with Memory(file, embedder=None) as memory:
        assert all(memory.get(id) for id in ids)
        assert memory.check() == []
        memory.add("and on it goes")


def test_the_limit_of_this_process_is_untouched():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_file_that_may_only_be_read_is_one_line(path):
    filled(path, 2)
    with Memory(path, embedder=None) as memory:
        memory.search()
        with memory._store.reading() as db:
            db.execute("PRAGMA query_only=ON")  # what a read-only file answers, also to root
        with pytest.raises(StoreError) as caught:
            memory.add("x y")
        assert "\n" not in str(caught.value)
        assert len(memory.search()) == 3


# -- versions --------------------------------------------------------------------------------------------------

VERSION_1 = """
CREATE TABLE records (
    id TEXT PRIMARY KEY, user TEXT NOT NULL, status TEXT NOT NULL, recorded TEXT NOT NULL,
    superseded_by TEXT NOT NULL, normal TEXT NOT NULL, key TEXT NOT NULL,
    terms TEXT NOT NULL, embedder TEXT NOT NULL, vector BLOB, data TEXT NOT NULL);
CREATE INDEX records_user ON records (user, status);
CREATE INDEX records_normal ON records (user, normal);
CREATE INDEX records_key ON records (user, key);
CREATE TABLE log (n INTEGER PRIMARY KEY, user TEXT NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL,
    id TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX log_user ON log (user, n);
CREATE TABLE changes (user TEXT PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO changes VALUES ('default', 2);
INSERT INTO log VALUES (1, 'default', '2026-01-01T00:00:00.000+00:00', 'added', 'm1', '{}');
"""
VERSION_2 = (
    VERSION_1
    + """
ALTER TABLE records ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN type TEXT AS (json_extract(data, '$.type'));
ALTER TABLE records ADD COLUMN source TEXT AS (json_extract(data, '$.source'));
ALTER TABLE records ADD COLUMN session TEXT AS (json_extract(data, '$.session'));
ALTER TABLE records ADD COLUMN expires TEXT AS (json_extract(data, '$.expires'));
ALTER TABLE changes ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0;
CREATE INDEX records_changed ON records (user, changed);
CREATE INDEX records_kind ON records (user, status, type, source);
CREATE INDEX records_chain ON records (user, superseded_by);
"""
)
ROW = {
    "user": "default", "type": "fact", "source": "user_explicit", "subject": "the refund window", "attribute": "is",
    "session": "", "run": "", "created": "2026-01-01T00:00:00+00:00", "recorded": "2026-01-01T00:00:00+00:00",
    "last_access": None, "hits": 0, "mentions": 1, "weight": 0.9, "confidence": 1.0, "expires": None, "tags": [],
    "entities": [], "evidence": [], "embedder": "",
}  # fmt: skip
OLD = ROW | {
    "id": "m1",
    "text": "the refund window is 14 days",
    "value": "14 days",
    "status": "superseded",
    "superseded_by": "m2",
}
NEW = ROW | {
    "id": "m2",
    "text": "the refund window is 30 days",
    "value": "30 days",
    "status": "active",
    "superseded_by": "",
}


@pytest.mark.parametrize(("version", "script"), [(1, VERSION_1), (2, VERSION_2)])
def test_a_file_of_every_version_opens_and_is_brought_up_to_date(path, version, script):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(script)
        for row in (OLD, NEW):
            values = (
                row["id"],
                "default",
                row["status"],
                row["recorded"],
                row["superseded_by"],
                row["text"],
                "window refund|is",
            )
            query = "INSERT INTO records (id, user, status, recorded, superseded_by, normal, key, terms, embedder, data) VALUES (?,?,?,?,?,?,?,?,'',?)"
            db.execute(query, (*values, '["refund", "window"]', json.dumps(row)))
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()
    with Memory(path, embedder=None) as memory:
        assert [record.text for record in memory.history("m1")] == [OLD["text"], NEW["text"]]
        assert [hit.record.id for hit in memory.recall("refund window")] == ["m2"]
        assert len(memory.log()) == 1
        memory.repair()
        assert memory.check() == []
        again = memory.add("the refund window is 60 days")
        assert [record.id for record in memory.history("m1")] == ["m1", "m2", again.id]
