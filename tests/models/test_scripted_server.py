"""The server by itself, asked by plain HTTP: what it sends, what it refuses, and that it goes away."""

import contextlib
import gc
import http.client
import json
import threading
import time

import pytest

from agent_nb.models.scripted_server import Failure, ScriptedServer, Streamed
from agent_nb.models.sse import events_of

HEADERS = {"x-api-key": "k", "anthropic-version": "2026-10-21", "content-type": "application/json"}
BODY = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}


def post(server, body=BODY, *, path="/v1/messages", headers=HEADERS):
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    try:
        data = body if isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request("POST", path, data, headers)
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def test_without_stream_it_answers_with_the_whole_message():
    with ScriptedServer(["hello"]) as server:
        status, data, _ = post(server)
    message = json.loads(data)
    assert status == 200
    assert message["type"] == "message"
    assert message["content"] == [{"type": "text", "text": "hello"}]
    assert message["stop_reason"] == "end_turn"
    assert server.requests == [BODY]


def test_the_stream_holds_every_event_in_order():
    blocks = [
        {"type": "thinking", "thinking": "hmm", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "多少"},
        {"type": "tool_use", "id": "t", "name": "n", "input": {"a": "中"}},
    ]
    with ScriptedServer([{"content": blocks}]) as server:
        status, data, headers = post(server, BODY | {"stream": True})
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    events = [json.loads(part.split("data: ")[1]) for part in data.decode().strip().split("\n\n")]
    assert events == list(events_of({"content": blocks}, "m"))
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 4
    deltas = {event["delta"]["type"] for event in events if event["type"] == "content_block_delta"}
    assert deltas == {"thinking_delta", "signature_delta", "text_delta", "input_json_delta"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"temperature": 0.5}, "temperature"),
        ({"top_p": 1}, "top_p"),
        ({"top_k": 1}, "top_k"),
        ({"colour": "red"}, "colour"),
        ({"model": ""}, "model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 21_334}, "streaming"),
        ({"system": ""}, "system"),
        ({"system": [{"type": "text", "text": ""}]}, "system"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "alternate"),
        ({"tool_choice": {"type": "none"}}, "tool_choice"),
        ({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}, "tools.0.name"),
        (
            {"tools": [{"name": "a", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}},
            "forces",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
                            for _ in range(5)
                        ],
                    }
                ]
            },
            "maximum of 4",
        ),
        ({"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}}, "beta"),
    ],
)
def test_what_the_api_would_refuse_is_refused_and_uses_no_reply_up(change, words):
    with ScriptedServer(["hello"]) as server:
        status, data, _ = post(server, BODY | change)
        error = json.loads(data)
        assert (status, error["type"], error["error"]["type"]) == (400, "error", "invalid_request_error")
        assert words in error["error"]["message"]
        assert server.refused == [error["error"]["message"]]
        assert post(server)[0] == 200


def test_headers_paths_and_bodies():
    with ScriptedServer(["hello"]) as server:
        assert post(server, headers={"x-api-key": "k"})[0] == 400
        assert post(server, headers={"anthropic-version": "1"})[0] == 401
        assert post(server, "{not json")[0] == 400
        assert post(server, [1])[0] == 400
        assert post(server, path="/v1/other")[0] == 404
        assert json.loads(post(server, path="/v1/messages/count_tokens")[1]) == {"input_tokens": 42}
    with ScriptedServer(tokens=None) as server:
        assert post(server, path="/v1/messages/count_tokens")[0] == 404


def test_failures_and_the_end_of_the_script():
    with ScriptedServer([Failure(529, "busy", retry_after_s=2), Failure(502, body="<html>")]) as server:
        status, data, headers = post(server)
        assert (status, headers["retry-after"]) == (529, "2")
        assert json.loads(data)["error"] == {"type": "overloaded_error", "message": "busy"}
        assert post(server)[:2] == (502, b"<html>")
        status, data, _ = post(server)
        assert status == 500
        assert b"one more" in data


def test_a_reply_may_be_a_function_of_the_request():
    with ScriptedServer([lambda body: body["messages"][0]["content"].upper()]) as server:
        assert json.loads(post(server)[1])["content"][0]["text"] == "HI"


def test_a_script_that_is_wrong_is_not_hidden():
    gone = contextlib.suppress(http.client.HTTPException, OSError)

    def run():
        with ScriptedServer([lambda body: body["nothing"]]) as server, gone:
            post(server)

    with pytest.raises(KeyError, match="nothing"):
        run()


def test_a_cut_connection_ends_after_so_many_bytes():
    reply = Streamed("hello " * 50, cut_after=300)
    with ScriptedServer([reply]) as server, pytest.raises(http.client.IncompleteRead) as caught:
        post(server, BODY | {"stream": True})
    assert len(caught.value.partial) == 300


@pytest.mark.parametrize("reply", [Streamed("x" * 100, silent_after=10), Streamed("x" * 100, pause_s=9)])
def test_it_stops_at_once_though_a_client_still_listens(reply):
    threads = threading.active_count()
    started = time.monotonic()
    with ScriptedServer([reply]) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
        connection.request("POST", "/v1/messages", json.dumps(BODY | {"stream": True}), HEADERS)
        response = connection.getresponse()
        response.read(10)
    assert time.monotonic() - started < 4
    response.close()
    connection.close()
    gc.collect()  # an unclosed socket would warn, and a warning is an error
    assert threading.active_count() == threads


def test_it_stops_though_a_kept_connection_waits():
    with ScriptedServer(["a", "b"]) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
        for _ in range(2):
            connection.request("POST", "/v1/messages", json.dumps(BODY), HEADERS)
            assert connection.getresponse().read()
    connection.close()


def test_it_has_no_address_when_it_does_not_run():
    with pytest.raises(RuntimeError, match="with"):
        _ = ScriptedServer().url
