"""What a recall asks for besides the records is read again once anybody has written."""

import pytest

from agent_nb.memory import Memory


@pytest.mark.parametrize("name", ["m.db", "m.pkl"])
def test_what_another_opening_sets_counts_at_the_next_recall(tmp_path, name):
    with (
        Memory(tmp_path / name, embedder=None) as mine,
        Memory(tmp_path / name, embedder=None) as other,
        Memory(tmp_path / name, "bob", embedder=None) as bob,
    ):
        other.add("The gross volume is counted on the day of shipping.")
        assert not mine.recall("GMV").hits
        assert not mine.recall("something to wake me up").hits
        assert mine.decay == 0.07

        bob.add_synonym("GMV", "gross volume")
        bob.decay = "fast"
        assert not mine.recall("GMV").hits
        assert mine.decay == 0.07

        other.add_synonym("GMV", "gross volume")
        assert len(mine.recall("GMV").hits) == 1
        other.decay = "slow"
        assert mine.decay == 0.02
        coffee = other.add("I am allergic to coffee.")
        assert mine.recall("something to wake me up").hits[0].record.id == coffee.id

        other.remove_synonym("GMV")
        other.forget(coffee.id)
        assert not mine.recall("GMV").hits
        assert not mine.recall("something to wake me up").hits
        assert not bob.recall("something to wake me up").hits
