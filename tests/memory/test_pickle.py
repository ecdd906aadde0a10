"""Memory in one pickle file: the same answers as the SQLite store, no code from the file, nothing half written."""

import datetime
import io
import json
import math
import os
import pathlib
import pickle
import stat
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.errors import AgentError, StoreError
from agent_nb.memory import Memory
from agent_nb.memory.index import K1, SMALL, B
from agent_nb.memory.text import tokens

TEXTS = [
    "a flight is late when its departure delay is over 15 minutes",
    "the manager of sales is Ana",
    "refunds need an order number",
    "净销售额 = 金额 - 退款",
    "charts are drawn in blue",
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "team.pkl"


def test_written_and_read_again_with_private_modes(path):
    with Memory(path, embedder=None) as memory:
        made = memory.add(TEXTS[0])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not list(path.parent.glob("*.part"))
    with Memory(path, embedder=None) as memory:
        assert memory.get(made.id) == made
        assert [hit.record.id for hit in memory.recall("how are delays of flights defined?")] == [made.id]
        assert [row["action"] for row in memory.log()] == ["added"]


def test_the_same_operations_give_what_sqlite_gives(path, tmp_path):
    found = []
    for where in (path, tmp_path / "m.db"):
        with Memory(where, user="ana", embedder=None) as memory:
            ids = [record.id for record in memory.add_many({"text": text} for text in TEXTS)]
            memory.add("the manager of sales is Bob")
            memory.edit(ids[2], "refunds need an order number and a reason")
            memory.forget(ids[4])
            memory.add(TEXTS[0])
            recalled = [
                [(hit.record.text, hit.similarity) for hit in memory.recall(q)]
                for q in (
                    "who is the manager of sales?",
                    "refund",
                    "净销售额怎么算",
                    "blue charts",
                    "late flights",
                )
            ]
            found.append((sorted((r.text, r.mentions) for r in memory.search()), recalled))
            assert len(memory.history(ids[1])) == 2
        assert Memory(where, user="bob", embedder=None).search() == []
    assert found[0] == found[1]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5, unique=True), st.sampled_from(TEXTS))
def test_words_are_ranked_as_the_formula_says(texts, question):
    """BM25 with idf = ln(1 + (N − n + ½) / (n + ½)), by rank_bm25 here and by our postings in SQLite."""
    memories = [Memory(":memory:", embedder=None), Memory(":memory:", embedder=None)]
    from agent_nb.memory.pickle import RankedIndex

    memories[1]._index = RankedIndex(memories[1]._store.reading)
    scores = []
    for memory in memories:
        memory.add_many({"text": text, "type": "episode"} for text in texts)
        scores.append(list(memory._fresh_index().lexical(tokens(question))))
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    lists = [terms for (terms,) in memories[1]._index._texts]
    average = sum(map(len, lists)) / len(lists)
    weights = {
        t: math.log(
            1
            + (max(len(lists), SMALL) - sum(t in d for d in lists) + 0.5) / (sum(t in d for d in lists) + 0.5)
        )
        for t in tokens(question)
    }
    for got, words in zip(scores[1], lists, strict=True):
        norm = K1 * (1 - B + B * len(words) / average)
        want = sum(w * words.count(t) * (K1 + 1) / (words.count(t) + norm) for t, w in weights.items()) / sum(
            weights.values()
        )
        assert got == pytest.approx(min(want, 1), abs=1e-5)


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("executed",))


class State:
    """An object that pickle builds without calling anything but its class."""

    def __init__(self):
        self.word = 1


class Keywords(State):
    def __getnewargs_ex__(self):
        return (), {"mode": 1}

    def __new__(cls, **_):
        return super().__new__(cls)


class Persistent(pickle.Pickler):
    def persistent_id(self, obj):
        return "id" if isinstance(obj, str) else None


def persistent(protocol):
    out = io.BytesIO()
    Persistent(out, protocol).dump({"agent_nb_memory": 2})
    return out.getvalue()


