# ruff: noqa: E501
"""Goal text + tables → what is asked: measure, dimensions, periods, filters. What is unclear is asked about."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from . import conditions, definitions, lexicon, operations, periods, schema
from .operations import Wanted
from .schema import Mention, Table
from .text import Text, english

Json = dict[str, Any]

_GROUP = re.compile(
    r"(?:\b(?:by|per|each|every|across|which|what|who|whose|among|and by|for each|in each|at which|on which|grouped by|broken down by|split by|for every|of each|for all)"
    r"(?:\s+(?:the|of|of the|single|different|\w+est|\x01+|\d+|two|three|four|five|top))*|各个?|每一?个?|按照?|分|哪[一几]?[个家位些种类名条]?|不同的?|什么|以)[\s\x01]*$"
)
_GROUP_AFTER = re.compile(r"^\s*(?:分组|分别|维度|排名|来看|instead)")


_FILE = re.compile(r"(?:\.(?:csv|tsv|parquet|pq|jsonl?|ndjson))?(?:\.gz)?$", re.IGNORECASE)
_OPERATIONS = lexicon.words("count total rank share change difference range type first last top")


class Unclear(Exception):
    """The goal cannot be answered safely; the message is a question or a reason, as (English, Chinese)."""

    def __init__(self, english_text: str, chinese_text: str, words: tuple[str, ...] = ()) -> None:
        super().__init__(english_text)
        self.texts = (english_text, chinese_text)
        self.words = words


@dataclasses.dataclass
class Raw:
    """A goal's own slots, before a table was chosen."""

    text: Text
    want: Wanted
    periods: list[periods.Mention]
    comparisons: list[conditions.Comparison]
    mentions: list[Mention]
    terms: list[tuple[definitions.Definition, int, int]]
    quoted: list[tuple[str, int, int]]
    table_nouns: list[tuple[Table, int, int]]


def read(goal: str, tables: list[Table], defined: list[definitions.Definition]) -> Raw:
    """Everything in the goal that names an operation, a time, a condition, a column or a table."""
    text = Text(goal)
    terms = []
    for d in sorted((d for d in defined if d.pattern), key=lambda d: -len(d.term)):
        match = re.search(d.pattern, text.rest)
        if match:
            if d.kind != "unclear":
                text.mark(*match.span())
            terms.append((d, *match.span()))
    plain = [n for t in tables if "." in t.name for n in _paths(text, t)]
    quoted = []
    for match in text.take_all(
        r"\"[^\"]{1,60}\"|(?<![a-z])'[^']{1,60}'|「[^」]{1,60}」|《[^》]{1,60}》|`[^`]{1,60}`"
    ):
        quoted.append((text.original[match.start() + 1 : match.end() - 1], *match.span()))
    quoted = [q for q in quoted if not _quoted_column(q, tables, text)]
    plain += [n for t in tables if re.search(r"[_\d.]", t.name) for n in _named_in_full(text, t)]
    every = [c for t in tables for c in t.columns]
    literal = _odd_columns(text, every) + schema.literal_mentions(text, every)
    if not any(c.kind == "date" for c in every):
        literal += _period_columns(text, every)
    compared = conditions.parse(text)
    times = periods.parse(text)
    want = operations.read(text)
    mentions = sorted(literal + schema.mentions(text, tables, 2), key=lambda m: m.start)
    nouns = plain + _table_nouns(text, tables)
    mentions = sorted(mentions + schema.mentions(text, tables, 1), key=lambda m: m.start)
    return Raw(text, want, times, compared, mentions, terms, quoted, nouns)


def _odd_columns(text: Text, every: list[schema.Column]) -> list[Mention]:
    """Columns named by words that are otherwise passed over or mean an operation: "by group", "average value"."""
    found = []
    for name in sorted({c.name for c in every}, key=len, reverse=True):
        low = name.lower()
        if low not in lexicon.STOPWORDS | _OPERATIONS:
            continue
        cue = r"by|per|each|every|which|across|average|mean|total|sum of|median|highest|lowest|maximum|minimum|max|min"
        for match in text.find(english(rf"(?:{cue})\s+(?P<name>{re.escape(low)}s?)")):
            start, end = match.span("name")
            columns = tuple(c for c in every if c.name == name)
            found.append(Mention(text.original[start:end], start, end, columns, 4, schema.signature(name)))
            text.mark(start, end)
    return found


