"""Vectors that are made in the background: by embedders that are slow, fail, hang, change; killed at any moment."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from agent_nb.memory import Memory, calling, embed, embedding, store

WORDS = ("gate", "zebra", "budget", "refund", "window", "flight", "canteen", "harbour")


SAME_AS = {"cafeteria": "canteen", "close": "shut"}
SILENT = {"the", "is", "here"}


class Fake:
    """Words → axes, so that meaning can be told from words: a pair of synonyms shares its axis."""

    dim = 16
    unrelated, same = 0.1, 0.9

    def __init__(self, name="fake", dim=16):
        self.name, self.dim = name, dim
        self.texts, self.held, self.error = [], threading.Event(), None
        self.held.set()

    def embed(self, texts, kind="record"):
        if kind == "record":
            self.texts += texts
        assert self.held.wait(30)
        if self.error:
            raise self.error
        return self.rows(texts)

    def rows(self, texts):
        rows = np.full((len(texts), self.dim), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().strip("?").split():
                word = SAME_AS.get(word, word)
                axis = WORDS.index(word) if word in WORDS else len(WORDS) + len(word)
                row[axis % self.dim] += word not in SILENT
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def slow():
    fake = Fake()
    fake.quick = False
    fake.held.clear()
    yield fake
    fake.held.set()


def embedder_of(memory):
    return {record.embedder for record in memory.search()}


def vectors(memory):
    with memory._store.reading() as db:
        return db.execute("SELECT id, embedder, vector FROM records ORDER BY id").fetchall()


@pytest.mark.parametrize("where", [":memory:", "m.db", "m.pkl"])
def test_what_is_written_under_a_slow_embedder_is_found_by_words_first_and_by_meaning_later(
    tmp_path, where, slow
):
    where = where if where == ":memory:" else tmp_path / where
    with Memory(where, embedder=slow) as memory:
        records = memory.add_many({"text": f"the {word} is here", "type": "episode"} for word in WORDS)
        assert {record.embedder for record in records} == {""}
        assert memory.stats()["embedding"] == {"waiting": len(WORDS), "failed": ""}
        assert [hit.record.text for hit in memory.recall("zebra")] == ["the zebra is here"]
        assert memory.recall("zebra").hits[0].reason.startswith("words")
        assert not memory.recall("cafeteria").hits
        slow.held.set()
        assert memory.wait()
        assert memory.stats()["embedding"] == {"waiting": 0, "failed": ""}
        assert embedder_of(memory) == {"fake"}
        assert memory.recall("cafeteria").hits[0].record.text == "the canteen is here"
        assert memory.recall("zebra").hits[0].record.text == "the zebra is here"


def test_a_write_waits_neither_for_a_slow_embedder_nor_for_one_that_hangs(slow):
    with Memory(":memory:", embedder=slow) as memory:
        for word in WORDS:
            assert memory.add(f"the {word} is here").embedder == ""
        assert len(memory.search()) == len(WORDS)  # all of this while nothing was answered
        assert len(slow.texts) <= 8
        slow.held.set()
        assert memory.wait()
        assert (
            len(slow.texts) <= len(WORDS) + 8
        )  # what was under way for a write that did not wait counts as well


def test_a_quick_embedder_writes_its_vector_together_with_the_record_and_needs_no_thread():
    before = threading.active_count()
    fake = Fake()
    fake.quick = True
    with Memory(":memory:", embedder=fake) as memory:
        assert memory.add("the canteen is shut", "episode").embedder == "fake"
        assert memory.recall("cafeteria").hits
        assert threading.active_count() == before
        assert memory._embedding._thread is None


def test_an_embedder_that_proves_to_be_quick_is_called_where_the_text_is():
    with Memory(":memory:", embedder=Fake()) as memory:
        memory.add_many({"text": f"gate {n}", "type": "episode"} for n in range(64))
        memory.wait()
        record = memory.add("the canteen is shut", "episode")
        assert record.embedder == "fake"
        assert memory._embedding._caller.is_quick()


ERRORS = [RuntimeError("no such weights"), ValueError(""), OSError(28, "disk"), MemoryError(), SystemExit(3)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("quick", [True, False])
def test_an_embedder_that_raises_is_told_once_and_tried_again_while_words_go_on(monkeypatch, error, quick):
    monkeypatch.setattr(calling, "PAUSES_S", (0.05, 0.1))
    fake = Fake()
    fake.quick, fake.error = quick, error
    if quick and not isinstance(error, Exception):
        pytest.skip("what ends the program ends it")
    with Memory(":memory:", embedder=fake) as memory:
        for word in WORDS:
            memory.add(f"the {word} is here", "episode")
        assert [hit.record.text for hit in memory.recall("zebra")] == ["the zebra is here"]
        assert until(lambda: [row["action"] for row in memory.log()].count("embedder failed") == 1)
        told = memory.stats()["embedding"]
        assert told["waiting"] == len(WORDS)
        assert told["failed"].startswith("fake: ")
        assert "\n" not in told["failed"]
        calls = len(fake.texts)
        assert until(lambda: len(fake.texts) > calls)  # it is tried again
        assert [row["action"] for row in memory.log()].count("embedder failed") == 1
        fake.error = None
        assert until(lambda: memory.stats()["embedding"] == {"waiting": 0, "failed": ""})
        assert memory.recall("cafeteria").hits


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


WRONG = {
    "nan": lambda rows: rows * np.nan,
    "inf": lambda rows: rows / 0 if np.seterr(divide="ignore") else rows,
    "shape": lambda rows: rows[:, :-1],
    "rows": lambda rows: rows[:-1],
    "flat": lambda rows: rows.ravel(),
    "text": lambda rows: [["a"] * rows.shape[1]] * len(rows),
    "none": lambda rows: None,
    "ragged": lambda rows: [[1.0], [2.0, 3.0]],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_embedder_that_gives_nonsense_is_refused_in_one_line_and_words_go_on(wrong):
    fake = Fake()
    fake.quick = True
    right = fake.rows
    fake.rows = lambda texts: WRONG[wrong](right(texts))
    with Memory(":memory:", embedder=fake) as memory:
        memory.add("the zebra is here", "episode")
        assert [hit.record.text for hit in memory.recall("zebra")] == ["the zebra is here"]
        assert memory.stats()["embedding"]["failed"].startswith("fake: ")
        assert "\n" not in memory.stats()["embedding"]["failed"]
        assert [vector for _, _, vector in vectors(memory)] == [None]


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
@pytest.mark.parametrize("length", [1, 7.5, 1e-3])
def test_vectors_of_another_length_or_precision_are_brought_to_unit_length(dtype, length):
    fake = Fake()
    fake.quick = True
    right = fake.rows
    fake.rows = lambda texts: (right(texts) * (length if dtype != "int64" else 1000)).astype(dtype)
    with Memory(":memory:", embedder=fake) as memory:
        memory.add("the canteen is here", "episode")
        row = np.frombuffer(vectors(memory)[0][2], np.float32)
        assert row.shape == (16,)
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-3)
        assert memory.recall("cafeteria").hits


def test_a_text_of_unit_vectors_is_kept_to_the_bit():
    fake = Fake()
    fake.quick = True
    with Memory(":memory:", embedder=fake) as memory:
        memory.add("the canteen is here", "episode")
        assert vectors(memory)[0][2] == fake.rows(["the canteen is here (episode)"]).tobytes()


def test_one_text_that_the_embedder_cannot_read_keeps_no_other_waiting(monkeypatch):
    class Picky(Fake):
        quick = False

        def rows(self, texts):
            if any("poison" in text for text in texts):
                raise ValueError("cannot read this")
            return super().rows(texts)

    monkeypatch.setattr(calling, "PAUSES_S", (0.01, 0.02))
    for place in (0, 3, len(WORDS)):
        texts = [f"the {word} is here" for word in WORDS]
        texts.insert(place, "poison is here")
        with Memory(":memory:", embedder=Picky()) as memory:
            memory.add_many({"text": text, "type": "episode"} for text in texts)
            assert until(lambda memory=memory: memory.stats()["embedding"]["waiting"] == 1)
            assert memory.search("poison")[0].embedder == ""
            assert memory.recall("cafeteria").hits
            assert [hit.record.text for hit in memory.recall("poison")] == ["poison is here"]


def test_another_embedder_takes_over_in_the_background_and_only_its_own_vectors_are_compared(tmp_path, slow):
    old = Fake("old", 8)
    with Memory(tmp_path / "m.db", embedder=old) as memory:
        ids = {r.id for r in memory.add_many({"text": f"the {w} is here", "type": "episode"} for w in WORDS)}
        assert memory.wait()
    with Memory(tmp_path / "m.db", embedder=slow) as memory:
        assert {hit.record.text for hit in memory.recall("zebra")} == {"the zebra is here"}
        assert {hit.record.id for hit in memory.recall("is", k=20, threshold=0)} == ids
        assert memory.stats()["embedding"]["waiting"] == len(WORDS)
        assert embedder_of(memory) == {"old"}
        slow.held.set()
        assert memory.wait()
        assert embedder_of(memory) == {"fake"}
        assert {len(vector) for _, _, vector in vectors(memory)} == {4 * 16}
        assert memory.recall("cafeteria").hits
    other = Fake("fake", 4)  # the same name, another dimension
    other.held.clear()
    with Memory(tmp_path / "m.db", embedder=other) as memory:
        assert {hit.record.text for hit in memory.recall("zebra")} == {"the zebra is here"}
        other.held.set()
        assert memory.wait()
        assert {len(vector) for _, _, vector in vectors(memory)} == {4 * 4}


def test_two_openings_with_different_embedders_do_not_take_each_others_vectors_for_ever(tmp_path):
    one, two = Fake("one"), Fake("two")
    with Memory(tmp_path / "m.db", embedder=one) as first, Memory(tmp_path / "m.db", embedder=two) as second:
        for n, word in enumerate(WORDS):
            (first, second)[n % 2].add(f"the {word} is here", "episode")
            first.recall(word)
            second.recall(word)
        first._embedding.wait(0.3)
        second._embedding.wait(0.3)
        assert len(one.texts) <= 2 * len(WORDS)
        assert len(two.texts) <= 2 * len(WORDS)
        calls = len(one.texts) + len(two.texts)
        for word in WORDS:
            assert first.recall(word).hits
            assert second.recall(word).hits
        assert len(one.texts) + len(two.texts) == calls


@pytest.mark.parametrize("fate", ["edit", "forget", "erase", "expire"])
def test_what_becomes_of_a_record_while_it_is_embedded_is_not_undone(slow, fate):
    with Memory(":memory:", embedder=slow) as memory:
        record = memory.add("the canteen is shut", "episode")
        assert until(lambda: slow.texts)
        if fate == "edit":
            memory.edit(record.id, "the harbour is open")
        elif fate == "expire":
            later = record.expires.replace(year=record.expires.year + 2)
            memory.expire(now=later)
        else:
            memory.forget(record.id, erase=fate == "erase")
        slow.held.set()
        memory.wait()
        rows = {id: vector for id, _, vector in vectors(memory)}
        assert rows.get(record.id) is None
        assert not [hit for hit in memory.recall("cafeteria", threshold=0) if hit.record.id == record.id]
        if fate in ("erase", "expire"):
            assert record.id not in rows
            assert memory.get(record.id) is None
        if fate == "edit":
            assert memory.recall("harbour").hits


def test_a_record_that_was_used_while_it_was_embedded_keeps_what_was_counted(slow):
    with Memory(":memory:", embedder=slow) as memory:
        record = memory.add("the canteen is shut", "episode")
        assert until(lambda: slow.texts)
        memory.mark_used([record.id])
        slow.held.set()
        memory.wait()
        assert (memory.get(record.id).hits, memory.get(record.id).embedder) == (1, "fake")


def test_the_vectors_of_one_process_reach_the_open_index_of_another(tmp_path, slow):
    with Memory(tmp_path / "m.db", embedder=slow) as one, Memory(tmp_path / "m.db", embedder=Fake()) as two:
        one.add("the canteen is shut", "episode")
        two._embedding.open = lambda: None  # it only reads
        assert not two.recall("cafeteria").hits
        slow.held.set()
        assert one.wait()
        assert two.recall("cafeteria").hits


def test_users_get_vectors_of_their_own_records_only(tmp_path):
    with Memory(tmp_path / "m.db", user="bob", embedder=None) as bob:
        bob.add("the secret harbour", "episode")
    fake = Fake()
    with Memory(tmp_path / "m.db", user="ana", embedder=fake) as ana:
        ana.add("the canteen is shut", "episode")
        assert ana.wait()
        assert ana.stats()["embedding"]["waiting"] == 0
        assert not [text for text in fake.texts if "harbour" in text]
        assert [row[1] for row in vectors(ana) if row[1]] == [store.form("fake")]


def test_closing_does_not_wait_for_a_call_that_hangs_and_the_next_opening_goes_on(
    tmp_path, monkeypatch, slow
):
    monkeypatch.setattr(embedding, "LEAVE_S", 0.05)
    memory = Memory(tmp_path / "m.db", embedder=slow)
    memory.add("the canteen is shut", "episode")
    assert until(lambda: slow.texts)
    thread = memory._embedding._thread
    memory._embedding.stop(0.05)
    memory._store.close()
    assert thread.is_alive()
    slow.held.set()
    thread.join(10)
    assert not thread.is_alive()
    assert memory._store._db is None  # what came too late has not opened the file again
    with Memory(tmp_path / "m.db", embedder=Fake()) as memory:
        memory.recall("x")
        assert memory.wait()
        assert embedder_of(memory) == {"fake"}


def test_a_memory_that_is_closed_and_used_again_goes_on(tmp_path):
    memory = Memory(tmp_path / "m.db", embedder=Fake())
    for word in WORDS:
        memory.add(f"the {word} is here", "episode")
        memory.close()
    assert memory.recall("zebra").hits
    assert memory.wait()
    assert embedder_of(memory) == {"fake"}
    memory.close()


def test_the_thread_ends_when_there_is_nothing_to_do(monkeypatch, slow):
    monkeypatch.setattr(embedding, "IDLE_S", 0.05)
    slow.held.set()
    with Memory(":memory:", embedder=slow) as memory:
        memory.add("the canteen is shut", "episode")
        assert memory.wait()
        assert until(lambda: memory._embedding._thread is None)
        memory.add("the gate is shut", "episode")
        assert memory.wait()


CHILD = """
import sys, time
import numpy as np
from agent_nb.memory import Memory

