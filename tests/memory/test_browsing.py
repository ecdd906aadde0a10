"""Looking through everything: the same records that a plain filter finds, page by page, whatever changes meanwhile."""

import datetime
import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.errors import SettingError
from agent_nb.memory import Memory
from agent_nb.memory.record import STATUSES, TYPES

WORDS = ["late", "Flight", "航班", "延误", "o'hare", "50%", "_x", "Straße"]
NOW = datetime.datetime.now(datetime.UTC)


@pytest.fixture(scope="module")
def many():
    with Memory(":memory:", embedder=None) as memory:
        rows = [
            {
                "text": f"{WORDS[i % 8]} and {WORDS[i * 3 % 7]} number {i}.",
                "type": TYPES[i % 7],
                "created": NOW - datetime.timedelta(days=i * 3 % 200, minutes=i),
            }
            for i in range(150)
        ]
        records = memory.add_many(rows)
        for record in records[::11]:
            memory.forget(record.id)
        for record in memory.search("number 1"):
            memory.edit(record.id, f"{record.text} Anew")
        yield memory


def plainly(memory, text, type, status, days):
    everything = [r for each in STATUSES for r in memory.search(status=each)]
    found = [
        r
        for r in everything
        if all(w.rstrip(".") in r.text.casefold() for w in text.casefold().split())
        and (not type or r.type == type)
        and (not status or r.status == status)
        and (not days or r.created >= NOW - datetime.timedelta(days=days, hours=1))
    ]
    return sorted(r.id for r in found)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([*WORDS, "number 1", "FLIGHT", "anew", "%", "zebra", "."]), max_size=2).map(
        " ".join
    ),
    st.sampled_from(["", *TYPES]),
    st.sampled_from(["", *STATUSES]),
    st.sampled_from([0, 1, 50, 30_000]),
    st.integers(1, 60),
)
def test_pages_hold_what_a_plain_filter_finds_each_once_the_newest_first(
    many, text, type, status, days, count
):
    asked = {"type": type, "status": status, "days": days}
    found, start = [], 0
    while (page := many.browse(text, start=start, count=count, **asked)).records:
        assert page.start == start
        found += page.records
        start += count
    assert sorted(r.id for r in found) == plainly(many, text, type, status, days)
    assert page.total == len(found)
    assert page.of >= page.total
    assert [r.created for r in found] == sorted((r.created for r in found), reverse=True)


def test_a_record_is_found_by_the_beginning_of_its_id(many):
    record = many.search()[5]
    for id in (record.id, record.id[:8], record.id.upper()):
        assert [r.id for r in many.browse(id).records] == [record.id]


def test_what_is_unknown_is_told_in_a_line(many):
    for wanted in ({"type": "song"}, {"status": "gone"}, {"scope": "others"}):
        with pytest.raises(SettingError, match="give one of"):
            many.browse(**wanted)
    assert many.browse(days=10**12).total == many.browse().total
    assert many.browse(start=-5, count=-1).records == ()
    assert many.browse(start=10**9).records == ()


def test_what_another_process_writes_changes_and_erases_is_followed(tmp_path):
    path = tmp_path / "m.db"
    with Memory(path, embedder=None) as here, Memory(path, embedder=None) as there:
        assert here.browse().of == 0
        record = there.add("The gate is A12.")
        there.add("The gate is always clean.", "experience")
        assert [r.id for r in here.browse("a12").records] == [record.id]
        new = there.edit(record.id, "The gate is B7.")
        assert here.browse("a12", status="active").total == 0
        assert [r.id for r in here.browse("gate", status="active", type="fact").records] == [new.id]
        there.forget(new.id)
        assert here.browse(status="active").total == 1
        there.erase(new.id)
        assert here.browse().of == 1


@pytest.mark.parametrize("name", ["m.db", "m.pkl"])
def test_an_erased_text_is_nowhere_in_the_catalogue(tmp_path, name):
    with Memory(tmp_path / name, embedder=None) as memory:
        record = memory.add("The locker opens with 4711 turns.")
        assert memory.browse("4711").total == 1
        memory.erase(record.id)
        gc.collect()
        assert not any("4711" in str(each) for row in memory._catalogue._rows() for each in row)
        assert memory.browse("4711").total == 0


def test_conflicts_are_counted(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        memory.add("The deadline is Friday.")
        memory.add("The deadline is Monday.", source="tool")
        (row,) = memory.conflicts()
        assert memory.browse().pending == 1
        memory.resolve(row["id"], "keep")
        assert memory.browse().pending == 0


def test_users_and_teams_are_kept_apart(tmp_path):
    path = tmp_path / "m.db"
    with (
        Memory(path, "ana", embedder=None, team="sales") as ana,
        Memory(path, "ben", embedder=None) as ben,
    ):
        ana.add("Ana likes tea.", created="2026-01-02")
        ana.add("The team meets at nine.", scope="team", created="2026-01-03")
        ana.add("Ana sits by the window.", created="2026-01-04")
        ben.add("Ben likes tea.")
        assert [r.text[:8] for r in ana.browse().records] == ["Ana sits", "The team", "Ana like"]
        assert [r.text for r in ana.browse("likes").records] == ["Ana likes tea."]
        assert ana.browse(scope="team").total == 1
        assert ana.browse(scope="own").total == 2
        assert ana.browse(start=1, count=1).records[0].text == "The team meets at nine."
        assert ana.browse().of == 3
        assert ben.browse().total == 1
