"""What a user says in passing: it stays short-term until it was said three times, and is then promoted.

A statement is counted once a run, by its topic; another value of the same topic starts anew, and what is taken back
in the session in which it was said is gone.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import re
from typing import Any

from ..redact import has_secret
from . import claims, relations, statement
from .text import normal

TIMES = 3
KEPT_DAYS = 90
"""What nobody repeated for so long is no longer counted."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;])|\n+")
_TAKEN_BACK = re.compile(
    r"\b(?:scratch that|forget (?:that|what i said)|never ?mind|i take (?:it|that) back|ignore what i said)\b"
    r"|算了|当我没说|收回(?:刚才|前面)?的?话?|刚才说的不算",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"^(?:no|nope|wrong|not quite|(?:that|this|it)(?: is|'s) (?:wrong|not right|incorrect)|incorrect|actually)"
    r"\s*[,.:;!–—-]+\s*(?P<en>.+)$"
    r"|^(?:不对|错了|不是这样|你错了|说错了|弄错了)[，,。：:！!\s]*(?:应该是|应为|其实|实际上)?[，,：:]?(?P<zh>.+)$",
    re.IGNORECASE,
)
_PASSING = re.compile(r"^(?:by the way|fyi|btw|note|顺便说一下|顺便说)[,:，：]?\s*", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Said:
    """A sentence of the user's that states something; `corrects` where it puts something right."""

    text: str
    topic: str
    corrects: bool = False


def statements(goal: str, after_failure: bool = False) -> list[Said]:
    """What the user's own words state: wishes, facts about them, definitions; no questions and no orders."""
    found = []
    for sentence in _SENTENCE.split(goal[:5_000]):
        sentence = _PASSING.sub("", sentence.strip())
        corrected = _CORRECTED.match(sentence)
        text = (corrected["en"] or corrected["zh"]).strip() if corrected else sentence
        if not text or has_secret(text):
            continue
        claim = claims.read(text)
        if claim and (_personal(text, claim) or ((corrected or after_failure) and _tells(text, claim))):
            found.append(Said(text, claim.topic, bool(corrected or after_failure)))
    return found


def takes_back(goal: str) -> bool:
    """Whether the user takes back what was said before."""
    return bool(_TAKEN_BACK.search(goal))


def count(db: Any, user: str, said: Said, session: str, run: str) -> int:
    """How often it was said, this time included; another value of the same topic begins again."""
    now = datetime.datetime.now(datetime.UTC)
    old = (now - datetime.timedelta(days=KEPT_DAYS)).isoformat()
    db.execute("DELETE FROM heard WHERE user=? AND last<?", (user, old))
    topic = _key(said.topic)
    text = said.text.encode("utf-8", "replace").decode()
    row = db.execute("SELECT text, runs FROM heard WHERE user=? AND topic=?", (user, topic)).fetchone()
    again = row and (normal(row[0]) == normal(text) or claims.compare(row[0], text) == claims.SAME)
    runs = json.loads(row[1]) if again else []
    if run not in runs or not run:
        runs.append(run)
    db.execute(
        "INSERT INTO heard (user, topic, text, runs, session, last) VALUES (?,?,?,?,?,?)"
        " ON CONFLICT (user, topic) DO UPDATE SET text=excluded.text, runs=excluded.runs,"
        " session=excluded.session, last=excluded.last",
        (user, topic, text, json.dumps(runs), session, now.isoformat()),
    )
    return len(runs)


def forget(db: Any, user: str, session: str) -> int:
    """Nothing said in that session counts any longer. Returns how many statements went."""
    return int(db.execute("DELETE FROM heard WHERE user=? AND session=?", (user, session)).rowcount)


def drop(db: Any, user: str, topic: str) -> None:
    """It was promoted, and need not be counted any longer."""
    db.execute("DELETE FROM heard WHERE user=? AND topic=?", (user, _key(topic)))


def _key(topic: str) -> str:
    # Not in words: what is erased from the text must not be readable in its topic.
    return hashlib.sha256(topic.encode("utf-8", "replace")).hexdigest()[:32]


_WISH = re.compile(
    r"^(?:please )?(?:always|never|do not ever|don't ever|from now on)\b"
    r"|^(?:以后|今后)?(?:请)?(?:一律|总是|永远|每次都|不要再)",
    re.IGNORECASE,
)


_OWN = re.compile(r"(?:allergic|likes|prefers|lives|works|named|born|boss|married) user\b")


def _personal(text: str, claim: claims.Claim) -> bool:
    """About the user, a standing wish, or what a word means."""
    if _WISH.search(text) or _OWN.match(claim.topic):
        return True
    if any(t.subject.startswith(relations.USER) for t in relations.triples(text)):
        return True
    return statement.read(text).attribute in ("means", "likes", "favourite") and not _ASKED.match(text)


_ASKED = re.compile(
    r"^(?:which|what|who|when|where|how|why|show|list|count|plot|draw|compare|find|give|compute|calculate|tell|is|are|do"
    r"|does|can|could|would)\b|^(?:哪|什么|谁|怎么|为什么|请?(?:统计|列出|画|计算|比较|找出|告诉|给我|显示))",
    re.IGNORECASE,
)


def _tells(text: str, claim: claims.Claim) -> bool:
    return not claim.topic.startswith("holds ") and not _ASKED.match(text)
