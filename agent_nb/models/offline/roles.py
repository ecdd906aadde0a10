# ruff: noqa: E501
"""Which part each named column plays: measure, dimension, count, condition. Raises Unclear rather than guess."""

from __future__ import annotations

import dataclasses
import re

from . import lexicon, periods
from .conditions import Comparison
from .grounding import Join, Value, expression
from .query import Dimension, Measure
from .reading import Raw, Unclear, is_group, table_concepts
from .schema import Column, Mention, Table, parts
from .text import OWN, TAKEN, english, literal, own, quote


@dataclasses.dataclass
class Slots:
    """The roles found in one goal, for one table."""

    measures: list[Measure] = dataclasses.field(default_factory=list)
    dims: list[Dimension] = dataclasses.field(default_factory=list)
    filters: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)
    having: tuple[str, str] = ("", "")
    dates: list[Column] = dataclasses.field(default_factory=list)
    joins: dict[str, Join] = dataclasses.field(default_factory=dict)
    rows: bool = False
    single_rows: bool = False
    stat: str = ""
    outer: Dimension | None = None
    weekdays: tuple[bool, str, str] = (False, "", "")
    things: list[Measure] = dataclasses.field(default_factory=list)
    several: list[Dimension] = dataclasses.field(default_factory=list)
    notes: list[tuple[str, str]] = dataclasses.field(default_factory=list)


def assign(raw: Raw, table: Table, joinable: dict[str, Join], values: list[Value]) -> Slots:
    """Give every mention of the goal its role."""
    s = Slots(stat=raw.want.stat)
    raw.mentions = [m for m in raw.mentions if not _flag(raw, m, table, values, s)]
    _amounts(raw, table)
    compared = _conditions(raw, table, s)
    for m in raw.mentions:
        if m in compared:
            continue
        _role(raw, m, table, joinable, s)
    for noun, start, _ in raw.table_nouns:
        if noun.name == table.name:
            if _asked_for(raw, start) and not raw.want.stats and raw.want.direction:
                s.single_rows = True
            s.rows = True
    _terms(raw, table, s)
    _filters(values, table, joinable, s)
    if (
        raw.want.stat in ("total", "mean", "median", "min", "max", "std")
        and not s.measures
        and not s.having[0]
    ):
        same = [c for m in compared for c in m.columns if c.table == table.name and c.is_measure]
        s.measures = [
            Measure(expression(c, table), c.name, (c,)) for c in same[:1]
        ]  # "sum of negative amounts"
    s.rows = s.rows or bool(compared or (s.filters and raw.comparisons))
    if s.things and not s.measures and not raw.want.stats and not s.having[0] and not raw.want.checks:
        s.measures, s.stat = s.things[:1], "distinct"  # "customers by region": each of them once
        s.several = s.several if raw.want.change else []
    if len({m.sql for m in s.measures}) != len(s.measures):
        s.measures = list({m.sql: m for m in s.measures}.values())
    return s


_NEGATED = re.compile(
    r"(?:\b(?:not|never|non|isn't|aren't|wasn't|weren't|without|no|excluding|except(?: for)?)(?: been| yet| on| in| an?| any)?[\s-]*|不是|没有被?|未被?|不|非)$"
)
_SAID_OF = re.compile(
    r"(?:\b(?:is|are|was|were|been|being|get|got|has|have|not|never|that|who)[\s-]*|[是被为不未非])$"
)


