"""What of a finished run is worth keeping: by rules, from the user's own words and evidenced conclusions only."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from ..redact import has_secret
from .text import normal, tokens

Json = dict[str, Any]

_REMEMBER = re.compile(
    r"(?:^|(?<=[.!?。！？；;\n]))\s*(?:please\s+|also\s+|and\s+)*(?:remember|keep in mind|note for later|don't forget)"
    r"(?:\s+(?:that|this|for later|for next time))?\s*[:：,-]?\s+(?P<en>[^\n]+)"
    r"|(?:请|帮我|帮忙|务必|也|要)*(?:记住|记下来?|记一下|牢记|别忘了)(?:这一点|一下|了)?\s*[:：,，]?\s*(?P<zh>[^\n]+)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:[?？]|[吗呢])[。.!！\s]*$")
_WISH = re.compile(
    r"\b(?:always|never|must|must not|don't|do not|only)\b|总是|一律|永远|不要|必须|务必|禁止", re.I
)
_PREFERS = re.compile(
    r"\b(?:i|we) (?:prefer|like|love|hate|dislike|want|don't like)\b|喜欢|偏好|讨厌|favou?rite", re.I
)
_PROFILE = re.compile(r"\b(?:my name is|i am a|i'm a|i work|i live)\b|我叫|我是|我在.{1,10}工作|我住", re.I)
_ALLERGY = re.compile(r"\ballerg(?:ic|y)\b|\bintolerant\b|过敏|不耐受", re.I)
_RULES_LINE = re.compile(
    r"rules, not a language model|是规则|不是语言模型|did not understand|没有理解|-m claude", re.I
)
MOST_CHARS = 500


@dataclasses.dataclass(frozen=True)
class Turn:
    """A finished run, as plain values.

    Args:
        goal, answer: texts. done: whether it answered.
        evidence: dicts of text, span, value, sources, formula: the numbers of the answer.
        observations: dicts of name, input, text, ok, effect, value_name: the tool calls.
        after_failure: a call of the turn before failed, so that what the user says now may put it right.
    """

    goal: str
    answer: str = ""
    done: bool = False
    evidence: Sequence[Json] = ()
    observations: Sequence[Json] = ()
    session: str = ""
    run: str = ""
    after_failure: bool = False


def propose(turn: Turn) -> tuple[list[Json], list[Json]]:
    """Rows to write (arguments of `Memory.add`), and what is left out with the reason."""
    told, left_out = _told(turn)
    concluded, more = _conclusion(turn)
    return [*told, *concluded, *_writes(turn)], left_out + more


def statements(goal: str) -> list[str]:
    """What the user asks to be remembered, word for word."""
    found = []
    for match in _REMEMBER.finditer(goal):
        text = (match["en"] or match["zh"] or "").strip()
        if text and not _QUESTION.search(text):
            found.append(text)
    return found


def kind(text: str) -> str:
    """The type of a statement that the user asks to be remembered."""
    if _ALLERGY.search(text):
        return "constraint"
    if _PREFERS.search(text):
        return "preference"
    if _PROFILE.search(text):
        return "profile"
    return "constraint" if _WISH.search(text) else "fact"


def _told(turn: Turn) -> tuple[list[Json], list[Json]]:
    rows, left_out = [], []
    for text in statements(turn.goal):
        if _saved(turn, text):
            continue
        if has_secret(text):
            left_out.append({"text": "…", "reason": "it holds a secret, which memory never keeps"})
            continue
        said = {"text": turn.goal[:MOST_CHARS], "source": "goal", "run": turn.run}
        rows.append({"text": text, "type": kind(text), "source": "user_explicit", "evidence": [said]})
    return rows, left_out


def _saved(turn: Turn, text: str) -> bool:
    """Whether a call of this run has written it already, if in slightly other words."""
    said = set(tokens(text))
    for seen in turn.observations:
        if seen["ok"] and seen["name"] == "save_memory":
            kept = str(seen["input"].get("text", ""))
            if normal(kept) == normal(text) or (said and len(said & set(tokens(kept))) >= 0.8 * len(said)):
                return True
    return False


def _conclusion(turn: Turn) -> tuple[list[Json], list[Json]]:
    """A done run's conclusion: the sentences whose numbers all have evidence in tool results of this run."""
    asked = " ".join(turn.goal.split())
    if not turn.done or not turn.answer.strip():
        return [], []
    if turn.observations and all(o["name"] == "save_memory" for o in turn.observations):
        return [], []  # the answer only says what was saved
    worked = {
        f"{o.get('value_name', '')} {o['name']}".strip()
        for o in turn.observations
        if o["ok"] and not o["name"].endswith("_memory")
    }
    kept, left_out = [], []
    for start, end, sentence in _sentences(turn.answer):
        rows = [row for row in turn.evidence if start <= row["span"][0] < end]
        if _RULES_LINE.search(sentence) or not rows:
            continue
        bare = [row["text"] for row in rows if not row["sources"]]
        if bare:
            left_out.append({"text": sentence[:200], "reason": f"no evidence for {', '.join(bare[:5])}"})
        elif not any(set(row["sources"]) & worked for row in rows):
            left_out.append({"text": sentence[:200], "reason": "it repeats what was known before"})
        elif has_secret(sentence):
            left_out.append({"text": "…", "reason": "it holds a secret, which memory never keeps"})
        else:
            kept.append((sentence, rows))
    if not kept:
        return [], left_out
    first, rows = kept[0]
    left_out += [
        {"text": s[:200], "reason": "detail: the conclusion before it is kept"} for s, _ in kept[1:4]
    ]
    if len(tokens(first)) < 3:
        return [], [{"text": first, "reason": "transient: a bare value of one turn"}, *left_out]
    question = asked if len(asked) <= 160 else asked[:160] + "…"
    text = first if normal(question) in normal(first) else f"{question} → {first}"
    proof = [{"text": r["text"], "source": ", ".join(r["sources"]), "run": turn.run} for r in rows]
    return [{"text": text[:MOST_CHARS], "type": "decision", "source": "task", "evidence": proof}], left_out


