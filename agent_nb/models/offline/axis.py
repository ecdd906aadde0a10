"""The time of a table's rows, whatever its columns are: a date, year and month numbers, or text months."""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any

from .periods import MONTH_NUMBERS, Period, around
from .reading import Unclear, table_concepts
from .schema import Column, Table
from .text import literal, own
from .wording import Steps

Json = dict[str, Any]
_EVENTS = frozenset(
    "order revenue transaction invoice payment visit reading flight created event purchase record log sale".split()
)
_MONTH_CASE = " ".join(f"WHEN '{name}' THEN '{i:02}'" for name, i in MONTH_NUMBERS.items())
_FAR = 9999


@dataclasses.dataclass(frozen=True)
class Axis:
    """Time in SQL.

    Args:
        level: day, month, year, or "month only" for months without years.
        label: the columns, as they are named to the user.
        column: SQL that compares with codes written as `code` says; "" where there are `parts`.
        iso: SQL text of the form YYYY-MM-DD (YYYY-MM, YYYY) by level; MM alone for "month only".
        code: strftime format of what `column` holds; numbers where `numeric`.
        parts: SQL of year, month and day where they are columns of numbers.
        dated: `column` is a date or time stamp, not text.
        sql_date: the dialect has DuckDB's date functions.
        first, last: extremes in the data.
    """

    level: str
    label: str
    column: str = ""
    iso: str = ""
    code: str = "%Y-%m-%d"
    numeric: bool = False
    parts: tuple[tuple[str, str], ...] = ()
    dated: bool = False
    sql_date: bool = True
    first: str = ""
    last: str = ""

    @property
    def years(self) -> tuple[int, int] | None:
        """First and last year of the data, where it has years."""
        if self.level == "month only" or not self.first[:4].isdigit() or not self.last[:4].isdigit():
            return None
        return int(self.first[:4]), int(self.last[:4])

    @property
    def last_day(self) -> datetime.date | None:
        """The latest date (the first of its month or year where days are not known)."""
        if self.years is None:
            return None
        try:
            return datetime.date.fromisoformat((self.last + "-01-01")[:10])
        except ValueError:
            return None

    def where(self, period: Period) -> str:
        """The rows of a period as a predicate."""
        if self.level == "month only":
            return self._month_only(period)
        first, after = period.bounds()
        size = {"day": 10, "month": 7, "year": 4}[self.level]
        for bound in (first, after):
            if 1 < bound.year < _FAR and (
                (self.level != "day" and bound.day != 1) or (self.level == "year" and bound.month != 1)
            ):
                raise Unclear(
                    f"the data is by {self.level} ({self.label}), too coarse for {period.label}",
                    f"数据只精确到{'月' if self.level == 'month' else '年'}（{self.label}），无法算 {period.label}",
                )
        if self.parts:
            return self._by_parts(first, after)
        if self.level == "day" and not self.numeric:  # a time stamp may lie within the last day
            start = [f"{self.column} >= '{first.isoformat()[:size]}'"] if first.year > 1 else []
            stop = [f"{self.column} < '{after.isoformat()[:size]}'"] if after.year < _FAR else []
            return " AND ".join(start + stop)
        return _between(self.column, self._code(first), self._code(after, last=True))

    def sides(self, a: Period, b: Period) -> tuple[str, str, str]:
        """(the rows of either period, those of the first among them, those of the second)."""
        first, second = self.where(a), self.where(b)
        one, two = first.split(" AND "), second.split(" AND ")
        shared = [x for x in one if x in two]
        mine, other = ([x for x in side if x not in shared] for side in (one, two))
        equal = re.compile(r"(?P<column>[^=<>]+) = (?P<value>'?[\w-]+'?)")
        if len(mine) == len(other) == 1 and "BETWEEN" not in first + second:
            x, y = equal.fullmatch(mine[0]), equal.fullmatch(other[0])
            if x and y and x["column"] == y["column"]:
                either = f"{x['column']} IN ({x['value']}, {y['value']})"
                return " AND ".join([*shared, either]), mine[0], other[0]
        if len(one) == len(two) == 2 and " < " in one[1] and one[1].replace(" < ", " >= ") == two[0]:
            return f"{one[0]} AND {two[1]}", one[1], two[0]
        return f"({first}) OR ({second})", first, second

    def key(self, grain: str) -> str:
        """SQL text that names the month, quarter, year, week or day of a row."""
        if self.level == "month only":
            if grain != "month":
                raise Unclear(f"the data has months only, no {grain}s", "数据只有月份")
            return self.iso
        order = ["day", "week", "month", "quarter", "year"]
        if order.index(grain) < order.index(self.level):
            raise Unclear(f"the data is by {self.level}, not by {grain}", "数据没有这么细的时间")
        if self.sql_date and self.level == "day" and (self.dated or self.parts):
            day = f"make_date({', '.join(sql for _, sql in self.parts)})" if self.parts else self.column
            if grain == "quarter":
                return f"year({day}) || ' Q' || quarter({day})"
            inner = f"date_trunc('week', {day})" if grain == "week" else day
            form = {"week": "%Y-%m-%d", "day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}[grain]
            return f"strftime({inner}, '{form}')"
        if grain == "week":
            if not self.sql_date:
                return f"date({self.iso}, 'weekday 0', '-6 days')"
            return f"strftime(date_trunc('week', CAST({self.iso} AS DATE)), '%Y-%m-%d')"
        if grain == "quarter":
            cases = " ".join(
                f"WHEN substr({self.iso}, 6, 2) <= '{q * 3:02}' THEN 'Q{q}'" for q in (1, 2, 3, 4)
            )
            return f"substr({self.iso}, 1, 4) || ' ' || CASE {cases} END"
        size = {"day": 10, "month": 7, "year": 4}[grain]
        return self.iso if grain == self.level != "day" else f"substr({self.iso}, 1, {size})"

    def weekday(self) -> str:
        """SQL of the day of the week: 1 Monday … 7 Sunday. Raises Unclear where days are not known."""
        if self.level != "day":
            raise Unclear(
                f"the data is by {self.level}, without days of the week", "数据没有精确到日，不知道星期几"
            )
        if not self.sql_date:
            return f"((CAST(strftime('%w', {self.iso}) AS INTEGER) + 6) % 7 + 1)"
        if self.parts:
            return f"isodow(make_date({', '.join(sql for _, sql in self.parts)}))"
        return f"isodow({self.column})" if self.dated else f"isodow(CAST({self.iso} AS DATE))"

    def complete(self, period: Period) -> Period:
        """The period with its year filled in, relative ones counted from the latest date. Raises Unclear."""
        if period.relative:
            last = self.last_day
            if last is None:
                raise Unclear("there are no dates to count from", "没有可用的日期")
            if period.relative.isdigit():
                return self._latest(period, last)
            found = around(period.unit, last)
            return found.before("unit") if period.relative == "last" else found
        if period.lacks_year and self.level != "month only":
            if self.years is None:
                raise Unclear("the years of the data could not be read", "读不出数据的年份")
            first, last_year = self.years
            if first != last_year:
                raise Unclear(
                    f"the data runs from {self.first[:10]} to {self.last[:10]}: which year is {period.label} of?",
                    f"数据从 {self.first[:10]} 到 {self.last[:10]}，{period.label} 是哪一年的？",
                )
            return period.with_year(first)
        return period

    def _latest(self, period: Period, last: datetime.date) -> Period:
        """The last n days, months, quarters or years, up to and with the one of the latest date."""
        n = int(period.relative)
        if period.unit in ("day", "week"):
            if self.level != "day":
                raise Unclear(f"the data is by {self.level}, too coarse for days", "数据没有精确到日")
            start = last - datetime.timedelta(days=n * (7 if period.unit == "week" else 1) - 1)
            return dataclasses.replace(around("day", start), until=around("day", last))
        end = around(period.unit, last)
        begin = end
        for _ in range(n - 1):
            begin = begin.before("unit")
        return end if n == 1 else dataclasses.replace(begin, until=end)

    def _month_only(self, period: Period) -> str:
        if period.unit != "month" or period.year or period.open:
            raise Unclear(
                f"the data has months but no years ({self.label}), so {period.label} cannot be found",
                f"数据只有月份没有年份（{self.label}），找不到 {period.label}",
            )
        last = period.until.part if period.until else period.part
        if self.parts:
            return _between(dict(self.parts)["month"], str(period.part), str(last))
        return _between(self.iso, f"'{period.part:02}'", f"'{last:02}'")

    def _code(self, day: datetime.date, last: bool = False) -> str:
        """A bound as the column writes it ("" for none): the period that holds the day, or the one before it."""
        if not 1 < day.year < _FAR:
            return ""
        inside = day - datetime.timedelta(days=1) if last else day
        text = inside.strftime(self.code)
        return text if self.numeric else literal(text)

    def _by_parts(self, first: datetime.date, after: datetime.date) -> str:
        """Years, months and days of numbers, as plainly as the bounds allow."""
        at = dict(self.parts)
        lower, upper = first.year > 1, after.year < _FAR
        last = after - datetime.timedelta(days=1) if upper else after
        by_year = (first.month, first.day) == (1, 1) and (not upper or (after.month, after.day) == (1, 1))
        if by_year or len(at) == 1:
            return _between(at["year"], str(first.year) if lower else "", str(last.year) if upper else "")
        by_month = first.day == 1 and (not upper or after.day == 1)
        if lower and upper and first.year == last.year and (by_month or first == last):
            months = _between(at["month"], str(first.month), str(last.month))
            day = "" if by_month else f" AND {at['day']} = {first.day}"
            return f"{at['year']} = {first.year} AND {months}{day}"
        if by_month:
            low, high = first.year * 100 + first.month, last.year * 100 + last.month
            column = f"{at['year']} * 100 + {at['month']}"
        else:
            low, high = (d.year * 10_000 + d.month * 100 + d.day for d in (first, last))
            column = f"{at['year']} * 10000 + {at['month']} * 100 + {at['day']}"
        return _between(column, str(low) if lower else "", str(high) if upper else "")


def _between(column: str, low: str, high: str) -> str:
    if low and low == high:
        return f"{column} = {low}"
    if low and high:
        return f"{column} BETWEEN {low} AND {high}"
    return f"{column} >= {low}" if low else f"{column} <= {high}"


def find(table: Table, named: list[Column], source: str) -> Steps:
    """The time axis of a table, or None; looks at the extremes of the columns that may be it.

    `named`: date columns that the goal names; `source`: the FROM clause. Raises Unclear when several would do.
    """
    found = _parts(table) if not named else None
    choices = named or ([] if found else _choices(table))
    if found:
        day = found.iso
        if found.sql_date and len(found.parts) == 3:
            day = f"make_date({', '.join(sql for _, sql in found.parts)})"
        probe = yield from _probe(table, found.label, f"MIN({day}) AS earliest, MAX({day}) AS latest", source)
        first, last = _range(probe)
        return dataclasses.replace(found, first=first[:10], last=last[:10])
    if not choices:
        return None
    column = _the_one(table, choices, bool(named))
    raw = _clock(column)
    length = f"LENGTH(CAST({raw} AS VARCHAR))"
    looks = "" if column.kind == "date" else f", MIN({length}) AS shortest, MAX({length}) AS longest"
    picks = f"MIN({raw}) AS earliest, MAX({raw}) AS latest{looks}"
    probe = yield from _probe(table, column.name, picks, source)
    return _read(column, table, *_range(probe), probe)


def _clock(column: Column) -> str:
    """The column as its own clock shows it: midnight is where the user's frame has it, not where the server is."""
    raw = own(column.name)
    if column.zone[:1] in ("+", "-"):
        hours, minutes = column.zone.split(":")
        return f"({raw} AT TIME ZONE 'UTC' + INTERVAL '{int(hours) * 60 + int(hours[0] + minutes)} minutes')"
    return f"({raw} AT TIME ZONE {literal(column.zone)})" if column.zone else raw


def _the_one(table: Table, choices: list[Column], named: bool) -> Column:
    if len(choices) > 1:
        names = ", ".join(c.name for c in choices)
        raise Unclear(
            f"{table.name} has several dates ({names}): which one counts?",
            f"{table.name} 有几个日期列（{names}），以哪个为准？",
        )
    column = choices[0]
    other = column.signature - {"date", "time", "month", "day"} - table_concepts(table) - _EVENTS
    if other and not named and not other & {w for c in table.columns for w in c.signature if c is not column}:
        strange = other & {
            "birth",
            "hire",
            "due",
            "end",
            "expiry",
            "update",
            "updated",
            "modified",
            "ship",
            "death",
        }
        if strange:
            raise Unclear(
                f"the only date in {table.name} is {column.name}: is that the time you mean (then name it)?",
                f"{table.name} 里唯一的日期是 {column.name}，你指的是它吗（请写出列名）？",
            )
    return column


def _probe(table: Table, label: str, picks: str, source: str) -> Steps:
    query = f"SELECT {picks}\nFROM {source}".replace("\x02", "")
    call = {"query": query, "database": table.database} if table.database else {"query": query}
    thought = f"The time of the rows is in {label}; I look at its range.", f"时间在 {label}，先看它的范围。"
    got = yield thought, "query_sql", call
    if not got.get("ok", True):
        raise Unclear(
            f"the range of {label} could not be looked at: {got.get('error')}",
            f"看不到 {label} 的范围：{got.get('error')}",
        )
    return got


def _range(probe: Json) -> tuple[str, str]:
    rows = probe.get("rows") or [["", ""]]

    def text(value: Any) -> str:
        if value is None:
            return ""
        return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)

    return text(rows[0][0]), text(rows[0][1])


