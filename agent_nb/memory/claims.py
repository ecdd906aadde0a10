"""What two sentences say of the same thing, in whatever words: the same, a contradiction, or both may hold.

A claim has a topic (what it is about, without its value) and a value. Claims of one topic are compared; the topic is
one line of text, so that a store finds them by an index. What rules cannot read has no claim.
"""

from __future__ import annotations

import dataclasses
import re

from . import claims_en, claims_zh, relations
from .quantity import Quantity, quantities
from .record import MemoryRecord


@dataclasses.dataclass(frozen=True)
class Claim:
    """`topic` as one line, `value` comparable as it stands ("" where only `holds` counts), `holds` False if denied."""

    topic: str
    value: str = ""
    holds: bool = True


SAME, CONFLICT, BOTH = "same", "conflict", "both"
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_ONE = {"lives_in": "lives", "works_at": "works", "named": "named", "born_in": "born", "reports_to": "boss"}
_ONE |= {"located_in": "located", "married_to": "married"}
_FEELS = {"likes": True, "dislikes": False, "avoids": False}
_BOSS = {"boss", "manager", "supervisor", "上司", "老板", "领导"}
_HEADS = {"manager", "head", "leader", "lead", "chief", "负责人", "组长", "主管", "经理", "领导"}


def read(text: str) -> Claim | None:
    """The claim of a single sentence; None where no rule fits."""
    sentence = " ".join(text.split()).rstrip(".。!！;； ")
    if not sentence or len(sentence) > 200 or re.search(r"[?？]$|吗$", sentence):
        return None
    language = claims_zh if _CHINESE.search(sentence) else claims_en
    sentence = language.plain(sentence)
    if special := language.special(sentence):
        about, value, true = special
        return Claim(about, value, true)
    positive, holds = language.denied(sentence)
    for said, true in ((sentence, True),) if holds else ((sentence, True), (positive, False)):
        found = relations.triples(said)
        if found and (claim := _of_triple(found[0], true, language)):
            return claim
    positive, holds = language.opposite(positive, holds)
    measured = list(quantities(positive))
    if measured:
        return _measured(positive, measured[-1], holds, language)
    if named := language.named(positive):
        about, value = named
        return Claim(about, value, holds)
    words = language.words(positive)
    return Claim("holds " + " ".join(words), "", holds) if len(words) > 1 else None


def topic(record: MemoryRecord) -> str:
    """What a record is about, "" where rules cannot tell; an episode claims nothing."""
    claim = None if record.type == "episode" else read(record.text)
    return claim.topic.encode("utf-8", "replace").decode() if claim else ""


def compare(old: str, new: str) -> str:
    """SAME, CONFLICT or BOTH of two sentences."""
    one, other = read(old), read(new)
    if one is None or other is None or one.topic != other.topic:
        return BOTH
    if one.value == other.value:
        return SAME if one.holds == other.holds else CONFLICT
    return CONFLICT if one.holds and other.holds else BOTH


_LIMITED = re.compile(
    r"\b(?:for|unless|except|during|if|outside)\b(?!.*\d)|(?:对于|针对|除了|期间|的话|如果|仅限)",
    re.IGNORECASE,
)


def limited(text: str) -> bool:
    """Whether a sentence says in which cases it holds."""
    return bool(_LIMITED.search(text))


def nested(one: Claim, other: Claim) -> bool:
    """Whether one of two topics says what the other does, and more."""
    (kind, *words), (other_kind, *others) = one.topic.split(), other.topic.split()
    if _CHINESE.search(one.topic):
        words, others = list("".join(words)), list("".join(others))
    return kind == other_kind and (set(words) <= set(others) or set(others) <= set(words))


def _measured(sentence: str, measure: Quantity, holds: bool, language: object) -> Claim | None:
    rest = f"{sentence[: measure.span[0]]}⟨⟩{sentence[measure.span[1] :]}"
    words = language.measured(rest, measure.kind, str(measure.amount))  # type: ignore[attr-defined]
    amount = measure.amount if isinstance(measure.amount, str) else f"{measure.amount:.6g}"
    return Claim(f"{measure.kind} {words}", amount, holds) if words else None


def _of_triple(found: relations.Triple, true: bool, language: object) -> Claim | None:
    def same(text: str) -> str:
        return str(language.same(text))  # type: ignore[attr-defined]

    who, what = same(found.subject), same(found.object)
    if found.relation in _FEELS:
        return Claim(f"likes {who} | {what}", "", _FEELS[found.relation] == true)
    if found.relation == "allergic_to":
        return Claim(f"allergic {who} | {what}", "", true)
    if found.relation == "prefers":
        return Claim(f"prefers {who} | {language.kind(what)}", what, true)  # type: ignore[attr-defined]
    if found.relation in _ONE:
        return Claim(f"{_ONE[found.relation]} {who}", what, true)
    if found.relation == "manages":
        return Claim(f"head {what}", who, true)
    if found.subject == relations.USER and found.relation in _BOSS:
        return Claim(f"boss {who}", what, true)
    if found.relation in _HEADS:
        return Claim(f"head {who}", what, true)
    return None
