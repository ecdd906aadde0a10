"""Whether a whole request is one that the Messages API would accept, as far as it concerns this package."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .validate import validate_messages

Json = dict[str, Any]

_FIELDS = frozenset(
    ("model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "stop_sequences")
    + ("metadata", "thinking", "cache_control", "output_config", "service_tier")
)
_MOST_TOKENS = 128_000
_THINKING = {
    "adaptive": {"display", "block_binding"},
    "disabled": set(),
    "enabled": {"budget_tokens", "display"},
}
_CHOICE = {"auto": set(), "any": set(), "none": set(), "tool": {"name"}}
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
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
    if limit > _MOST_TOKENS:
        raise ValueError(f"max_tokens: {limit} > {_MOST_TOKENS}, the most that this model can write")
    if limit > _MOST_WITHOUT_STREAM and not body.get("stream"):
        raise ValueError("max_tokens: streaming is required where a reply may take longer than 10 minutes")
    _check_system(body.get("system", "x"))
    _check_thinking(body)
    _check_choice(body)
    for n, tool in enumerate(body.get("tools") or []):
        _check_schema(tool, f"tools.{n}.custom.input_schema")
    if sum(_marks(body)) > 4:
        raise ValueError("a maximum of 4 blocks with cache_control may be provided")
    validate_messages(body["messages"], body.get("tools"), paused=paused)
    if not body.get("tools") and any(_has_tool_blocks(message) for message in body["messages"]):
        raise ValueError("tools: requests which include tool_use or tool_result blocks must define tools")


def _check_system(system: Any) -> None:
    texts = [system] if isinstance(system, str) else [block.get("text") for block in system]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ValueError("system: text content blocks must be non-empty")


def _check_thinking(body: Json) -> None:
    thinking = body.get("thinking", {"type": "disabled"})
    if not isinstance(thinking, dict) or thinking.get("type") not in _THINKING:
        raise ValueError(f"thinking.type: one of {', '.join(_THINKING)} is needed")
    if unknown := sorted(set(thinking) - {"type"} - _THINKING[thinking["type"]]):
        raise ValueError(f"thinking.{unknown[0]}: extra inputs are not permitted")
    if thinking["type"] == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or not 1_024 <= budget < body["max_tokens"]:
            raise ValueError("thinking.budget_tokens: at least 1024 and less than max_tokens")


def _check_schema(tool: Any, where: str) -> None:
    """What the API asks of a tool's schema beyond being one of an object."""
    schema = tool.get("input_schema") if isinstance(tool, dict) else None
    if not isinstance(schema, dict):
        return  # told by validate_messages
    for keyword in ("oneOf", "allOf", "anyOf"):
        if keyword in schema:
            raise ValueError(f"{where}: does not support oneOf, allOf, or anyOf at the top level")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(_KEY.fullmatch(str(key)) for key in properties):
        raise ValueError(f"{where}.properties: property keys should match pattern '^{_KEY.pattern}$'")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise ValueError(f"{where}.required: must be a list of strings")


def _has_tool_blocks(message: Json) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(b["type"] in ("tool_use", "tool_result") for b in content)


def _check_choice(body: Json) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        raise ValueError("tool_choice: may only be specified while providing tools")
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise ValueError("tool_choice.type: auto, any, tool or none is needed")
    allowed = {"type", "disable_parallel_tool_use"} | _CHOICE[choice["type"]]
    if unknown := sorted(set(choice) - (allowed if choice["type"] != "none" else {"type"})):
        raise ValueError(f"tool_choice.{unknown[0]}: extra inputs are not permitted")
    if choice["type"] == "tool" and choice.get("name") not in [tool.get("name") for tool in body["tools"]]:
        raise ValueError(f"tool_choice.name: tool {choice.get('name')!r} is not among the tools")
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
        self.written: dict[str, list[Json]] = {}

    def learn(self, body: Json, content: list[Json]) -> None:
        """Bind the thinking blocks of a reply to the request that it answers."""
        last = body["messages"][-1]
        paused = last["content"] if last["role"] == "assistant" and isinstance(last["content"], list) else []
        # A reply after a pause goes on with the message that was paused.
        thought = [block for block in [*paused, *content] if block.get("type") in _THOUGHT]
        for block in content:
            if block.get("type") == "tool_use":
                self.written[block.get("id", "")] = thought
            elif block.get("type") == "thinking":
                self.written[block.get("signature", "")] = [block]
        prefix = _prefix(body, len(body["messages"]))
        for signature in _signatures(content):
            self.prefixes[signature] = prefix

    def check(self, body: Json, headers: Mapping[str, str]) -> list[str]:
        """Places of blocks that would be dropped. Raises ValueError where they are not to be dropped, and where
        the thinking of the turn under way is not what was sent."""
        self._check_unchanged(body["messages"])
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

    def _check_unchanged(self, messages: list[Json]) -> None:
        for n, message in enumerate(messages):
            content = message["content"] if isinstance(message["content"], list) else []
            for m, block in enumerate(content):
                sent = self.written.get(block.get("signature", "")) if block["type"] == "thinking" else None
                if sent not in (None, [block]):
                    raise ValueError(f"messages.{n}.content.{m}: invalid signature in thinking block")
        if len(messages) < 2 or not _has_tool_blocks(messages[-1]):
            return
        content = messages[-2]["content"]
        thought = [block for block in content if block["type"] in _THOUGHT]
        for call in content:
            if call["type"] == "tool_use" and self.written.get(call["id"], thought) != thought:
                raise ValueError(
                    f"messages.{len(messages) - 2}: thinking or redacted_thinking blocks in the latest assistant "
                    "message cannot be modified; they must remain as they were in the original response"
                )


_THOUGHT = ("thinking", "redacted_thinking")


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