def _read(column: Column, table: Table, first: str, last: str, probe: Json) -> Axis:
    """The axis of one column, by what its extremes look like. Raises Unclear where they cannot be read."""
    raw, name, in_duck = _clock(column), column.name, not table.database
    row = (probe.get("rows") or [[]])[0]
    even = len(row) < 4 or row[2] == row[3]
    text = raw if column.kind == "text" and not column.mixed else f"CAST({raw} AS VARCHAR)"

    def both(pattern: str) -> bool:
        return bool(re.match(pattern, first) and re.match(pattern, last))

    def axis(level: str, column_sql: str, iso: str, code: str, ends: tuple[str, str], **more: Any) -> Axis:
        made = Axis(level, name, column_sql, iso, code, sql_date=in_duck, first=ends[0], last=ends[1])
        return dataclasses.replace(made, **more)

    numeric = column.kind == "number"
    dashed = (first[:10].replace("/", "-"), last[:10].replace("/", "-"))
    if both(r"\d{4}-\d\d-\d\d") and (column.kind == "date" or even or both(r"\d{4}-\d\d-\d\d[T ]")):
        dated = column.kind == "date" and in_duck
        iso = text if even and len(first) == 10 else f"substr({text}, 1, 10)"
        return axis("day", raw, iso, "%Y-%m-%d", dashed, dated=dated)
    if both(r"\d{4}/\d\d/\d\d") and even:
        iso = f"replace({text}, '/', '-')"
        return axis("day", iso, iso, "%Y-%m-%d", dashed)
    if both(r"\d{4}[-/]\d\d$") and even:
        code = first[4]
        iso = text if code == "-" else f"replace({text}, '/', '-')"
        return axis("month", raw, iso, f"%Y{code}%m", dashed)
    if both(r"(19|20)\d{2}(0[1-9]|1[0-2])$") and even:
        iso = f"substr({text}, 1, 4) || '-' || substr({text}, 5, 2)"
        ends = (f"{first[:4]}-{first[4:]}", f"{last[:4]}-{last[4:]}")
        return axis("month", raw, f"({iso})", "%Y%m", ends, numeric=numeric)
    if both(r"(19|20)\d{6}$") and even:
        iso = f"substr({text}, 1, 4) || '-' || substr({text}, 5, 2) || '-' || substr({text}, 7, 2)"
        ends = (f"{first[:4]}-{first[4:6]}-{first[6:]}", f"{last[:4]}-{last[4:6]}-{last[6:]}")
        if numeric:
            return axis("day", raw, f"({iso})", "%Y%m%d", ends, numeric=True)
        return axis("day", f"({iso})", f"({iso})", "%Y-%m-%d", ends)
    if both(r"\d{4}年\d\d月") and even:
        iso = f"replace(substr({text}, 1, 7), '年', '-')"
        return axis("month", iso, iso, "%Y-%m", (first[:7].replace("年", "-"), last[:7].replace("年", "-")))
    if {first[:3].lower(), last[:3].lower()} <= set(MONTH_NUMBERS):
        iso = f"(CASE lower(substr({text}, 1, 3)) {_MONTH_CASE} END)"
        return axis("month only", iso, iso, "%m", (first, last))
    if both(r"\d{1,2}月$"):
        iso = (
            f"right('0' || replace({text}, '月', ''), 2)"
            if in_duck
            else f"substr('0' || replace({text}, '月', ''), -2)"
        )
        return axis("month only", iso, iso, "%m", (first, last))
    raise Unclear(
        f"the dates in {table.name}.{name} look like {first!r} and {last!r}: I read only year-month-day, "
        "year-month or month names, written the same way in all rows",
        f"{table.name}.{name} 里的日期形如 {first!r}、{last!r}，我只认识写法统一的 年-月-日、年-月 或月份名",
    )


