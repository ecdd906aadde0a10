"""Numbers as people write them, in English and Chinese → what they amount to, and how far they are rounded.

1,234.5 · 1'234 · 1.234,50 · 3.2万 · 1.5亿 · $1.2m · 3 thousand · 25 % · 5 pp · 三百二十 · 百分之二十五 · 两成 ·
three hundred · 2013-06-01 · 2013年6月1日 · June 1, 2013.
Names that hold digits (B6, 9E, A-1001), code and list marks are no numbers.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A number in a text.

    Args:
        text: as written, without its currency. span: (start, end) in characters.
        value: what it amounts to with its unit (40 % is 0.4), None for a date, a time, or what no float holds.
        low, high: between which unsigned values it may be a rounding of (both included).
        factor: of its unit: 0.01 for a per cent, 1e4 for 万.
        measure: the unit of time, length or weight that follows ("hours"), or "".
    """

    text: str
    span: tuple[int, int]
    value: float | None
    low: float = 0.0
    high: float = 0.0
    factor: float = 1.0
    measure: str = ""

    @property
    def small(self) -> bool:
        """A plain count up to twelve: it follows from too much by chance, and must match exactly."""
        return self.value is not None and self.low == self.high and abs(self.value) <= SMALL


SMALL = 12
LONGEST = 30
"""Characters of a number in Chinese words: what is longer is a row of numerals that nobody reads as one number."""
_SHARES = {
    "%": 0.01,
    "％": 0.01,
    "‰": 0.001,
    "个百分点": 0.01,
    "百分点": 0.01,
    "percent": 0.01,
    "per cent": 0.01,
    "pp": 0.01,
}
_SHARES |= {"percentage point": 0.01, "percentage points": 0.01, "bp": 1e-4, "bps": 1e-4}
_SIZES = {
    "百": 1e2,
    "千": 1e3,
    "万": 1e4,
    "十万": 1e5,
    "百万": 1e6,
    "千万": 1e7,
    "亿": 1e8,
    "百亿": 1e10,
    "万亿": 1e12,
}
_SIZES |= {"k": 1e3, "M": 1e6, "mn": 1e6, "bn": 1e9, "tn": 1e12}
_SIZES |= {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_MONEY = {"m": 1e6, "b": 1e9, "B": 1e9, "t": 1e12}  # only after a currency: 5 m may be metres
_FACTORS = _SHARES | _SIZES | _MONEY
_MEASURE = "|".join(
    [
        r"hours?|hrs?|h|minutes?|mins?|seconds?|secs?|s|days?|weeks?|km|kg|m|g|t",
        "小时|分钟|秒|天|周|公里|米|公斤|克|吨",
    ]
)

_DATE = re.compile(
    r"(?<![\w.-])\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?![\w-])"
    r"|(?<![\w:])\d{1,2}:\d{2}(?![\w:])"
)
_MONTHS = (
    "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? "
    "aug(?:ust)? sept?(?:ember)? oct(?:ober)? nov(?:ember)? dec(?:ember)?"
).split()
_MONTH = "|".join(_MONTHS)
_DATE_IN_WORDS = re.compile(
    r"(?<!\d)(?P<y1>\d{4})\s?年\s?(?P<m1>\d{1,2})\s?月(?:\s?(?P<d1>\d{1,2})\s?[日号])?"
    r"|(?<!\d)(?P<m2>\d{1,2})\s?月\s?(?P<d2>\d{1,2})\s?[日号]"
    r"|(?<![\d./])(?P<y3>\d{4})/(?P<m3>\d{1,2})/(?P<d3>\d{1,2})(?![\d/]|\.\d)"
    rf"|(?<![\w.,])(?P<d4>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m4>{_MONTH})\b\.?(?:,? (?P<y4>\d{{4}})(?!\w))?"
    rf"|\b(?P<m5>{_MONTH})\.? (?P<d5>\d{{1,2}})(?:st|nd|rd|th)?(?![.,]\d|\w)(?:,? (?P<y5>\d{{4}})(?!\w))?",
    re.I,
)
# "15min" is the number 15, but "9E" and "B6" are names: letters may follow only where they are a unit.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<sign>[-+−–]?)(?P<money>(?:US|HK)?[$]|[€£¥￥]|(?:RMB|CNY|USD|EUR|GBP) ?)?"
    r"(?:(?P<euro>\d{1,3}(?:\.\d{3})+,\d+|\d+,\d{1,2}(?=\s?[%€]))"
    r"|(?P<digits>\d{1,3}(?:[,，'’\u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)(?P<fraction>\.\d+)?)"
    r"(?P<exponent>[eE][-+]?\d+)?"
    r"(?P<unit>\s?(?:%|％|‰|个?百分点|(?:percentage points?|percent|per cent|pp|bps?)(?![A-Za-z])"
    r"|(?:万亿|百亿|千万|百万|十万|亿|万|千(?![克米瓦卡])|百(?!分))"
    r"|(?:hundred|thousand|million|billion|trillion|mn|bn|tn)(?![A-Za-z]))|(?(money)[kKMmBbt]|[kKM])(?![A-Za-z]))?"
    rf"(?:(?![A-Za-z0-9_])|(?=(?:{_MEASURE}|ms|mi|pts?|pp|x|USD|EUR)(?![A-Za-z])))"
)
_NEXT = re.compile(rf"\s?(?P<measure>{_MEASURE})(?![A-Za-z])")
_NAME = re.compile(r"(?<!\w)[A-Za-z]\w*(?:-\w+)+")  # claude-sonnet-5-5, A-1001
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_LIST_NUMBER = re.compile(r"^[ \t]*\d+[.)](?=\s)", re.MULTILINE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|some)|[~≈]|约|大约|左右)\s*$", re.I
)
_OVER = re.compile(r"(?:\b(?:over|more than|above|at least|well past)|超过|逾|超|高于)\s*$", re.I)
_UNDER = re.compile(
    r"(?:\b(?:nearly|almost|close to|just under|under|less than|below)|近|将近|接近|不到|低于)\s*$", re.I
)

