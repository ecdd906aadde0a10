# ruff: noqa: E501
"""The time of a table's rows, whatever its columns are: a date, year and month numbers, or text months."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Generator
from typing import Any

from .periods import MONTH_NUMBERS, Period, around
from .reading import Unclear, table_concepts
from .schema import Column, Table
from .text import quote

Json = dict[str, Any]
Steps = Generator[tuple[str, str, Json], Json, Any]
_EVENTS = frozenset(
    [
        "order",
        "revenue",
        "transaction",
        "invoice",
        "payment",
        "visit",
        "reading",
        "flight",
        "created",
        "event",
        "purchase",
        "record",
        "log",
        "sale",
    ]
)
_MONTH_CASE = " ".join(f"WHEN '{name}' THEN '{i:02}'" for name, i in MONTH_NUMBERS.items())


@dataclasses.dataclass(frozen=True)
class Axis:
    """`iso`: SQL text that sorts as time does: YYYY-MM-DD, YYYY-MM or YYYY by `level` (day, month, year), or MM
    alone (`level` "month only"). `first`, `last`: its extremes in the data."""

    iso: str
    level: str
    label: str
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
            if period.unit != "month" or period.year or period.open:
                raise Unclear(
                    f"the data has months but no years ({self.label}), so {period.label} cannot be found",
                    f"数据只有月份没有年份（{self.label}），找不到 {period.label}",
                )
            if period.until:
                return f"{self.iso} BETWEEN '{period.part:02}' AND '{period.until.part:02}'"
            return f"{self.iso} = '{period.part:02}'"
        first, after = period.bounds()
        size = {"day": 10, "month": 7, "year": 4}[self.level]
        for bound in (first, after):
            if 1 < bound.year < 9999 and (
                (self.level != "day" and bound.day != 1) or (self.level == "year" and bound.month != 1)
            ):
                raise Unclear(
                    f"the data is by {self.level} ({self.label}), too coarse for {period.label}",
                    f"数据只精确到{'月' if self.level == 'month' else '年'}（{self.label}），无法按 {period.label} 计算",
                )
        parts = []
        if first.year > 1:
            parts.append(f"{self.iso} >= '{first.isoformat()[:size]}'")
        if after.year < 9999:
            parts.append(f"{self.iso} < '{after.isoformat()[:size]}'")
        return " AND ".join(parts)

    def key(self, grain: str) -> str:
        """SQL text that names the month, quarter, year, week or day of a row."""
        if self.level == "month only":
            if grain != "month":
                raise Unclear(f"the data has months only, no {grain}s", "数据只有月份")
            return self.iso
        order = ["day", "week", "month", "quarter", "year"]
        if order.index(grain) < order.index(self.level):
            raise Unclear(f"the data is by {self.level}, not by {grain}", "数据没有这么细的时间")
        if grain == "week":
            return f"strftime(date_trunc('week', CAST({self.iso} AS DATE)), '%Y-%m-%d')"
        if grain == "quarter":
            cases = " ".join(
                f"WHEN substr({self.iso}, 6, 2) <= '{q * 3:02}' THEN 'Q{q}'" for q in (1, 2, 3, 4)
            )
            return f"substr({self.iso}, 1, 4) || ' ' || CASE {cases} END"
        return f"substr({self.iso}, 1, {({'day': 10, 'month': 7, 'year': 4})[grain]})"

    def complete(self, period: Period) -> Period:
        """The period with its year filled in, relative ones counted from the latest date. Raises Unclear."""
        if period.relative:
            last = self.last_day
            if last is None:
                raise Unclear("there are no dates to count from", "没有可用的日期")
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


def find(table: Table, named: list[Column], source: str) -> Steps:
    """The time axis of a table, or None; looks at the extremes of the columns that may be it.

    `named`: date columns that the goal names; `source`: the FROM clause. Raises Unclear when several would do.
    """
    found = _parts(table) if not named else None
    choices = named or ([] if found else _choices(table))
    if not found and not choices:
        return None
    if len(choices) > 1:
        names = ", ".join(c.name for c in choices)
        raise Unclear(
            f"{table.name} has several dates ({names}): which one counts?",
            f"{table.name} 有几个日期列（{names}），以哪个为准？",
        )
    if choices:
        column = choices[0]
        other = column.signature - {"date", "time", "month", "day"} - table_concepts(table) - _EVENTS
        if other and not named:
            raise Unclear(
                f"the only date in {table.name} is {column.name}: is that the time you mean (then name it)?",
                f"{table.name} 里唯一的日期是 {column.name}，你指的是它吗（请写出列名）？",
            )
        raw = f"CAST(f.{quote(column.name)} AS VARCHAR)"
        iso, level = f"replace(substr({raw}, 1, 10), '/', '-')", "day"
        probe = yield (
            f"The time of the rows is in {column.name}; I look at its range.",
            "query_sql",
            _sql(table, f"SELECT MIN({raw}) AS earliest, MAX({raw}) AS latest FROM {source} AS f"),
        )
        first, last = _range(probe)
        return _read_text(column, table, iso, level, raw, first, last)
    assert found is not None
    iso, level, label = found
    probe = yield (
        f"The time of the rows is in {label}; I look at its range.",
        "query_sql",
        _sql(table, f"SELECT MIN({iso}) AS earliest, MAX({iso}) AS latest FROM {source} AS f"),
    )
    first, last = _range(probe)
    return Axis(iso, level, label, first, last)


def _sql(table: Table, query: str) -> Json:
    return {"query": query, "database": table.database} if table.database else {"query": query}


def _range(probe: Json) -> tuple[str, str]:
    rows = probe.get("rows") or [["", ""]]
    return str(rows[0][0] or ""), str(rows[0][1] or "")


def _read_text(column: Column, table: Table, iso: str, level: str, raw: str, first: str, last: str) -> Axis:
    months = {first[:3].lower(), last[:3].lower()}
    if re.match(r"\d{4}-\d\d-\d\d", first.replace("/", "-")) and re.match(
        r"\d{4}-\d\d-\d\d", last.replace("/", "-")
    ):
        return Axis(iso, level, column.name, first[:10].replace("/", "-"), last[:10].replace("/", "-"))
    if re.fullmatch(r"\d{4}[-/]\d\d", first) and re.fullmatch(r"\d{4}[-/]\d\d", last):
        return Axis(iso, "month", column.name, first.replace("/", "-"), last.replace("/", "-"))
    if re.fullmatch(r"(19|20)\d{2}(0[1-9]|1[0-2])", first) and re.fullmatch(
        r"(19|20)\d{2}(0[1-9]|1[0-2])", last
    ):
        text = f"substr({raw}, 1, 4) || '-' || substr({raw}, 5, 2)"
        return Axis(f"({text})", "month", column.name, f"{first[:4]}-{first[4:]}", f"{last[:4]}-{last[4:]}")
    if re.fullmatch(r"(19|20)\d{6}", first) and re.fullmatch(r"(19|20)\d{6}", last):
        text = f"substr({raw}, 1, 4) || '-' || substr({raw}, 5, 2) || '-' || substr({raw}, 7, 2)"
        cut = [f"{x[:4]}-{x[4:6]}-{x[6:]}" for x in (first, last)]
        return Axis(f"({text})", "day", column.name, *cut)
    if re.fullmatch(r"\d{4}年\d\d?月", first) and len(first) == len(last) == 8:
        return Axis(
            f"replace(substr({raw}, 1, 7), '年', '-')",
            "month",
            column.name,
            first[:7].replace("年", "-"),
            last[:7].replace("年", "-"),
        )
    if months <= set(MONTH_NUMBERS):
        return Axis(
            f"(CASE lower(substr({raw}, 1, 3)) {_MONTH_CASE} END)", "month only", column.name, first, last
        )
    if re.fullmatch(r"\d{1,2}月", first) and re.fullmatch(r"\d{1,2}月", last):
        return Axis(f"substr('0' || replace({raw}, '月', ''), -2)", "month only", column.name, first, last)
    raise Unclear(
        f"the dates in {table.name}.{column.name} look like {first!r}: I read only year-month-day, year-month or month names",
        f"{table.name}.{column.name} 里的日期形如 {first!r}，我只认识 年-月-日、年-月 或月份名",
    )


def _parts(table: Table) -> tuple[str, str, str] | None:
    """Year, month and day columns of numbers."""
    got = {}
    for unit in ("year", "month", "day"):
        named = [c for c in table.columns if c.signature == {unit}]
        if len(named) == 1:
            got[unit] = named[0]
    if "year" in got and got["year"].kind != "number":
        return None
    if "month" in got and got["month"].kind == "text" and "year" in got:
        month = f"CASE lower(substr(f.{quote(got['month'].name)}, 1, 3)) {_MONTH_CASE} END"
        year = f"printf('%04d', CAST(f.{quote(got['year'].name)} AS BIGINT))"
        return f"({year} || '-' || {month})", "month", f"{got['year'].name}, {got['month'].name}"
    if "month" in got and got["month"].kind != "number":
        return None
    whole = {u: f"CAST(f.{quote(c.name)} AS BIGINT)" for u, c in got.items() if c.kind == "number"}
    label = ", ".join(got[u].name for u in whole)
    if {"year", "month", "day"} <= set(whole):
        return f"printf('%04d-%02d-%02d', {whole['year']}, {whole['month']}, {whole['day']})", "day", label
    if {"year", "month"} <= set(whole):
        return f"printf('%04d-%02d', {whole['year']}, {whole['month']})", "month", label
    dates = [c for c in table.columns if c.kind == "date"]
    if dates:
        return None
    if "year" in whole:
        return f"printf('%04d', {whole['year']})", "year", got["year"].name
    if "month" in whole:
        return f"printf('%02d', {whole['month']})", "month only", got["month"].name
    return None


def _choices(table: Table) -> list[Column]:
    dates = [c for c in table.columns if c.kind == "date"]
    if not dates:
        dates = [
            c
            for c in table.columns
            if c.kind == "text" and c.signature & {"date", "month"} and not c.signature & {"id", "name"}
        ]
    if not dates:
        dates = [
            c
            for c in table.columns
            if c.signature & {"date", "month"} and c.kind == "number" and "year" not in c.signature
        ]
    if not dates:
        dates = [
            c
            for c in table.columns
            if c.kind == "text" and c.signature & {"time", "day"} and c.signature <= {"time", "day", "hour"}
        ]
    exact = [c for c in dates if c.signature <= {"date", "time"}] or [
        c for c in dates if c.signature & table_concepts(table)
    ]
    return exact if len(exact) == 1 else dates
