"""Blocks kept in files beside the database, so that a large memory opens at once.

A snapshot is derived: it may be deleted at any time, and one that is damaged, of another time line, user, embedder or
version is passed over. It holds numbers and hashes, no text. Each has a name of its own (who, generation), is written
aside and put in place whole, and is mapped, not read. Whatever erases a record deletes the snapshots that hold it in
the same transaction, and none of an older state can be put in place afterwards.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import mmap
import os
import pathlib
import sqlite3
import threading
import zlib
from typing import TYPE_CHECKING, Any

from ..places import private_file
from . import block, store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"agent_nb recall 3\n"
ALIGNED = 64
CHECKED = 400_000_000
"""Bytes of vectors that are checked when they are opened; more would take longer than they are worth."""
_FAULTS = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, MemoryError)


@dataclasses.dataclass(frozen=True)
class Kept:
    """A block as of a state of the store; `changes` is the user's counter then."""

    changes: int
    arrays: block.Arrays


class Snapshots:
    """The snapshots of one database; `path` is the database's file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.renewed = False
        """Whether a newer one was put in place since somebody looked."""
        self.size = 0
        self._thread: threading.Thread | None = None
        self._failed = False

    def newest(
        self, db: store.Connection, user: str, embedder: Any, changes: int, emptied: int
    ) -> Kept | None:
        """The newest that fits the store as it is now; those that do not fit are deleted."""
        self.renewed = False
        for file in sorted(store.snapshot_files(self.path, user, _name(embedder)), reverse=True):
            if file.suffix != ".idx":
                continue
            kept = _opened(file, user, embedder)
            if kept and emptied <= kept[0].changes <= changes and _same_line(db, user, kept[1]):
                self.size = len(kept[0].arrays["column.number"])
                return kept[0]
            with contextlib.suppress(OSError):
                file.unlink()
        return None

    def keep(self, user: str, embedder: Any, changes: int, witness: Any, arrays: block.Arrays) -> None:
        """Write a block in the background."""
        self.size = len(arrays["column.number"])
        self._start(lambda: self._write(user, embedder, changes, witness, arrays))

    def renew(self, user: str, embedder: Any) -> None:
        """Make a new one of the store's present state in the background."""

        def make() -> None:
            with contextlib.closing(
                sqlite3.connect(self.path, timeout=store.BUSY_S, isolation_level=None)
            ) as db:
                db.execute("BEGIN")
                row = db.execute("SELECT n FROM changes WHERE user=?", (user,)).fetchone()
                witness, arrays = witnessed(db, user), block.build(db, user, embedder)
                db.execute("ROLLBACK")
            self.size = len(arrays["column.number"])
            self._write(user, embedder, row[0] if row else 0, witness, arrays)
            self.renewed = True

        self._start(make)

    @property
    def idle(self) -> bool:
        """Whether a new one could be made: none is being made, and none has failed here before."""
        return not self._failed and (self._thread is None or not self._thread.is_alive())

    def wait(self) -> None:
        """Until what was begun is done."""
        if self._thread is not None:
            self._thread.join()

    def _start(self, work: Any) -> None:
        def run() -> None:
            try:
                work()
            except (sqlite3.Error, *_FAULTS):
                # Without a snapshot everything works, only slower: a full disk must not be heard of.
                self._failed = True

        if self.idle:
            self._thread = threading.Thread(target=run, name="recall snapshot")
            self._thread.start()

    def _write(self, user: str, embedder: Any, changes: int, witness: Any, arrays: block.Arrays) -> None:
        head = {"user": user, "embedder": _name(embedder), "dim": _dim(embedder)}
        head |= {"changes": changes, "witness": witness}
        file = store.snapshot_file(self.path, user, _name(embedder), changes)
        part = file.with_name(f"{file.stem}-{os.getpid()}-{threading.get_ident()}.part")
        try:
            private_file(part)
            with part.open("r+b") as out:
                _dump(out, _secret(head), arrays)
                out.flush()
                os.fsync(out.fileno())
            self._publish(part, file, user, changes)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        for old in store.snapshot_files(self.path, user, _name(embedder)):
            if old.suffix == ".idx" and old.name < file.name:
                with contextlib.suppress(OSError):
                    old.unlink()

    def _publish(self, part: pathlib.Path, file: pathlib.Path, user: str, changes: int) -> None:
        """Put it in place, unless what it holds was erased meanwhile: nobody erases while this holds the lock."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=store.BUSY_S, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                row = db.execute("SELECT emptied FROM changes WHERE user=?", (user,)).fetchone()
                if row is not None and row[0] <= changes:
                    os.replace(part, file)
            finally:
                db.execute("ROLLBACK")


def witnessed(db: store.Connection, user: str) -> list[Any]:
    """The user's last line of the log: a store that was restored from a backup has another there, or none."""
    row = db.execute("SELECT n, at, id FROM log WHERE user=? ORDER BY n DESC LIMIT 1", (user,)).fetchone()
    return list(row) if row else []


