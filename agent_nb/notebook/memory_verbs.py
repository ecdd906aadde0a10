"""What `%memory` can do: look at what is remembered, add to it, mend it."""

from __future__ import annotations

import datetime
import re
from typing import Any

from ..errors import SettingError
from . import arguments, inspector, memory_care
from .desk import Desk
from .show import Sheet
from .verbs import Verb, needed, new_file
from .views.record import chain_html, day, record_html
from .views.record import scope as team_of
from .views.style import FRAME, tag

Json = dict[str, Any]


ID = "m4be2f5aa7oq3wxyz"
"""An id as they look."""


def verbs() -> dict[str, Verb]:
    """Name → verb, in the order of the help. Each takes --user NAME before anything else."""
    care = memory_care
    table = {
        "browse": (
            inspector.browse,
            "[TEXT]",
            "look through everything: search, edit, forget, settle, see recalls and relations",
            "",
        ),
        "search": (search, "TEXT", "find memories by their words", "late flight"),
        "recall": (recall, "TEXT", "see what a goal would load, gate by gate", "which flights are late?"),
        "add": (
            add,
            "[--type T] [--team] TEXT",
            "remember something",
            "--type preference Answer in Chinese.",
        ),
        "show": (show, "ID", "see all fields of a memory", ID),
        "edit": (
            edit,
            "ID TEXT",
            "say it anew; the old text stays in its history",
            f"{ID} Late is over 20 minutes.",
        ),
        "forget": (
            care.forget,
            "ID [--erase]",
            "never recall it again; --erase removes its text from the store, too",
            ID,
        ),
        "history": (history, "ID", "see what it was before and what became of it", ID),
        "synonyms": (
            synonyms,
            "[TERM = MEANS | --remove TERM]",
            "list what you call by several names, add to it",
            "GMV = gross merchandise volume",
        ),
        "conflicts": (conflicts, "", "list memories that contradict each other", ""),
        "resolve": (resolve, "ID keep|drop|both", "settle a conflict", f"{ID} keep"),
        "undo": (undo, "ID", "take back the last change of a memory", ID),
        "queue": (queue, "[retry N|drop N]", "see what waits to be distilled by the model", ""),
        "expire": (care.expire, "[--dry-run]", "let go of what is out of date", "--dry-run"),
        "decay": (care.decay, "[slow|normal|fast]", "set how fast memories lose freshness", "slow"),
        "memo": (care.memo, "", "see what stands in every window without a search", ""),
        "team": (care.team, "[NAME|off]", "read a team's memories beside your own", "sales"),
        "graph": (care.graph, "[ENTITY]", "see what is related to what", "coffee"),
        "ledger": (
            care.ledger,
            "[FILE.md|off]",
            "keep a readable file of all memories up to date",
            "memories.md",
        ),
        "export": (export, "FILE", "write all memories to FILE", "memories.jsonl"),
        "import": (import_, "FILE", "read memories from FILE", "memories.jsonl"),
        "backup": (backup, "FILE", "write a whole copy of the memory to FILE", "memory-backup.db"),
        "check": (check, "", "look whether the memory is whole", ""),
        "repair": (repair, "", "mend what check finds; nothing is deleted silently", ""),
        "stats": (stats, "", "count the memories; see where they are and what they work with", ""),
        "log": (care.log, "", "see what was written, changed and read, and when", ""),
        "why": (care.why, "QUESTION", "find out why something was not known", "what is a late flight?"),
    }
    return {name: Verb(_of_user(name, work, about[0]), *about) for name, (work, *about) in table.items()}


class _Theirs:
    """The desk, with the memory of one user on it."""

    def __init__(self, desk: Desk, user: str) -> None:
        self._desk, self._user = desk, user

    def memory(self) -> Any:
        return self._desk.memory(self._user)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._desk, name)


