"""Where records are kept: one SQLite file, in which a record and its index are written in one transaction."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import pathlib
import sqlite3
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from ..errors import StoreError, one_line
from ..places import network_kind, private_file
from . import schema
from .record import TYPES, MemoryRecord

Json = dict[str, Any]
T = TypeVar("T")
Vectors = Sequence[bytes]
"""Of a record: float32 bytes for each of its pieces, in order; none where it has none yet."""

BUSY_S = 20.0
SOME = 400
"""Ids that one statement names; SQLite takes 999 parameters."""
TYPE_CODES = {type: code for code, type in enumerate(TYPES)}
_FIELDS = frozenset(field.name for field in dataclasses.fields(MemoryRecord))
OWNED = "user || '' = ?"
"""As `user=?`, where a statement names its rows by number or id: SQLite would walk over all of the user's otherwise."""
FORM = "#3"
"""How a record is embedded: with its type and tags and the turn before, a long one in pieces. Vectors that were kept
under an embedder's bare name are of the text alone; they count until they are made anew in the background."""
CHANGED = "(SELECT n FROM changes WHERE user=?)"
"""What a written row notes as its last change; its parameter is the user."""


class Connection(Protocol):
    """What the functions below need of a database: SQLite's own connection, or a transaction on a server."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Any:
        """Run a statement; gives a cursor."""

    def executemany(self, sql: str, rows: Any, /) -> Any:
        """Run a statement for each row of parameters."""


class Store:
    """Records of many users in one file; every statement names the user.

    Args:
        path: the file, made at first use with mode 600; None keeps everything in this process.
        follow: is given the lines of the log, (at, user, action, id, detail) each, once they are committed.

    Safe from several threads and processes: WAL, full synchronisation, immediate transactions.
    Raises StoreError in one line where the file cannot be read or written.
    """

    def __init__(
        self, path: pathlib.Path | None, follow: Callable[[Sequence[Any]], None] | None = None
    ) -> None:
        self.path, self._follow = path, follow
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self.far = ""
        """The kind of network file system that the file is on."""
        self.scopes: tuple[str, ...] = ()
        """Whose records may be read beside the user's own: their team's."""

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            where = ":memory:" if self.path is None else str(private_file(self.path))
            db = sqlite3.connect(where, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
            try:
                self._journal(db)
                db.execute("PRAGMA synchronous=FULL")
                db.execute("PRAGMA secure_delete=ON")  # an erased text leaves no bytes behind
                self._prepared(db)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _journal(self, db: sqlite3.Connection) -> None:
        """Write-ahead log where machines cannot be mixed up; a network file system cannot share the memory it needs."""
        far = network_kind(self.path) if self.path else ""
        db.execute(f"PRAGMA journal_mode={'DELETE' if far else 'WAL'}")
        if far and not self.far:
            warnings.warn(
                f"{self.shown} is on a network file system ({far}): SQLite runs without its write-ahead log there,"
                " and readers wait for writers",
                stacklevel=2,
            )
        self.far = far

    def _prepared(self, db: sqlite3.Connection) -> None:
        """What is done to a file that was just opened."""
        schema.migrate(db)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for statements that change nothing."""
        with self._lock, told(self.path):
            yield self._connection()

    @contextlib.contextmanager
    def writing(self, user: str) -> Iterator[Connection]:
        """One transaction of `user`: all of it is kept, or nothing."""
        with self._lock, told(self.path):
            db = self._connection()
            if db.in_transaction:  # an interrupt came between the last transaction and its end
                db.execute("ROLLBACK")
            db.execute("BEGIN IMMEDIATE")
            try:
                db.execute(
                    "INSERT INTO changes (user, n) VALUES (?, 1) ON CONFLICT (user) DO UPDATE SET n = changes.n + 1",
                    (user,),
                )
                before = self._logged(db)
                yield db
                self._committing(db)
                lines = self._logged(db, user, before)
                if self.path is not None and _was_emptied(db, user):
                    for file in snapshot_files(self.path, user):
                        with contextlib.suppress(
                            PermissionError
                        ):  # what is open elsewhere goes at its next use
                            file.unlink(missing_ok=True)
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise
            if self._follow is not None:
                self._follow(lines)

    def _logged(self, db: sqlite3.Connection, user: str = "", after: Any = None) -> Any:
        """The number of the log's last line; after it, the lines of the user: (at, user, action, id, detail)."""
        if self._follow is None:
            return None
        if after is None:
            return db.execute("SELECT coalesce(max(n), 0) FROM log").fetchone()[0]
        query = "SELECT at, user, action, id, detail FROM log WHERE user=? AND n>? ORDER BY n"
        return db.execute(query, (user, after)).fetchall()

    def _committing(self, db: sqlite3.Connection) -> None:
        """What has to be done before a transaction counts: nothing, where SQLite keeps the file itself."""

    def text_columns(self, db: sqlite3.Connection) -> list[tuple[str, str]]:
        """(table, column) of every text that is kept for a user; what is erased is looked for in each."""
        found = []
        tables = db.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name").fetchall()
        for (table,) in tables:
            columns = {name: kind for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")}
            if "user" in columns:
                found += [
                    (table, name) for name, kind in columns.items() if kind == "TEXT" and name != "user"
                ]
        return found

    def scrub(self, holds: Callable[[pathlib.Path], bool]) -> bool:
        """Take what was deleted out of the file's bytes. `holds` tells whether a file still has it.

        Returns False where it could not be done, because another process is reading an older state.
        """
        if self.path is None:
            return True
        with self._lock, told(self.path):
            db = self._connection()
            for vacuum in (False, True):
                # Pages are overwritten as they are freed, but a page that was rebuilt may keep a stale copy.
                if vacuum:
                    db.execute("VACUUM")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                wal = self.path.with_name(self.path.name + "-wal")
                if not (holds(self.path) or (wal.exists() and holds(wal))):
                    return True
        return not (wal.exists() and holds(wal))

    @property
    def shown(self) -> str:
        """Where it is, for people to read."""
        return ":memory:" if self.path is None else str(self.path)

    def facts(self) -> Json:
        """What `stats` tells of the store itself."""
        return {"journal": f"none ahead of writes: the file is on {self.far}"} if self.far else {}

    def close(self) -> None:
        """Close the file; it opens again at the next use."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None


def _was_emptied(db: sqlite3.Connection, user: str) -> bool:
    """Whether this transaction has deleted a record of the user."""
    return db.execute("SELECT 1 FROM changes WHERE user=? AND emptied=n", (user,)).fetchone() is not None


def fingerprint(text: str) -> str:
    """16 characters that stand for a text and do not show it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def snapshot_file(path: pathlib.Path, user: str, embedder: str, generation: int) -> pathlib.Path:
    """Where a database keeps the index of a user as of a generation; see `snapshot`."""
    name = f"{fingerprint(user)}-{fingerprint(embedder)}-{generation:016d}.idx"
    return path.with_name(path.name + "-recall") / name


def snapshot_files(path: pathlib.Path, user: str, embedder: str | None = None) -> list[pathlib.Path]:
    """All that there are of a user, finished or not; of one embedder where it is named."""
    start = fingerprint(user) + ("" if embedder is None else f"-{fingerprint(embedder)}")
    return list(path.with_name(path.name + "-recall").glob(start + "-*"))


def put(
    db: Connection,
    record: MemoryRecord,
    normal: str,
    key: str,
    terms: list[str],
    vectors: Vectors,
) -> None:
    """Insert a record with its index; `vectors` of its pieces by the embedder that it names, or none."""
    db.execute(
        "INSERT INTO records (id, user, status, recorded, superseded_by, normal, key, terms, embedder, vector, data,"
        f" changed) VALUES (?,?,?,?,?,?,?,?,?,?,?,{CHANGED})",
        (
            record.id,
            record.user,
            record.status,
            record.recorded.isoformat(),
            record.superseded_by,
            normal,
            key,
            listed(terms),
            form(record.embedder) if vectors else "",
            vectors[0] if vectors else None,
            dump(record),
            record.user,
        ),
    )
    _put_pieces(db, record, vectors)


def renew_pieces(db: Connection, record: MemoryRecord, vectors: Vectors) -> None:
    """Keep the vectors of a record's second and further pieces, in the place of those that were there."""
    db.execute("DELETE FROM pieces WHERE user=? AND record=?", (record.user, record.id))
    _put_pieces(db, record, vectors)


def _put_pieces(db: Connection, record: MemoryRecord, vectors: Vectors) -> None:
    db.executemany(
        f"INSERT INTO pieces (user, record, at, changed, vector) VALUES (?,?,?,{CHANGED},?)",
        [(record.user, record.id, at, record.user, vectors[at]) for at in range(1, len(vectors))],
    )


def form(embedder: str) -> str:
    """The name under which an embedder's vectors are kept, which tells how texts are given to it, too."""
    return embedder + FORM if embedder else ""


def listed(terms: Sequence[str]) -> str:
    """Terms as the column of that name holds them."""
    return json.dumps(terms, ensure_ascii=False)


def update(db: Connection, record: MemoryRecord) -> None:
    """Write the fields of a record whose text and index stay as they are."""
    db.execute(
        f"UPDATE records SET status=?, superseded_by=?, data=?, changed={CHANGED} WHERE id=? AND user=?",
        (record.status, record.superseded_by, dump(record), record.user, record.id, record.user),
    )


def delete(db: Connection, user: str, id: str) -> None:
    """Remove a record, with what it was before; open indexes are built anew."""
    db.execute("DELETE FROM topics WHERE id=? AND user=?", (id, user))
    # With all that changed together with it: the words that were merged into it stand there, too.
    together = "change IN (SELECT change FROM undo WHERE user=? AND id=?)"
    db.execute(f"DELETE FROM undo WHERE user=? AND {together}", (user, user, id))
    db.execute("DELETE FROM records WHERE id=? AND user=?", (id, user))
    db.execute("DELETE FROM marks WHERE record=? AND user=?", (id, user))
    db.execute("DELETE FROM triples WHERE record=? AND user=?", (id, user))
    db.execute("DELETE FROM pieces WHERE record=? AND user=?", (id, user))
    db.execute("UPDATE changes SET emptied = n WHERE user=?", (user,))


def marks_for(values: Collection[Any]) -> str:
    """A question mark for each of the values that a statement names."""
    return ",".join("?" * len(values))


def in_parts(values: Sequence[T]) -> Iterator[tuple[Sequence[T], str]]:
    """The values, as many at a time as one statement names, with their question marks."""
    for start in range(0, len(values), SOME):
        some = values[start : start + SOME]
        yield some, marks_for(some)


def owners(db: Connection, ids: Sequence[str]) -> dict[str, str]:
    """Id → user of those ids that are taken, whoever they belong to: an id is unique in the whole store."""
    found: dict[str, str] = {}
    for some, marks in in_parts(ids):
        found |= dict(db.execute(f"SELECT id, user FROM records WHERE id IN ({marks})", some).fetchall())
    return found


def chain(db: Connection, user: str, id: str) -> list[MemoryRecord]:
    """Whatever took each other's place, in any number of steps, the oldest first."""
    seen: set[str] = set()
    ahead = [id]
    while ahead:
        some, ahead = ahead[:SOME], ahead[SOME:]
        seen.update(some)
        marks = marks_for(some)
        pairs = "SELECT id, superseded_by FROM records WHERE"
        rows = db.execute(f"{pairs} id IN ({marks}) AND {OWNED}", (*some, user)).fetchall()
        rows += db.execute(f"{pairs} user=? AND superseded_by IN ({marks})", (user, *some)).fetchall()
        for pair in rows:
            ahead += [near for near in pair if near and near not in seen and near not in ahead]
    return sorted(named(db, user, sorted(seen)), key=lambda record: record.recorded)


def named(db: Connection, user: str, ids: Sequence[str]) -> list[MemoryRecord]:
    """The user's records of those ids, in no order."""
    found: list[MemoryRecord] = []
    for some, marks in in_parts(ids):
        query = f"SELECT data FROM records WHERE id IN ({marks}) AND {OWNED}"
        found += [load(row[0]) for row in db.execute(query, (*some, user)).fetchall()]
    return found


def note(db: Connection, user: str, action: str, id: str, **detail: Any) -> None:
    """One line of the log."""
    at = now().isoformat(timespec="milliseconds")
    text = json.dumps(detail, ensure_ascii=False, default=str)
    db.execute(
        "INSERT INTO log (user, at, action, id, detail) VALUES (?,?,?,?,?)", (user, at, action, id, text)
    )


def select(db: Connection, user: str, where: str = "", values: Iterable[Any] = ()) -> list[MemoryRecord]:
    """Records of one user, the oldest first."""
    also = f" AND {where}" if where else ""
    rows = db.execute(f"SELECT data FROM records WHERE user = ?{also} ORDER BY recorded, n", (user, *values))
    return [load(row[0]) for row in rows.fetchall()]


def dump(record: MemoryRecord) -> str:
    """A record as JSON. Lone surrogates are kept as escapes, which SQLite can store."""
    return json.dumps(record.to_dict(), ensure_ascii=True, default=str)


def load(text: str) -> MemoryRecord:
    """The record that `dump` wrote. Raises StoreError for anything else."""
    try:
        return from_row(json.loads(text))
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreError(f"a memory cannot be read ({one_line(error)}); %memory repair mends it") from error


def now() -> datetime.datetime:
    """The present moment, aware, in UTC."""
    return datetime.datetime.now(datetime.UTC)


def load_text(row: str) -> str:
    """The text alone of a record that `dump` wrote."""
    return str(json.loads(row)["text"])


def from_row(row: Json) -> MemoryRecord:
    """A record from plain values; unknown fields of a newer version are left out."""
    row = {name: value for name, value in row.items() if name in _FIELDS}
    for name in ("created", "recorded", "last_access", "expires"):
        if isinstance(row.get(name), str):
            row[name] = datetime.datetime.fromisoformat(row[name])
    for name in ("tags", "entities", "evidence"):
        row[name] = tuple(row.get(name) or ())
    return MemoryRecord(**row)


@contextlib.contextmanager
def told(path: pathlib.Path | None) -> Iterator[None]:
    """What SQLite and the disk say, as one line that names what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        name = path.name if path else "in this process"
        hint = "close other programs that use it" if "locked" in str(error) else "check the file and the disk"
        if any(word in str(error) for word in ("malformed", "not a database", "corrupt", "decode")):
            hint = "%memory repair saves what can be read"
        raise StoreError(f"the memory {name} could not be used: {error}; {hint}") from error
    except OSError as error:
        raise StoreError(f"the memory could not be opened: {error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"a memory cannot be read ({error}); %memory repair mends it") from error
