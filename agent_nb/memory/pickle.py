"""A memory in one pickle file, for those who want a single file without a database: small stores only.

The whole file is read when it is opened and written again, atomically, with each transaction; what is in between
is the same SQLite schema, in memory. Words are ranked by `rank_bm25`.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import pickle
import pickletools
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import StoreError, one_line
from ..places import private_file
from .index import K1 as BM25_K1
from .index import B as BM25_B
from .index import Index
from .pieces import parted
from .schema import migrate, tables
from .store import Connection, Store, load, marks_for

Json = dict[str, Any]

FORMAT = 2
_FIRST = {
    "records": "id, user, status, recorded, superseded_by, normal, key, terms, embedder, vector, data, changed",
    "log": "n, user, at, action, id, detail",
    "changes": "user, n, emptied",
}
"""Tables and columns of the first format, which did not name them; it held version 2 of the tables."""


_PLAIN = frozenset(
    """PROTO FRAME STOP MARK MEMOIZE BINGET LONG_BINGET NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT
    SHORT_BINUNICODE BINUNICODE BINUNICODE8 SHORT_BINBYTES BINBYTES BINBYTES8 EMPTY_LIST APPEND APPENDS EMPTY_TUPLE
    TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_DICT SETITEM SETITEMS""".split()
)
"""All that lists, tuples, dicts, texts, numbers and bytes need; none of these calls, imports or reserves memory."""


class _Plain(pickle.Unpickler):
    """Reads plain values; a file that names any class is refused before code runs."""

    def find_class(self, module: str, name: str) -> Any:
        """Never one."""
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _read(file: pathlib.Path) -> Any:
    """The plain values of a file, each of its instructions looked at before the first one is obeyed."""
    data = file.read_bytes()
    for instruction, argument, _ in pickletools.genops(data):
        if instruction.name not in _PLAIN:
            shown = f" ({str(argument)[:60]})" if argument is not None else ""
            raise pickle.UnpicklingError(f"it holds {instruction.name}{shown}, which no memory needs")
    return _Plain(io.BytesIO(data)).load()


class PickleStore(Store):
    """The records of many users in one pickle file.

    Args:
        path: the file, made at the first write with mode 600; beside it lies an empty `.lock` file.

    Raises StoreError where the file is not one of ours, or cannot be read or written.
    """

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(None)
        self.file = path
        self._seen: tuple[int, int, int] | None = None

    @property
    def shown(self) -> str:
        """The file."""
        return str(self.file)

    def _connection(self) -> sqlite3.Connection:
        now = self._stamp()
        if self._db is not None and now != self._seen and not self._db.in_transaction:
            self.close()  # another process has written
        db = super()._connection()
        self._seen = now
        return db

    @contextlib.contextmanager
    def writing(self, user: str) -> Iterator[Connection]:
        """One transaction of `user`, on disk when this ends; other processes wait their turn."""
        with self._lock, _alone(self.file), super().writing(user) as db:
            yield db

    def _committing(self, db: sqlite3.Connection) -> None:
        columns = tables(db)
        rows = {
            name: db.execute(f"SELECT {_listed(named)} FROM {name}").fetchall()
            for name, named in columns.items()
        }
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        whole = {"agent_nb_memory": FORMAT, "version": version, "columns": columns, "rows": rows}
        part = self.file.with_name(self.file.name + ".part")
        try:
            private_file(part)
            with part.open("wb") as out:
                pickler = pickle.Pickler(out, protocol=5)
                pickler.fast = True  # rows share nothing: without a memo, the file is read in half the time
                pickler.dump(whole)
                out.flush()
                os.fsync(out.fileno())
            os.replace(part, self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise StoreError(f"{self.file.name} could not be written: {error.strerror or error}") from error
        self._seen = self._stamp()

    def _prepared(self, db: sqlite3.Connection) -> None:
        """The tables as they were when the file was written, its rows, then what has changed since."""
        if self._stamp() is not None:
            self._fill(db)
        super()._prepared(db)

    def _fill(self, db: sqlite3.Connection) -> None:
        try:
            version, columns, rows = _checked(_read(self.file))
            migrate(db, version)
            known = tables(db)
            db.execute("BEGIN")
            for name, named in columns.items():
                if not named or not set(named) <= set(known.get(name, ())):
                    raise ValueError(f"version {version} has no such columns of {name!r}")
                db.execute(f"DELETE FROM {name}")
                marks = marks_for(named)
                db.executemany(f"INSERT INTO {name} ({_listed(named)}) VALUES ({marks})", rows[name])
            for (text,) in db.execute("SELECT data FROM records").fetchall():
                load(text)
            db.execute("COMMIT")
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"{self.file.name} could not be read: {error.strerror or error}") from error
        except Exception as error:  # a broken pickle raises whatever its bytes happen to say
            said = one_line(error).partition(": ")[2] or type(error).__name__
            raise StoreError(
                f"{self.file.name} is no memory of ours, nothing of it was run: {said}"
            ) from None

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self.file.name} could not be read: {error.strerror or error}") from error
        return (found.st_ino, found.st_mtime_ns, found.st_size)


class RankedIndex(Index):
    """The index whose words are ranked by `rank_bm25`, with an idf that never goes below zero."""

    bulk = sys.maxsize  # its engine wants the words themselves, which no block keeps

    def clear(self) -> None:
        """Know nothing; the next refresh starts anew."""
        super().clear()
        self._texts: list[Sequence[Sequence[str]]] = []  # of each piece of a long record
        self._engine: Any = None
        self._places: list[int] = []
        self._built = -2

    def lexical(self, terms: Any, also: Any = ()) -> Any:
        """BM25 of every place (float32 (n,)) divided by the sum of the weights."""
        import numpy as np

        scores = np.zeros(self.size, np.float32)
        known = sorted(set(terms))
        whole = sum(self.weight(term) for term in known)
        if not self.length or not whole:
            return scores
        if self._built != self.changes:
            self._build()
        weights = self.weights(known, also)
        self._engine.idf |= {term: weight for term, weight in weights.items() if term in self._engine.idf}
        found = self._engine.get_scores(list(weights)) / whole
        scores[self._places] = np.maximum.reduceat(found, self._starts)
        return np.minimum(scores, 1.0)

    def _add(self, number: int, terms: Sequence[str], *rest: Any) -> int:
        self._texts.append(parted(terms) or [terms])
        return super()._add(number, terms, *rest)

    def _build(self) -> None:
        import numpy as np
        from rank_bm25 import BM25Okapi

        self._places = np.flatnonzero(self.columns["alive"]).tolist()
        units = [self._texts[place] for place in self._places]
        self._starts = np.cumsum([0, *map(len, units)])[:-1]
        self._engine = BM25Okapi([terms for unit in units for terms in unit], k1=BM25_K1, b=BM25_B)
        self._engine.avgdl = self.average  # of records, however many pieces the long ones are
        # Its own idf is negative for terms in more than half of the records, and 0 in exactly half.
        self._engine.idf = {term: self.weight(term) for term in self._engine.idf}
        self._built = self.changes


def _checked(data: Any) -> tuple[int, Json, Json]:
    """Version, columns and rows of what a file holds. Raises ValueError for whatever else it may be."""
    form = data.get("agent_nb_memory") if isinstance(data, dict) else None
    if form == 1:
        return 2, {name: columns.split(", ") for name, columns in _FIRST.items()}, data
    if form != FORMAT:
        raise ValueError("it was not written by this version of agent_nb")
    version, columns, rows = data["version"], data["columns"], data["rows"]
    if not isinstance(version, int) or not isinstance(columns, dict) or not isinstance(rows, dict):
        raise ValueError("its parts are not what they should be")
    return version, columns, rows


def _listed(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


@contextlib.contextmanager
def _alone(path: pathlib.Path) -> Iterator[None]:
    """Hold the file's lock; where the platform has none, the last writer wins."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        lock = private_file(path.with_name(path.name + ".lock")).open("ab")
    except OSError as error:
        raise StoreError(f"{path.name} could not be locked: {error.strerror or error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
