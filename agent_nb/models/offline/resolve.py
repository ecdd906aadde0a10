# ruff: noqa: E501
"""Goal (and the goals before it) + tables → one Query. Everything unsafe ends in Unclear."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from . import axis as axes
from . import definitions, grounding, lexicon, numerals, reading, roles
from .query import Dimension, Measure, Query
from .reading import Raw, Unclear
from .roles import Slots
from .schema import Table, parts
from .text import LETTER, TAKEN, english, is_chinese, own, quote
from .wording import Steps

Json = dict[str, Any]

_FOLLOW = re.compile(
    r"^\s*(?:and|what about|how about|now|then|same|instead|only|just|but|also|for|in|by|ok(?:ay)?,?)\b|^\s*(?:那么?|再|换成|改成|只看|还有|同样|按|以)|\binstead\b|呢[?？]?\s*$"
)


_CHANGED = re.compile(r"chang|differ|develop|变化|变动")


_BARE = re.compile(
    r"^\s*(?:please\s+|(?:can|could) you\s+)?(?:(?:draw|plot|chart|graph|show|visuali[sz]e)(?: me)? (?:it|that|this|them)\b"
    r"|as an? [\w ]*(?:chart|graph|plot)|why\b.{0,12}$|without\b|excluding\b|except\b|(?:the )?(?:top|bottom) \w+\s*\W*$)"
    r"|\bonly\s*\W*$|^\s*(?:请|再)?(?:画|绘)(?:出来|[成个张]?图|一下)|^\s*(?:为什么|为何|原因)|^\s*(?:不含|不包括|除了?)"
)
"""Changes that name no measure of their own: "draw it", "why?", "without West", "top 3"."""


def follows(goal: str) -> bool:
    """Whether a goal reads like a change of the one before it ("and in August?", "那8月呢")."""
    return bool(_FOLLOW.search(goal.lower())) and len(goal) < 90


def _leans(raw: Raw) -> bool:
    """Whether the goal cannot be read without the one before it."""
    goal = raw.text.original
    if _BARE.search(raw.text.low) and not _names(raw):
        return True
    return follows(goal) and (
        not _whole(raw) or bool(re.search(r"\binstead\b|^\s*(?:what|how) about\b", raw.text.low))
    )


def resolve(goal: str, earlier: list[str], tables: list[Table], texts: list[str], handed: str) -> Steps:
    """The query that the goal asks for; a follow-up takes over what it does not change."""
    defined = definitions.parse(texts, tables)
    raw = reading.read(goal, tables, defined)
    chain = _chain(goal, raw, earlier, tables, defined)
    table = choose(chain, tables, handed)
    joinable = grounding.joins(table, tables)
    slots = yield from _slots(chain[0], table, joinable)
    whole = chain[0]
    for change in chain[1:]:
        slots = _merged(slots, (yield from _slots(change, table, joinable)))
        whole = _over(whole, change)
    raw = whole
    query = Query(table, raw.want, stat=slots.stat, joins=slots.joins, notes=slots.notes)
    if len(chain) > 1:
        first = chain[0].text.original
        query.notes.append(
            (f"taken as a change of the earlier question “{first}”", f"接着前面的问题“{first}”")
        )
    query.measures, query.dims = slots.measures, slots.dims
    if slots.several and not slots.dims and len(raw.periods) < 2:
        query.dims, query.together = slots.several[:1], True
    query.rows = slots.rows
    if raw.want.versus:
        _versus(slots, query)
    if slots.outer:
        _each(slots, raw, query)
    query.having, query.having_label = slots.having
    asked = len(re.findall(r"\b(?:which|what)\b|哪", raw.text.low))
    if asked > 1 and len(query.dims) > 1 and raw.want.direction and not raw.want.change:
        both = ", ".join(d.label for d in query.dims)
        raise Unclear(
            f"shall I rank the combinations of {both}, or one of them first and then the other inside it?",
            f"是给 {both} 的组合排名，还是先看一个、再在其中看另一个？",
        )
    if raw.want.quality == "both":
        raise Unclear(
            "highest and lowest at once is more than I do; which one first?",
            "最高和最低请分开问，先看哪一个？",
        )
    query.single_rows = slots.single_rows and bool(slots.measures)
    query.where = [sql for _, sql, _ in slots.filters]
    query.where_labels = [label for _, _, label in slots.filters]
    _remembered(raw, defined, table, query)
    for join in query.joins.values():
        yield from _checked_join(join, table)
    yield from _time(raw, slots, table, query)
    _decide(raw, slots, query)
    _predicates_to_f(query)
    return query


def _chain(
    goal: str, raw: Raw, earlier: list[str], tables: list[Table], defined: list[definitions.Definition]
) -> list[Raw]:
    """The goal alone, or the question that it goes back to with every change since, oldest first."""
    chain = [raw]
    at = len(earlier)
    while at > 0 and _leans(chain[0]):
        at -= 1
        chain.insert(0, reading.read(earlier[at], tables, defined))
    return chain


def _names(raw: Raw) -> bool:
    """Whether the goal names a measure or rows."""
    return bool(any(c.is_measure for m in raw.mentions for c in m.columns) or raw.table_nouns or raw.terms)


def _whole(raw: Raw) -> bool:
    """Whether the goal stands for itself: it names a measure or rows, and what to do with them."""
    does = raw.want.stats or raw.want.direction or raw.want.change or raw.want.which or raw.want.quality
    return bool(_names(raw) and does) or any((raw.want.missing, raw.want.outliers, raw.want.correlation))


def _over(base: Raw, new: Raw) -> Raw:
    """`base` with what `new` says instead."""
    want = dataclasses.replace(base.want)
    for field in dataclasses.fields(want):
        value = getattr(new.want, field.name)
        if value and field.name != "which":
            setattr(want, field.name, value)
    if new.want.stats:
        want.stats = new.want.stats
    said = new if new.periods else base
    years = [m.period.year for m in base.periods if m.period.year]
    if new.periods and years:  # "and in August?" keeps the year that was talked about
        dated = [
            dataclasses.replace(m, period=m.period.with_year(years[-1])) if m.period.lacks_year else m
            for m in new.periods
        ]
        said = dataclasses.replace(new, periods=dated)
    return dataclasses.replace(
        base, want=want, periods=said.periods, text=said.text, terms=base.terms + new.terms
    )


def _merged(base: Slots, new: Slots) -> Slots:
    changed = {name for name, _, _ in new.filters}
    dims = new.dims or list(base.dims)
    return Slots(
        measures=new.measures or base.measures,
        dims=dims,
        filters=[f for f in base.filters if f[0] not in changed] + new.filters,
        having=new.having if new.having[0] else base.having,
        dates=new.dates or base.dates,
        joins={**base.joins, **new.joins},
        rows=new.rows or base.rows,
        weekdays=new.weekdays if any(new.weekdays) else base.weekdays,
        outer=new.outer or base.outer,
        single_rows=base.single_rows,
        several=new.several or base.several,
        stat=new.stat or base.stat,
        notes=base.notes + new.notes,
    )


def choose(chain: list[Raw], tables: list[Table], handed: str) -> Table:
    """The table that has all that the goal names. Raises Unclear where none or several do."""
    main = chain[0]
    named = [t for raw in chain for t, _, _ in raw.table_nouns]
    scored = []
    for table in tables:
        joinable = grounding.joins(table, tables)
        scores = [reading.candidates(r, table, joinable) for r in chain]
        if None not in scores:
            handed_over = 1 if re.search(rf"(?<!\w){re.escape(table.name)}(?!\w)", handed) else 0
            scored.append((sum(s or 0 for s in scores) + handed_over, table))
    if not scored:
        words = ", ".join(f'"{m.text}"' for m in main.mentions)
        listed = "; ".join(f"{t.name} ({', '.join(c.name for c in t.columns[:12])})" for t in tables[:6])
        raise Unclear(
            f"no single table has {words}. I see: {listed}. Which columns do you mean?",
            f"没有一张表同时有 {words}。我看到：{listed}。你指的是哪些列？",
        )
    scored.sort(key=lambda x: -x[0])
    best = [t for s, t in scored if s == scored[0][0]]
    if len(best) > 1:
        only = [t for t in best if t in named]
        if len(only) == 1:
            return only[0]
        if not main.mentions and not named and len(tables) > 1:
            listed = "; ".join(f"{t.name} ({', '.join(c.name for c in t.columns[:12])})" for t in tables[:6])
            raise Unclear(
                f"I could not tell which table or column is meant. I see: {listed}. Which one?",
                f"看不出指的是哪张表、哪一列。我看到：{listed}。是哪一个？",
            )
        names = ", ".join(t.name for t in best)
        raise Unclear(
            f"several tables would fit ({names}): which one do you mean?",
            f"有几张表都符合（{names}），指的是哪一张？",
        )
    return best[0]


def _slots(raw: Raw, table: Table, joinable: dict[str, grounding.Join]) -> Steps:
    extra = Slots()
    weekdays = _weekdays(raw, table)
    yield from numerals.find(raw, table, extra.notes)
    roles.numbered(raw, table, extra)
    roles.verbs(raw, table)
    roles.dated(raw, table, extra)
    roles.absent(raw, table, extra)
    roles.words_for_ends(raw, table, extra)
    roles.opposites(raw, table, extra)
    values = yield from grounding.ground(raw, table, joinable)
    slots = roles.assign(raw, table, joinable, values)
    slots.filters += extra.filters
    slots.notes += extra.notes
    slots.dims += extra.dims
    slots.rows = slots.rows or extra.rows
    slots.weekdays = weekdays
    order = {d.label: i for i, d in enumerate(slots.dims)}
    slots.dims = sorted({d.label: d for d in slots.dims}.values(), key=lambda d: _where(raw, d, order))
    _mark_markers(raw)
    _leftovers(raw, slots)
    return slots


def _versus(slots: Slots, query: Query) -> None:
    """ "Did East sell more than West": the two beside each other."""
    shown = next(
        (label for name, _, label in slots.filters if slots.several and name == slots.several[0].label), ""
    )
    if len(slots.several) != 1 or slots.dims or shown.count(",") != 1:
        raise Unclear(
            'two values of one column can be compared by "more than": which two, of which column?',
            "“比……多”要比较同一列的两个值：是哪两个？",
        )
    query.dims = slots.several[:1]


def _each(slots: Slots, raw: Raw, query: Query) -> None:
    """ "The best product in each region", or "the highest salary in each department"."""
    outer = slots.outer
    assert outer is not None
    inner = [d for d in query.dims if d.label != outer.label]
    want = raw.want
    if (
        len(inner) == 1
        and len(query.measures) < 2
        and not want.change
        and not want.grain
        and not slots.having[0]
    ):
        query.outer = outer
        return
    plain = want.extreme in _HIGHEST and not want.stats and want.n == 1 and len(query.measures) == 1
    if not inner and plain and not want.change and not want.grain:
        query.stat = slots.stat = "max" if want.direction == "desc" else "min"
        want.direction, want.n, want.which, want.extreme = "", 0, False, ""
        return
    raise Unclear(
        f"the first of each {outer.label} needs one column to rank inside it: which one?",
        f"“每个 {outer.label} 里的最大/最小”要有一列可排名：是哪一列？",
    )


_HIGHEST = frozenset(
    "highest lowest maximum minimum largest smallest longest shortest biggest 最高 最低 最大 最小 最长 最短".split()
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def _weekdays(raw: Raw, table: Table) -> tuple[bool, str, str]:
    """(grouped by the day of the week, condition on it, its words), unless the table has a column for it."""
    if any(
        c.signature & {"weekday", "dow"} or any(p in ("weekday", "dow") for p in parts(c.name))
        for c in table.columns
    ):
        return False, "", ""
    text = raw.text
    grouped = text.take_all(
        english(
            r"(?:(?:by|per|each|every|on which|which|what) )?(?:the )?(?:day of (?:the )?week|weekday(?!s))"
        )
        + "|(?:按|每个?|各|哪个?)?(?:星期几|周几)"
    )
    names = "|".join(_DAYS)
    zh = "一二三四五六日天"
    cue = r"(?P<no>(?:excluding|except(?: for)?|without|not)\s+)?(?:on\s+)?"
    days, words, negative = [], [], False
    for match in text.take_all(
        english(rf"{cue}(?P<day>{names}|weekend|weekday)s?")
        + rf"|(?P<zno>除了?|剔除|不含|排除)?(?P<zh>周末|工作日|(?:星期|周)[{zh}])"
    ):
        word = match["day"] or match["zh"]
        negative = negative or bool(match["no"] or match["zno"])
        if word in ("weekend", "周末"):
            days += [6, 7]
        elif word in ("weekday", "工作日"):
            days += [1, 2, 3, 4, 5]
        else:
            days.append(_DAYS.index(word) + 1 if word in _DAYS else min(zh.index(word[-1]) + 1, 7))
        words.append(match.group().strip())
    listed = ", ".join(str(d) for d in sorted(set(days)))
    condition = f"{'NOT IN' if negative else 'IN'} ({listed})" if days else ""
    return bool(grouped), condition, ", ".join(words)


def _where(raw: Raw, d: Dimension, order: dict[str, int]) -> int:
    for m in raw.mentions:
        if any(c.name == d.label for c in m.columns):
            return m.start
    for word in ("airport", "route", "机场", "航线"):
        if (word in ("route", "航线")) == (d.label == "route") and word in raw.text.low:
            return raw.text.low.index(word)
    return 10_000 + order[d.label]


def _mark_markers(raw: Raw) -> None:
    raw.text.take_all(rf"(?<!{LETTER})(?:per|by|each|every|across)\s+(?:the\s+)?(?=\x01)")
    raw.text.take_all(english(r"only|just") if raw.want.n or follows(raw.text.original) else r"x^")
    raw.text.take_all(english(r"instead|same|only(?=\W*$)" if _leans(raw) else "instead"))


def _leftovers(raw: Raw, slots: Slots) -> None:
    """Words nobody placed: a separate sentence is named as not understood, anything else stops the answer."""
    risk = roles.risky(raw)
    words = raw.text.leftover()
    if raw.want.over_average:
        risk.append("average" if not is_chinese(raw.text.original) else "平均")
    for d, _, _ in raw.terms:
        if d.kind == "unclear":
            slots.notes.append(
                (
                    f'the memory "{d.source}" is about this, but my rules cannot read it, so it was not applied',
                    f"记忆“{d.source}”与此有关，但规则读不懂，没有应用",
                )
            )
    if not words and not risk:
        return
    aside = []
    for clause in re.finditer(r"[^.;!?。；！？\n]+", raw.text.rest):
        inside = clause.group()
        if TAKEN not in inside:
            aside += [w for w in words if w.lower() in inside]
    if risk or any(w not in aside for w in words) or TAKEN not in raw.text.rest:
        shown = tuple(dict.fromkeys([*words, *risk]))
        listed = ", ".join(f'"{w}"' for w in shown)
        raise Unclear(
            f"I did not understand {listed}, and it may change the result. Can you say it without, or name the column or value it means?",
            f"我没看懂 {listed}，它可能会改变结果。能去掉它，或者说明它对应哪一列、哪个值吗？",
            shown,
        )
    listed = ", ".join(f'"{w}"' for w in aside)
    slots.notes.append(
        (
            f"I did not understand {listed}; for that part use a language model (-m claude-sonnet-5-5)",
            f"没看懂：{listed}；这部分请用语言模型（-m claude-sonnet-5-5）",
        )
    )


def _remembered(raw: Raw, defined: list[definitions.Definition], table: Table, query: Query) -> None:
    used = {d.source for d, _, _ in raw.terms if d.kind != "unclear" and d.table == table.name}
    for d in defined:
        if d.kind == "exclude" and d.table == table.name:
            query.where.append(d.sql)
            query.where_labels.append(d.source)
            used.add(d.source)
    for source in sorted(used):
        query.notes.append((f'memory applied: "{source}"', f"应用了记忆：“{source}”"))


def _checked_join(join: grounding.Join, table: Table) -> Steps:
    source = join.table
    key = quote(join.other)
    sql = f"SELECT COUNT({key}) AS keys, COUNT(DISTINCT {key}) AS different\nFROM {source.sql}"
    got = yield (
        (
            f"I want to join {source.name} on {join.own}; I check that {join.other} is unique there.",
            f"要用 {join.own} 联结 {source.name}，先确认 {join.other} 在那里是唯一的。",
        ),
        "query_sql",
        {"query": sql, "database": source.database} if source.database else {"query": sql},
    )
    rows = got.get("rows") or [[0, -1]]
    if rows[0][0] != rows[0][1]:
        raise Unclear(
            f"{source.name}.{join.other} is not unique ({rows[0][0]} rows, {rows[0][1]} values), so joining it to {table.name} would count rows twice; which table should I use?",
            f"{source.name}.{join.other} 不唯一，联结会重复计数；应该用哪张表？",
        )


def _time(raw: Raw, slots: Slots, table: Table, query: Query) -> Steps:
    want = raw.want
    by_weekday, on_days, day_words = slots.weekdays
    needs = bool(
        by_weekday or on_days or raw.periods or want.grain or want.trend or want.against or want.range
    )
    beside = want.change == "any" and slots.several and not want.why  # "leads vs juniors"
    if not needs and not (want.change and not want.checks and not (beside and not _timed(table))):
        return
    query.axis = yield from axes.find(table, list(dict.fromkeys(slots.dates)), table.sql)
    if query.axis is None:
        raise Unclear(
            f"{table.name} has no date, year or month column, so I cannot tell periods apart. Which column is the time?",
            f"{table.name} 没有日期或年月列，无法按时间分析。哪一列是时间？",
        )
    if by_weekday:
        query.dims.append(Dimension(query.axis.weekday(), "weekday"))
    if on_days:
        query.where.append(f"{query.axis.weekday()} {on_days}")
        query.where_labels.append(day_words)
    completed = [query.axis.complete(m.period) for m in raw.periods]
    for m, period in zip(raw.periods, completed, strict=True):
        if m.period.relative:
            query.notes.append(
                (
                    f"{period.label} is counted from the latest date in the data, {query.axis.last[:10]}",
                    f"{period.label} 按数据中最晚的日期 {query.axis.last[:10]} 推算",
                )
            )
    _spans(raw, completed, query)


def _timed(table: Table) -> bool:
    """Whether a column may be the time of the rows."""
    return any(
        c.kind == "date" or c.signature & {"date", "month", "year", "time", "day"} for c in table.columns
    )


def _spans(raw: Raw, completed: list[Any], query: Query) -> None:
    """One period, a range, or periods to compare, by the words between them."""
    want = raw.want
    between = ""
    if len(raw.periods) == 2:
        a, b = raw.periods
        between = raw.text.low[a.end : b.start].strip()
    ranged = bool(
        re.fullmatch(r"(?:to|through|until|till|and|-|–|~|到|至|through to|up to|和|与)?", between)
        and len(completed) == 2
    )
    listed = between in ("and", "和", "与", "") and not re.search(
        r"between\s*$", raw.text.low[: raw.periods[0].start] if raw.periods else ""
    )
    if want.against == "unit" and len(completed) == 1 and completed[0].unit != "month":
        want.grain, want.change, query.periods = "month", "", completed
        return
    comparing = bool(want.change or want.against)
    if len(completed) == 2 and ranged and not listed and not comparing:
        query.periods = [dataclasses.replace(completed[0], until=completed[1])]
        return
    query.periods = completed
    query.in_order = between in ("to", "到", "至", "through", "-", "–")
    if comparing and len(completed) == 2 and not query.in_order:
        query.periods = sorted(completed, key=lambda p: p.bounds() if not p.lacks_year else (p.part, p.part))
    if want.against and len(completed) == 1:
        query.periods = [completed[0].before(want.against), completed[0]]
    elif (
        want.change == "any"
        and len(completed) == 1
        and (query.dims or query.together)
        and not _CHANGED.search(raw.text.low)
    ):
        want.change = ""  # "compare East and West in 2024": groups beside each other, not periods
    elif want.change and len(completed) == 1 and not completed[0].open:
        query.periods = [completed[0].before("unit"), completed[0]]
        query.notes.append(
            (
                f"no second period was named: {completed[0].label} is compared with the one before it",
                f"没有说与哪段时间比：{completed[0].label} 与前一期比较",
            )
        )


def _decide(raw: Raw, slots: Slots, query: Query) -> None:
    """The statistic, when none or an impossible one was named."""
    want = query.want
    if want.missing or want.outliers or want.correlation or want.distribution:
        return
    names = list(dict.fromkeys(s for s, _, _ in want.stats))
    if want.change and "share" in names and not query.measure.predicate:
        raise Unclear(
            "how a share of the whole changed is more than I do; shall I compare the values themselves?",
            "占比的变化我算不了；要直接比较数值吗？",
        )
    adds = query.measures and query.measure.columns and query.measure.columns[0].signature & lexicon.ADDITIVE
    if adds and query.stat == "mean" and want.grain and not want.direction and not want.change:
        raise Unclear(
            f"is that the mean of the rows in each {want.grain}, or the mean of the {want.grain} totals?",
            "是每期内各行的平均，还是各期总额的平均？",
        )
    if "count" in names and {"mean", "median"} & set(names):
        raise Unclear(
            "a mean of counts is more than I do; shall I count, or take the mean of a column?",
            "“平均数量”我算不了：要计数，还是求某一列的平均？",
        )
    if len(names) > 1 and not slots.stat:
        if names.count("share") and len(names) == 2 and "total" in names:
            query.stat = "share"
        elif set(names) == {"total", "count"}:
            query.stat = "count"
        else:
            listed = ", ".join(names)
            raise Unclear(
                f"you name several statistics ({listed}); which one shall I answer first?",
                f"你说了几种统计（{listed}），先回答哪一个？",
            )
    counts = query.dims or query.where or query.periods or want.against
    if not query.measures and slots.rows and not query.stat and counts:
        query.stat = "count"
    if (
        not query.measures
        and slots.rows
        and not query.stat
        and (want.direction or want.quality or want.change or want.grain or want.trend)
    ):
        query.stat = "count"
    if query.stat == "count" and query.measures and all(m.sql and not m.predicate for m in query.measures):
        if not slots.rows:
            raise Unclear("do you want the rows counted, or the values added up?", "是要数行数，还是求和？")
        query.measures = []
    if query.measures and not query.stat:
        _default_stat(query)
    summed = [c for c in query.table.columns if c.is_measure and c.signature == {"total"}]
    if (
        query.stat in ("total", "share") and not query.measures and len(summed) == 1
    ):  # "total by region", with a column Total
        query.measures = [Measure(own(summed[0].name), summed[0].name, (summed[0],))]
    if query.stat == "total" and not query.measures and slots.rows:
        query.stat = "count"


def _default_stat(query: Query) -> None:
    measure = query.measure
    if measure.predicate:
        query.stat = "share"
        return
    want = query.want
    if want.correlation or want.distribution or want.outliers or want.missing:
        return
    meaning = measure.columns[0].signature if measure.columns else frozenset()
    if any(s in lexicon.INTENSIVE for s in meaning):
        if want.direction and not query.dims and not want.grain and not want.change:
            query.stat = "max" if want.direction == "desc" else "min"
            return
        query.stat = "mean"
        if (
            want.direction
            and want.extreme
            in (
                "highest",
                "lowest",
                "maximum",
                "minimum",
                "largest",
                "longest",
                "shortest",
                "biggest",
                "最高",
                "最低",
                "最大",
                "最小",
                "最长",
                "最短",
            )
            and not want.change
        ):
            query.stat = "mean or extreme"
        query.notes.append(
            (
                f"no statistic was named, so this is the mean of {measure.label}",
                f"没有指定统计方式，这里用 {measure.label} 的平均值",
            )
        )
    elif any(s in lexicon.ADDITIVE for s in meaning) or (measure.columns and len(measure.columns) > 1):
        if want.direction and not query.dims and not want.grain and not want.change:
            query.stat = "max" if want.direction == "desc" else "min"
            return
        query.stat = "total"
    elif want.direction and not query.dims and not want.grain and not want.change:
        query.stat = "max" if want.direction == "desc" else "min"
    elif want.extreme in ("most", "fewest", "least", "最多", "最少"):
        query.stat = "total"
    elif len(query.measures) == 1 and not (
        want.direction or want.quality or want.change or want.grain or want.trend
    ):
        query.stat = "total"
        query.measures = [measure, dataclasses.replace(measure, stat="mean")]
        query.notes.append(("no statistic was named, so both are shown", "没有指定统计方式，两种都列出"))
    elif all(c.is_plural for c in measure.columns):
        query.stat = "total"
        query.notes.append(
            (
                f"no statistic was named, so this is the total of {measure.label}",
                f"没有指定统计方式，这里用 {measure.label} 的总计",
            )
        )
    else:
        raise Unclear(
            f"shall I take the total, the mean or the maximum of {measure.label}?",
            f"{measure.label} 要求和、取平均还是取最大值？",
        )


def _predicates_to_f(query: Query) -> None:
    query.where = [w for w in query.where if w]
    query.measures = [m if m.sql or m.predicate else Measure("", m.label) for m in query.measures]
