"""`%memory` verbs that look after a memory: forgetting, erasing, diagnosing, sharing, drawing."""

from __future__ import annotations

import datetime
import json
from typing import Any

from ..doctor import with_memory
from ..errors import SettingError
from .desk import Desk
from .inspector import graph_html
from .show import Sheet
from .verbs import needed
from .views.record import diagnosis_html

Json = dict[str, Any]
LOG_ROWS = 200


def forget(desk: Desk, text: str) -> None:
    """Take one memory back; with --erase its text leaves the store."""
    words = text.split()
    erase = "--erase" in words
    id = needed(" ".join(word for word in words if word != "--erase"), "the memory's id")
    memory = desk.memory()
    record = memory.get(id)
    if record is None:
        raise SettingError(f"there is no memory {id!r}; `%memory search` lists the ids")
    if not erase:
        memory.forget(record.id)
        Sheet().say(f"Forgotten: {record.text}").show()
        return
    told = memory.erase(record.id)
    sheet = Sheet().say(
        f"Erased: {', '.join(told.ids)}; the text is in no table and no byte of the store any more."
    )
    if told.cleaned:
        sheet.say(f"It was blotted out of {told.cleaned} other row{'s' if told.cleaned > 1 else ''}.")
    if told.also_in:
        sheet.say(f"These memories say it too, and stay: {', '.join(told.also_in)}.")
    rows = [[copy["what"], copy["path"], copy["places"], copy["advice"]] for copy in told.copies]
    sheet.rows(
        ["where it still stands", "file", "places", "what to do"], rows, "No transcript or backup holds it."
    )
    sheet.remark(
        "This notebook's own saved output, exports and recordings are files of yours: look there, too."
    ).show()


def expire(desk: Desk, text: str) -> None:
    """Mark and let go of what is out of use, or show what would go."""
    if text not in ("", "--dry-run"):
        raise SettingError(f"%memory expire takes --dry-run or nothing, not {text!r}")
    rows = desk.memory().expire(dry_run=bool(text))
    told = [[row["id"], row.get("action", ""), row["text"], row["reason"]] for row in rows]
    title = "Would be done" if text else "Done"
    Sheet(title).rows(["id", "what", "text", "why"], told, "Nothing is out of date.").show()


def decay(desk: Desk, text: str) -> None:
    """How fast a memory loses freshness: slow, normal, fast, or a number."""
    memory = desk.memory()
    if text:
        memory.decay = text if text.isalpha() else _number(text)
    Sheet().say(
        f"Freshness is e^(−{memory.decay:g}·days since last use). Presets: slow, normal, fast."
    ).show()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"decay is {text!r}; give slow, normal, fast or a number from 0 on") from None


def ledger(desk: Desk, text: str) -> None:
    """Keep a readable Markdown file of all memories up to date, or end that."""
    memory = desk.memory()
    before = memory.ledger()
    if text:
        memory.ledger("" if text == "off" else text.strip("\"'"))
    name = memory.ledger()
    if before and not name:
        Sheet().say(f"The ledger is no longer kept; {before} stays as it is.").show()
        return
    Sheet().say(
        f"The ledger is kept live at {name}." if name else "No ledger is kept; %memory ledger FILE.md does."
    ).show()


def team(desk: Desk, text: str) -> None:
    """Read a team's memories beside one's own, from now on in this notebook."""
    memory = desk.memory()
    if text:
        memory.join("" if text == "off" else text)
    if memory.team is None:
        Sheet().say(
            "No team's memories are read. %memory team NAME does; %memory add --team TEXT writes them."
        ).show()
        return
    rows = [[r.id, r.type, r.text] for r in memory.team.search()]
    name = memory.team.user.partition(":")[2]
    Sheet(f"Team {name}").rows(["id", "type", "text"], rows, "The team has no memories yet.").show()


def memo(desk: Desk, text: str) -> None:
    """What stands in every window without a search."""
    told = desk.memory().memo()
    rows = [[hit.record.id, hit.record.type, hit.record.text, hit.note] for hit in told.hits]
    sheet = Sheet("Memo").rows(
        ["id", "type", "text", "note"], rows, "No constraint, profile or preference yet."
    )
    sheet.remark(f"{told.tokens} tokens of the memory's budget").show()


def graph(desk: Desk, text: str) -> None:
    """What is related to what, as a table and a picture."""
    found = desk.memory().graph(text.strip("\"'") or None)
    if not found["edges"]:
        Sheet().remark(
            f"Nothing is linked to {text}." if text else "No relation was read from any memory yet."
        ).show()
        return
    rows = [[e["source"], e["relation"].replace("_", " "), e["target"], e["record"]] for e in found["edges"]]
    told = Sheet(text or "What is related to what").rows(["from", "relation", "to", "memory"], rows)
    Sheet().raw(graph_html(found, text), told.plain()).show()


def log(desk: Desk, text: str) -> None:
    """What was done to the memory, the latest last."""
    rows = [
        [_moment(row["at"]), row["action"].replace("_", " "), row["id"], details(row["detail"])]
        for row in desk.memory().log()[-LOG_ROWS:]
    ]
    columns = ["when", "what", "id", "details"]
    Sheet("Log").rows(columns, rows, "Nothing was done to this memory yet.").show()


def _moment(at: str) -> str:
    """To the second, in the reader's own time zone."""
    return f"{datetime.datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M:%S}"


def details(detail: Any) -> str:
    """What a line of the log tells, in words: "" for nothing."""
    if isinstance(detail, str):
        try:
            return details(json.loads(detail))
        except ValueError:
            return str(detail)
    if not isinstance(detail, dict):
        return str(detail)
    return ", ".join(
        f"{name} {_plain(value)}" for name, value in detail.items() if value not in ("", None, [], {})
    )


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return details(value)
    if isinstance(value, list):
        return "; ".join(map(_plain, value))
    return str(value)


def why(desk: Desk, text: str) -> None:
    """Where the way of a memory to an answer broke, by the last run where that asked the same."""
    from ..memory.diagnose import same_question

    question = needed(text, "the question")
    memory = desk.memory()
    run = _last_run(desk.current, memory.user)
    asked = run.pop("goal") if run else ""
    told = memory.why(question, run if run and same_question(asked, question) else None)
    sheet = Sheet(told.question)
    if told.broke:
        sheet.say(
            f"The break: {told.broke.replace('_', ' ')}" + (f", at gate {told.gate}" if told.gate else "")
        )
    sheet.say(told.explanation)
    if told.change:
        sheet.say(told.change)
    rows = [[row.get("id", ""), row.get("text", ""), row.get("reason", "")] for row in told.records]
    sheet.rows(["id", "text", "why"], rows)
    Sheet().raw(diagnosis_html(told), sheet.plain()).show()


def _last_run(session: Any, user: str) -> Json | None:
    """What the last run of this user did with memory, as plain values."""
    told = list(session.trace) if session is not None else []
    starts = [at for at, event in enumerate(told) if type(event).__name__ == "RunStarted"]
    return with_memory(told[starts[-1] :]) if starts and told[starts[-1]].user == user else None
