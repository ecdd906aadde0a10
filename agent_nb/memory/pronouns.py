"""What "it" or "他" stands for in a question, by what was said just before; never where two things could be meant."""

from __future__ import annotations

import re
from collections.abc import Sequence

TURNS = 6
"""Earlier texts that are looked at, the latest first."""

_THING = re.compile(r"\b(its|it|their|theirs|them|they)\b", re.I)
_PERSON = re.compile(r"\b(his|him|he|her|hers|she)\b", re.I)
_THING_ZH = re.compile(
    r"它们?|(?<![尤极与])其(?![他它实中次])|(?:这|该|此)(?:个|项)?(?:指标|数字|数据|概念|比率|术语)"
)
_PERSON_ZH = re.compile(r"(?<![其])他们?|她们?")
# "it is raining", "what does it mean that", "how does it feel": it stands for nothing.
_EMPTY = re.compile(
    r"\bit(?:'s| is| was)? (?:rain|snow|possible|true|ok|okay|necessary|time|mean that|take to)", re.I
)
# What the question itself names before the pronoun may be what is meant.
_NAMES = re.compile(
    r"\b(?:the|our|an?|each|every|this|that|these|those|my|your) [a-z]|(?<=\w )[A-Z][a-z]+|[\"“「《]", re.S
)
_OPENERS = frozenset(
    """
    What Who When Where Which How Why Is Are Was Were Do Does Did Can Could Should Will Would I And But Then Also So
    Please Tell Show Give Explain Describe Compare Compute Plot
    """.split()
)

_ARTICLE = r"(?:(?:the|our|a|an|my|your|this) )?"
_PHRASE = r"(?P<s>[\w%&/-]+(?: [\w%&/-]+){0,4}?)"
_DONE = r"(?:defined|computed|calculated|measured|made"
_OF = r"in|of|for|by|at|on|per|this|last|since"
_SUBJECTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:and |so |then )?(?:what|who|how much|how high|how large|how long)(?:'s| is| are| was| were) "
        rf"{_ARTICLE}{_PHRASE}(?: {_DONE}|{_OF}|today|now)\b.*)?[?.!]*$",
        r"^how (?:is|are|do (?:we|you|i)|does one) (?:define |compute |calculate |measure )?"
        rf"{_ARTICLE}{_PHRASE}(?: {_DONE}|work)\b.*)?[?.!]*$",
        rf"^(?:what (?:does|do)|how does|how do) {_ARTICLE}{_PHRASE} (?:mean|work|do|cost|stand for)\b.*$",
        r"^(?:please )?(?:tell me (?:more )?about|explain|define|describe|look at|show me|show|compute|plot|compare"
        rf"|remember:?) {_ARTICLE}{_PHRASE}(?: (?:{_OF}|is|are|means|=)\b.*)?[?.!]*$",
        rf"^{_ARTICLE}{_PHRASE} (?:is|are|means|was|were|stands for|equals|=) .+$",
    )
]
_SUBJECTS_ZH = [
    re.compile(pattern)
    for pattern in (
        r"^(?:请问|那么?|请)?(?:什么是|解释一?下?|介绍一?下?|说说|看看|查一?下|画出?|计算|统计)"
        r"(?P<s>[^，。？?！的是]{2,16})[？?。！]*$",
        r"^(?:请问|那么?|请|我们的?|公司的?)?(?P<s>[^，。？?！]{2,16}?)(?:的定义)?(?:是|指|怎么|如何|有|为)"
        r"(?:什么|多少|谁|怎么|如何|哪|指|算|定义|[^，。]{1,40}).*$",
        r"^(?:请问|那么?|请|我们的?)?(?P<s>[^，。？?！]{2,16})(?:呢|的定义|是多少|怎么样)[？?]*$",
    )
]
_AND = re.compile(r" and | or | vs\.? |,|和|与|或|、|及", re.I)
_NOUNLESS = re.compile(
    r"^(?:it|its|they|he|she|there|this|that|i|we|you|which|who|what|one|things?|someone|something"
    r"|answer|result|results|total|number|value|conclusion|difference|reason"
    r"|他|她|它|我|你|这|那|谁|哪.*|什么.*|有.*|没.*|今天.*|昨天.*)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]+(?: [A-Z][a-zà-ÿ]+)?\b")
# Names of persons in Chinese: a common family name and one or two characters, before a word that follows names.
_FAMILY = (
    "赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹章苏潘葛范彭鲁韦马方袁柳唐薛雷贺罗郝安常于傅齐康伍余顾"
    "孟黄萧尹邵汪毛戴宋庞熊纪舒项祝董梁杜阮蓝季贾江郭梅林钟徐高夏蔡田樊胡凌霍万卢莫房丁邓石崔龚程陆段侯武刘叶白温庄柴文"
    "向曾关欧邱"
)
_NAME_ZH = re.compile(
    r"(?<![\u4e00-\u9fff])(?:[\u4e00-\u9fff]{0,8}(?:是|叫|找|给|问|和))?"
    rf"(?P<n>[{_FAMILY}][\u4e00-\u9fff]{{1,2}}?)"
    r"(?=的|是|在|说|有|负责|喜欢|住|来|去|做|电话|，|。|？|$|吗|呢|能|会|和)"
)


def resolve(text: str, context: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    """The question with its first pronoun of each kind followed by what it stands for, and those pairs."""
    pairs: list[tuple[str, str]] = []
    if not context:
        return text, pairs
    for patterns, latest in (((_THING, _THING_ZH), _thing), ((_PERSON, _PERSON_ZH), _person)):
        found = next((match for pattern in patterns if (match := pattern.search(text))), None)
        if found is None or _EMPTY.search(text) or _names_one(text[: found.start()]):
            continue
        if name := _first(latest, context):
            pairs.append((found.group(), name))
            text = f"{text[: found.start()]}{found.group()} ({name}){text[found.end() :]}"
    return text, pairs


def _names_one(before: str) -> bool:
    """Whether the question names a thing or person ahead of its pronoun."""
    first, _, rest = before.strip().partition(" ")
    named = before if first not in _OPENERS else f"x {rest}"
    return bool(_NAMES.search(named)) or bool(
        re.search(r"[\u4e00-\u9fff]{2,}[的和，]$|[\u4e00-\u9fff]{3,}$", before)
    )


def _first(latest: object, context: Sequence[str]) -> str:
    """What the latest text that names anything names; "" where it names several."""
    for said in list(reversed(context))[:TURNS]:
        names = latest(said)  # type: ignore[operator]
        if names:
            return str(names[0]) if len(names) == 1 else ""
    return ""


def _thing(said: str) -> list[str]:
    """Subjects of the first sentence of a text."""
    sentence = re.split(r"(?<=[.!?。！？])\s*", " ".join(said.split()), maxsplit=1)[0]
    for pattern in (*_SUBJECTS, *_SUBJECTS_ZH):
        match = pattern.match(sentence)
        if match and not _NOUNLESS.match(match["s"]):
            return [part.strip() for part in _AND.split(match["s"]) if part.strip()]
    return []


def _person(said: str) -> list[str]:
    """Persons that a text names."""
    names = [name for name in _NAME.findall(said) if name.split()[0] not in _OPENERS]
    names += [match["n"] for match in _NAME_ZH.finditer(said)]
    return list(dict.fromkeys(names))
