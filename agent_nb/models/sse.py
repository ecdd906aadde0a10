"""A message as the server-sent events in which the Messages API would stream it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .scripted import as_message

Json = dict[str, Any]


def sse(event: Json) -> bytes:
    """One server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def whole(reply: Json | str, model: str) -> Json:
    """A reply as the API sends it when it does not stream."""
    message = as_message(reply)
    return {"id": "msg_1", "type": "message", "model": model, "stop_sequence": None} | message


def events_of(reply: Json | str, model: str = "scripted", piece: int = 7) -> Iterator[Json]:
    """The events in which the API would stream a message, deltas of `piece` characters each."""
    message = whole(reply, model)
    usage = message["usage"]
    yield {
        "type": "message_start",
        "message": message
        | {"content": [], "stop_reason": None, "stop_details": None, "usage": usage | {"output_tokens": 1}},
    }
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        start, parts = _parts(block, piece)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for part in parts:
            yield {"type": "content_block_delta", "index": index, "delta": part}
        yield {"type": "content_block_stop", "index": index}
    stop = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _parts(block: Json, size: int) -> tuple[Json, list[Json]]:
    """How a block starts, and its deltas."""
    match block.get("type"):
        case "text":
            parts = [{"type": "text_delta", "text": text} for text in _cut(block["text"], size)]
            return block | {"text": ""}, parts
        case "thinking":
            parts = [{"type": "thinking_delta", "thinking": text} for text in _cut(block["thinking"], size)]
            parts.append({"type": "signature_delta", "signature": block["signature"]})
            return block | {"thinking": "", "signature": ""}, parts
        case "tool_use":
            # Written with escapes, so that cuts fall inside them; the first delta is empty, as the API's is.
            text = json.dumps(block["input"])
            parts = [{"type": "input_json_delta", "partial_json": cut} for cut in ["", *_cut(text, size)]]
            return block | {"input": {}}, parts
    return block, []


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
