"""The learner is the model: sees each request as a model gets it, and writes the reply."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import ModelError
from ..redact import redact
from ..tokens import estimate_tokens
from .scripted import as_message, deltas

Json = dict[str, Any]
Ask = Callable[[Json], Any]
"""Shows a request (messages, system, tools, max_tokens) to a person; gives a reply in one of the forms of `Student`.

`problem` is in it where the reply before could not be read: why.
"""

NOBODY = (
    "nobody is here to answer as the model; where no one can be asked, write the replies beforehand: "
    "`me = Student(replies=[…])` (from agent_nb.models.student), then -m me"
)
SHOWN_CHARS = 1_200
"""How much of each text of a request a terminal shows."""


class Student:
    """A model that a person plays. Its replies are taken as they are, mistakes included.

    Args:
        replies: written beforehand, one for each call; None: a person is asked.
            A str is an answer; a dict of name and input is a tool call; a list of these is one reply of several
            blocks; a dict with content is a message in the Messages API's shape. An `input` that is a str is the
            JSON text of the arguments: broken JSON is what a model gets for it, a call that is asked for again.
        ask: how a person is asked; None: by the front end, else on a terminal.
    """

    name = "student"
    note = "you are the model: each request is shown to you, and your reply is taken as it is"
    is_person = True

    def __init__(self, replies: Iterable[Any] | None = None, ask: Ask | None = None) -> None:
        self.replies = None if replies is None else [replies] if isinstance(replies, str) else list(replies)
        self.ask = ask
        self.calls = 0
        self._problem = ""

    def reply(
        self,
        messages: list[Json],
        *,
        system: str,
        tools: list[Json],
        max_tokens: int,
        tool_choice: Json | None = None,
    ) -> Iterator[Json]:
        """The person's reply, in pieces and then whole. Raises ModelError where nobody answers."""
        request: Json = {"system": system, "messages": messages, "tools": tools, "max_tokens": max_tokens}
        request |= {"tool_choice": tool_choice} if tool_choice else {}
        reply, self._problem = self._answer(request), ""
        try:
            message = _message(reply)
        except ValueError as error:
            self._problem = str(error)
            raise
        read, written = (
            estimate_tokens(json.dumps(part, ensure_ascii=False, default=str))
            for part in ([system, messages, tools], message["content"])
        )
        message["usage"] = {"input_tokens": read, "output_tokens": written}
        yield from deltas(message, size=80)
        yield {"type": "message", "message": message}

    def cost(self, usage: Json) -> float:
        """A person's time is not charged."""
        return 0.0

    def _answer(self, request: Json) -> Any:
        self.calls += 1
        if self.replies is None:
            told = {"problem": self._problem} if self._problem else {}
            return (self.ask or ask_on_terminal)(request | told)
        if self.calls > len(self.replies):
            raise ModelError(
                f"the {len(self.replies)} replies of the student are used up; write one more for this request"
            )
        return self.replies[self.calls - 1]


def _message(reply: Any) -> Json:
    """A reply as a whole message, each call under an id of its own."""
    if isinstance(reply, dict) and "content" in reply:
        message = as_message(reply)
    else:
        parts = reply if isinstance(reply, list) else [reply]
        message = as_message({"content": [_block(part) for part in parts]})
    message["content"] = [
        _call(b) if isinstance(b, dict) and b.get("type") == "tool_use" else b for b in message["content"]
    ]
    return message


def _block(part: Any) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, dict) and "name" in part:
        return {"type": "tool_use", **part}
    if isinstance(part, dict) and "type" in part:
        return part
    raise ModelError(
        f"a reply is text, a call {{'name': …, 'input': {{…}}}} or a list of both, not {part!r:.80}"
    )


def _call(block: Json) -> Json:
    given, name = block.get("input", {}), block.get("name")
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except ValueError as error:
            raise ValueError(f"the model's arguments for {name} are not valid JSON: {error}") from None
        if not isinstance(given, dict):
            raise ValueError(f"the model's arguments for {name} are not an object")
    return {"id": f"toolu_{uuid.uuid4().hex[:20]}", **block, "input": given}


