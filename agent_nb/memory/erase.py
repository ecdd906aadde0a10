"""Erasing: a text leaves every table of the store and every byte of its file; copies elsewhere are listed.

Transcripts and backups are not rewritten: they are what a session or a store was. Each that holds the text is
listed with its path, the number of places and what to do about it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..places import home
from . import neighbours, store
from .record import MemoryRecord

Json = dict[str, Any]

MARK = "[erased]"
SHORT = 8
"""Texts shorter than this are erased only where they stand alone: "tea" is no part of "team"."""


@dataclasses.dataclass(frozen=True)
class Erased:
    """What `Memory.erase` did.

    Args:
        ids: the records that are gone, the whole history of one memory.
        cleaned: rows of the store in which the text was blotted out (log, queue, evidence of other memories).
        also_in: ids of other memories whose own text holds it; they stay.
        copies: where it still stands outside the store: dicts of path, places, what, advice.
    """

    ids: tuple[str, ...]
    cleaned: int = 0
    also_in: tuple[str, ...] = ()
    copies: tuple[Json, ...] = ()

    def __str__(self) -> str:
        said = [f"Erased {len(self.ids)} record{'s' if len(self.ids) > 1 else ''} of it, text and index."]
        if self.also_in:
            said.append(f"These memories say it too, and stay: {', '.join(self.also_in)}.")
        if not self.copies:
            said.append("No transcript and no backup holds it.")
        for copy in self.copies:
            times = "place" if copy["places"] == 1 else "places"
            said.append(
                f"{copy['path']} ({copy['what']}) holds it in {copy['places']} {times}: {copy['advice']}"
            )
        return "\n".join(said)


def forms(texts: Iterable[str]) -> list[str]:
    """Each text as it may stand in a column or a file: as it is, and inside JSON."""
    found: dict[str, None] = {}
    for text in texts:
        plain = text.encode("utf-8", "replace").decode()
        written = [plain, *(json.dumps(text, ensure_ascii=way)[1:-1] for way in (True, False))]
        written = [form.encode("utf-8", "replace").decode() for form in written]
        if len(plain.strip()) < SHORT:
            written = [f'"{form}"' for form in written]
        found |= dict.fromkeys(written)
    return list(found)


def take_out(db: Any, user: str, id: str) -> list[MemoryRecord]:
    """Delete the whole history of a record; what was in it."""
    gone = store.chain(db, user, id)
    for record in gone:
        neighbours.part(db, user, record.id)
        store.delete(db, user, record.id)
        store.note(db, user, "erased", record.id)
    return gone


def blot_out(keeper: store.Store, db: Any, user: str, texts: Sequence[str]) -> tuple[int, list[str]]:
    """Take the texts out of whatever else the user has; how many rows were changed, and whose own text holds it."""
    cleaned, also = 0, []
    written = forms(texts)
    for record in _holding(db, user, written):
        evidence = tuple(_blotted(row, written) for row in record.evidence)
        if evidence != record.evidence:
            store.update(db, dataclasses.replace(record, evidence=evidence))
            cleaned += 1
        if any(form.strip('"') in record.text for form in written):
            also.append(record.id)
    for table, column in keeper.text_columns(db):
        if table == "records":
            continue
        for form in written:
            new = f'"{MARK}"' if form.startswith('"') and form.endswith('"') else MARK
            done = db.execute(
                f"UPDATE {table} SET {column}=replace({column}, ?, ?)"
                f" WHERE user=? AND replace({column}, ?, '') <> {column}",
                (form, new, user, form),
            )
            cleaned += max(0, done.rowcount)
    return cleaned, also


def _holding(db: Any, user: str, written: Sequence[str]) -> list[MemoryRecord]:
    found: dict[str, MemoryRecord] = {}
    for form in written:
        found |= {r.id: r for r in store.select(db, user, "replace(data, ?, '') <> data", [form])}
    return list(found.values())


def _blotted(value: Any, written: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {name: _blotted(inner, written) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_blotted(inner, written) for inner in value]
    if not isinstance(value, str):
        return value
    if any(form == f'"{value}"' for form in written):
        return MARK
    for form in written:
        value = value.replace(form, MARK)
    return value


def bytes_hold(path: pathlib.Path, written: Sequence[str]) -> bool:
    """Whether the raw bytes of a file hold one of these."""
    return any(_counted(path, [form.encode()]) for form in written)


def _counted(path: pathlib.Path, needles: Sequence[bytes]) -> int:
    """How often the needles stand in a file, read in pieces."""
    longest = max(map(len, needles))
    count, rest = 0, b""
    with contextlib.suppress(OSError), path.open("rb") as source:
        while piece := source.read(1 << 22):
            block = rest + piece
            count += sum(block.count(needle) for needle in needles)
            rest = block[len(block) - longest + 1 :] if longest > 1 else b""
            count -= sum(rest.count(needle) for needle in needles)
        count += sum(rest.count(needle) for needle in needles)
    return count


def copies(
    user: str, texts: Sequence[str], file: pathlib.Path | None, backups: Sequence[pathlib.Path] = ()
) -> list[Json]:
    """Transcripts and backups that hold one of the texts, as far as they are this user's.

    Args:
        file: the store's own. backups: where this user has written some, beside those that lie with the store.
    """
    written = forms(texts)
    found = []
    folder = home() / "sessions"
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else []:
        if places := _in_transcript(path, user, written):
            advice = "delete the session with %agent delete, if you can do without it"
            found.append({"path": str(path), "places": places, "what": "transcript", "advice": advice})
    beside = _backups(file)
    elsewhere = [
        path for path in dict.fromkeys(backups) if path not in beside and path != file and path.is_file()
    ]
    for path in beside + elsewhere:
        if places := _in_backup(path, user, written):
            advice = "delete the backup, or restore it elsewhere and erase there"
            found.append({"path": str(path), "places": places, "what": "backup", "advice": advice})
    return found


def in_ledger(name: str, texts: Sequence[str]) -> list[Json]:
    """The live ledger, where it could not be written anew and still holds one of the texts."""
    places = _counted(pathlib.Path(name), [form.encode() for form in forms(texts)]) if name else 0
    advice = "it could not be written anew; delete it"
    return [{"path": name, "places": places, "what": "live ledger", "advice": advice}] if places else []


def _in_transcript(path: pathlib.Path, user: str, written: Sequence[str]) -> int:
    """Lines of this user's runs (and of runs that name nobody) that hold it."""
    users: dict[str, str] = {}
    count = 0
    needles = [form.encode() for form in written]
    for line in _lines(path):
        held = any(needle in line for needle in needles)
        if not held and b"RunStarted" not in line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            event = {}
        event = event if isinstance(event, dict) else {}
        run = str(event.get("run", ""))
        if event.get("event") == "RunStarted":
            users[run] = str(event.get("user", ""))
        count += held and users.get(run, "") in ("", user)
    return count


def _lines(path: pathlib.Path) -> Iterator[bytes]:
    with contextlib.suppress(OSError), path.open("rb") as source:
        yield from source


def _backups(file: pathlib.Path | None) -> list[pathlib.Path]:
    """Files that lie beside the store and carry its name, without those that are the store."""
    if file is None or not file.parent.is_dir():
        return []
    own = {file.name} | {file.name + end for end in ("-wal", "-shm", "-journal", ".lock", ".part")}
    return sorted(
        path for path in file.parent.glob(f"*{file.stem}*") if path.is_file() and path.name not in own
    )


def _in_backup(path: pathlib.Path, user: str, written: Sequence[str]) -> int:
    """Records of this user in a copy of the store that hold it; for other files, places among its bytes."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        ) as db:
            rows = db.execute("SELECT data FROM records WHERE user=?", (user,)).fetchall()
    except sqlite3.Error:
        return _counted(path, [form.encode() for form in written])
    return sum(any(form in data for form in written) for (data,) in rows)
