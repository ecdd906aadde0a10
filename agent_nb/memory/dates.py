"""Dates that a question names, against the moment it is asked: "last month", "in March", "Q3", "上个月", "5月20日".

A date becomes a half-open range of time, in the asker's own time zone, given back as aware UTC. What is negated or
uncertain ("not last week", "maybe in May") names no range.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Callable

from . import numerals

Date = datetime.date
Days = tuple[Date, Date]
"""First day, and the day after the last one."""


@dataclasses.dataclass(frozen=True)
class Span:
    """A range of time that a question names: from `start` up to before `end`, aware UTC.

    Args:
        first, last: its days in the asker's zone. words: as the question says it. at: where it stands there.
        terms: what of it a memory may say as well ("march", "2024", "q3").
    """

    start: datetime.datetime
    end: datetime.datetime
    first: datetime.date
    last: datetime.date
    words: str
    at: tuple[int, int]
    terms: tuple[str, ...] = ()

    def holds(self, moment: datetime.datetime) -> bool:
        """Whether the moment lies in the range."""
        return self.start <= moment < self.end

    def __str__(self) -> str:
        first = "…" if self.first <= _EARLY else self.first.isoformat()
        return f"{self.words} → {first}" + (f" … {self.last}" if self.last != self.first else "")


_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = "|".join(_MONTHS) + "|" + "|".join(name[:3] for name in _MONTHS if name != "may") + "|sept"
_WEEKDAY = "|".join(_WEEKDAYS)
_NUMBER = r"\d{1,3}|an?|" + "|".join(numerals.WORDS) + "|a couple of|a few"
_ORDER = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_YEAR = r"(?:19|20)\d\d"
_EARLY, _LATE = Date(1, 1, 2), Date(9999, 12, 30)

_OPEN = re.compile(r"(?P<since>\bsince |\bafter |自从?)|(?P<before>\bbefore |\buntil |\bprior to )", re.I)
_DOUBT = re.compile(
    r"(?:\b(?:not|never|except|excluding|without|other than|apart from|maybe|perhaps|possibly|probably|or was it)"
    r"(?: (?:in|on|during|for|from|since|the|of))*"
    r"|不是|并非|不在|除了|除开|除|也许|可能|大概|或许|好像|不算)\s*(?:在|是)?\s*$",
    re.I,
)
_AFTER_ZH = re.compile(r"^(?:份)?(?P<since>以来|之后|以后|起)|^(?:份)?(?P<before>之前|以前)")


def spans(text: str, now: datetime.datetime) -> list[Span]:
    """The ranges that `text` names, in order. `now`: aware; its zone is the asker's.

    Numerals are read as they stand: give `numerals.as_digits(text)` for "两周前".
    """
    if not _HINT.search(text):
        return []
    today, zone = now.date(), now.tzinfo
    taken: list[tuple[int, int]] = []
    found = []
    low = text.lower()
    for hints, pattern, rule in _RULES:
        if not any(hint in low for hint in hints):
            continue
        for match in pattern.finditer(text):
            at = match.span()
            if any(at[0] < end and start < at[1] for start, end in taken):
                continue
            taken.append(at)
            try:
                days = rule(match, today)
            except (ValueError, OverflowError):  # the 31st of June; a year beyond the calendar
                continue
            before = text[: at[0]]
            if _DOUBT.search(before):
                continue
            found.append(_span(days, match, text, today, zone))
    return sorted(found, key=lambda span: span.at)


def _span(days: Days, match: re.Match[str], text: str, today: Date, zone: datetime.tzinfo | None) -> Span:
    start, end = days
    at = match.span()
    # The last word before and the first one after may open the range at one side.
    ahead = [word for word in _OPEN.finditer(text[: at[0]]) if word.end() == at[0]]
    behind = _AFTER_ZH.match(text[at[1] :])
    opened = ahead[0] if ahead else behind
    if opened and opened["since"]:
        end = max(end, today + datetime.timedelta(days=1))
    elif opened and opened["before"]:
        start, end = _EARLY, start
    at = (ahead[0].start() if ahead else at[0], at[1] + (behind.end() if behind else 0))
    last = end - datetime.timedelta(days=1)
    return Span(
        _utc(start, zone),
        _utc(end, zone),
        start,
        last,
        text[at[0] : at[1]].strip(),
        at,
        _named(match, start, opened),
    )


def _named(match: re.Match[str], start: Date, opened: object) -> tuple[str, ...]:
    parts = match.groupdict()
    if opened:
        return ()
    year = (str(start.year),) if parts.get("year") else ()
    if parts.get("month"):
        return (_MONTHS[start.month - 1], *year)
    if parts.get("quarter"):
        return (f"q{(start.month + 2) // 3}", *year)
    return year


def _utc(day: Date, zone: datetime.tzinfo | None) -> datetime.datetime:
    day = min(max(day, _EARLY), _LATE)
    return datetime.datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(datetime.UTC)


# -- ranges ----------------------------------------------------------------------------------------------------


def _day(day: Date) -> Days:
    return day, day + datetime.timedelta(days=1)


def _week(day: Date) -> Days:
    monday = day - datetime.timedelta(days=day.weekday())
    return monday, monday + datetime.timedelta(days=7)


def _months(year: int, month: int, count: int = 1) -> Days:
    """`count` months from that one on; months beyond 1…12 are of other years."""
    first, last = (year * 12 + month - 1 + n for n in (0, count))
    return Date(first // 12, first % 12 + 1, 1), Date(last // 12, last % 12 + 1, 1)


def _unit(unit: str, today: Date, offset: int) -> Days:
    """The day, week, month, quarter or year that lies `offset` of them from today."""
    kind = _UNITS[unit.lower().removesuffix("s")]
    if kind == "day":
        return _day(today + datetime.timedelta(days=offset))
    if kind == "week":
        return _week(today + datetime.timedelta(weeks=offset))
    if kind == "weekend":
        saturday = _week(today + datetime.timedelta(weeks=offset))[0] + datetime.timedelta(days=5)
        return saturday, saturday + datetime.timedelta(days=2)
    if kind == "month":
        return _months(today.year, today.month + offset)
    if kind == "quarter":
        return _months(today.year, (today.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    return _months(today.year + offset, 1, 12)


_UNITS = {name: name for name in ("day", "week", "weekend", "month", "quarter", "year")} | {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "周末": "weekend",
    "月": "month",
    "季度": "quarter",
    "季": "quarter",
    "年": "year",
}
_OFFSETS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1} | {
    "上上": -2,
    "上": -1,
    "这": 0,
    "本": 0,
    "当": 0,
    "下": 1,
}


def _relative(match: re.Match[str], today: Date) -> Days:
    return _unit(match["unit"], today, _OFFSETS[match["which"].lower()])


def _ago(match: re.Match[str], today: Date) -> Days:
    return _unit(match["unit"], today, -_count(match["n"]))


def _running(match: re.Match[str], today: Date) -> Days:
    """The last N days, weeks …: up to today."""
    n, kind = _count(match["n"]), _UNITS[match["unit"].lower().removesuffix("s")]
    tomorrow = today + datetime.timedelta(days=1)
    if kind in ("day", "week"):
        return tomorrow - datetime.timedelta(days=n * (7 if kind == "week" else 1)), tomorrow
    months = n * {"month": 1, "quarter": 3, "year": 12}.get(kind, 1)
    first = _months(today.year, today.month - months)[0]
    return first.replace(day=min(today.day, 28)), tomorrow


def _count(text: str) -> int:
    text = text.lower()
    if text.isdigit():
        return int(text)
    return {"a": 1, "an": 1, "a couple of": 2, "a few": 3}.get(text) or int(numerals.WORDS[text])


def _named_day(match: re.Match[str], today: Date) -> Days:
    return _day(today + datetime.timedelta(days=_NAMED_DAYS[match["day"].lower()]))


_NAMED_DAYS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
} | {
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "今天": 0,
    "今日": 0,
    "今早": 0,
    "今晚": 0,
    "明天": 1,
    "后天": 2,
}


def _weekday(match: re.Match[str], today: Date) -> Days:
    """The latest day of that name, today included; with last, this or next the one of that kind."""
    which, name = (match["which"] or "").lower(), match["name"].lower()
    number = _WEEKDAYS.index(name) if name in _WEEKDAYS else "一二三四五六日天".index(name) % 7
    number = 6 if name == "天" else number
    back = (today.weekday() - number) % 7
    if which in ("last", "past", "previous"):
        return _day(today - datetime.timedelta(days=back or 7))
    if which == "next":
        return _day(today + datetime.timedelta(days=7 - back))
    if which in _OFFSETS and which not in ("this", "current"):
        monday = _week(today)[0]
        return _day(monday + datetime.timedelta(days=number + 7 * _OFFSETS[which]))
    return _day(today - datetime.timedelta(days=back))


def _month(match: re.Match[str], today: Date) -> Days:
    """A month of a year; without one the latest that has begun. "last March" is before this month."""
    month = _month_number(match["month"])
    which = (match.groupdict().get("which") or "").lower()
    return _months(_year(match, today, Date(today.year, month, 1), which), month)


def _quarter(match: re.Match[str], today: Date) -> Days:
    parts = match.groupdict()
    said = (parts["quarter"] or "").lower()
    quarter = _ORDER.get(said) or int(said)
    which = (parts.get("which") or "").lower().strip()
    start = Date(today.year, 3 * quarter - 2, 1)
    if which == "last" and start <= today < _months(start.year, start.month, 3)[1]:
        return _months(today.year - 1, start.month, 3)
    return _months(_year(match, today, start, ""), start.month, 3)


def _date(match: re.Match[str], today: Date) -> Days:
    month, day = _month_number(match["month"]), int(match["day"])
    year = _year(match, today, Date(today.year, month, min(day, 28)), "")
    return _day(Date(year, month, day))


def _whole_year(match: re.Match[str], today: Date) -> Days:
    return _months(int(match["year"]), 1, 12)


def _year(match: re.Match[str], today: Date, this: Date, which: str) -> int:
    said = match.groupdict().get("year") or ""
    if said in _YEARS_ZH:
        return today.year + _YEARS_ZH[said]
    if said:
        return int(said.removesuffix("年"))
    if which == "next":
        return this.year + (this <= today)
    running = which == "last" and (this.year, this.month) == (today.year, today.month)
    return this.year - (this > today or running)


_YEARS_ZH = {"去年": -1, "前年": -2, "今年": 0, "本年": 0, "明年": 1}


def _month_number(text: str) -> int:
    low = text.lower()
    return (
        int(low)
        if low.isdigit()
        else next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(low[:3]))
    )


def _year_zh(match: re.Match[str], today: Date) -> Days:
    return _months(today.year + _YEARS_ZH[match["relative"]], 1, 12)


Rule = Callable[[re.Match[str], Date], Days]


def _rules() -> list[tuple[tuple[str, ...], re.Pattern[str], Rule]]:
    """Pattern and reading, the longer ones first: what one has taken, no later one sees."""
    year = rf"(?:,? (?:of )?(?P<year>{_YEAR}))?"
    chinese = rf"(?:(?P<year>{_YEAR}年|去年|前年|今年|明年)的?)"
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    rules: list[tuple[str, Rule]] = [
        (rf"(?<!\d)(?P<year>{_YEAR})[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>0?[1-9]|[12]\d|3[01])(?!\d)", _date),
        (rf"(?<!\d)(?P<year>{_YEAR})[-/](?P<month>0[1-9]|1[0-2])(?![\d-])", _month),
        (rf"{chinese}?(?P<month>1[0-2]|[1-9])月(?P<day>\d{{1,2}})[日号]", _date),
        (rf"{chinese}(?:第)?(?P<quarter>[1-4])季度?", _quarter),
        (rf"{chinese}\s*Q(?P<quarter>[1-4])(?!\d)", _quarter),
        (r"第(?P<quarter>[1-4])季度?", _quarter),
        (rf"{chinese}?(?<!\d)(?P<month>1[0-2]|0?[1-9])月份?(?!\d)", _month),
        (r"(?P<which>上上|上|这|本|当|下)个?(?:周|星期|礼拜)(?P<name>[一二三四五六日天])(?![天日周])", _weekday),
        (r"(?P<which>)(?<![上下这本个每])(?:周|星期|礼拜)(?P<name>[一二三四五六日])", _weekday),
        (r"(?P<which>上上|上|这|本|下)个?(?P<unit>周末|周|星期|礼拜|季度|月)(?![一二三四五六日天])", _relative),
        (r"(?P<n>\d{1,3})个?(?P<unit>天|日|周|星期|礼拜|月|季度|年)(?:以?前|之前)", _ago),
        (r"(?:最近|过去|近)的?(?P<n>\d{1,3})个?(?P<unit>天|日|周|星期|礼拜|月|季度|年)", _running),
        (r"(?P<day>大前天|前天|昨天|昨日|昨晚|今天|今日|今早|今晚|明天|后天)", _named_day),
        (rf"(?<!\d)(?P<year>{_YEAR})年", _whole_year),
        (r"(?P<relative>去年|前年|今年|明年)", _year_zh),
        (r"\b(?P<day>the day before yesterday|yesterday|last night|today|tonight|tomorrow)\b", _named_day),
        (r"\b(?P<day>this (?:morning|afternoon|evening))\b", _named_day),
        (rf"\b(?P<n>{_NUMBER}) (?P<unit>days?|weeks?|weekends?|months?|quarters?|years?) (?:ago|earlier|back)\b", _ago),
        (
            rf"\b(?:in |over |during |within )?(?:the )?(?:last|past|previous) (?P<n>{_NUMBER}) "
            r"(?P<unit>days?|weeks?|months?|quarters?|years?)\b",
            _running,
        ),
        (rf"\b{day} (?:of )?(?P<month>{_MONTH})\b\.?{year}", _date),
        (rf"\b(?P<month>{_MONTH})\b\.? (?:the )?{day}(?![\d:]){year}", _date),
        (rf"\b(?P<which>last|this|next) (?P<month>{_MONTH})\b", _month),
        (rf"\b(?P<month>{_MONTH})\b\.?,? (?:of )?(?P<year>{_YEAR})\b", _month),
        (rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bduring )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )|(?<=\buntil ))"
         rf"(?:early |late |mid-)?(?P<month>{_MONTH})\b(?! \d)", _month),
        (rf"\b(?P<month>{'|'.join(name for name in _MONTHS if name not in ('may', 'march'))})\b", _month),
        (rf"\b(?P<which>last |this )?Q(?P<quarter>[1-4])\b(?: (?:of )?(?P<year>{_YEAR}))?", _quarter),
        (rf"\b(?P<year>{_YEAR}) ?Q(?P<quarter>[1-4])\b", _quarter),
        (rf"\b(?P<quarter>{'|'.join(_ORDER)}) quarter(?: (?:of )?(?P<year>{_YEAR}))?\b", _quarter),
        (rf"\b(?P<which>last|past|previous|this|next) (?P<name>{_WEEKDAY})\b", _weekday),
        (rf"\b(?P<which>)(?:on )?(?P<name>{_WEEKDAY})(?!s)\b", _weekday),
        (r"\b(?P<which>last|past|previous|this|current|next) (?P<unit>weekend|week|month|quarter|year)\b", _relative),
        (rf"(?:(?<=\bin )|(?<=\bof )|(?<=\bduring )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )|(?<=\byear ))"
         rf"(?P<year>{_YEAR})\b", _whole_year),
    ]  # fmt: skip
    return [(_hints(pattern), re.compile(pattern, re.IGNORECASE | re.ASCII), rule) for pattern, rule in rules]


def _hints(pattern: str) -> tuple[str, ...]:
    """What a text holds (in lower case) that the pattern may match: nothing else is searched."""
    if re.search("[月周年天季]", pattern):
        return ("年", "月", "周", "季", "天", "日", "星期", "礼拜", "晚", "早")
    for names, hints in (
        (_MONTH, tuple(name[:3] for name in _MONTHS)),
        (
            "|".join(name for name in _MONTHS if name not in ("may", "march")),
            tuple(name[:3] for name in _MONTHS),
        ),
        (_WEEKDAY, ("day",)),
        ("ago", ("ago", "earlier", "back")),
        (") quarter", ("quarter",)),
        ("Q(", ("q",)),
        ("yesterday", ("day", "night", "tomorrow")),
        ("morning", ("this",)),
        ("last|past", ("last", "past", "previous", "this", "current", "next")),
    ):
        if names in pattern:
            return hints
    return ("19", "20")


_RULES = _rules()
_HINT = re.compile(
    rf"{_YEAR}|\d[日号月季天周年]|[月周年季期拜]|[前昨今明后][天日晚早]|\bq[1-4]\b|quarter|today|tonight|yesterday|tomorrow"
    rf"|\b(?:last|past|previous|this|next|current) |\b(?:ago|earlier|back)\b|\b(?:{_MONTH}|{_WEEKDAY})\b",
    re.IGNORECASE | re.ASCII,
)
