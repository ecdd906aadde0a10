"""A Messages API server on this machine that plays replies written beforehand: for tests over the wire.

It is strict: a request that the real API would refuse is answered with the API's own error.

    with ScriptedServer(["Hello.", Failure(529, retry_after_s=1)]) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="any text")
"""

from __future__ import annotations

import dataclasses
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import Any

from .request import Bindings, check_request
from .scripted import as_message
from .sse import events_of, sse, whole

Json = dict[str, Any]

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_LONGEST_BODY = 32 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Failure:
    """A reply that is an HTTP error.

    Args:
        status: 400 … 599. message: the error's text.
        kind: the error's type; "" takes the one that goes with the status.
        retry_after_s: sent as `retry-after`. body: sent as it stands, in place of the API's error shape.
    """

    status: int
    message: str = "no"
    kind: str = ""
    retry_after_s: float | None = None
    body: str | None = None


@dataclasses.dataclass(frozen=True)
class Streamed:
    """A reply that streams in a way of its own.

    Args:
        message: a message dict (as for ScriptedModel), or None where `events` says it all.
        events: the events to send in place of those of `message`: dicts, or str/bytes sent as they stand.
        piece: characters in a delta. chunk: bytes in a write to the socket; None: an event at a time.
        pause_s: wait before each write.
        cut_after: close the connection after so many bytes of the body.
        silent_after: say nothing more after so many bytes (until the server stops).
        before_s: wait before the head of the response.
    """

    message: Json | str | None = None
    events: list[Json | str | bytes] | None = None
    piece: int = 7
    chunk: int | None = None
    pause_s: float = 0.0
    cut_after: int | None = None
    silent_after: int | None = None
    before_s: float = 0.0


@dataclasses.dataclass(frozen=True)
class HangUp:
    """No reply at all: the connection is closed, as servers do with one that they kept open long enough."""


Reply = Json | str | Failure | Streamed | HangUp | Callable[[Json], Any]


