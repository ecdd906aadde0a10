"""Amounts and dates in a sentence, made comparable: two weeks are 14 days, 2026-05-03 is 3 May 2026, 八个 is 8."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator


@dataclasses.dataclass(frozen=True)
class Quantity:
    """`kind`: time, money, share, bytes, mass, length, moment or count; `amount` in one unit of its kind.

    `amount` is a text for a moment ("2026-05-03", "--05-03", "month 4", "weekday 1", "clock 480") and for money
    ("eur 9"), else a number (seconds, 0…1, bytes, grams, metres, how many). `span` is (start, end) in the sentence.
    """

    kind: str
    amount: float | str
    span: tuple[int, int]


_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_UNITS: dict[str, tuple[str, float]] = {}
for _kind, _table in {
    "time": "second|sec|s|秒 1;minute|min|分钟 60;hour|hr|h|小时|个小时 3600;day|天|日 86400;"
    "week|周|个星期|星期 604800;"
    "month|个月 2629800;year|年 31557600",
    "bytes": "kb 1e3;mb 1e6;gb 1e9;tb 1e12",
    "mass": "g|gram|克 1;kg|kilo|kilogram|公斤|千克 1000;pound|lb 453.592;斤 500;ton|tonne|吨 1e6",
    "length": "mm|毫米 .001;cm|厘米 .01;m|metre|meter|米 1;km|kilometre|kilometer|公里|千米 1000;mile|英里 1609.34",
}.items():
    for _row in _table.split(";"):
        _names, _, _factor = _row.rpartition(" ")
        _UNITS |= {name: (_kind, float(_factor)) for name in _names.split("|")}
_MONEY = {
    "$": "usd",
    "us dollar": "usd",
    "dollar": "usd",
    "usd": "usd",
    "€": "eur",
    "euro": "eur",
    "eur": "eur",
}
_MONEY |= {"元": "cny", "块": "cny", "¥": "cny", "人民币": "cny", "£": "gbp", "欧元": "eur", "美元": "usd"}
_HAN = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "十": 10}
_MONTH = "|".join(f"{m[:3]}(?:{m[3:]})?" for m in _MONTHS)
_NUMBER = r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?"
_COUNTED = r"(?:(?<![A-Za-z\d.])\d+(?:,\d{3})*(?:\.\d+)?|[零一二三四五六七八九十两]{1,3})"
_LATIN_UNITS = "|".join(sorted((u for u in _UNITS if u.isascii()), key=len, reverse=True))
_HAN_UNITS = "|".join(sorted((u for u in _UNITS if not u.isascii()), key=len, reverse=True))
_PATTERNS = [
    ("iso", r"(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})"),
    ("zh_date", r"(?:(?P<y2>\d{4})年)?(?P<m2>\d{1,2})月(?:(?P<d2>\d{1,2})[日号])?|(?P<y3>(?:19|20)\d{2})年"),
    (
        "en_date",
        rf"\b(?:(?P<d4>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<m4>{_MONTH})\b\.?"
        r"(?: (?P<d5>\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:,? (?P<y4>(?:19|20)\d{2}))?",
    ),
    ("weekday", rf"\b(?:next |every )?(?P<wd>{'|'.join(_DAYS)})s?\b|每?下?(?:周|星期|礼拜)(?P<zwd>[一二三四五六日天])"),
    (
        "clock",
        r"\b(?P<h>\d{1,2})(?::(?P<mi>\d\d))? ?(?P<ap>[ap]\.?m\b\.?)|"
        r"\b(?P<h2>\d{1,2}):(?P<mi2>\d\d)\b|(?P<h3>\d{1,2})点",
    ),
    ("ordinal", r"\b(?P<nth>\d{1,2})(?:st|nd|rd|th)\b|(?<=月)(?P<zth>\d{1,2})号"),
    ("share", rf"(?P<pc>{_NUMBER}) ?(?:%|％|percent\b|per cent\b)|百分之(?P<zpc>[零一二三四五六七八九十两\d]+)"),
    (
        "money",
        rf"(?P<cur>[$€£¥])\s?(?P<mo>\d+(?:,\d{{3}})*(?:\.\d+)?)"
        rf"|(?P<mo2>{_COUNTED}) ?(?P<cur2>euros?\b|eur\b|us dollars?\b|dollars?\b|usd\b|欧元|美元|元|块)",
    ),
    ("unit", rf"(?P<n>{_NUMBER}|\b(?:{'|'.join(_WORDS)}))[ -]?(?P<u>{_LATIN_UNITS})s?\b(?!\w)"),
    ("zh_unit", rf"(?P<zn>{_COUNTED})(?P<zu>{_HAN_UNITS})"),
    ("year", r"(?<=\bin )(?P<yr>(?:19|20)\d{2})\b|(?<=\bis )(?P<yr2>(?:19|20)\d{2})$"),
    (
        "count",
        rf"(?P<c>{_NUMBER})(?![\w%-])|"
        rf"\b(?P<cw>{'|'.join(_WORDS[2:])})\b|(?P<zc>{_COUNTED})(?=[个件名位条行台门人份张])",
    ),
    ("zh_count", r"(?<![A-Za-z\d.])(?P<zc2>\d+(?:\.\d+)?)"),
]  # fmt: skip
_ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS), re.IGNORECASE)
_NAMED = re.compile(
    r"(?:\b(?:gate|table|room|version|step|phase|line|floor|tier|level|group|no|number|chapter|team"
    r"|shift)\.? |#|[vVqQ第])$"
    r"|(?i:\bthe word )$"
)


def quantities(sentence: str) -> Iterator[Quantity]:
    """What a sentence counts, measures or dates, in order; a number that names a thing (gate 3, 三号门) is none."""
    for m in _ANY.finditer(sentence):
        if _NAMED.search(sentence[: m.start()]) or re.match(r"号(?!码)|楼|组|区|期", sentence[m.end() :]):
            continue
        kind = str(m.lastgroup if m.lastgroup in _READERS else next(n for n, _ in _PATTERNS if m[n]))
        read = _READERS[kind](m)
        if read:
            yield Quantity(read[0], read[1], m.span())


def _date(m: re.Match[str]) -> tuple[str, str] | None:
    year = m["y1"] or m["y2"] or m["y3"] or m["y4"]
    month = m["m1"] or m["m2"] or (m["m4"] and str(_month(m["m4"])))
    day = m["d1"] or m["d2"] or m["d4"] or m["d5"]
    if m["m4"] and m["m4"].lower() == "may" and not day and not year and m["m4"] != "May":
        return None  # the verb
    if not month:
        return "moment", f"year {year}"
    if not day:
        return "moment", f"month {int(month)}" + (f" {year}" if year else "")
    return "moment", f"{year or '-'}-{int(month):02}-{int(day):02}"


def _month(name: str) -> int:
    return 1 + next(n for n, month in enumerate(_MONTHS) if month.startswith(name.lower()[:3]))


def _clock(m: re.Match[str]) -> tuple[str, str]:
    hour, minute = int(m["h"] or m["h2"] or m["h3"]), int(m["mi"] or m["mi2"] or 0)
    if m["ap"]:
        hour = hour % 12 + (12 if m["ap"].lower().startswith("p") else 0)
    return "moment", f"clock {hour * 60 + minute}"


def _weekday(m: re.Match[str]) -> tuple[str, str]:
    day = _DAYS.index(m["wd"].lower()) if m["wd"] else "一二三四五六日".index(m["zwd"].replace("天", "日"))
    return "moment", f"weekday {day + 1}"


def _money(m: re.Match[str]) -> tuple[str, str]:
    name = (m["cur"] or m["cur2"]).lower()
    return (
        "money",
        f"{_MONEY.get(name) or _MONEY.get(name.rstrip('s'), name)} {_number(m['mo'] or m['mo2']):g}",
    )


def _unit(m: re.Match[str]) -> tuple[str, float]:
    kind, factor = _UNITS[(m["u"] or m["zu"]).lower()]
    return kind, _number(m["n"] or m["zn"]) * factor


def _number(text: str) -> float:
    text = text.replace(",", "").lower()
    if text in _WORDS:
        return float(_WORDS.index(text))
    if text[0].isdigit():
        return float(text)
    tens, ten, ones = text.partition("十")
    if ten:
        return (_HAN.get(tens, 1) if tens else 1) * 10.0 + (_HAN.get(ones, 0) if ones else 0)
    return float("".join(str(_HAN[c]) for c in text))


_READERS: dict[str, Callable[[re.Match[str]], tuple[str, float | str] | None]] = {
    "iso": _date,
    "zh_date": _date,
    "en_date": _date,
    "weekday": _weekday,
    "clock": _clock,
    "ordinal": lambda m: ("moment", f"day {int(m['nth'] or m['zth'])}"),
    "share": lambda m: ("share", _number(m["pc"] or m["zpc"]) / 100),
    "money": _money,
    "unit": _unit,
    "zh_unit": _unit,
    "year": lambda m: ("moment", f"year {m['yr'] or m['yr2']}"),
    "count": lambda m: ("count", _number(m["c"] or m["cw"] or m["zc"])),
    "zh_count": lambda m: ("count", _number(m["zc2"])),
}
