"""Whether a history is one that the Messages API would accept.

The rules are those of the API itself, read strictly: consecutive messages of one role, which some servers
merge, are refused here, because they are never meant.
"""

from __future__ import annotations

import json
import re
from typing import Any

Json = dict[str, Any]

_TEXT = {"type": True, "text": True, "cache_control": False, "citations": False}
# Fields of each block type: True where it must be there.
FIELDS: dict[str, dict[str, bool]] = {
    "text": _TEXT,
    "image": {"type": True, "source": True, "cache_control": False},
    "document": {
        "type": True,
        "source": True,
        "title": False,
        "context": False,
        "citations": False,
        "cache_control": False,
    },
    "thinking": {"type": True, "thinking": True, "signature": True},
    "redacted_thinking": {"type": True, "data": True},
    "tool_use": {
        "type": True,
        "id": True,
        "name": True,
        "input": True,
        "cache_control": False,
        "caller": False,
        "toolset_name": False,
    },
    "tool_result": {
        "type": True,
        "tool_use_id": True,
        "content": False,
        "is_error": False,
        "cache_control": False,
    },
}
ALLOWED = {
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
    "user": {"text", "image", "document", "tool_result"},
    "tool_result": {"text", "image", "document"},
}
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MEDIA = ("image/png", "image/jpeg", "image/gif", "image/webp")


def validate_messages(messages: list[Json], tools: list[Json] | None = None, *, paused: bool = False) -> None:
    """Check a history and its tool schemas as the Messages API would.

    Args:
        messages: the history to be sent; it must end with a user message (or with the assistant's, where
            that is going on after stop_reason pause_turn: `paused`).
        tools: dicts of name, description, input_schema. A tool_use of a name that is no longer among them
            is fine: the tool list may change within a session.

    Raises: ValueError with the place ("messages.3.content.0: …") and the reason.
    """
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages: a list of at least one message is needed")
    _json_only(messages, "messages")
    _tools(tools or [])
    seen: set[str] = set()
    open_ids: list[str] = []
    for n, message in enumerate(messages):
        where = f"messages.{n}"
        _role(message, n, where)
        blocks = _blocks(message["content"], message["role"], f"{where}.content")
        if message["role"] == "user":
            _answers(blocks, open_ids, f"{where}.content")
            open_ids = []
        else:
            open_ids = _new_ids(blocks, seen, f"{where}.content")
    if open_ids:
        raise ValueError(f"messages: the last tool_use has no tool_result: {', '.join(open_ids)}")
    if messages[-1]["role"] != "user" and not paused:
        raise ValueError("messages: the last one must be the user's; a prefilled answer is not supported")


def _json_only(value: Any, where: str) -> None:
    """Refuse what JSON cannot carry: other types, NaN, keys that are no text, lone surrogates."""
    match value:
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ValueError(f"{where}: a lone surrogate cannot be sent") from None
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise ValueError(f"{where}: the key {key!r} is not a string")
                _json_only(key, where)
                _json_only(item, f"{where}.{key}")
        case list():
            for n, item in enumerate(value):
                _json_only(item, f"{where}.{n}")
        case None | bool() | int():
            pass
        case float():
            if value != value or value in (float("inf"), float("-inf")):
                raise ValueError(f"{where}: {value!r} is not JSON")
        case _:
            raise ValueError(f"{where}: a {type(value).__name__} is not JSON")


def _tools(tools: list[Json]) -> None:
    _json_only(tools, "tools")
    names: set[str] = set()
    for n, tool in enumerate(tools):
        where = f"tools.{n}"
        if unknown := set(tool) - {"name", "description", "input_schema", "cache_control"}:
            raise ValueError(f"{where}.{sorted(unknown)[0]}: extra inputs are not permitted")
        if not isinstance(name := tool.get("name"), str) or not _NAME.fullmatch(name):
            raise ValueError(f"{where}.name: {name!r} does not match {_NAME.pattern}")
        if name in names:
            raise ValueError(f"{where}.name: tool names must be unique, {name!r} comes twice")
        names.add(name)
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise ValueError(f'{where}.input_schema: a JSON schema with type "object" is needed')


def _role(message: Json, n: int, where: str) -> None:
    if not isinstance(message, dict) or set(message) != {"role", "content"}:
        raise ValueError(f"{where}: a message has the fields role and content, no more and no less")
    expected = "assistant" if n % 2 else "user"
    if message["role"] != expected:
        raise ValueError(f"{where}.role: {message['role']!r}, but roles alternate and {expected!r} is due")


