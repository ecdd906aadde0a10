# ruff: noqa: E501
"""The offline model: a rule-based data analyst that answers in the Messages API's shape.

It is rules, not a language model, and says so. A goal is worked on by a generator that yields tool calls and gets
their results (`analysis.analyse`); every call of `reply` runs it again from the goal over the results that the
history holds, until it wants a call that was not made yet, or has the answer. So a reply depends on the messages,
the system text and the tools alone, and runs repeat exactly.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from . import analysis, mistakes, remembering, tooltalk
from .definitions import remembered
from .steps import TOGETHER
from .text import is_chinese
from .wording import Steps, Words

Json = dict[str, Any]

IMAGE_TOKENS = 1_500
"""About what a chart of 1,000 by 700 pixels costs a model that sees it."""

_SENT_BACK = re.compile(r"\s*(?:Not done yet\.|Go on from where you stopped\.|Go on\.|Continue\.?\s*$)")
"""What the loop says to a model about the goal it works on: no goal of its own."""


class OfflineModel:
    """Answers questions about tables, and about tools and memories, by rules. No key, no network, no cost."""

    name = "offline"
    can_judge = False
    can_plan = False
    needs_whole_turn = True
    note = "rules, not a language model"

    def cost(self, usage: Json) -> float | None:
        """It costs nothing."""
        return 0.0

    def reply(
        self,
        messages: list[Json],
        *,
        system: str,
        tools: list[Json],
        max_tokens: int = 8_192,
        tool_choice: Json | None = None,
    ) -> Iterator[Json]:
        """The next tool call, or the answer: text deltas, then the message.

        Args:
            messages: history in the Messages API's shape; the last user message that is text is the goal.
            system: system text; memories stand in it between <memory> and </memory>, one a line.
            tools: dicts of name, description, input_schema; no other tool is ever called.
            max_tokens: not used: answers are short.
            tool_choice: {"type": "none"} asks for an answer without another call.
        """
        goals, results, asked = _history(messages)
        goals = _subtask(goals, messages)
        goal = goals[-1] if goals else ""
        say = Words(is_chinese(goal))
        may_call = (tool_choice or {}).get("type") != "none"
        thought, calls = _next(goal, goals[:-1], results, asked, system, tools, say, may_call)
        content: list[Json] = [{"type": "text", "text": thought}]
        # Of what was said so far, not of how much: a cell that runs again meets a history with other calls in it.
        mark = hashlib.sha256(json.dumps(messages, default=str).encode()).hexdigest()[:16]
        for i, (name, given) in enumerate(calls, 1):
            content.append({"type": "tool_use", "id": f"toolu_off_{mark}_{i}", "name": name, "input": given})
        for piece in re.findall(r"\S+\s*(?:\S+\s*){0,5}|\s+", thought):
            yield {"type": "text_delta", "text": piece}
        written = thought + "".join(json.dumps(given, ensure_ascii=False) for _, given in calls)
        standing = system + json.dumps(tools, ensure_ascii=False, default=str)
        usage = {"input_tokens": _estimate(standing) + _size(messages), "output_tokens": _estimate(written)}
        stop = "tool_use" if calls else "end_turn"
        yield {
            "type": "message",
            "message": {"role": "assistant", "content": content, "stop_reason": stop, "usage": usage},
        }


def _next(
    goal: str,
    earlier: list[str],
    results: list[tuple[str, Json, Json]],
    asked: bool,
    system: str,
    tools: list[Json],
    say: Words,
    may_call: bool,
) -> tuple[str, list[tuple[str, Json]]]:
    """Run the work again over the results that there are: (text, calls), without calls where it is the answer."""
    steps = _work(goal, earlier, asked, system, tools, say)
    done = list(results)
    try:
        thought, name, given = next(steps)
        while True:
            wanted: list[tuple[str, Json]] = [(name, given)]
            if name == TOGETHER:
                wanted = [(call["name"], call["input"]) for call in given["calls"]]
            seen = [_taken(done, *call) for call in wanted]
            if None in seen:
                break
            found = [result for result in seen if result is not None]
            thought, name, given = steps.send({"results": found} if name == TOGETHER else found[0])
    except StopIteration as stop:
        return f"{say.first_line()}\n\n{stop.value}", []
    if not may_call:
        stopped = say(
            "I was stopped before I had the answer; nothing more may be called now.",
            "还没得到答案就被要求停止，不能再调用工具。",
        )
        return f"{say.first_line()}\n\n{stopped}", []
    told = say(*thought) if isinstance(thought, tuple) else thought
    return told, [call for call, result in zip(wanted, seen, strict=True) if result is None]


def _taken(done: list[tuple[str, Json, Json]], name: str, given: Json) -> Json | None:
    """The result of that call, taken off the list; of a user's own tool also where the input was edited first."""
    found = next((r for r in done if r[0] == name and r[1] == given), None)
    if found is None and name not in tooltalk.BUILT_IN:
        found = next((r for r in done if r[0] == name), None)
    if found is None:
        return None
    done.remove(found)
    return found[2]


