"""The user's word on a call that writes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the user said. `verdict`: approve or deny; `by`: widget, input or policy; `input`: as edited."""

    verdict: str
    by: str = "policy"
    reason: str = ""
    input: Json | None = None


Asker = Callable[[Json], Verdict]
"""Answers a question: a dict of id, name, input, effect. May block; never hangs where nobody can answer."""


def ask_on_terminal(question: Json) -> Verdict:
    """Ask by `input()` where there is a terminal, else deny at once and say why."""
    if not (sys.stdin and sys.stdin.isatty()):
        return Verdict("deny", reason="nobody is here to ask; run with approve='auto' to allow it")
    try:
        answer = input(f"{question['name']}({question['input']}) {question['effect']}s: allow? [y/N] ")
    except EOFError:
        return Verdict("deny", by="input", reason="no answer")
    if answer.strip().lower() in ("y", "yes"):
        return Verdict("approve", by="input")
    return Verdict(
        "deny", by="input", reason=answer.strip() if answer.strip().lower() not in ("n", "no") else ""
    )
