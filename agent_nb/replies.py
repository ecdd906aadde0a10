"""What is wrong with a model's reply, told once and for all: the loop only asks, `read` decides.

Every reply becomes one of: calls to run, a final answer, or a problem that says whether to try again and with
which stop_reason to end otherwise. The rules are those of the Messages API's stop reasons, plus what
compatible servers were seen to send.
"""

from __future__ import annotations

import dataclasses
import math
import re
import uuid
from typing import Any

from .models.validate import FIELDS
from .transcript import SENT, fits

Json = dict[str, Any]

FINAL = {"end_turn", "stop_sequence"}

DEEPEST = 100
"""Levels of an input that are kept; no tool takes that many."""


@dataclasses.dataclass
class Reply:
    """A reply as the loop uses it.

    Args:
        message: role and content as plain JSON, every call under an id of its own. Blocks of unknown types and
            (as "unknown") events are still in it: the transcript keeps them, and `transcript.sent_back` leaves
            them out of the history.
        calls: tool_use blocks to run.
        text: the text blocks, joined.
        stop_reason: as the model gave it.
        problem: "" or why it can neither be run nor taken as an answer.
        ends: stop_reason of the run if the problem stays ("" where the reply is fine).
        retry: what to say to the model when it is asked again, or "" when asking again is no use.
        more_room: the reply was cut: ask again with a larger max_tokens.
        usage: tokens as the server told them.
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
    usage: Json = dataclasses.field(default_factory=dict)
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
    usage = _plain(message.get("usage"))
    reply.usage = usage if isinstance(usage, dict) else {}
    if unknown := message.get("unknown"):
        reply.message["unknown"] = _plain(unknown)
    if stop == "refusal":
        reply.text = ""  # what it had begun to say is void
        return _bad(reply, f"the model refused: {_why(message.get('stop_details'))}", "refused")
    if strange := _strange(content, unknown):
        return _bad(
            reply, f"the model sent {strange}, which is unknown here; the transcript keeps it", "error"
        )
    if stop == "max_tokens" and (calls or not reply.text):
        reply.more_room = True
        cut = "inside a tool call" if calls else "before it said anything"
        return _bad(reply, f"the reply was cut {cut}", "truncated")
    if stop == "max_tokens":
        reply.ends, reply.problem = "truncated", "the answer was cut at the output limit"
        return reply
    if stop == "model_context_window_exceeded":
        return _bad(reply, "the model's context window is full", "context_full")
    if stop == "tool_use" and not calls:
        return _bad(reply, "the model announced a tool call and named none", "error")
    if stop in FINAL | {"pause_turn"} and calls:
        did = "paused" if stop == "pause_turn" else "ended"
        notices.append(f"the model {did} its turn and called a tool; the call is run")
        return reply
    if stop == "pause_turn" and content:
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


def _strange(content: list[Json], unknown: Any) -> str:
    """What in a reply is of a kind that may mean anything, so that nothing of it may be acted on."""
    for block in content:
        if block.get("type") not in SENT["assistant"]:
            return f"a block of the type {block.get('type')!s:.60}"
    if not unknown:
        return ""
    first = unknown[0] if isinstance(unknown, list) else unknown
    kind = first.get("type") if isinstance(first, dict) else first
    if kind == "content_block_delta" and isinstance(first["delta"], dict):
        kind = first["delta"].get("type")
    return f"an event of the type {kind!s:.60}"


def _why(details: Any) -> str:
    """The reason of a refusal, in the words of the server."""
    if isinstance(details, dict):
        details = details.get("explanation") or details.get("category")
    return str(details or "the model gave no reason")


def _clean(content: Any, used_ids: set[str]) -> tuple[list[Json], list[str]]:
    """Blocks that the API takes back: plain JSON, no empty text, every tool_use under an id of its own."""
    blocks, notices, mine = [], [], set[str]()
    for given in content if isinstance(content, list) else [content]:
        block = _plain({"type": "text", "text": given} if isinstance(given, str) else given)
        if not isinstance(block, dict):
            continue
        kind = str(block.get("type"))
        if kind == "tool_use":
            block, renamed = _with_own_id(block, used_ids, mine)
            if renamed:
                notices.append(f"a call of {block['name']} came without an id of its own and got one")
        elif kind in SENT["assistant"] and not fits(block, "assistant"):
            continue
        blocks.append(_known_fields(block))
    return blocks, notices


def _known_fields(block: Json) -> Json:
    # Other servers send fields of their own, and the API takes none that it does not know.
    fields = FIELDS[kind] if (kind := str(block.get("type"))) in ("text", "tool_use") else None
    return {k: v for k, v in block.items() if k in fields and v is not None} if fields else block


def without_surrogates(text: str) -> str:
    """The text as a request can carry it: surrogate pairs joined, lone ones as U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _plain(value: Any, depth: int = 0) -> Any:
    """The same as JSON that every request can carry: no lone surrogates, no NaN, no types of Python's own."""
    if isinstance(value, str):
        return without_surrogates(value)
    if depth > DEEPEST:
        return "… (nested too deeply)"
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner, depth + 1) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and value.bit_length() > 1_024:
        return f"an integer of {value.bit_length():,} bits"
    return value if value is None or isinstance(value, int) else without_surrogates(str(value))


def _with_own_id(block: Json, used: set[str], mine: set[str]) -> tuple[Json, bool]:
    """The call under an id that no other has, with a name and an object as its input; and whether the id is new."""
    given, name = block.get("id"), block.get("name")
    fine = (
        isinstance(given, str)
        and re.fullmatch(r"[A-Za-z0-9_-]+", given)
        and not (given in used or given in mine)
    )
    block = block | {"id": given if fine else f"toolu_{uuid.uuid4().hex[:20]}"}
    block["name"] = str(name or "unnamed")[:200]
    if not isinstance(block.get("input"), dict):
        block["input"] = {"value": block.get("input")}
    mine.add(block["id"])
    return block, not fine
