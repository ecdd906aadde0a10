# ruff: noqa: E501
"""Periods of time in a goal: named months, quarters, years, days, ranges and relative ones."""

from __future__ import annotations

import dataclasses
import datetime
import re

from .text import Text, english

NAMES = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = (
    r"january|february|march|april|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_ZH = {c: i for i, c in enumerate("一二三四五六七八九十", 1)} | {"十一": 11, "十二": 12}
_ZH_MONTH = "十一|十二|十|[一二三四五六七八九]"
_ORDINAL = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": 4,
}
_UNITS_ZH = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星": "week",
    "月": "month",
    "季": "quarter",
    "年": "year",
}
_WORDS = {w: i for i, w in enumerate("two three four five six seven".split(), 2)} | {"ten": 10, "twelve": 12}
MONTH_NUMBERS = {name[:3]: i for i, name in enumerate(NAMES, 1)}


@dataclasses.dataclass(frozen=True)
class Period:
    """A span of time. `year` None: not said. `part`: month 1-12, quarter 1-4, half 1-2 or a (month, day).

    `relative`: "this"/"last" of the unit, to be counted from the latest date in the data.
    `until`: the last period of a range (same kind of thing), or None.
    `open`: "since", "after" or "before" for a range without an end.
    """

    unit: str
    year: int | None = None
    part: int = 0
    day: int = 0
    relative: str = ""
    until: Period | None = None
    open: str = ""

    def with_year(self, year: int) -> Period:
        """The same with a year where none was said."""
        until = self.until.with_year(year) if self.until else None
        return dataclasses.replace(self, year=self.year if self.year is not None else year, until=until)

    @property
    def lacks_year(self) -> bool:
        """Whether a year is still to be found."""
        return (self.year is None and not self.relative) or bool(self.until and self.until.lacks_year)

    def bounds(self) -> tuple[datetime.date, datetime.date]:
        """First day, and first day after it. Raises ValueError for a day that does not exist."""
        first, after = self._own()
        if self.until:
            after = self.until.bounds()[1]
        if self.open == "since":
            return first, datetime.date(9999, 1, 1)
        if self.open == "after":
            return after, datetime.date(9999, 1, 1)
        if self.open == "before":
            return datetime.date(1, 1, 1), first
        return first, after

    def _own(self) -> tuple[datetime.date, datetime.date]:
        year = self.year or 1
        if self.unit == "day":
            first = datetime.date(year, self.part, self.day)
            return first, first + datetime.timedelta(days=1)
        size, index = {
            "year": (12, 1),
            "half": (6, self.part),
            "quarter": (3, self.part),
            "month": (1, self.part),
        }[self.unit]
        return _month_start(year, (index - 1) * size), _month_start(year, index * size)

    @property
    def label(self) -> str:
        """Readable in any language: 2013-06, 2013, 2024 Q1, 2013-06-15."""
        year = "" if self.year is None else str(self.year)
        own = {
            "year": year,
            "half": f"{year} H{self.part}".strip(),
            "quarter": f"{year} Q{self.part}".strip(),
            "month": f"{year}-{self.part:02}" if year else f"{self.part:02}",
            "day": f"{year}-{self.part:02}-{self.day:02}",
        }[self.unit]
        if self.until:
            return f"{own} … {self.until.label}"
        return {"": own, "since": f"≥ {own}", "after": f"> {own}", "before": f"< {own}"}[self.open]

    def before(self, by: str) -> Period:
        """The period one year ("year") or one unit of its own ("unit") earlier."""
        if by == "year" or self.unit == "year":
            until = self.until.before(by) if self.until else None
            return dataclasses.replace(self, year=(self.year or 1) - 1, until=until)
        if self.unit == "day":
            first = self._own()[0] - datetime.timedelta(days=1)
            return Period("day", first.year, first.month, first.day)
        count = {"half": 2, "quarter": 4, "month": 12}[self.unit]
        at = (self.year or 1) * count + self.part - 2
        return Period(self.unit, at // count, at % count + 1)


def around(unit: str, day: datetime.date) -> Period:
    """The period of that unit that holds the day."""
    part = {
        "year": 0,
        "half": (day.month - 1) // 6 + 1,
        "quarter": (day.month - 1) // 3 + 1,
        "month": day.month,
    }
    return (
        Period("day", day.year, day.month, day.day) if unit == "day" else Period(unit, day.year, part[unit])
    )


def _month_start(year: int, months: int) -> datetime.date:
    return datetime.date(year + months // 12, months % 12 + 1, 1)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _ZH.get(text, 0)


_YEAR = r"(?P<y>(?:19|20)\d{2})"
_OF = r"(?:\s*,?\s*(?:of\s+|in\s+)?" + _YEAR + r")?"
_PATTERNS: list[tuple[str, str]] = [
    ("day", rf"(?<!\d){_YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?![\d-])"),
    ("day", rf"{_YEAR}\s*年\s*(?P<m>\d{{1,2}}|{_ZH_MONTH})\s*月\s*(?P<d>\d{{1,2}})\s*[日号]"),
    ("day", r"(?<!\d)(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]"),
    ("day", english(rf"(?P<m>{_MONTH}|may)\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d])" + _OF)),
    ("day", english(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m>{_MONTH}|may)" + _OF)),
    ("month", rf"(?<![\d-]){_YEAR}[-/](?P<m>0?[1-9]|1[0-2])(?![\d/-])"),
    (
        "month",
        r"(?:(?<=in )|(?<=from )|(?<=to )|(?<=and )|(?<=vs )|(?<=for )|(?<=of )|(?<=since )|(?<![\da-z] ))(?<![\w.-])(?P<y>20\d{2})(?P<m>0[1-9]|1[0-2])(?![\w.-])",
    ),
    ("month", rf"{_YEAR}\s*年\s*(?P<m>\d{{1,2}}|{_ZH_MONTH})\s*月份?"),
    ("quarter", rf"{_YEAR}\s*年?\s*(?:第?\s*(?P<q>[一二三四1-4])\s*季度?|[- ]?q(?P<q2>[1-4]))"),
    ("quarter", english(r"q(?P<q>[1-4])" + _OF)),
    ("quarter", english(r"(?P<o>first|second|third|fourth|last|1st|2nd|3rd|4th) quarter" + _OF)),
    ("quarter", r"第?\s*(?P<q>[一二三四1-4])\s*季度"),
    ("half", rf"(?:{_YEAR}\s*年?\s*)?(?P<zh>[上下])半年"),
    ("half", english(r"h(?P<q>[12])" + _OF)),
    ("half", english(r"(?P<o>first|second) half" + _OF)),
    ("month", english(rf"(?P<m>{_MONTH})\.?" + _OF)),
    ("month", english(r"(?P<m>may)\s*,?\s*(?:of\s+|in\s+)?" + _YEAR)),
    (
        "month",
        english(
            r"(?:(?<=in )|(?<=from )|(?<=to )|(?<=and )|(?<=vs )|(?<=for )|(?<=of )|(?<=than )|(?<=with )|(?<=since ))(?P<m>may)"
        ),
    ),
    ("month", rf"(?<![\d一二三四五六七八九十])(?P<m>\d{{1,2}}|{_ZH_MONTH})\s*月份?(?!环比)"),
    ("relative", english(r"(?P<r>this|current|last|previous|prior|past) (?P<u>month|quarter|year)")),
    (
        "relative",
        r"(?P<zr>这个月|本月|当月|上个月|上月|今年|本年|去年|上一年|本季度|这个季度|上季度|上个季度)",
    ),
    (
        "relative",
        english(
            r"(?:the )?(?:last|past|previous|most recent|latest) (?P<n>\d{1,3}|two|three|four|five|six|seven|ten|twelve) (?P<u>day|week|month|quarter|year)s?"
        ),
    ),
    (
        "relative",
        r"(?:最近|过去|近)的?(?P<n>\d{1,3}|[一二两三四五六七八九十])个?(?P<zu>天|日|周|星期|月|季度|年)",
    ),
    (
        "year",
        rf"(?<![\d.$¥€]){_YEAR}(?:\s*年度?)?(?![\d.]\d|\d|\s*(?:minutes|miles|km|rows|units|元|个|笔|条))",
    ),
]
_RELATIVE_ZH = {"月": "month", "年": "year", "季": "quarter"}


@dataclasses.dataclass(frozen=True)
class Mention:
    """A period where it stands in the text."""

    period: Period
    start: int
    end: int


def parse(text: Text) -> list[Mention]:
    """The periods of the text in order, marked as understood; years said once are shared."""
    found: list[Mention] = []
    for unit, pattern in _PATTERNS:
        for match in text.find(pattern):
            if _taken(text, match):
                continue
            period = _read(unit, match.groupdict())
            if period is None:
                continue
            text.mark(*match.span())
            found.append(Mention(period, *match.span()))
    found.sort(key=lambda m: m.start)
    return _shared_years(_opened(text, found))


def _taken(text: Text, match: re.Match[str]) -> bool:
    """Whether part of the match was understood as something else meanwhile."""
    return text.rest[match.start() : match.end()] != match.group()


def _read(unit: str, got: dict[str, str | None]) -> Period | None:
    year = int(got["y"] or 0) if got.get("y") else None
    if unit == "relative" and got.get("n"):
        written = str(got["n"])
        n = _WORDS.get(written) or _number(written.replace("两", "二"))
        unit_said = got.get("u") or _UNITS_ZH[str(got["zu"])[0]]
        return Period(unit_said, relative=str(n)) if n else None
    if unit == "relative":
        if zh := got.get("zr"):
            kind = next(v for k, v in _RELATIVE_ZH.items() if k in zh)
            return Period(kind, relative="last" if zh[0] in "上去" else "this")
        return Period(str(got["u"]), relative="this" if got["r"] in ("this", "current") else "last")
    if unit == "year":
        return Period("year", year)
    if unit in ("quarter", "half"):
        raw = got.get("q") or got.get("q2")
        part = _number(raw) if raw else _ORDINAL.get(got.get("o") or "", 0)
        if got.get("zh"):
            part = 1 if got["zh"] == "上" else 2
        return Period(unit, year, part)
    name = got.get("m") or ""
    month = MONTH_NUMBERS.get(name[:3]) or _number(name)
    if not 1 <= month <= 12:
        return None
    if unit == "day":
        day = int(got["d"] or 0)
        try:
            datetime.date(year or 2024, month, day)
        except ValueError:
            return None
        return Period("day", year, month, day)
    return Period("month", year, month)


def _opened(text: Text, found: list[Mention]) -> list[Mention]:
    out = []
    for m in found:
        head, tail = text.rest[max(0, m.start - 12) : m.start], text.rest[m.end : m.end + 3]
        opened = ""
        if match := re.search(r"\b(since|after|before|until)\s+$", head):
            opened = {"until": ""}.get(match.group(1), match.group(1))
            if match.group(1) != "until":
                text.mark(m.start - len(match.group()), m.start)
        elif match := re.match(r"\s*(以来|之后|以后|之前|以前)", tail):
            opened = {"以来": "since", "之后": "after", "以后": "after"}.get(match.group(1), "before")
            text.mark(m.end, m.end + match.end())
        out.append(dataclasses.replace(m, period=dataclasses.replace(m.period, open=opened)))
    return out


def _shared_years(found: list[Mention]) -> list[Mention]:
    out = list(found)
    for i, m in enumerate(out):
        if not m.period.lacks_year:
            continue
        later = [o.period for o in found[i + 1 :] if o.period.year]
        earlier = [o.period for o in found[:i] if o.period.year]
        source = later[0] if later else earlier[-1] if earlier else None
        if source and source.year:
            out[i] = dataclasses.replace(m, period=m.period.with_year(source.year))
    # "June in 2024" and "2024 … June": the lone year was the month's own.
    used = [i for i, m in enumerate(found) if m.period.lacks_year]
    if used and all(m.period.unit == "year" or m.period.lacks_year for m in found):
        out = [m for i, m in enumerate(out) if i in used]
    # "June 2023 vs 2024": the same month a year later.
    if (
        len(out) == 2
        and out[0].period.unit != "year"
        and out[1].period.unit == "year"
        and not out[1].period.relative
    ):
        same = dataclasses.replace(out[0].period, year=out[1].period.year)
        out[1] = dataclasses.replace(out[1], period=same)
    return out
