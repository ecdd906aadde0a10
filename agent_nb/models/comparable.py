"""Two requests, compared by what their reply depends on; the first difference in words."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from .. import redact
from .stream import mended

Json = dict[str, Any]

# What differs from one run to the next without meaning anything: how long it took, and, of memories, when and
# under which id they were written and how fresh they are. Everything else in a result is data and counts.
_TIMINGS = frozenset({"ms", "seconds"})
_OF_MEMORIES = _TIMINGS | {"id", "created", "score"}
_MEMORY_TOOLS = frozenset({"recall_memory", "save_memory", "forget_memory"})
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
# The name under which a session keeps a whole result; a cell that is run again counts on.
_VALUE_NAME = re.compile(r"\b_r\d+\b")
# In the system prompt: ids, and the date with all that is reckoned from it.
_ID = re.compile(r"\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64})\b")
_DATE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\b(?:today|yesterday|just now"
    r"|\d+(?:\.\d+)? ?(?:s|min|h|d|seconds?|minutes?|hours?|days?|weeks?|months?|years?) (?:ago|old))\b"
)
# The loop closes each message of results with what is left of its valves, the seconds among them.
_SPENT = re.compile(r"\d+ of [\d.e+]+ s used")


def comparable(messages: list[Json], system: str, tools: list[Json]) -> Json:
    """The part of a request that its reply depends on.

    Tool_use ids and names of kept values are numbered, documents are digests, secrets are masked. Left out
    are timings, the ids and ages of memories, dates in the system prompt, and how a picture looks: its
    figures stand beside it, and no two machines draw alike.
    """
    reader = _Reader()
    turns = [{"role": message["role"], "content": reader.blocks(message["content"])} for message in messages]
    plain_tools = [{key: tool.get(key) for key in ("name", "description", "input_schema")} for tool in tools]
    request: Json = {
        "system": _ID.sub("<id>", _DATE.sub("<date>", system)),
        "tools": plain_tools,
        "messages": turns,
    }
    result: Json = json.loads(mended(json.dumps(redacted(request), ensure_ascii=False, default=str)))
    return result


class _Reader:
    """Goes through a history in order, and numbers the ids and value names that it meets."""

    def __init__(self) -> None:
        self.calls: dict[str, str] = {}
        self.tools: dict[str, str] = {}
        self.values: dict[str, str] = {}

    def blocks(self, content: str | list[Json]) -> list[Json]:
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        return [self.block(block) for block in content]

    def block(self, block: Json) -> Json:
        block = {key: value for key, value in block.items() if key != "cache_control"}
        match block.get("type"):
            case "text":
                block["text"] = _SPENT.sub("<time> used", block["text"])
            case "tool_use":
                block["id"] = self.calls.setdefault(block["id"], f"call {len(self.calls) + 1}")
                self.tools[block["id"]] = block["name"]
            case "tool_result":
                block |= self.result(block)
            case "image":
                block["source"] = block["source"].get("media_type", "")
            case "document":
                source = json.dumps(block["source"], sort_keys=True)
                block["source"] = hashlib.sha256(source.encode()).hexdigest()
        return block

    def result(self, block: Json) -> Json:
        """The fields of a tool_result that are compared otherwise than they stand."""
        number = self.calls.get(block["tool_use_id"], "?")
        name = self.tools.get(number, "a tool")
        dropped = _OF_MEMORIES if name in _MEMORY_TOOLS else _TIMINGS
        content = [self.part(part, dropped) for part in self.blocks(block.get("content", ""))]
        return {"tool_use_id": number, "content": content, "name": name}

    def part(self, part: Json, dropped: frozenset[str]) -> Json:
        if part.get("type") != "text":
            return part
        try:
            value = json.loads(part["text"])
        except ValueError:
            value = part["text"]
        return {"type": "text", "value": self.value(value, dropped)}

    def value(self, value: Any, dropped: frozenset[str]) -> Any:
        match value:
            case dict():
                return {key: self.value(item, dropped) for key, item in value.items() if key not in dropped}
            case list():
                return [self.value(item, dropped) for item in value]
            case str():
                return _VALUE_NAME.sub(self.value_name, _ADDRESS.sub("at 0x…", value))
        return value

    def value_name(self, found: re.Match[str]) -> str:
        return self.values.setdefault(found[0], f"_r{len(self.values) + 1}")


def difference(recorded: Json, now: Json) -> str:
    """The first difference of two comparable requests in words, or ""."""
    if json.dumps(recorded, sort_keys=True) == json.dumps(now, sort_keys=True):  # 1, 1.0 and True differ
        return ""
    for part in ("messages", "tools", "system"):
        if found := _first(recorded.get(part), now.get(part), []):
            path, before, after = found
            place = _place(part, path, now, recorded)
            return f"{place} differs: recorded {_short(before, after)}, now {_short(after, before)}"
    return "the request differs"


def _first(recorded: Any, now: Any, path: list[Any]) -> tuple[list[Any], Any, Any] | None:
    if isinstance(recorded, dict) and isinstance(now, dict):
        keys = list(dict.fromkeys([*recorded, *now]))
    elif isinstance(recorded, list) and isinstance(now, list):
        keys = list(range(max(len(recorded), len(now))))
    else:
        return None if recorded == now and type(recorded) is type(now) else (path, recorded, now)
    for key in keys:
        before, after = _item(recorded, key), _item(now, key)
        if before is _MISSING or after is _MISSING:
            return [*path, key], before, after
        if found := _first(before, after, [*path, key]):
            return found
    return None


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


_MISSING = _Missing()


def _item(container: Any, key: Any) -> Any:
    if isinstance(container, dict):
        return container.get(key, _MISSING)
    return container[key] if key < len(container) else _MISSING


def _place(part: str, path: list[Any], now: Json, recorded: Json) -> str:
    """Where a difference lies, as a reader would say it."""
    if part == "system":
        return "the system prompt"
    if part == "tools":
        named = {n: tool["name"] for tools in (recorded, now) for n, tool in enumerate(tools["tools"])}
        return f"the tool {named.get(path[0], '')} ({'.'.join(map(str, path[1:])) or 'whether it is there'})"
    if len(path) < 3:
        return f"message {path[0] + 1}"
    block: Json = {}
    for request in (now, recorded):
        with_block = _item(request["messages"], path[0])
        found = with_block if with_block is _MISSING else _item(with_block["content"], path[2])
        block = found if isinstance(found, dict) else block
    kind, inner = block.get("type", "block"), path[3:]
    if kind == "tool_result":
        inner = [step for step in inner[2:] if step != "value"]
        kind = f"tool_result of {block.get('name', 'a tool')}"
    elif kind == "tool_use":
        kind = f"tool_use of {block.get('name', 'a tool')}"
    elif kind == "text":
        kind, inner = f"text of the {'user' if path[0] % 2 == 0 else 'model'}", []
    at = ".".join(map(str, inner))
    return f"{kind} in message {path[0] + 1}" + (f" at {at}" if at else "")


def _short(value: Any, other: Any, most: int = 80) -> str:
    """`value` as JSON, from shortly before the place where it begins to differ from `other`."""
    if value is _MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    start = 0
    if isinstance(value, str) and isinstance(other, str) and len(text) > most:
        common = _common(text, json.dumps(other, ensure_ascii=False))
        start = max(0, common - 20)
    cut = text[start : start + most]
    return ("…" if start else "") + cut + ("…" if start + most < len(text) else "")


def _common(one: str, other: str) -> int:
    """Length of the beginning that both share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def redacted(value: Any) -> Any:
    """`value` with every secret in its texts masked."""
    match value:
        case str():
            return redact.redact(value)
        case dict():
            return {key: redacted(item) for key, item in value.items()}
        case list():
            return [redacted(item) for item in value]
    return value