# -- a form of a tool, and what is typed into it ----------------------------------------------------------------------


def fields(tool: Json) -> list[Json]:
    """The fields of a tool's form: dicts of name, type, required, description, choices (list) and default."""
    schema = tool.get("input_schema") or {}
    required = schema.get("required") or []
    return [
        {
            "name": name,
            "type": type_of(rule),
            "required": name in required,
            "description": str(rule.get("description") or ""),
            "choices": [str(choice) for choice in rule.get("enum") or []],
            "default": ""
            if rule.get("default") in (None, "")
            else json.dumps(rule["default"], ensure_ascii=False),
        }
        for name, rule in (schema.get("properties") or {}).items()
        if isinstance(rule, dict)
    ]


def type_of(rule: Json) -> str:
    """The type of a property in words: "string", "integer", "array of string", "integer or null"."""
    if arms := rule.get("anyOf") or rule.get("oneOf"):
        return " or ".join(dict.fromkeys(type_of(arm) for arm in arms if isinstance(arm, dict)))
    kind = rule.get("type") or ("one of these" if rule.get("enum") else "anything")
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    inner = rule.get("items")
    return (
        f"array of {type_of(inner)}" if kind == "array" and isinstance(inner, dict) and inner else str(kind)
    )


def typed(kind: str, text: str) -> Any:
    """What was typed into a field of that type: text stays text, everything else is JSON where it is JSON.

    What does not fit goes on as it was typed: the tool says what is wrong with it.
    """
    if kind.split(" or ")[0] == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


# -- the terminal -----------------------------------------------------------------------------------------------------


def ask_on_terminal(request: Json) -> Any:
    """Show the request and take the reply on the line. Raises ModelError where there is no terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        raise ModelError(NOBODY)
    return ask_by_input(request)


def ask_by_input(request: Json, told: str = "") -> list[Any]:
    """Take a reply by `input()`: lines of text, /TOOL for its form, /TOOL {…} for its arguments as JSON.

    Args:
        told: what is printed before; "" prints the request itself.
    """
    print(told or _told(request))
    if request.get("problem"):
        print(f"Your reply could not be read: {request['problem']}")
    parts: list[Any] = []
    try:
        while line := input("reply (text, /tool, /tool {json}; an empty line sends)> ").strip():
            if not line.startswith("/"):
                parts.append(line)
                continue
            name, _, raw = line[1:].partition(" ")
            tool = next((t for t in request["tools"] if t["name"] == name), None)
            given = raw if raw.strip() else _filled(fields(tool)) if tool else {}
            parts.append({"name": name, "input": given})
    except EOFError:
        if not parts:
            raise ModelError(NOBODY) from None
    return parts or [""]


def _filled(form: list[Json]) -> Json:
    given: Json = {}
    for field in form:
        needed = "required" if field["required"] else "may be empty"
        choices = f", one of {', '.join(field['choices'])}" if field["choices"] else ""
        text = input(f"  {field['name']} ({field['type']}{choices}; {needed}): ")
        if text:
            given[field["name"]] = typed(field["type"], text)
    return given


def _told(request: Json) -> str:
    lines = ["You are the model. This is the request:", f"[system] {_part(request['system'])}"]
    for message in request["messages"]:
        lines.append(
            f"[{message['role']}] {_part(json.dumps(message['content'], ensure_ascii=False, default=str))}"
        )
    for tool in request["tools"]:
        form = ", ".join(f"{f['name']}{'' if f['required'] else '?'}: {f['type']}" for f in fields(tool))
        lines.append(f"[tool] {tool['name']}({form}) {_part(tool.get('description') or '', 200)}")
    return "\n".join(lines)


def _part(text: str, chars: int = SHOWN_CHARS) -> str:
    text = redact("".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text))
    return text if len(text) <= chars else f"{text[:chars]}… ({len(text):,} characters)"