def _blocks(content: Any, kind: str, where: str) -> list[Json]:
    """The content as a list of blocks, each of them checked. A text content counts as one text block."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content:
        raise ValueError(f"{where}: must not be empty")
    for n, block in enumerate(content):
        _block(block, kind, f"{where}.{n}")
    return content


def _block(block: Any, kind: str, where: str) -> None:
    name = block.get("type") if isinstance(block, dict) else None
    if name not in ALLOWED[kind]:
        raise ValueError(f"{where}.type: {name!r} is not one of {', '.join(sorted(ALLOWED[kind]))} ({kind})")
    fields = FIELDS[name]
    if unknown := set(block) - set(fields):
        raise ValueError(f"{where}.{sorted(unknown)[0]}: extra inputs are not permitted in {name}")
    for field, needed in fields.items():
        if needed and field not in block:
            raise ValueError(f"{where}.{field}: field required in {name}")
    if check := _CHECKS.get(name):
        check(block, where)


def _check_text(block: Json, where: str) -> None:
    if not isinstance(block["text"], str) or not block["text"].strip():
        raise ValueError(f"{where}.text: text content blocks must be non-empty and not only whitespace")


def _check_image(block: Json, where: str) -> None:
    source = block["source"]
    if not isinstance(source, dict) or source.get("type") not in ("base64", "url", "file"):
        raise ValueError(f"{where}.source.type: base64, url or file is needed")
    if source["type"] != "base64":
        return
    if source.get("media_type") not in _MEDIA or set(source) != {"type", "media_type", "data"}:
        raise ValueError(f"{where}.source: media_type (one of {', '.join(_MEDIA)}) and data are needed")
    if not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", str(source["data"])):
        raise ValueError(f"{where}.source.data: not base64")


def _check_thinking(block: Json, where: str) -> None:
    for field in ("thinking", "signature"):
        if not isinstance(block[field], str):
            raise ValueError(f"{where}.{field}: must be a string")
    if not block["signature"]:
        raise ValueError(f"{where}.signature: a thinking block goes back with the signature it came with")


def _check_redacted(block: Json, where: str) -> None:
    if not isinstance(block["data"], str) or not block["data"]:
        raise ValueError(f"{where}.data: must be a non-empty string")


def _check_call(block: Json, where: str) -> None:
    _check_id(block["id"], f"{where}.id")
    if not isinstance(block["name"], str) or not 1 <= len(block["name"]) <= 200:
        raise ValueError(f"{where}.name: 1 to 200 characters are needed")
    if not isinstance(block["input"], dict):
        raise ValueError(f"{where}.input: must be an object, not {json.dumps(block['input'])[:40]}")


def _check_result(block: Json, where: str) -> None:
    _check_id(block["tool_use_id"], f"{where}.tool_use_id")
    if not isinstance(block.get("is_error", False), bool):
        raise ValueError(f"{where}.is_error: must be true or false")
    content = block.get("content", "")
    if isinstance(content, list):
        for n, part in enumerate(content):
            _block(part, "tool_result", f"{where}.content.{n}")
    elif not isinstance(content, str):
        raise ValueError(f"{where}.content: must be a string or a list of blocks")
    if block.get("is_error") and not content:
        raise ValueError(f"{where}.content: cannot be empty if is_error is true")


def _check_id(value: Any, where: str) -> None:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError(f"{where}: {value!r} does not match {_ID.pattern}")


_CHECKS = {
    "text": _check_text,
    "image": _check_image,
    "thinking": _check_thinking,
    "redacted_thinking": _check_redacted,
    "tool_use": _check_call,
    "tool_result": _check_result,
}


def _answers(blocks: list[Json], open_ids: list[str], where: str) -> None:
    """Every open call has its result here, once, and the results stand before anything else."""
    answered: list[str] = []
    other = False
    for n, block in enumerate(blocks):
        if block["type"] != "tool_result":
            other = True
            continue
        call = block["tool_use_id"]
        if call not in open_ids:
            raise ValueError(f"{where}.{n}: the tool_result {call!r} has no tool_use in the message before")
        if call in answered:
            raise ValueError(f"{where}.{n}: a second tool_result for {call!r}")
        if other:
            raise ValueError(f"{where}.{n}: tool_result blocks come before any other block")
        answered.append(call)
    if missing := [call for call in open_ids if call not in answered]:
        raise ValueError(f"{where}: tool_use without a tool_result right after it: {', '.join(missing)}")


def _new_ids(blocks: list[Json], seen: set[str], where: str) -> list[str]:
    ids = []
    for n, block in enumerate(blocks):
        if block["type"] == "tool_use":
            if block["id"] in seen:
                raise ValueError(f"{where}.{n}.id: tool_use ids must be unique, {block['id']!r} comes twice")
            seen.add(block["id"])
            ids.append(block["id"])
    return ids