def _writes(turn: Turn) -> list[Json]:
    """Every executed write is remembered: what was changed, by which call."""
    rows = []
    for seen in turn.observations:
        if seen["ok"] and seen["effect"] != "read" and not seen["name"].endswith("_memory"):
            given = ", ".join(f"{k}={str(v)[:60]!r}" for k, v in seen["input"].items())
            text = f"{seen['name']}({given[:300]}) was run"
            if seen["name"] != "run_python" and not has_secret(text):
                proof = [{"text": seen["text"][:200], "source": seen["name"], "run": turn.run}]
                rows.append({"text": text, "type": "experience", "source": "tool", "evidence": proof})
    return rows


_TABLE_LINE = re.compile(r"^\s*\|")
_UNDERLINE = re.compile(r"^[\s|:-]+$")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_MARKS = re.compile(r"\*\*|__|`|^\s*(?:#+|>|[-*•]|\d+[.)])\s+")
_ITEMS = 3


def _sentences(text: str) -> list[tuple[int, int, str]]:
    """(start, end, plain sentence) of an answer; rows of tables are no sentences of their own.

    A line that ends with a colon and the first items or rows of the list or table under it are one sentence: alone,
    neither says anything. A dot inside a number ends nothing.
    """
    found: list[tuple[int, int, str]] = []
    items = 0
    columns: list[str] = []
    for line in re.finditer(r"[^\n]+", text):
        is_row = _TABLE_LINE.match(line.group()) is not None
        if not is_row:
            columns = []
        elif not items or _UNDERLINE.match(line.group()):
            continue
        elif not columns:
            columns = _cells(line.group())
            continue
        if items and (is_row or _ITEM.match(line.group())):
            start, _, head = found[-1]
            joint = " " if items == _ITEMS else "; "
            said = _row(columns, _cells(line.group())) if is_row else _plain(line.group())
            found[-1] = (start, line.end(), head + joint + said)
            items -= 1
        else:
            found += _parts(line)
            items = _ITEMS if found and found[-1][2].endswith((":", "：")) else 0
    return found


def _cells(row: str) -> list[str]:
    return [_plain(cell) for cell in row.strip().strip("|").split("|")]


def _row(columns: list[str], cells: list[str]) -> str:
    """A row in words: "south (total amount 25, rows 2)"."""
    rest = ", ".join(f"{name} {cell}" for name, cell in zip(columns[1:], cells[1:], strict=False))
    return f"{cells[0]} ({rest})" if rest else cells[0]


def _parts(line: re.Match[str]) -> list[tuple[int, int, str]]:
    found, at = [], line.start()
    for part in re.split(r"(?<=[.!?])(?=\s)|(?<=[。！？])", line.group()):
        if plain := _plain(part):
            found.append((at, at + len(part), plain))
        at += len(part)
    return found


def _plain(text: str) -> str:
    """A line without Markdown's marks."""
    return _MARKS.sub("", text.strip()).strip()
