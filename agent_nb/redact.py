"""Secrets in text: found by their shape, replaced before anything is stored or sent.

Only shapes that are hardly ever something else count: keys of known services, tokens, key blocks, passwords
that stand behind their own name or inside a URL. Git hashes, UUIDs and order numbers stay.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

MASK = "[redacted]"

_WHOLE = [
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"  # to its end, or to the text's where that is cut
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    r"\bsk-(?:ant-|proj-|or-|live-|svcacct-)?[A-Za-z0-9_-]{20,}",  # Anthropic, OpenAI and alike
    r"\b[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
    r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b",  # AWS access key ids
    r"\bgh[pousr]_[A-Za-z0-9]{30,}",  # GitHub
    r"\bgithub_pat_[A-Za-z0-9_]{40,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",  # GitLab
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"\bAIza[A-Za-z0-9_-]{35}",  # Google
    r"\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bhf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{50,}",
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"\bdop_v1_[a-f0-9]{64}\b",  # DigitalOcean
    r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,}",  # JSON Web Token
]
_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret"
    r"|(?:api|access|auth|private|account|encryption|signing|subscription)[_-]?key"
    r"|(?:access|auth|api|refresh|bearer|session|bot|id)[_-]?token|token|authorization|credentials?"
)
_CHINESE = r"密码|口令|密钥|令牌|私钥"
# A value that is a call, an index or another name's attribute is code (password = getpass()), not a secret.
_VALUE = r"(?!\[redacted\])(?![A-Za-z_][\w.]{0,100}[(\[{])[^\s\"'`,;&)\]}<>，。；]{6,2000}"
_ASSIGNED = re.compile(
    rf"(?P<head>(?:(?<![A-Za-z])(?:{_NAMES})|{_CHINESE})[\"']?\s{{0,20}}(?P<said>[:=＝：]|是|为|is\b)=?\s{{0,20}}"
    rf"(?:[\"'`](?P<quoted>[^\"'`\n]{{4,2000}})[\"'`]|(?P<bare>{_VALUE})))",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<head>\b(?:Bearer|Basic)\s+)(?P<value>[A-Za-z0-9._~+/=-]{16,})")
_IN_URL = re.compile(
    r"(?P<head>\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s/:@\"']{0,200}:)(?P<value>[^\s/@\"']{1,400})(?=@)"
)
_SHAPES = re.compile("|".join(_WHOLE), re.DOTALL)
# What every shape above begins with or holds, and how every name ends that a value may stand behind: a text
# without any of these holds no secret. Names are looked for in small letters, quotes and blanks also as JSON
# writes them, so that a whole line of a transcript is looked through at once.
_CUES = (
    "-----BEGIN sk- k_live_ k_test_ AKIA ASIA AROA AIDA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox AIza ya29 "
    "hf_ npm_ pypi- SG. dop_v1_ eyJ Bearer Basic ://"
).split()
_ENDINGS = (
    *(
        "password passwd passphrase passcode pwd secret key token authorization credential credentials".split()
    ),
    *_CHINESE.split("|"),
)
_NAMED = re.compile(
    rf"(?:{'|'.join(_ENDINGS)})\\{{0,3}}[\"']?(?:\s|\\[a-z0-9]{{1,5}}){{0,20}}(?:[:=＝：]|是|为|is\b)"
)
_WORDS = re.compile(
    r"(?:required|optional|invalid|missing|expired|incorrect|unknown|string|varchar.*|nullable|hidden|secret"
    r"|password|changed|needed|integer|boolean|object|unicode)\.?",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    rf"(?:^|_)(?:{_NAMES}|apikey|passwd|pw|creds?|jwt)(?:_?(?:value|text|str|\d+))?$|{_CHINESE}"
)
_COMMON = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]*|[\d\s.,:/+-]*|[\u4e00-\u9fff]{1,7}")
_NOT_SECRET = re.compile(r"(?:^|_)(?:n|num|max|min|mean|count|next|per|is|has)_")


def may_hold_secret(text: str) -> bool:
    """False only where `redact` would change nothing; much quicker. Also for JSON that holds texts."""
    if any(cue in text for cue in _CUES):
        return True
    small = text.lower()
    return any(ending in small for ending in _ENDINGS) and bool(_NAMED.search(small))


def redact(text: str) -> str:
    """`text` with every secret in it replaced by "[redacted]"; the name before a password stays."""
    if not may_hold_secret(text):
        return text
    text = _SHAPES.sub(MASK, text)
    text = _IN_URL.sub(lambda m: m["head"] + MASK, text)
    text = _BEARER.sub(lambda m: m["head"] + MASK, text)
    return _ASSIGNED.sub(_mask_value, text)


def has_secret(text: str) -> bool:
    """Whether `redact` would change the text."""
    return redact(text) != text


@functools.lru_cache(maxsize=4_096)
def secret_name(name: str) -> bool:
    """Whether a variable, column or field of this name holds a secret (api_key, GITHUB_TOKEN, 密码)."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").replace(" ", "_")
    return bool(_SECRET_NAME.search(snake)) and not _NOT_SECRET.search(snake)


def secret_values(*namespaces: Mapping[str, Any], but: AbstractSet[str] = frozenset()) -> list[str]:
    """Texts that stand under secret-looking names (a notebook's variables, the environment), the longest first.

    Short ones, single words and dates are left out (a loop over tokens leaves `token = "delayed"`): they would
    mask words of every table.

    Args:
        but: names that need no look: a long session keeps thousands of results as _r1, _r2, ….
    """
    found = {
        value
        for namespace in namespaces
        for name in (namespace.keys() - but)
        if type(name) is str and secret_name(name)
        if type(value := namespace.get(name)) is str and 6 <= len(value) <= 10_000
        if len(value) >= 16 or not _COMMON.fullmatch(value)
    }
    return sorted(found, key=len, reverse=True)


def _is_prose(said: str, value: str) -> bool:
    """ "password is required" tells of a password and gives none; "password is tr0ub4dor" gives one."""
    if said in ("=", "＝"):
        return False
    return bool(_WORDS.fullmatch(value)) or (said.lower() == "is" and value.isalpha())


def _mask_value(m: re.Match[str]) -> str:
    value = m["quoted"] if m["quoted"] is not None else m["bare"]
    if value == MASK or (m["quoted"] is None and _is_prose(m["said"], value)):
        return m.group()
    return (
        m.group().replace(value, MASK)
        if m.group().count(value) == 1
        else m.group().removesuffix(value) + MASK
    )
