# ruff: noqa: E501
"""Words of a goal → values in the data: "JFK", "华东", a name found through a joinable look-up table."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from . import lexicon
from .reading import Raw, Unclear
from .schema import Column, Table
from .text import LETTER, TAKEN, english, literal, own, quote
from .wording import Steps

Json = dict[str, Any]

_NOT = re.compile(
    r"(?:\b(?:not(?: from| in| for)?|except(?: for)?|excluding|exclude|excludes|without|other than|apart from|but not|leaving out|ignoring|all but)(?: the)?|除了?|不含|不包括|不算|排除|非|不是)[\s\x01]*$"
)
_ONLY = re.compile(r"(?:\bonly(?: for| in| from| at)?(?: the)?|\bjust(?: for)?|只看|只要|只|仅)[\s\x01]*$")
_FROM = re.compile(r"\b(?:from|out of|leaving|departing(?: from)?|departed)[\s\x01]*$|从[\s\x01]*$")
_SMALL = frozenset(["no", "not", "none", "n", "y"])
"""Words that are a value only where its column stands before them."""
_TOKEN = re.compile(rf"{LETTER}(?:{LETTER}|[&./'+-])*")
_TO = re.compile(r"\b(?:to|into|arriving (?:in|at)|toward)[\s\x01]*$|(?:到|飞往|飞)[\s\x01]*$")


@dataclasses.dataclass(frozen=True)
class Join:
    """A look-up table joined to the fact table on a column that is unique there."""

    table: Table
    own: str
    other: str

    @property
    def sql(self) -> str:
        """The LEFT JOIN clause."""
        return f"LEFT JOIN {self.table.sql} ON {self.table.sql}.{quote(self.other)} = f.{quote(self.own)}"


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of a column that the goal names."""

    column: Column
    value: Any
    start: int
    end: int
    negative: bool
    rows: int


def joins(table: Table, tables: list[Table]) -> dict[str, Join]:
    """Tables that may be joined to this one by a column of the same name (or id ↔ table_id)."""
    found = {}
    clock = {"year", "month", "day", "hour", "minute", "date", "time", "name"}
    for other in tables:
        if other is table or other.database != table.database:
            continue
        shared = [
            c
            for c in other.columns
            if (mine := table.column(c.name))
            and mine.kind == c.kind
            and not c.signature <= clock
            and c.name.lower() != "id"
            and not c.is_measure
        ]
        if len(shared) == 1:
            found[other.name] = Join(other, shared[0].name, shared[0].name)
            continue
        own_id = other.column("id")
        if own_id and not shared:
            stem = re.sub(r"s$", "", other.name.split(".")[-1].lower())
            if (mine := table.column(f"{stem}_id")) is not None:
                found[other.name] = Join(other, mine.name, "id")
    return found


def expression(column: Column, fact: Table) -> str:
    """The column in SQL, with the alias of its table."""
    return (
        column.sql or own(column.name)
        if column.table == fact.name
        else f"{_table_sql(column, fact)}.{quote(column.name)}"
    )


def _table_sql(column: Column, fact: Table) -> str:
    name = column.table.removeprefix(f"{fact.database}.") if fact.database else column.table
    return quote(name)


