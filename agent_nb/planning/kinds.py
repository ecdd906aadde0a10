"""The kind of a goal, read off its words: which planner it wants, which parts it has, which tools it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..criteria import split as without_criteria

if TYPE_CHECKING:
    from ..bench import Bench

_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)、])[ \t]*(\S.*)$", re.MULTILINE)
_QUESTION = re.compile(r"[^?？\n]*[?？]+")
_IN_TURN = re.compile(
    r"\bfirst\b.{3,}\bthen\b|\bthen\b.{3,}\bfinally\b|\bafter that\b|\bstep by step\b|\bin several steps\b|"
    r"先.{2,}(?:再|然后|最后)|然后.{2,}(?:再|最后)|分步|逐步",
    re.IGNORECASE | re.DOTALL,
)
_WIDE = re.compile(
    r"\b(?:report|investigate|root cause|analy[sz]e (?:the|all|why)|audit|deep dive|thorough(?:ly)?|"
    r"compare .{3,60} and explain)\b|报告|调查|深入分析|全面|归因",
    re.IGNORECASE,
)
LONG_WORDS = 80


def parts(goal: str) -> list[str]:
    """The questions or list items that a goal is made of; one part where it cannot be split safely."""
    text = without_criteria(goal)[0].strip()
    items = [item.strip() for item in _ITEM.findall(text)]
    if len(items) < 2:
        items = [q.strip() for q in _QUESTION.findall(text)]
        rest = _QUESTION.sub("", text).strip()
        if rest and items:  # what stands around the questions may be what they are about
            return [text]
    return items if 2 <= len(items) <= 8 else [text]


def choose(goal: str) -> tuple[str, str]:
    """(planner, why) for a goal: a look-up is react, work of several steps is hybrid."""
    text = without_criteria(goal)[0]
    if len(found := parts(goal)) > 1:
        return "hybrid", f"the goal has {len(found)} parts"
    if found_words := _IN_TURN.search(text):
        return "hybrid", f"the goal tells steps in turn (“{_short(found_words.group())}”)"
    if found_words := _WIDE.search(text):
        return "hybrid", f"the goal is wide (“{_short(found_words.group())}”)"
    words = len(re.findall(r"[A-Za-z0-9_]+|[\u3400-\u9fff]{2}", text))
    if words > LONG_WORDS:
        return "hybrid", f"the goal is long ({words} words)"
    return "react", "the goal reads as one question"


_NEEDS = (
    (
        re.compile(r"\b(?:draw|plot|chart|bar chart|line chart|histogram)\b|画(?:图|一张|出)|图表|柱状图|折线图", re.I),
        re.compile(r"chart|plot|draw|figure", re.I),
        "draws charts (draw_chart)",
    ),
    (re.compile(r"\bSQL\b"), re.compile(r"sql|query", re.I), "runs SQL (query_sql)"),
)  # fmt: skip
_NAMED = re.compile(
    r"(?:\b(?:call|run|use)\s+(?:the\s+)?tool\s+|\bcall\s+|调用\s*(?:工具)?\s*)`?(?P<a>[A-Za-z]\w*_\w+)`?"
    r"|`?(?P<b>[A-Za-z]\w*_\w+)`?\s+tool\b"
)


def lacking(goal: str, bench: Bench, named: list[str] | None = None) -> list[str]:
    """Sentences about tools that the goal (or a plan, by `named`) needs and that this run cannot call."""
    schemas = bench.schemas()
    names = [schema["name"] for schema in schemas]
    said = []
    wanted = [m["a"] or m["b"] for m in _NAMED.finditer(goal)] + list(named or ())
    for name in dict.fromkeys(wanted):
        if name not in names:
            off = name in bench.toolbox
            said.append(f"{name} is {'mounted, and not allowed in this run' if off else 'not mounted'}")
    for words, serves, what in _NEEDS:
        found = words.search(goal)
        if found and not any(serves.search(f"{s['name']} {s['description']}") for s in schemas):
            said.append(f"“{found.group().strip()}” is asked for, and no tool that {what} is mounted")
    return said


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:20]} … {text[-15:]}"
