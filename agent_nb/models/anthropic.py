"""Claude, and every server that speaks the Messages API (ANTHROPIC_BASE_URL), through the anthropic SDK."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import CredentialsError, RequestRefused, SettingError
from . import wire_names
from .faults import NO_CREDENTIALS, plain, translate
from .prices import PRICES, Price, dollars, price_of
from .stream import Assembly

Json = dict[str, Any]

API_HOST = "api.anthropic.com"
_CACHE = {"type": "ephemeral"}

# These models refuse thinking blocks once anything before them has changed, and between two turns it does:
# the memory in the system prompt is another one, old turns are folded. Such blocks are to be dropped instead.
_BINDS_THINKING = re.compile(r"claude-(?:(?:haiku|sonnet|opus)-5-5|(?:fable|mythos)-5-[12])(?:-\d{8})?$")
_BINDING_HEADER = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}


class AnthropicModel:
    """A model behind the Messages API. Replies always stream.

    Args:
        model: its name at the server.
        max_retries: retries inside the SDK, which nobody sees; the loop waits and tries again visibly.
        client: an `anthropic.Anthropic` of your own; None makes one from the environment at the first call
            (ANTHROPIC_API_KEY and whatever else the SDK looks at, ANTHROPIC_BASE_URL).
        prices: model name → `prices.Price` or (input, output) in dollars for a million tokens, in front of
            the table that comes with the package.
        thinking: the request's `thinking` field, {} for none; None: adaptive and summarised where the model
            knows it.
        caching: mark system, tools and the last two user messages as worth caching.
        max_tokens: output limit of one call, thinking included; the loop may ask for four times as much.
        read_timeout_s: longest silence of the server, also in the middle of a reply.
        connect_timeout_s: longest wait for a connection.
    """

    can_judge = True
    can_distil = True

    def __init__(
        self,
        model: str = "claude-sonnet-5-5",
        *,
        max_retries: int = 0,
        client: Any = None,
        prices: Mapping[str, Price | tuple[float, float]] | None = None,
        thinking: Json | None = None,
        caching: bool = True,
        max_tokens: int = 16_000,
        read_timeout_s: float = 120.0,
        connect_timeout_s: float = 10.0,
    ) -> None:
        self.name = model
        self.max_retries = max_retries
        self.max_tokens = max_tokens
        self.thinking = thinking if thinking is not None else _thinking(model)
        self.caching = caching
        self.timeouts_s = (connect_timeout_s, read_timeout_s)
        self._prices = prices
        self._client = client

    def __repr__(self) -> str:
        return f"AnthropicModel({self.name!r})"

    @property
    def server(self) -> str:
        """Host (and port) that requests go to."""
        url = getattr(self._client, "base_url", None) or os.environ.get("ANTHROPIC_BASE_URL") or ""
        parts = urlsplit(str(url))
        return parts.netloc.rpartition("@")[2] or API_HOST

    def close(self) -> None:
        """Close the connections that are kept open for the next call."""
        if self._client is not None:
            self._client.close()

    def cost(self, usage: Mapping[str, Any]) -> float | None:
        """US dollars of one call; None where no price is known (another server, an unknown model)."""
        own = price_of(self.name, self._prices or {})
        listed = price_of(self.name, PRICES) if self.server == API_HOST else None
        price = own or listed
        return None if price is None else dollars(usage, price)

    def reply(
        self,
        messages: list[Json],
        *,
        system: str,
        tools: list[Json],
        max_tokens: int,
        tool_choice: Json | None = None,
    ) -> Iterator[Json]:
        """Answer the history; see `protocol.Model`. Closing the iterator closes the connection.

        Raises: errors.CredentialsError, RequestRefused, ContextFull, ModelUnavailable, ModelError; ValueError
            where the model's tool arguments are not JSON.
        """
        if not tools and (tools := _gone(messages)):
            tool_choice = {"type": "none"}
        request = self.request(messages, system=system, tools=tools, max_tokens=max_tokens)
        if tool_choice is not None and tools:
            request["tool_choice"] = tool_choice
        client = self._connected()
        assembly = Assembly()
        with self._open(client, request) as stream:
            try:
                for event in stream:
                    piece = assembly.feed(event.to_dict(mode="python", warnings=False))
                    if piece is not None:
                        yield piece
                message = assembly.message()
            except (LookupError, TypeError, AttributeError) as error:
                raise ValueError(f"the stream of {self.server} is not well formed: {error!r}") from error
            except Exception as error:
                found = translate(error, self.name, self.server)
                if found is error:
                    raise
                raise found from error
        yield {"type": "message", "message": wire_names.received(tools, message)}

    def request(self, messages: list[Json], *, system: str, tools: list[Json], max_tokens: int) -> Json:
        """What is sent, as arguments of the SDK. The caller's lists and dicts stay untouched."""
        tools, messages = wire_names.sent(tools, messages)
        request: Json = {"model": self.name, "max_tokens": max_tokens, "messages": _signed(messages)}
        if system.strip():
            request["system"] = [{"type": "text", "text": system}]
        if tools:
            request["tools"] = list(tools)
        if self.thinking:
            request["thinking"] = self.thinking
            if "block_binding" in self.thinking:
                request["extra_headers"] = _BINDING_HEADER
        return _cached(request) if self.caching else request

    def _connected(self) -> Any:
        if self._client is None:
            url = os.environ.get("ANTHROPIC_BASE_URL", "")
            if url and urlsplit(url).scheme not in ("http", "https"):
                raise SettingError(
                    f"ANTHROPIC_BASE_URL must begin with http:// or https://, not {plain(url)!r}"
                )
            import anthropic

            connect_s, read_s = self.timeouts_s
            timeout = anthropic.Timeout(connect=connect_s, read=read_s, write=read_s, pool=connect_s)
            try:
                self._client = anthropic.Anthropic(max_retries=self.max_retries, timeout=timeout)
            except Exception as error:
                raise CredentialsError(f"the credentials could not be loaded: {plain(str(error))}") from None
        for secret in (self._client.api_key, self._client.auth_token):
            if secret and not (secret.isascii() and secret.isprintable() and secret == secret.strip()):
                raise CredentialsError(
                    "the API key holds characters that no key has; copy it again, in one line"
                )
        return self._client

    def _open(self, client: Any, request: Json, again: bool = True) -> Any:
        """The open stream; what can be wrong with the request before it is sent is told apart here.

        A connection that was kept from the call before may have been closed by the server meanwhile, which shows only
        now: `again`, on a fresh one.
        """
        try:
            return client.messages.create(**request, stream=True)
        except UnicodeError:
            raise RequestRefused(
                "the history holds a lone surrogate, which cannot be sent; remove it"
            ) from None
        except TypeError as error:
            if "authentication" in str(error):
                raise CredentialsError(NO_CREDENTIALS) from None
            raise RequestRefused(f"the request is not JSON: {plain(str(error))}") from error
        except Exception as error:
            if again and "without sending a response" in str(error.__cause__):
                return self._open(client, request, again=False)
            found = translate(error, self.name, self.server)
            if found is error:
                raise
            raise found from error


