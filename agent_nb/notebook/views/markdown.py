"""Markdown as models write it → HTML that is safe by construction.

Everything is escaped first; only these marks make elements: paragraphs, headings, lists, tables, quotes,
rules, code, bold, italics, strike-through and links to http(s). Raw HTML, images and other schemes stay text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence

from .style import CODE, LINE, MUTED, PRE, clean, table, tag

# Marks set into the source survive rendering as private characters: OPEN number CLOSE.
_OPEN, _CLOSE, _STASH_OPEN, _STASH_CLOSE = "\ue000", "\ue001", "\ue002", "\ue003"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_STASHED = re.compile(f"{_STASH_OPEN}(\\d+){_STASH_CLOSE}")

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*$")
_RULE = re.compile(r"^\s{0,3}([-*_])\s*(?:\1\s*){2,}$")
_ITEM = re.compile(r"^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$")
_DIVIDER = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_FIGURE = re.compile(r"^[-+−–$€¥£]*\s?\d[\d.,\s/%万亿kM]*$")
_QUOTE = re.compile(r"^\s{0,3}>\s?")

# Lengths are bounded, so that no text makes matching quadratic.
_CODE_SPAN = re.compile(r"(?<!`)(`{1,3})(?!`)([^\n]{1,1000}?)(?<!`)\1(?!`)")
_LINK = re.compile(
    r"\[([^\[\]\n]{1,300})\]\((https?://[^\s()<>\ue002\ue003]{1,1000}(?:\([^\s()<>\ue002\ue003]{0,200}\))?)\)"
)
_URL = re.compile(r"(?<![\w/\"'=])https?://[^\s<>\"'`\ue002\ue003，。；：！？（）]{1,1000}(?<![.,;:!?)\]*_])")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|~>-])")
_EMPHASIS = (
    (re.compile(r"\*\*(?=\S)(.{1,2000}?)(?<=\S)\*\*", re.DOTALL), "strong"),
    (re.compile(r"(?<!\w)__(?=\S)(.{1,2000}?)(?<=\S)__(?!\w)", re.DOTALL), "strong"),
    (re.compile(r"~~(?=\S)(.{1,2000}?)(?<=\S)~~", re.DOTALL), "del"),
    (re.compile(r"(?<![*\w])\*(?=[^\s*])(.{1,2000}?)(?<=[^\s*])\*(?![*\w])", re.DOTALL), "em"),
    (re.compile(r"(?<!\w)_(?=[^\s_])(.{1,2000}?)(?<=[^\s_])_(?!\w)", re.DOTALL), "em"),
)

DEEPEST = 8
"""Lists and quotes nested deeper than this are shown at this depth."""


def markdown_html(text: str, marks: Sequence[tuple[int, str]] = ()) -> str:
    """`text` as HTML. `marks`: (position in characters, HTML) to be set in there, in order."""
    pieces, last = [], 0
    for i, (position, _) in enumerate(marks):
        pieces += [clean(text[last:position]), f"{_OPEN}{i}{_CLOSE}"]
        last = position
    source = "".join([*pieces, clean(text[last:])])
    page = _blocks(source.expandtabs(4).splitlines(), 0)
    return _MARK.sub(lambda m: marks[int(m.group(1))][1], page)


def _blocks(lines: list[str], depth: int) -> str:
    out: list[str] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        for block in _BLOCKS:
            made = block(lines, at, depth)
            if made:
                out.append(made[0])
                at = made[1]
                break
    return "".join(out)


def _fence(lines: list[str], at: int, depth: int) -> tuple[str, int] | None:
    opening = _FENCE.match(lines[at])
    if not opening:
        return None
    fence, end = opening.group(1), at + 1
    while end < len(lines) and not lines[end].strip().startswith(fence):
        end += 1
    code = "\n".join(lines[at + 1 : end])
    return tag("pre", html.escape(code), PRE), end + 1


def _heading(lines: list[str], at: int, depth: int) -> tuple[str, int] | None:
    found = _HEADING.match(lines[at])
    if not found:
        return None
    level = len(found.group(1))
    look = f"margin:10px 0 4px;font-size:{max(13, 18 - 2 * level)}px;font-weight:600;line-height:1.35"
    return tag("h4" if level < 3 else "h5", _inline(found.group(2)), look, dir="auto"), at + 1


def _rule(lines: list[str], at: int, depth: int) -> tuple[str, int] | None:
    if not _RULE.match(lines[at]):
        return None
    return f'<hr style="border:none;border-top:{LINE};margin:8px 0">', at + 1


def _table(lines: list[str], at: int, depth: int) -> tuple[str, int] | None:
    if "|" not in lines[at] or at + 1 >= len(lines) or "|" not in lines[at + 1]:
        return None
    if not _DIVIDER.match(lines[at + 1]):
        return None
    head, sides = _cells(lines[at]), _cells(lines[at + 1])
    end = at + 2
    while end < len(lines) and "|" in lines[end] and lines[end].strip():
        end += 1
    rows = [_cells(line) for line in lines[at + 2 : end]]
    sides += ["-"] * (len(head) - len(sides))
    right = [
        not side.startswith(":") and (side.endswith(":") or _figures(row[i] for row in rows if i < len(row)))
        for i, side in enumerate(sides)
    ]
    filled = [[_inline(cell) for cell in (row + [""] * len(head))[: len(head)]] for row in rows]
    return table([_inline(cell) for cell in head], filled, right), end


def _figures(cells: Iterable[str]) -> bool:
    """Whether a column holds numbers, which stand to the right."""
    found = [_MARK.sub("", cell).strip("*_` ") for cell in cells]
    return any(found) and all(_FIGURE.match(cell) for cell in found if cell)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)]


def _quote(lines: list[str], at: int, depth: int) -> tuple[str, int] | None:
    if not _QUOTE.match(lines[at]) or depth >= DEEPEST:
        return None
    end = at
    while end < len(lines) and _QUOTE.match(lines[end]):
        end += 1
    inner = _blocks([_QUOTE.sub("", line) for line in lines[at:end]], depth + 1)
    look = f"margin:4px 0;padding:0 0 0 10px;border-left:3px solid rgba(128,128,128,.35);{MUTED}"
    return tag("blockquote", inner, look), end


def _list(lines: list[str], at: int, depth: int) -> tuple[str, int] | None:
    first = _ITEM.match(lines[at])
    if not first or depth >= DEEPEST:
        return None
    base, ordered = len(first.group(1)), first.group(2)[0].isdigit()
    items: list[list[str]] = []
    end = at
    while end < len(lines):
        line = lines[end]
        item = _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if item and indent <= base + 1:
            if item.group(2)[0].isdigit() != ordered:
                break
            items.append([item.group(3)])
        elif line.strip() and indent > base:
            items[-1].append(line[min(indent, base + 2) :])
        elif not line.strip() and _goes_on(lines, end, base):
            items[-1].append("")
        else:
            break
        end += 1
    inner = "".join(tag("li", _item(item, depth), "margin:1px 0", dir="auto") for item in items)
    start = first.group(2)[:-1] if ordered and first.group(2)[:-1] != "1" else ""
    look = "margin:4px 0;padding-left:24px"
    return tag("ol" if ordered else "ul", inner, look, start=start), end


def _goes_on(lines: list[str], at: int, base: int) -> bool:
    """Whether a list goes on behind the blank line `at`."""
    following = lines[at + 1] if at + 1 < len(lines) else ""
    item = _ITEM.match(following)
    return bool(following.strip()) and (item is not None or len(following) - len(following.lstrip()) > base)


def _item(lines: list[str], depth: int) -> str:
    own = 1
    while own < len(lines) and lines[own].strip() and not _starts_block(lines[own]):
        own += 1
    return _inline("\n".join(lines[:own])) + _blocks(lines[own:], depth + 1)


def _starts_block(line: str) -> bool:
    return any(p.match(line) for p in (_ITEM, _FENCE, _HEADING, _QUOTE, _RULE)) or line.lstrip()[:1] == "|"


def _paragraph(lines: list[str], at: int, depth: int) -> tuple[str, int]:
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _starts_block(lines[end]):
        end += 1
    text = "\n".join(line.strip() for line in lines[at:end])
    return tag("div", _inline(text), "margin:5px 0;overflow-wrap:anywhere", dir="auto"), end


_Block = Callable[[list[str], int, int], tuple[str, int] | None]
_BLOCKS: tuple[_Block, ...] = (_fence, _heading, _rule, _table, _quote, _list, _paragraph)


def _inline(text: str) -> str:
    """Marks inside a line. What is finished is put aside, so that no later mark reaches into it."""
    stash: list[str] = []

    def aside(made: str) -> str:
        stash.append(made)
        return f"{_STASH_OPEN}{len(stash) - 1}{_STASH_CLOSE}"

    def link(shown: str, address: str) -> str:
        href = html.escape(_MARK.sub("", address))
        return aside(f'<a href="{href}" target="_blank" rel="noopener noreferrer">{shown}</a>')

    def emphasis(text: str, depth: int = 0) -> str:
        # Each element is put aside whole: two that overlap in the text must not overlap in the page.
        for pattern, element in _EMPHASIS if depth < DEEPEST else ():
            text = pattern.sub(
                lambda m, e=element: aside(f"<{e}>{emphasis(m.group(1), depth + 1)}</{e}>"),  # type: ignore[misc]
                text,
            )
        return text

    text = _ESCAPED.sub(lambda m: aside(html.escape(m.group(1))), text)
    text = _CODE_SPAN.sub(lambda m: aside(tag("code", html.escape(m.group(2)), CODE)), text)
    text = _LINK.sub(lambda m: link(emphasis(html.escape(m.group(1))), m.group(2)), text)
    text = _URL.sub(lambda m: link(html.escape(m.group()), m.group()), text)
    text = emphasis(html.escape(text)).replace("\n", "<br>")
    while _STASHED.search(text):
        text = _STASHED.sub(lambda m: stash[int(m.group(1))], text)
    return text
