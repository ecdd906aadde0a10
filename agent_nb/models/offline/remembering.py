# ruff: noqa: E501
""" "Remember …", "what do you know about …", "forget …": the memory tools."""

from __future__ import annotations

import re
from typing import Any

from .text import fold
from .tooltalk import told
from .wording import Steps, Words

Json = dict[str, Any]

_SAVE = re.compile(
    r"^\s*(?:please\s+|could you\s+|can you\s+)?(?:remember|memori[sz]e|keep in mind|note|don't forget|do not forget)(?:\s+(?:that|this|for later|the following))?\s*[:：,，]?\s*(?P<what>.+)$|^\s*(?:请|帮我|麻烦你?)?(?:记住|记下来?|记一下|牢记|请记)(?:这一?点|一下)?\s*[:：,，]?\s*(?P<zh>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_RECALL = re.compile(
    r"^\s*(?:what (?:do|did) you (?:know|remember|recall)(?: about| of)?|do you remember|recall|what have you (?:saved|remembered)(?: about)?|tell me what you (?:know|remember) about)\b\s*(?P<what>.*?)[?.!]*\s*$|^\s*你(?:还)?(?:记得|记住了?|知道)(?:关于)?(?P<zh>.*?)(?:的?(?:什么|哪些|吗|事情|内容))*[?？。吗]*\s*$",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    r"^\s*(?:please\s+)?(?:forget|delete the memory|remove the memory)(?:\s+(?:that|about|what (?:i|you) (?:said|know) about))?\s*[:：]?\s*(?P<what>.+?)[.!]*\s*$|^\s*(?:请)?(?:忘记|忘掉|删除记忆|不要再记)\s*[:：]?\s*(?P<zh>.+?)[。!！]*\s*$",
    re.IGNORECASE | re.DOTALL,
)


def wants(goal: str) -> tuple[str, str] | None:
    """("save" | "recall" | "forget", what), or None."""
    if re.match(
        r"^\s*(?:do you )?remember\b[^:]*\?\s*$", goal, re.IGNORECASE
    ) and not goal.lower().strip().startswith("remember that"):
        return "recall", re.sub(r"(?i)^\s*(?:do you )?remember\s*", "", goal).strip(" ?")
    for kind, pattern in (("recall", _RECALL), ("save", _SAVE), ("forget", _FORGET)):
        if match := pattern.match(goal):
            what = (match.groupdict().get("what") or match.groupdict().get("zh") or "").strip()
            return kind, what
    return None


def type_of(text: str) -> str:
    """constraint, preference, profile or fact, by the words of the statement."""
    low = fold(text)
    if re.search(
        r"\b(?:always|never|must(?: not)?|do not|don't|exclude|only|required?|not allowed|may not|allerg\w+)\b|必须|不要|禁止|不得|总是|一律|从不|只能|排除|过敏",
        low,
    ):
        return "constraint"
    if re.search(
        r"\b(?:i|we) (?:prefer|like|love|dislike|hate|want|would rather)\b|\bprefer|喜欢|偏好|偏爱|讨厌|习惯",
        low,
    ):
        return "preference"
    if re.search(
        r"\b(?:my name|i am|i'm|i work|my (?:team|role|job|email|birthday))\b|我叫|我是|我的(?:名字|职位|团队)",
        low,
    ):
        return "profile"
    return "fact"


def remember(goal: str, kind: str, what: str, names: set[str], say: Words) -> Steps:
    """Save, recall or forget through the memory tools that there are."""
    tool = {"save": "save_memory", "recall": "recall_memory", "forget": "recall_memory"}[kind]
    if tool not in names:
        return say(
            f"I cannot do that: the tool {tool} is not mounted (this run has no memory). Shall I do something else?",
            f"做不到：没有 {tool} 工具（本次运行没有记忆）。要做别的吗？",
        )
    if kind == "save":
        return (yield from _save(what, say))
    got = yield (say("I look into the memory.", "查找记忆。"), "recall_memory", {"query": what or goal})
    if not got.get("ok"):
        return say(f"The memory could not be read: {got.get('error')}", f"读不了记忆：{got.get('error')}")
    hits = _hits(got)
    if kind == "recall":
        empty = not hits and not got.get("text")
        return (
            say("I remember nothing about that.", "没有相关的记忆。")
            if empty
            else say("This is remembered:", "记得这些：") + "\n\n" + (_listed(hits) or told(got))
        )
    if "forget_memory" not in names:
        return say(
            "I cannot forget: the tool forget_memory is not mounted.", "做不到：没有 forget_memory 工具。"
        )
    close = [h for h in hits if fold(what) in fold(str(h.get("text", "")))] or hits
    if not close:
        return say(
            "I remember nothing like that, so there is nothing to forget.", "没有这样的记忆，无需忘记。"
        )
    if len(close) > 1:
        return say(
            f"Several memories fit:\n{_listed(close)}\n\nWhich one shall I forget?",
            f"有几条记忆符合：\n{_listed(close)}\n\n忘记哪一条？",
        )
    gone = yield (
        say("One memory fits; I ask for it to be forgotten.", "有一条符合，请求忘记它。"),
        "forget_memory",
        {"id": str(close[0].get("id"))},
    )
    if not gone.get("ok"):
        return say(f"It was not forgotten: {gone.get('error')}", f"没有忘记：{gone.get('error')}")
    return say(f"Forgotten: {close[0].get('text')}", f"已忘记：{close[0].get('text')}")


_KINDS = {
    "fact": "事实",
    "preference": "偏好",
    "constraint": "约束",
    "profile": "个人信息",
    "decision": "决定",
}


def _save(what: str, say: Words) -> Steps:
    if not what:
        return say("What shall I remember?", "要记住什么？")
    kind = type_of(what)
    got = yield (
        say("You ask me to remember this, so I save it word for word.", "按你的要求原样记下。"),
        "save_memory",
        {"text": what, "type": kind},
    )
    if not got.get("ok"):
        return say(f"It was not saved: {got.get('error')}", f"没有记下：{got.get('error')}")
    return say(f"Remembered as a {kind}: {what}", f"已记住（{_KINDS.get(kind, kind)}）：{what}")


def _hits(got: Json) -> list[Json]:
    inner = got.get("value")
    if isinstance(inner, dict):
        return _hits(inner)
    if "rows" in got:
        return [dict(zip(got.get("columns", []), row, strict=False)) for row in got["rows"]]
    for key in ("hits", "memories", "value"):
        if isinstance(got.get(key), list):
            return [h for h in got[key] if isinstance(h, dict)]
    return []


def _listed(hits: list[Json]) -> str:
    return "\n".join(f"- {h.get('text', h)}" + (f" ({h['type']})" if h.get("type") else "") for h in hits)
