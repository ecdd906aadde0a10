"""What is unused sinks, then goes; what is used stays; and no clock, however wrong, destroys anything at once."""

import datetime
import sys

import pytest

from agent_nb.errors import SettingError
from agent_nb.memory import Memory, forget

DAY = datetime.timedelta(days=1)
YEARS = 365 * DAY
UTC = datetime.UTC


class Clock:
    """A clock that a test sets; it stands in for the machine's."""

    def __init__(self, monkeypatch):
        self.offset = datetime.timedelta()
        clock = self

        class Moment(datetime.datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime.datetime.now(tz) + clock.offset

        fake = type("fake", (), {**vars(datetime), "datetime": Moment})
        for name, module in list(sys.modules.items()):
            if name.startswith("agent_nb.memory.") and getattr(module, "datetime", None) is datetime:
                monkeypatch.setattr(module, "datetime", fake)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def ids(rows, action=None):
    return {row["id"] for row in rows if action in (None, row["action"])}


@pytest.mark.parametrize(("type", "days"), [*forget.DAYS.items(), ("constraint", None), ("profile", None)])
def test_each_type_has_its_period_and_its_two_steps(type, days):
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add("gate seven shuts early", type)
        if days is None:
            assert record.expires is None
            assert memory.expire(record.recorded + 100 * YEARS) == []
            return
        assert record.expires - record.recorded == days * DAY
        assert memory.expire(record.recorded + (days - 1) * DAY) == []
        assert ids(memory.expire(record.recorded + days * DAY), "low") == {record.id}
        assert memory.expire(record.recorded + (2 * days - 1) * DAY) == []
        assert ids(memory.expire(record.recorded + 2 * days * DAY), "removed") == {record.id}
        assert memory.get(record.id) is None


@pytest.mark.parametrize(
    ("text", "question"), [("the refund window is 14 days", "refund window"), ("退货期限是14天", "退货期限")]
)
def test_low_priority_ranks_lower_and_is_found_by_its_words(text, question):
    with Memory(":memory:", embedder=None) as memory:
        old = memory.add(text)
        later = old.recorded + 200 * DAY
        (hit,) = memory.recall(question, now=later)
        assert "low" in hit.reason
        fresh = memory.recall(question, now=old.recorded + 179 * DAY).hits[0]
        assert hit.score < fresh.score
        assert memory.recall(question, now=old.recorded + 361 * DAY).gates[1]["out"]["expired"] == 1


def test_what_is_rare_ranks_lower_and_use_brings_it_back(clock):
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add("never refund twice", "constraint")
        clock.offset = 100 * DAY
        assert memory.stats()["rare"] == 1
        assert "rare" in memory.recall("refund twice").hits[0].reason
        memory.mark_used([record.id])
        assert memory.stats()["rare"] == 0
        assert "rare" not in memory.recall("refund twice").hits[0].reason


def test_superseded_and_revoked_ones_are_read_until_they_go_and_their_head_stays():
    with Memory(":memory:", embedder=None) as memory:
        old = memory.add("the refund window is 14 days", "constraint")
        head = memory.add("the refund window is 30 days", "constraint")
        memory.forget(memory.add("tea is green", "constraint").id)
        assert memory.expire(head.recorded + 179 * DAY) == []
        assert [r.id for r in memory.history(head.id)] == [old.id, head.id]
        assert len(memory.expire(head.recorded + 181 * DAY)) == 2
        assert [r.id for r in memory.history(head.id)] == [head.id]
        assert [r.id for r in memory.recall("refund window").hits[0:1] and memory.search()] == [head.id]


def test_what_was_superseded_lately_stays_however_old_it_is(clock):
    with Memory(":memory:", embedder=None) as memory:
        old = memory.add("the refund window is 14 days", "constraint")
        clock.offset = 2 * YEARS
        memory.add("the refund window is 30 days", "constraint")
        assert memory.expire() == []
        assert memory.expire(datetime.datetime.now(UTC) + 2 * YEARS + 100 * DAY) == []
        assert memory.get(old.id) is not None


def opened(path):
    memory = Memory(path, embedder=None)
    memory.recall("anything at all")
    return memory


def test_opening_runs_once_a_day_also_after_a_restart(tmp_path, clock):
    with opened(tmp_path / "m.db") as memory:
        record = memory.add("the refund window is 14 days")
    for day in (*range(0, 181, 7), 181, 181, *range(182, 370, 7)):
        clock.offset = day * DAY
        with opened(tmp_path / "m.db") as memory:
            assert [row["action"] for row in memory.log()].count("low") == (day > 180)
            assert (memory.get(record.id) is None) == (day > 362)
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        (gone,) = (row for row in memory.log() if row["action"] == "expired")
        assert "14 days" not in repr(gone)


JUMPS = [
    [3 * YEARS],
    [3 * YEARS, 6 * YEARS, 9 * YEARS],
    [3 * YEARS, 3 * YEARS + DAY, 3 * YEARS + 2 * DAY],
    [-20 * YEARS, 3 * YEARS, -20 * YEARS, 3 * YEARS + DAY],
]


@pytest.mark.parametrize("jumps", JUMPS)
@pytest.mark.parametrize("command", [False, True])
def test_a_clock_that_jumps_and_comes_back_destroys_nothing(tmp_path, clock, jumps, command):
    with opened(tmp_path / "m.db") as memory:
        kept = [memory.add("the refund window is 14 days").id, memory.add("a chat", "episode").id]
        kept += [memory.add("the refund window is 30 days").id]
        memory.forget(memory.add("tea is green").id)
    for offset in jumps:
        clock.offset = offset
        with opened(tmp_path / "m.db") as memory:
            if command:
                memory.expire()
            assert all(memory.get(id) for id in kept)
    clock.offset = DAY
    with opened(tmp_path / "m.db") as memory:
        assert memory.expire(dry_run=True) == []
        assert memory.stats()["low"] == 0
        assert [hit.record.id for hit in memory.recall("refund window")] == kept[2:]


@pytest.mark.parametrize("zone", [-12, 0, 5.75, 14])
def test_time_zones_move_no_end(zone):
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add("the refund window is 14 days")
        there = datetime.timezone(datetime.timedelta(hours=zone))
        assert memory.expire((record.expires - datetime.timedelta(seconds=2)).astimezone(there)) == []
        assert memory.expire(record.expires.astimezone(there), dry_run=True)
        assert memory.expire(record.expires.replace(tzinfo=None), dry_run=True), "no zone means UTC"


def test_saying_it_again_renews_by_the_type_that_it_keeps():
    with Memory(":memory:", embedder=None) as memory:
        memory.add("never refund twice", "constraint")
        assert memory.add("never refund twice", "fact").expires is None


@pytest.mark.parametrize(
    ("given", "rate"), [("slow", 0.02), ("normal", 0.07), ("fast", 0.15), (0, 0.0), (0.5, 0.5)]
)
def test_decay_is_a_setting_that_is_kept(tmp_path, given, rate):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        record = memory.add("the refund window is 14 days")
        memory.decay = given
    with Memory(tmp_path / "m.db", embedder=None) as memory, Memory(tmp_path / "m.db", "bob", None) as bob:
        assert memory.decay == memory.stats()["decay"] == rate
        assert bob.decay == 0.07
        (hit,) = memory.recall("refund window", now=record.recorded + 10 * DAY, threshold=0)
        assert hit.freshness == pytest.approx(2.718281828 ** (-rate * 10), abs=1e-3)


@pytest.mark.parametrize("wrong", ["quick", -1, float("nan"), float("inf"), None, True])
def test_a_decay_that_is_none_is_refused(wrong):
    with Memory(":memory:", embedder=None) as memory, pytest.raises(SettingError, match="slow, normal, fast"):
        memory.decay = wrong


def test_a_pickle_file_keeps_marks_and_settings(tmp_path):
    with Memory(tmp_path / "m.pkl", embedder=None) as memory:
        record = memory.add("the refund window is 14 days")
        memory.decay = "slow"
        memory.expire(record.expires)
    with Memory(tmp_path / "m.pkl", embedder=None) as memory:
        assert memory.decay == 0.02
        with memory._store.reading() as db:
            assert db.execute("SELECT record FROM marks").fetchall() == [(record.id,)]
