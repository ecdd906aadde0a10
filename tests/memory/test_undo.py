"""Every change of a memory can be taken back, in a later process too, and nothing of what was erased stays."""

import pytest

from agent_nb.errors import AgentError
from agent_nb.memory import Memory

OLD, NEW = "the refund window is 14 days", "customers can return goods within 30 days"
REWORDED = "refunds are possible: the refund window is two weeks"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.db"


def open_(path):
    return Memory(path, embedder="hashing")


def texts(memory):
    return sorted(record.text for record in memory.search())


def test_a_supersede_is_taken_back(path):
    with open_(path) as memory:
        old, new = memory.add(OLD), memory.add(NEW)
        assert texts(memory) == [NEW]
    with open_(path) as memory:
        assert memory.undo(new.id).id == old.id
        assert texts(memory) == [OLD]
        assert memory.get(new.id).status == "revoked"
        assert [hit.record.id for hit in memory.recall("how long is the refund window?")] == [old.id]
        with pytest.raises(AgentError):
            memory.undo(new.id)


def test_the_old_ones_id_takes_it_back_too(path):
    with open_(path) as memory:
        old = memory.add(OLD)
        memory.add(NEW)
        assert memory.undo(old.id).status == "active"
        assert texts(memory) == [OLD]


@pytest.mark.parametrize("again", [OLD, "The refund window is two weeks"])
def test_a_merge_is_taken_back(path, again):
    with open_(path) as memory:
        first = memory.add(OLD)
        merged = memory.add(again)
        assert (merged.id, merged.mentions) == (first.id, 2)
    with open_(path) as memory:
        assert memory.undo(first.id).mentions == 1
        assert texts(memory) == sorted({OLD, again})
        assert [hit.record.text for hit in memory.recall(again, k=1)] == [again]


def test_an_edit_a_forget_and_a_verdict_are_taken_back(path):
    with open_(path) as memory:
        old = memory.add(OLD)
        new = memory.edit(old.id, "the refund window is 60 days")
        memory.undo(new.id)
        assert texts(memory) == [OLD]
        memory.forget(old.id)
        assert texts(memory) == []
        memory.undo(old.id)
        assert texts(memory) == [OLD]
        waits = memory.add(NEW, source="tool")
        memory.resolve(waits.id, "keep")
        assert texts(memory) == [NEW]
        assert memory.undo(waits.id).status == "pending"
        assert texts(memory) == [OLD]


def test_what_was_changed_again_is_taken_back_in_order(path):
    with open_(path) as memory:
        ids = [memory.add(f"the refund window is {n} days").id for n in (14, 30, 60)]
        with pytest.raises(AgentError, match=ids[1]):
            memory.undo(ids[0])
        memory.undo(ids[2])
        memory.undo(ids[1])
        assert [record.id for record in memory.search()] == ids[:1]


def test_a_use_in_between_still_counts(path):
    with open_(path) as memory:
        old, new = memory.add(OLD), memory.add(NEW)
        memory.mark_used([old.id])
        assert memory.undo(new.id).hits == 1


def test_nothing_of_an_erased_memory_stays_to_be_taken_back(path):
    with open_(path) as memory:
        first = memory.add("the zyzzyva limit is 14 days")
        memory.add("The zyzzyva limit is two weeks")
        memory.add("the zyzzyva limit is 30 days")
        memory.forget(first.id, erase=True)
        with pytest.raises(AgentError):
            memory.undo(first.id)
    assert b"zyzzyva" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_another_users_change_cannot_be_taken_back(path):
    with Memory(path, "ana", None) as ana, Memory(path, "bob", None) as bob:
        ana.add(OLD)
        new = ana.add(NEW)
        with pytest.raises(AgentError):
            bob.undo(new.id)
        assert texts(ana) == [NEW]


def test_a_limit_on_when_it_holds_is_doubted_not_decided(path):
    with open_(path) as memory:
        memory.add(OLD)
        doubted = memory.add("the refund window is 30 days for members")
        assert doubted.status == "pending"
        assert texts(memory) == [OLD]
        assert [row["against_text"] for row in memory.conflicts()] == [OLD]
