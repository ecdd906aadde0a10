# ruff: noqa: E501
"""Tools that are not about tables: which one the goal means, and its arguments out of the goal's words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from . import lexicon
from .text import Text, fold
from .wording import MODEL, Steps, Words

Json = dict[str, Any]

BUILT_IN = frozenset(
    [
        "list_variables",
        "describe_variable",
        "query_sql",
        "draw_chart",
        "run_python",
        "recall_memory",
        "save_memory",
        "forget_memory",
    ]
)
_ZH_VERBS = {
    "查询": "query",
    "查": "query",
    "退款": "refund",
    "退货": "refund",
    "退": "refund",
    "修改": "modify",
    "改": "modify",
    "更改": "modify",
    "地址": "address",
    "订单": "order",
    "取消": "cancel",
    "发送": "send",
    "发": "send",
    "预订": "book",
    "天气": "weather",
    "状态": "status",
    "申请": "apply",
    "邮件": "email",
    "物流": "shipping",
    "创建": "create",
    "删除": "delete",
    "库存": "stock",
    "价格": "price",
}
_SAME = {
    "look": "query",
    "lookup": "query",
    "find": "query",
    "get": "query",
    "check": "query",
    "where": "query",
    "track": "query",
    "status": "query",
    "show": "query",
    "fetch": "query",
    "search": "query",
    "change": "modify",
    "update": "modify",
    "edit": "modify",
    "set": "modify",
    "reimburse": "refund",
    "return": "refund",
    "money": "refund",
    "mail": "email",
    "purchase": "order",
}
_ORDER_LIKE = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9#-]*\d)[A-Za-z]{0,6}[-#]?\d[A-Za-z0-9-]*(?![A-Za-z0-9_])"
)


def words(text: str) -> set[str]:
    """The meanings in a text, for overlap."""
    found = set()
    low = fold(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)).replace("_", " ")
    for word, _, _ in Text(low).tokens(_ZH_VERBS):
        if word in lexicon.STOPWORDS and word not in _SAME:
            continue
        meaning = _ZH_VERBS.get(word) or lexicon.concept(word)
        found.add(_SAME.get(meaning, meaning))
    return {w for w in found if len(w) > 1 or lexicon.is_cjk(w)}


def pick(goal: str, tools: list[Json]) -> Json | None:
    """The tool whose name and description overlap most with the goal, or None where none clearly does."""
    asked = words(goal)
    scored = []
    for tool in tools:
        if tool["name"] in BUILT_IN:
            continue
        name = words(tool["name"])
        described = words(tool.get("description", "").split("\n")[0])
        score = 2.0 * len(asked & name) / max(1, len(name)) + 0.5 * len(asked & (described - name))
        if re.search(rf"(?<!\w){re.escape(tool['name'].lower())}(?!\w)", goal.lower()):
            score += 10
        if asked & name or len(asked & described) >= 2:
            scored.append((score, tool))
    scored.sort(key=lambda x: -x[0])
    if not scored or scored[0][0] < 1:
        return None
    if len(scored) > 1 and scored[1][0] == scored[0][0]:
        return None
    return scored[0][1]


def converse(goal: str, context: list[str], tool: Json, say: Words) -> Steps:
    """Fill the tool's arguments from the goal, call it, report what it says.

    `context`: the goals that led to this one; they give only what the goal itself does not.
    """
    schema = tool.get("input_schema") or {}
    filled = arguments(goal, schema)
    if context and any(n not in filled for n in schema.get("required", [])):
        filled = arguments(" \n".join([*context, goal]), schema) | filled
    lacking = [n for n in schema.get("required", []) if n not in filled]
    if lacking:
        properties = schema.get("properties", {})
        listed = "; ".join(f"{n}{_about(properties.get(n, {}))}" for n in lacking)
        return say(
            f"To use {tool['name']} I am missing: {listed}. What is it?",
            f"使用 {tool['name']} 还缺：{listed}。请告诉我是什么？",
        )
    shown = ", ".join(f"{k} = {v}" for k, v in filled.items())
    got = yield (
        say(
            f"The goal fits the tool {tool['name']}: {shown or 'no arguments'}.",
            f"这件事用 {tool['name']}：{shown or '无参数'}。",
        ),
        tool["name"],
        filled,
    )
    if got.get("ok") is False or got.get("error"):
        reason = got.get("error", "")
        return say(
            f"{tool['name']} said no: {reason} (called with {shown}). I did not try again.",
            f"{tool['name']} 拒绝了：{reason}（参数 {shown}）。没有重试。",
        )
    return (
        say(f"{tool['name']} ({shown}) answered:", f"{tool['name']}（{shown}）的回答：") + "\n\n" + told(got)
    )


def told(got: Json) -> str:
    """A tool's result as text, copied as it stands."""
    if "text" in got:
        return str(got["text"])
    if "rows" in got:
        lines = [
            " · ".join(f"{c}: {v}" for c, v in zip(got.get("columns", []), row, strict=False))
            for row in got["rows"][:10]
        ]
        return "\n".join(f"- {line}" for line in lines) or "–"
    value = got.get("value", {k: v for k, v in got.items() if k not in ("ok", "name", "note")})
    if isinstance(value, dict):
        return "\n".join(
            f"- {k}: {v if not isinstance(v, (dict, list)) else json.dumps(v, ensure_ascii=False)}"
            for k, v in value.items()
        )
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def arguments(text: str, schema: Json) -> Json:
    """The arguments that stand in the text, by type, name, enum and pattern; what is not there is left out."""
    filled: Json = {}
    used: list[tuple[int, int]] = []
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    order = sorted(properties, key=lambda n: _specificity(n, properties[n]))
    for name in order:
        spec = _plain(properties[name])
        value = _value(name, spec, text, used, n_free=_free_strings(properties, required))
        if value is not None:
            filled[name] = value
    return {n: filled[n] for n in properties if n in filled}


