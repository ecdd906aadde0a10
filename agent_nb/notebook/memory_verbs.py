"""What `%memory` can do: look at what is remembered, add to it, mend it."""

from __future__ import annotations

from typing import Any

from ..errors import SettingError
from . import arguments
from .desk import Desk
from .show import Sheet
from .verbs import Verb, needed, new_file

Json = dict[str, Any]
LOG_ROWS = 200


def verbs() -> dict[str, Verb]:
    """Name → verb, in the order of the help."""
    return {
        "search": Verb(search, "TEXT", "find memories by their words", "late flight"),
        "recall": Verb(recall, "TEXT", "see what a goal would load, gate by gate", "which flights are late?"),
        "add": Verb(add, "[--type T] TEXT", "remember something", "--type preference Answer in Chinese."),
        "show": Verb(show, "ID", "see all fields of a memory", "m12"),
        "edit": Verb(
            edit, "ID TEXT", "say it anew; the old text stays in its history", "m12 Late is over 20 minutes."
        ),
        "forget": Verb(forget, "ID", "never recall it again", "m12"),
        "history": Verb(history, "ID", "see what it was before and what became of it", "m12"),
        "conflicts": Verb(conflicts, "", "list memories that contradict each other", ""),
        "resolve": Verb(resolve, "ID keep|drop|both", "settle a conflict", "m12 keep"),
        "undo": Verb(undo, "ID", "take back the last change of a memory", "m12"),
        "expire": Verb(expire, "[--dry-run]", "let go of what is out of date", "--dry-run"),
        "export": Verb(export, "FILE", "write all memories to FILE", "memories.jsonl"),
        "import": Verb(import_, "FILE", "read memories from FILE", "memories.jsonl"),
        "backup": Verb(backup, "FILE", "write a whole copy of the memory to FILE", "memory-backup.db"),
        "check": Verb(check, "", "look whether the memory is whole", ""),
        "repair": Verb(repair, "", "mend what check finds; nothing is deleted silently", ""),
        "stats": Verb(stats, "", "count them", ""),
        "log": Verb(log, "", "see what was written, changed and read, and when", ""),
        "why": Verb(
            why, "QUESTION", "find out why something is or is not recalled", "what is a late flight?"
        ),
    }


def search(desk: Desk, text: str) -> None:
    """Active memories that hold the words; all of them without words."""
    _records(
        desk.memory().search(_plain(text)),
        "No memory holds these words." if text else "Nothing is remembered yet.",
    ).show()


def recall(desk: Desk, text: str) -> None:
    """What a goal would load, with all four gates."""
    from .views import recall_html

    found = desk.memory().recall(needed(_plain(text), "the text to recall for"))
    hits = [_hit(hit) for hit in found]
    gates = [dict(gate) for gate in found.gates]
    rows = [[f"{hit['score']:.2f}", hit["id"], hit["type"], hit["text"], hit["reason"]] for hit in hits]
    told = Sheet().rows(["score", "id", "type", "text", "why"], rows, "No memory is near enough to this.")
    passed = Sheet().rows(
        ["gate", "entered", "left", "why"],
        [[gate.get("name"), gate.get("entered"), gate.get("left"), gate.get("why")] for gate in gates],
    )
    html = recall_html({"hits": hits, "gates": gates, "tokens": found.tokens, "ms": found.ms, "query": text})
    Sheet().raw(html, f"{told.plain()}\n\n{passed.plain()}").show()


def add(desk: Desk, text: str) -> None:
    """Remember something that the user says."""
    flags, rest = arguments.read(arguments.ADD, text)
    record = desk.memory().add(needed(rest.strip(), "what to remember"), flags.type or "fact")
    pending = "" if record.status == "active" else f" ({record.status}; see %memory conflicts)"
    Sheet().say(f"Remembered as {record.type} {record.id}{pending}: {record.text}").show()


def show(desk: Desk, text: str) -> None:
    """All fields of one memory."""
    record = _record(desk, text)
    rows = [[name, _field(value)] for name, value in record.to_dict().items() if value not in ("", [], None)]
    Sheet(record.text).pairs(rows).show()


def edit(desk: Desk, text: str) -> None:
    """A new text in place of the old one, which stays in the history."""
    id, _, rest = text.partition(" ")
    record = _record(desk, id)
    changed = desk.memory().edit(record.id, needed(rest.strip(), f"the new text of {record.id}"))
    Sheet().say(f"{changed.id}: {changed.text}").remark(f"before: {record.text}").show()


def forget(desk: Desk, text: str) -> None:
    """Take one memory back."""
    record = _record(desk, text)
    desk.memory().forget(record.id)
    Sheet().say(f"Forgotten: {record.text}").show()


def history(desk: Desk, text: str) -> None:
    """The whole chain that a memory belongs to."""
    id = needed(_plain(text), "the memory's id")
    chain = list(desk.memory().history(id))
    if not chain:
        raise _no_such(id)
    rows = [[r.id, r.status, _day(r.recorded), r.source, r.text, r.superseded_by] for r in chain]
    Sheet("History").rows(["id", "status", "written", "source", "text", "superseded by"], rows).show()


