"""A request as the model gets it: its four kinds of message, the tools, and the JSON that is sent."""

from __future__ import annotations

import json
from typing import Any

from . import wording
from .style import LINE, PRE, SMALL, TINTS, TONES, esc, folded, muted, tag
from .text import printable

Json = dict[str, Any]

CARD_CHARS = 1_500
JSON_CHARS = 12_000
MOST = 12
"""Messages that are shown as cards, the latest; the JSON holds those before them as far as it reaches."""
KINDS = {"system": "quiet", "user": "live", "assistant": "good", "tool result": "warn"}
"""The four kinds of message, and the tone of each."""


def parts(request: Json) -> list[tuple[str, str]]:
    """(kind, text) of each part of a request in order; the kinds are those of KINDS."""
    found = [("system", str(request.get("system") or ""))] if request.get("system") else []
    for message in request.get("messages") or []:
        found += [(kind_of(message, block), said(block)) for block in blocks(message)]
    return found


def blocks(message: Json) -> list[Json]:
    """The content of a message as blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def kind_of(message: Json, block: Json) -> str:
    """Which of the four kinds a block of a message is."""
    return "tool result" if block.get("type") == "tool_result" else str(message.get("role") or "user")


def said(block: Json) -> str:
    """A block as its reader sees it."""
    if block.get("type") == "tool_use":
        return f"calls {block.get('name')} with {flat(block.get('input'))}"
    if block.get("type") == "tool_result":
        inner = block.get("content")
        told = inner if isinstance(inner, str) else "\n".join(said(b) for b in blocks({"content": inner}))
        return ("is_error: true\n" if block.get("is_error") else "") + told
    return str(block.get("text") or block.get("thinking") or f"({block.get('type')})")


def flat(value: Any) -> str:
    """A value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def pretty(value: Any) -> str:
    """A value as JSON with a line for each field."""
    return json.dumps(_light(value), ensure_ascii=False, indent=2, default=str)


def _light(value: Any) -> Any:
    """Without the bytes of pictures: they say nothing to a reader, and leave no room for what does."""
    if isinstance(value, list):
        return [_light(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    data = value.get("data")
    cut = (
        {"data": f"{data[:24]}… ({len(data):,} characters)"}
        if isinstance(data, str) and len(data) > 200
        else {}
    )
    return {name: _light(inner) for name, inner in value.items()} | (cut if "media_type" in value else {})


def request_html(request: Json, earlier: int = 0) -> str:
    """Cards of the messages, the tools, and the JSON.

    Args:
        earlier: how many messages the request before this one held: they are folded.
    """
    found = parts(request)
    counts = " · ".join(f"{kind} {sum(k == kind for k, _ in found)}" for kind in KINDS)
    known = _known(request, earlier)
    old, new = found[:known], found[known:]
    left = f"{len(new) - MOST:,} more of these stand in the JSON only" if len(new) > MOST else ""
    shown = "".join(_card(*part) for part in new[-MOST:])
    before = "".join(_card(*part) for part in old[-MOST:])
    cut = f" (the latest {MOST})" if len(old) > MOST else ""
    head = tag("div", muted(esc(f"parts by kind of message: {counts}")), SMALL)
    folds = folded(muted(f"{len(old)} parts that were sent before{cut}"), before) if old else ""
    return (
        head + folds + tag("div", muted(esc(left)), SMALL) * bool(left) + shown + tools_html(request) + raw(request)
    )  # fmt: skip


def _known(request: Json, earlier: int) -> int:
    """How many parts of a request the request before it held, too."""
    if not earlier:
        return 0
    system = 1 if request.get("system") else 0
    return system + sum(len(blocks(message)) for message in (request.get("messages") or [])[:earlier])


def _card(kind: str, text: str) -> str:
    tone = KINDS.get(kind, "quiet")
    shown, rest = wording.cut(text, CARD_CHARS)
    label = tag("b", esc(kind), f"color:{TONES[tone]};{SMALL}")
    body = tag("div", esc(shown), "white-space:pre-wrap;overflow-wrap:anywhere", dir="auto")
    more = tag("div", muted(esc(rest)), SMALL) if rest else ""
    look = f"margin:4px 0;padding:3px 9px 5px;border-left:3px solid {TONES[tone]};background:{TINTS[tone]}"
    return tag("div", label + body + more, f"{look};border-radius:0 5px 5px 0;max-height:230px;overflow:auto")


def tools_html(request: Json) -> str:
    """The tools with their descriptions and schemas."""
    tools = [tool for tool in request.get("tools") or [] if isinstance(tool, dict)]
    if not tools:
        return tag("div", muted("no tools"), SMALL)
    lines = [
        folded(
            f"<b>{esc(tool.get('name'))}</b> {muted(esc(wording.field(tool, 'description', 160)))}",
            code(pretty(tool), 3_000),
        )
        for tool in tools[:60]
    ]
    return folded(
        f"<b>{wording.count(len(tools), 'tool')}</b>", tag("div", "".join(lines), "margin-left:14px")
    )


def raw(request: Json, title: str = "the request as JSON") -> str:
    """The JSON of a request, folded, as far as there is room."""
    return folded(tag("b", esc(title)), code(pretty(request), JSON_CHARS))


def code(text: str, chars: int) -> str:
    """Text as it stands, in part where it is long."""
    shown, rest = wording.cut(text, chars)
    return tag("pre", esc(shown), PRE) + (tag("div", muted(esc(rest)), SMALL) if rest else "")


def call_html(block: Json) -> str:
    """A tool_use as it came, and the same call on a wire where arguments are a string."""
    given = block.get("input")
    other = {"type": "function", "id": block.get("id")}
    other |= {"function": {"name": block.get("name"), "arguments": flat(given)}}
    here = tag("div", muted("this wire: <code>input</code> is an object"), SMALL) + code(pretty(block), 4_000)
    there = tag("div", muted("other wires: <code>arguments</code> is a string of JSON"), SMALL)
    box = "flex:1 1 260px;min-width:0"
    pair = tag("div", here, box) + tag("div", there + code(pretty(other), 4_000), box)
    return tag(
        "div", pair, f"display:flex;flex-wrap:wrap;gap:10px;border-top:{LINE};margin-top:4px;padding-top:4px"
    )


def request_text(request: Json, earlier: int = 0) -> list[str]:
    """The request in lines."""
    found = parts(request)
    known = _known(request, earlier)
    lines = [f"({known} parts that were sent before)"] if known else []
    lines += [f"[{kind}] {_short(text, 400)}" for kind, text in found[known:][-MOST:]]
    names = ", ".join(str(tool.get("name")) for tool in request.get("tools") or [])
    return [*lines, f"[tools] {names or 'none'}"]


def _short(text: str, chars: int) -> str:
    shown, rest = wording.cut(text.strip(), chars)
    return printable(shown) + (f" … ({rest})" if rest else "")