def _of_user(name: str, work: Any, usage: str) -> Any:
    def verb(desk: Any, text: str) -> None:
        named = _USER.match(text)
        if named is not None:
            user = named[1] if named[1] is not None else named[2]
            if not user or not user.strip() or user.startswith("-"):
                raise SettingError("--user needs a name: %memory VERB --user NAME …")
            desk, text = _Theirs(desk, user), text[named.end() :]
        elif name not in _VERBATIM and (late := _LATE_USER.search(text)):
            raise SettingError(f"--user comes right after the verb: %memory {name} {late[1]} …")
        if text.strip() and not usage:
            raise SettingError(
                f"%memory {name} takes nothing more, but {text.strip()[:60]!r} stands after it"
            )
        work(desk, text)

    return verb


_VERBATIM = ("add", "edit")
"""Their text is kept as it was typed, whatever it holds."""
_LATE_USER = re.compile(r"\s(--user(?:=|\s+)\S+)$")


_USER = re.compile(r"""--user(?:=|\s+|$)(?:["']([^"']*)["']|(\S*))\s*""")


def search(desk: Desk, text: str) -> None:
    """Active memories that hold the words; all of them without words."""
    _records(
        desk.memory().search(_plain(text)),
        "No memory holds these words." if text else "Nothing is remembered yet.",
    ).show()


def recall(desk: Desk, text: str) -> None:
    """What a goal would load, with all four gates."""
    from .views import recall_html

    told = inspector.recalled(desk.memory(), needed(_plain(text), "the text to recall for"))
    rows = [
        [f"{hit['score']:.2f}", hit["id"], hit["type"], hit["text"], hit["reason"]] for hit in told["hits"]
    ]
    found = Sheet().rows(["score", "id", "type", "text", "why"], rows, "No memory is near enough to this.")
    passed = Sheet().rows(
        ["gate", "entered", "left", "why"],
        [[gate.get(name) for name in ("name", "entered", "left", "why")] for gate in told["gates"]],
    )
    Sheet().raw(recall_html(told), f"{found.plain()}\n\n{passed.plain()}").show()


def add(desk: Desk, text: str) -> None:
    """Remember something that the user says."""
    flags, rest = arguments.read(arguments.ADD, text)
    scope = "team" if flags.team else "user"
    memory = desk.memory()
    record = memory.add(needed(rest.strip(), "what to remember"), flags.type or "fact", scope=scope)
    pending = "" if record.status == "active" else f" ({record.status}; see %memory conflicts)"
    for_team = f" for {team_of(record)}" if team_of(record) else ""
    if record.mentions > 1:
        sheet = Sheet().say(f"Known already as {record.type} {record.id}{pending}: {record.text}")
        sheet.remark(f"said {record.mentions} times now; %memory undo {record.id} takes that back").show()
        return
    sheet = Sheet().say(f"Remembered{for_team} as {record.type} {record.id}{pending}: {record.text}")
    for old in memory.history(record.id):
        if old.superseded_by == record.id:
            sheet.remark(f"in place of: {old.text} (%memory undo {record.id} takes that back)")
    sheet.show()


def show(desk: Desk, text: str) -> None:
    """All fields of one memory."""
    record = _record(desk, text)
    rows = [[name, _field(value)] for name, value in record.to_dict().items() if value not in ("", [], None)]
    told = Sheet(record.text).pairs(rows)
    html = record_html(record, desk.memory().history(record.id))
    Sheet().raw(tag("div", tag("div", html, "padding:9px 14px"), FRAME), told.plain()).show()


def edit(desk: Desk, text: str) -> None:
    """A new text in place of the old one, which stays in the history."""
    id, _, rest = text.partition(" ")
    record = _record(desk, id)
    changed = desk.memory().edit(record.id, needed(rest.strip(), f"the new text of {record.id}"))
    Sheet().say(f"{changed.id}: {changed.text}").remark(f"before: {record.text}").show()


