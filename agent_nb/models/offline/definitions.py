# ruff: noqa: E501
"""Definitions out of memory: "a flight is late when …", "net sales = amount - refund", "always exclude …"."""

from __future__ import annotations

import dataclasses
import re

from . import conditions, schema
from .schema import Column, Table
from .text import TAKEN, Text, english, fold, literal, own

_LINE = re.compile(r"^\s*(?:[-*]\s*)?\[(?P<meta>[^\]]*)\]\s*(?P<text>.+)$")
_REMEMBER = re.compile(
    r"^\s*(?:please\s+)?(?:remember|note|keep in mind|请?记住|请?记下)(?:\s+that)?\s*[::,,]?\s*",
    re.IGNORECASE,
)
_WHEN = r"(?:when|if|where|once|whenever|as soon as|with|whose|having|that (?:has|have)|which (?:has|have)|in case)"
_IS = r"(?:is|are|means?|counts? as|is called|are called|is defined as|refers? to|=)"
_EXCLUDE = (
    english(
        "(?:always |please )?(?:exclude|leave out|ignore|skip|never (?:count|include)|do not (?:count|include)|don't (?:count|include))"
    )
    + "|(?:总是|一律|始终)?(?:排除|剔除|不要?(?:计算?|算|统计|包括|包含))|去掉"
)


@dataclasses.dataclass(frozen=True)
class Definition:
    """What a remembered sentence means in SQL.

    `kind`: predicate (rows that the term names), expression (a measure), exclude (rows always left out),
    alias (the term means another column), unclear (it is about the term, but no rule here reads it).
    """

    kind: str
    term: str
    pattern: str
    sql: str
    source: str
    table: str = ""
    columns: tuple[Column, ...] = ()


def remembered(system: str) -> list[str]:
    """The texts of the records between <memory> and </memory>, as they stand."""
    found = []
    for block in re.findall(r"<memory>\s*\n(.*?)\n\s*</memory>", system, re.DOTALL):
        for line in block.splitlines():
            if match := _LINE.match(line):
                found.append(match["text"].strip())
    return found


def parse(texts: list[str], tables: list[Table]) -> list[Definition]:
    """The definitions among remembered texts that these tables' columns can express; unclear ones are kept as such."""
    found: list[Definition] = []
    for text in texts:
        body = _REMEMBER.sub("", text).strip().rstrip("。.!！")
        for table in tables:
            made = _one(body, text, table)
            if made:
                found += made
        if not any(d.source == text for d in found) and (term := _term_of(body)):
            found.append(Definition("unclear", term, _pattern(term), "", text))
    return found


def _one(body: str, source: str, table: Table) -> list[Definition]:
    return (
        _exclusion(body, source, table)
        or _predicate(body, source, table)
        or _expression(body, source, table)
        or _alias(body, source, table)
    )


def _predicate(body: str, source: str, table: Table) -> list[Definition]:
    low = fold(body)
    for pattern in (
        rf"^(?:an? |the |any |every )?(?P<subject>[\w ]+?) {_IS} (?:called |considered |counted as )?(?:an? )?(?P<term>[\w -]+?) {_WHEN} (?P<condition>.+)$",
        rf"^(?:an? |the |any )?(?P<term>[\w -]+?) {_IS} (?:an? |the |one |those |ones )?(?:[\w]+ )?(?:{_WHEN}|that|which) (?P<condition>.+)$",
        r"^(?P<condition>.+?)的?(?P<subject>[\u3400-\u9fff]{0,4}?)(?:才?算作?|视为|称为|叫做?|就?是)(?P<term>[\u3400-\u9fff]{1,8})$",
        r"^(?P<term>[\u3400-\u9fff]{1,10}?)(?:是指|指的是|的定义是|定义为|指|是|:)\s*(?P<condition>.+?)(?:的[\u3400-\u9fff]{0,4})?$",
    ):
        match = re.match(pattern, low)
        if not match or match["term"].strip() in ("one", "ones", "those", "that", "any"):
            continue
        sql, columns = condition(match["condition"], table)
        if sql:
            term = match["term"].strip()
            subject = (match.groupdict().get("subject") or "").strip()
            return [Definition("predicate", term, _pattern(term, subject), sql, source, table.name, columns)]
    return []


