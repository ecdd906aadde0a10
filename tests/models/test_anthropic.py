"""The model over the wire: the real SDK against the scripted server."""

import copy
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from agent_nb import errors
from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.protocol import Model
from agent_nb.models.scripted_server import Failure, HangUp, ScriptedServer, Streamed
from agent_nb.models.sse import events_of, sse

ASK = [{"role": "user", "content": [{"type": "text", "text": "how many flights? 多少"}]}]
TOOLS = [
    {"name": "query_sql", "description": "SQL", "input_schema": {"type": "object", "properties": {}}},
    {"name": "draw_chart", "description": "chart", "input_schema": {"type": "object", "properties": {}}},
]
THINKING = {"type": "thinking", "thinking": "先看表 — look first 🙂", "signature": "c2lnbmF0dXJl=="}
REDACTED = {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
CALL = {
    "type": "tool_use",
    "id": "toolu_01",
    "name": "query_sql",
    "input": {"query": "select '中文 \\ \" 🙂' as x\n", "n": 1.5, "deep": {"a": [1, None, True]}},
}
EVERYTHING = [THINKING, REDACTED, {"type": "text", "text": "我先查一下。Let me look 🙂"}, CALL]


@pytest.fixture(autouse=True)
def key(monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-12345")
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)


def ask(server, monkeypatch, messages=ASK, *, system="be brief", tools=TOOLS, model=None, **more):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    model = model or AnthropicModel()
    more = {"max_tokens": 1000} | more
    try:
        return list(model.reply(messages, system=system, tools=tools, **more))
    finally:
        model.close()


def fails(reply, monkeypatch, **more):
    with ScriptedServer([reply]) as server, pytest.raises(errors.AgentError) as caught:
        ask(server, monkeypatch, **more)
    text = str(caught.value)
    assert "\n" not in text
    assert "secret" not in text
    assert 20 < len(text) < 500
    return caught.value


@pytest.mark.parametrize(("piece", "chunk"), [(1, None), (7, 1), (1000, 3), (3, 4096)])
def test_every_block_comes_back_as_it_was_sent(monkeypatch, piece, chunk):
    with ScriptedServer([Streamed({"content": EVERYTHING}, piece=piece, chunk=chunk)]) as server:
        *pieces, last = ask(server, monkeypatch)
    assert last["message"]["content"] == EVERYTHING
    assert last["message"]["stop_reason"] == "tool_use"
    assert "".join(p["text"] for p in pieces if p["type"] == "text_delta") == EVERYTHING[2]["text"]
    assert "".join(p["thinking"] for p in pieces if p["type"] == "thinking_delta") == THINKING["thinking"]
    arguments = [p for p in pieces if p["type"] == "input_json_delta"]
    assert json.loads("".join(p["partial_json"] for p in arguments)) == CALL["input"]
    assert {p["id"] for p in arguments} == {"toolu_01"}
    json.dumps(last)


def test_the_reply_goes_back_byte_for_byte_in_the_next_request(monkeypatch):
    with ScriptedServer([{"content": EVERYTHING}, "done"]) as server:
        first = ask(server, monkeypatch)[-1]["message"]
        history = [
            *ASK,
            {"role": "assistant", "content": first["content"]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "1"}]},
        ]
        ask(server, monkeypatch, history)
    assert server.requests[1]["messages"][1]["content"] == EVERYTHING
    assert server.refused == []


def test_the_request_is_cached_and_the_callers_lists_are_untouched(monkeypatch):
    history = [
        *ASK,
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "1"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "one"}]},
        {"role": "user", "content": "and now?"},
    ]
    before = copy.deepcopy((history, TOOLS))
    with ScriptedServer(["two"]) as server:
        ask(server, monkeypatch, history)
    assert (history, TOOLS) == before
    sent = server.requests[0]
    mark = {"type": "ephemeral"}
    assert sent["system"] == [{"type": "text", "text": "be brief", "cache_control": mark}]
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, mark]
    assert sent["messages"][0]["content"] == ASK[0]["content"]
    assert sent["messages"][2]["content"][-1]["cache_control"] == mark
    assert sent["messages"][4]["content"] == [{"type": "text", "text": "and now?", "cache_control": mark}]
    assert sent["stream"] is True
    assert sent["thinking"].items() >= {"type": "adaptive", "display": "summarized"}.items()
    assert not {"temperature", "top_p", "top_k", "tool_choice"} & sent.keys()
    assert server.headers[0]["authorization"] == "Bearer sk-ant-secret-12345"


