"""Streams with random damage: each ends as a whole message or as an error that the loop knows."""

import json
import random

import pytest

from agent_nb.errors import ModelError
from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.scripted_server import ScriptedServer, Streamed
from agent_nb.models.sse import events_of, sse

N = 60
ASK = [{"role": "user", "content": "how many?"}]
CONTENT = [
    {"type": "thinking", "thinking": "先看 🙂", "signature": "c2ln"},
    {"type": "text", "text": "Let me look 一下."},
    {"type": "tool_use", "id": "toolu_1", "name": "query_sql", "input": {"query": "select '中' -- \\ \""}},
]


def whole():
    return b"".join(sse(event) for event in events_of({"content": CONTENT}))


def damaged(data, chance):
    """`data` with one to three bytes lost, doubled, moved or replaced."""
    for _ in range(chance.randint(1, 3)):
        at, upto = sorted(chance.sample(range(len(data)), 2))
        upto = min(upto, at + chance.choice([1, 2, 20, 300]))
        piece = data[at:upto]
        other = chance.choice(
            [b"", piece * 2, piece[::-1], bytes([chance.randrange(256)]), b"\n\n", b"null", b"[]"]
        )
        data = data[:at] + other + data[upto:]
    return data


def reordered(chance):
    events = list(events_of({"content": CONTENT}))
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(events))
        match chance.randrange(3):
            case 0:
                events.pop(at)
            case 1:
                events.insert(chance.randrange(len(events)), events[at])
            case _:
                events.insert(chance.randrange(len(events)), events.pop(at))
    return b"".join(map(sse, events))


def thinned(chance):
    """One field of one event is lost, or holds something of another type."""
    events = json.loads(json.dumps(list(events_of({"content": CONTENT}))))
    value = chance.choice(events)
    while True:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        inner = value[key]
        if isinstance(inner, (dict, list)) and inner and chance.random() < 0.7:
            value = inner
            continue
        if chance.random() < 0.3 and isinstance(value, dict):
            del value[key]
        else:
            value[key] = chance.choice([None, 7, "x", [], {}, True, [1], {"a": 1}])
        break
    return b"".join(sse(event) for event in events if isinstance(event.get("type"), str))


@pytest.fixture
def model(monkeypatch):
    """A model and the server that it asks; damage that ends in silence must not last."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-123456")
    model = AnthropicModel(read_timeout_s=5)
    yield model
    model.close()


@pytest.mark.parametrize("kind", ["bytes", "order", "fields"])
def test_damage_of_any_kind_is_an_error_that_the_loop_knows(monkeypatch, model, kind):
    chance = random.Random(kind)
    make = {"bytes": lambda: damaged(whole(), chance), "order": lambda: reordered(chance)}
    streams = [make.get(kind, lambda: thinned(chance))() for _ in range(N)]
    with ScriptedServer([Streamed(events=[data]) for data in streams]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        for n, data in enumerate(streams):
            try:
                *pieces, last = model.reply(ASK, system="", tools=[], max_tokens=100)
            except (ModelError, ValueError):
                continue
            except Exception as error:
                pytest.fail(f"{kind} {n}: {error!r} from {data!r}")
            assert last["type"] == "message", data
            for block in last["message"]["content"]:
                assert isinstance(block.get("text", ""), str)
                assert isinstance(block.get("input", {}), dict) or block["type"] != "tool_use"
            json.dumps([pieces, last], ensure_ascii=False).encode()
    assert server.refused == []
