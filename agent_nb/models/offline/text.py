"""A goal's text with the parts that were understood marked, so that what is left over can be named."""

from __future__ import annotations

import re
from collections.abc import Iterable

from . import lexicon

TAKEN = "\x01"
LETTER = r"[^\W\u3400-\u9fff\uf900-\ufaff]"
"""A letter, digit or _ of any script but Chinese, which has no blanks between words: é, ü and я are letters too."""


def fold(text: str) -> str:
    """Lower case, full-width forms as half-width, typographic quotes plain; every character keeps its place."""
    out = []
    for char in text:
        code = ord(char)
        if 0xFF01 <= code <= 0xFF5E:
            char = chr(code - 0xFEE0)
        char = {"\u3000": " ", "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"}.get(char, char)
        low = char.lower()
        out.append(low if len(low) == 1 else char)
    return "".join(out)


def english(pattern: str) -> str:
    """The pattern as whole words; Chinese characters may stand right beside it."""
    return rf"(?<!{LETTER})(?:{pattern})(?!{LETTER})"


class Text:
    """The goal, folded; `take` marks what was understood, `rest` is what is still open."""

    def __init__(self, text: str) -> None:
        self.original = text
        self.low = fold(text)
        self.rest = self.low

    def find(self, pattern: str) -> list[re.Match[str]]:
        """All matches in what is still open."""
        return list(re.finditer(pattern, self.rest))

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first match in what is still open, marked as understood."""
        match = re.search(pattern, self.rest)
        if match:
            self.mark(*match.span())
        return match

    def take_all(self, pattern: str) -> list[re.Match[str]]:
        """All matches in what is still open, marked as understood."""
        matches = self.find(pattern)
        for match in matches:
            self.mark(*match.span())
        return matches

    def mark(self, start: int, end: int) -> None:
        """Characters start…end are understood."""
        self.rest = self.rest[:start] + TAKEN * (end - start) + self.rest[end:]

    def tokens(self, vocabulary: Iterable[str] = ()) -> list[tuple[str, int, int]]:
        """(word, start, end) of what is open; Chinese runs are cut by the longest known word."""
        known = {w for w in lexicon.words_of_concepts() if lexicon.is_cjk(w[0])}
        known |= {w for w in vocabulary if w and any(map(lexicon.is_cjk, w))}
        longest = max(map(len, known))
        found = []
        for run in re.finditer(rf"[\u3400-\u9fff]+|(?:{LETTER}|[.'&])+", self.rest):
            if lexicon.is_cjk(run.group()[0]):
                found += _segment(run.group(), run.start(), known, longest)
            else:
                for word in re.finditer(rf"(?:{LETTER}|&)+(?:\.\d+)?(?:'(?=[a-rt-z])[a-z]+)?", run.group()):
                    found.append((word.group(), run.start() + word.start(), run.start() + word.end()))
        return found

    def leftover(self) -> list[str]:
        """Words that nobody understood, as they were written, stopwords left out."""
        rest = self.rest
        for word in lexicon.ZH_STOP:
            if len(word) > 1:
                rest = rest.replace(word, " " * len(word))
        words = []
        for match in re.finditer(rf"[\u3400-\u9fff]+|(?:{LETTER}|[&%$])+(?:[.']{LETTER}+)*", rest):
            word = match.group()
            if lexicon.is_cjk(word[0]):
                word = "".join(" " if c in lexicon.ZH_STOP else c for c in word)
                words += word.split()
            elif word.removesuffix("'s") not in lexicon.STOPWORDS and word != "s":
                words.append(self.original[match.start() : match.end()])
        return words


def _segment(run: str, start: int, known: set[str], longest: int) -> list[tuple[str, int, int]]:
    out = []
    at = 0
    while at < len(run):
        size = next((n for n in range(min(longest, len(run) - at), 0, -1) if run[at : at + n] in known), 1)
        out.append((run[at : at + size], start + at, start + at + size))
        at += size
    return out


def is_chinese(text: str) -> bool:
    """Whether the text is to be answered in Chinese."""
    cjk = sum(map(lexicon.is_cjk, text))
    latin = len(re.findall(r"[A-Za-z]+", text))
    return cjk > 0 and cjk >= latin


_RESERVED = frozenset(
    """
    all alter analyse analyze and anti any array as asc asof asymmetric at begin between both by case cast check collate
    column commit constraint create cross current_date current_time current_timestamp database default deferrable
    delete desc describe distinct do drop else end escape except exists false fetch filter for foreign from full glob
    grant group groups having if ilike in index initially inner insert intersect interval into is isnull join key lambda
    lateral leading left like limit map natural not notnull null of offset on only or order outer over overlaps
    partition percent pivot pivot_longer pivot_wider placing plan positional pragma primary qualify range references
    replace returning right row rows sample select semi set show similar some struct summarize symmetric table
    tablesample then timestamp to top trailing transaction trigger true try_cast union unique unpivot update user using
    values variadic verbose view when where window with
    """.split()
)
OWN = "\x02"
"""Stands before a column of the table that is asked; `query.Query.render` makes an alias of it, or nothing."""


def quote(name: str) -> str:
    """An SQL identifier, in quotes only where it needs them."""
    if re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def own(name: str) -> str:
    """A column of the table that is asked."""
    return OWN + quote(name)


def literal(value: object) -> str:
    """An SQL literal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