def test_what_is_said_in_this_call_only_stands_behind_the_mark(monkeypatch):
    passing = {"type": "text", "text": "<progress>\n[>] 1. look\n</progress>"}
    history = [{"role": "user", "content": [{"type": "text", "text": "goal"}, passing]}]
    with ScriptedServer(["two"]) as server:
        ask(server, monkeypatch, history)
    sent = server.requests[0]["messages"][0]["content"]
    assert sent == [{"type": "text", "text": "goal", "cache_control": {"type": "ephemeral"}}, passing]


def test_empty_system_and_no_tools_are_left_out(monkeypatch):
    with ScriptedServer(["hello"]) as server:
        ask(server, monkeypatch, system="", tools=[], tool_choice={"type": "none"})
    assert not {"system", "tools", "tool_choice"} & server.requests[0].keys()


def test_tool_choice_none_is_passed_on(monkeypatch):
    with ScriptedServer(["hello"]) as server:
        ask(server, monkeypatch, tool_choice={"type": "none"}, max_tokens=64_000)
    assert server.requests[0]["tool_choice"] == {"type": "none"}
    assert server.requests[0]["max_tokens"] == 64_000


@pytest.mark.parametrize(
    ("name", "thinks"),
    [
        ("claude-sonnet-5-5", True),
        ("claude-opus-4-6", True),
        ("claude-opus-5", True),
        ("claude-fable-5-1-20261001", True),
        ("claude-haiku-4-5-20251001", False),
        ("claude-opus-4-20250514", False),
        ("qwen3", False),
    ],
)
def test_thinking_is_asked_for_where_the_model_knows_it(name, thinks):
    assert bool(AnthropicModel(name).thinking) is thinks


def _second_turn(server, monkeypatch, model):
    """A reply with thinking, then a request in which the system prompt has changed."""
    first = ask(server, monkeypatch, model=model)[-1]["message"]
    again = [*ASK, {"role": "assistant", "content": first["content"]}, {"role": "user", "content": "and?"}]
    return ask(server, monkeypatch, again, system="be brief. Memory: new", model=AnthropicModel(model.name))


THOUGHT = {"content": [THINKING, {"type": "text", "text": "one"}]}


def test_thinking_of_earlier_turns_may_stand_after_a_changed_system_prompt(monkeypatch):
    with ScriptedServer([THOUGHT, "two"]) as server:
        _second_turn(server, monkeypatch, AnthropicModel("claude-sonnet-5-5"))
    assert server.dropped == ["messages.1"]
    assert "thinking-binding-controls" in server.headers[1]["anthropic-beta"]


def test_a_server_that_binds_thinking_refuses_without_that_setting(monkeypatch):
    with ScriptedServer([THOUGHT, "two"]) as server, pytest.raises(errors.RequestRefused, match="bound"):
        _second_turn(server, monkeypatch, AnthropicModel("claude-opus-5"))
    assert "anthropic-beta" not in server.headers[0]


def test_thinking_stays_valid_while_the_history_only_grows(monkeypatch):
    call = [THINKING, CALL]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "1"}]}
    with ScriptedServer([{"content": call}, "two"]) as server:
        ask(server, monkeypatch)
        ask(server, monkeypatch, [*ASK, {"role": "assistant", "content": call}, result])
    assert server.dropped == server.refused == []


def test_usage_counts_are_totals(monkeypatch):
    usage = {
        "input_tokens": 11,
        "output_tokens": 50,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 900,
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2},
    }
    *most, delta, stop = events_of({"content": "hello", "usage": usage})
    most[0]["message"]["usage"] |= {"input_tokens": 7, "output_tokens": 1}
    middle = delta | {"usage": {"output_tokens": 20}, "delta": {"stop_reason": None}}
    with ScriptedServer([Streamed(events=[*most, middle, delta, stop])]) as server:
        message = ask(server, monkeypatch)[-1]["message"]
    assert message["usage"] == usage


@pytest.mark.parametrize("reason", ["pause_turn", "model_context_window_exceeded", "something_new"])
def test_stop_reasons_pass_as_they_are(monkeypatch, reason):
    with ScriptedServer([{"content": "half", "stop_reason": reason}]) as server:
        message = ask(server, monkeypatch)[-1]["message"]
    assert message["stop_reason"] == reason
    assert "stop_details" not in message


def test_a_refusal_brings_its_details(monkeypatch):
    details = {"type": "refusal", "category": "new_category", "explanation": "no"}
    reply = {"content": "I", "stop_reason": "refusal", "stop_details": details}
    with ScriptedServer([reply]) as server:
        message = ask(server, monkeypatch)[-1]["message"]
    assert (message["stop_reason"], message["stop_details"]) == ("refusal", details)


