"""English sentences as claims: which words name the topic, which mean the same, which deny."""

from __future__ import annotations

import re

_FULL = {
    "i'm": "I am",
    "can't": "cannot",
    "won't": "will not",
    "i've": "I have",
    "it's": "it is",
    "we're": "we are",
}
_SHORT = re.compile(r"\b(?:" + "|".join(_FULL) + r")\b", re.IGNORECASE)
_FILLER = re.compile(
    r"^(?:please |note that |remember that )+|\b(?:still|now|currently|really|also|just|always|already) ",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:(?:do|does|did) not|is not|are not|was not|cannot|must not|should not|will not|may"
    r" not|not|never|no longer)\b",
    re.IGNORECASE,
)
_DROPPED = set(
    """the a an our we you they it its i my customers customer users people client clients goods items files file
    pieces may can must should will be is are was were been have has had do does to of for in on at by with from
    within per each every that which when if as get gets receive need needs require counts count counted over
    under more than after before until about keep held take takes last and there this these those any all
    schedule considered called""".split()
)
_SAME = {
    "return": "refund", "returned": "refund", "returns": "refund", "window": "period", "term": "period",
    "deadline": "deadline", "costs": "price", "cost": "price", "limit": "max", "maximum": "max", "most": "max",
    "minimum": "min", "least": "min", "delayed": "late", "delay": "late", "payment": "pay", "pays": "pay",
    "opening": "open", "opens": "open", "founding": "found", "founded": "found", "meeting": "meet",
    "meets": "meet", "shipping": "ship", "shipped": "ship", "ends": "end", "ended": "end", "expires": "end",
    "expire": "end", "vat": "vat", "colour": "color", "favourite": "favorite", "leads": "head", "means": "",
    "mean": "", "leader": "head", "answer": "reply", "response": "reply", "audit": "audit", "place": "",
}  # fmt: skip
_OPPOSITES = [
    (r"\bwithout\b", "with"), (r"\bclosed\b", "open"), (r"\bprivate\b", "public"), (r"\binactive\b", "active"),
    (r"\bdisabled\b", "enabled"), (r"\bforbidden\b", "allowed"), (r"\boff\b", "on"), (r"\bunavailable\b", "available"),
    (r"\boptional\b", "required"), (r"\bhidden\b", "shown"), (r"\bexcluded\b", "included"),
]  # fmt: skip
_VERBS = (
    r"shipped from|sent to|run(?:s)? on|go(?:es)? to|hosted (?:on|in|by)|stored (?:in|on)|reported in|shown in|called"
    r"|located in|written in|assigned to|owned by|named|kept in|paid in|delivered (?:by|from)|handled by"
)
_TOLD = re.compile(
    rf"^(?P<s>.{{2,60}}?) (?:(?:is|are|was|were) )?(?P<r>{_VERBS}) (?P<v>.{{1,60}})$", re.IGNORECASE
)
_ORDER = re.compile(
    r"^(?P<s>(?:send|report|ship|forward|show|write|store|save|give|deliver) .{2,60}?) (?P<r>to|in|as|from) "
    r"(?P<v>[\w .&'-]{1,40})$",
    re.IGNORECASE,
)
_ROLE = re.compile(r"^(?P<v>[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,3}) is (?:the|our) (?P<s>[\w -]{2,50})$")
_MEANS = re.compile(
    r"^(?:an? |the )?(?P<s>[\w %/-]{2,50}?) (?:means?|refers? to|is defined as|stands for|equals|=) (?P<v>.+)$"
    r"|^(?P<s2>[\w %/-]{2,50}?)\s*=\s*(?P<v2>.+)$",
    re.IGNORECASE,
)
_IS = re.compile(r"^(?P<s>[\w '’&/-]{2,60}?)(?: is| are|:) (?:the |an? |our )?(?P<v>[\w .&'’/-]{1,50})$")
_SINGLE = re.compile(
    r"\b(?:status|state|colou?r|name|currency|capital|format|language|time ?zone|version|editor|default|main|favou?rite"
    r"|theme|unit|priority|deadline|provider)\b",
    re.IGNORECASE,
)
_LIVES = re.compile(r"^(?P<v>[A-Z][\w -]*?) is where (?P<s>.+?) lives?$")


def plain(sentence: str) -> str:
    """Short forms written out, filler words and marks left out."""
    sentence = sentence.replace("’", "'")
    sentence = _SHORT.sub(lambda m: _FULL[m.group().lower()], sentence)
    sentence = re.sub(r"\b(\w+)n't\b", r"\1 not", sentence)
    return " ".join(_FILLER.sub("", sentence).split())