def _period_columns(text: Text, every: list[schema.Column]) -> list[Mention]:
    """Columns that are periods themselves ("Jan", "2023", "Q1", "3月"), of a table with a column for each of them."""
    found = []
    for name in {c.name for c in every if c.kind == "number"}:
        low = name.lower()
        month = periods.MONTH_NUMBERS.get(low[:3]) if low[:3] == low or low in periods.NAMES else None
        if not (month or re.fullmatch(r"(?:19|20)\d\d|[qh][1-4]|\d{1,2}月", low)):
            continue
        spelt = f"{low}|{periods.NAMES[month - 1]}" if month else low
        columns = tuple(c for c in every if c.name == name)
        for match in text.take_all(english(spelt) if low[-1] != "月" else rf"(?<!\d){low}"):
            found.append(
                Mention(
                    text.original[slice(*match.span())], *match.span(), columns, 4, schema.signature(name)
                )
            )
    return found


def _quoted_column(quoted: tuple[str, int, int], tables: list[Table], text: Text) -> bool:
    """A quoted column or table name is read as if it stood there without quotes."""
    name, start, end = quoted
    if any(name == t.name or t.column(name) for t in tables):
        inner = text.low[start + 1 : end - 1]
        text.rest = text.rest[: start + 1] + inner + text.rest[end - 1 :]
        return True
    return False


def _paths(text: Text, table: Table) -> list[tuple[Table, int, int]]:
    """A file with the folders before its name, in quotes or without: "in data/2024/visits.csv"."""
    name = re.escape(table.name.lower())
    pattern = rf"([\"'`])[^\"'`\n]*{name}\1|(?:[a-z]:|[~./\\])[^\s\"'`]*[/\\]{name}|[a-z0-9_.-]+/[^\s\"'`]*(?<=/){name}"
    return [(table, *m.span()) for m in text.take_all(pattern)]


def _named_in_full(text: Text, table: Table) -> list[tuple[Table, int, int]]:
    """A table whose name is no plain word ("sales_2024"), before its parts are read as something else."""
    if any(table.name == c.name for c in table.columns):
        return []
    return [(table, *m.span()) for m in text.take_all(english(re.escape(table.name.lower())))]


def _table_nouns(text: Text, tables: list[Table]) -> list[tuple[Table, int, int]]:
    """Where the goal names a table by its name ("flights", "in sales_2024")."""
    found = []
    for table in sorted(tables, key=lambda t: -len(t.name)):
        low = table.name.lower()
        pattern = re.escape(low).replace("_", r"[\s_]")
        exact = pattern if any(map(lexicon.is_cjk, low)) else english(pattern)
        for match in re.finditer(exact, text.rest):
            found.append((table, *match.span()))
        if found and found[-1][0] is table:
            continue
        for word, start, end in text.tokens(schema.parts(table.name)):
            if frozenset({lexicon.concept(word)}) == table_concepts(table):
                found.append((table, start, end))
    for _, start, end in found:
        text.mark(start, end)
    return found


def table_concepts(table: Table) -> frozenset[str]:
    """What one row of the table is, by its name: "orders_2024" → order."""
    name = table.name.removeprefix(f"{table.database}.") if table.database else _FILE.sub("", table.name)
    words = {w for w in schema.signature(re.split(r"[./]", name)[-1]) if not w.isdigit()}
    return frozenset(
        words
        - {
            "df",
            "data",
            "table",
            "dataset",
            "list",
            "all",
            "tbl",
            "raw",
            "clean",
            "fact",
            "表",
            "数据",
            "明细",
        }
    ) or frozenset(words)


def is_group(raw: Raw, mention: Mention) -> bool:
    """Whether the words around a column say that it is to be grouped by."""
    before = raw.text.low[max(0, mention.start - 40) : mention.start]
    masked = raw.text.rest[max(0, mention.start - 40) : mention.start]
    return bool(
        _GROUP.search(before) or _GROUP.search(masked) or _GROUP_AFTER.match(raw.text.low[mention.end :])
    )


def candidates(raw: Raw, table: Table, joins: dict[str, Any]) -> int | None:
    """How well a table fits the goal's columns, or None where one of them is missing."""
    score = 0
    for m in raw.mentions:
        own = [c for c in m.columns if c.table == table.name]
        far = [c for c in m.columns if c.table in joins]
        if own:
            score += 5 if m.concepts == table_concepts(table) else 4
        elif far and any(c.is_measure for c in far) and not is_group(raw, m):
            return None
        elif far:
            score += 2
        elif m.concepts == table_concepts(table) or is_pseudo(m, table):
            score += 3
        elif m.quality == 1:
            score -= 2
        else:
            return None
    score += 3 * sum(t.name == table.name for t, _, _ in raw.table_nouns)
    score += 4 * sum(d.table == table.name for d, _, _ in raw.terms)
    return score


def is_pseudo(mention: Mention, table: Table) -> bool:
    """Whether the words mean something that the table can express without such a column (routes, airports)."""
    names = {frozenset(c.signature) for c in table.columns}
    ends = frozenset({"origin"}) in names and frozenset({"dest"}) in names
    return ends and bool(mention.concepts & {"route", "airport"})
