"""Parameter names that the Messages API refuses (地区, größe) go over the wire under plain ones, and come back.

Only the wire knows the plain names: tools, trace, transcript and recordings keep the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

_PLAIN = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def sent(tools: list[Json], messages: list[Json]) -> tuple[list[Json], list[Json]]:
    """Schemas and history as they go over the wire; untouched where all names are plain."""
    named = _named(tools)
    if not named:
        return tools, messages
    tools = [_tool(tool, named[tool["name"]]) if tool.get("name") in named else tool for tool in tools]
    return tools, [_calls(message, lambda name: named.get(name, {})) for message in messages]


def received(tools: list[Json], message: Json) -> Json:
    """A reply with the arguments of its calls under the user's own names. `tools`: as before `sent`."""
    own = {tool: {plain: name for name, plain in names.items()} for tool, names in _named(tools).items()}
    return _calls(message, lambda name: own.get(name, {})) if own else message


def _named(tools: list[Json]) -> dict[str, dict[str, str]]:
    """Tool → own name → plain name, for the names that cannot be sent."""
    named = {}
    for tool in tools:
        names = list(_properties(tool))
        if refused := [name for name in names if not _PLAIN.fullmatch(name)]:
            free = (f"arg{n}" for n in range(1, 2 * len(names) + 1) if f"arg{n}" not in names)
            named[tool["name"]] = dict(zip(refused, free, strict=False))
    return named


def _properties(tool: Json) -> Json:
    schema = tool.get("input_schema")
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def _tool(tool: Json, names: dict[str, str]) -> Json:
    """The schema under plain names; each description begins with the user's own."""
    properties = {
        names.get(name, name): _told(name, inner, names) for name, inner in _properties(tool).items()
    }
    schema = {**tool["input_schema"], "properties": properties}
    if isinstance(schema.get("required"), list):
        schema["required"] = [names.get(name, name) for name in schema["required"]]
    return {**tool, "input_schema": schema}


def _told(name: str, schema: Any, names: dict[str, str]) -> Any:
    if name not in names or not isinstance(schema, dict):
        return schema
    about = str(schema.get("description") or "")
    return {**schema, "description": f"{name}: {about}" if about else name}


def _calls(message: Json, names: Callable[[str], dict[str, str]]) -> Json:
    """The message with the arguments of its calls under other names."""
    content = message.get("content")
    if not isinstance(content, list) or not any(_is_call(block) for block in content):
        return message
    return {
        **message,
        "content": [_call(b, names(str(b.get("name")))) if _is_call(b) else b for b in content],
    }


def _call(block: Json, names: dict[str, str]) -> Json:
    given = block.get("input")
    if not names or not isinstance(given, dict):
        return block
    return {**block, "input": {names.get(name, name): value for name, value in given.items()}}


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"