def test_after_a_pause_the_reply_goes_back_as_the_last_message(monkeypatch):
    with ScriptedServer([{"content": "half", "stop_reason": "pause_turn"}, " and whole"]) as server:
        first = ask(server, monkeypatch)[-1]["message"]
        paused = [*ASK, {"role": "assistant", "content": first["content"]}]
        ask(server, monkeypatch, paused)
        assert server.refused == []
    assert isinstance(fails("x", monkeypatch, messages=paused), errors.RequestRefused)


def test_unknown_blocks_events_and_deltas_are_kept(monkeypatch):
    block = {"type": "hologram", "frames": [1, {"x": None}], "text": "t"}
    events = list(events_of({"content": [block, {"type": "text", "text": "hi"}]}))
    odd = {"type": "new_event", "what": 1}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "frame_delta", "frame": 2}}
    events[3:3] = [odd, delta]
    with ScriptedServer([Streamed(events=events)]) as server:
        message = ask(server, monkeypatch)[-1]["message"]
    assert message["content"] == [block, {"type": "text", "text": "hi"}]
    assert message["unknown"] == [odd, delta]


def test_blocks_hold_only_what_may_be_sent_back(monkeypatch):
    content = [
        {"type": "text", "text": ""},
        {"type": "text", "text": "x", "citations": None},
        CALL | {"caller": {"type": "direct"}, "toolset_name": None},
    ]
    with ScriptedServer([{"content": content}]) as server:
        message = ask(server, monkeypatch)[-1]["message"]
    assert message["content"] == [{"type": "text", "text": "x"}, CALL | {"caller": {"type": "direct"}}]


def test_a_tool_without_arguments_has_an_empty_input(monkeypatch):
    with ScriptedServer([{"content": [CALL | {"input": {}}]}]) as server:
        assert ask(server, monkeypatch)[-1]["message"]["content"][0]["input"] == {}


def _cut_arguments(text, stop_reason):
    """The events of a tool call whose arguments are `text`."""
    whole = events_of({"content": [CALL], "stop_reason": stop_reason})
    events = [event for event in whole if event["type"] != "content_block_delta"]
    delta = {"type": "input_json_delta", "partial_json": text}
    events.insert(3, {"type": "content_block_delta", "index": 0, "delta": delta})
    return Streamed(events=events)


@pytest.mark.parametrize("text", ['{"query": "sel', '{"query": NaN}', "[1, 2]", "{'a': 1}", '{"a": 1}}'])
def test_malformed_arguments_are_a_value_error(monkeypatch, text):
    with ScriptedServer([_cut_arguments(text, "tool_use")]) as server, pytest.raises(ValueError) as caught:  # noqa: PT011
        ask(server, monkeypatch)
    assert not isinstance(caught.value, errors.AgentError)
    assert "query_sql" in str(caught.value)


def test_arguments_cut_by_max_tokens_end_as_such(monkeypatch):
    with ScriptedServer([_cut_arguments('{"query": "sel', "max_tokens")]) as server:
        message = ask(server, monkeypatch)[-1]["message"]
    assert message["stop_reason"] == "max_tokens"
    assert message["content"] == [CALL | {"input": {}}]


def test_lone_surrogates_become_readable(monkeypatch):
    pair, lone = "\ud83d", "\udc00"
    events = list(events_of({"content": [{"type": "text", "text": "abc"}]}, piece=1))
    deltas = [event for event in events if event["type"] == "content_block_delta"]
    for event, text in zip(deltas, [pair, "\ude42", lone], strict=True):
        event["delta"]["text"] = text
    raw = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events]
    with ScriptedServer([Streamed(events=raw)]) as server:
        *pieces, last = ask(server, monkeypatch)
    assert last["message"]["content"][0]["text"] == "🙂�"
    json.dumps(pieces, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        (Failure(400, "messages.1: bad"), errors.RequestRefused, "messages.1: bad"),
        (Failure(400, "prompt is too long: 213000 tokens > 200000"), errors.ContextFull, "too long"),
        (Failure(400, "the request exceeds the available context size"), errors.ContextFull, "too long"),
        (Failure(413, "request exceeds the maximum size"), errors.ContextFull, "too long"),
        (Failure(401, "invalid key sk-ant-secret-12345"), errors.CredentialsError, "ANTHROPIC_API_KEY"),
        (Failure(403, "not for you"), errors.CredentialsError, "claude-sonnet-5-5"),
        (Failure(402, "out of credit"), errors.RequestRefused, "out of credit"),
        (Failure(404, "model: nope"), errors.RequestRefused, "-m"),
        (Failure(422, "what?"), errors.RequestRefused, "422"),
        (Failure(408, "slow"), errors.ModelUnavailable, "408"),
        (Failure(409, "busy"), errors.ModelUnavailable, "409"),
        (Failure(500, "oops"), errors.ModelUnavailable, "500"),
        (Failure(502, body="<html>\n<b>Bad gateway</b></html>"), errors.ModelUnavailable, "502"),
        (Failure(404, body="<html>nothing here"), errors.RequestRefused, "ANTHROPIC_BASE_URL"),
    ],
)
def test_http_errors(monkeypatch, failure, kind, words):
    error = fails(failure, monkeypatch)
    assert type(error) is kind
    assert words in str(error)