def _flag(raw: Raw, m: Mention, table: Table, values: list[Value], s: Slots) -> bool:
    """ "active employees", "were not readmitted": a yes-or-no column is a condition, of a share its part."""
    own_columns = [c for c in m.columns if c.table == table.name]
    want = raw.want
    if (
        len(own_columns) != 1
        or own_columns[0].kind != "flag"
        or is_group(raw, m)
        or want.missing
        or want.distribution
    ):
        return False
    column = own_columns[0]
    before = raw.text.low[: m.start]
    negative = _NEGATED.search(before)
    if negative and negative.group().strip(" -") in parts(column.name):  # "no shows", of a column no_show
        raw.text.mark(*negative.span())
        negative = _NEGATED.search(before[: negative.start()])
    if negative:
        raw.text.mark(*negative.span())
    sql = f"NOT {own(column.name)}" if negative else own(column.name)
    label = f"not {column.name}" if negative else column.name
    s.rows = True
    if rate := re.match(r"\s+rates?(?![a-z])|率", raw.text.low[m.end :]):  # "churn rate"
        raw.text.mark(m.end, m.end + rate.end())
        want.stats = [x for x in want.stats if x[0] != "mean"] + [("share", m.end, m.end + rate.end())]
        s.stat = want.stat
    if want.stat != "share":
        s.filters.append((column.name, sql, label))
        return True
    if not _SAID_OF.search(before) and (values or raw.comparisons):
        raise Unclear(
            f'is "{m.text}" the part or the whole of that share?',
            f"“{m.text}”是占比的部分还是整体？",
            (m.text,),
        )
    s.measures.append(Measure("", label, (column,), sql))
    return True


def opposites(raw: Raw, table: Table, s: Slots) -> None:
    """ "inactive" and "unpaid", where the table has a yes-or-no column active or paid."""
    for column in table.columns:
        if column.kind != "flag":
            continue
        for part in parts(column.name):
            if (
                len(part) > 3
                and raw.want.stat != "share"
                and raw.text.take(english(rf"(?:in|un|non-?){re.escape(part)}"))
            ):
                s.filters.append((column.name, f"NOT {own(column.name)}", f"not {column.name}"))
                s.rows = True


def _amounts(raw: Raw, table: Table) -> None:
    """ "客户数量" is a number of customers, unless it is the quantity of something: ask."""
    for before, m in zip(raw.mentions, raw.mentions[1:], strict=False):
        if (
            m.text in ("数量", "总数量")
            and before.end == m.start
            and not any(c.is_measure for c in before.columns)
        ):
            raise Unclear(
                f'is "{before.text}{m.text}" the number of different {before.text}, or a total of the column?',
                f"“{before.text}{m.text}”是指有多少个{before.text}，还是“{m.columns[0].name}”列的合计？",
                (m.text,),
            )