def ground(raw: Raw, fact: Table, joinable: dict[str, Join]) -> Steps:
    """Look up the words that nothing else placed among the values of text columns. Returns a list of Value."""
    grams = _grams(raw)
    runs = [m.group() for m in re.finditer(r"[\u3400-\u9fff]+", raw.text.rest)]
    open_words = raw.text.leftover()
    words = [w for w in open_words if len(w) >= (2 if lexicon.is_cjk(w[0]) else 3)]
    if not grams and not open_words and not raw.quoted:
        return []
    columns = [c for c in fact.columns if c.kind == "text" and "date" not in c.signature]
    columns += [
        c
        for j in joinable.values()
        for c in j.table.columns
        if c.kind == "text" and fact.column(c.name) is None
    ]
    if not columns:
        return []
    query = _query(columns[:24], fact, joinable, list(grams), runs, words)
    named = [*words, *[q for q, _, _ in raw.quoted]] or list(grams)[:6] or runs
    got = yield (
        (
            f"I look up which values these words name: {', '.join(named)}.",
            f"查这些词对应哪些值：{'、'.join(named)}。",
        ),
        "query_sql",
        {"query": query, "database": fact.database} if fact.database else {"query": query},
    )
    if not got.get("ok"):
        return []
    hits = [
        (c, row[2], bool(row[3]), int(row[4]))
        for row in got.get("rows", [])
        for c in columns
        if [c.table, c.name] == row[:2]
    ]
    if got.get("note"):
        hits = [h for h in hits if h[2]]
    return _placed(raw, hits, grams)


def _grams(raw: Raw) -> dict[str, tuple[int, int]]:
    """Runs of up to four words that may be a value, with where they stand."""
    tokens = [(m.group(), *m.span()) for m in _TOKEN.finditer(raw.text.low)]
    found: dict[str, tuple[int, int]] = {}
    for size in (5, 4, 3, 2, 1):
        for i in range(len(tokens) - size + 1):
            start, end = tokens[i][1], tokens[i + size - 1][2]
            written = raw.text.original[start:end]
            while end > start and raw.text.low[end - 1] in ".,'/-":
                end -= 1
            gram = raw.text.low[start:end].removesuffix("'s")
            opened = raw.text.rest[start:end]
            plain = all(w in lexicon.STOPWORDS for w, _, _ in tokens[i : i + size])
            shouted = written.isupper() and len(written) > 1 and not raw.text.original.isupper()
            capital = bool(re.search(r"[A-Z0-9]", written)) and (start > 0 or shouted)
            acted = size == 1 and gram in lexicon.VALUE_LIKE
            content = [w for w in _TOKEN.findall(opened) if w not in lexicon.STOPWORDS]
            marked = bool(re.search(r"(?<![A-Za-z])[A-Z](?![A-Za-z])", written)) and start > 0
            named = size > 1 and not re.search(LETTER, opened) and _all_columns(raw, start, end)
            if not (
                content or (marked and re.search(LETTER, opened)) or (capital and plain) or named or acted
            ):
                continue
            if size == 1 and TAKEN in opened and not re.search(r"\d[/+-]", gram):  # but "2023/24", "50+"
                continue
            if "," in gram or (plain and not acted and not (capital and written.upper() == written)):
                continue
            found.setdefault(gram, (start, start + len(gram)))
    for text, start, end in raw.quoted:
        found[text.lower()] = (start, end)
    return dict(list(found.items())[:60])


def _all_columns(raw: Raw, start: int, end: int) -> bool:
    """Whether every word of the span was read as (part of) a column: "Product Manager" may be a value all the same."""
    spans = [(m.start, m.end) for m in raw.mentions if start <= m.start and m.end <= end]
    return (
        len(spans) > 1 and spans[0][0] == start and sum(b - a for a, b in spans) >= end - start - len(spans)
    )


def _query(
    columns: list[Column],
    fact: Table,
    joinable: dict[str, Join],
    grams: list[str],
    runs: list[str],
    words: list[str],
) -> str:
    """Values of each column that are named in full (exact) or in part, with how many rows have them."""
    full = sorted(dict.fromkeys(v for g in grams for v in spellings(g)))
    selects = []
    for c in columns:
        name = quote(c.name)
        value = f"CAST({name} AS VARCHAR)" if c.mixed else name
        exact = [f"lower(trim({value})) IN (SELECT word FROM words)"] if full else []
        exact += [f"instr({literal(run)}, {value}) > 0" for run in runs]
        loose = [f"lower({value}) LIKE {literal('%' + word.lower() + '%')}" for word in words]
        is_exact = " OR ".join(exact) or "1 = 0"
        source = fact.sql if c.table == fact.name else joinable[c.table].table.sql
        selects.append(
            f"SELECT {literal(c.table)} AS source, {literal(c.name)} AS col, {value} AS value, {is_exact} AS exact, "
            f"COUNT(*) AS n\nFROM {source}\nWHERE {' OR '.join(exact + loose)}\nGROUP BY {value}"
        )
    listed = ", ".join(f"({literal(v)})" for v in full)
    named = f"WITH words(word) AS (\n  VALUES {listed}\n)\n" if full else ""
    return named + "\nUNION ALL\n".join(selects) + "\nORDER BY exact DESC, n DESC\nLIMIT 40"