@pytest.mark.parametrize("status", [429, 503, 529])
def test_overload_says_how_long_to_wait(monkeypatch, status):
    error = fails(Failure(status, "busy", retry_after_s=3), monkeypatch)
    assert isinstance(error, errors.ModelUnavailable)
    assert error.retry_after_s == 3.0
    assert fails(Failure(status, "busy"), monkeypatch).retry_after_s is None


def test_the_sdk_does_not_retry_behind_our_back(monkeypatch):
    with ScriptedServer([Failure(529), "late"]) as server:
        with pytest.raises(errors.ModelUnavailable):
            ask(server, monkeypatch)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("kind", "raised"),
    [
        ("overloaded_error", errors.ModelUnavailable),
        ("api_error", errors.ModelUnavailable),
        ("rate_limit_error", errors.ModelUnavailable),
        ("invalid_request_error", errors.RequestRefused),
        ("unheard_of_error", errors.ModelUnavailable),
    ],
)
def test_an_error_in_the_stream(monkeypatch, kind, raised):
    event = {"type": "error", "error": {"type": kind, "message": "Overloaded, sorry"}}
    events = [*list(events_of("hello"))[:4], event]
    error = fails(Streamed(events=events), monkeypatch)
    assert type(error) is raised
    assert "Overloaded, sorry" in str(error)


@pytest.mark.parametrize("cut", [0, 1, 200, 700, 1000])
def test_a_cut_connection_is_unavailable(monkeypatch, cut):
    reply = Streamed({"content": [{"type": "text", "text": "long " * 100}]}, cut_after=cut)
    assert type(fails(reply, monkeypatch)) is errors.ModelUnavailable


def test_a_server_that_hangs_up_before_it_answers_is_asked_once_more(monkeypatch):
    with ScriptedServer([HangUp(), "hello"]) as server:
        assert ask(server, monkeypatch)[-1]["message"]["content"] == [{"type": "text", "text": "hello"}]
    assert server.requests[0] == server.requests[1]
    with ScriptedServer([HangUp(), HangUp(), "hello"]) as server, pytest.raises(errors.ModelUnavailable):
        ask(server, monkeypatch)
    assert len(server.requests) == 2


def test_a_stream_that_ends_politely_but_early_is_unavailable(monkeypatch):
    events = list(events_of({"content": [{"type": "text", "text": "long " * 10}]}))[:6]
    error = fails(Streamed(events=events), monkeypatch)
    assert type(error) is errors.ModelUnavailable
    assert "middle of the reply" in str(error)


def test_a_stream_without_a_message_is_not_the_messages_api(monkeypatch):
    error = fails(Streamed(events=["data: [DONE]\n\n"]), monkeypatch)
    assert type(error) is errors.ModelError
    assert "ANTHROPIC_BASE_URL" in str(error)


@pytest.mark.parametrize(
    "events",
    [
        ["event: message_start\ndata: {not json}\n\n"],
        [sse({"type": "message_start"})],
        [*map(sse, list(events_of("x"))[:1]), sse({"type": "content_block_delta", "index": 4, "delta": {}})],
        [*map(sse, list(events_of("x"))[:1]), sse({"type": "content_block_start", "index": 0})],
    ],
)
def test_a_stream_that_is_not_well_formed_is_tried_again(monkeypatch, events):
    reply = Streamed(events=events)
    with ScriptedServer([reply]) as server, pytest.raises(ValueError) as caught:  # noqa: PT011
        ask(server, monkeypatch)
    assert not isinstance(caught.value, errors.AgentError)


def test_a_silent_server_does_not_hang(monkeypatch):
    for reply in (Streamed("x" * 500, silent_after=600), Streamed("x", before_s=5)):
        error = fails(reply, monkeypatch, model=AnthropicModel(read_timeout_s=0.2))
        assert type(error) is errors.ModelUnavailable
        assert "in time" in str(error)