def history(desk: Desk, text: str) -> None:
    """The whole chain that a memory belongs to."""
    id = needed(_plain(text), "the memory's id")
    chain = list(desk.memory().history(id))
    if not chain:
        raise _no_such(id)
    rows = [[r.id, r.status, day(r.recorded), r.source, r.text, r.superseded_by] for r in chain]
    told = Sheet("History").rows(["id", "status", "written", "source", "text", "superseded by"], rows)
    Sheet().raw(tag("div", chain_html(chain, id), "margin:6px 0"), told.plain()).show()


def synonyms(desk: Desk, text: str) -> None:
    """What is called by several names: the list, one more pair, or one less."""
    memory, text = desk.memory(), text.strip()
    removed = text.removeprefix("--remove ").strip() if text.startswith("--remove") else ""
    if text.startswith("--remove"):
        term, _, means = (part.strip() for part in removed.partition("="))
        gone = memory.remove_synonym(needed(term, "the term to remove"), means)
        if not gone:
            raise SettingError(f"no synonyms hold {removed!r}; %memory synonyms lists them")
        Sheet().say(f"Removed {gone} {'pair' if gone == 1 else 'pairs'} with {term}.").show()
        return
    if text:
        names = [name.strip() for name in text.replace("＝", "=").split("=")]
        if len(names) < 2 or not all(names):
            raise SettingError("give both names: %memory synonyms GMV = gross merchandise volume")
        for name in names[1:]:
            memory.add_synonym(names[0], name)
        Sheet().say(f"{names[0]} is also {', '.join(names[1:])}: a question for one asks for all.").show()
        return
    rows = [list(pair) for pair in memory.synonyms()]
    Sheet("Synonyms").rows(["term", "also"], rows, "Nothing is called by several names yet.").show()


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


def queue(desk: Desk, text: str) -> None:
    """What waits to be distilled, with its last fault; try one again, or give it up."""
    words = text.split()
    if words:
        if len(words) != 2 or words[0] not in ("retry", "drop") or not words[1].isdigit():
            raise SettingError("give nothing, retry N or drop N: %memory queue retry 3")
        if int(words[1]) not in [row["n"] for row in desk.memory().queue()]:
            raise SettingError(f"no turn {words[1]} waits; %memory queue lists those that do")
        change = desk.memory().retry if words[0] == "retry" else desk.memory().drop
        change(int(words[1]))
    names = ["n", "at", "state", "tries", "error", "next_try", "goal"]
    rows = [[_told(row, name) for name in names] for row in desk.memory().queue()]
    columns = ["n", "since", "state", "tries", "last fault", "next try", "goal"]
    Sheet("Queue").rows(columns, rows, "No turn waits to be distilled.").show()


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
    told = desk.memory().stats()
    told["embedding"] = _embedding(told["embedding"])
    names = {"rare": "rarely recalled", "low": "long unused", "decay": "decay a day"}
    Sheet("Memory").pairs(
        [[names.get(name, name), _field(value) or "none"] for name, value in told.items()]
    ).show()


def _embedding(told: Json) -> str:
    """How the vectors stand, in words."""
    if not told:
        return "none: words alone"
    waiting = told["waiting"]
    said = (
        f"{waiting:,} {'waits' if waiting == 1 else 'wait'} for a vector" if waiting else "all have vectors"
    )
    return said + (f"; it failed: {told['failed']}" if told["failed"] else "")


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


def _field(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_field, value))
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_field(v)}" for k, v in value.items())
    return str(value)


def _told(row: Json, name: str) -> Any:
    value = row[name]
    return day(datetime.datetime.fromisoformat(value)) if name in ("at", "next_try") and value else value


def _records(records: Any, empty: str) -> Sheet:
    rows = [[r.id, r.type, r.source, day(r.created), r.text] for r in records]
    columns = ["id", "type", "source", "created", "text"]
    if any(map(team_of, records)):
        columns, rows = (
            ["scope", *columns],
            [[team_of(r) or "own", *row] for r, row in zip(records, rows, strict=True)],
        )
    return Sheet().rows(columns, rows, empty)
