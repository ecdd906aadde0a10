"""Chinese sentences as claims: which characters name the topic, which words mean the same, which deny."""

from __future__ import annotations

import re

_DENIED = re.compile(
    r"(?:已经)?(?:不再|并不|不需要|无需|不用|不要|不必|不可以|不能|不得|不会|不算|不是|没有|禁止|切勿|不)"
)
_KEPT = {
    "不需要": "需要",
    "无需": "需要",
    "不用": "需要",
    "不必": "需要",
    "不可以": "可以",
    "不能": "能",
    "不得": "可以",
}
_KEPT |= {
    "不会": "会",
    "不算": "算",
    "不是": "是",
    "没有": "有",
    "不要": "",
    "不再": "",
    "并不": "",
    "不": "",
    "禁止": "可以",
}
_SAME = [
    ("付款期限", "账期"),
    ("结款周期", "账期"),
    ("以内|之内|内", "期限"),
    ("卖|售价|要价|价钱", "价格"),
    ("最多|至多|不超过|最大", "上限"),
    ("最少|至少|最小", "下限"),
    ("例会|开会|周会|会议", "会"),
    ("延迟", "延误"),
    ("开始", "始"),
    ("截至", "截止"),
    ("减去", "减"),
]  # fmt: skip
_GENERIC = re.compile(
    r"是指|指的是|才算作?|算作|视为|定义为|我们公司|我们|咱们|客户|用户|顾客|可以|能够|必须|需要|应该|现在|目前|已经|一律|总是|的文件"
    r"|进行|登录过|登录|[的了在于从由给能要是为有算指每都就还可把被也请达到：:，,。＝=“”\"\s个]"
)
_OPPOSITES = [
    ("休息|关门|停业", "营业"),
    ("私有|保密", "公开"),
    ("禁用", "启用"),
    ("免费", "收费"),
    ("隐藏", "显示"),
]
_ROLES = "经理|总监|负责人|组长|主管|老板|主任|供应商|董事长|总裁|顾问"
_SINGLE = re.compile(
    rf"(?:{_ROLES}|货币|状态|颜色|数据库|名字|会议室|格式|语言|时区|版本|编辑器|首都|地址|联系人|主题|单位|优先级)$"
)
_ROLE = re.compile(
    rf"^(?P<v>[\u4e00-\u9fff]{{2,4}})是(?:我们的?)?(?P<s>[\u4e00-\u9fff的]{{0,10}}(?:{_ROLES}))$"
)
_RULES = [
    ("从", re.compile(r"^(?P<s>.{1,20}?)从(?P<v>.{1,20}?)(?P<r>发货|发出|采购|进口)$")),
    ("给", re.compile(r"^(?P<s>.{1,20}?)(?:都)?(?P<r>发给|交给|报给|发送给|分配给)(?P<v>.{1,20})$")),
    ("用", re.compile(r"^(?P<s>.{1,20}?)用(?P<v>.{1,20}?)(?P<r>表示|显示|展示|计算|结算)$")),
    ("叫", re.compile(r"^(?P<s>.{1,20}?)(?P<r>叫做?|名为)(?P<v>.{1,20})$")),
]
_MEANS = re.compile(r"^(?P<s>[^，。＝=]{1,20}?)(?:定义为|指的是|是指|等于|指|＝|=)(?P<v>.+)$")
_IS = re.compile(r"^(?P<s>[^，。]{1,24}?)(?:现在|目前)?(?:用的是|是|为|：|:)(?P<v>[^，。]{1,24})$")


def plain(sentence: str) -> str:
    """Filler words left out."""
    sentence = re.sub(r"现在(?=是|为|叫|用|住)|目前", "", sentence)
    return re.sub(r"^(?:请|记住|注意)[，,：:]?|\s+(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\s+", "", sentence)


def special(sentence: str) -> tuple[str, str, bool] | None:
    """Sentences whose sense is not in their words: (topic, value, holds)."""
    if m := re.match(r"我(?:吃|喝)(?P<o>.{1,12}?)(?:没有?问题|没事)$|我对(?P<p>.{1,12}?)不过敏$", sentence):
        return f"allergic user | {same(m['o'] or m['p'])}", "", False
    if m := re.match(r"(?P<s>.{1,6}?)(?:的)?家(?:在|住)(?P<v>.{1,10})$", sentence):
        return f"lives {same(m['s']) or 'user'}", same(m["v"]), True
    if m := re.match(r"我(?:是)?(?P<s>吃|喝)(?P<o>.{1,10})$", sentence):
        return f"likes user | {same(m['o'])}", "", True
    return None


def denied(sentence: str) -> tuple[str, bool]:
    """The sentence without its denial, and whether it holds."""
    found = _DENIED.findall(sentence)
    return _DENIED.sub(lambda m: _KEPT.get(m.group().removeprefix("已经"), ""), sentence), len(found) % 2 == 0


def opposite(sentence: str, holds: bool) -> tuple[str, bool]:
    """Words that have an opposite, said by one of the two."""
    for word, other in _OPPOSITES:
        sentence, n = re.subn(word, other, sentence)
        holds = holds if n % 2 == 0 else not holds
    return sentence, holds


def words(sentence: str) -> list[str]:
    """What counts, in order."""
    for word, other in _SAME:
        sentence = re.sub(word, other, sentence)
    return re.findall(r"[A-Za-z0-9.]+|[\u4e00-\u9fff]", _GENERIC.sub("", sentence).lower())


def measured(rest: str, kind: str, amount: str) -> str:
    """The topic of a sentence whose amount was cut out as ⟨kind⟩."""
    if kind == "time":
        rest = re.sub(r"(?<=⟩)后付款", "账期", rest)
        rest = re.sub(r"时间|时长", "", rest)
    if kind == "moment":
        rest = re.sub(r"时间|日期|年份|日子", "", rest)
    return "".join(sorted(set(words(rest))))


def named(sentence: str) -> tuple[str, str] | None:
    """Topic and value of a sentence that gives a thing a name, a place, a meaning."""
    if m := _MEANS.match(sentence):
        value = re.sub(r"[－−-]", "减", re.sub(r"[＋+]", "加", m["v"]))
        return "means " + _topic(m["s"]), "".join(words(value))
    for name, rule in _RULES:
        if m := rule.match(sentence):
            return f"{name} {_topic(m['s'])} {m['r']}", same(m["v"])
    if m := _ROLE.match(sentence):
        return "is " + _topic(m["s"]), same(m["v"])
    m = _IS.match(sentence)
    if m and not m["v"].endswith("的") and (_SINGLE.search(m["s"]) or "的" in m["s"].removeprefix("我们的")):
        return "is " + _topic(m["s"]), same(m["v"])
    return None


def same(text: str) -> str:
    """A name or value as it is compared."""
    return re.sub(r"^(?:一[种个名位家])|[的\s“”\"]|了$|^喝|^吃", "", text.lower())


def kind(what: str) -> str:
    """What sort of thing is preferred: 柱状图 and 折线图 are 图."""
    return what[-1]


def _topic(subject: str) -> str:
    return "".join(sorted(set(words(subject))))
