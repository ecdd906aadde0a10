"""Which store a place means: a file of one of two kinds, a server, or this process alone."""

from __future__ import annotations

import os
import pathlib

from ..places import home
from .index import Index
from .journal import Journal
from .pickle import PickleStore, RankedIndex
from .postgres import PostgresStore
from .snapshot import Snapshots
from .store import Store


def opened(where: str | os.PathLike[str] | None, user: str) -> tuple[Store, Index]:
    """The store that a place means, and the index that ranks its words."""
    text = str(home() / "memory.db") if where is None else os.fspath(where)
    if text == ":memory:":
        inside = Store(None)
        return inside, Index(inside.reading)
    if text.startswith(("postgresql:", "postgres:")):
        server = PostgresStore(text, user)
        return server, Index(server.reading)
    path = pathlib.Path(text).expanduser()
    if path.suffix in (".pkl", ".pickle"):
        pickled = PickleStore(path)
        return pickled, RankedIndex(pickled.reading)
    file = Store(path, Journal(home() / "log.jsonl").follow if where is None else None)
    return file, Index(file.reading, Snapshots(path))