def condition(text: str, table: Table) -> tuple[str, tuple[Column, ...]]:
    """A condition over a table's columns as SQL, and its columns; ("", ()) where a word of it is not understood."""
    pieces = re.split(r"\s+and\s+(?!\d)|且|并且", text)
    sqls, columns = [], []
    for piece in pieces:
        made = _comparison(piece, table) or _equality(piece, table)
        if not made:
            return "", ()
        sqls.append(made[0])
        columns.append(made[1])
    return " AND ".join(sqls), tuple(columns)


def _comparison(piece: str, table: Table) -> tuple[str, Column] | None:
    text = Text(piece)
    found = conditions.parse(text)
    named = schema.mentions(text, [table], 1)
    numeric = [[c for c in m.columns if c.kind == "number"] for m in named]
    if len(found) != 1 or len(named) != 1 or len(numeric[0]) != 1 or _open(text):
        return None
    if found[0].unit in ("%", "hours", "hour", "小时"):
        return None
    column = numeric[0][0]
    return found[0].sql(own(column.name)), column


def _equality(piece: str, table: Table) -> tuple[str, Column] | None:
    match = re.match(
        r"^(?:its |the |their )?(?P<column>.+?)\s*(?P<is>is not|are not|is|are|=|==|equals|不是|是|为|等于)\s*(?P<value>.+)$",
        piece.strip(),
    )
    if not match:
        return None
    text = Text(match["column"])
    named = schema.mentions(text, [table], 2)
    if len(named) != 1 or len(named[0].columns) != 1 or _open(text):
        return None
    column = named[0].columns[0]
    value = match["value"].strip(" '\"“”`")
    negative = match["is"] in ("is not", "are not", "不是")
    if value in ("missing", "null", "empty", "unknown", "空", "缺失"):
        return f"{own(column.name)} IS {'NOT ' if negative else ''}NULL", column
    if column.kind == "number":
        return (
            None
            if not re.fullmatch(r"-?\d+(\.\d+)?", value)
            else (f"{own(column.name)} {'<>' if negative else '='} {value}", column)
        )
    return f"lower({own(column.name)}) {'<>' if negative else '='} {literal(value)}", column


def _expression(body: str, source: str, table: Table) -> list[Definition]:
    match = re.match(
        r"^(?:the )?(?P<term>[^=]+?)\s*(?:=|:=|\bequals\b|\bis\b|\bmeans\b|等于|是|为)\s*(?P<formula>.+)$",
        fold(body),
    )
    if not match:
        return []
    formula = match["formula"]
    for words, sign in (
        ("minus|less|减去?", "-"),
        ("plus|加上?", "+"),
        ("times|multiplied by|乘以?", "*"),
        ("divided by|over|除以", "/"),
    ):
        ascii_words = "|".join(w for w in words.split("|") if w[0].isascii())
        zh = "|".join(w for w in words.split("|") if not w[0].isascii())
        formula = re.sub(rf"\b(?:{ascii_words})\b|{zh}" if zh else rf"\b(?:{ascii_words})\b", sign, formula)
    formula = formula.replace("×", "*").replace("÷", "/").replace("−", "-")
    pieces = re.split(r"(\s*[-+*/()]\s*)", formula)
    if not any(p.strip() in list("+-*/") for p in pieces if p.strip()):
        return []
    out, columns = [], []
    for piece in pieces:
        word = piece.strip()
        if not word:
            continue
        if word in "+-*/()" or re.fullmatch(r"\d+(\.\d+)?", word):
            out.append(word)
            continue
        column = _column(word, table)
        if column is None or column.kind != "number":
            return []
        columns.append(column)
        out.append(f"CAST({own(column.name)} AS DOUBLE)" if "/" in formula else own(column.name))
    if not columns:
        return []
    term = match["term"].strip()
    return [
        Definition(
            "expression", term, _pattern(term), f"({' '.join(out)})", source, table.name, tuple(columns)
        )
    ]


