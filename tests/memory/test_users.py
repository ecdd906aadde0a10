"""A canary of another user must not show on any path that reads, and no write may touch it."""

import contextlib
import json

import pytest

from agent_nb.errors import AgentError
from agent_nb.memory import Memory
from agent_nb.tools.memory_tools import memory_tools
from agent_nb.tools.tool import Toolbox

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
    "memo": lambda m, r, p: m.memo(budget=10_000),
    "browse": lambda m, r, p: [m.browse(), m.browse("hint"), m.browse("xyzzy"), m.browse(r.id[:8])],
    "graph": lambda m, r, p: [m.graph(), m.graph("shellfish"), m.graph("user")],
    "what binds an answer": lambda m, r, p: (lambda x: (x.hits, x.text))(
        m.recall("what should I eat tonight?")
    ),
    "synonyms": lambda m, r, p: m.synonyms(),
    "recall by a synonym": lambda m, r, p: (lambda x: (x.hits, x.gates))(m.recall("zork?", threshold=0)),
    "queue": lambda m, r, p: m.queue(),
    "open_question": lambda m, r, p: m.open_question(),
    "ledger": lambda m, r, p: (
        m.ledger(p / "live.md"),
        m.add("and the sun shines"),
        m.close(),
        (p / "live.md").read_text(),
    )[3],
    "check": lambda m, r, p: m.check(),
    "dry consolidation": lambda m, r, p: m.consolidate(goal="fine?", answer="fine", done=True, dry_run=True),
    "recall_memory": lambda m, r, p: called(m, "recall_memory", {"query": "canary hint xyzzy", "k": 15}),
}
WRITES = {  # what is tested below, or in a file of its own
    "add", "add_many", "add_synonym", "remove_synonym", "edit", "forget", "erase", "resolve", "undo", "drop", "retry",
    "mark_used", "import_", "consolidate", "distil", "answer", "decay", "join",
}  # fmt: skip
NOBODYS = {"close", "wait", "warm", "backup", "repair"}
"""These speak of no record: backups and repairs are of the whole file, whoever may read it."""


def called(memory, name, arguments):
    """What a model is given of a memory tool."""
    (tool,) = [tool for tool in memory_tools(memory) if tool.name == name]
    return Toolbox([tool]).run("1", name, arguments).content


@pytest.fixture(params=["m.db", "m.db hashing", "m.pkl", "postgresql"])
def pair(tmp_path, request):
    name, _, embedder = request.param.partition(" ")
    where = request.getfixturevalue("database") if name == "postgresql" else tmp_path / name
    with (
        Memory(where, user="ana", embedder=embedder or None) as ana,
        Memory(where, user="bob", embedder=embedder or None) as bob,
    ):
        yield ana, bob


def test_every_public_name_of_a_memory_is_watched():
    public = {name for name in dir(Memory) if not name.startswith("_")}
    watched = {name for way in WAYS.values() for name in way.__code__.co_names} | WRITES | NOBODYS
    assert public <= watched, (
        f"{sorted(public - watched)} may show or change what is another user's: add a way to WAYS, or to WRITES with"
        " a test below"
    )


@pytest.mark.parametrize("way", WAYS)
def test_no_path_shows_another_users_memory(pair, tmp_path, way):
    ana, bob = pair
    record = ana.add(CANARY)
    ana.add("the canary password hint is plugh", source="tool")
    ana.add("I am allergic to shellfish, says the canary.")
    ana.add_synonym("zork", "canary")
    ana.consolidate(goal="Remember the canary xyzzy", answer="It is plugh.", done=True, queued=True)
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
    if ana.where.startswith("postgresql"):
        return  # there no user sees which ids others have: an id is unique among a user's own
    assert not {r["id"] for r in before} & {r.id for r in bob.search() + bob.search(status="superseded")}


def test_an_import_cannot_name_its_user(pair, tmp_path):
    ana, bob = pair
    row = ana.add("a b c").to_dict() | {"id": "mforged", "user": "ana", "text": "forged canary"}
    (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n")
    bob.import_(tmp_path / "x.jsonl")
    assert ana.search("forged") == []
    assert [record.user for record in bob.search("forged")] == ["bob"]


@pytest.mark.parametrize(
    "change",
    ["edit", "forget", "erase", "erase in any state", "resolve", "undo", "mark_used", "forget_memory"],
)
def test_no_write_reaches_another_users_memory(pair, change):
    ana, bob = pair
    record = ana.add(CANARY)
    ways = {
        "edit": lambda: bob.edit(record.id, "x"),
        "forget": lambda: bob.forget(record.id),
        "erase": lambda: bob.forget(record.id, erase=True),
        "erase in any state": lambda: bob.erase(record.id),
        "resolve": lambda: bob.resolve(record.id, "drop"),
        "undo": lambda: bob.undo(record.id),
        "forget_memory": lambda: called(bob, "forget_memory", {"id": record.id}),
        "mark_used": lambda: bob.mark_used([record.id]),
    }
    ana.mark_used([record.id])
    record = ana.get(record.id)
    if change in ("mark_used", "forget_memory"):
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


def test_another_users_queue_settings_and_names_stay_as_they_are(pair):
    ana, bob = pair
    ana.consolidate(goal="Remember the canary xyzzy", answer="It is plugh.", done=True, queued=True)
    ana.add_synonym("zork", "canary")
    (waiting,) = ana.queue()
    bob.decay = "fast"
    assert bob.remove_synonym("zork") == 0
    for change in (bob.drop, bob.retry):
        with contextlib.suppress(AgentError):
            change(waiting["n"])
    bob.distil(lambda prompt: "[]")
    assert ana.queue() == [waiting]
    assert (ana.decay, bob.decay) == (0.07, 0.15)
    assert ana.synonyms() == [("zork", "canary")]
    waiting_for = ana.add("the canary password hint is plugh")
    ana.add("the canary password hint is quux", source="tool")
    assert not bob.answer("the new one")
    assert ana.get(waiting_for.id).status == "active"
