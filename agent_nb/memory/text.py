"""Text → tokens, for memories and questions in English, Chinese and both at once."""

from __future__ import annotations

import functools
import re
from typing import Any

_WORD = re.compile(r"[A-Za-z0-9]+(?:'[a-z]+)?|[\u3400-\u9fff]+|[^\W\d_A-Za-z\u3400-\u9fff]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])")  # a code like 9E stays whole
_CJK = re.compile(r"[\u3400-\u9fff]")
_STOP = frozenset(
    """a an the of in on at to for from by with about into over under and or but if then than as is are was were be
    been being am do does did done have has had having will would can could should shall may might must i me my
    mine we us our you your he him his she her it its they them their this that these those there here what which
    who whom whose when where why how any some please tell show give remember know let s t don doesn didn isn aren
    wasn weren won wouldn shouldn couldn ll re ve d m""".split()
)
# Question words and particles; Chinese has no blanks, so they also separate what stands around them.
_STOP_CJK = re.compile(
    "什么|怎么样|怎么|怎样|如何|为什么|哪些|哪个|哪里|哪|多少|几个|是否|有没有|请问|请|告诉|记住|记得|一下|我们|你们|他们|我|你|他|她|它|"
    "的|了|吗|呢|吧|啊|是|在|和|与|或|及|这|那|个|都|也|就|把|被|让|给|对|算|指|为|有|会|能|要|应该|按|用"
)


def tokens(text: str) -> list[str]:
    """The terms of a text, in order: stemmed English words, character bigrams of Chinese, numbers.

    Identifiers are split (`dep_delay`, `depDelay` → dep, delay); question words and particles are dropped.
    """
    found: list[str] = []
    for word in _WORD.findall(_CAMEL.sub(" ", text.replace("_", " "))):
        if _CJK.match(word):
            for run in _STOP_CJK.split(word):
                found += (
                    [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run] if run else []
                )
        else:
            lower = word.lower().split("'")[0]
            if lower not in _STOP:
                found.append(_stem(lower))
    return found


@functools.lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word


@functools.cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def normal(text: str) -> str:
    """A text as duplicates are compared: case, blanks and closing marks do not count."""
    return " ".join(text.casefold().split()).rstrip(".。!！;；, ，")
