"""The SQLite file itself: its pages are looked at, what can be read of a damaged one is saved, a whole one copied."""

from __future__ import annotations

import contextlib
import datetime
import os
import pathlib
import shutil
import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import StoreError
from ..places import private_file
from . import schema, store

Json = dict[str, Any]

PROBED = 200_000
"""Row numbers between readable parts of a damaged table that are tried one by one."""


def faults(keeper: store.Store) -> list[str]:
    """What SQLite itself finds wrong with a store's file, in its own words; [] for a whole one."""
    if keeper.path is None or not keeper.path.exists() or not keeper.path.stat().st_size:
        return []
    try:
        with contextlib.closing(_opened(keeper.path)) as db:
            db.text_factory = lambda data: data.decode(
                "utf-8", "replace"
            )  # names in a damaged file may be anything
            said = [str(row[0]) for row in db.execute("PRAGMA integrity_check(20)").fetchall()]
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "readonly" in str(error):
            raise StoreError(f"{keeper.path.name} could not be checked: {error}") from error
        return [str(error)]
    except sqlite3.DatabaseError as error:
        return [str(error)]
    except UnicodeDecodeError:  # what SQLite says of it quotes the damage
        return ["it is damaged so that not even its names can be read"]
    return [line for line in said if line != "ok"]


def backup(keeper: store.Store, path: pathlib.Path) -> None:
    """Write a whole copy of a store to `path`, all users' memories, while others go on writing."""
    own = getattr(keeper, "file", keeper.path)
    if own is not None and path.resolve() == own.resolve():
        raise StoreError(f"{path} is the memory itself; give the backup another name")
    with keeper.reading() as db, store.told(path):
        if not isinstance(db, sqlite3.Connection):
            raise StoreError("a memory on a server is backed up there: pg_dump --schema=agent_nb")
        if hasattr(keeper, "file"):
            return _copied(keeper.file, path)
        return _copy(db, path)


def rescue(keeper: store.Store) -> Json:
    """Put a new file in the place of a damaged one, with every row that can still be read.

    The damaged file stays beside it, with whatever SQLite kept next to it. Returns a dict of kept (path of the
    damaged file), rows (table → rows saved) and lost (table → rows that could not be read, as far as can be told).
    Raises StoreError where other programs use the file or nothing of ours can be read.
    """
    path = keeper.path
    assert path is not None
    keeper.close()
    with store.told(path):
        return _rescued(path)


def _rescued(path: pathlib.Path) -> Json:
    stamp = f"{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S-%f}"
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    for end in ("", "-wal"):
        source = path.with_name(path.name + end)
        if source.exists():
            private_file(kept.with_name(kept.name + end))
            shutil.copyfile(source, kept.with_name(kept.name + end))
    new = path.with_name(path.name + ".part")
    new.unlink(missing_ok=True)
    try:
        _alone(path)
    except StoreError:
        for end in ("", "-wal"):
            kept.with_name(kept.name + end).unlink(missing_ok=True)
        raise
    try:
        rows, lost = _moved(kept, new)
        if not rows:
            raise StoreError(
                f"nothing of {path.name} could be read; it stays as it is, a copy is {kept.name}"
            )
        for end in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    return {"kept": str(kept), "rows": rows, "lost": lost}


def _copied(file: pathlib.Path, path: pathlib.Path) -> None:
    """A pickle file is replaced as a whole and never changed: its bytes are a state."""
    part = path.with_name(path.name + ".part")
    try:
        shutil.copyfile(file, private_file(part))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _copy(source: sqlite3.Connection, path: pathlib.Path) -> None:
    """An open file, by SQLite's own online copying: atomically and with mode 600."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(private_file(part))) as target:
            source.backup(target)
            # A copy is one file: it needs no log beside it.
            target.execute("PRAGMA journal_mode=DELETE")
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(part, path)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror or error}") from error
    except sqlite3.Error as error:
        raise StoreError(f"{path} could not be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _opened(path: pathlib.Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=1, isolation_level=None)


def _alone(path: pathlib.Path) -> None:
    """Refuse while another program has the file open: what it wrote afterwards would go to the old file."""
    with (
        contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError),
        contextlib.closing(_opened(path)) as db,
    ):
        try:
            mode = db.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        except sqlite3.OperationalError as error:
            mode = "wal" if "locked" in str(error) else ""
        if mode == "wal":
            raise StoreError(f"{path.name} is in use; close the other programs that use it, then repair it")


def _moved(old: pathlib.Path, new: pathlib.Path) -> tuple[dict[str, int], dict[str, int]]:
    rows, lost = {}, {}
    with (
        contextlib.closing(_opened(old)) as source,
        contextlib.closing(sqlite3.connect(private_file(new))) as target,
    ):
        target.isolation_level = None
        version = 0
        with contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            version = int(source.execute("PRAGMA user_version").fetchone()[0])
        newest = version not in range(1, len(schema.MIGRATIONS) + 1)
        schema.migrate(target, None if newest else version)
        for table, columns in schema.tables(target).items():
            if table == "sqlite_sequence":
                continue
            target.execute("BEGIN")
            saved, failed = _rows(source, target, table, columns)
            target.execute("COMMIT")
            if saved or failed:
                rows[table], lost[table] = saved, failed
        schema.migrate(target)
    return {t: n for t, n in rows.items() if n}, {t: n for t, n in lost.items() if n}


def _rows(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, columns: list[str]
) -> tuple[int, int]:
    """Copy what can be read; how many rows that were, and how many could not be read or did not fit."""
    names = ", ".join(f'"{name}"' for name in columns)
    into = f"INSERT INTO {table} ({names}) VALUES ({store.marks_for(columns)})"
    saved = failed = 0
    for row in _readable(source, f"SELECT rowid, {names} FROM {table} NOT INDEXED"):
        if row is None:
            failed += 1
            continue
        try:
            target.execute(into, row[1:])
            saved += 1
        except sqlite3.Error:
            failed += 1
    return saved, failed


def _readable(source: sqlite3.Connection, query: str) -> Iterator[Any]:
    """Rows from the front, then from the end, then one by one between; None for each that is there but broken."""
    front = back = None
    try:
        for row in source.execute(f"{query} ORDER BY rowid"):
            front = row[0]
            yield row
        return
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass
    low = front if front is not None else 0
    try:
        for row in source.execute(f"{query} WHERE rowid > ? ORDER BY rowid DESC", (low,)):
            back = row[0]
            yield row
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass
    high = back if back is not None else low + 1_000
    for number in range(low + 1, min(high, low + PROBED)):
        try:
            row = source.execute(f"{query} WHERE rowid = ?", (number,)).fetchone()
            if row:
                yield row
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            yield None