def _parts(table: Table) -> Axis | None:
    """Year, month and day columns of numbers."""
    got = {}
    for unit in ("year", "month", "day"):
        named = [c for c in table.columns if c.signature == {unit}]
        if len(named) == 1:
            got[unit] = named[0]
    if "year" in got and got["year"].kind != "number":
        return None
    in_duck = not table.database
    month = got.get("month")
    if month and month.kind == "text" and "year" in got:
        year = _whole(got["year"])
        text = f"({year} || '-' || CASE lower(substr({own(month.name)}, 1, 3)) {_MONTH_CASE} END)"
        label = f"{got['year'].name}, {month.name}"
        return Axis("month", label, text, text, "%Y-%m", sql_date=in_duck)
    if month and month.kind != "number":
        return None
    whole = tuple((u, own(c.name)) for u, c in got.items() if c.kind == "number")
    numbers = [_whole(c) for c in got.values() if c.kind == "number"]
    units = [u for u, _ in whole]
    label = ", ".join(got[u].name for u in units)
    printf = {
        "year month day": ("%04d-%02d-%02d", "day"),
        "year month": ("%04d-%02d", "month"),
        "year": ("%04d", "year"),
        "month": ("%02d", "month only"),
    }.get(" ".join(units))
    if printf is None or (len(units) == 1 and any(c.kind == "date" for c in table.columns)):
        return None
    iso = f"printf('{printf[0]}', {', '.join(numbers)})"
    exact = all(got[u].whole for u in units)
    return Axis(printf[1], label, "", iso, parts=whole, sql_date=in_duck and exact)


def _whole(column: Column) -> str:
    return own(column.name) if column.whole else f"CAST({own(column.name)} AS BIGINT)"


def _choices(table: Table) -> list[Column]:
    dates = [c for c in table.columns if c.kind == "date"]
    if not dates:
        dates = [
            c
            for c in table.columns
            if c.kind == "text"
            and c.signature & {"date", "month", "week"}
            and not c.signature & {"id", "name"}
        ]
    if not dates:
        dates = [
            c
            for c in table.columns
            if c.kind == "number"
            and (c.signature & {"date", "month", "yyyymm", "yearmonth", "period"} or c.signature == {"ym"})
        ]
    if not dates:
        dates = [
            c
            for c in table.columns
            if c.kind == "text"
            and (
                (c.signature & {"time", "day"} and c.signature <= {"time", "day", "hour"} | _EVENTS)
                or c.signature & {"yyyymm", "yearmonth", "period", "ym", "created", "at", "when"}
            )
        ]
    exact = [c for c in dates if c.signature <= {"date", "time"}] or [
        c for c in dates if c.signature & table_concepts(table)
    ]
    return exact if len(exact) == 1 else dates
