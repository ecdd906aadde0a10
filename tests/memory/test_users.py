"""A canary of another user must not show on any path that reads, and no write may touch it."""

import json

import pytest

from agent_nb.errors import AgentError
from agent_nb.memory import Memory

CANARY = "the canary password hint is xyzzy"
WAYS = {
    "search": lambda m, r, p: m.search(),
    "search by words": lambda m, r, p: m.search("canary"),
    "search by status": lambda m, r, p: [m.search(status=s) for s in ("active", "superseded", "pending")],
    "search by id": lambda m, r, p: m.search(id=r.id),
    "search by user": lambda m, r, p: m.search(user="ana"),
    "recall": lambda m, r, p: (lambda x: (x.hits, x.text, x.gates))(m.recall(CANARY, k=50, threshold=0)),
    "get": lambda m, r, p: m.get(r.id),
    "history": lambda m, r, p: m.history(r.id),
    "conflicts": lambda m, r, p: m.conflicts(),
    "log": lambda m, r, p: m.log(),
    "stats": lambda m, r, p: {**m.stats(), "where": ""},
    "why": lambda m, r, p: m.why("canary xyzzy?").records,
    "expire": lambda m, r, p: m.expire(dry_run=True),
    "export": lambda m, r, p: (m.export(p / "out.jsonl"), (p / "out.jsonl").read_text())[1],
    "export as Markdown": lambda m, r, p: (m.export(p / "out.md"), (p / "out.md").read_text())[1],
}


@pytest.fixture(params=[None, "hashing"])
def pair(tmp_path, request):
    with (
        Memory(tmp_path / "m.db", user="ana", embedder=request.param) as ana,
        Memory(tmp_path / "m.db", user="bob", embedder=request.param) as bob,
    ):
        yield ana, bob


@pytest.mark.parametrize("way", WAYS)
def test_no_path_shows_another_users_memory(pair, tmp_path, way):
    ana, bob = pair
    record = ana.add(CANARY)
    ana.add("the canary password hint is plugh", source="tool")
    bob.add("the weather is fine")
    shown = repr(WAYS[way](bob, record, tmp_path))
    for secret in (record.id, "canary", "xyzzy", "plugh"):
        assert secret not in shown


def test_the_same_text_and_a_contradiction_of_another_user_are_ones_own(pair):
    ana, bob = pair
    hers = ana.add("the refund window is 14 days")
    same = bob.add("the refund window is 14 days")
    assert (same.mentions, same.id == hers.id) == (1, False)
    bob.add("the refund window is 30 days")
    assert ana.get(hers.id).to_dict() == hers.to_dict()
    assert ana.search() == [hers]


def test_an_import_of_another_users_export_is_a_copy(pair, tmp_path):
    ana, bob = pair
    old = ana.add("the refund window is 14 days")
    ana.edit(old.id, "the refund window is 30 days")
    before = [record.to_dict() for record in ana.history(old.id)]
    ana.export(tmp_path / "ana.jsonl")
    bob.import_(tmp_path / "ana.jsonl")
    assert [record.to_dict() for record in ana.history(old.id)] == before
    assert {record.user for record in bob.search() + bob.search(status="superseded")} == {"bob"}
    assert not {r["id"] for r in before} & {r.id for r in bob.search() + bob.search(status="superseded")}


def test_an_import_cannot_name_its_user(pair, tmp_path):
    ana, bob = pair
    row = ana.add("a b c").to_dict() | {"id": "mforged", "user": "ana", "text": "forged canary"}
    (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n")
    bob.import_(tmp_path / "x.jsonl")
    assert ana.search("forged") == []
    assert [record.user for record in bob.search("forged")] == ["bob"]


@pytest.mark.parametrize("change", ["edit", "forget", "erase", "resolve", "mark_used"])
def test_no_write_reaches_another_users_memory(pair, change):
    ana, bob = pair
    record = ana.add(CANARY)
    ways = {
        "edit": lambda: bob.edit(record.id, "x"),
        "forget": lambda: bob.forget(record.id),
        "erase": lambda: bob.forget(record.id, erase=True),
        "resolve": lambda: bob.resolve(record.id, "drop"),
        "mark_used": lambda: bob.mark_used([record.id]),
    }
    if change == "mark_used":
        ways[change]()
    else:
        with pytest.raises(AgentError):
            ways[change]()
    assert ana.get(record.id).to_dict() == record.to_dict()


@pytest.mark.parametrize("user", ["ana ", "ANA", "a'na", "' OR 1=1 --", "an%", "安娜"])
def test_names_that_look_alike_are_other_users(tmp_path, user):
    with Memory(tmp_path / "m.db", "ana", None) as ana, Memory(tmp_path / "m.db", user, None) as other:
        ana.add(CANARY)
        assert other.search() == []
        assert other.stats()["active"] == 0
        assert list(other.recall("canary", threshold=0)) == []