def _plain(spec: Json) -> Json:
    for option in spec.get("anyOf", []) or spec.get("oneOf", []):
        if option.get("type") != "null":
            return {**spec, **option}
    return spec


def _specificity(name: str, spec: Json) -> int:
    spec = _plain(spec)
    if "enum" in spec or "pattern" in spec or spec.get("format"):
        return 0
    if _is_code(name):
        return 1
    return {"boolean": 2, "integer": 3, "number": 4}.get(str(spec.get("type")), 5)


def _is_code(name: str) -> bool:
    return bool(re.search(r"(^|_)(id|no|number|code|ref|sku|tracking)$|order|号", name.lower()))


def _free_strings(properties: Json, required: list[str]) -> list[str]:
    return [
        n
        for n in required
        if _plain(properties.get(n, {})).get("type") == "string" and _specificity(n, properties[n]) == 5
    ]


def _value(name: str, spec: Json, text: str, used: list[tuple[int, int]], n_free: list[str]) -> Any:
    kind = spec.get("type")
    if "enum" in spec:
        for option in sorted(map(str, spec["enum"]), key=len, reverse=True):
            if match := re.search(
                rf"(?<!\w){re.escape(option.lower()).replace('_', '[_ ]')}(?!\w)", text.lower()
            ):
                used.append(match.span())
                return next(o for o in spec["enum"] if str(o) == option)
        return None
    if kind == "boolean":
        return None
    if kind in ("integer", "number"):
        return _number(name, kind, text, used, spec)
    if kind not in ("string", None):
        return None
    if spec.get("pattern"):
        return _take(spec["pattern"].strip("^$"), text, used)
    if spec.get("format") == "email" or "email" in name.lower():
        return _take(r"[\w.+-]+@[\w-]+\.[\w.-]*\w", text, used)
    if spec.get("format") == "date" or re.search(r"(^|_)(date|day)$", name.lower()):
        return _take(r"\d{4}-\d{2}-\d{2}", text, used)
    if "url" in name.lower():
        return _take(r"https?://\S+", text, used)
    if _is_code(name):
        return _code(name, text, used)
    return _string(name, text, used, n_free)


def _take(pattern: str, text: str, used: list[tuple[int, int]]) -> str | None:
    found = [
        m for m in re.finditer(rf"(?<![\w]){pattern}(?![\w])", text, re.IGNORECASE) if _open(m.span(), used)
    ]
    if not found:
        return None
    used.append(found[-1].span())
    return found[-1].group()


def _code(name: str, text: str, used: list[tuple[int, int]]) -> str | None:
    """An identifier: it holds a digit, and is no amount or date."""
    label = re.sub(r"_?(id|no|number|code|ref)$", "", name.lower()).replace("_", " ")
    near = (
        re.search(
            rf"(?:{re.escape(label)}|订单号?|单号|编号)\s*(?:id|no\.?|number|code|ref|#|号|:|：|is|为|是)*\s*[#:：]?\s*({_ORDER_LIKE.pattern})",
            text,
            re.IGNORECASE,
        )
        if label
        else None
    )
    if near and _open(near.span(1), used):
        used.append(near.span(1))
        return near.group(1).lstrip("#")
    found = [
        m
        for m in _ORDER_LIKE.finditer(text)
        if _open(m.span(), used)
        and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", m.group())
        and re.search(r"[A-Za-z]|-", m.group())
    ]
    distinct = list(dict.fromkeys(m.group() for m in found))
    if len(distinct) != 1:
        return None
    used += [m.span() for m in found]
    return distinct[0].lstrip("#")