def special(sentence: str) -> tuple[str, str, bool] | None:
    """Sentences whose sense is not in their words: (topic, value, holds)."""
    if m := re.match(
        r"I can (?:eat|drink|have) (?P<o>.+?) (?:without|with no) (?:any )?(?:problem|trouble)s?$", sentence
    ):
        return f"allergic user | {same(m['o'])}", "", False
    if m := re.match(r"I am not allergic to (?P<o>.+)$", sentence):
        return f"allergic user | {same(m['o'])}", "", False
    if m := _LIVES.match(sentence):
        return f"lives {same(m['s'])}", same(m["v"]), True
    if m := re.match(r"I (?P<not>do not |never )?(?:eat|drink) (?P<o>[\w ]{2,40})$", sentence):
        return f"likes user | {same(m['o'])}", "", not m["not"]
    return None


def denied(sentence: str) -> tuple[str, bool]:
    """The sentence without its denial, and whether it holds."""
    positive = _DENIED.sub("", sentence)
    positive = re.sub(r"\balways \b", "", positive, flags=re.IGNORECASE)
    return " ".join(positive.split()), len(_DENIED.findall(sentence)) % 2 == 0


def opposite(sentence: str, holds: bool) -> tuple[str, bool]:
    """Words that have an opposite, said by one of the two."""
    for word, other in _OPPOSITES:
        sentence, n = re.subn(word, other, sentence, flags=re.IGNORECASE)
        holds = holds if n % 2 == 0 else not holds
    return sentence, holds


def words(sentence: str) -> list[str]:
    """The words that count, in order."""
    found = re.findall(r"[a-z0-9'%/+-]+|[^\W\da-z]+", sentence.lower().replace("⟨", " ").replace("⟩", " "))
    kept = [_SAME.get(word, word) for word in found if word not in _DROPPED]
    return [stem(word) for word in kept if word]


def measured(rest: str, kind: str, amount: str) -> str:
    """The topic of a sentence whose amount was cut out as ⟨kind⟩."""
    if kind == "time":
        rest = re.sub(r"\b(?:within|after|up to) (?:the last )?(?=⟨)", "period ", rest)
        rest = re.sub(r"\btime\b", "duration", rest)
        rest = re.sub(r"\btakes? (?=⟨)", "duration ", rest)
    if kind == "moment":
        rest = re.sub(r"\b(?:time|date|year|day)\b", "", rest) if len(words(rest)) > 2 else rest
        rest = re.sub(r"\b(?:fiscal|financial|business)(?! year)\b", "fiscal year", rest)
    found = set(words(rest))
    return " ".join(sorted(found))


def named(sentence: str) -> tuple[str, str] | None:
    """Topic and value of a sentence that gives a thing a name, a place, a meaning."""
    if m := _MEANS.match(sentence):
        value = m["v"] or m["v2"]
        value = re.sub(r"\s[-−–]\s", " minus ", re.sub(r"\s\+\s", " plus ", value))
        return "means " + _topic(m["s"] or m["s2"]), same(value)
    for rule in (_TOLD, _ORDER):
        if m := rule.match(sentence):
            relation = re.sub(r"^(runs|goes)", lambda r: {"runs": "run", "goes": "go"}[r[1]], m["r"].lower())
            return f"{relation} {_topic(m['s'])}", same(m["v"])
    if m := _ROLE.match(sentence):
        return "is " + _topic(m["s"]), same(m["v"])
    m = _IS.match(sentence)
    if (
        m
        and (_SINGLE.search(m["s"]) or _proper(m["v"]))
        and not re.match(r"(?:it|this|that|there)\b", m["s"], re.I)
    ):
        if _proper(m["s"]) and not re.match(r"(?:The|Our) ", m["s"]) and not _SINGLE.search(m["s"]):
            return None
        return "is " + _topic(m["s"]), same(m["v"])
    return None


def same(text: str) -> str:
    """A name or value as it is compared."""
    text = re.sub(r"^(?:the|an?|our|my|any) ", "", text.strip().lower())
    return " ".join(stem(word) for word in re.findall(r"[\w%.+&-]+", text))


def kind(what: str) -> str:
    """What sort of thing is preferred: bar charts and line charts are charts."""
    return what.split()[-1]


def _topic(subject: str) -> str:
    return " ".join(sorted(set(words(subject))))


def _proper(value: str) -> bool:
    return bool(re.match(r"(?:[A-Z][\w.&'-]*)(?: (?:[A-Z][\w.&'-]*|of|de|van|&))*$", value))


def stem(word: str) -> str:
    """A word without the endings of number and tense."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            root = word[: -len(ending)]
            return (
                root[:-1]
                if ending in ("ing", "ed") and root[-1] == root[-2] and root[-1] not in "ls"
                else root.rstrip("e")
            )
    return word.rstrip("e") if len(word) > 4 else word
