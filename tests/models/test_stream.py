import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.errors import ModelError, ModelUnavailable
from agent_nb.models.sse import events_of
from agent_nb.models.stream import Assembly, mended

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
blocks = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, words.filter(lambda t: t.strip())),
    st.builds(lambda t, s: {"type": "thinking", "thinking": t, "signature": s}, words | st.just(""), words),
    st.builds(lambda d: {"type": "redacted_thinking", "data": d}, words),
    st.builds(
        lambda i, v: {"type": "tool_use", "id": i, "name": "query_sql", "input": v},
        words,
        st.dictionaries(words, values, max_size=4),
    ),
    st.builds(lambda v: {"type": "hologram", "payload": v}, values),
)


@given(st.lists(blocks, max_size=5), st.integers(1, 9))
def test_any_message_comes_back_as_it_was_sent(content, piece):
    assembly = Assembly()
    pieces = [assembly.feed(event) for event in events_of({"content": content}, piece=piece)]
    message = assembly.message()
    assert message["content"] == content
    sent = "".join(block["text"] for block in content if block["type"] == "text")
    assert "".join(p["text"] for p in pieces if p and p["type"] == "text_delta") == sent
    json.dumps(pieces)


@given(st.lists(blocks, min_size=1, max_size=3), st.data())
def test_a_stream_that_ends_early_is_never_a_message(content, data):
    events = list(events_of({"content": content}))
    upto = data.draw(st.integers(0, len(events) - 3))
    assembly = Assembly()
    for event in events[:upto]:
        assembly.feed(event)
    with pytest.raises(ModelError if upto == 0 else ModelUnavailable):
        assembly.message()


def test_a_server_that_forgets_message_stop_is_forgiven():
    assembly = Assembly()
    for event in list(events_of("hello"))[:-1]:
        assembly.feed(event)
    assert assembly.message()["content"] == [{"type": "text", "text": "hello"}]


def test_a_server_that_forgets_message_start_is_forgiven():
    assembly = Assembly()
    for event in list(events_of("hello"))[1:]:
        assembly.feed(event)
    assert assembly.message()["content"] == [{"type": "text", "text": "hello"}]


def test_a_server_that_sends_the_input_at_once():
    call = {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}
    assembly = Assembly()
    for event in events_of({"content": [call]}):
        if event["type"] == "content_block_start":
            event = event | {"content_block": call}
        if event["type"] != "content_block_delta":
            assembly.feed(event)
    assert assembly.message()["content"] == [call]


@given(st.text())
def test_mended_text_can_always_be_encoded(text):
    assert mended(text).encode() is not None
    assert mended(mended(text)) == mended(text)
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert mended(text) == text
