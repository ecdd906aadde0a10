import pytest

from agent_nb.errors import ModelError
from agent_nb.models.protocol import Model
from agent_nb.models.scripted import ScriptedModel

ASK = [{"role": "user", "content": "how many flights?"}]
TOOL = {"name": "query_sql", "description": "SQL", "input_schema": {"type": "object", "properties": {}}}


def play(model, messages=ASK):
    return list(model.reply(messages, system="s", tools=[TOOL], max_tokens=100))


def test_it_is_a_model_and_plays_in_order():
    model = ScriptedModel(
        ["one", {"content": [{"type": "text", "text": "two"}], "stop_reason": "max_tokens"}]
    )
    assert isinstance(model, Model)
    first, second = play(model)[-1]["message"], play(model)[-1]["message"]
    assert first["content"] == [{"type": "text", "text": "one"}]
    assert (first["stop_reason"], second["stop_reason"]) == ("end_turn", "max_tokens")
    assert [request["messages"] for request in model.requests] == [ASK, ASK]


def test_the_pieces_add_up_to_the_message():
    call = {"type": "tool_use", "id": "t1", "name": "query_sql", "input": {"query": "select '中文' as x"}}
    *pieces, last = play(ScriptedModel([{"content": [{"type": "text", "text": "let me look " * 5}, call]}]))
    assert last["message"]["stop_reason"] == "tool_use"
    assert "".join(p["text"] for p in pieces if p["type"] == "text_delta") == "let me look " * 5
    assert "select '中文' as x" in "".join(
        p["partial_json"] for p in pieces if p["type"] == "input_json_delta"
    )


def test_requests_are_copies():
    messages = [{"role": "user", "content": "before"}]
    model = ScriptedModel(["x"])
    play(model, messages)
    messages[0]["content"] = "after"
    assert model.requests[0]["messages"][0]["content"] == "before"


def test_exceptions_and_raw_streams():
    cut = ModelError("cut")
    model = ScriptedModel([cut, [{"type": "text_delta", "text": "half"}, cut], lambda request: "now"])
    with pytest.raises(ModelError, match="cut"):
        play(model)
    stream = model.reply(ASK, system="", tools=[], max_tokens=1)
    assert next(stream) == {"type": "text_delta", "text": "half"}
    with pytest.raises(ModelError, match="cut"):
        next(stream)
    assert play(model)[-1]["message"]["content"][0]["text"] == "now"


def test_a_bad_history_and_the_end_of_the_script():
    model = ScriptedModel(["x"])
    with pytest.raises(ModelError, match="history of call 1"):
        play(model, [{"role": "assistant", "content": "hello"}])
    with pytest.raises(ModelError, match="one call more"):
        play(model)