def spellings(gram: str) -> list[str]:
    """The words as they stand, and as one of several: laptops → laptop, batteries → battery."""
    forms = [gram]
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if gram.endswith(ending) and len(gram) > len(ending) + 2 and not gram.endswith("ss"):
            forms.append(gram[: -len(ending)] + instead)
    return forms


def _placed(
    raw: Raw, hits: list[tuple[Column, str, bool, int]], grams: dict[str, tuple[int, int]]
) -> list[Value]:
    found: list[Value] = []
    spans: dict[tuple[int, int], list[tuple[Column, str, int]]] = {}
    for column, value, exact, n in hits:
        if not exact:
            continue
        low = value.strip().lower()
        for gram in grams:
            if low in _SMALL and not _named_before(raw, column, grams[gram][0]):
                continue
            if low in spellings(gram):
                spans.setdefault(grams[gram], []).append((column, value, n))
        for match in re.finditer(re.escape(low), raw.text.rest) if re.search(r"[\u3400-\u9fff]", low) else []:
            if low in lexicon.ZH_STOP and not _named_before(raw, column, match.start()):
                continue  # 是 is a value only where its column stands before it
            spans.setdefault(match.span(), []).append((column, value, n))
    for span in sorted(spans, key=lambda s: s[0] - s[1]):
        if any(span[0] < v.end and v.start < span[1] for v in found):
            continue
        chosen = _one(raw, span, spans[span])
        alike = {v for c, v, _ in spans[span] if c == chosen.column}
        found += [
            dataclasses.replace(chosen, value=v) for v in sorted(alike, key=lambda v: v != chosen.value)
        ]
    loose = [(c, v, n) for c, v, exact, n in hits if not exact]
    taken = [(v.start, v.end) for v in found]
    for match in re.finditer(rf"[\u3400-\u9fff]{{2,}}|{LETTER}(?:{LETTER}|[&-]){{2,}}", raw.text.rest):
        span = match.span()
        if match.group() in lexicon.STOPWORDS or any(span[0] < b and a < span[1] for a, b in taken):
            continue
        inside = [h for h in loose if re.search(english(re.escape(match.group())), h[1].lower())]
        if len({v for _, v, _ in inside}) > 1:
            listed = ", ".join(dict.fromkeys(v for _, v, _ in inside[:6]))
            raise Unclear(
                f'"{match.group()}" could be {listed}: which one?',
                f"“{match.group()}” 可能是 {listed}，是哪一个？",
                (match.group(),),
            )
        if inside:
            found.append(_one(raw, span, inside))
    found.sort(key=lambda v: v.start)
    for i, v in enumerate(found[1:], 1):
        before = found[i - 1]
        joined = re.fullmatch(r"[\s,]*(?:and|or|nor|和|与|及|或|、)?\s*", raw.text.low[before.end : v.start])
        if before.negative and joined and before.column == v.column:
            found[i] = dataclasses.replace(v, negative=True)
    for v in found:
        raw.text.mark(v.start, v.end)
        _drop_mentions(raw, v)
    return sorted(found, key=lambda v: v.start)


