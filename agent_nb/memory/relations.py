"""Triples in a sentence (user –dislikes→ coffee), by rules in English and Chinese.

A question, a condition, a guess, something denied or something that was once so gives no triple: what a triple
says is taken as a constraint later.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from . import statement

USER = "user"
"""Subject of what is said in the first person."""


@dataclasses.dataclass(frozen=True, order=True)
class Triple:
    """`subject` –`relation`→ `object`, the names as they were written and untranslated.

    `relation` is one of RELATIONS, or the attribute's own word where a sentence names one ("capital", "负责人").
    """

    subject: str
    relation: str
    object: str


RELATIONS = (
    "likes dislikes prefers avoids allergic_to lives_in works_at works_as named born_in speaks manages reports_to"
    " is_a contains part_of located_in owns uses member_of married_to is means"
).split()
_MANY = {"likes", "dislikes", "avoids", "allergic_to", "speaks", "contains", "owns"}
_Rules = list[tuple[str, re.Pattern[str]]]

_WHO = r"(?P<s>I|[Ww]e|[Tt]he user|(?:[Mm]y|[Oo]ur) [a-z]+|[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,3})"
_THING = r"(?:(?:the|our|an?) )?(?P<s>[\w'’/-]+(?: [\w'’/-]+){0,4}?)"
_VERY = r"(?:(?:really|also|just|very much|strongly|absolutely|generally|usually) )*"
_O = r"(?:(?:an?|the|our|any) )?(?P<o>[^,.;:!?]{1,80}?)(?: (?:very much|a lot|at all|these days|now))?"
_ENGLISH: _Rules = [
    (relation, re.compile(f"^{pattern}$"))
    for relation, pattern in [
        ("allergic_to", rf"{_WHO} (?:am|is|are) {_VERY}allergic to (?P<o>.+?)"),
        ("allergic_to", rf"{_WHO} (?:have|has) an? (?P<o>[\w -]+?) allergy"),
        ("allergic_to", rf"{_WHO} (?:have|has) an allergy (?:to|against) {_O}"),
        ("allergic_to", rf"{_WHO} (?:am|is|are) (?P<o>\w+)[ -]intolerant"),
        ("prefers", rf"{_WHO} {_VERY}prefers? {_O}(?: (?:over|to|rather than|instead of) .+)?"),
        ("prefers", rf"{_WHO} would rather (?:have|drink|eat|use|take) {_O}"),
        (
            "dislikes",
            rf"{_WHO} {_VERY}(?:(?:do|does) not {_VERY}(?:like|enjoy|love|want)|dislikes?|hates?|detests?"
            rf"|cannot stand|cannot bear|(?:am|is|are) not (?:a fan of|fond of|into)) {_O}",
        ),
        ("likes", rf"{_WHO} {_VERY}(?:likes?|loves?|enjoys?|adores?|(?:am|is) fond of|(?:am|is) a fan of) {_O}"),
        ("avoids", rf"{_WHO} {_VERY}(?:avoids?|(?:(?:do|does) not|never|cannot) (?:eat|drink|have|take|use)s?) {_O}"),
        ("avoids", rf"{_WHO} never (?:eats|drinks) {_O}"),
        ("lives_in", rf"{_WHO} (?:lives?|(?:have |has )?moved|(?:am|is) based) (?:in|to|at) {_O}"),
        ("works_at", rf"{_WHO} (?:works?|(?:am|is) employed) (?:at|for|with) {_O}"),
        ("works_as", rf"{_WHO} works? as {_O}"),
        ("member_of", rf"{_WHO} (?:(?:am|is|are) (?:an? )?(?:member) of) {_O}"),
        ("member_of", r"(?i:(?P<s>I|we) belong to (?:the )?(?P<o>.{1,60}))"),
        ("married_to", rf"{_WHO} (?:am|is) married to {_O}"),
        ("named", r"(?i:(?P<s>my) name is (?P<o>[\w .'’-]{1,40}))"),
        ("named", r"(?i:(?P<s>call me) (?P<o>[\w .'’-]{1,40}))"),
        ("born_in", rf"{_WHO} (?:was|were) born in {_O}"),
        ("speaks", rf"{_WHO} speaks? (?P<o>[A-Z][\w ,]*)"),
        ("reports_to", rf"{_WHO} reports? to {_O}"),
        ("manages", rf"{_WHO} (?:leads|heads|manages|runs|lead|head|manage|run) (?:the|our) (?P<o>[\w '’-]{{1,60}})"),
        ("manages", rf"{_WHO} (?:am|is) (?:responsible for|in charge of|the head of) {_O}"),
        ("is_a", rf"(?i:{_THING} (?:is|are) (?:a |an )?(?:kinds?|types?|sorts?|forms?) of {_O})"),
        ("is_a", r"(?P<s>(?!We|They|These|Those|You)[A-Z][a-z]+s) are (?P<o>[a-z]+s)"),
        ("contains", rf"(?i:{_THING} (?:contains?|includes?|(?:is|are) made (?:of|from|with)) {_O})"),
        ("contains", rf"(?i:{_THING} (?:has|have) {_O} in (?:it|them))"),
        ("part_of", rf"(?i:{_THING} (?:is|are) (?:a )?part of {_O})"),
        ("part_of", rf"(?i:{_THING} belongs? to {_O})"),
        ("located_in", rf"{_THING} (?:is|are) (?:located |situated |based )?in (?P<o>(?:the )?[A-Z][\w -]*)"),
        ("owns", rf"{_WHO} owns? {_O}"),
        (
            "owns",
            rf"{_WHO} (?:have|has) (?:an?|two|three|four) (?P<o>(?:dog|cat|car|horse|house|bike|boat|garden"
            rf"|bird)s?)",
        ),
        ("uses", rf"{_THING} uses? (?P<o>[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*)*)(?: (?:for|as|to) .+)?"),
        ("works_as", r"(?P<s>I|(?:my|our) [a-z]+|[A-Z][\w-]* [A-Z][\w-]*) (?:am|is) an? (?P<o>[a-z][\w -]{1,40})"),
        ("is_a", r"(?:[Aa]n? )(?P<s>[\w -]{1,40}?) is an? (?P<o>[\w -]{1,40})"),
    ]
]  # fmt: skip
_OWN_WORD = [  # the sentence names its relation itself
    re.compile(r"^(?P<s>my|our) (?P<r>[\w -]{1,40}?) (?:is|are) (?:now )?(?P<o>.{1,80})$", re.IGNORECASE),
    re.compile(r"^(?P<s>[A-Z][\w-]*(?: [A-Z][\w-]*){0,2})['’]s (?P<r>[\w -]{1,40}?) (?:is|are) (?P<o>.{1,80})$"),
    re.compile(
        r"^the (?P<r>[\w-]+(?: [\w-]+)?) of (?:the |our )?(?P<s>[\w '’-]{1,50}?) (?:is|are) (?:now )?(?P<o>.{1,80})$",
        re.IGNORECASE,
    ),
    re.compile(r"^(?P<s>我|用户|[\u4e00-\u9fffA-Za-z0-9]{1,12}?)们?的(?P<r>[\u4e00-\u9fff]{2,8})(?:现在)?(?:是|为)(?P<o>[^，。]{1,40})$"),
]  # fmt: skip

_ZH_WHO = r"(?P<s>我们?|用户|我[\u4e00-\u9fff]{2}|小[\u4e00-\u9fff]|老[\u4e00-\u9fff]|[\u4e00-\u9fff]{2,3}|[A-Z]\w*)"
_ZH_THING = r"(?:这款|这种|这个)?(?P<s>[\u4e00-\u9fffA-Za-z0-9]{1,12}?)"
_ZH_O = r"(?P<o>[^，。；！？]{1,30}?)"
_ZH_VERY = r"(?:很|非常|特别|最|也|都|真的|比较|一直)*"
_CHINESE: _Rules = [
    (relation, re.compile(f"^{pattern}$"))
    for relation, pattern in [
        ("allergic_to", rf"{_ZH_WHO}对{_ZH_O}{_ZH_VERY}(?:过敏|不耐受)"),
        ("allergic_to", rf"{_ZH_WHO}(?:有)?{_ZH_O}(?:过敏|不耐受)"),
        (
            "prefers",
            r"比起.{1,20}?[，,]?(?P<s>我们?|用户|[小老][\u4e00-\u9fff])"
            r"更?(?:喜欢|爱|愿意)(?:喝|吃|用)?(?P<o>[^，。]{1,20})",
        ),
        ("prefers", rf"{_ZH_WHO}(?:偏好|更愿意|更喜欢|宁愿|偏爱)(?:喝|吃|用|选)?{_ZH_O}"),
        ("dislikes", rf"{_ZH_WHO}{_ZH_VERY}(?:不{_ZH_VERY}(?:喜欢|爱)|讨厌|厌恶|受不了)(?:喝|吃|用)?{_ZH_O}"),
        ("dislikes", rf"{_ZH_WHO}对{_ZH_O}(?:不感兴趣|没兴趣)"),
        ("likes", rf"{_ZH_WHO}{_ZH_VERY}(?:喜欢|热爱|爱)(?!的)(?:喝|吃|用)?{_ZH_O}"),
        ("avoids", rf"{_ZH_WHO}(?:从不|从来不|不|不能)(?:吃|喝|碰|用){_ZH_O}"),
        ("avoids", rf"{_ZH_WHO}(?:忌口|忌|避免){_ZH_O}"),
        ("lives_in", rf"{_ZH_WHO}(?:住在|居住在|(?:已经)?搬到|搬去|家在){_ZH_O}了?"),
        ("works_at", rf"{_ZH_WHO}在{_ZH_O}(?:工作|上班|任职)"),
        ("born_in", rf"{_ZH_WHO}(?:出生在|出生于|生在){_ZH_O}"),
        ("named", rf"(?P<s>我)(?:的名字)?(?:叫做?|名叫){_ZH_O}"),
        ("named", rf"(?P<s>我)的名字是{_ZH_O}"),
        ("speaks", rf"{_ZH_WHO}会?(?:说|讲)(?P<o>[\u4e00-\u9fff、和]{{1,20}}[语话文]|[\u4e00-\u9fff]语)"),
        ("reports_to", rf"{_ZH_WHO}(?:向|给){_ZH_O}汇报(?:工作)?"),
        ("married_to", rf"{_ZH_WHO}(?:和|跟|与){_ZH_O}(?:结婚了?|是夫妻)"),
        ("member_of", rf"{_ZH_WHO}是{_ZH_O}的?(?:成员|会员|一员)"),
        ("member_of", rf"{_ZH_WHO}(?:加入了?|参加了){_ZH_O}"),
        ("manages", rf"{_ZH_WHO}(?:带领|领导|负责|管理|主管){_ZH_O}"),
        (
            "manages",
            r"(?P<o>[\u4e00-\u9fffA-Za-z0-9]{2,12}?)"
            r"由(?P<s>[\u4e00-\u9fffA-Z]\w{0,3}?)(?:带领|领导|负责|管理)",
        ),
        ("is_a", rf"{_ZH_THING}(?:是一[种类款]|(?<!隶)(?<!归)属于){_ZH_O}(?:的一种)?"),
        ("contains", rf"{_ZH_THING}(?<!不)(?:里|中)?(?:含有?|含着|包含|里有|中有){_ZH_O}"),
        ("contains", rf"{_ZH_THING}是?用{_ZH_O}做的"),
        ("part_of", rf"{_ZH_THING}是{_ZH_O}的一部分"),
        ("part_of", rf"{_ZH_THING}(?:隶属于|归属于?|归)(?P<o>[^，。；！？管]{{1,20}}?)(?:管)?"),
        ("works_as", rf"{_ZH_WHO}是(?:一?[名个位])(?P<o>[\u4e00-\u9fff]{{2,10}})"),
        ("works_as", r"(?P<s>我)是(?P<o>[\u4e00-\u9fff]{1,8}(?:师|员|医生|护士|经理|工|家|教授|老师|学生))"),
        (
            "owns",
            rf"{_ZH_WHO}(?:拥有|养了?|(?=有(?:一[家只条间辆座]|[两三几])))"
            rf"有?(?:一[家只条间辆座])?(?P<o>[\u4e00-\u9fff]{{1,10}})",
        ),
        (
            "uses",
            r"(?P<s>我们?|团队|公司|[\u4e00-\u9fff]{1,3}[组部])(?:都|一直)?(?:使用|在用"
            r"|用)(?P<o>[\u4e00-\u9fffA-Za-z0-9.+#]{2,20})",
        ),
        # 现在 is "now"; what must, may or will be 在 … 内 happens in a time, not at a place.
        (
            "located_in",
            rf"{_ZH_THING}(?:位于|坐落在|设在|(?<![现须该要应会能可将])在"
            r"(?![^，。]{0,8}(?:内|[以之]?[前后]|期间|时|[日号点天周月年])))(?P<o>[\u4e00-\u9fff]{2,8})",
        ),
        (
            "is_a",
            r"(?P<s>[\u4e00-\u9fff]{2,4})是"
            r"(?P<o>坚果|水果|海鲜|蔬菜|甜点|饮料|咖啡|茶|酒|肉类|乳制品|谷物|药|调料|零食)",
        ),
    ]
]  # fmt: skip

_FULL = {
    "i'm": "I am", "don't": "do not", "doesn't": "does not", "can't": "cannot", "isn't": "is not", "aren't": "are not",
    "i'd": "I would", "i've": "I have", "won't": "will not", "didn't": "did not", "wasn't": "was not",
}  # fmt: skip
_SHORT = re.compile(r"\b(?:" + "|".join(_FULL).replace("'", "['’]") + r")\b", re.IGNORECASE)
_NO_TRIPLE = re.compile(
    r"[?？吗呢]\s*$|^(?:if|when|whenever|unless|do|does|did|is|are|who|which|what|where|how|why|please|thanks)\b"
    r"|\b(?:might|may|maybe|perhaps|probably|could|used to|no longer|not allergic|not any ?more|will)\b"
    r"|^(?:如果|假如|要是|请|谁|哪|什么|谢谢)|可能|也许|大概|以前|曾经|不再|不过敏|过去|将来",
    re.IGNORECASE,
)
_CUES = re.compile(  # no rule fits a sentence without one of these; most sentences have none
    r"(?i:\b(?:am|is|are|was|were|ha[sv]e?|allergic|allergy|intolerant|prefers?|rather|likes?|loves?|enjoys?|adores?|not|never"
    r"|dislikes?|hates?|detests?|cannot|avoids?|lives?|moved|works?|belongs?|call|speaks?|reports?|leads?|heads?|manages?"
    r"|runs?|contains?|includes?|owns?|uses?|means?|equals?)\b)|[=\u4e00-\u9fff]"
)
_AND = re.compile(r"\s*(?:,|、|\band\b|\bor\b|和|与|以及|或)\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;])|\n+")
_ARTICLE = re.compile(r"^(?:an?|the|our|some|any) ", re.IGNORECASE)
_ADVERBS = re.compile(r"^(?:please )?(?:also |note that |remember that |and )+", re.IGNORECASE)
_TELLING = re.compile(r"\d|^[A-Z\u4e00-\u9fff]")
_DENIED = re.compile(r"^(?:not|no|never)\b|^不")


def triples(text: str) -> list[Triple]:
    """The triples that `text` states, sentence by sentence, in order and each once; [] where rules find none."""
    found: dict[Triple, None] = {}
    for sentence in _SENTENCE.split(text[:20_000]):
        found |= dict.fromkeys(_stated(sentence))
    return [triple for triple in found if triple.subject and triple.object]


def _stated(sentence: str) -> Iterator[Triple]:
    sentence = " ".join(sentence.split())
    sentence = _SHORT.sub(lambda m: _FULL[m.group().lower().replace("’", "'")], sentence)
    sentence = _ADVERBS.sub("", sentence)
    if not sentence or len(sentence) > 200 or not _CUES.search(sentence) or _NO_TRIPLE.search(sentence):
        return
    sentence = sentence.rstrip(".。!！;； ")
    chinese = bool(re.search(r"[\u4e00-\u9fff]", sentence))
    for relation, rule in _CHINESE if chinese else _ENGLISH:
        if m := rule.match(sentence):
            objects = _AND.split(m["o"]) if relation in _MANY else [m["o"]]
            for one in objects:
                yield Triple(_subject(m["s"]), relation, _named(one))
            return
    for rule in _OWN_WORD:
        m = rule.match(sentence)
        if m and not _DENIED.match(m["o"]):
            relation = m["r"].strip() if chinese else m["r"].strip().lower()
            yield Triple(_subject(m["s"]), relation, _named(m["o"]))
            return
    said = statement.read(sentence)
    if not said.subject or _DENIED.match(said.value):
        return
    if said.attribute == "means" or (said.attribute == "is" and _TELLING.search(said.value)):
        yield Triple(_named(said.subject), said.attribute, _named(said.value))


def _subject(name: str) -> str:
    name = name.strip()
    if name.lower() in ("i", "we", "my", "our", "call me", "the user", "user", "我", "我们", "用户"):
        return USER
    if m := re.match(r"(?:my|our) (.+)", name, re.IGNORECASE):
        return f"{USER}'s {m[1]}"
    if re.fullmatch(r"我[\u4e00-\u9fff]{2,3}", name):
        return f"{USER}的{name[1:].lstrip('的')}"
    return _named(name)


def _named(name: str) -> str:
    return _ARTICLE.sub("", name.strip(" \"“”'‘’"))
