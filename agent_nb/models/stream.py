"""The events of a streamed reply, put together into one message in the API's own shape."""

from __future__ import annotations

import json
from typing import Any

from ..errors import ModelError, ModelUnavailable

Json = dict[str, Any]

CUT_SHORT = ("max_tokens", "refusal", "model_context_window_exceeded")
"""Stop reasons after which the arguments of the last tool call may be incomplete."""

_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_KNOWN = ("text", "thinking", "redacted_thinking", "tool_use")
_TEXTS = ("text", "thinking", "signature", "data", "name")
# The field that a delta goes on with, and the field in which the delta brings it.
_GROWS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class Assembly:
    """One reply under way: feed it the events in order, then ask for the message."""

    def __init__(self) -> None:
        self.started = False
        self.finished = False
        self.blocks: dict[int, Json] = {}
        self.arguments: dict[int, str] = {}
        self.usage: Json = {}
        self.stop: Json = {}
        self.unknown: list[Json] = []

    def feed(self, event: Json) -> Json | None:
        """Take one event; returns the piece that the protocol passes on, if it brought one."""
        match event.get("type"):
            case "message_start":
                self.started = True
                self._count(event["message"].get("usage") or {})
                self.blocks = dict(enumerate(event["message"].get("content") or []))
            case "content_block_start":
                # llama.cpp's server leaves message_start out where its first token is half a character.
                self.started = True
                self.blocks[event["index"]] = dict(event["content_block"])
            case "content_block_delta":
                return self._grow(event)
            case "message_delta":
                self.stop |= {k: v for k, v in event["delta"].items() if v is not None}
                self._count(event.get("usage") or {})
            case "message_stop":
                self.finished = True
            case "content_block_stop" | "ping":
                pass
            case _:
                self.unknown.append(event)
        return None

    def _count(self, usage: Json) -> None:
        # Counts are totals so far, never increments; one that is left out keeps its value.
        self.usage |= {k: v for k, v in usage.items() if v is not None}

    def _grow(self, event: Json) -> Json | None:
        index, delta = event["index"], event["delta"]
        if index not in self.blocks:
            raise ValueError(f"the stream goes on with block {index}, which it never began")
        block, kind = self.blocks[index], delta.get("type")
        if kind == "input_json_delta":
            self.arguments[index] = self.arguments.get(index, "") + delta["partial_json"]
            return {"type": kind, "id": block.get("id", ""), "partial_json": mended(delta["partial_json"])}
        if kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        elif kind in _GROWS:
            field = _GROWS[kind]
            block[field] = (block.get(field) or "") + delta[field]
            if field != "signature":
                return {"type": kind, field: mended(delta[field])}
        else:
            self.unknown.append(event)
        return None

    def message(self) -> Json:
        """The whole message: role, content, stop_reason, usage, and stop_details where there are any.

        Blocks hold only what may be sent back; those of an unknown type stay as they came. Events and
        deltas that are not known stand under "unknown". Raises ModelUnavailable for a stream that ended
        early, ValueError for tool arguments that are not a JSON object.
        """
        if not self.started:
            raise ModelError("the server's reply is not a Messages API stream; check ANTHROPIC_BASE_URL")
        if not self.finished and "stop_reason" not in self.stop:
            raise ModelUnavailable("the connection ended in the middle of the reply; try again")
        content = [self._block(index) for index in sorted(self.blocks)]
        message: Json = {"role": "assistant", "content": [block for block in content if not _empty(block)]}
        message["stop_reason"] = self.stop.get("stop_reason")
        message |= {key: self.stop[key] for key in ("stop_sequence", "stop_details") if key in self.stop}
        message["usage"] = {key: int(self.usage.get(key) or 0) for key in _COUNTS}
        if written := self.usage.get("cache_creation"):
            message["usage"]["cache_creation"] = written
        return message | ({"unknown": self.unknown} if self.unknown else {})

    def _block(self, index: int) -> Json:
        block = self.blocks[index]
        if index in self.arguments:
            block = block | {"input": self._input(block, self.arguments[index])}
        if block.get("type") not in _KNOWN:
            return block
        for field in _TEXTS:
            if not isinstance(block.get(field, ""), str):
                raise ValueError(f"the stream's {block['type']} block has no text in its field {field}")
        return {key: _mended_all(value) for key, value in block.items() if value is not None}

    def _input(self, block: Json, text: str) -> Json:
        try:
            value = json.loads(text or "{}", parse_constant=_no_constant)
        except ValueError as error:
            if self.stop.get("stop_reason") in CUT_SHORT:
                return {}
            name = block.get("name", "a tool")
            raise ValueError(f"the model's arguments for {name} are not valid JSON: {error}") from None
        if not isinstance(value, dict):
            raise ValueError(f"the model's arguments for {block.get('name', 'a tool')} are not an object")
        return value


def mended(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates, which nothing can encode, replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _mended_all(value: Any) -> Any:
    match value:
        case str():
            return mended(value)
        case dict():
            return {mended(key): _mended_all(item) for key, item in value.items()}
        case list():
            return [_mended_all(item) for item in value]
    return value


def _empty(block: Json) -> bool:
    # The API may send a text block that it would not take back.
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
