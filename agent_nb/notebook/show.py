"""Output of the line magics: the same thing as HTML and as text, in one display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .views.style import PRE, esc, muted, table, tag
from .views.text import printable, width

Rows = Sequence[Sequence[Any]]


class Sheet:
    """Something that a line magic shows; parts are added from top to bottom."""

    def __init__(self, title: str = "") -> None:
        self.html: list[str] = []
        self.text: list[str] = []
        if title:
            self.html.append(tag("h4", esc(title), "margin:6px 0"))
            self.text.append(title)

    def say(self, text: str) -> Sheet:
        """A paragraph."""
        self.html.append(tag("div", esc(text), "margin:4px 0"))
        self.text.append(text)
        return self

    def remark(self, text: str) -> Sheet:
        """A paragraph in the background."""
        self.html.append(tag("div", muted(esc(text)), "margin:4px 0"))
        self.text.append(text)
        return self

    def block(self, text: str) -> Sheet:
        """Text as it stands."""
        self.html.append(tag("pre", esc(text), PRE))
        self.text.append(text)
        return self

    def rows(self, columns: Sequence[str], rows: Rows, empty: str = "") -> Sheet:
        """A table; `empty` is said where it has no rows. Columns of numbers stand on the right."""
        if not rows:
            return self.remark(empty) if empty else self
        right = [all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(columns))]
        told = [[_cell(value) for value in row] for row in rows]
        self.html.append(table(list(map(esc, columns)), [[esc(v) for v in row] for row in told], right))
        self.text.append(_aligned(columns, told, right))
        return self

    def pairs(self, rows: Rows) -> Sheet:
        """Name and value, one pair a line."""
        told = [[_cell(value) for value in row] for row in rows]
        lines = [tag("div", tag("b", esc(k)) + " " + esc(v), "margin:2px 0") for k, v in told]
        self.html += lines
        self.text.append(_aligned((), told, [False, False]))
        return self

    def raw(self, html: str, text: str) -> Sheet:
        """Parts that a view has made, safe as they are."""
        self.html.append(html)
        self.text.append(text)
        return self

    def plain(self) -> str:
        """The whole as text, without what could drive a terminal."""
        return printable("\n".join(self.text))

    def show(self) -> None:
        """Put it under the cell, or print it in a terminal."""
        from IPython.display import display

        bundle = {"text/html": "".join(self.html), "text/plain": self.plain()}
        display(bundle, raw=True)  # type: ignore[no-untyped-call]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return " ".join(str(value).split())


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    lines = [list(columns)] if columns else []
    lines += [list(row) for row in rows]
    if not lines:
        return ""
    wide = [max(width(line[i]) for line in lines) for i in range(len(lines[0]))]
    out = []
    for line in lines:
        cells = [
            " " * (wide[i] - width(cell)) + cell if right[i] else cell + " " * (wide[i] - width(cell))
            for i, cell in enumerate(line)
        ]
        out.append("  ".join(cells).rstrip())
    if columns:
        out.insert(1, "  ".join("-" * size for size in wide))
    return "\n".join(out)
