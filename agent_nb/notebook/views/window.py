"""What a call's window held: a bar of its parts in tokens, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import wording
from .style import BAR, SMALL, esc, folded, muted, tag

Json = dict[str, Any]

LEFT_OUT = 8
"""How many of the things that were left out are named."""


def bar_and_parts(parts: Sequence[Json], left_out: Sequence[str]) -> str:
    """The bar, and below it each part with its tokens; "" for a window without parts."""
    told = _parts(parts, left_out)
    return _bar(parts, "6px", "max-width:420px;margin-top:6px") + told if told else ""


def folded_bar(parts: Sequence[Json], left_out: Sequence[str], live: bool) -> str:
    """The bar in one line, which unfolds to the parts. A live one has its place before the first call."""
    total = _total(parts)
    if not total and not live:
        return ""
    words = f"window {total:,} tokens" if total else "window –"
    if left_out:
        words += f" · {wording.count(len(left_out), 'thing')} left out"
    label = tag("span", words, "opacity:.68;white-space:nowrap")
    line = tag("span", "", "flex:1") if not total else _bar(parts, "6px", "flex:1")
    row = tag("span", label + line, "display:inline-flex;width:calc(100% - 18px);gap:10px;align-items:center")
    if not total:
        return tag("div", row, f"{SMALL};margin-top:7px")
    return folded(row, _parts(parts, left_out, titled=False), style=f"{SMALL};margin-top:7px")


def sheet_html(parts: Sequence[Json], left_out: Sequence[str]) -> str:
    """A large bar with the parts below it."""
    return _bar(parts, "14px", "max-width:760px;margin:6px 0 2px") + _parts(parts, left_out)


def _total(parts: Sequence[Json]) -> int:
    return sum(_tokens(part) for part in parts)


def _tokens(part: Json) -> int:
    tokens = part.get("tokens")
    return int(tokens) if isinstance(tokens, int | float) and tokens > 0 else 0


def _bar(parts: Sequence[Json], height: str, look: str) -> str:
    pieces = "".join(
        tag(
            "span",
            "",
            f"flex:{_tokens(part)};background:{BAR[i % len(BAR)]}",
            title=f"{part.get('part', '')} {_tokens(part):,}",
        )
        for i, part in enumerate(parts)
        if _tokens(part)
    )
    look = f"display:flex;height:{height};border-radius:3px;overflow:hidden;{look}"
    return tag("span", pieces, look)


def _parts(parts: Sequence[Json], left_out: Sequence[str], titled: bool = True) -> str:
    total = _total(parts)
    if not total:
        return ""
    told = " · ".join(
        f'<span style="color:{BAR[i % len(BAR)]}">■</span> {esc(part.get("part", ""))} {_tokens(part):,}'
        for i, part in enumerate(parts)
        if _tokens(part)
    )
    named = ", ".join(left_out[:LEFT_OUT]) + (
        f" and {len(left_out) - LEFT_OUT} more" if len(left_out) > LEFT_OUT else ""
    )
    left = f"; left out: {wording.clip(named, 400)}" if left_out else ""
    title = muted(f"window {total:,} tokens:") + " " if titled else ""
    text = title + told + muted(esc(left))
    return tag("div", text, "font-size:11px;margin-top:2px;overflow-wrap:anywhere")