def _role(raw: Raw, m: Mention, table: Table, joinable: dict[str, Join], s: Slots) -> None:
    grouped = is_group(raw, m)
    if not [c for c in m.columns if c.table == table.name] and not [
        c for c in m.columns if c.table in joinable
    ]:
        if m.concepts == table_concepts(table):
            s.rows = True
            return
        _pseudo(raw, m, table, s)
        return
    of_things = _share_of(raw, m)
    if of_things and m.concepts == table_concepts(table) and not any(c.is_measure for c in m.columns):
        s.rows = True
        return
    if of_things and all(c.is_id or c.is_entity for c in m.columns):
        raise Unclear(
            f'is that a share of the rows of {table.name}, or of the different "{m.text}"?',
            f"是占 {table.name} 的行数，还是占不同“{m.text}”的个数？",
            (m.text,),
        )
    count = _count_before(raw, m)
    measured = bool(m.concepts & lexicon.MEASURES) and any(c.is_measure for c in m.columns) and not count
    if m.concepts == table_concepts(table) and m.quality < 4 and not measured:
        ids = [c for c in m.columns if c.table == table.name and c.is_id]
        if not count and raw.want.direction and _asked_for(raw, m.start) and not ids:
            s.single_rows = s.rows = True
            return
        if not _by(raw, m) and not ids:
            s.rows = True
            return
    column = _column(raw, m, table, joinable, grouped, bool(count))
    far = joinable.get(column.table) if column.table != table.name else None
    if far:
        s.joins[far.table.name] = far
    sql = expression(column, table)
    if count and not _by(raw, m):
        if column.is_measure:
            s.measures.append(Measure(sql, column.name, (column,)))
            s.stat = "total"
            for stat in ("mean", "median"):  # "average number of rooms"
                if raw.want.says(stat):
                    s.stat = stat
                    raw.want.stats = [x for x in raw.want.stats if x[0] != "count"]
        else:
            s.measures.append(Measure(sql, column.name, (column,)))
            s.stat = "distinct"
        return
    if column.kind == "date" or (column.kind == "text" and column.signature & {"date"} and not grouped):
        s.dates.append(column)
        return
    ordering = bool(raw.want.direction or raw.want.quality) and bool(m.concepts & lexicon.MEASURES)
    each = re.search(r"(?:each|every|各个?|每一?个?)[\s\x01]*$", raw.text.low[: m.start])
    if each and raw.want.direction and not column.is_measure:
        s.outer = Dimension(sql, column.name, "", (column.name,))
        s.dims.append(s.outer)
        return
    if (
        column.is_measure
        and s.measures
        and re.search(r"\bper[\s\x01]*$|每[\s\x01]*$", raw.text.low[: m.start])
    ):
        raise Unclear(
            f"{s.measures[-1].label} per {column.name} is a ratio, and which one (of the totals, or row by row) "
            "changes the result; shall I take one of the two columns?",
            f"{s.measures[-1].label} 与 {column.name} 之比有几种算法，结果不同；要看其中哪一列？",
            (m.text,),
        )
    if column.is_measure and (ordering or not _by(raw, m)):
        s.measures.append(Measure(sql, column.name, (column,)))
        return
    thing = column.signature & _ENTITIES or (m.concepts == table_concepts(table) and column.kind == "text")
    if _each(raw, m) and raw.want.stat == "mean" and thing:
        raise Unclear(
            f"is that the mean over all rows of each {column.name}, or the total divided by the number of "
            f"{column.name}?",
            f"是按每个 {column.name} 求平均，还是总额除以 {column.name} 的个数？",
        )
    if not grouped and column.is_id and raw.want.direction and not s.dims and _after_superlative(raw, m):
        s.measures.append(Measure(sql, column.name, (column,)))
        s.stat = "distinct"
        return
    if column.is_id and not grouped and not raw.want.direction and not s.having[0]:
        s.rows = True
        if m.concepts == table_concepts(table):
            return
        s.things.append(Measure(sql, column.name, (column,)))
        return
    stated = any(0 <= m.start - end <= 2 for _, _, end in raw.want.stats)
    if column.kind == "number" and not grouped and not column.is_id and stated and not s.measures:
        if column.names and raw.want.stat not in ("min", "max", "median"):
            raise Unclear(
                f"{column.name} names things by numbers, so a {raw.want.stat} of it means nothing; which other column?",
                f"{column.name} 是编号，求{raw.want.stat}没有意义；要看哪一列？",
                (m.text,),
            )
        s.measures.append(Measure(sql, column.name, (column,)))
        return
    if not grouped and not raw.want.direction and not raw.want.change:
        if column.kind == "number" and not column.is_id and m.quality == 1:
            raise Unclear(
                f'what about "{m.text}" ({column.name})? Say "by {column.name}", or which value of it.',
                f"“{m.text}”（{column.name}）要怎么用：按它分组，还是取哪个值？",
                (m.text,),
            )
        if _HEAD_NOUN.search(raw.text.rest[: m.start]) and m.text.lower().endswith("s"):
            s.rows = True
            return
    name_sql, named = _label(column, table, joinable)
    s.dims.append(Dimension(sql, column.name, name_sql, (column.name,), named))


_HEAD_NOUN = re.compile(r"\b(?:of|for|from|in|at)\s+(?:the |all )?\x01+[\s\x01]*$")
_SHARE_OF = re.compile(
    r"(?:\b(?:percentage|share|proportion|fraction|percent)|%) of(?: all)?(?: the)?(?![a-z])"
)
_ENTITIES = lexicon.words("customer order user employee invoice transaction patient student")


def _share_of(raw: Raw, m: Mention) -> bool:
    """Whether the column is what a share is taken of: "share of cancelled orders"."""
    found = list(_SHARE_OF.finditer(raw.text.low[: m.start]))
    return bool(found) and re.fullmatch(r"[\s\x01]*", raw.text.rest[found[-1].end() : m.start]) is not None


def _each(raw: Raw, m: Mention) -> bool:
    return bool(re.search(r"\bper[\s\x01]*$|每一?个?[\s\x01]*$", raw.text.low[: m.start]))