def _same_line(db: store.Connection, user: str, witness: list[Any]) -> bool:
    if not witness:
        return False
    row = db.execute("SELECT n, at, id FROM log WHERE user=? AND n=?", (user, witness[0])).fetchone()
    return row is not None and list(row) == witness


def _name(embedder: Any) -> str:
    return str(embedder.name) if embedder is not None else ""


def _dim(embedder: Any) -> int:
    return int(embedder.dim) if embedder is not None else 0


def _secret(head: dict[str, Any]) -> dict[str, Any]:
    """The head with the user's name as a hash."""
    return head | {"user": store.fingerprint(head["user"])}


def _dump(out: Any, head: dict[str, Any], arrays: block.Arrays) -> None:
    layout, offset = {}, 0
    for name, array in arrays.items():
        layout[name] = [array.dtype.str, list(array.shape), offset, _checked(array)]
        offset += -(-array.nbytes // ALIGNED) * ALIGNED
    text = json.dumps(head | {"layout": layout, "bytes": offset}).encode()
    start = MAGIC + len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little") + text
    out.write(start + b"\0" * (-len(start) % ALIGNED))
    for array in arrays.values():
        out.write(array.reshape(-1).view("u1").data if array.size else b"")
        out.write(b"\0" * (-array.nbytes % ALIGNED))


def _checked(array: NDArray[Any]) -> int:
    """A sum over the bytes of an array, as fast as they can be read."""
    import numpy as np

    whole = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    even = len(whole) - len(whole) % 8
    words: np.ndarray[Any, np.dtype[np.uint64]] = whole[:even].view(np.uint64)
    return (int(words.sum(dtype=np.uint64)) + zlib.crc32(whole[even:].tobytes())) % 2**64


def _opened(file: pathlib.Path, user: str, embedder: Any) -> tuple[Kept, list[Any]] | None:
    """A file's block and witness; None where anything about it is not as it should be."""
    import numpy as np

    try:
        with file.open("rb") as source:
            # Windows cannot delete a file that is mapped, and what is erased has to go.
            whole: Any = (
                source.read() if os.name == "nt" else mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
            )
        at = len(MAGIC)
        long = int.from_bytes(whole[at : at + 8], "little")
        text = whole[at + 12 : at + 12 + long]
        fits = whole[:at] == MAGIC and int.from_bytes(whole[at + 8 : at + 12], "little") == zlib.crc32(text)
        head = json.loads(text) if fits else {}
        mine = _secret({"user": user, "embedder": _name(embedder), "dim": _dim(embedder)})
        start = -(-(at + 12 + long) // ALIGNED) * ALIGNED
        if not fits or {name: head[name] for name in mine} != mine or start + head["bytes"] != len(whole):
            return None
        arrays, checked = {}, 0
        for name, (dtype, shape, offset, total) in head["layout"].items():
            count = int(np.prod(shape))
            array = np.frombuffer(whole, np.dtype(dtype), count, start + offset).reshape(shape)
            checked += array.nbytes
            if (checked <= CHECKED or not name.startswith(("vector.", "piece.rows"))) and _checked(
                array
            ) != total:
                return None
            arrays[name] = array
        return Kept(head["changes"], arrays), head["witness"]
    except _FAULTS:
        return None