HOSTILE = {
    **{f"reduce {n}": pickle.dumps(Evil(), n) for n in range(6)},
    **{f"object {n}": pickle.dumps(State(), n) for n in range(6)},
    **{f"keywords {n}": pickle.dumps(Keywords(), n) for n in (2, 4)},
    **{f"persistent {n}": persistent(n) for n in (0, 1, 5)},
    "a class of the standard library": pickle.dumps(datetime.datetime(2026, 1, 1)),
    "a function": pickle.dumps(os.mkdir),
    "a set": pickle.dumps({1}),
    "inside a row": pickle.dumps({"agent_nb_memory": 1, "records": [Evil()], "log": [], "changes": []}),
    "global": b"cos\nsystem\n(S'touch executed'\ntR.",
    "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0etouch executed\x85R.",
    "inst": b"(S'touch executed'\nios\nsystem\n.",
    "obj": b"(cos\nsystem\nS'touch executed'\no.",
    "newobj": b"cbuiltins\nobject\n)\x81.",
    "build": b"}}S'x'\nI1\nsb.",
    "ext": b"\x82\x01.",
    "ext4": b"\x84\xff\xff\xff\x7f.",
    "out of band": b"\x80\x05\x97.",
    "readonly": b"\x80\x05C\x01x\x98.",
    "a frame of two to the sixty": b"\x80\x05\x95\xff\xff\xff\xff\xff\xff\xff\x0f.",
    "bytes of two to the forty": b"\x80\x05\x8e\x00\x00\x00\x00\x00\x01\x00\x00.",
    "a text of two to the sixty": b"\x80\x05\x8d\x00\x00\x00\x00\x00\x00\x00\x10.",
    "a byte array": b"\x80\x05\x96\x00\x00\x00\x00\x00\x01\x00\x00.",
    "a memo of two billion": b"\x80\x02K\x01r\xff\xff\xff\x7f.",
    "a memo in words": b"I1\np2147483647\n.",
    "a number of a million digits": b"I" + b"9" * 1_000_000 + b"\n.",
    "what was never put": b"\x80\x05h\x07.",
    "nothing on the stack": b"\x80\x05.",
    "no mark": b"\x80\x05u.",
    "cut off": pickle.dumps({"agent_nb_memory": 2, "rows": ["x" * 100]})[:-40],
    "deep": b"\x80\x05" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "another table": pickle.dumps(
        {"agent_nb_memory": 2, "version": 2, "columns": {"x": ["a"]}, "rows": {"x": []}}
    ),
    "a table's name that is SQL": pickle.dumps(
        {"agent_nb_memory": 2, "version": 2, "columns": {"log; DROP TABLE log": []}, "rows": {}}
    ),
    "a column's name that is SQL": pickle.dumps(
        {"agent_nb_memory": 2, "version": 2, "columns": {"log": ['n") --']}, "rows": {"log": []}}
    ),
    "no version": pickle.dumps({"agent_nb_memory": 2, "version": -3, "columns": {}, "rows": {}}),
    "a newer version": pickle.dumps({"agent_nb_memory": 2, "version": 10**9, "columns": {}, "rows": {}}),
    "a row that is no memory": pickle.dumps(
        {"agent_nb_memory": 1, "records": [("m1", "default", *"abcdefgh", "{}", 1)], "log": [], "changes": []}
    ),
    "a dict with itself inside": b"\x80\x05}\x94\x8c\x0fagent_nb_memory\x94h\x00s.",
    "another file": pickle.dumps({"other": 1}),
    "another number": pickle.dumps({"agent_nb_memory": 99}),
    "rows that are too short": pickle.dumps(
        {"agent_nb_memory": 1, "records": [(1, 2)], "log": [], "changes": []}
    ),
    "a list": pickle.dumps([1, 2]),
    "empty": b"",
    "text": b"no pickle at all",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_is_not_ours_is_refused_before_any_code_runs(data, path, monkeypatch):
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    path.write_bytes(data)
    memory = Memory(path, embedder=None)
    for use in (memory.search, lambda: memory.add("x"), lambda: memory.recall("x")):
        with pytest.raises(AgentError) as caught:
            use()
        assert "\n" not in str(caught.value)
    assert not (path.parent / "executed").exists()
    assert path.read_bytes() == data


def test_a_full_disk_keeps_the_old_file_and_says_so(path, monkeypatch):
    memory = Memory(path, embedder=None)
    memory.add(TEXTS[0])
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            memory.add(TEXTS[1])
    assert path.read_bytes() == before
    assert [record.text for record in memory.search()] == [TEXTS[0]]
    memory.add(TEXTS[2])
    assert len(Memory(path, embedder=None).search()) == 2


WRITER = """
import sys
from agent_nb.memory import Memory
memory = Memory(sys.argv[1], embedder=None)
for n in range(15):
    memory.add(f"{sys.argv[2]} says {n} things about {sys.argv[2]}{n}", type="episode")
"""


def test_two_processes_write_at_once_and_nothing_is_lost(path):
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("ana", "bob")]
    assert [process.wait(60) for process in running] == [0, 0]
    here = Memory(path, embedder=None)
    assert len(here.search()) == 30
    done = subprocess.run([sys.executable, "-c", WRITER, str(path), "eve"], check=False)
    assert done.returncode == 0
    assert len(here.search()) == 45
    assert here.recall("eve7", k=1, threshold=0).hits[0].record.text.startswith("eve says 7")


def test_erased_text_is_gone_from_the_file(path):
    memory = Memory(path, embedder=None)
    made = memory.add("the code word is xylophone")
    memory.forget(made.id, erase=True)
    assert b"xylophone" not in pathlib.Path(path).read_bytes()


def test_a_file_of_the_first_format_is_read_and_brought_up_to_date(path):
    """Written by hand as it was: three tables, no version, columns by their order."""
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add("the refund window is 14 days")
    row = (
        record.id,
        "default",
        "active",
        record.recorded.isoformat(),
        "",
        record.text,
        "",
        '["refund"]',
        "",
        None,
    )
    old = {
        "agent_nb_memory": 1,
        "records": [(*row, json.dumps(record.to_dict()), 1)],
        "log": [(1, "default", record.recorded.isoformat(), "added", record.id, "{}")],
        "changes": [("default", 1, 0)],
    }
    path.parent.mkdir()
    path.write_bytes(pickle.dumps(old, protocol=5))
    with Memory(path, embedder=None) as memory:
        assert memory.get(record.id) == record
        assert [hit.record.id for hit in memory.recall("refund")] == [record.id]
        memory.add("tea is green")
    with Memory(path, embedder=None) as memory:
        assert len(memory.search()) == 2
        assert [line["action"] for line in memory.log()] == ["added", "added"]


def test_every_table_of_the_schema_is_in_the_file(path):
    """A table that a later version adds is kept like the others, without a list to be forgotten."""
    with Memory(path, embedder=None) as memory:
        memory.add("x y")
        with memory._store.reading() as db:
            rows = db.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    kept = pickle.loads(path.read_bytes())
    assert set(kept["columns"]) == set(kept["rows"]) == {name for (name,) in rows}
    assert kept["rows"]["records"]