def conflicts(desk: Desk, text: str) -> None:
    """Memories that contradict each other and wait for a verdict."""
    rows = [
        [row["id"], row["text"], row["against"], row["against_text"]] for row in desk.memory().conflicts()
    ]
    sheet = Sheet("Conflicts").rows(["id", "says", "against", "which says"], rows, "Nothing is contradicted.")
    if rows:
        sheet.remark(f"Settle one with %memory resolve {rows[0][0]} keep, drop or both.")
    sheet.show()


def resolve(desk: Desk, text: str) -> None:
    """Settle a conflict."""
    words = text.split()
    if len(words) != 2 or words[1] not in ("keep", "drop", "both"):
        raise SettingError("give the id and keep, drop or both: %memory resolve ID keep")
    record = desk.memory().resolve(_record(desk, words[0]).id, words[1])
    Sheet().say(f"{record.id} is {record.status}: {record.text}").show()


def undo(desk: Desk, text: str) -> None:
    """Take back the last merge, supersede, edit, forget or verdict of a memory."""
    record = desk.memory().undo(needed(_plain(text), "the memory's id"))
    Sheet().say(f"{record.id} is {record.status} again: {record.text}").show()


def expire(desk: Desk, text: str) -> None:
    """Let go of what is out of date, or show what would go."""
    if text not in ("", "--dry-run"):
        raise SettingError(f"%memory expire takes --dry-run or nothing, not {text!r}")
    gone = [[row["id"], row["text"], row["reason"]] for row in desk.memory().expire(dry_run=bool(text))]
    title = "Would expire" if text else "Expired"
    Sheet(title).rows(["id", "text", "why"], gone, "Nothing is out of date.").show()


def export(desk: Desk, text: str) -> None:
    """Write all memories to a file that the user names."""
    path = new_file(needed(_plain(text), "the file's name"), ".jsonl", ".md")
    count = desk.memory().export(path)
    Sheet().say(f"Wrote {count:,} {'memory' if count == 1 else 'memories'} to {path}.").show()


def import_(desk: Desk, text: str) -> None:
    """Read memories from a file."""
    path = needed(_plain(text), "the file's name")
    told = desk.memory().import_(path)
    Sheet().say(f"Read {told['read']:,} from {path}; {told['new']:,} of them new.").show()


def backup(desk: Desk, text: str) -> None:
    """A whole copy of the memory, all users'."""
    path = new_file(needed(_plain(text), "the file's name"), ".db", ".pkl", ".pickle")
    desk.memory().backup(path)
    Sheet().say(f"Wrote a copy of the whole memory to {path}.").show()


def check(desk: Desk, text: str) -> None:
    """What is wrong with the memory, and what repair would do."""
    rows = [[row["id"], row["what"], row["repair"]] for row in desk.memory().check()]
    Sheet("Check").rows(["id", "what", "repair would"], rows, "The memory is whole.").show()


def repair(desk: Desk, text: str) -> None:
    """Mend what check finds."""
    rows = [[row["id"], row["what"], row["repair"]] for row in desk.memory().repair()]
    Sheet("Repair").rows(["id", "what", "done"], rows, "The memory is whole; nothing was changed.").show()


def stats(desk: Desk, text: str) -> None:
    """Counts by status, type and source."""
    Sheet("Memory").pairs(
        [[name, _field(value) or "none"] for name, value in desk.memory().stats().items()]
    ).show()


def log(desk: Desk, text: str) -> None:
    """What was done to the memory, the latest last."""
    rows = [[row["at"], row["action"], row["id"], row["detail"]] for row in desk.memory().log()[-LOG_ROWS:]]
    columns = ["when", "what", "id", "details"]
    Sheet("Log").rows(columns, rows, "Nothing was done to this memory yet.").show()


def why(desk: Desk, text: str) -> None:
    """Which gate stopped a memory, or that none did."""
    told = desk.memory().why(needed(text, "the question"))
    sheet = Sheet(told.question).say(told.explanation)
    if told.change:
        sheet.say(told.change)
    rows = [[row.get("id", ""), row.get("text", ""), row.get("reason", "")] for row in told.records]
    sheet.rows(["id", "text", "why"], rows).show()


def _plain(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _record(desk: Desk, text: str) -> Any:
    id = needed(_plain(text), "the memory's id")
    record = desk.memory().get(id)
    if record is None:
        raise _no_such(id)
    return record


def _no_such(id: str) -> SettingError:
    return SettingError(f"there is no memory {id!r}; `%memory search` lists the ids")


def _hit(hit: Any) -> Json:
    record = hit.record
    scores = {
        name: getattr(hit, name) for name in ("score", "similarity", "importance", "freshness", "reason")
    }
    told = {"id": record.id, "text": record.text, "type": record.type, "source": record.source}
    return told | {"created": record.created.isoformat()} | scores


def _field(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_field, value))
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_field(v)}" for k, v in value.items())
    return str(value)


def _day(moment: Any) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _records(records: Any, empty: str) -> Sheet:
    rows = [[r.id, r.type, r.source, _day(r.created), r.text] for r in records]
    return Sheet().rows(["id", "type", "source", "created", "text"], rows, empty)
