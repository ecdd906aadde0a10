"""Numbers as digits, however they are written: "fourteen", "15k", "1.5 million", "三十", "1.5万"."""

from __future__ import annotations

import re

from ..figures import DIGITS, TEENS, TENS

_SMALL = {word: n for n, word in enumerate(["zero", *DIGITS, *TEENS])}
_TENS = {word: 10 * n for n, word in enumerate(TENS, 2)}
WORDS = {word: str(n) for word, n in (_SMALL | _TENS).items()}
"""The digits of a number that is one English word."""
_LARGE = {
    "hundred": 100,
    "thousand": 1_000,
    "k": 1_000,
    "million": 10**6,
    "m": 10**6,
    "billion": 10**9,
    "b": 10**9,
}
_ENGLISH = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[- ]({'|'.join(list(_SMALL)[1:10])}))?|({'|'.join(_SMALL)}))\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_COMPOUND = re.compile(r"ty[- ]|hundred|thousand|illion", re.IGNORECASE)
_SCALED = re.compile(
    r"(?<![\w.,])(\d+(?:,\d{3})*(?:\.\d+)?)(?:[ -]?(hundred|thousand|million|billion)|([KkMB]))(?![\w])",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")

_DIGITS = {char: n for n, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "〡": 1}
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_BIG = {"万": 10**4, "亿": 10**8}
_COUNTED = (
    "天日号月年周元块美人位次件台条名岁度倍折分秒时小点个"  # what stands after a numeral, so that it is one
)
# A numeral is one by itself where it has two signs, one of them a power of ten; a single one only before what it
# counts. 周三, 星期三 and 三明治 are no numbers.
_CHINESE = re.compile(
    r"(?<![周期拜])(?:百分之)?(?=[零〇一二三四五六七八九十百千万亿两]{2,}|[一二三四五六七八九十两]["
    + _COUNTED
    + "季])"
    r"[零〇一二三四五六七八九十百千万亿两]+"
)
_MIXED = re.compile(r"(\d+(?:\.\d+)?)([百千万亿]+)")


def as_digits(text: str) -> str:
    """`text` with its numbers as plain digits; everything else stays as it is."""
    if _COMPOUND.search(text):  # one word alone is a number by WORDS, without a search
        text = _ENGLISH.sub(_english, text)
    if _DIGIT.search(text):
        text = _SCALED.sub(_scaled, text)
        text = _GROUPED.sub(lambda found: found.group().replace(",", ""), text)
    if not text.isascii():
        text = _CHINESE.sub(_chinese, text)
        text = _MIXED.sub(_mixed, text)
    return text


def _english(found: re.Match[str]) -> str:
    tens, ones, small = (part.lower() if part else "" for part in found.groups())
    return str(_TENS[tens] + _SMALL.get(ones, 0) if tens else _SMALL[small])


def _scaled(found: re.Match[str]) -> str:
    number, word, letter = found.groups()
    return _plain(float(number.replace(",", "")) * _LARGE[(word or letter).lower()])


def _mixed(found: re.Match[str]) -> str:
    times = 1
    for sign in found[2]:
        times *= (_UNITS | _BIG)[sign]
    return _plain(float(found[1]) * times)


def _chinese(found: re.Match[str]) -> str:
    signs = found.group().removeprefix("百分之")
    if not any(sign in _UNITS or sign in _BIG for sign in signs):
        digits = "".join(str(_DIGITS[sign]) for sign in signs)  # 二〇二四
        return digits if len(digits) != 2 else found.group()  # 三四 (three or four) is no number
    value = whole = digit = 0
    for sign in signs:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif sign in _UNITS:
            whole += (digit or 1) * _UNITS[sign]
            digit = 0
        else:
            value = (value + whole + digit or 1) * _BIG[sign]
            whole = digit = 0
    return str(value + whole + digit)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