def _by(raw: Raw, m: Mention) -> bool:
    return bool(
        re.search(
            r"\b(?:by|per|each|every|across|which|what|who|whose)(?: the| of the)?[\s\x01]*$|[各每按哪]一?个?[\s\x01]*$",
            raw.text.low[: m.start],
        )
    )


def _asked_for(raw: Raw, start: int) -> bool:
    return bool(re.search(r"\b(?:which|what)(?: \w+)?\s*$|哪[一个条笔趟架班]*$", raw.text.low[:start]))


def _after_superlative(raw: Raw, m: Mention) -> bool:
    return bool(
        re.search(
            r"(?:most|fewest|least|highest number of|lowest number of|最多|最少)(?: \w+)?\s*$",
            raw.text.low[: m.start],
        )
    )


def _count_before(raw: Raw, m: Mention) -> bool:
    for name, start, end in raw.want.stats:
        if name not in ("count", "distinct"):
            continue
        if 0 <= m.start - end <= 14 and re.fullmatch(
            r"[\s\x01]*(?:(?:the|different|distinct|unique|of|不同的?|个|的)[\s\x01]*)*",
            raw.text.low[end : m.start],
        ):
            return True
        if 0 <= start - m.end <= 1 and lexicon.is_cjk(raw.text.low[start]):
            return True
    return False


def _column(
    raw: Raw, m: Mention, table: Table, joinable: dict[str, Join], grouped: bool, count: bool
) -> Column:
    """The one column that is meant, or Unclear."""
    own = [c for c in m.columns if c.table == table.name] or [c for c in m.columns if c.table in joinable]
    if len(own) > 1:
        preferred = (
            [c for c in own if c.is_id]
            if count
            else [c for c in own if c.kind == "text" and "name" in c.signature]
        )
        if len(preferred) == 1 and all(
            c.signature - lexicon.WEAK == own[0].signature - lexicon.WEAK for c in own
        ):
            own = preferred
    if len(own) > 1 and not grouped and m.concepts & lexicon.MEASURES:
        own = [c for c in own if c.is_measure] or own
    if len(own) > 1:
        names = ", ".join(f"{c.name}" for c in own)
        raise Unclear(
            f'"{m.text}" could be {names}: which one do you mean?',
            f"“{m.text}” 可能是 {names}，指的是哪一个？",
            (m.text,),
        )
    column = own[0]
    if m.quality == 1:
        units = {lexicon.concept(p) for p in parts(column.name) if p in lexicon.WEAK}
        extra = column.signature - m.concepts - lexicon.WEAK - units
        if extra == {"revenue"} and re.search(r"(?i)am(?:oun)?t|金额|额", column.name):
            return column
        if (column.is_measure and extra & (lexicon.MEASURES | {"dep", "arr", "sched"})) or (
            not column.is_measure and m.concepts & lexicon.MEASURES
        ):
            raise Unclear(
                f'I have no column that is just "{m.text}"; do you mean {column.name}?',
                f"没有一列就叫“{m.text}”，你指的是 {column.name} 吗？",
                (m.text,),
            )
    return column


def _pseudo(raw: Raw, m: Mention, table: Table, s: Slots) -> None:
    """Routes and airports of a table that has an origin and a destination."""
    ends = {part: c for c in table.columns for part in ("origin", "dest") if c.signature == {part}}
    if m.quality == 1:
        raise Unclear(
            f'"{m.text}" names no column of {table.name}; which one do you mean?',
            f"“{m.text}” 不是 {table.name} 的列，指的是哪一列？",
            (m.text,),
        )
    if "route" in m.concepts:
        route = f"{own(ends['origin'].name)} || '–' || {own(ends['dest'].name)}"
        s.dims.append(Dimension(route, "route", "", (ends["origin"].name, ends["dest"].name)))
        return
    _airport(raw, m.text, m.start, m.concepts, ends, s)