def _named_before(raw: Raw, column: Column, start: int) -> bool:
    """Whether the column is named right before: "是否复诊为是", "remote is no"."""
    gaps = [raw.text.low[m.end : start] for m in raw.mentions if column in m.columns and m.end <= start]
    return any(re.fullmatch(r"[\s:=\"']*(?:is|are|was|为|是)?[\s:=\"']*", gap) for gap in gaps)


def _one(raw: Raw, span: tuple[int, int], options: list[tuple[Column, str, int]]) -> Value:
    before = raw.text.low[: span[0]]
    options = sorted({(c.table, c.name): (c, v, n) for c, v, n in options}.values(), key=lambda o: -o[2])
    if len(options) > 1:
        options = _by_cue(raw, span, before, options)
    if len(options) > 1:
        listed = " / ".join(f"{c.name} ({n} rows)" for c, _, n in options)
        word = raw.text.original[slice(*span)]
        raise Unclear(
            f'"{word}" is a value of several columns: {listed}. Which one do you mean?',
            f"“{word}” 在几列里都有：{listed}。指的是哪一列？",
            (word,),
        )
    column, value, n = options[0]
    negative = False
    if match := _NOT.search(before):
        negative = True
        raw.text.mark(match.start(), match.end())
        raw.text.take(r"(?<=\x01)\s*(?:以外|之外|外)")
    elif match := _ONLY.search(before):
        raw.text.mark(match.start(), match.end())
    return Value(column, value, *span, negative, n)


def _by_cue(
    raw: Raw, span: tuple[int, int], before: str, options: list[tuple[Column, str, int]]
) -> list[tuple[Column, str, int]]:
    beside = [m for m in raw.mentions if 0 <= span[0] - m.end <= 4 or 0 <= m.start - span[1] <= 1]
    named = [o for o in options if any(o[0] in m.columns for m in beside)]
    if len(named) == 1:
        return named
    for pattern, part in ((_FROM, "origin"), (_TO, "dest")):
        if pattern.search(before):
            word = "from" if part == "origin" else "to"
            cued = [o for o in options if part in o[0].signature or o[0].name.lower() == word]
            if len(cued) == 1:
                return cued
    measured = {
        p for m in raw.mentions for c in m.columns if c.is_measure for p in c.signature
    } - lexicon.WEAK
    kin = [o for o in options if o[0].signature & measured]  # "home goals of Ajax": the home team
    if len(kin) == 1:
        return kin
    if options[0][2] >= 100 * options[1][2]:
        return options[:1]
    return options


def _drop_mentions(raw: Raw, v: Value) -> None:
    """Words that are part of the value, or name its column right beside it, are no dimension of their own."""
    kept = []
    for m in raw.mentions:
        inside = m.start < v.end and v.start < m.end
        gap_before, gap_after = raw.text.low[m.end : v.start], raw.text.low[v.end : m.start]
        beside = (
            m.end <= v.start and re.fullmatch(r"[\s:=]*(?:is|=|named|called|为|是)?[\s:=]*", gap_before)
        ) or (m.start >= v.end and re.fullmatch(r"\s?(?:的)?", gap_after))
        same = any(
            c.name == v.column.name or c.signature - lexicon.WEAK == v.column.signature - lexicon.WEAK
            for c in m.columns
        )
        looked_up = v.column.signature <= {"name"} and any(c.kind == "text" for c in m.columns)
        grouped = re.search(r"\b(?:by|per|each|which)\s*(?:the\s)?$|[各每按哪]个?$", raw.text.low[: m.start])
        if inside or (beside and (same or looked_up) and not grouped):
            continue
        kept.append(m)
    raw.mentions = kept
    raw.periods = [p for p in raw.periods if not (p.start < v.end and v.start < p.end)]
    raw.comparisons = [c for c in raw.comparisons if not (c.start < v.end and v.start < c.end)]
    raw.table_nouns = [n for n in raw.table_nouns if not (n[1] < v.end and v.start < n[2])]