def test_nobody_listens(monkeypatch):
    with ScriptedServer() as server:
        url = server.url
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    with pytest.raises(errors.ModelUnavailable, match="connection to 127"):
        list(AnthropicModel().reply(ASK, system="", tools=[], max_tokens=10))


def test_no_credentials_and_bad_ones(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret\nand more")
    assert type(fails("x", monkeypatch)) is errors.CredentialsError
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with ScriptedServer(["x"]) as server, pytest.raises(errors.CredentialsError, match="offline"):
        ask(server, monkeypatch)
    assert server.requests == []


def test_a_profile_that_is_not_there(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")
    assert type(fails("x", monkeypatch)) is errors.CredentialsError


def test_a_base_url_that_is_none(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "localhost:8080")
    with pytest.raises(errors.SettingError, match="http://"):
        list(AnthropicModel().reply(ASK, system="", tools=[], max_tokens=10))


@pytest.mark.parametrize("text", ["a lone \ud800 surrogate", {1, 2}])
def test_what_cannot_be_sent_is_refused(monkeypatch, text):
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    assert type(fails("x", monkeypatch, messages=messages)) is errors.RequestRefused


def test_a_base_url_with_v1_is_told_apart_from_an_unknown_model(monkeypatch):
    with ScriptedServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url + "/v1")
        model = AnthropicModel()
        with pytest.raises(errors.RequestRefused, match="without /v1"):
            list(model.reply(ASK, system="", tools=[], max_tokens=10))
        model.close()


def test_unsigned_thinking_of_another_server_is_left_out(monkeypatch):
    other = {"type": "thinking", "thinking": "hm"}
    history = [
        *ASK,
        {"role": "assistant", "content": [other, other | {"signature": ""}, {"type": "text", "text": "one"}]},
        {"role": "user", "content": "and?"},
    ]
    before = copy.deepcopy(history)
    with ScriptedServer(["two"]) as server:
        ask(server, monkeypatch, history)
    assert server.requests[0]["messages"][1]["content"] == [{"type": "text", "text": "one"}]
    assert history == before


def test_a_bad_history_is_refused_by_the_server(monkeypatch):
    messages = [*ASK, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": "well?"}]
    error = fails("x", monkeypatch, messages=messages)
    assert type(error) is errors.RequestRefused
    assert "toolu_01" in str(error)


def test_closing_the_iterator_closes_the_connection(monkeypatch):
    slow = Streamed("x" * 400, piece=1, pause_s=0.02)
    with ScriptedServer([slow, "next"]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        stream = model.reply(ASK, system="", tools=[], max_tokens=100)
        assert next(stream)["type"] == "text_delta"
        stream.close()
        deadline = time.monotonic() + 5
        while server.gone == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.gone == 1
        assert list(model.reply(ASK, system="", tools=[], max_tokens=100))[-1]["type"] == "message"
        model.close()


@pytest.mark.parametrize("when", ["before the head", "in mid-stream", "in silence"])
def test_an_interrupt_comes_through_at_once(monkeypatch, when):
    reply = {
        "before the head": Streamed("x", before_s=20),
        "in mid-stream": Streamed("x" * 2000, piece=1, pause_s=0.05),
        "in silence": Streamed("x" * 500, silent_after=700),
    }[when]
    with ScriptedServer([reply, "next"]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        timer = threading.Timer(0.5, _interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            list(model.reply(ASK, system="", tools=[], max_tokens=100))
        timer.join()
        assert list(model.reply(ASK, system="", tools=[], max_tokens=100))[-1]["type"] == "message"
        model.close()


def _interrupt_main():
    os.kill(os.getpid(), signal.SIGINT)


def test_cost(monkeypatch):
    million = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    assert AnthropicModel().cost(million) == pytest.approx(12.0)
    assert AnthropicModel("claude-unheard-of-9").cost(million) is None
    assert AnthropicModel("claude-unheard-of-9", prices={"claude-unheard-of-9": (1, 2)}).cost(million) == 3.0
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080")
    assert AnthropicModel().cost(million) is None
    assert AnthropicModel(prices={"claude-sonnet-5-5": (1, 2)}).cost(million) == 3.0
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
    assert AnthropicModel().cost(million) == pytest.approx(12.0)


def test_it_is_a_model_and_importing_it_is_cheap():
    assert isinstance(AnthropicModel(), Model)
    code = (
        "import sys, agent_nb.models, agent_nb.models.anthropic, agent_nb.models.replay\n"
        "import agent_nb.models.scripted_server\n"
        "agent_nb.models.anthropic.AnthropicModel().cost({})\n"
        "bad = {'anthropic', 'httpx2', 'httpx', 'pydantic', 'numpy'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
