"""Cell text that arrives as it was typed.

IPython rewrites a cell before a magic sees it: blank lines lose their spaces, `>>> ` at line starts is taken
for a prompt, a form feed ends a line, `%agent … df?` becomes a look-up. Both transformers here turn our own
magics into plain calls before any of that happens, and leave every other cell as it is.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Collection
from typing import Any

from IPython.core.inputtransformer2 import TokenTransformBase

Names = Collection[str]


def cell_transformer(names: Names) -> Callable[[list[str]], list[str]]:
    """A clean-up transformer, to stand first: `%%NAME …` at the top of a cell becomes one call."""
    opening = re.compile(
        rf"\s*^(?P<indent>[ \t]*)%%(?P<name>{_either(names)})(?P<line>(?:[^\S\n\r][^\n\r]*)?)(?:\r\n|\r|\n)",
        re.M,
    )

    def verbatim_cell(lines: list[str]) -> list[str]:
        text = "".join(lines)
        found = opening.match(text)
        if found is None:
            return lines
        body = text[found.end() :]
        if found["indent"]:
            body = _shifted(body, found["indent"])
        # An empty body is an error before the magic is even called, though the goal may stand in the line.
        call = (
            f"get_ipython().run_cell_magic({found['name']!r}, {found['line'][1:]!r}, {body or chr(10)!r})\n"
        )
        return [call]

    # While a cell is typed in a terminal, IPython asks whether it is complete; that goes the usual way.
    verbatim_cell.has_side_effects = True  # type: ignore[attr-defined]
    return verbatim_cell


def line_gluer(names: Names) -> Callable[[list[str]], list[str]]:
    """A clean-up transformer, to stand last: a form feed and its kin end no line of ours.

    IPython cuts a cell where `str.splitlines` does, which is at more characters than a typed line end.
    """
    opening = re.compile(rf"[ \t]*%({_either(names)})\s")

    def whole_lines(lines: list[str]) -> list[str]:
        glued: list[str] = []
        for line in lines:
            if glued and not glued[-1].endswith(("\n", "\r")) and opening.match(glued[-1]):
                glued[-1] += line
            else:
                glued.append(line)
        return glued

    whole_lines.has_side_effects = True  # type: ignore[attr-defined]
    return whole_lines


def line_transformer(names: Names) -> type[TokenTransformBase]:
    """A token transformer: a statement `%NAME …` becomes a call, whatever its text ends in."""
    opening = re.compile(rf"%(?P<name>{_either(names)})(?P<text>\s.*)?\Z", re.S)

    class VerbatimLine(TokenTransformBase):
        """`%agent …` and `%memory …`, ahead of IPython's look-up by a trailing question mark."""

        priority = 1

        @classmethod
        def find(cls, tokens_by_line: list[list[Any]]) -> TokenTransformBase | None:
            for line in tokens_by_line:
                first = next((t for t in line if t.type not in (tokenize.INDENT, tokenize.DEDENT)), None)
                if first is None or first.string != "%":
                    continue
                if opening.match(first.line[first.start[1] :]):
                    return cls(first.start)
            return None

        def transform(self, lines: list[str]) -> list[str]:
            start, column = self.start_line, self.start_col
            end = start + 1
            while end < len(lines) and lines[end - 1].endswith(("\\\n", "\\\r\n")):
                end += 1
            text = re.sub(r"\\\r?\n", " ", "".join(lines[start:end])[column:].rstrip("\r\n"))
            found = opening.match(text)
            if found is None:
                raise SyntaxError(text)
            said = (found["text"] or "")[1:]
            call = f"get_ipython().run_line_magic({found['name']!r}, {said!r})\n"
            return [*lines[:start], lines[start][:column] + call, *lines[end:]]

    return VerbatimLine


def _either(names: Names) -> str:
    return "|".join(re.escape(name) for name in names)


def _shifted(body: str, indent: str) -> str:
    """An indented cell moves to the margin as IPython would move it, when all its lines allow that."""
    lines = body.split("\n")
    if all(line.startswith(indent) or not line.strip() for line in lines):
        return "\n".join(line.removeprefix(indent) for line in lines)
    return body
