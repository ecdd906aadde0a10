"""One tool call as a card: why it was made, with which arguments, and what came back."""

from __future__ import annotations

import json
from typing import Any

from . import window, wording
from .markdown import markdown_html
from .story import Call, Step
from .style import MUTED, PRE, SMALL, TONES, esc, folded, muted, table, tag, toned

Json = dict[str, Any]

TEXT_CHARS = 4_000
ROWS = 10
COLUMNS = 12
CELL_CHARS = 160
CODE_FIELDS = ("query", "sql", "code")


def card(step: Step, call: Call, position: int, live: bool = False) -> str:
    """A folded card; its summary tells name, purpose and outcome."""
    return folded(summary(step, call, position, live), body(step, call, position))


def row_html(step: Step, call: Call, position: int) -> str:
    """The same call in one line, where there is no room for more."""
    return summary(step, call, position)


def summary(step: Step, call: Call, position: int, live: bool = False) -> str:
    """Number, name, purpose, outcome, time and tokens of a call."""
    words, tone = wording.outcome(call)
    facts = [] if tone in ("bad", "warn", "live") else [words]
    if call.state in ("ok", "error"):
        facts.append(
            "from cache" if call.seen.get("cached") else wording.duration(float(call.seen.get("ms") or 0))
        )
    if position == 0 and step.tokens:
        facts.append(f"{wording.size(step.tokens)} tokens")
    name = f"<b>{muted(wording.number(step, position))} {esc(call.name)}</b>"
    said = f" &nbsp;{toned(words, tone)}" if tone else ""
    said += f" &nbsp;{toned('edited', 'warn')}" if call.replaced else ""
    if live and call.state == "running":
        said = f' &nbsp;<span style="color:{TONES["live"]}">running {since(call)}</span>'
    apart = [tag("span", esc(fact), "white-space:nowrap") for fact in facts if len(fact) < 24]
    apart[:0] = [esc(fact) for fact in facts if len(fact) >= 24]
    told = f" &nbsp;{muted(' · '.join(apart))}" if facts else ""
    purpose = tag("span", esc(wording.label(step, call, position)), "", dir="auto")
    return f"{name} &nbsp;{purpose}{said}{told}"


def since(call: Call) -> str:
    """A place where the page counts the seconds since the call began, against those that were declared."""
    return f'<span data-since="0" data-takes="{call.takes:g}"></span>'


def body(step: Step, call: Call, position: int) -> str:
    """Thought, arguments, result, and the window that the model saw."""
    parts = [thought(step) if position == 0 else "", arguments(call), verdict(call), result(call)]
    parts.append(window.bar_and_parts(step.window, step.left_out) if position == 0 else "")
    return tag("div", "".join(parts), "margin:3px 0 4px 14px")


def thought(step: Step) -> str:
    """The text that led to the step's calls."""
    text, rest = wording.cut(step.text.strip(), TEXT_CHARS)
    hidden = ""
    if step.thinking.strip():
        inner, cut = wording.cut(step.thinking.strip(), TEXT_CHARS)
        hidden = folded(
            muted("thinking"), tag("div", esc(inner) + muted(esc(cut)), f"{_QUIET};white-space:pre-wrap")
        )
    if not text:
        return hidden
    return hidden + tag("div", markdown_html(text) + muted(esc(rest)), "opacity:.85")


_QUIET = f"{SMALL};{MUTED}"


def arguments(call: Call) -> str:
    """SQL and code as they will run, everything else as JSON."""
    out, rest = "", dict(call.input)
    for field in CODE_FIELDS:
        if isinstance(rest.get(field), str) and call.name not in ("recall_memory",):
            code, cut = wording.cut(wording.written(field, rest.pop(field)), TEXT_CHARS)
            out += tag("pre", esc(code), PRE) + (tag("div", muted(esc(cut)), SMALL) if cut else "")
    if rest:
        text, cut = wording.cut(json.dumps(rest, ensure_ascii=False, indent=1, default=str), TEXT_CHARS)
        flat = json.dumps(rest, ensure_ascii=False, default=str) if len(text) < 300 else text
        out += tag("pre", esc(flat), PRE) + (tag("div", muted(esc(cut)), SMALL) if cut else "")
    return out


def verdict(call: Call) -> str:
    """What the user said to a call that writes."""
    if call.verdict is None or call.verdict.verdict != "approve":
        return tag("div", toned(wording.denial(call), "bad"), SMALL) if call.state == "denied" else ""
    who = "you" if call.verdict.by in ("widget", "input") else "policy"
    edited = ", as edited" if call.verdict.input else ""
    return tag("div", toned(f"approved by {who}{edited}", "good"), SMALL)