def _airport(
    raw: Raw, words: str, start: int, concepts: frozenset[str], ends: dict[str, Column], s: Slots
) -> None:
    measured = {
        part
        for x in raw.mentions
        for c in x.columns[:1]
        if len(x.columns) == 1
        for part in c.signature
        if c.is_measure
    }
    if concepts & {"origin", "dep"}:
        column = ends["origin"]
    elif concepts & {"dest", "arr"}:
        column = ends["dest"]
    elif "dep" in measured and "arr" not in measured:
        column = ends["origin"]
    else:
        raise Unclear(
            f'"{words}" could be {ends["origin"].name} or {ends["dest"].name}: which one do you mean?',
            f"“{words}” 可能是 {ends['origin'].name} 或 {ends['dest'].name}，指的是哪一个？",
            (words,),
        )
    s.dims.append(Dimension(own(column.name), column.name, "", (column.name,)))


def words_for_ends(raw: Raw, table: Table, s: Slots) -> None:
    """Places "airport" and "route" where no column of any table bears that name."""
    ends = {part: c for c in table.columns for part in ("origin", "dest") if c.signature == {part}}
    if len(ends) < 2:
        return
    for word, start, end in raw.text.tokens():
        meaning = lexicon.concept(word.removesuffix("'s"))
        if meaning == "route":
            raw.text.mark(start, end)
            route = f"{own(ends['origin'].name)} || '–' || {own(ends['dest'].name)}"
            s.dims.append(Dimension(route, "route", "", (ends["origin"].name, ends["dest"].name)))
        elif meaning == "airport":
            head = raw.text.low[:start]
            cue = (
                {"dep"}
                if re.search(r"(?:departure|origin|departing)\s*$|(?:出发|始发|起飞)$", head)
                else {"arr"}
                if re.search(r"(?:destination|arrival|arriving)\s*$|(?:到达|目的地?)$", head)
                else set()
            )
            _airport(raw, word, start, frozenset(cue), ends, s)
            raw.text.mark(start, end)


def _label(column: Column, table: Table, joinable: dict[str, Join]) -> tuple[str, Join | None]:
    """A readable name for a code, from a look-up table that has one."""
    if column.table != table.name:
        return "", None
    for join in joinable.values():
        names = [c for c in join.table.columns if c.signature == {"name"} and c.kind == "text"]
        if join.own == column.name and len(names) == 1:
            return quote(names[0].name), join
    return "", None


def _conditions(raw: Raw, table: Table, s: Slots) -> list[Mention]:
    used = []
    for c in raw.comparisons:
        m = _measured(raw, c, table)
        noun = _noun_after(raw, c, table)
        counted = (
            next((x for x in raw.mentions if _right_after(raw, c.end, x.start)), None) if m is None else None
        )
        ids = [x for x in counted.columns if x.table == table.name and x.is_id] if counted else []
        if counted and len(ids) == 1:
            s.having = (c.sql(f"COUNT(DISTINCT {own(ids[0].name)})"), f"{ids[0].name} {c.words}")
            used.append(counted)
            continue
        if noun:
            s.having = (
                f"COUNT(*) {c.operator} {c.value:g}" if c.high is None else c.sql("COUNT(*)"),
                f"rows {c.words}",
            )
            continue
        alias = next(
            (d for d, _, end in raw.terms if d.kind in ("alias", "expression") and 0 <= c.start - end <= 16),
            None,
        )
        by_unit = [
            x for x in table.columns if x.kind == "number" and x.signature == {lexicon.concept(c.unit)}
        ]
        counts = len(by_unit) == 1 and by_unit[0].is_measure  # minutes, not the minute of the hour
        strange = counts and m is not None and not m.concepts & (by_unit[0].signature | lexicon.MEASURES)
        if (m is None or strange) and alias is None and len(by_unit) == 1:
            s.filters.append((by_unit[0].name, c.sql(own(by_unit[0].name)), f"{by_unit[0].name} {_shown(c)}"))
            continue
        ages = [x for x in table.columns if x.signature == {"age"}]
        if m is None and alias is None and len(ages) == 1 and re.match("older|younger", c.words.lower()):
            age = own(ages[0].name)
            s.filters.append((ages[0].name, c.sql(age), f"{ages[0].name} {_shown(c)}"))
            continue
        if m is None and alias is None:
            raise Unclear(
                f'"{c.words}" of what? Name the column it is about.', f"“{c.words}”指的是哪一列？", (c.words,)
            )
        same_unit = m is not None and any(lexicon.concept(c.unit) in x.signature for x in m.columns)
        if (c.unit == "%" or re.search("hour|小时", c.unit)) and not same_unit:
            raise Unclear(
                f'I do not know the unit of the column that "{c.words}" is about; which number do you mean?',
                f"我不知道“{c.words}”那一列的单位，请给出该列单位的数值？",
                (c.words,),
            )
        sql = alias.sql if alias else ""
        name = alias.term if alias else ""
        if m is not None:
            column = _column(raw, m, table, {}, False, False)
            if column.kind != "number":
                raise Unclear(
                    f"{column.name} is not a number, so {c.words!r} cannot be checked; which column?",
                    f"{column.name} 不是数字列，无法比较；指的是哪一列？",
                    (c.words,),
                )
            sql, name = expression(column, table), column.name
            stat = next(
                (
                    x
                    for x, _, end in raw.want.stats
                    if 0 <= m.start - end <= 5 and x in ("mean", "total", "median")
                ),
                "",
            )
            if stat:
                call = {"mean": "AVG", "total": "SUM", "median": "MEDIAN"}[stat]
                s.having = (c.sql(f"{call}({sql})"), f"{stat} {name} {c.words}")
                s.measures.append(Measure(sql, name, (column,)))
                used.append(m)
                continue
            used.append(m)
        if raw.want.stat == "share" and m is not None:
            s.measures.append(Measure("", f"{name} {_shown(c)}", (column,), c.sql(sql)))
            s.rows = True
            continue
        s.filters.append((name, c.sql(sql), f"{name} {_shown(c)}"))
    # "mean delay of flights with a delay over 60": the same words stand once for the measure, once for the condition.
    return used


