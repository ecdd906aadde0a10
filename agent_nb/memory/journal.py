"""`log.jsonl`: one line for each load, write, merge, conflict and expiry in the user's own store, for other programs.

The store's own log (`Memory.log()`) is written in the transaction itself and is what counts; this file follows it
after the commit. Its lines hold ids, numbers and names of kinds, never what a memory says, so that nothing in it has
to be erased.
"""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import Any

from ..places import private_file

MOST = 5_000_000
"""Bytes from which on the file is put aside as log.jsonl.1, in the place of the one before."""
KEPT = frozenset("run by supersedes type verdict mentions hits written was pairs".split())
"""What of a line's detail is told: none of these can hold a memory's text."""


class Journal:
    """Follows one store. Several processes may write to the same file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._is_told = False

    def follow(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append lines of (at, user, action, id, detail as JSON). A file that cannot be written is told of once."""
        if not rows:
            return
        lines = "".join(_line(*row) for row in rows)
        try:
            private_file(self.path)
            if self.path.stat().st_size > MOST:
                os.replace(self.path, self.path.with_name(self.path.name + ".1"))
                private_file(self.path)
            with self.path.open("ab", buffering=0) as file:
                file.write(lines.encode())  # in one piece: lines of two processes do not mix
        except OSError as error:
            if not self._is_told:
                self._is_told = True
                warnings.warn(
                    f"{self.path} could not be written ({error.strerror or error}); the memory itself is kept, and"
                    " %memory log shows what was done",
                    stacklevel=2,
                )


def _line(at: str, user: str, action: str, id: str, detail: str) -> str:
    known = json.loads(detail)
    row = {"at": at, "user": user, "action": action, "id": id}
    row |= {name: value for name, value in known.items() if name in KEPT} if isinstance(known, dict) else {}
    return json.dumps(row) + "\n"
