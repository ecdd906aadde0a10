"""Tables and columns as list_variables tells them, and the columns that words of a goal may mean."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from . import lexicon
from .text import Text, english, fold, quote

Json = dict[str, Any]


_BETWEEN = lexicon.words("in of the at on to by for and or a an is with from as are was")


_CATEGORIES = lexicon.words(
    "status type category class zip zipcode postcode postal version phone port channel weekday"
)
"""What numbers name rather than measure."""
_UNITS = lexicon.words(
    "minute hour day week month year second degree mile meter age price rate percent point"
)
_ENTITIES = lexicon.words(
    """
    customer user store order employee product patient student invoice transaction supplier phone account room ticket
    device sensor meter machine flight vehicle member doctor school class warehouse line station visit session
    """
)


@dataclasses.dataclass(frozen=True)
class Column:
    """A column. `kind`: number, text, date or flag; `signature`: the concepts that its name is made of; `sql`: how
    it is computed, where that is not by its name."""

    table: str
    name: str
    kind: str
    signature: frozenset[str]
    dtype: str = ""
    sql: str = ""

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers only, by its type."""
        return bool(re.search(r"int", self.dtype.lower()))

    @property
    def zone(self) -> str:
        """Time zone of its clock ("Europe/Berlin", "+02:00"), "" where it has none."""
        match = re.search(
            r"(?:, |tz=|time_zone=')(?:UTC(?=[+-]))?(?P<zone>[A-Z]\w+(?:/[\w+-]+)*|[+-]\d\d:\d\d)['\])]",
            self.dtype,
        )
        return match["zone"] if match else ""

    @property
    def mixed(self) -> bool:
        """Whether its type allows more than text ("object" may hold dates)."""
        return self.dtype.lower() == "object"

    @property
    def is_id(self) -> bool:
        """Whether its name says that it identifies something rather than measures it."""
        last = lexicon.concept((parts(self.name) or [""])[-1])
        if last in ("id", "code", "no"):  # "visit_no", "tax_id"
            return True
        return bool(self.signature & {"id", "code", "number"}) and not self.signature & lexicon.ADDITIVE

    @property
    def is_entity(self) -> bool:
        """Whether it is the number of a single thing ("store" 5, "customer" 110); "customers" may be how many."""
        single = not self.name.lower().endswith("s")
        return self.kind == "number" and bool(self.signature) and self.signature <= _ENTITIES and single

    @property
    def is_plural(self) -> bool:
        """Whether its name counts things ("yellow_cards", "clicks"), and not units ("runtime_minutes")."""
        last = (parts(self.name) or [""])[-1]
        return bool(re.search(r"[a-z]{2}[^su]s$", last)) and lexicon.concept(last) not in _UNITS

    @property
    def names(self) -> bool:
        """Whether its numbers stand for things (a postcode, a customer): their sum and mean have no meaning."""
        return self.is_id or self.is_entity or bool(self.signature & _CATEGORIES - {"weekday"})

    @property
    def is_measure(self) -> bool:
        """Whether it is a number that can be summed or averaged."""
        clock = {"year", "month", "day", "hour", "minute", "quarter", "week", "latitude", "longitude"}
        # "pickup_hour" is a time of the day, "overtime_hours" how many
        timed_by = {lexicon.concept(p) for p in parts(self.name) if not p.endswith("s")}
        timed = "time" in self.signature and bool(self.signature & {"dep", "arr", "sched"})
        return (
            self.kind == "number"
            and not self.is_id
            and not timed
            and not self.is_entity
            and not (self.signature & _CATEGORIES and not self.signature & lexicon.MEASURES)
            and not (timed_by & clock and not self.signature & lexicon.MEASURES)
        )


@dataclasses.dataclass(frozen=True)
class Table:
    """A table in the notebook, or of a database (`database` is the engine's name)."""

    name: str
    columns: tuple[Column, ...]
    database: str = ""
    rows: int | None = None

    @property
    def sql(self) -> str:
        """The table as it is written in SQL."""
        name = self.name.removeprefix(f"{self.database}.") if self.database else self.name
        return quote(name)

    def column(self, name: str) -> Column | None:
        """The column of that name."""
        return next((c for c in self.columns if c.name == name), None)


