"""What the inspector answers to its page: rows, records, changes and drawings; hostile text stays text."""

import json

import pytest
from html_check import Checked

from agent_nb import Memory
from agent_nb.notebook.inspector import Inspector, first_page, graph_html, look, saved_html, waiting
from agent_nb.notebook.views.record import PAGE_CHARS

EVIL = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>{{7*7}}${x}</summary></details>\u202e\x00"


@pytest.fixture
def memory():
    with Memory(":memory:", embedder=None) as made:
        yield made


@pytest.fixture
def ask(memory):
    desk = Inspector(memory)

    def ask(type, **fields):
        told = desk.answer({"type": type, "seq": 7, **fields})
        assert (told["type"], told["seq"]) == (type, 7)
        json.dumps(told)
        return told

    return ask


def drawn(told):
    assert "error" not in told, told
    return Checked(told["html"], live=True, pictures=True).text


def test_rows_come_page_by_page_and_by_what_is_wanted(memory, ask):
    memory.add_many({"text": f"Gate {i} was closed.", "type": "episode"} for i in range(120))
    memory.add("A flight is late when its delay is over 15 minutes.")
    told = ask("find", **{"from": 100, "count": 50})
    assert (told["total"], told["of"], told["from"], len(told["rows"])) == (121, 121, 100, 21)
    (row,) = ask("find", text="late", kind="fact", status="active", days="30")["rows"]
    assert row["text"] == "A flight is late when its delay is over 15 minutes."
    assert ask("find", kind="song")["error"].startswith("the type is 'song'")
    assert len(ask("find", count=10**9)["rows"]) == 121


def test_a_record_is_opened_edited_forgotten_and_taken_back(memory, ask):
    old = memory.add("A flight is late when its delay is over 10 minutes.")
    told = ask("open", id=old.id)
    assert told["can"] == ["edit", "forget", "undo"]
    assert "history" not in drawn(told)
    new = ask("edit", id=old.id, text=" A flight is late when its delay is over 15 minutes. ")["changed"]
    told = ask("open", id=new)
    assert told["text"] == "A flight is late when its delay is over 15 minutes."
    assert "2 versions" in drawn(told)
    assert "over 10 minutes" in drawn(told)
    assert "Forgotten" in ask("forget", id=new)["said"]
    assert ask("open", id=new)["can"] == ["undo"]
    assert memory.get(new).status == "revoked"
    ask("undo", id=new)
    assert memory.get(new).status == "active"
    assert "error" in ask("edit", id=new, text="   ")
    assert "nothing was done" in ask("undo", id="m0000000000")["error"]
    assert "no memory m1" in ask("open", id="m1")["error"]


@pytest.mark.parametrize(
    ("verdict", "texts"), [("keep", {"Monday"}), ("drop", {"Friday"}), ("both", {"Friday", "Monday"})]
)
def test_conflicts_are_shown_and_settled(memory, ask, verdict, texts):
    memory.add("The deadline is Friday.")
    memory.add("The deadline is Monday.", source="tool")
    (row,) = ask("conflicts")["rows"]
    text = Checked(row["html"], live=True).text
    assert "Friday" in text
    assert "Monday" in text
    assert ask("open", id=row["id"])["can"] == ["resolve", "undo"]
    assert "keep, drop or both" in ask("resolve", id=row["id"], verdict="maybe")["error"]
    ask("resolve", id=row["id"], verdict=verdict)
    assert {r.text.split()[-1].rstrip(".") for r in memory.search()} == texts
    assert ask("conflicts")["rows"] == []


def test_recall_why_and_graph_are_drawn(memory, ask):
    record = memory.add("A flight is late when its delay is over 15 minutes.")
    memory.add("I don't like coffee.", "preference")
    text = drawn(ask("recall", text="when is a flight late?"))
    for words in (
        "1 query",
        "2 candidates",
        "3 score",
        "4 budget",
        "threshold 0.35",
        record.id,
        "600 tokens",
    ):
        assert words in text, words
    assert "Nothing in memory is close enough." in drawn(ask("recall", text="zebra"))
    text = drawn(ask("why", text="when is a flight late?"))
    assert "✓ written → ✓ recalled" in text
    assert "✗ written" in drawn(ask("why", text="how tall is a zebra?"))
    assert "coffee" in drawn(ask("graph"))
    assert "Nothing is linked to zebra." in drawn(ask("graph", text="zebra"))


def test_a_team_s_records_are_looked_at_and_left_alone(tmp_path):
    with Memory(tmp_path / "m.db", "ana", embedder=None, team="sales") as memory:
        record = memory.add("The team meets at nine.", scope="team")
        desk = Inspector(memory)
        told = desk.answer({"type": "open", "id": record.id})
        assert told["can"] == []
        assert "team sales" in told["html"]
        assert desk.answer({"type": "find"})["team"] is True
        assert "team sales's" in desk.answer({"type": "forget", "id": record.id})["error"]
    with Memory(tmp_path / "m.db", "ben", embedder=None) as other:
        assert "no memory" in Inspector(other).answer({"type": "open", "id": record.id})["error"]


def test_whatever_breaks_is_a_line_for_the_page(memory, ask, monkeypatch):
    assert "run the cell again" in ask("explode")["error"]
    assert Inspector(memory).answer({})["error"]
    assert "error" in ask("find", **{"from": "x"})
    monkeypatch.setattr(memory, "history", lambda id: 1 / 0)
    record = memory.add("One thing.")
    assert "division by zero" in ask("open", id=record.id)["error"]
    assert "division by zero" in look(memory)(record.id)
    assert "no memory" in look(memory)("m1")


def test_hostile_text_stays_text_in_every_field(memory, ask):
    memory.add(
        f"{EVIL} is late",
        tags=[EVIL],
        entities=[EVIL],
        evidence=[{"text": EVIL, "source": EVIL, EVIL: 1}],
        session=EVIL,
    )
    memory.add(f"The deadline of {EVIL} is Friday.")
    memory.add(f"The deadline of {EVIL} is Monday.", source="tool")
    memory.add("I don't like <b onclick=alert(1)>coffee</b>.", "preference")
    pages = [ask("open", id=r.id)["html"] for s in ("active", "pending") for r in memory.search(status=s)]
    pages += [ask(type, text=EVIL).get("html", "") for type in ("recall", "why", "graph")]
    pages += [ask("graph")["html"], graph_html(memory.graph())]
    pages += [row["html"] for row in ask("conflicts")["rows"]]
    pages += [saved_html(memory, EVIL, first_page(memory))]
    for page in pages:
        Checked(page, live=True, pictures="<svg" in page)
    assert all(
        set(row) == {"id", "text", "scope", "hits", "type", "status", "day"} for row in ask("find")["rows"]
    )


def test_the_saved_page_is_bounded_and_says_what_it_leaves_out(memory):
    memory.add_many({"text": f"{i} " + "很长 <text> " * 800, "type": "episode"} for i in range(36))
    page = saved_html(memory, "memory of ana", first_page(memory))
    assert len(page) < PAGE_CHARS + 20_000
    text = Checked(page).text
    assert "of 36; %memory search WORDS finds the others" in text
    assert "first 8,000 of" in text
    assert "%memory show ID" in text


def test_what_waits_is_listed_once(memory):
    memory.add("The deadline is Friday.")
    memory.add("The deadline is Monday.", source="tool")
    ((new, old),) = waiting(memory)
    assert (new.status, [r.status for r in old]) == ("pending", ["active"])
