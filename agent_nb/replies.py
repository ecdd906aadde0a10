"""What is wrong with a model's reply, told once and for all: the loop only asks, `read` decides.

Every reply becomes one of: calls to run, a final answer, or a problem that says whether to try again and with
which stop_reason to end otherwise. The rules are those of the Messages API's stop reasons, plus what
compatible servers were seen to send.
"""

from __future__ import annotations

import copy
import dataclasses
import uuid
from typing import Any

Json = dict[str, Any]

FINAL = {"end_turn", "stop_sequence"}


@dataclasses.dataclass
class Reply:
    """A reply as the loop uses it.

    Args:
        message: role and content, fit for the history; content is kept as it came but for broken tool ids.
        calls: tool_use blocks to run.
        text: the text blocks, joined.
        stop_reason: as the model gave it.
        problem: "" or why it can neither be run nor taken as an answer.
        ends: stop_reason of the run if the problem stays ("" where the reply is fine).
        retry: what to say to the model when it is asked again, or "" when asking again is no use.
        more_room: the reply was cut: ask again with a larger max_tokens.
        notices: sentences for the user.
    """

    message: Json
    calls: list[Json]
    text: str
    stop_reason: str
    problem: str = ""
    ends: str = ""
    retry: str = ""
    more_room: bool = False
    notices: list[str] = dataclasses.field(default_factory=list)


def text_of(content: list[Json]) -> str:
    """The text blocks of a message, joined by a blank line."""
    texts = [str(block.get("text", "")) for block in content if block.get("type") == "text"]
    return "\n\n".join(text for text in texts if text.strip())


def read(message: Json, used_ids: set[str]) -> Reply:
    """Classify a reply in the Messages API's shape. `used_ids`: the tool_use ids of the history."""
    content, notices = _clean(message.get("content"), used_ids)
    stop = str(message.get("stop_reason") or "")
    calls = [block for block in content if block.get("type") == "tool_use"]
    reply = Reply({"role": "assistant", "content": content}, calls, text_of(content), stop, notices=notices)
    if stop == "refusal":
        details = message.get("stop_details") or {}
        why = details.get("explanation") or details.get("category") or "the model gave no reason"
        return _bad(reply, f"the model refused: {why}", "refused")
    if stop == "max_tokens" and calls:
        reply.more_room = True
        return _bad(reply, "the reply was cut inside a tool call", "truncated")
    if stop == "max_tokens":
        reply.ends, reply.problem = "truncated", "the answer was cut at the output limit"
        return reply
    if stop == "model_context_window_exceeded":
        return _bad(reply, "the model's context window is full", "context_full")
    if stop == "tool_use" and not calls:
        return _bad(reply, "the model announced a tool call and named none", "error")
    if stop == "pause_turn":
        reply.calls = []
        return reply
    if stop in FINAL and calls:
        notices.append("the model ended its turn and called a tool; the call is run")
        return reply
    if not calls and not reply.text.strip():
        return _bad(
            reply, "the reply was empty", "empty", retry="Your last reply was empty. Answer or call a tool."
        )
    if stop not in FINAL | {"tool_use"}:
        return _bad(reply, f"the model stopped for a reason unknown here: {stop or 'none given'}", "error")
    return reply


def _bad(reply: Reply, problem: str, ends: str, retry: str = "") -> Reply:
    reply.problem, reply.ends, reply.retry, reply.calls = problem, ends, retry, []
    return reply


def _clean(content: Any, used_ids: set[str]) -> tuple[list[Json], list[str]]:
    """Blocks that the API takes back: no empty text, and every tool_use under an id of its own."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks, notices, seen = [], [], set(used_ids)
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        if block.get("type") in ("text", "tool_use"):
            block = _sendable(block)
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            continue
        if block.get("type") == "tool_use":
            block, renamed = _with_own_id(block, seen)
            if renamed:
                notices.append(f"a call of {block.get('name')} came without an id of its own and got one")
        blocks.append(block)
    return blocks, notices


def without_surrogates(text: str) -> str:
    """The text as a request can carry it: surrogate pairs joined, lone ones as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sendable(block: Any) -> Any:
    """The same without lone surrogates, which no request can carry."""
    if isinstance(block, str):
        return without_surrogates(block)
    if isinstance(block, dict):
        return {key: _sendable(value) for key, value in block.items()}
    return [_sendable(value) for value in block] if isinstance(block, list) else block


def _with_own_id(block: Json, seen: set[str]) -> tuple[Json, bool]:
    given = block.get("id")
    valid = (
        isinstance(given, str)
        and bool(given)
        and all(c.isascii() and (c.isalnum() or c in "_-") for c in given)
    )
    fine = valid and given not in seen
    if not fine or not isinstance(block.get("input"), dict) or not isinstance(block.get("name"), str):
        block = copy.deepcopy(block)
        block["id"] = given if fine else f"toolu_{uuid.uuid4().hex[:20]}"
        block["name"] = str(block.get("name") or "unnamed")
        if not isinstance(block.get("input"), dict):
            block["input"] = {"value": block.get("input")}
    seen.add(block["id"])
    return block, not fine
