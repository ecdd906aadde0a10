"""Snapshots: the same answers, opened at once; gone with what is erased; never believed when they are not right."""

import os
import shutil
import stat
import threading

import numpy as np
import pytest

from agent_nb.memory import Memory, block, snapshot, store, vectors
from agent_nb.memory.index import Index


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A block from 20 records on."""
    monkeypatch.setattr(Index, "bulk", 20)
    monkeypatch.setattr(vectors, "ENOUGH", 10)


class Toy:
    quick = True

    def __init__(self, name="toy", dim=64):
        self.name, self.dim = name, dim

    def embed(self, texts, kind="record"):
        rows = np.stack(
            [np.random.default_rng(len(t) * 7 + sum(map(ord, t))).standard_normal(self.dim) for t in texts]
        )
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


QUESTIONS = ["zebra 7 in the herd", "Ana lion", "nothing of this", "the limit of gate 3"]


def fill(memory, count=60):
    rows = [
        {"text": f"zebra {n} in herd{n % 7}", "type": "episode", "session": f"s{n % 5}"} for n in range(count)
    ]
    rows += [{"text": f"the limit of gate {n} is {n + 10}"} for n in range(5)]
    return memory.add_many(rows)


def answers(memory):
    return [
        [(h.record.id, round(h.similarity, 3)) for h in memory.recall(q, 20, 10**6, threshold=0)]
        for q in QUESTIONS
    ]


def files(path):
    folder = path.with_name(path.name + "-recall")
    return sorted(folder.iterdir()) if folder.exists() else []


def opened(path, embedder="toy", user="default"):
    return Memory(path, user=user, embedder=Toy(embedder) if embedder else None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.db"


def never(*_):
    raise AssertionError("a block was made anew")


def test_a_store_that_was_closed_opens_from_its_snapshot_and_answers_the_same(path, monkeypatch):
    with opened(path) as memory:
        fill(memory)
        before = answers(memory)
    assert len(files(path)) == 1
    monkeypatch.setattr(block, "build", never)
    with opened(path) as memory:
        assert answers(memory) == before
        record = memory.add("a lion among zebras", "episode")
        assert record.id in [id for id, _ in answers(memory)[1]]
        memory.forget(record.id)
        assert answers(memory) == before


def test_writes_without_a_recall_leave_a_snapshot_too(path, monkeypatch):
    with opened(path) as memory:
        fill(memory)
    monkeypatch.setattr(block, "build", never)
    with opened(path) as memory:
        assert len(memory.recall("zebra", k=3)) == 3


def test_they_are_private(path):
    with opened(path) as memory:
        fill(memory)
    (file,) = files(path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "default" not in file.name


def test_what_is_erased_is_in_no_snapshot_from_that_moment_on(path):
    with opened(path) as memory:
        records = fill(memory)
        answers(memory)
        memory._index._snapshots.wait()
        assert files(path)
        with opened(path) as other:
            other.forget(records[3].id, erase=True)
            assert files(path) == []
        for one in (memory, opened(path)):
            assert records[3].id not in {id for row in answers(one) for id, _ in row}
            one.close()


@pytest.mark.parametrize("when", ["before it is written", "before it is put in place"])
def test_a_snapshot_of_before_an_erasure_is_never_put_in_place_after_it(path, monkeypatch, when):
    go, there = threading.Event(), threading.Event()
    name = "_dump" if when.startswith("before it is w") else "witnessed"
    place = snapshot if name == "_dump" else snapshot.Snapshots
    name = name if name == "_dump" else "_publish"
    real = getattr(place, name)

    def slow(*arguments):
        there.set()
        assert go.wait(20)
        return real(*arguments)

    monkeypatch.setattr(place, name, slow)
    memory = opened(path)
    records = fill(memory)
    memory._index._snapshots.idle or there.wait(20)
    answers_of = threading.Thread(target=memory._index._snapshots.wait)
    answers_of.start()
    with opened(path) as other:
        other.forget(records[3].id, erase=True)
    go.set()
    answers_of.join()
    assert files(path) == []
    memory.close()


def test_another_user_or_embedder_never_gets_it(path):
    with opened(path) as memory:
        fill(memory)
    (mine,) = files(path)
    with opened(path, user="bob") as bob:
        fill(bob, 30)
        bob._index._snapshots.wait()
        theirs = next(f for f in files(path) if f != mine)
        shutil.copy(mine, theirs)
    with opened(path, user="bob") as bob:
        assert {h.record.user for h in bob.recall("zebra", k=50, budget=10**6, threshold=0)} == {"bob"}
    for embedder in ("other", None):
        shutil.copy(mine, store.snapshot_file(path, "default", embedder or "", 1))
        with opened(path, embedder) as memory:
            assert len(memory.recall("zebra", k=3)) == 3
            assert memory._index.vectors is None or memory._index.vectors.dim == 64


@pytest.mark.parametrize(
    "harm", ["empty", "cut", "text", "head", "middle", "end", "zeros", "longer", "folder"]
)
def test_a_damaged_one_is_passed_over_and_made_anew(path, harm):
    with opened(path) as memory:
        fill(memory)
        before = answers(memory)
    (file,) = files(path)
    raw = bytearray(file.read_bytes())
    if harm == "folder":
        file.unlink()
        file.mkdir()
    else:
        at = {"head": 40, "middle": len(raw) // 2, "end": len(raw) - 200}.get(harm)
        if at is not None:
            raw[at] ^= 0x41
        changed = {
            "empty": b"",
            "cut": raw[:-64],
            "text": b"hello",
            "zeros": bytes(len(raw)),
            "longer": raw + raw,
        }
        file.write_bytes(changed.get(harm, raw))
    with opened(path) as memory:
        assert answers(memory) == before


def test_one_of_another_time_line_is_passed_over(path, tmp_path):
    with opened(path) as memory:
        fill(memory)
    shutil.copy(path, tmp_path / "backup.db")
    with opened(path) as memory:
        memory.add_many({"text": f"lion {n}", "type": "episode"} for n in range(30))
        memory.recall("lion")
    assert files(path)
    shutil.copy(
        tmp_path / "backup.db", path
    )  # restored, and written to until its counter is beyond the old one's
    with opened(path, None) as memory:
        for n in range(5):
            memory.add(f"tiger {n}", "episode")
    with opened(path) as memory:
        found = [h.record.text for h in memory.recall("lion tiger", k=50, budget=10**6, threshold=0)]
        assert sum("tiger" in text for text in found) == 5
        assert not any("lion" in text for text in found)


def test_a_disk_that_takes_no_snapshot_is_not_heard_of(path, monkeypatch):
    def full(*_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(snapshot, "_dump", full)
    with opened(path) as memory:
        fill(memory)
        before = answers(memory)
        assert answers(memory) == before
    assert files(path) == []


def test_a_process_that_is_killed_while_it_writes_leaves_the_old_one(path):
    with opened(path) as memory:
        fill(memory)
        before = answers(memory)
    (file,) = files(path)
    part = file.with_name(file.stem + "-1-1.part")
    part.write_bytes(file.read_bytes()[:1000])
    with opened(path) as memory:
        assert answers(memory) == before
        memory.forget(memory.search()[0].id, erase=True)
    assert part not in files(path)  # what is erased is not left in halves either


def test_much_that_is_new_goes_into_a_new_one_in_the_background(path):
    with opened(path) as memory:
        fill(memory)
        answers(memory)
        memory._index._snapshots.wait()
        first = files(path)
        for n in range(40):
            memory.add(f"lion {n} in the grass", "episode")
        before = answers(memory)
        memory._index._snapshots.wait()
        assert answers(memory) == before
        memory._index._snapshots.wait()
        assert len(files(path)) == 1
        assert files(path) != first
        assert memory._index._block > 65


@pytest.mark.parametrize("at", range(0, 60, 3))
def test_an_interrupt_at_any_moment_leaves_no_half_index(path, at, monkeypatch):
    with opened(path) as memory:
        fill(memory)
        memory.recall("zebra")
        with opened(path) as other:
            new = [r.id for r in other.add_many({"text": f"lion {n}", "type": "episode"} for n in range(20))]
        calls = iter(range(10**6))
        real = Index._add

        def interrupted(self, *arguments):
            if next(calls) == at // 3:
                real(self, *arguments)
                raise KeyboardInterrupt
            return real(self, *arguments)

        monkeypatch.setattr(Index, "_add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.recall("lion")
        monkeypatch.undo()
        assert {h.record.id for h in memory.recall("lion", k=50, threshold=0, budget=10**6)} >= set(new)
        size = memory._index.active
        memory._index.clear()
        memory.recall("lion")
        assert memory._index.active == size


def test_none_is_made_for_a_store_in_memory_or_in_a_pickle(tmp_path):
    for where in (":memory:", tmp_path / "m.pkl"):
        with Memory(where, embedder=Toy()) as memory:
            fill(memory)
            memory.recall("zebra")
    assert {name for name in os.listdir(tmp_path) if "recall" in name} == set()
