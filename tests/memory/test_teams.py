"""A team's memories: read by its members on every path, by nobody else on any, and written only explicitly."""

import json

import pytest

from agent_nb.errors import AgentError, SettingError
from agent_nb.memory import Memory
from agent_nb.tools.memory_tools import memory_tools

RULE = "the zyzzyva refund window is 14 days"
READS = {
    "search": lambda m, r, p: m.search(),
    "search by words": lambda m, r, p: m.search("zyzzyva"),
    "search by id": lambda m, r, p: m.search(id=r.id),
    "search by type": lambda m, r, p: m.search(type="constraint"),
    "recall": lambda m, r, p: (lambda x: (x.hits, x.text, x.gates))(m.recall("zyzzyva refund window")),
    "recall without a floor": lambda m, r, p: m.recall("zyzzyva", threshold=0, k=50).hits,
    "get": lambda m, r, p: m.get(r.id),
    "history": lambda m, r, p: m.history(r.id),
    "why": lambda m, r, p: m.why("how long is the zyzzyva refund window?"),
    "graph": lambda m, r, p: m.graph(),
    "graph of one": lambda m, r, p: m.graph("zyzzyva refund window"),
    "export": lambda m, r, p: (m.export(p / "x.jsonl"), (p / "x.jsonl").read_text())[1],
    "export as Markdown": lambda m, r, p: (m.export(p / "x.md"), (p / "x.md").read_text())[1],
    "tool": lambda m, r, p: memory_tools(m)[0].function("zyzzyva refund window").body,
}
OWN = {
    "stats": lambda m, r, p: {**m.stats(), "where": ""},
    "log": lambda m, r, p: m.log(),
    "conflicts": lambda m, r, p: m.conflicts(),
    "expire": lambda m, r, p: m.expire(dry_run=True),
}


@pytest.fixture(params=["db", "pkl"])
def people(tmp_path, request):
    """Two members of one team, one of another, one of none."""
    path = tmp_path / f"m.{request.param}"
    members = {"ana": "sales", "bob": "sales", "cy": "support", "di": None}
    opened = {user: Memory(path, user, None, team=team) for user, team in members.items()}
    yield opened
    for memory in opened.values():
        memory.close()


@pytest.mark.parametrize("way", READS)
def test_members_see_it_and_nobody_else_does(people, tmp_path, way):
    record = people["ana"].add(RULE, "constraint", scope="team")
    people["ana"].add("I keep a secret aardvark", "constraint")
    for user in people:
        people[user].add(f"{user} has a plain fact")
    for user in ("ana", "bob"):
        shown = repr(READS[way](people[user], record, tmp_path))
        assert "14 days" in shown or way == "graph of one"
        assert record.id in shown
    for user in ("cy", "di"):
        shown = repr(READS[way](people[user], record, tmp_path))
        assert record.id not in shown
        assert "14 days" not in shown
        assert "aardvark" not in shown
    assert "aardvark" not in repr(READS[way](people["bob"], record, tmp_path))


@pytest.mark.parametrize("way", OWN)
def test_what_tells_of_ones_own_memory_tells_of_no_other(people, tmp_path, way):
    people["ana"].add(RULE, "constraint", scope="team")
    people["ana"].add("the secret aardvark is 3", source="tool")
    for user in ("bob", "cy", "di"):
        shown = repr(OWN[way](people[user], None, tmp_path))
        assert "zyzzyva" not in shown
        assert "aardvark" not in shown
        assert ("sales" in shown) == (way == "stats" and user == "bob")


def test_the_scope_is_shown_in_the_block_the_reason_and_the_gates(people):
    record = people["ana"].add(RULE, scope="team")
    people["bob"].add("the office is in Lyon")
    recall = people["bob"].recall("zyzzyva refund window")
    assert f"{record.id} · team sales]" in recall.text
    assert recall.hits[0].reason.startswith("team sales")
    assert "team sales: 1 of 1" in recall.gates[1]["why"]
    for before, after in zip(recall.gates[1:], recall.gates[2:], strict=False):
        assert before["left"] == after["entered"]
    assert people["bob"].search("zyzzyva")[0].user == "team:sales"


