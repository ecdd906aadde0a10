"""The turn before a turn is embedded together with it: which one, when, and what becomes of it when it is erased."""

import numpy as np
import pytest

from agent_nb.memory import Memory, draft

TALK = [
    ("mon", "Ana: Shall we take the ferry to the island?"),
    ("tue", "Bo: The printer is out of paper."),
    ("mon", "Bo: Yes, at noon."),
    ("", "Cy: A note that belongs to no session."),
    ("mon", "Ana: Good."),
    ("tue", "Cy: I will bring some."),
]


class Seen:
    """An embedder that remembers what it read."""

    dim, unrelated, same = 16, 0.1, 0.9

    def __init__(self, name="seen", quick=True):
        self.name, self.quick, self.texts = name, quick, []

    def embed(self, texts, kind="record"):
        if kind == "record":
            self.texts += texts
        rows = np.array(
            [[1 + sum(map(ord, text[i::16])) % 97 for i in range(16)] for text in texts], np.float32
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def rows():
    return [{"text": text, "type": "episode", "session": session} for session, text in TALK]


def expected():
    last, found = {}, []
    for session, text in TALK:
        turn = f"{last[session]}\n{text}" if session and session in last else text
        last[session] = text
        found.append(f"{turn} (episode)")
    return found


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("together", [True, False])
def test_a_turn_is_embedded_behind_the_one_before_it_in_its_session(quick, together):
    seen = Seen(quick=quick)
    with Memory(":memory:", embedder=seen) as memory:
        if together:
            memory.add_many(rows())
        else:
            for row in rows():
                memory.add(**row)
        assert memory.wait()
    assert set(seen.texts) - {"the first text loads the weights"} == set(expected())


def test_one_that_is_embedded_later_gets_the_same_text(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.add_many(rows())
    with Memory(tmp_path / "m.db", user="other", embedder=None) as memory:
        memory.add("Zed: what another user said in a session of that name", "episode", session="mon")
    later = Seen(quick=False)
    with Memory(tmp_path / "m.db", embedder=later) as memory:
        memory.recall("ferry")
        assert memory.wait()
    assert set(later.texts) == set(expected())


def test_facts_and_long_turns_stand_for_themselves():
    seen = Seen()
    with Memory(":memory:", embedder=seen) as memory:
        memory.add("Ana: Shall we go?", "episode", session="mon")
        memory.add("The ferry sails at noon", "fact", session="mon")
        long = memory.add("One more line of the minutes. " * 300, "episode", session="mon")
        assert memory.wait()
    assert "The ferry sails at noon (fact)" in seen.texts
    assert set(draft.embedded_of(long)) <= set(seen.texts)
    assert not any("Shall we go?\n" in text for text in seen.texts)


def test_what_is_erased_is_no_part_of_what_came_behind_it():
    seen = Seen()
    with Memory(":memory:", embedder=seen) as memory:
        first, second, third = (
            memory.add(text, "episode", session="mon")
            for text in ("Ana: the flamingo code", "Bo: Yes.", "Cy: Good.")
        )
        del seen.texts[:]
        memory.forget(first.id, erase=True)
        memory.recall("good")
        memory._embedding.look()
        assert memory.wait()
        assert seen.texts == ["Bo: Yes. (episode)"]
        with memory._store.reading() as db:
            kept = dict(db.execute("SELECT id, vector FROM records").fetchall())
        assert kept[second.id] == seen.embed(["Bo: Yes. (episode)"])[0].tobytes()
        assert kept[third.id] == seen.embed(["Bo: Yes.\nCy: Good. (episode)"])[0].tobytes()