_ZH = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_ZH_NUMBER = re.compile(
    r"百分之(?P<share>[零〇一二两三四五六七八九十百]+(?:点[零〇一二三四五六七八九]+)?)"
    r"|(?P<tenths>[一二两三四五六七八九])成(?P<half>半?)(?![不为熟本功员果立长交年就品分绩语])"
    r"|(?P<whole>[一二两三四五六七八九十][零〇一二两三四五六七八九十百千万亿]+)(?:点(?P<after>[零〇一二三四五六七八九]+))?"
)
DIGITS = "one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
"""English number words, for whoever reads numbers."""
_EN = {word: n for n, word in enumerate(DIGITS + TEENS, 1)} | {word: 10 * n for n, word in enumerate(TENS, 2)}
_EN_UNITS = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_END = r"(?![A-Za-z0-9_])"  # no \b: a Chinese character is a letter, too
_UNDER_100 = rf"(?:(?:{'|'.join(TENS)})(?:[ -](?:{'|'.join(DIGITS)}))?|{'|'.join(TEENS + DIGITS)}){_END}"
_UNDER_1000 = rf"{_UNDER_100}(?: hundred{_END}(?: and)?(?: {_UNDER_100})?)?"
_MORE = rf"(?: (?:{'|'.join(_EN_UNITS)}){_END}(?:(?: and)? {_UNDER_1000})?)*"
_EN_NUMBER = re.compile(rf"(?<![A-Za-z0-9_]){_UNDER_1000}{_MORE}", re.I)


def figures(text: str) -> Iterator[Figure]:
    """The numbers of a text meant for people, in order: not those in code, names and list marks."""
    blank = text
    for pattern in (_CODE, _LIST_NUMBER):
        blank = pattern.sub(_hidden, blank)
    found = [Figure(text[slice(*m.span())], m.span(), None) for m in _DATE_IN_WORDS.finditer(blank)]
    blank = _DATE_IN_WORDS.sub(_hidden, blank)
    blank = _NAME.sub(lambda m: _hidden(m) if re.search(r"\d", m.group()) else m.group(), blank)
    found += [Figure(text[slice(*m.span())], m.span(), None) for m in _DATE.finditer(blank)]
    blank = _DATE.sub(_hidden, blank)
    found += [_written(m, blank) for m in _NUMBER.finditer(blank)]
    blank = _NUMBER.sub(_hidden, blank)
    found += [figure for figure in _spelled(blank) if abs(figure.value or 0) > SMALL or figure.factor < 1]
    yield from sorted(found, key=lambda figure: figure.span)


def dated(text: str) -> str:
    """The text with the dates that it writes in words as 2024-03-15, 2024-03, or -03-15 where no year is told."""
    return _DATE_IN_WORDS.sub(_iso, text)


def _iso(m: re.Match[str]) -> str:
    told = {name[0]: value for name, value in m.groupdict().items() if value}
    month, day = told["m"].lower(), told.get("d", "")
    number = (
        int(month)
        if month.isdecimal()
        else 1 + next(n for n, name in enumerate(_MONTHS) if re.fullmatch(name, month))
    )
    return f"{told.get('y', '')}-{number:02}" + (f"-{int(day):02}" if day else "")


def values(text: str) -> Iterator[float]:
    """Every value in a text of a tool, with years of dates."""
    for m in _DATE.finditer(text):
        if "-" in m.group():
            yield float(m.group()[:4])
    spaced = _DATE.sub(" ", text)
    for m in _NUMBER.finditer(spaced):
        value = _written(m, "").value
        if value is not None:
            yield value
    if not spaced.isascii():
        for figure in _spelled_in_chinese(spaced):
            assert figure.value is not None
            yield figure.value