def parts(name: str) -> list[str]:
    """The lower-case parts of a column's or table's name: cut at _, blanks, camelCase and between Chinese words."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word, _, _ in Text(name.replace("_", " ")).tokens()]


def signature(name: str) -> frozenset[str]:
    """The concepts of a name."""
    return frozenset(lexicon.concept(part) for part in parts(name)) or frozenset({fold(name)})


def kind_of(dtype: str) -> str:
    """number, date, flag or text, by the name of a pandas, polars, Arrow or SQL type."""
    low = dtype.lower()
    if "bool" in low:
        return "flag"
    if re.search(r"date|timestamp", low):
        return "date"
    if re.search(
        r"^u?int|float|double|decimal|numeric|real|bigint|smallint|hugeint|tinyint|number|integer", low
    ):
        return "number"
    return "text"


def tables_of(listing: Json) -> list[Table]:
    """The tables of a list_variables result; names that begin with _ (kept results) are left out."""
    found = []
    for entry in listing.get("variables", []):
        columns = entry.get("columns")
        name = str(entry.get("name", ""))
        if not isinstance(columns, list) or not columns or name.startswith("_"):
            continue
        made = []
        for column in columns:
            if isinstance(column, dict) and "name" in column:
                text = str(column["name"])
                dtype = str(column.get("dtype", ""))
                made.append(Column(name, text, kind_of(dtype), signature(text), dtype))
        database = name.rsplit(".", 1)[0] if "database" in str(entry.get("type", "")) and "." in name else ""
        rows = entry.get("rows") if isinstance(entry.get("rows"), int) else None
        found.append(Table(name, tuple(made), database, rows))
    return found


@dataclasses.dataclass(frozen=True)
class Mention:
    """Words of the goal that may mean columns. `quality`: 3 exact, 2 all but weak parts, 1 only some parts."""

    text: str
    start: int
    end: int
    columns: tuple[Column, ...]
    quality: int
    concepts: frozenset[str]


def quality(words: frozenset[str], column: Column, literal: str = "") -> int:
    """How well words (as concepts) name a column."""
    name = column.signature
    if literal and fold(literal).replace(" ", "_") == fold(column.name).replace(" ", "_"):
        return 4
    if words == name:
        return 3
    if literal and len(words) == 2 and _abbreviated(fold(literal).split(), fold(column.name)):
        return 3
    strong = words - {"id", "name", "code", "number", "value"}
    if strong and strong == name - lexicon.WEAK:
        return 2
    return 1 if strong and strong < name else 0


def _abbreviated(words: list[str], name: str) -> bool:
    """Whether a column's name is the beginnings of two words run together: "tail number" → tailnum."""
    return len(words) == 2 and any(
        words[0].startswith(name[:i]) and words[1].startswith(name[i:]) for i in range(3, len(name) - 2)
    )


def mentions(text: Text, tables: list[Table], least: int) -> list[Mention]:
    """Columns named by what is still open in the text, longest and best first, marked as understood."""
    every = [c for t in tables for c in t.columns]
    found = literal_mentions(text, every) if least > 1 else []
    vocabulary = {p for c in every for p in parts(c.name)} | {c.name for c in every}
    tokens = [(w.removesuffix("'s"), a, b) for w, a, b in text.tokens(vocabulary)]
    for size in (4, 3, 2, 1):
        at = 0
        while at + size <= len(tokens):
            run = tokens[at : at + size]
            best = _best(text, run, every, least)
            if best is None:
                at += 1
                continue
            found.append(best)
            text.mark(best.start, best.end)
            del tokens[at : at + size]
    return sorted(found, key=lambda m: m.start)


def _best(text: Text, run: list[tuple[str, int, int]], every: list[Column], least: int) -> Mention | None:
    start, end = run[0][1], run[-1][2]
    between = text.rest[start:end]
    if len(run) > 1 and re.search(r"[,;，；。\x01]|\s(?:by|per|in|and|or)\s", between):
        return None
    if len(run) == 1 and run[0][0] in lexicon.STOPWORDS | set(lexicon.ZH_STOP):
        return None
    if any(word in ("no", "not", "non") for word, _, _ in run) or {word for word, _, _ in run} & _BETWEEN:
        return None
    words = frozenset(lexicon.concept(word) for word, _, _ in run)
    if len(run) > 1 and len(words) < len(run):
        return None
    if least == 1 and between and len(between) == 1 and lexicon.is_cjk(between):
        return None  # one character of a name says too little
    scored = [(quality(words, c, between), c) for c in every]
    top = max((q for q, _ in scored), default=0)
    if top < least:
        return None
    chosen = tuple(c for q, c in scored if q == top)
    return Mention(text.original[start:end], start, end, chosen, top, words)


def literal_mentions(text: Text, every: list[Column]) -> list[Mention]:
    """Columns whose whole name stands in the text: names of several parts, with marks, or Chinese ones."""
    found = []
    for name in sorted({c.name for c in every}, key=len, reverse=True):
        low = fold(name)
        chinese = any(map(lexicon.is_cjk, low))
        if len(low) < 2 or not (chinese or re.search(r"[\W_]|[a-z][A-Z]", name)):
            continue
        pattern = re.escape(low).replace(r"\ ", r"[\s_]+").replace("_", r"[\s_]")
        for match in text.find(pattern if chinese else english(pattern)):
            columns = tuple(c for c in every if c.name == name)
            text.mark(*match.span())
            found.append(
                Mention(text.original[slice(*match.span())], *match.span(), columns, 4, signature(name))
            )
    return found
