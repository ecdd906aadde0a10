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
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from ..errors import StoreError, one_line
from ..places import network_kind, private_file
from .record import TYPES, MemoryRecord

Json = dict[str, Any]

_MIGRATIONS = [
    """
    CREATE TABLE records (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, status TEXT NOT NULL, recorded TEXT NOT NULL,
        superseded_by TEXT NOT NULL, normal TEXT NOT NULL, key TEXT NOT NULL,
        terms TEXT NOT NULL, embedder TEXT NOT NULL, vector BLOB, data TEXT NOT NULL);
    CREATE INDEX records_user ON records (user, status);
    CREATE INDEX records_normal ON records (user, normal);
    CREATE INDEX records_key ON records (user, key);
    CREATE TABLE log (n INTEGER PRIMARY KEY, user TEXT NOT NULL, at TEXT NOT NULL, action TEXT NOT NULL,
        id TEXT NOT NULL, detail TEXT NOT NULL);
    CREATE INDEX log_user ON log (user, n);
    CREATE TABLE changes (user TEXT PRIMARY KEY, n INTEGER NOT NULL);
    """,
    # What was written when, so that an open index reads only what is new; columns that are counted and filtered.
    """
    ALTER TABLE records ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE records ADD COLUMN type TEXT AS (json_extract(data, '$.type'));
    ALTER TABLE records ADD COLUMN source TEXT AS (json_extract(data, '$.source'));
    ALTER TABLE records ADD COLUMN session TEXT AS (json_extract(data, '$.session'));
    ALTER TABLE records ADD COLUMN expires TEXT AS (json_extract(data, '$.expires'));
    ALTER TABLE changes ADD COLUMN emptied INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX records_changed ON records (user, changed);
    CREATE INDEX records_kind ON records (user, status, type, source);
    CREATE INDEX records_chain ON records (user, superseded_by);
    """,
    # Every record has a number of its own, growing with each one written and never given twice: what an index calls
    # a record by. The vector stands last, so that reading the other columns never walks over it.
    """
    CREATE TABLE numbered (
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL, status TEXT NOT NULL,
        recorded TEXT NOT NULL, superseded_by TEXT NOT NULL, normal TEXT NOT NULL, key TEXT NOT NULL,
        terms TEXT NOT NULL, changed INTEGER NOT NULL DEFAULT 0, data TEXT NOT NULL, embedder TEXT NOT NULL,
        type TEXT AS (json_extract(data, '$.type')), source TEXT AS (json_extract(data, '$.source')),
        session TEXT AS (json_extract(data, '$.session')), expires TEXT AS (json_extract(data, '$.expires')),
        vector BLOB);
    INSERT INTO numbered (id, user, status, recorded, superseded_by, normal, key, terms, changed, data, embedder,
        vector) SELECT id, user, status, recorded, superseded_by, normal, key, terms, changed, data, embedder, vector
        FROM records ORDER BY rowid;
    DROP TABLE records;
    ALTER TABLE numbered RENAME TO records;
    CREATE INDEX records_user ON records (user, status);
    CREATE INDEX records_normal ON records (user, normal);
    CREATE INDEX records_key ON records (user, key);
    CREATE INDEX records_changed ON records (user, changed);
    CREATE INDEX records_kind ON records (user, status, type, source);
    CREATE INDEX records_chain ON records (user, superseded_by);
    """,
    # Forgetting: what was marked when, and each user's own settings.
    """
    CREATE TABLE marks (user TEXT NOT NULL, record TEXT NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (user, record));
    CREATE TABLE settings (user TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (user, name));
    CREATE INDEX records_ends ON records (user, status, expires);
    """,
    # Which version of the tokeniser made a user's terms; what the user calls by several names; when things happened.
    """
    ALTER TABLE records ADD COLUMN created TEXT AS (json_extract(data, '$.created'));
    ALTER TABLE changes ADD COLUMN tokens INTEGER NOT NULL DEFAULT 1;
    CREATE TABLE synonyms (n INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, term TEXT NOT NULL,
        means TEXT NOT NULL, UNIQUE (user, term, means));
    """,
    # What records state of how things are related; see `graph`.
    """
    CREATE TABLE triples (user TEXT NOT NULL, record TEXT NOT NULL, subject TEXT NOT NULL, relation TEXT NOT NULL,
        object TEXT NOT NULL);
    CREATE INDEX triples_relation ON triples (user, relation);
    CREATE INDEX triples_record ON triples (user, record);
    """,
    # What each record is about, by which contradictions are found; and what records were before they changed.
    """
    CREATE TABLE topics (user TEXT NOT NULL, id TEXT NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (user, id));
    CREATE INDEX topics_user ON topics (user, topic);
    CREATE TABLE undo (n INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, change TEXT NOT NULL, id TEXT NOT NULL,
        action TEXT NOT NULL, at TEXT NOT NULL, before TEXT NOT NULL);
    CREATE INDEX undo_user ON undo (user, id);
    CREATE INDEX undo_change ON undo (user, change);
    """,
    # What has no vector of the present embedder is found without reading the records that have one.
    """
    CREATE INDEX records_lacking ON records (user, status, embedder, id);
    """,
    # Turns that wait to be distilled; and what was said in passing, counted until it is promoted.
    """
    CREATE TABLE queue (n INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, run TEXT NOT NULL, at TEXT NOT NULL,
        turn TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, error TEXT NOT NULL, next_try TEXT NOT NULL,
        UNIQUE (user, run));
    CREATE INDEX queue_due ON queue (user, state, next_try);
    CREATE TABLE heard (user TEXT NOT NULL, topic TEXT NOT NULL, text TEXT NOT NULL, runs TEXT NOT NULL,
        session TEXT NOT NULL, last TEXT NOT NULL, PRIMARY KEY (user, topic));
    """,
]
BUSY_S = 20.0
SOME = 400
"""Ids that one statement names; SQLite takes 999 parameters."""
TYPE_CODES = {type: code for code, type in enumerate(TYPES)}
_FIELDS = frozenset(field.name for field in dataclasses.fields(MemoryRecord))
_CHANGED = "(SELECT n FROM changes WHERE user=?)"


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

    Safe from several threads and processes: WAL, full synchronisation, immediate transactions.
    Raises StoreError in one line where the file cannot be read or written.
    """

    def __init__(self, path: pathlib.Path | None) -> None:
        self.path = path
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
        migrate(db)

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
                yield db
                self._committing(db)
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
    vector: bytes | None,
) -> None:
    """Insert a record with its index."""
    db.execute(
        "INSERT INTO records (id, user, status, recorded, superseded_by, normal, key, terms, embedder, vector, data,"
        f" changed) VALUES (?,?,?,?,?,?,?,?,?,?,?,{_CHANGED})",
        (
            record.id,
            record.user,
            record.status,
            record.recorded.isoformat(),
            record.superseded_by,
            normal,
            key,
            listed(terms),
            record.embedder if vector else "",
            vector,
            dump(record),
            record.user,
        ),
    )


def listed(terms: Sequence[str]) -> str:
    """Terms as the column of that name holds them."""
    return json.dumps(terms, ensure_ascii=False)


def update(db: Connection, record: MemoryRecord) -> None:
    """Write the fields of a record whose text and index stay as they are."""
    db.execute(
        f"UPDATE records SET status=?, superseded_by=?, data=?, changed={_CHANGED} WHERE id=? AND user=?",
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
    db.execute("UPDATE changes SET emptied = n WHERE user=?", (user,))


def owners(db: Connection, ids: Sequence[str]) -> dict[str, str]:
    """Id → user of those ids that are taken, whoever they belong to: an id is unique in the whole store."""
    found: dict[str, str] = {}
    for start in range(0, len(ids), SOME):
        some = ids[start : start + SOME]
        rows = db.execute(f"SELECT id, user FROM records WHERE id IN ({','.join('?' * len(some))})", some)
        found |= dict(rows.fetchall())
    return found


def is_lacking(db: Connection, user: str, embedder: str, dim: int) -> bool:
    """Whether any active record has no vector of `embedder` with that dimension; a quick look, not a count."""
    query = "SELECT 1 FROM records WHERE user=? AND status='active' AND embedder{}? LIMIT 1"
    other = any(db.execute(query.format(sign), (user, embedder)).fetchone() for sign in "<>")
    return other or misfit(db, user, embedder, dim)


def lacking(
    db: Connection, user: str, embedder: str, before: str, after: str, limit: int
) -> list[MemoryRecord]:
    """Active records without a vector of `embedder`, by id from `after` on.

    Those under another embedder only where they were recorded before that time (ISO text, "" for none of them): two
    processes with different embedders would else take each other's vectors away for ever.
    """
    query = (
        "SELECT data FROM records WHERE user=? AND status='active' AND embedder=? AND recorded<=? AND id>?"
    )
    named = "SELECT DISTINCT embedder FROM records WHERE user=? AND status='active' AND embedder<>?"
    others = [row[0] for row in db.execute(named, (user, embedder))] if before else []
    for name in dict.fromkeys(["", *others]):
        values = (user, name, before if name else "9", after, limit)
        rows = db.execute(query + " ORDER BY id LIMIT ?", values).fetchall()
        if rows:
            return [load(row[0]) for row in rows]
    return []


def count_lacking(db: Connection, user: str, embedder: str) -> int:
    """How many active records have no vector of `embedder`."""
    query = "SELECT count(*) FROM records WHERE user=? AND status='active' AND embedder<>?"
    return int(db.execute(query, (user, embedder)).fetchone()[0])


def misfit(db: Connection, user: str, embedder: str, dim: int) -> bool:
    """Whether vectors of `embedder` are from when it had another dimension; some stand for all."""
    return any(len(vector) != 4 * dim for vector in some_vectors(db, user, embedder, 16))


def drop_misfits(db: Connection, user: str, embedder: str, dim: int) -> None:
    """Take away the vectors of `embedder` that have another dimension."""
    db.execute(
        f"UPDATE records SET embedder='', vector=NULL, changed={_CHANGED}"
        " WHERE user=? AND status='active' AND embedder=? AND length(vector)<>?",
        (user, user, embedder, 4 * dim),
    )


def some_vectors(db: Connection, user: str, embedder: str, limit: int) -> list[bytes]:
    """Vectors of active records, in no order that says anything about them."""
    query = "SELECT vector FROM records WHERE user=? AND status='active' AND embedder=? ORDER BY id LIMIT ?"
    return [row[0] for row in db.execute(query, (user, embedder, limit))]


def give_vector(db: Connection, user: str, record: MemoryRecord, embedder: str, vector: bytes) -> bool:
    """The vector of a record that was read earlier; False where it is gone, superseded or says something else."""
    query = "SELECT data FROM records WHERE user=? AND id=? AND status='active'"
    row = db.execute(query, (user, record.id)).fetchone()
    now = load(row[0]) if row else None
    if now is None or now.text != record.text:
        return False
    db.execute(
        f"UPDATE records SET embedder=?, vector=?, data=?, changed={_CHANGED} WHERE user=? AND id=?",
        (embedder, vector, dump(dataclasses.replace(now, embedder=embedder)), user, user, record.id),
    )
    return True


def chain(db: Connection, user: str, id: str) -> list[MemoryRecord]:
    """Whatever took each other's place, in any number of steps, the oldest first."""
    seen: set[str] = set()
    ahead = [id]
    while ahead:
        some, ahead = ahead[:SOME], ahead[SOME:]
        seen.update(some)
        marks = ",".join("?" * len(some))
        query = "SELECT id, superseded_by FROM records"
        query += f" WHERE user=? AND (id IN ({marks}) OR superseded_by IN ({marks}))"
        for pair in db.execute(query, (user, *some, *some)).fetchall():
            ahead += [near for near in pair if near and near not in seen and near not in ahead]
    found: list[MemoryRecord] = []
    for start in range(0, len(ids := sorted(seen)), SOME):
        some = ids[start : start + SOME]
        found += select(db, user, f"id IN ({','.join('?' * len(some))})", some)
    return sorted(found, key=lambda record: record.recorded)


