import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.models.validate import validate_messages


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def model(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def text(words="hello", **more):
    return {"type": "text", "text": words} | more


def call(id="t1", **more):
    return {"type": "tool_use", "id": id, "name": "query_sql", "input": {"q": 1}} | more


def result(id="t1", **more):
    return {"type": "tool_result", "tool_use_id": id, "content": "ok"} | more


THINKING = {"type": "thinking", "thinking": "", "signature": "c2ln"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
TOOL = {"name": "query_sql", "description": "d", "input_schema": {"type": "object"}}
GOOD = [
    [user(text())],
    [{"role": "user", "content": "hello"}],
    [user(text()), model(text()), user(text())],
    [user(text()), model(THINKING, text(), call()), user(result())],
    [user(text()), model(call("a"), call("b")), user(result("b"), result("a"), text("and now?"))],
    [user(text()), model(call()), user(result(content=[text(), IMAGE], is_error=True))],
    [user(text()), model(call(input={})), user(result(content=[]))],
    [user(text()), model({"type": "redacted_thinking", "data": "x"}, call()), user(result(), IMAGE)],
    [user(text(cache_control={"type": "ephemeral"}))],
    [user(text()), model(call("a")), user(result("a")), model(call("b")), user(result("b"))],
]


@pytest.mark.parametrize("messages", GOOD)
def test_good_histories(messages):
    before = copy.deepcopy(messages)
    validate_messages(messages, [TOOL])
    validate_messages(messages)  # the tool may have gone since
    assert messages == before


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "at least one"),
        ([model(text())], "alternate"),
        ([user(text()), user(text())], "alternate"),
        ([user(text()), model(text()), model(text())], "alternate"),
        ([{"role": "system", "content": "x"}], "alternate"),
        ([user(text()), model(text())], "prefilled"),
        ([user()], "empty"),
        ([{"role": "user", "content": ""}], "non-empty"),
        ([user(text(" \n\t"))], "non-empty"),
        ([user(text(7))], "non-empty"),
        ([user(text()), model(), user(text())], "empty"),
        ([user(text()), model(text("")), user(text())], "non-empty"),
        ([user(text()) | {"id": 1}], "no more and no less"),
        ([user(text(extra=1))], "extra"),
        ([user({"type": "hologram"})], "hologram"),
        ([user("bare string")], "None"),
        ([user(THINKING)], "thinking"),
        ([user(call())], "tool_use"),
        ([user(text()), model(result()), user(text())], "tool_result"),
        ([user(text()), model(call())], "t1"),
        ([user(text()), model(call()), user(text())], "t1"),
        ([user(text()), model(call("a"), call("b")), user(result("a"))], "b"),
        ([user(text()), model(call()), user(result(), result())], "second"),
        ([user(text()), model(call()), user(text(), result())], "before any other"),
        ([user(result())], "no tool_use"),
        (
            [user(text()), model(call("a")), user(result("a")), model(text()), user(result("a"))],
            "no tool_use",
        ),
        ([user(text()), model(call(), call()), user(result())], "unique"),
        ([user(text()), model(call()), user(result()), model(call()), user(result())], "unique"),
        ([user(text()), model(call("odd id!")), user(result("odd id!"))], "match"),
        ([user(text()), model(call("")), user(result(""))], "match"),
        ([user(text()), model(call(input="{}")), user(result())], "object"),
        ([user(text()), model(call(input=None)), user(result())], "object"),
        ([user(text()), model(call(name="")), user(result())], "name"),
        ([user(text()), model(call()), user(result(is_error="yes"))], "is_error"),
        ([user(text()), model(call()), user(result(is_error=True, content=""))], "is_error"),
        ([user(text()), model(call()), user(result(content={"a": 1}))], "content"),
        ([user(text()), model(call()), user(result(content=[text("")]))], "non-empty"),
        ([user(text()), model(call()), user(result(content=[call()]))], "tool_use"),
        ([user(text()), model({"type": "thinking", "thinking": "x"}, text()), user(text())], "signature"),
        ([user(text()), model(THINKING | {"signature": ""}, text()), user(text())], "signature"),
        ([user(text()), model({"type": "redacted_thinking", "data": ""}, text()), user(text())], "data"),
        ([user({"type": "image", "source": {"type": "base64", "data": "aGk="}})], "media_type"),
        ([user({"type": "image", "source": IMAGE["source"] | {"data": "not base64!"}})], "base64"),
        ([user(text("\ud800"))], "surrogate"),
        ([user(text()), model(call(input={"\udfff": 1})), user(result())], "surrogate"),
        ([user(text()), model(call(input={"x": float("nan")})), user(result())], "JSON"),
        ([user(text()), model(call(input={"x": {1, 2}})), user(result())], "set"),
        ([user(text()), model(call(input={1: 2})), user(result())], "string"),
        ([user(text()), model(call(input={"x": b"y"})), user(result())], "bytes"),
    ],
)
def test_bad_histories(messages, words):
    with pytest.raises(ValueError, match=words) as caught:
        validate_messages(messages, [TOOL])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([TOOL, TOOL], "unique"),
        ([TOOL | {"name": "two words"}], "match"),
        ([TOOL | {"effect": "read"}], "extra"),
        ([{"name": "x"}], "input_schema"),
        ([TOOL | {"input_schema": {"type": "array"}}], "object"),
        ([TOOL | {"description": object()}], "JSON"),
    ],
)
def test_bad_tools(tools, words):
    with pytest.raises(ValueError, match=words):
        validate_messages(GOOD[0], tools)


def test_only_a_paused_reply_may_come_last():
    paused = [user(text()), model(text())]
    validate_messages(paused, paused=True)
    with pytest.raises(ValueError, match="t1"):
        validate_messages([user(text()), model(call())], paused=True)


@given(st.sampled_from(GOOD), st.data())
def test_a_good_history_with_a_message_or_block_lost_is_bad_or_still_whole(messages, data):
    """Dropping a call's answer, or the call of an answer, never passes unnoticed."""
    messages = copy.deepcopy(messages)
    n = data.draw(st.integers(0, len(messages) - 1))
    content = messages[n]["content"]
    if isinstance(content, str):
        return
    block = content.pop(data.draw(st.integers(0, len(content) - 1)))
    if block["type"] in ("tool_use", "tool_result") or not content:
        with pytest.raises(ValueError, match="messages"):
            validate_messages(messages)
    else:
        validate_messages(messages)