def _shown(c: Comparison) -> str:
    low = f"{c.value:g}" if abs(c.value) < 1e6 else str(int(c.value))
    return f"{low}–{c.high:g}" if c.high is not None else f"{c.operator} {low}"


def _measured(raw: Raw, c: Comparison, table: Table) -> Mention | None:
    own = [
        m
        for m in raw.mentions
        if any(
            x.table == table.name and x.kind == "number" and not x.is_id and not x.is_entity
            for x in m.columns
        )
    ]
    before = [m for m in own if m.end <= c.start]
    for m in own:  # "trips with 3 or more passengers": what is counted stands right behind
        if re.fullmatch(r"\s+", raw.text.low[c.end : m.start] if m.start >= c.end else ""):
            return m
    if before:
        m = before[-1]
        gap = raw.text.low[m.end : c.start]
        words = re.findall(r"[a-z]+", gap)
        if (
            len(gap) <= 30
            and not re.search(r"[,;，；。]", gap)
            and all(w in lexicon.STOPWORDS for w in words)
            and not any(m.end <= x.start < c.start for x in raw.mentions)
        ):
            return m
    after = [m for m in own if m.start >= c.end]
    if after and re.fullmatch(r"\s*(?:of|in|as|的)?\s*(?:the )?", raw.text.low[c.end : after[0].start]):
        return after[0]
    return None


def _right_after(raw: Raw, end: int, start: int) -> bool:
    return 0 <= start - end <= 2 and bool(re.fullmatch(r"\s?[个笔条单次趟家名]?", raw.text.low[end:start]))


def _noun_after(raw: Raw, c: Comparison, table: Table) -> bool:
    nouns = [start for t, start, _ in raw.table_nouns if t.name == table.name]
    nouns += [m.start for m in raw.mentions if m.concepts == table_concepts(table)]
    return any(_right_after(raw, c.end, start) for start in nouns)


def _terms(raw: Raw, table: Table, s: Slots) -> None:
    for d, start, _ in raw.terms:
        if d.kind == "unclear" or d.table not in ("", table.name):
            continue
        sql = d.sql
        if d.kind == "predicate":
            if raw.want.stat == "share":
                s.measures.append(Measure("", d.term, d.columns, sql))
            else:
                s.filters.append((d.term, sql, f"{d.term} ({d.sql.replace(chr(34), '').replace(OWN, '')})"))
            s.rows = True
        elif d.kind == "expression":
            s.measures.append(Measure(sql, d.term, d.columns))
        elif d.kind == "alias" and not any(0 <= c.start - start <= 40 for c in raw.comparisons):
            if d.columns[0].is_measure:
                s.measures.append(Measure(sql, d.columns[0].name, d.columns))
            else:
                s.dims.append(Dimension(sql, d.columns[0].name, "", (d.columns[0].name,)))