def result(call: Call) -> str:
    """The observation: a table, an error, a value or a text; below it, what its user put in its place."""
    return _observation(call) + _replaced(call)


def _replaced(call: Call) -> str:
    if not call.replaced:
        return ""
    text, cut = wording.cut(call.replaced, TEXT_CHARS)
    title = tag("div", toned("edited by you afterwards; the run goes on from this:", "warn"), SMALL)
    return (
        title + tag("pre", esc(text), PRE, dir="auto") + (tag("div", muted(esc(cut)), SMALL) if cut else "")
    )


def _observation(call: Call) -> str:
    if not call.seen:
        return ""
    if call.state == "error":
        return _error(call)
    if call.state == "denied":
        return ""
    if call.seen.get("columns"):
        return result_table(call) if call.seen.get("rows") else ""
    shown = {key: value for key, value in call.body.items() if key not in ("ok", "name")}
    if "chart" in shown and call.seen.get("artifacts"):
        return tag("div", muted(esc(wording.table_note(call, 0, 0))), SMALL)
    if set(shown) <= {"text", "total_chars", "note"} and isinstance(shown.get("text"), str):
        text, cut = wording.cut(shown["text"], TEXT_CHARS, shown.get("total_chars"))
    elif set(shown) <= {"stdout", "stdout_total_chars", "note"} and isinstance(shown.get("stdout"), str):
        text, cut = wording.cut(shown["stdout"], TEXT_CHARS, shown.get("stdout_total_chars"))
    elif shown:
        text, cut = wording.cut(json.dumps(shown, ensure_ascii=False, indent=1), TEXT_CHARS)
    else:
        text, cut = wording.cut(call.raw, TEXT_CHARS)
    note = " · ".join(part for part in (cut, wording.table_note(call, 0, 0)) if part)
    pre = tag("pre", esc(text), PRE, dir="auto") if text.strip() else ""
    return pre + (tag("div", muted(esc(note)), SMALL) if note else "")


def _error(call: Call) -> str:
    told, cut = wording.cut(str(call.body.get("error") or call.raw or "failed"), TEXT_CHARS)
    look = f"color:{TONES['bad']};margin:3px 0;white-space:pre-wrap;overflow-wrap:anywhere"
    more = [f"{key}: {call.body[key]}" for key in ("field", "expected") if call.body.get(key)]
    note = " · ".join([*(wording.clip(m, 300) for m in more), *([cut] if cut else [])])
    return tag("div", esc(told), look) + (tag("div", muted(esc(note)), SMALL) if note else "")


def result_table(call: Call) -> str:
    """First rows and columns of a table, numbers to the right, and how much more there is."""
    columns = [str(name) for name in call.seen["columns"]]
    rows = [list(row) for row in (call.seen.get("rows") or [])[:ROWS]]
    shown = columns[:COLUMNS]
    right = [_is_numeric(row[i] for row in rows if i < len(row)) for i in range(len(shown))]
    cells = [[_cell(value) for value in row[:COLUMNS]] for row in rows]
    note = wording.table_note(call, len(rows), COLUMNS)
    below = tag("div", muted(esc(note)), SMALL) if note else ""
    return table([esc(wording.clip(name, 60)) for name in shown], cells, right) + below


def _is_numeric(values: Any) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in known)


def _cell(value: Any) -> str:
    if value is None:
        return muted("–")
    if isinstance(value, float):
        return esc(wording.figure(value))
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return tag("span", esc(wording.clip(value, CELL_CHARS)), "", dir="auto")


def remarks_html(step: Step) -> str:
    """Retries, notices and answers that were sent back."""
    tones = {"retry": "warn", "sent back": "warn", "notice": ""}
    lines = [
        tag(
            "div",
            f"{toned(kind, tones.get(kind, '') or 'quiet')} &nbsp;{esc(wording.clip(text, 500))}",
            SMALL,
        )
        for kind, text in step.remarks[:20]
    ]
    if len(step.remarks) > 20:
        lines.append(muted(f"{len(step.remarks) - 20:,} more"))
    return "".join(lines)


def question_html(name: str, input: Json, effect: str, description: str = "") -> str:
    """A call that waits for the user's word: its name, what it may do, its arguments."""
    may = {"write": "may change something", "external": "reaches outside of this notebook"}.get(
        effect, effect
    )
    said = f" &nbsp;{muted(esc(wording.clip(description, 300)))}" if description else ""
    title = tag("div", f"<b>{esc(name)}</b> {toned(may, 'warn')}{said}")
    return title + arguments(Call("", name, dict(input)))
