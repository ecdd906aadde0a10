"""Memory as tools: what is said by the user, what only by the model, and what is never kept."""

import json

import pytest

from agent_nb.memory import Memory
from agent_nb.tools.memory_tools import memory_tools
from agent_nb.tools.tool import Toolbox


@pytest.fixture
def memory():
    with Memory(":memory:", user="ana", embedder=None) as memory:
        yield memory


def box(memory, goal=""):
    return Toolbox(memory_tools(memory, "september", "run1", goal=goal))


def body(seen):
    return json.loads(seen.text)


def test_only_forgetting_asks(memory):
    asks = {tool.name: tool.effect != "read" and tool.asks for tool in memory_tools(memory)}
    assert asks == {"recall_memory": False, "save_memory": False, "forget_memory": True}


def test_what_was_saved_is_recalled_and_forgotten(memory):
    tools = box(memory)
    saved = body(
        tools.run("1", "save_memory", {"text": "Late means more than 15 minutes.", "type": "preference"})
    )
    found = body(tools.run("2", "recall_memory", {"query": "when is a flight late?"}))["memories"]
    assert [hit["id"] for hit in found] == [saved["id"]]
    assert found[0]["type"] == "preference"
    assert tools.run("3", "forget_memory", {"id": saved["id"]}).ok
    assert body(tools.run("4", "recall_memory", {"query": "when is a flight late?"}))["memories"] == []
    assert tools.run("5", "forget_memory", {"id": "unknown"}).ok is False


def test_the_source_is_the_user_only_where_the_words_are_theirs(memory):
    tools = box(memory, goal="Remember: late means  more than 15 minutes. And count flights.")
    own = body(tools.run("1", "save_memory", {"text": "Late means more than 15 minutes"}))
    other = body(tools.run("2", "save_memory", {"text": "UA has the most flights"}))
    assert memory.get(own["id"]).source == "user_explicit"
    record = memory.get(other["id"])
    assert (record.source, record.session) == ("task", "september")
    assert record.evidence


@pytest.mark.parametrize("text", ["   ", "my password is tr0ub4dor", "key sk-" + "ant-" + "a1B2" * 10])
def test_nothing_and_secrets_are_not_kept(memory, text):
    seen = box(memory, goal=text).run("1", "save_memory", {"text": text})
    assert seen.ok is False
    assert memory.search() == []


def test_more_can_be_recalled_up_to_fifteen_and_only_some_types(memory):
    for i in range(30):
        kind = "fact" if i % 2 else "preference"
        memory.add(f"The delay of route {i} is {i} minutes, as the report number {i} says in its table", kind)
    tools = box(memory)
    found = body(tools.run("1", "recall_memory", {"query": "delay of a route in the report", "k": 50}))[
        "memories"
    ]
    assert 5 < len(found) <= 15
    found = body(tools.run("2", "recall_memory", {"query": "delay of a route", "types": ["fact"]}))[
        "memories"
    ]
    assert {hit["type"] for hit in found} == {"fact"}
    assert tools.run("3", "recall_memory", {"query": "x", "types": ["rumour"]}).kind == "bad_input"