def _filters(values: list[Value], table: Table, joinable: dict[str, Join], s: Slots) -> None:
    by_column: dict[tuple[str, str, bool], list[Value]] = {}
    for v in values:
        by_column.setdefault((v.column.table, v.column.name, v.negative), []).append(v)
    both_ways = {name for (_, name, no) in by_column if not no} & {name for (_, name, no) in by_column if no}
    if both_ways:
        name = both_ways.pop()
        raise Unclear(
            f"some values of {name} are asked for and others are excluded: which rows shall count?",
            f"{name} 既有要的值又有排除的值：到底算哪些行？",
        )
    for (_, name, negative), found in by_column.items():
        column = found[0].column
        if column.table != table.name:
            s.joins[column.table] = joinable[column.table]
        sql = expression(column, table)
        chosen = list(dict.fromkeys(v.value for v in found))
        listed = ", ".join(map(literal, chosen))
        if negative:
            s.filters.append(
                (name, f"{sql} IS NULL OR {sql} NOT IN ({listed})", f"{name} ≠ {', '.join(map(str, chosen))}")
            )
        else:
            s.filters.append((name, f"{sql} IN ({listed})", f"{name} = {', '.join(map(str, chosen))}"))
            if len(chosen) > 1:
                s.several.append(Dimension(sql, name, "", (name,)))


def numbered(raw: Raw, table: Table, s: Slots) -> None:
    """A number right behind a column that is no measure names one of its values: "store 5"."""
    kept = []
    for m in raw.mentions:
        head = raw.text.low[: m.start]
        cued = re.search(r"\b(?:with|having|has|have|had|where|whose)\s+(?:an? |the )?$", head)
        before = re.search(r"\b(?:with|having|has|have|had)\s+(?P<all>\d+)\s+$", raw.text.rest[: m.start])
        column = next(
            (
                c
                for c in m.columns
                if c.table == table.name and c.kind == "number" and (cued or before or not c.is_measure)
            ),
            None,
        )
        match = re.match(
            r"[\s#]*(?:no\.? ?|number |is |= ?|code |of )?(?P<all>\d+(?:\s*(?:,|、|and|or|和|或|,\s*and)\s*\d+)*)"
            r"(?![\d.%]|,\d|\s*(?:minutes|days|元|and over|or more|and above|or less))",
            raw.text.rest[m.end :],
        )
        if column and before and column.is_measure:  # "with 3 rooms"
            raw.text.mark(*before.span())
            s.filters.append(
                (column.name, f"{own(column.name)} = {before['all']}", f"{column.name} = {before['all']}")
            )
            s.rows = True
            continue
        if column and match and len([c for c in m.columns if c.table == table.name]) == 1:
            raw.text.mark(m.end, m.end + match.end())
            numbers = re.findall(r"\d+", match["all"])
            test = f"= {numbers[0]}" if len(numbers) == 1 else f"IN ({', '.join(numbers)})"
            s.filters.append(
                (column.name, f"{own(column.name)} {test}", f"{column.name} {'= ' + ', '.join(numbers)}")
            )
            s.rows = s.rows or column.is_measure
            continue
        kept.append(m)
    raw.mentions = kept


def absent(raw: Raw, table: Table, s: Slots) -> None:
    """ "accounts with no industry": rows without a value. Of amounts nobody knows whether 0 is meant: left open."""
    for m in list(raw.mentions):
        own_columns = [c for c in m.columns if c.table == table.name]
        match = re.search(
            r"\b(?:(?:with|have|has|had)\s+no|without)\s+(?:an? |any )?$", raw.text.rest[: m.start]
        )
        if not match or len(own_columns) != 1 or own_columns[0].kind == "flag":
            continue
        column = own_columns[0]
        if column.is_measure and not column.signature & lexicon.INTENSIVE:
            continue
        raw.text.mark(*match.span())
        raw.mentions.remove(m)
        sql, label = f"{own(column.name)} IS NULL", f"no {column.name}"
        if column.kind == "text":
            text = f"CAST({own(column.name)} AS VARCHAR)" if column.mixed else own(column.name)
            sql += f" OR lower(trim({text})) IN ('', 'no', 'n', 'none', 'false', '否', '无')"
            label += ": missing, blank, “no” or “none”"
        s.filters.append((column.name, sql, label))
        s.rows = True


