# ruff: noqa: E501
"""Numeric comparisons in a goal: "over 60 minutes", "at least 100", "超过15分钟", "60分钟以上"."""

from __future__ import annotations

import dataclasses
import re

from .text import TAKEN, Text, english

_NUM = r"(?P<cur>[$€£¥])?\s?(?P<num>-?\d[\d,]*(?:\.\d+)?)\s?(?P<mult>%|(?:k|m|million|thousand)(?![a-z])|万|千|亿)?"
_UNIT = (
    r"(?:[\s-]?(?:minutes?|mins?|hours?|seconds?|secs?|days|miles?|km|kilomet(?:er|re)s?|kg|grams?|dollars?|usd|euros?|eur|yuan|rmb|"
    r"degrees?|°c?|celsius|years old|percent|units?|pieces|分钟|小时|秒|天|元|块钱?|公里|英里|度|岁|件|米)(?![a-z]))?"
)
_OPS = [
    (
        ">=",
        r"at least|no less than|not less than|minimum of|>=|≥",
        r"至少|不少于|不低于|大于等于|>=|≥|不小于",
    ),
    (
        "<=",
        r"at most|no more than|not more than|up to|maximum of|<=|≤",
        r"至多|不超过|不多于|不高于|小于等于|<=|≤|不大于",
    ),
    (
        ">",
        r"(?:more|greater|higher|longer|larger|bigger|older|later) than|over|above|exceed(?:s|ed|ing)?|in excess of|beyond|>",
        r"超过|大于|高于|多于|超出|长于|>",
    ),
    ("<", r"(?:less|fewer|lower|shorter|smaller|younger) than|under|below|<", r"低于|小于|少于|不到|短于|<"),
    ("=", r"equals?(?: to)?|exactly|of exactly|==|=", r"等于|恰好|=="),
]
_FACTOR = {"k": 1e3, "thousand": 1e3, "千": 1e3, "万": 1e4, "m": 1e6, "million": 1e6, "亿": 1e8}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """`operator` and `value`, where they stand, and their words."""

    operator: str
    value: float
    start: int
    end: int
    words: str
    unit: str
    high: float | None = None

    def sql(self, expression: str) -> str:
        """The comparison as a predicate over an SQL expression."""
        if self.high is not None:
            return f"{expression} BETWEEN {number(self.value)} AND {number(self.high)}"
        return f"{expression} {self.operator} {number(self.value)}"


def number(value: float) -> str:
    """A number in SQL and in words: whole ones without a point."""
    return str(int(value)) if value == int(value) else repr(value)


def parse(text: Text) -> list[Comparison]:
    """All comparisons of the text, marked as understood."""
    found = []
    for match in text.find(english(rf"between {_NUM}{_UNIT} and (?P<num2>-?\d[\d,]*(?:\.\d+)?){_UNIT}")):
        years = [n for n in (match["num"], match["num2"]) if re.fullmatch(r"(?:19|20)\d\d", n)]
        if len(years) < 2:
            found.append(_made(text, match, "between"))
    for match in text.find(
        rf"(?:在|介于)?{_NUM}{_UNIT}(?:到|至|和|与|-|~)(?P<num2>\d[\d,]*(?:\.\d+)?){_UNIT}之间"
    ):
        found.append(_made(text, match, "between"))
    for operator, en, zh in _OPS:
        pattern = rf"(?:(?<![a-z])(?:{en})|{zh})\s*{_NUM}{_UNIT}(?![\d-])"
        for match in text.find(pattern):
            found.append(_made(text, match, operator))
    for match in text.find(
        _NUM + r"\s?(?:分钟|小时|秒|天|元|公里|度|岁|件|个|笔|条|次|架|班)?\s?(?P<side>及?以上|及?以下|以内)"
    ):
        found.append(_made(text, match, ">=" if "上" in match["side"] else "<="))
    for match in text.find(
        english(rf"{_NUM}{_UNIT} or (?P<side>more|longer|higher|less|fewer|lower|above|below)")
    ):
        found.append(
            _made(text, match, ">=" if match["side"] in ("more", "longer", "higher", "above") else "<=")
        )
    for match in text.find(english("(?P<sign>negative|positive)")):
        text.mark(*match.span())
        found.append(
            Comparison("<" if match["sign"] == "negative" else ">", 0.0, *match.span(), match.group(), "")
        )
    return sorted(found, key=lambda c: c.start)


def _made(text: Text, match: re.Match[str], operator: str) -> Comparison:
    got = match.groupdict()
    factor = _FACTOR.get(got.get("mult") or "", 1.0)
    value = float(got["num"].replace(",", "")) * factor
    high = float(got["num2"].replace(",", "")) if got.get("num2") else None
    start, end = match.span()
    while end > start and text.low[end - 1] in " " + TAKEN:
        end -= 1
    text.mark(start, end)
    unit = re.sub(r".*[\d.,]", "", match.group()).strip()
    return Comparison(operator, value, start, end, text.original[start:end], unit, high)