class ScriptedServer:
    """Answers `POST /v1/messages` with `replies`, in order, on a free port of the loopback.

    Args:
        replies: message dicts or texts (as for ScriptedModel), Failure, Streamed or HangUp, or a function that gets
            the request's body and returns one of them.
        tokens: what `/v1/messages/count_tokens` answers; None: 404, as other servers do.

    `requests` keeps the bodies of accepted and refused requests, `headers` their headers (names in lower
    case), `refused` the texts of the refusals, `dropped` the places of thinking blocks that no longer stood
    after the history that they were written after, `gone` the number of clients that left in mid-reply.
    """

    def __init__(self, replies: Iterable[Reply] = (), *, tokens: int | None = 42) -> None:
        self.replies = list(replies)
        self.tokens = tokens
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.refused: list[str] = []
        self.dropped: list[str] = []
        self.gone = 0
        self.faults: list[BaseException] = []
        self.stopping = threading.Event()
        self._played = 0
        self._paused: list[list[Json]] = []
        self._bindings = Bindings()
        self._lock = threading.Lock()
        self._http: _Http | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL, without /v1."""
        if self._http is None:
            raise RuntimeError("the server is not running: use it in a `with` statement")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> ScriptedServer:
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.script = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.hang_up()
            self._http.server_close()
            self._thread.join()
            self._http = None
        if self.faults and error is None:
            raise self.faults[0]

    def take(self, body: Any, headers: dict[str, str]) -> Json | str | Failure | Streamed | HangUp:
        """The reply to a request, which is kept; a refusal of it is a Failure and uses no reply up."""
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            if "authorization" not in headers and "x-api-key" not in headers:
                return Failure(401, "Authorization header is missing")
            try:
                check_request(body, headers, paused=self._goes_on(body))
                self.dropped += self._bindings.check(body, headers)
            except ValueError as error:
                self.refused.append(str(error))
                return Failure(400, str(error))
            if self._played >= len(self.replies):
                return Failure(500, f"the script has {len(self.replies)} replies, and this is one more")
            reply = self.replies[self._played]
            self._played += 1
            if callable(reply):
                reply = reply(body)
            message = reply.message if isinstance(reply, Streamed) else reply
            if isinstance(message, dict) and message.get("stop_reason") == "pause_turn":
                self._paused.append(as_message(message)["content"])
            if isinstance(message, dict):
                self._bindings.learn(body, as_message(message)["content"])
            return reply

    def _goes_on(self, body: Any) -> bool:
        """Whether a request ends with a reply that was paused: it may be sent again as often as need be."""
        messages = body.get("messages") if isinstance(body, dict) else None
        last = messages[-1] if isinstance(messages, list) and messages else {}
        content = last.get("content") if isinstance(last, dict) else None
        return isinstance(content, list) and any(content[-len(p) :] == p for p in self._paused if p)


class _Http(ThreadingMixIn, HTTPServer):
    daemon_threads = False
    block_on_close = True
    script: ScriptedServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Wake the threads that wait for another request on a kept connection."""
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave in mid-reply are part of the tests; anything else is a fault of the script."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            self.script.gone += 1
        elif error is not None:
            self.script.faults.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http
    timeout = 30

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        if length > _LONGEST_BODY:
            return self._fail(Failure(413, "request exceeds the maximum size"))
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            return self._fail(Failure(400, "the body is not JSON"))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens" and self.server.script.tokens is not None:
            return self._send_json(200, {"input_tokens": self.server.script.tokens})
        if path != "/v1/messages":
            return self._fail(Failure(404, f"not found: {path}"))
        reply = self.server.script.take(body, {k.lower(): v for k, v in self.headers.items()})
        if isinstance(reply, Failure):
            return self._fail(reply)
        if isinstance(reply, HangUp):
            self.close_connection = True
            return None
        if not isinstance(reply, Streamed):
            reply = Streamed(reply)
        if not body.get("stream"):
            return self._send_json(200, whole(reply.message or "", body["model"]))
        return self._stream(reply, body["model"])

    def _fail(self, failure: Failure) -> None:
        kind = failure.kind or _TYPES.get(failure.status, "api_error")
        error = {"type": "error", "error": {"type": kind, "message": failure.message}, "request_id": "req_1"}
        extra = {} if failure.retry_after_s is None else {"retry-after": f"{failure.retry_after_s:g}"}
        if failure.body is None:
            return self._send_json(failure.status, error, extra)
        return self._send(failure.status, failure.body.encode(), {"content-type": "text/html"} | extra)

    def _send_json(self, status: int, value: Json, extra: dict[str, str] | None = None) -> None:
        head = {"content-type": "application/json", "request-id": "req_1"} | (extra or {})
        self._send(status, json.dumps(value).encode(), head)

    def _send(self, status: int, data: bytes, head: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in head.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, reply: Streamed, model: str) -> None:
        stopping = self.server.script.stopping
        stopping.wait(reply.before_s)
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("request-id", "req_1")
        self.send_header("connection", "close")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        sent = 0
        for data in _writes(reply, model):
            for limit in (reply.cut_after, reply.silent_after):
                if limit is not None:
                    data = data[: max(0, limit - sent)]
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                sent += len(data)
            if reply.cut_after is not None and sent >= reply.cut_after:
                return
            if reply.silent_after is not None and sent >= reply.silent_after:
                stopping.wait()
                return
            if reply.pause_s and stopping.wait(reply.pause_s):
                return
        self.wfile.write(b"0\r\n\r\n")


def _writes(reply: Streamed, model: str) -> Iterator[bytes]:
    """The body in the portions in which it goes to the socket."""
    items = reply.events if reply.events is not None else events_of(reply.message or "", model, reply.piece)
    for item in items:
        data = item if isinstance(item, bytes) else item.encode() if isinstance(item, str) else sse(item)
        size = reply.chunk or len(data)
        yield from (data[at : at + size] for at in range(0, len(data), size))