def _work(goal: str, earlier: list[str], asked: bool, system: str, tools: list[Json], say: Words) -> Steps:
    """What the goal is about: an error, memory, one of the user's tools, or the data."""
    names = {t["name"] for t in tools}
    if not goal.strip():
        return say("What would you like to know?", "想知道什么？")
    if mistakes.wanted(goal):
        return (yield from mistakes.explain(goal, names, say))
    if wanted := remembering.wants(goal):
        return (yield from remembering.remember(goal, *wanted, names, say))
    context = earlier[-2:] if _SPEAKS_OF_IT.search(goal) or (asked and _is_argument(goal)) else []
    tool = tooltalk.pick(goal, tools) or (tooltalk.pick(context[-1], tools) if context else None)
    if tool is not None and not _about_data(goal, names):
        return (yield from tooltalk.converse(goal, context, tool, say))
    if "query_sql" not in names and "list_variables" not in names:
        return tooltalk.unsupported(sorted(names), say)
    handed = system.partition("The user hands over these variables:")[2].partition("\n\n")[0]
    return (yield from analysis.analyse(goal, earlier, remembered(system), handed, names, say))


_SPEAKS_OF_IT = re.compile(r"\b(?:it|its|that (?:one|order))\b|它|该|这个|那个", re.IGNORECASE)


def _is_argument(goal: str) -> bool:
    """Whether a goal only gives what was asked for before ("A-1001", "2")."""
    return len(goal.split()) <= 12 and bool(re.search(r"\d|\"|“|@|:", goal))


def _about_data(goal: str, names: set[str]) -> bool:
    """Whether words of statistics say that tables are meant, not a single thing of the user's tools."""
    if "query_sql" not in names:
        return False
    pattern = r"\b(?:average|mean|median|total|sum|how many|number of|most|least|highest|lowest|share|trend|compare|by month|top \d+|per|outliers?|missing|correlation)\b|平均|中位数|总|最[多少高低大小]|占比|多少|趋势|同比|环比|缺失|异常"
    return bool(re.search(pattern, goal.lower()))


def _history(messages: list[Json]) -> tuple[list[str], list[tuple[str, Json, Json]], bool]:
    """The user's goals in order, (tool, input, result) of the calls made for the last one, and whether it
    came after a question to the user."""
    goals: list[str] = []
    said, asked = "", False
    calls: dict[str, tuple[str, Json]] = {}
    results: list[tuple[str, Json, Json]] = []
    for message in messages:
        blocks = _blocks(message)
        if message.get("role") == "assistant":
            calls |= {b["id"]: (b["name"], b["input"]) for b in blocks if _is(b, "tool_use")}
            said = "\n".join(b["text"] for b in blocks if _is(b, "text"))
            continue
        answers = [b for b in blocks if _is(b, "tool_result")]
        if answers:
            for b in answers:
                name, given = calls.get(b["tool_use_id"], ("", {}))
                got = _parsed(b)
                if not _was_interrupted(got):  # it never ran: it is called again
                    results.append((name, given, got))
        else:
            text = "\n".join(b["text"] for b in blocks if _is(b, "text") and not _is_plan(b))
            if text.strip() and not (goals and _SENT_BACK.match(text)):
                goals.append(text)
                results, asked = [], said.rstrip().endswith(("?", "？"))
    return goals, results, asked


_NOW = re.compile(r"^Work now on subtask [^:\n]+: (.+)$", re.MULTILINE)
_DONE = re.compile(r"^\[x\] [^.\n]+\. (.+?)(?: → .*)?$", re.MULTILINE)


def _subtask(goals: list[str], messages: list[Json]) -> list[str]:
    """The goals, where a plan is under way with its running subtask in place of the whole, after those done."""
    blocks = _blocks(messages[-1]) if messages else []
    plan = next((b["text"] for b in blocks if _is_plan(b)), "")
    now = _NOW.search(plan)
    return [*goals[:-1], *_DONE.findall(plan), now.group(1)] if now else goals


def _is_plan(block: Json) -> bool:
    return _is(block, "text") and str(block["text"]).startswith("<progress>")


def _was_interrupted(got: Json) -> bool:
    return not got["ok"] and str(got.get("error", "")).startswith("interrupted")


def _parsed(block: Json) -> Json:
    """The JSON object of a tool result; an error where it says so."""
    content = block.get("content", "")
    texts = [content] if isinstance(content, str) else [b.get("text", "") for b in content if _is(b, "text")]
    first = texts[0] if texts else ""
    try:
        got = json.loads(first)
    except ValueError:
        got = None
    if not isinstance(got, dict):
        got = {"ok": True, "text": first} if got is None else {"ok": True, "value": got}
    if block.get("is_error"):
        got = {"error": first, **got, "ok": False}
    return {"ok": True, **got}


def _blocks(message: Json) -> list[Json]:
    content = message.get("content", "")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _is(block: Json, kind: str) -> bool:
    return isinstance(block, dict) and block.get("type") == kind


def _size(part: Any) -> int:
    """Tokens of a part of the history; a picture counts as what it costs to look at, not as its bytes."""
    if isinstance(part, list):
        return sum(map(_size, part))
    if not isinstance(part, dict):
        return _estimate(str(part))
    if _is(part, "image"):
        return IMAGE_TOKENS
    if isinstance(part.get("content"), list):  # a message or a tool's result
        return 4 + _size(part["content"])
    return _estimate(json.dumps(part, ensure_ascii=False, default=str))


def _estimate(text: str) -> int:
    from ...tokens import estimate_tokens

    return estimate_tokens(text)
