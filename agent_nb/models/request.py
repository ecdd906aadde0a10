"""Whether a whole request is one that the Messages API would accept, as far as it concerns this package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from .validate import validate_messages

Json = dict[str, Any]

_FIELDS = frozenset(
    ("model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "stop_sequences")
    + ("metadata", "thinking", "cache_control", "output_config", "service_tier")
)
_SAMPLING = ("temperature", "top_p", "top_k")
_MOST_WITHOUT_STREAM = 21_333


def check_request(body: Any, headers: Mapping[str, str], *, paused: bool = False) -> None:
    """Check a request's body and headers as the real API would. Raises ValueError with the reason."""
    if not isinstance(body, dict):
        raise ValueError("the body must be a JSON object")
    if not headers.get("anthropic-version"):
        raise ValueError("anthropic-version: header is required")
    for field in _SAMPLING:
        if field in body:
            raise ValueError(f"{field}: not supported by this model")
    if unknown := sorted(set(body) - _FIELDS):
        raise ValueError(f"{unknown[0]}: extra inputs are not permitted")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise ValueError("model: field required")
    if "messages" not in body:
        raise ValueError("messages: field required")
    limit = body.get("max_tokens")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError("max_tokens: a whole number of at least 1 is required")
    if limit > _MOST_WITHOUT_STREAM and not body.get("stream"):
        raise ValueError("max_tokens: streaming is required where a reply may take longer than 10 minutes")
    _check_system(body.get("system", "x"))
    _check_choice(body)
    if sum(_marks(body)) > 4:
        raise ValueError("a maximum of 4 blocks with cache_control may be provided")
    validate_messages(body["messages"], body.get("tools"), paused=paused)


def _check_system(system: Any) -> None:
    texts = [system] if isinstance(system, str) else [block.get("text") for block in system]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError("system: text content blocks must be non-empty")


def _check_choice(body: Json) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        raise ValueError("tool_choice: may only be specified while providing tools")
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise ValueError("tool_choice.type: auto, any, tool or none is needed")
    if choice["type"] in ("any", "tool") and (body.get("thinking") or {}).get("type") != "disabled":
        raise ValueError("tool_choice: thinking may not be enabled when tool_choice forces tool use")


def _marks(value: Any) -> Iterator[int]:
    """A 1 for each cache mark anywhere in a request."""
    if isinstance(value, dict):
        yield from (1 for key, item in value.items() if key == "cache_control" and item)
        for item in value.values():
            yield from _marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item)


class Bindings:
    """Which history each thinking block was written after, and whether a request still has it so.

    Newer models refuse a thinking block when system, tools or any message before it has changed, unless the
    request asks for such blocks to be dropped.
    """

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}

    def learn(self, body: Json, content: list[Json]) -> None:
        """Bind the thinking blocks of a reply to the request that it answers."""
        prefix = _prefix(body, len(body["messages"]))
        for signature in _signatures(content):
            self.prefixes[signature] = prefix

    def check(self, body: Json, headers: Mapping[str, str]) -> list[str]:
        """Places of blocks that would be dropped. Raises ValueError where they are not to be dropped."""
        wrong = [
            f"messages.{n}"
            for n, message in enumerate(body["messages"])
            for signature in _signatures(message["content"])
            if self.prefixes.get(signature) not in (None, _prefix(body, n))
        ]
        binding = (body.get("thinking") or {}).get("block_binding") or {}
        if binding and "thinking-binding-controls" not in headers.get("anthropic-beta", ""):
            raise ValueError("thinking.block_binding: extra inputs are not permitted without its beta header")
        if wrong and binding.get("prefix_mismatch_behavior") != "drop_block":
            raise ValueError(f"{wrong[0]}: invalid signature: the block is bound to a different conversation")
        return wrong


def _signatures(content: Any) -> list[str]:
    blocks = content if isinstance(content, list) else []
    return [block["signature"] for block in blocks if block.get("type") == "thinking"]


def _prefix(body: Json, end: int) -> str:
    parts = [body.get("system"), body.get("tools"), body["messages"][:end]]
    return hashlib.sha256(json.dumps(_bare(parts), sort_keys=True).encode()).hexdigest()


def _bare(value: Any) -> Any:
    """`value` without cache marks and thinking blocks, texts as lists of blocks."""
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if key != "cache_control"}
        if isinstance(value.get("content"), str):
            value["content"] = [{"type": "text", "text": value["content"]}]
        return {key: _bare(item) for key, item in value.items()}
    if isinstance(value, list):
        hidden = ("thinking", "redacted_thinking")
        return [_bare(x) for x in value if not (isinstance(x, dict) and x.get("type") in hidden)]
    return value