def test_nothing_but_an_explicit_write_reaches_the_team(people, tmp_path):
    ana, bob = people["ana"], people["bob"]
    rule = ana.team.add(RULE)
    ana.add("x is y")
    ana.consolidate(goal="Remember: the deadline is Friday", answer="Noted.", done=True)
    ana.export(tmp_path / "all.jsonl")
    people["di"].import_(tmp_path / "all.jsonl")
    ana.import_(tmp_path / "all.jsonl")
    assert [r.text for r in ana.team.search()] == [RULE]
    assert "zyzzyva" not in repr(people["di"].search())
    assert [r.text for r in bob.search()] == [RULE]
    for change in (
        lambda: bob.edit(rule.id, "the zyzzyva refund window is 3 days"),
        lambda: bob.forget(rule.id),
        lambda: bob.erase(rule.id),
        lambda: bob.resolve(rule.id, "drop"),
    ):
        with pytest.raises(SettingError, match=r"memory\.team"):
            change()
    for outsider in (people["cy"], people["di"]):
        with pytest.raises(AgentError, match="there is no memory"):
            outsider.forget(rule.id)
    bob.team.edit(rule.id, "the zyzzyva refund window is 30 days")
    assert [r.text for r in ana.search("zyzzyva")] == ["the zyzzyva refund window is 30 days"]


@pytest.mark.parametrize(
    ("team", "own", "question"),
    [
        ("the refund window is 14 days", "the refund window is 30 days", "how long is the refund window?"),
        ("退货期限是14天", "退货期限是30天", "退货期限是多久？"),
    ],
)
def test_ones_own_word_stands_first_and_the_teams_stays_marked(people, team, own, question):
    ana, bob = people["ana"], people["bob"]
    rule = ana.add(team, scope="team")
    mine = bob.add(own)
    recall = bob.recall(question)
    assert [hit.record.id for hit in recall] == [mine.id, rule.id]
    assert f"{mine.id} is the user's own" in recall.text.splitlines()[1]
    assert ana.get(rule.id).status == "active"
    assert [hit.record.id for hit in ana.recall(question)] == [rule.id]


def test_rows_of_both_scopes_in_one_call_keep_their_order(people):
    rows = [{"text": f"row {n} is {n}", "scope": "team" if n % 2 else "user"} for n in range(5)]
    made = people["ana"].add_many(rows)
    assert [r.text for r in made] == [row["text"] for row in rows]
    assert [r.user for r in made] == ["ana", "team:sales", "ana", "team:sales", "ana"]


def test_use_by_a_member_renews_the_teams_record(people):
    record = people["ana"].add(RULE, scope="team")
    people["bob"].mark_used(people["bob"].recall("zyzzyva refund window"))
    assert people["ana"].get(record.id).hits == 1


def test_a_teams_constraint_binds_its_members(people):
    people["ana"].add("We never eat pork", "constraint", scope="team")
    assert "pork" in people["bob"].recall("suggest a ramen place for tonight").text
    assert "pork" not in people["di"].recall("suggest a ramen place for tonight").text


def test_a_teams_memory_is_exported_and_imported_on_its_own(people, tmp_path):
    ana = people["ana"]
    ana.add(RULE, scope="team")
    ana.add("mine alone is mine")
    ana.export(tmp_path / "all.jsonl")
    assert people["cy"].team.import_(tmp_path / "all.jsonl")["new"] == 1
    assert [r.text for r in people["cy"].search()] == [RULE]
    assert json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])["user"] == "ana"


@pytest.mark.parametrize("user", ["team:sales", "team:"])
def test_no_user_can_pass_for_a_team(tmp_path, user):
    with pytest.raises(SettingError, match="team=NAME"):
        Memory(tmp_path / "m.db", user)


@pytest.mark.parametrize("wrong", ["", "  ", 3])
def test_a_teams_name_is_a_text(tmp_path, wrong):
    with pytest.raises(SettingError, match="team's name"):
        Memory(tmp_path / "m.db", "ana", team=wrong)


def test_a_write_to_a_team_that_is_not_there_is_refused(tmp_path):
    with Memory(tmp_path / "m.db", "ana", None) as ana, pytest.raises(SettingError, match="team=NAME"):
        ana.add(RULE, scope="team")
    with Memory(tmp_path / "m.db", "ana", None, team="sales") as ana:
        with pytest.raises(SettingError, match="'user' or 'team'"):
            ana.add(RULE, scope="support")
        assert ana.add(RULE, scope="sales").user == "team:sales"
