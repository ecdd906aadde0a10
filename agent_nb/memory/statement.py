"""What a sentence says of what: subject, attribute and value by rules, and whether two values contradict."""

from __future__ import annotations

import dataclasses
import re

from .text import normal, tokens


@dataclasses.dataclass(frozen=True)
class Statement:
    """`subject` and `attribute` name what is said, `value` what is said of it; all "" where rules cannot tell."""

    subject: str = ""
    attribute: str = ""
    value: str = ""

    def key(self) -> tuple[tuple[str, ...], str]:
        """What two statements about the same thing share."""
        # "The window is 14 days" and "window = 30 days" speak of one thing.
        attribute = "is" if self.attribute == "means" else self.attribute
        return tuple(sorted(set(tokens(self.subject)))), attribute


_ARTICLE = r"(?:an?|the|our|every|each)?\s*"
_WHEN = r"(?:when|if|once|as soon as|whenever)"
_NOT = re.compile(
    r"\b(?:not|never|no|don't|doesn't|isn't|aren't|won't|dislikes?|hates?)\b|不|别|勿|无需|没有", re.I
)
_RULES: list[tuple[re.Pattern[str], str]] = [
    # "a flight is late when its departure delay is over 15 minutes": the term is "late flight"
    (
        re.compile(
            rf"^{_ARTICLE}(?P<s>[\w -]{{1,60}}?) (?:is|are|counts? as|is called|is considered) "
            rf"(?:an? |the |as )?(?P<s2>[\w-]+(?: [\w-]+)?) {_WHEN} (?P<v>.+)$",
            re.I,
        ),
        "means",
    ),
    (re.compile(r"^my favou?rite (?P<s>[\w -]{1,40}) (?:is|are) (?P<v>.+)$", re.I), "favourite"),
    (
        re.compile(
            r"^(?:i|the user) (?:do not |don't |does not |doesn't )?"
            r"(?:like|love|hate|dislike|want|eat|drink)s? (?P<s>.+)$",
            re.I,
        ),
        "likes",
    ),
    (re.compile(r"^(?:我|用户)(?:很|非常|最)?(?:不)?(?:喜欢|爱|讨厌|想要|喝|吃)(?P<s>.+)$"), "likes"),
    (
        re.compile(
            r"^(?:i|the user) (?P<s>live|lives|work|works|am|was born) (?:in|at|for|on) (?P<v>.+)$", re.I
        ),
        "is",
    ),
    (re.compile(r"^我(?P<s>住在|在|的名字叫|叫)(?P<v>[^，。]{1,20})$"), "is"),
    (
        re.compile(
            rf"^(?:by |the term |the word )?{_ARTICLE}[\"“'‘]?(?P<s>[\w%/ -]{{1,60}}?)[\"”'’]? "
            r"(?:means?|refers? to|is defined as|are defined as|stands for|counts? as|equals?) (?P<v>.+)$",
            re.I,
        ),
        "means",
    ),
    (re.compile(r"^(?P<s>[^=＝:：]{1,60}?)\s*(?:=|＝)\s*(?P<v>.+)$"), "means"),
    (
        re.compile(
            rf"^{_ARTICLE}(?P<s>[\w%/ -]{{1,60}}?) (?:is|are|should be|must be|was|were) (?:now |not )?(?P<v>.+)$",
            re.I,
        ),
        "is",
    ),
    (
        re.compile(r"^(?P<s>[^，。,:：]{1,30}?)(?:定义为|指的是|是指|等于|表示|即为|指|算作)(?P<v>.+)$"),
        "means",
    ),
    (re.compile(r"^(?P<v>[^，。]{2,40}?)(?:才?算作?|视为|叫做)(?P<s>[^，。]{1,20})$"), "means"),
    (re.compile(r"^(?P<s>[^，。,:：]{1,30}?)(?:应为|改为|不?是|为)(?P<v>.+)$"), "is"),
]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"^(?:[A-Z][\w.&-]*(?: [A-Z][\w.&-]*){0,3}|[\u4e00-\u9fff]{1,6}|[\w-]+)$")


def read(text: str) -> Statement:
    """The statement of a single sentence; empty where no rule fits."""
    sentence = " ".join(text.split()).rstrip(".。!！")
    if len(sentence) > 400:
        return Statement()
    for pattern, attribute in _RULES:
        found = pattern.match(sentence)
        if found:
            parts = found.groupdict()
            subject = " ".join(part for part in (parts.get("s2"), parts.get("s")) if part).strip()
            value = (parts.get("v") or "").strip()
            if attribute == "likes":
                return Statement(
                    subject, "likes", "no" if _NOT.search(sentence) or "讨厌" in sentence else "yes"
                )
            if _NOT.search(sentence[: found.start("v")]) or re.search(r"\b(?:is|are) not\b|不是", sentence):
                value = f"not {value}"
            return Statement(subject, attribute, value)
    return Statement()


def contradict(old: Statement, new: Statement) -> bool:
    """Whether two statements about the same thing cannot both hold.

    The same subject and attribute with another number, another name, another definition, or a negation. Two
    descriptions ("the manager is nice", "the manager is Ana") do not contradict.
    """
    if not new.subject or old.key() != new.key() or normal(old.value) == normal(new.value):
        return False
    if new.attribute == old.attribute and new.attribute in ("means", "likes", "favourite"):
        return True
    if bool(_NOT.match(old.value)) != bool(_NOT.match(new.value)):
        return set(tokens(old.value)) - {"not"} == set(tokens(new.value)) - {"not"}
    old_numbers, new_numbers = _NUMBER.findall(old.value), _NUMBER.findall(new.value)
    if old_numbers and new_numbers:
        frame = [" ".join(_NUMBER.sub("#", s.value).split()) for s in (old, new)]
        return old_numbers != new_numbers and (frame[0] == frame[1] or len(tokens(new.value)) <= 4)
    return (
        bool(_NAME.match(old.value) and _NAME.match(new.value))
        and old.value[0].isupper() == new.value[0].isupper()
    )
