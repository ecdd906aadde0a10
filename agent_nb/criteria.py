"""Acceptance criteria: read from the goal, checked in code where they can be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .task import Criterion, Observation

_HEAD = re.compile(
    r"(?:^|(?<=[.?!。？！]))[ \t]*\**(?:done when|完成条件|验收标准)[ \t]*[:：]\**[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•+–]|\d+[.)、])[ \t]*(\S.*)$")
_MORE = re.compile(r"^[ \t]+(\S.*)$")


def split(goal: str) -> tuple[str, list[Criterion]]:
    """The goal without its `done when:` bullets, and the criteria they name.

    `done when:` (also 完成条件：, 验收标准：), on a line of its own or at the end of a sentence, is followed by
    one bullet a criterion; text after the last bullet belongs to the goal again. An indented line goes on with the
    bullet above it.
    """
    head = _HEAD.search(goal)
    if head is None:
        return goal, []
    criteria: list[Criterion] = []
    rest = goal[head.end() :].lstrip("\n").split("\n")
    while rest:
        bullet = _BULLET.match(rest[0])
        more = _MORE.match(rest[0]) if criteria and not bullet else None
        if bullet:
            criteria.append(Criterion(bullet.group(1).strip()))
        elif more:
            criteria[-1].text += " " + more.group(1).strip()
        elif rest[0].strip():
            break
        rest.pop(0)
    text = "\n".join(part for part in (goal[: head.start()].rstrip(), "\n".join(rest).strip()) if part)
    if not criteria or not text:
        return goal, criteria
    return text, criteria


_QUOTED = r"(?P<open>[\"'“‘「`])(?P<what>(?:(?!(?P=open)).)+)[\"'”’」`]"
_BEFORE = re.compile(
    r"(?:there is |it has )?(?:an? |the |one )?(?:final |whole |result )*(?:answer |text |reply |it )?"
    r"(?:must |should |is |has )?|(?:最终)?(?:答案|回答|文本)?(?:必须|应该?|要)?",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(?: long)?[\s.!;。；！]*", re.IGNORECASE)
_CHECKS: list[tuple[re.Pattern[str], str]] = [
    (
        re.compile(rf"(?:does not|doesn't|must not|never|not) (?:contain|mention|include)s? {_QUOTED}", re.I),
        "lacks",
    ),
    (re.compile(rf"(?:不包含|不含|不提){_QUOTED}"), "lacks"),
    (re.compile(rf"(?:contain|mention|include)s? {_QUOTED}", re.I), "has"),
    (re.compile(rf"(?:包含|含有|提到){_QUOTED}"), "has"),
    (
        re.compile(
            r"(?:at most|no more than|under|max(?:imum)?) (?P<n>\d+) (?P<unit>word|character|line)s?", re.I
        ),
        "length",
    ),
    (re.compile(r"(?:不超过|至多|最多)\s*(?P<n>\d+)\s*(?P<unit>字|行)"), "length"),
    (
        re.compile(
            r"(?:every|all|each) numbers? (?:has|have|with) evidence|每个数字都?有(?:依据|证据)", re.I
        ),
        "evidence",
    ),
    (re.compile(r"table (?:has|with) columns? (?P<columns>.+)$", re.I), "columns"),
]


def check(
    criterion: Criterion, text: str, evidence: Sequence[dict[str, Any]], observations: Sequence[Observation]
) -> Criterion:
    """The criterion judged in code: met True or False with a reason, or None where code cannot tell.

    Code judges only what it understands to the last word: of two conditions in one line it would see one.
    """
    said = criterion.text
    for pattern, kind in _CHECKS:
        found = pattern.search(said)
        if found and _BEFORE.fullmatch(said[: found.start()]) and _BEHIND.fullmatch(said[found.end() :]):
            met, reason = _judge(kind, found, text, evidence, observations)
            return Criterion(criterion.text, met, reason)
    return Criterion(criterion.text)


def _judge(
    kind: str,
    found: re.Match[str],
    text: str,
    evidence: Sequence[dict[str, Any]],
    observations: Sequence[Observation],
) -> tuple[bool, str]:
    if kind in ("has", "lacks"):
        there = found["what"].lower() in text.lower()
        return there == (
            kind == "has"
        ), f"the answer {'contains' if there else 'does not contain'} “{found['what']}”"
    if kind == "length":
        unit, most = found["unit"].lower(), int(found["n"]) - found[0].lower().startswith("under")
        parts: Any = {"word": text.split(), "line": text.splitlines(), "行": text.splitlines()}.get(
            unit, text
        )
        return len(parts) <= most, f"the answer has {len(parts)}, at most {most} were asked"
    if kind == "evidence":
        bare = [row["text"] for row in evidence if not row["sources"]]
        return not bare, f"without evidence: {', '.join(bare)}" if bare else "every number has evidence"
    wanted = [name.strip(" `'\".") for name in re.split(r",|、| and ", found["columns"])]
    tables = [seen.columns for seen in observations if seen.columns]
    met = any(set(wanted) <= set(columns) for columns in tables)
    return met, f"{'a' if met else 'no'} result table has the columns {', '.join(wanted)}"
