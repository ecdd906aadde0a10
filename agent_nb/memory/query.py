"""Gate 1: what a question asks for. By rules alone: terms, dates, what a pronoun stands for, the user's synonyms."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from typing import Any

from . import dates, numerals, pronouns, synonyms
from .text import searchable, share, spelled, tokens

Json = dict[str, Any]

SHOWN = 30
# What a question about a time asks without naming a subject: "what did we decide last month?"
_OPEN_WORDS = frozenset(
    """
    decid decis happen discuss talk say tell said learn note agre plan remember know new thing anyth someth everyth
    updat chang conclud conclus topic up been go on record memori write conversa chat els find make made do did
    决定 决策 决议 发生 讨论 聊 说 做 事 事情 记录 记 谈 内容 结论 知道 学 新 改 变化 聊天 聊过 说过 做过 记过 论过 定过
    些事 定些 做些 聊些 说些 生些 出些 些决 哪件
    """.split()
)


@dataclasses.dataclass(frozen=True)
class Query:
    """A question as gate 2 searches for it.

    Args:
        text: with pronouns resolved: what an embedder reads. terms: what is looked for, in order.
        also: synonyms, term → (what it stands for, its part of 1).
        dates: ranges that the question names. only_dated: it names nothing but a time.
        resolved: pairs of pronoun and what it stands for. synonyms: pairs of term and what it also means.
    """

    text: str
    terms: tuple[str, ...]
    also: tuple[synonyms.Alternative, ...] = ()
    dates: tuple[dates.Span, ...] = ()
    only_dated: bool = False
    resolved: tuple[tuple[str, str], ...] = ()

    def gate(self, entered: int) -> Json:
        """Gate 1 as it is shown."""
        said = [f"terms: {' '.join(self.terms[:SHOWN]) or 'nothing to look for'}"]
        said += [f"{pronoun} → {name}" for pronoun, name in self.resolved]
        said += [str(span) for span in self.dates]
        said += [f"{each.term} = {each.means}" for each in self.also]
        return {
            "name": "query",
            "entered": entered,
            "left": len(self.terms),
            "why": "; ".join(said),
            "terms": list(self.terms),
            "dates": [
                {"words": span.words, "from": span.start.isoformat(), "to": span.end.isoformat()}
                for span in self.dates
            ],
            "resolved": [list(pair) for pair in self.resolved],
            "synonyms": [[each.term, each.means] for each in self.also],
        }


def read(
    text: str,
    now: datetime.datetime,
    table: Sequence[tuple[str, str]] = (),
    context: Sequence[str] = (),
) -> Query:
    """Read a question.

    Args:
        now: aware; its zone is the asker's. table: the user's synonyms.
        context: what was said before in the session, the latest last.
    """
    whole, resolved = pronouns.resolve(text, context)
    plain = numerals.as_digits(spelled(whole))
    spans = dates.spans(plain, now)
    terms = list(dict.fromkeys(searchable(_without(plain, spans))))
    # A time that several words name is left out of what is looked for, except what memories say as well.
    asked = [term for term in terms if term not in _OPEN_WORDS and share(term) == 1] if spans else terms
    only = bool(spans) and not asked
    for span in spans:
        terms += [term for word in span.terms for term in tokens(word) if term not in terms]
    also = synonyms.alternatives(tokens(plain), table) if table else []
    return Query(whole, tuple(terms), tuple(also), tuple(spans), only, tuple(resolved))


def _without(text: str, spans: Sequence[dates.Span]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.at[0]]} {text[span.at[1] :]}"
    return text
