"""A model that plays replies written beforehand: for tests of your own tools, prompts and loops."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import ModelError
from .validate import validate_messages

Json = dict[str, Any]
Reply = Json | str | BaseException | Callable[..., Any] | list[Any]


class ScriptedModel:
    """Plays `replies` in order, and keeps what it was asked.

    Args:
        replies: one for each call.
            A dict is a message (`content` needed; `stop_reason` and `usage` are filled in where missing).
            A str is a message with that text. An exception is raised. A list is yielded item by item as
            it stands (an exception in it is raised there: a stream that dies). A callable gets the request
            (a dict of messages, system, tools, max_tokens, tool_choice) and returns one of the others.
        strict: refuse histories that the Messages API would refuse (ModelError with the reason).
        stream: yield deltas before the message.

    `requests` holds a deep copy of every request, in order.
    """

    name = "scripted"
    can_judge = True

    def __init__(self, replies: Iterable[Reply], *, strict: bool = True, stream: bool = True) -> None:
        self.replies = list(replies)
        self.requests: list[Json] = []
        self.strict = strict
        self.stream = stream
        self._paused = False

    def reply(
        self,
        messages: list[Json],
        *,
        system: str,
        tools: list[Json],
        max_tokens: int,
        tool_choice: Json | None = None,
    ) -> Iterator[Json]:
        """The next reply of the script. Raises ModelError when the script is over or the history is bad."""
        request: Json = {"messages": messages, "system": system, "tools": tools, "max_tokens": max_tokens}
        request = copy.deepcopy(request | {"tool_choice": tool_choice})
        self.requests.append(request)
        if self.strict:
            try:
                validate_messages(messages, tools, paused=self._paused)
            except ValueError as error:
                raise ModelError(f"the history of call {len(self.requests)} is not valid: {error}") from None
        if len(self.requests) > len(self.replies):
            raise ModelError(f"the script has {len(self.replies)} replies, and this is one call more")
        reply = self.replies[len(self.requests) - 1]
        return self._play(reply(request) if callable(reply) else reply)

    def _play(self, reply: Any) -> Iterator[Json]:
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, list):
            for item in reply:
                if isinstance(item, BaseException):
                    raise item
                yield copy.deepcopy(item)
            return
        message = as_message(reply)
        self._paused = message["stop_reason"] == "pause_turn"
        if self.stream:
            yield from deltas(message)
        yield {"type": "message", "message": message}


def as_message(reply: Json | str) -> Json:
    """A whole assistant message: `stop_reason` and `usage` filled in where `reply` leaves them out."""
    message: Json = {"role": "assistant"}
    message |= {"content": reply} if isinstance(reply, str) else copy.deepcopy(reply)
    if isinstance(message["content"], str):
        message["content"] = [{"type": "text", "text": message["content"]}]
    calls = any(block.get("type") == "tool_use" for block in message["content"])
    message.setdefault("stop_reason", "tool_use" if calls else "end_turn")
    message.setdefault("usage", {"input_tokens": 100, "output_tokens": 20})
    return message


def deltas(message: Json, size: int = 12) -> Iterator[Json]:
    """The pieces in which `message` would stream, of `size` characters each."""
    for block in message["content"]:
        match block.get("type"):
            case "text":
                for piece in _pieces(block["text"], size):
                    yield {"type": "text_delta", "text": piece}
            case "thinking":
                for piece in _pieces(block["thinking"], size):
                    yield {"type": "thinking_delta", "thinking": piece}
            case "tool_use":
                for piece in _pieces(json.dumps(block["input"], ensure_ascii=False), size):
                    yield {"type": "input_json_delta", "id": block["id"], "partial_json": piece}


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
