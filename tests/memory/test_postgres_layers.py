"""Teams, forgetting, relations, the memo, the doctor and erasing on a real PostgreSQL server."""

import datetime

import pytest

from agent_nb.memory import Memory

psycopg = pytest.importorskip("psycopg")
DAY = datetime.timedelta(days=1)


@pytest.fixture
def shared(prepared):
    with psycopg.connect(prepared.url(), autocommit=True) as admin:
        admin.execute("CREATE DATABASE layers TEMPLATE made OWNER owner")
    yield prepared.url("app", "layers")
    with psycopg.connect(prepared.url(), autocommit=True) as admin:
        admin.execute("DROP DATABASE layers WITH (FORCE)")


def test_the_layers_hold_on_a_server(shared, tmp_path):
    with (
        Memory(shared, "ana", None, team="sales") as ana,
        Memory(shared, "bob", None, team="sales") as bob,
        Memory(shared, "cy", None) as cy,
    ):
        said = ana.add("I don't like coffee")
        assert said.text in ana.recall("something to wake me up").text
        assert said.text in ana.recall("给我推荐点提神的").text
        rule = ana.add("the zyzzyva window is 14 days", "constraint", scope="team")
        assert f"{rule.id} · team sales]" in bob.recall("zyzzyva window").text
        assert rule.text in bob.memo().text
        for shown in (
            cy.search(),
            cy.graph(),
            cy.recall("zyzzyva", threshold=0).hits,
            cy.memo(),
            cy.get(rule.id),
        ):
            assert "14 days" not in repr(shown)
        assert "14 days" not in repr(cy.history(rule.id))
        assert [r.id for r in ana.browse("window").records] == [rule.id]
        assert [r.id for r in ana.browse(scope="own").records] == [said.id]
        assert bob.browse().total == 1
        assert cy.browse().of == 0
        bob.mark_used([rule.id])
        assert ana.get(rule.id).hits == 1
        ana.decay = "slow"
        assert (ana.decay, bob.decay) == (0.02, 0.07)
        fact = ana.add("the seventh gate is closed at noon")
        assert [row["action"] for row in ana.expire(fact.recorded + 181 * DAY) if row["id"] == fact.id] == [
            "low"
        ]
        ana.expire(fact.recorded + 361 * DAY)
        assert ana.get(fact.id) is None
        told = bob.why("zyzzyva window", threshold=0.99)
        assert rule.id in [hit.record.id for hit in bob.recall("zyzzyva window", **told.setting)]
        ana.ledger(tmp_path / "ana.md")
        secret = ana.add(
            "the aardvark lives under the stairs", evidence=[{"text": "aardvark under the stairs"}]
        )
        ana.erase(secret.id)
        assert "aardvark" not in (tmp_path / "ana.md").read_text() + repr(ana.log())
