"""Text → tokens, for memories and questions in English, Chinese and both at once; other scripts word by word."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from . import numerals
from .vocabulary import CUT, FAINT, GENERAL, IRREGULAR, KANA, MEASURES, SIMPLER, STOP, WHOLE, WORDS

TOKENS_VERSION = 4
"""Grows whenever `tokens` or `draft.terms_of` gives other terms: stored ones of an older version are made anew."""

CHARACTER, STRADDLES, COMMON = 0.5, 0.4, 0.5
"""Parts of their weight that a single Chinese character, what may straddle two words, and a general word count."""

_HAN = r"\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = r"\u3041-\u30fa\u30fc-\u30ff"
_HANGUL = r"\uac00-\ud7a3"
_WORD = re.compile(
    rf"\d+(?:\.\d+)+|[A-Za-z0-9]+(?:'[A-Za-z]+)?|[{_HAN}]+|[\u3041-\u309f]+|[\u30a0-\u30ff]+|[{_HANGUL}]+"
    rf"|[^\W\d_A-Za-z{_HAN}{_KANA}{_HANGUL}]+|\d+"
)
_IS_HAN = re.compile(f"[{_HAN}]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])")  # a code like 9E stays whole
# A short first part is no word of its own: e-mail, re-order, pre-paid, T-shirt.
_PREFIX = re.compile(
    r"\b((?:[A-Za-z]|[Rr]e|[Cc]o|[Pp]re|[Nn]on|[Uu]n|[Aa]nti|[Mm]ulti|[Ss]ub)[-\u2010\u2011])(?=[A-Za-z]{3})"
)
# In Chinese, question phrases and particles separate words, and grammatical characters are also parts of words: what
# holds one counts less, and only where a memory holds it (`faint`), unless it is a word that is known.
_SPLIT = re.compile(f"(?:{WHOLE})|(?P<cut>{CUT})")
_JOSA = re.compile(
    r"(?<=[\uac00-\ud7a3]{2})(?:에서|으로|까지|부터|에게|을|를|이|가|은|는|에|의|도|로|와|과)$"
)


def tokens(text: str) -> list[str]:
    """The terms of a text, in order: stemmed words, character bigrams of Chinese, numbers as digits.

    Identifiers are split (`dep_delay`, `depDelay` → dep, delay), full-width forms, accents and traditional
    characters are made plain; question words and particles are dropped.
    """
    found: list[str] = []
    for word in _WORD.findall(_plain(text)):
        if _IS_HAN.match(word):
            found += _bigrams(word)
        elif word.isascii():
            lower = word.lower().split("'")[0]
            if lower not in STOP:
                found.append(_stem(lower))
        elif word not in KANA:
            found.append(_foreign(word))
    return found


def searchable(text: str) -> list[str]:
    """The terms that a text is found by: its tokens, and each Chinese character that says something."""
    found = tokens(text)
    if not text.isascii():
        plain = _SPLIT.sub(" ", spelled(text))
        found += [char for char in plain if _IS_HAN.match(char) and char not in FAINT | MEASURES]
    return found


def share(term: str) -> float:
    """How much a term counts: a Chinese character by itself little, as does what may straddle two words."""
    if len(term) == 1:
        return CHARACTER if _IS_HAN.match(term) else 1.0
    return STRADDLES if faint(term) else COMMON if term in GENERAL else 1.0


def is_han(term: str) -> bool:
    """Whether a term is a Chinese character or two."""
    return _IS_HAN.match(term) is not None


def faint(term: str) -> bool:
    """Whether a bigram holds a character that is mostly grammar (有, 在, 用 …), and is no word that is known."""
    return len(term) == 2 and term not in WORDS and not FAINT.isdisjoint(term)


def spelled(text: str) -> str:
    """The text in one spelling: plain widths, accents, apostrophes and characters."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"(?<=[A-Za-z])[\u0300-\u036f]+", "", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", text).translate(SIMPLER)


def _plain(text: str) -> str:
    """… with numbers as digits, and hyphenated and joined words as their parts."""
    text = spelled(text)
    text = _PREFIX.sub(lambda found: found[1][:-1], numerals.as_digits(text))
    return _CAMEL.sub(" ", text.replace("_", " "))


def _bigrams(run: str) -> list[str]:
    """Character bigrams of a Chinese run, which question phrases and particles interrupt; a lone character is one."""
    parts, start = [], 0
    for mark in _SPLIT.finditer(run):
        if mark["cut"]:
            parts.append(run[start : mark.start()])
            start = mark.end()
    parts.append(run[start:])
    found = []
    for part in parts:
        pairs = [part[i : i + 2] for i in range(len(part) - 1)] or [part] * (part not in FAINT)
        # Two grammatical characters in a row (我在, 都有) say nothing.
        found += [pair for pair in pairs if pair and (pair in WORDS or not FAINT.issuperset(pair))]
    return found


@functools.lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    if word.isdigit():
        return word.lstrip("0") or "0" if len(word) == 2 else word  # 05 is 5; 007 is a name
    word = IRREGULAR.get(word) or numerals.WORDS.get(word) or word
    return str(_stemmer("english").stemWord(word)) if word.isalpha() else word


@functools.lru_cache(maxsize=50_000)
def _foreign(word: str) -> str:
    """A word of another script without its ending, where that is known."""
    lower = word.lower()
    if "\u0400" <= lower[0] <= "\u04ff":
        return str(_stemmer("russian").stemWord(lower)) or lower
    if "\u0621" <= lower[0] <= "\u06d3":
        return str(_stemmer("arabic").stemWord(lower)) or lower
    return _JOSA.sub("", lower)


@functools.cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(language)


def normal(text: str) -> str:
    """A text as duplicates are compared: case, blanks and closing marks do not count."""
    return " ".join(text.casefold().split()).rstrip(".。!！;；, ，")