def _hidden(m: re.Match[str]) -> str:
    return " " * len(m.group())


def _plain(m: re.Match[str]) -> tuple[float, str, str]:
    """(unsigned value without its unit, whole digits, digits after the point)."""
    if m["euro"]:
        whole, _, after = m["euro"].replace(".", "").partition(",")
    else:
        whole = re.sub(r"\D", "", m["digits"])
        after = (m["fraction"] or ".")[1:]
    return float(f"{whole}.{after or 0}" + (m["exponent"] or "")), whole, after


def _written(m: re.Match[str], around: str) -> Figure:
    size, whole, after = _plain(m)
    unit = (m["unit"] or "").strip()
    factor = _FACTORS.get(unit) or _FACTORS.get(unit.lower(), 1.0)
    follows = _NEXT.match(around, m.end()) if factor == 1.0 else None
    span = (m.end("money") if m["money"] else m.start(), m.end())
    value = (-size if m["sign"] in ("-", "−", "–") else size) * factor
    if not math.isfinite(value):
        return Figure(m.string[slice(*span)], span, None)
    exact = factor == 1.0 and not after and size <= SMALL
    error = 0.0 if exact else 0.5 * 10.0 ** -len(after) * factor
    low, high = abs(value) - error, abs(value) + error
    if around and not after:
        low, high = _loose(around[max(0, m.start() - 16) : m.start()], whole, abs(value), factor, low, high)
    return Figure(
        m.string[slice(*span)], span, value, low, high, factor, follows["measure"] if follows else ""
    )


def _loose(
    before: str, whole: str, size: float, factor: float, low: float, high: float
) -> tuple[float, float]:
    """What "about 1,200" may stand for: its zeros are no digits. One digit alone stays what it says."""
    zeros = len(whole) - len(whole.rstrip("0"))
    if not zeros or len(whole) - zeros < 2:
        return low, high
    step = 10.0**zeros * factor
    if _ABOUT.search(before):
        return size - step / 2, size + step / 2
    if _OVER.search(before):
        return low, size + step
    if _UNDER.search(before):
        return size - step, high
    return low, high


def _spelled(text: str) -> Iterator[Figure]:
    if not text.isascii():
        yield from _spelled_in_chinese(text)
    for m in _EN_NUMBER.finditer(text):
        written = m.group().removesuffix(" and")
        value = float(_english(written))
        yield Figure(written, (m.start(), m.start() + len(written)), value, value, value)


def _spelled_in_chinese(text: str) -> Iterator[Figure]:
    for m in _ZH_NUMBER.finditer(text):
        if len(m.group()) > LONGEST:
            continue
        factor = 1.0
        if m["share"]:
            whole, _, after = m["share"].partition("点")
            value, factor = (_chinese(whole) + _after_point(after)) * 0.01, 0.01
            error = 0.5 * 10.0 ** -len(after) * factor
        elif m["tenths"]:
            value, factor = (_ZH[m["tenths"]] + (0.5 if m["half"] else 0.0)) / 10, 0.1
            error = 0.025 if m["half"] else 0.05
        else:
            value, error = _chinese(m["whole"]) + _after_point(m["after"] or ""), 0.0
            if not any(c in _ZH_UNITS for c in m["whole"]):
                continue  # digits read one by one: a year, a telephone number
            if (largest := max(_ZH_UNITS.get(c, 1) for c in m["whole"])) >= 10_000 and not m["after"]:
                error = 0.0 if m["whole"][-1] not in _ZH_UNITS else largest / 2
        yield Figure(m.group(), m.span(), value, value - error, value + error, factor)


def _after_point(digits: str) -> float:
    return float("0." + "".join(str(_ZH[c]) for c in digits)) if digits else 0.0


def _chinese(text: str) -> float:
    """三百二十 → 320, 一万五 → 15000."""
    total, section, digit, last = 0, 0, 0, 1
    for c in text:
        if c in _ZH:
            digit = _ZH[c]
            last = 1 if c in "零〇" else last
        elif (unit := _ZH_UNITS[c]) >= 10_000:
            total = (total + section + digit) * unit
            section, digit, last = 0, 0, unit
        else:
            section += (digit or 1) * unit
            digit, last = 0, unit
    return float(total + section + digit * (last // 10 if last > 10 else 1))


def _english(text: str) -> int:
    """three hundred and twenty → 320."""
    total, section = 0, 0
    for word in re.split(r"[\s-]+", text.lower()):
        if word in _EN:
            section += _EN[word]
        elif word == "hundred":
            section = max(section, 1) * 100
        elif word in _EN_UNITS:
            total += max(section, 1) * _EN_UNITS[word]
            section = 0
    return total + section