def verbs(raw: Raw, table: Table) -> None:
    """ "how many churned", "did not breach": forms of the verb that a yes-or-no column or a date is named after."""
    for column in sorted(table.columns, key=lambda c: c.kind != "flag"):
        when = column.kind == "date" or (column.kind == "number" and "year" in column.signature)
        for part in parts(column.name) if when or column.kind == "flag" else []:
            stem = part.removesuffix("ed").removesuffix("e" if when else "")
            if len(stem) < 4 or (not when and stem == part):
                continue
            stem += "?" if stem[-1] == stem[-2] else ""
            match = raw.text.take(
                english(rf"{stem}(?:l?ed)" if when else rf"{stem}(?:e|es|s|ing|ation|ations)?")
            )
            if match:
                raw.mentions = [
                    m for m in raw.mentions if [c for c in m.columns if c.table == table.name] != [column]
                ]
                text = raw.text.original[slice(*match.span())]
                raw.mentions.append(Mention(text, *match.span(), (column,), 3, column.signature))
    raw.mentions.sort(key=lambda m: m.start)
    flags = [
        m.end for m in raw.mentions if any(c.kind == "flag" and c.table == table.name for c in m.columns)
    ]
    raw.mentions = [
        m
        for m in raw.mentions
        if not (m.text.lower() in ("rate", "rates", "率") and any(0 <= m.start - end <= 1 for end in flags))
    ]  # the "rate" of "churn rate" is no column


def dated(raw: Raw, table: Table, s: Slots) -> None:
    """Years right behind a column of years that is not the time of the rows: "built after 1990"."""
    for m in list(raw.mentions):
        own_columns = [c for c in m.columns if c.table == table.name]
        column = own_columns[0] if len(own_columns) == 1 else None
        if (
            column is None
            or column.kind != "number"
            or "year" not in column.signature
            or column.signature == {"year"}
        ):
            continue
        said: list[periods.Mention] = []
        for p in raw.periods:
            gap = raw.text.low[said[-1].end if said else m.end : p.start]
            joint = (
                r"\s*(?:and|to|until|or|-|和|到|至)\s*"
                if said
                else r"\s*(?:in|after|before|since|between|from|of|is|=|在|于|是|为)?\s*"
            )
            if p.period.unit == "year" and p.period.year and re.fullmatch(joint, gap):
                said.append(p)
        if not said or len(said) > 2:
            continue
        raw.periods = [p for p in raw.periods if p not in said]
        raw.mentions.remove(m)
        first, after = said[0].period.bounds()[0].year, said[-1].period.bounds()[1].year
        low = f"{own(column.name)} >= {first}" if first > 1 else ""
        high = f"{own(column.name)} < {after}" if after < 9999 else ""
        label = " … ".join(p.period.label for p in said)
        s.filters.append((column.name, " AND ".join(x for x in (low, high) if x), f"{column.name} {label}"))
        s.rows = True


def risky(raw: Raw) -> list[str]:
    """Words still open that would change the result."""
    en = "|".join(w for w in lexicon.RISKY.split("|") if w[0].isascii())
    zh = "|".join(w for w in lexicon.RISKY.split("|") if not w[0].isascii())
    found = [m.group() for m in raw.text.find(english(en + "|over|above|below|under|than") + "|" + zh)]
    unread = r"\b(?:by|per|each)\s+(?:the\s+)?(?:group|value|row|level|field|column|set|case|order)s?\b"
    found += [m.group() for m in raw.text.find(unread)]
    every = re.search(
        r"\b(?:bought|buy|purchased|ordered|visited|sold|have|had|flew to|served?) (?:all|every|each)\b",
        raw.text.low,
    )
    return [w for w in found if TAKEN not in w] + ([every.group()] if every else [])