def _number(name: str, kind: str, text: str, used: list[tuple[int, int]], spec: Json) -> int | float | None:
    found = [
        m
        for m in re.finditer(
            r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)|(?<=[\u3400-\u9fff])\d+(?:\.\d+)?(?=[\u3400-\u9fff])",
            text,
        )
        if _open(m.span(), used)
    ]
    named = [
        m
        for m in found
        if re.search(
            rf"{re.escape(name.lower().split('_')[0])}\W{{0,8}}(?:of|is|=|:)?\W*$", text[: m.start()].lower()
        )
    ]
    chosen = named or found
    values = list(dict.fromkeys(m.group() for m in chosen))
    if len(values) != 1:
        return None
    if kind == "integer" and "." in values[0]:
        return None
    used += [m.span() for m in chosen]
    return int(values[0]) if kind == "integer" else float(values[0])


def _string(name: str, text: str, used: list[tuple[int, int]], n_free: list[str]) -> str | None:
    label = name.lower().replace("_", " ")
    last = label.split()[-1]
    quoted = [
        m
        for m in re.finditer(r"\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|(?<!\w)'([^']+)'(?!\w)", text)
        if _open(m.span(), used)
    ]
    near = [
        m
        for m in quoted
        if re.search(rf"{re.escape(last)}\W*(?:to|is|as|=|:)?\W*$", text[: m.start()].lower())
    ]
    if near or (len(quoted) == 1 and len(n_free) <= 1):
        chosen = (near or quoted)[-1]
        used.append(chosen.span())
        return next(g for g in chosen.groups() if g is not None)
    match = re.search(
        rf"(?:new )?{re.escape(last)}\s*(?:of [\w# -]{1, 30}? )?(?:to|is|as|=|:|：|改[为成]|为|是)\s*(?P<v>[^\n?？。;]+?)\s*(?:[.。;?？]?\s*$|[\n])",
        text,
        re.IGNORECASE | re.MULTILINE,
    )
    if not match and (last == "address" or "地址" in text):
        match = re.search(
            r"(?:地址\S{0,2}?(?:改[为成到]|换成|是|为)|(?:change|modify|update|ship|send|deliver)\b[^\n]*?\b(?:address\b[^\n]*?)?\bto )\s*(?P<v>[^\n?？。;]+?)\s*[.。]?\s*$",
            text,
            re.IGNORECASE | re.MULTILINE,
        )
    if not match and last in ("city", "place", "location", "town"):
        match = re.search(
            r"\b(?:in|for|at|to)\s+(?P<v>[A-Z][\w-]+(?:\s[A-Z][\w-]+)*)|(?P<z>[\u3400-\u9fff]{2,4}?)(?:今天|明天)?的?天气",
            text,
        )
    if not match and last in ("reason", "cause", "原因"):
        match = re.search(
            r"(?:because(?: of)?|reason:?|due to|since|因为|原因是?)\s*[::]?\s*(?P<v>[^\n?？。]+?)\s*[.。]?\s*$",
            text,
            re.IGNORECASE | re.MULTILINE,
        )
    if match:
        value = (match.groupdict().get("v") or match.groupdict().get("z") or "").strip().strip("\"'“”")
        group = "v" if match.groupdict().get("v") else "z"
        if value and _open(match.span(group), used):
            return value
    if last in ("query", "question", "q"):
        return text.strip().split("\n")[-1].strip()
    return None


def _open(span: tuple[int, int], used: list[tuple[int, int]]) -> bool:
    return not any(span[0] < b and a < span[1] for a, b in used)


def _about(spec: Json) -> str:
    spec = _plain(spec)
    told = spec.get("description") or (", ".join(map(str, spec["enum"])) if "enum" in spec else "")
    return f" ({told})" if told else ""


def unsupported(names: Sequence[str], say: Words) -> str:
    """No rule covers the goal; `names`: of the mounted tools."""
    mine = [name for name in names if not name.endswith("_memory")]
    listed, zh = ", ".join(mine) or "none", "、".join(mine) or "无"
    return say(
        f"I did not understand this: no rule of mine and no mounted tool covers it (tools: {listed}). "
        f"Use a language model for it (-m {MODEL}), or which of the tools do you need?",
        f"我没看懂：没有规则或工具能处理（工具：{zh}）。请用语言模型（-m {MODEL}），或者告诉我需要哪个工具？",
    )