class Slow:
    name, dim, quick = "slow", 8, False
    def embed(self, texts, kind="record"):
        time.sleep(0.02 * len(texts))
        rows = np.ones((len(texts), 8), np.float32)
        rows[:, 0] = [len(text) for text in texts]
        return rows
"""


def child(code, *arguments, **more):
    whole = textwrap.dedent(CHILD) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", whole, *map(str, arguments)], stdout=subprocess.PIPE, text=True, **more
    )


def test_a_kill_at_any_moment_loses_no_record_and_the_next_opening_goes_on(tmp_path):
    path = tmp_path / "m.db"
    code = """
        memory, n = Memory(sys.argv[1], embedder=Slow()), 0
        while True:
            n += 1
            print(memory.add(f"gate {n} {time.time_ns()}", "episode").id, flush=True)
    """
    known = []
    for moment in (12, 25):
        process = child(code, path)
        for _ in range(moment):
            known.append(process.stdout.readline().strip())
        process.send_signal(signal.SIGKILL)
        known += [line.strip() for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
    fake = Fake("slow", 8)
    with Memory(path, embedder=fake) as memory:
        assert set(known) <= {record.id for record in memory.search()}
        memory.recall("gate")
        assert memory.wait()
        assert embedder_of(memory) == {"slow"}


def test_two_processes_catch_up_together_without_doing_the_work_twice(tmp_path):
    path = tmp_path / "m.db"
    with Memory(path, embedder=None) as memory:
        memory.add_many({"text": f"gate {n}", "type": "episode"} for n in range(60))
    code = """
        class Counting(Slow):
            done = 0
            def embed(self, texts, kind="record"):
                Counting.done += len(texts) * (kind == "record")
                return super().embed(texts, kind)
        with Memory(sys.argv[1], embedder=Counting()) as memory:
            memory.recall("gate")
            assert memory.wait(60)
            print(Counting.done)
    """
    both = [child(code, path) for _ in range(2)]
    done = [int(process.communicate()[0]) for process in both]
    assert sum(done) >= 60
    assert max(done) <= 60
    with Memory(path, embedder=None) as memory:
        assert {record.embedder for record in memory.search()} == {"slow"}


@pytest.mark.parametrize("end", ["pass", "sys.exit(0)", "raise KeyboardInterrupt"])
def test_the_interpreter_ends_in_the_middle_of_the_work_without_a_crash(tmp_path, end):
    code = f"""
        memory = Memory(sys.argv[1], embedder=Slow())
        memory.add_many({{"text": f"gate {{n}}", "type": "episode"}} for n in range(40))
        print(len(memory.search()), flush=True)
        {end}
    """
    process = child(code, tmp_path / "m.db", stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    assert out.strip() == "40"
    assert "Fatal" not in err
    assert process.returncode in (0, 1, -signal.SIGINT, 130)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_goes_on_by_itself(tmp_path):
    code = """
        import os
        memory = Memory(sys.argv[1], embedder=Slow())
        memory.add_many({"text": f"gate {n}", "type": "episode"} for n in range(100))
        pid = os.fork()
        if pid == 0:
            mine = Memory(sys.argv[1], embedder=Slow())
            mine.add("a zebra of the child", "episode")
            print(len(mine.recall("zebra")), memory._embedding._thread, flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        memory.add("a zebra of the parent", "episode")
        print(len(memory.recall("zebra")), flush=True)
        memory.close()
    """
    out, _ = child(code, tmp_path / "m.db").communicate(timeout=60)
    assert out.split() == ["1", "None", "2"]


def test_an_interrupt_in_the_middle_of_a_write_leaves_nothing_half_done(slow):
    slow.loads_s = 30
    with Memory(":memory:", embedder=slow) as memory:
        timer = threading.Timer(
            0.1, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        )
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            memory.add_many({"text": f"gate {n}", "type": "episode"} for n in range(500))
        timer.join()
        assert memory.search() == []
        slow.held.set()
        memory.add("the canteen is shut", "episode")
        assert memory.wait()
        assert memory.recall("cafeteria").hits


class Squeezed:
    """Random directions per word, and one that all texts share: their cosines lie between `low` and 1, as e5's do."""

    name, dim, quick = "squeezed", 65, True

    def __init__(self, low):
        self.low = low

    def embed(self, texts, kind="record"):
        rows = np.zeros((len(texts), 65))
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                seed = sum(ord(letter) * 31**n for n, letter in enumerate(SAME_AS.get(word, word)))
                row[:64] += np.random.default_rng(seed).standard_normal(64)
        rows *= np.sqrt(1 - self.low) / np.linalg.norm(rows, axis=1, keepdims=True)
        rows[:, 64] = np.sqrt(self.low)
        return rows


@pytest.mark.parametrize("low", [0.0, 0.4, 0.8])
def test_an_embedder_that_does_not_say_how_its_cosines_lie_is_measured(low):
    with Memory(":memory:", embedder=Squeezed(low)) as memory:
        memory.add_many(
            {"text": f"{one} {two}", "type": "episode"} for one in WORDS for two in WORDS if one != two
        )
        unrelated, same, trust = memory._embedding.scale(56)
        assert low <= unrelated < same <= 1.05
        assert trust > 0.3  # half of a text is one word here, which fourteen texts hold
        assert not memory.recall(
            "telescope orbit"
        ).hits  # nothing like it: its cosine is one of unrelated texts
        best = memory.recall("harbour cafeteria", threshold=0).hits[0]
        assert set(best.record.text.split()) == {"harbour", "canteen"}


def test_a_call_that_is_slow_by_itself_does_not_make_batches_of_one():
    """A question alone pays for the whole call; what records wait for is the batch."""
    caller = calling.Caller(embed.Hashing())
    caller.each_s = 2.0
    assert caller.size() == calling.SMALLEST > 1
    caller.each_s = 1e-6
    assert caller.size() == calling.LARGEST