def _thinking(model: str) -> Json | None:
    """Adaptive thinking for the models that know it: from generation 4.6 on.

    Without `display` the newer ones say nothing between two tool calls.
    """
    found = re.match(r"claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-|$)", model)
    if not found or (int(found[1]), int(found[2] or 0)) < (4, 6):
        return None
    thinking: Json = {"type": "adaptive", "display": "summarized"}
    if _BINDS_THINKING.match(model):
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    return thinking


def _signed(messages: list[Json]) -> list[Json]:
    """The history without thinking blocks that no Claude has signed.

    Such come from other servers, in sessions that changed their model; the API refuses them.
    """
    sent = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list) and any(map(_unsigned, content)):
            message = {**message, "content": [block for block in content if not _unsigned(block)]}
        sent.append(message)
    return sent


def _gone(messages: list[Json]) -> list[Json]:
    """Schemas for the tools that a history called, none of which is mounted any more.

    The API takes no calls and results in a history without tools; with tool_choice none they cannot be called.
    """
    blocks = [b for m in messages if isinstance(m.get("content"), list) for b in m["content"]]
    names = dict.fromkeys(b["name"] for b in blocks if isinstance(b, dict) and b.get("type") == "tool_use")
    fine = [name for name in names if re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", str(name))]
    if names and not fine:
        fine = ["gone"]
    schema = {"type": "object"}
    return [{"name": n, "description": "Not mounted any more.", "input_schema": schema} for n in fine]


def _unsigned(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "thinking" and not block.get("signature")


def _cached(request: Json) -> Json:
    """The request with its four cache marks: last tool, system, and the last two user messages.

    Two, because the one before last was written by the call before and is what this call can read.
    """
    request = dict(request)
    for field in ("tools", "system"):
        if field in request:
            *others, last = request[field]
            request[field] = [*others, {**last, "cache_control": _CACHE}]
    messages = list(request["messages"])
    users = [n for n, message in enumerate(messages) if message.get("role") == "user"]
    for n in users[-2:]:
        messages[n] = _marked(messages[n])
    return request | {"messages": messages}


def _marked(message: Json) -> Json:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content.strip() else []
    if not content:
        return message
    # What stands last in this call only (the plan as it is now) is behind the mark: the next call has another.
    passing = len(content) > 1 and str(content[-1].get("text", "")).startswith("<progress>")
    *others, last = content[:-1] if passing else content
    return {**message, "content": [*others, {**last, "cache_control": _CACHE}, *content[len(others) + 1 :]]}