def _exclusion(body: str, source: str, table: Table) -> list[Definition]:
    text = Text(body)
    cue = text.take(_EXCLUDE)
    if cue is None:
        return []
    text.take_all(
        english(
            "from (?:all|every|the)? ?(?:analyses|analysis|results|statistics|calculations|reports?)|always|all|rows|records"
        )
    )
    named = schema.mentions(text, [table], 2)
    rest = re.sub(r"[\x01,。.]|\b(?:with|where|is|are|the|of|in|from|whose|=)\b", " ", text.rest)
    values = [w for w in re.split(r"\s*(?:,|、|\band\b|\bor\b|和|或)\s*|\s{2,}", rest.strip()) if w.strip()]
    if len(named) != 1 or len(named[0].columns) != 1 or not values or any(len(v) > 40 for v in values):
        return []
    column = named[0].columns[0]
    if column.kind == "text":
        chosen = ", ".join(literal(v.strip(" '\"=为是")) for v in values)
        sql = f"({own(column.name)} IS NULL OR lower({own(column.name)}) NOT IN ({chosen}))"
        return [Definition("exclude", column.name, "", sql, source, table.name, (column,))]
    return []


def _alias(body: str, source: str, table: Table) -> list[Definition]:
    head = re.split(r"[,，;；]", body)[0]
    match = re.match(
        rf"^(?:by |the )?(?P<term>[\w ]+?) (?:i mean|we mean|{_IS}) (?:the |always )*(?P<means>[\w ]+)$",
        fold(head),
    ) or re.match(
        r"^(?P<term>[\u3400-\u9fff]{1,8}?)(?:是指|指的是|就是|指|是)(?P<means>[\w\u3400-\u9fff ]+)$",
        fold(head),
    )
    if not match:
        return []
    column = _column(match["means"], table)
    if column is None or column.name == match["term"]:
        return []
    return [
        Definition(
            "alias", match["term"], _pattern(match["term"]), own(column.name), source, table.name, (column,)
        )
    ]


def _column(word: str, table: Table) -> Column | None:
    text = Text(word)
    named = schema.mentions(text, [table], 2)
    if len(named) != 1 or len(named[0].columns) != 1 or _open(text):
        return None
    return named[0].columns[0]


def _open(text: Text) -> bool:
    """Whether a word of the condition is still not understood."""
    rest = re.sub(
        r"\b(?:its|the|their|is|are|of|a|an|any|has|have|was|were|it)\b|[的其为是在]", " ", text.rest
    )
    return bool(re.sub(rf"[\s{TAKEN},.。]+", "", rest))


def _term_of(body: str) -> str:
    match = re.match(rf"^(?:an? |the )?(?P<term>[\w -]{{2,30}}?) {_IS} ", fold(body)) or re.match(
        r"^(?P<term>[\u3400-\u9fff]{2,8}?)(?:是指|指的是|等于|=|是|指)", fold(body)
    )
    return match["term"].strip() if match else ""


def _pattern(term: str, subject: str = "") -> str:
    """A pattern that finds the term in a goal; "late" with the subject "flight" finds "late flights" too."""
    words = [re.escape(re.sub(r"(?<=[a-z]{3})s$", "", w)) + r"(?:e?s)?" for w in term.split()]
    joined = r"\s+".join(words)
    if not term.isascii():
        return re.escape(term)
    if subject:
        noun = re.escape(re.sub(r"(?<=[a-z]{2})s$", "", subject.split()[-1]))
        return english(rf"{joined}(?:\s+{noun}(?:e?s)?)?")
    return english(joined)