def note(db: Connection, user: str, action: str, id: str, **detail: Any) -> None:
    """One line of the log."""
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
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


def load_text(row: str | MemoryRecord) -> str:
    """The text alone of a record, or of what `dump` wrote of it."""
    return str(json.loads(row)["text"]) if isinstance(row, str) else row.text


def from_row(row: Json) -> MemoryRecord:
    """A record from plain values; unknown fields of a newer version are left out."""
    row = {name: value for name, value in row.items() if name in _FIELDS}
    for name in ("created", "recorded", "last_access", "expires"):
        if isinstance(row.get(name), str):
            row[name] = datetime.datetime.fromisoformat(row[name])
    for name in ("tags", "entities", "evidence"):
        row[name] = tuple(row.get(name) or ())
    return MemoryRecord(**row)


def migrate(db: sqlite3.Connection, upto: int | None = None) -> None:
    """Bring the tables to a version, the present one by default; each step is whole or not done."""
    wanted = len(_MIGRATIONS) if upto is None else upto
    for _ in range(3):
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if max(version, wanted) > len(_MIGRATIONS):
            newer = max(version, wanted)
            raise StoreError(f"the memory is of a newer version ({newer}); update agent_nb to open it")
        if version >= wanted:
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been faster while this one waited for the lock.
            at = int(db.execute("PRAGMA user_version").fetchone()[0])
            for number in range(at, wanted):
                for statement in filter(str.strip, _MIGRATIONS[number].split(";")):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number + 1}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        time.sleep(0)


def tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Table → its columns that are written (computed ones are not), as they stand in an open file."""
    query = "SELECT name FROM sqlite_master WHERE type='table' AND (name NOT LIKE 'sqlite_%' OR name='sqlite_sequence')"
    names = sorted(row[0] for row in db.execute(query).fetchall())
    return {
        name: [row[1] for row in db.execute(f'PRAGMA table_xinfo("{name}")').fetchall() if not row[6]]
        for name in names
    }


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
