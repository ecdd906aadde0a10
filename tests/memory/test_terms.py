"""A store that an older tokeniser wrote is searched with the terms of this one."""

import json

import pytest

from agent_nb.memory import Memory


def age(memory):
    """As if an older version had written it: other terms and keys, and its number."""
    with memory._store.writing(memory.user) as db:
        db.execute("UPDATE records SET terms='[\"old\"]', key='' WHERE user=?", (memory.user,))
        db.execute("UPDATE changes SET tokens=1 WHERE user=?", (memory.user,))


def stored(memory):
    with memory._store.reading() as db:
        return [json.loads(row[0]) for row in db.execute("SELECT terms FROM records ORDER BY n")]


@pytest.mark.parametrize("name", ["m.db", "m.pkl"])
@pytest.mark.parametrize("first", ["recall", "add"])
def test_old_terms_are_made_anew_at_the_first_use(tmp_path, name, first):
    with Memory(tmp_path / name, embedder=None) as memory:
        memory.add("会员的退款期限是30天")
        memory.add("zebra crossing", "episode")
        right = stored(memory)
        age(memory)
    with Memory(tmp_path / name, embedder=None) as memory:
        if first == "add":
            memory.add("会员的退款期限是14天")
            assert memory.stats()["superseded"] == 1  # the key was made anew before the new record was placed
        assert memory.recall("zebra").hits
        assert stored(memory)[:2] == right


def test_an_open_index_of_another_process_follows(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as one, Memory(tmp_path / "m.db", embedder=None) as two:
        one.add("zebra crossing", "episode")
        assert two.recall("zebra").hits
        age(one)
        assert one.recall("zebra").hits
        assert two.recall("zebra").hits


def test_what_this_version_wrote_is_not_made_again(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.add("zebra crossing", "episode")
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        changes = "SELECT n FROM changes"
        with memory._store.reading() as db:
            before = db.execute(changes).fetchone()
        assert memory.recall("zebra").hits
        with memory._store.reading() as db:
            assert db.execute(changes).fetchone() == before
