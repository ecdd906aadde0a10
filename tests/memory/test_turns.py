"""Turns of a conversation gain from what stands around them; facts never do."""

import pytest

from agent_nb.memory import Memory

TALK = ["Ana: which pottery class did you join?", "Bo: the one on Tuesdays with Carmen", "Ana: nice weather"]


@pytest.fixture
def memory():
    with Memory(":memory:", embedder=None) as opened:
        yield opened


def place(recall, text):
    return [hit.record.text for hit in recall].index(text)


def test_the_reply_to_a_question_that_matches_comes_back(memory):
    memory.add_many({"text": text, "type": "episode", "session": "s1"} for text in TALK)
    memory.add_many({"text": f"Cy: entry {n}", "type": "episode", "session": "s2"} for n in range(30))
    recall = memory.recall("pottery class", threshold=0)
    assert place(recall, TALK[1]) < 2
    assert "around" in recall.hits[place(recall, TALK[1])].reason


def test_neighbours_of_another_session_and_facts_gain_nothing(memory):
    memory.add(TALK[0], "episode", session="s1")
    memory.add(TALK[1], "episode", session="s2")
    memory.add("tea is green", "fact", session="s1")
    assert [hit.record.text for hit in memory.recall("pottery class", threshold=0)] == [TALK[0]]


def test_the_speaker_that_is_named_comes_first(memory):
    for name in ("Ana", "Bo"):
        memory.add(f"{name}: we saw a lighthouse", "episode", session="s1")
    assert memory.recall("what did Bo see at the lighthouse?").hits[0].record.text.startswith("Bo")


def test_no_similarity_leaves_its_range(memory):
    memory.add_many({"text": text * 3, "type": "episode", "session": "s1"} for text in TALK * 4)
    for question in (*TALK, "Ana Bo pottery class"):
        assert all(0 <= hit.similarity <= 1 for hit in memory.recall(question, k=20, threshold=0))
