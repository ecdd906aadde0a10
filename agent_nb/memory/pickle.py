"""A memory in one pickle file, for those who want a single file without a database: small stores only.

The whole file is read when it is opened and written again, atomically, with each transaction; what is in between
is the same SQLite schema, in memory. Words are ranked by `rank_bm25`.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import pickle
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import StoreError
from ..places import private_file
from .index import K1 as BM25_K1
from .index import B as BM25_B
from .index import Index
from .store import Store

FORMAT = 1
_TABLES = {
    "records": "id, user, status, recorded, superseded_by, normal, key, terms, embedder, vector, data, changed, n",
    "log": "n, user, at, action, id, detail",
    "changes": "user, n, emptied",
}


class _Plain(pickle.Unpickler):
    """Reads lists, dicts, texts, numbers and bytes; a file that names any class is refused before code runs."""

    def find_class(self, module: str, name: str) -> Any:
        """Never one."""
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


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

    def _connection(self) -> sqlite3.Connection:
        now = self._stamp()
        if self._db is not None and now != self._seen and not self._db.in_transaction:
            self.close()  # another process has written
        fresh = self._db is None
        db = super()._connection()
        if fresh and now is not None:
            try:
                self._fill(db)
            except BaseException:
                self.close()
                raise
        self._seen = now
        return db

    @contextlib.contextmanager
    def writing(self, user: str) -> Iterator[sqlite3.Connection]:
        """One transaction of `user`, on disk when this ends; other processes wait their turn."""
        with self._lock, _alone(self.file), super().writing(user) as db:
            yield db

    def _committing(self, db: sqlite3.Connection) -> None:
        tables = {
            name: db.execute(f"SELECT {columns} FROM {name} ORDER BY n").fetchall()
            for name, columns in _TABLES.items()
        }
        part = self.file.with_name(self.file.name + ".part")
        try:
            private_file(part)
            with part.open("wb") as out:
                pickle.dump({"agent_nb_memory": FORMAT, **tables}, out, protocol=5)
                out.flush()
                os.fsync(out.fileno())
            os.replace(part, self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise StoreError(f"{self.file.name} could not be written: {error.strerror or error}") from error
        self._seen = self._stamp()

    def _fill(self, db: sqlite3.Connection) -> None:
        try:
            with self.file.open("rb") as source:
                data = _Plain(source).load()
            if not isinstance(data, dict) or data.get("agent_nb_memory") != FORMAT:
                raise ValueError("it was not written by this version of agent_nb")
            with contextlib.closing(db.cursor()) as cursor:
                cursor.execute("BEGIN")
                for name, columns in _TABLES.items():
                    for row in data[name]:
                        # Files from before records had numbers get them now, in the order they were written.
                        named = columns.split(", ")[: len(row)]
                        marks = ",".join("?" * len(named))
                        cursor.execute(f"INSERT INTO {name} ({', '.join(named)}) VALUES ({marks})", row)
                cursor.execute("COMMIT")
        except OSError as error:
            raise StoreError(f"{self.file.name} could not be read: {error.strerror or error}") from error
        except Exception as error:  # a broken pickle raises whatever its bytes happen to say
            raise StoreError(
                f"{self.file.name} is no memory of ours, nothing of it was run: {error}"
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

    def __init__(self) -> None:
        super().__init__()
        self._engine: Any = None
        self._places: list[int] = []
        self._built = -2

    def lexical(self, terms: Any) -> Any:
        """BM25 of every place (float32 (n,)) divided by the sum of the weights."""
        import numpy as np

        scores = np.zeros(len(self.rows), np.float32)
        known = sorted(set(terms))
        whole = sum(self.weight(term) for term in known)
        if not self.length or not whole:
            return scores
        if self._built != self.changes:
            self._build()
        scores[self._places] = self._engine.get_scores(known) / whole
        return np.minimum(scores, 1.0)

    def _build(self) -> None:
        from rank_bm25 import BM25Okapi

        texts: list[list[str]] = [[] for _ in self.rows]
        for term, (at, counts) in self.postings.items():
            for place, count in zip(at, counts, strict=True):
                texts[place] += [term] * count
        self._places = [place for place, alive in enumerate(self.alive) if alive]
        self._engine = BM25Okapi([texts[place] for place in self._places], k1=BM25_K1, b=BM25_B)
        # Its own idf is negative for terms in more than half of the records, and 0 in exactly half.
        self._engine.idf = {term: self.weight(term) for term in self._engine.idf}
        self._built = self.changes


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
