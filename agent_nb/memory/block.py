"""All active records of a user as arrays, made in one pass: what an index starts from when there are many."""

from __future__ import annotations

import datetime
import json
from array import array
from typing import TYPE_CHECKING, Any

from . import forget, phrases, postings, turns, vectors
from .columns import FIELDS
from .importance import importance_of
from .postings import hashed
from .store import TYPE_CODES, Connection

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEVER = float("inf")
COLUMNS = "n, status, data, terms, key, type, expires, session, embedder, vector"
Arrays = dict[str, "NDArray[Any]"]


class Draft:
    """Plain lists that grow with each record read; `arrays` turns them into a block."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in FIELDS}
        self.words: dict[str, int] = {}
        self.ids = array("i")
        self.sessions: dict[str, int] = {}
        self.subjects: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.vectors: list[bytes] = []

    def add(self, row: Any, embedder: str) -> None:
        """Take in a row of COLUMNS; its vector where it is the embedder's."""
        number, _, data, terms, key, type, expires, session, name, vector = row
        known, words = json.loads(data), json.loads(terms)
        numbers = self.words
        self.ids.extend([numbers.setdefault(word, len(numbers)) for word in words])
        subject, columns = subject_of(key), self.columns
        asks, speaker, turn = False, -1, 0
        if type == "episode" and session:
            asks, named = turns.told(known["text"])
            speaker = self.speakers.setdefault(" ".join(named), len(self.speakers)) if named else -1
            turn = 1 + self.sessions.setdefault(session, len(self.sessions))
        columns["number"].append(number)
        columns["type"].append(TYPE_CODES.get(type, -1))
        columns["length"].append(len(words))
        expiry, removal = ends(expires, type)
        columns["expires"].append(expiry)
        columns["removal"].append(removal)
        columns["created"].append(seconds(known["created"]))
        columns["importance"].append(importance(known))
        columns["last"].append(last_use(known))
        columns["subject"].append(self.subjects.setdefault(subject, len(self.subjects)) if subject else -1)
        columns["session"].append(turn)
        columns["speaker"].append(speaker)
        columns["asks"].append(asks)
        self.vectors.append(vector if vector and name == embedder else b"")

    def arrays(self, dim: int) -> Arrays:
        """The block, its names prefixed by what they belong to."""
        import numpy as np

        size = len(self.vectors)
        found: Arrays = {}
        embedded = [len(vector) == 4 * dim > 0 for vector in self.vectors]
        self.columns |= {"alive": [True] * size, "embedded": embedded}
        for name, (dtype, _) in FIELDS.items():
            found[f"column.{name}"] = np.array(self.columns[name], dtype)
        ids = np.frombuffer(self.ids, np.int32) if self.ids else np.empty(0, np.int32)
        parts = {
            "word": postings.gathered(list(self.words), ids, found["column.length"]),
            "subject": phrases.gathered([subject.split(" ") for subject in self.subjects]),
            "speaker": phrases.gathered([name.split(" ") for name in self.speakers]),
        }
        found["session.names"] = np.array([0, *(hashed(name) for name in self.sessions)], np.uint64)
        if dim:
            nothing = bytes(4 * dim)
            whole = b"".join(v if there else nothing for v, there in zip(self.vectors, embedded, strict=True))
            self.vectors = []
            parts["vector"] = vectors.gathered(np.frombuffer(whole, np.float32).reshape(size, dim))
        for part, arrays in parts.items():
            found |= {f"{part}.{name}": value for name, value in arrays.items()}
        return found


def build(db: Connection, user: str, embedder: Any) -> Arrays:
    """Read the user's active records and make their block."""
    draft = Draft()
    query = f"SELECT {COLUMNS} FROM records WHERE user=? AND status='active' ORDER BY n"
    name = embedder.name if embedder is not None else ""
    for row in db.execute(query, (user,)):
        draft.add(row, name)
    return draft.arrays(embedder.dim if embedder is not None else 0)


def part(block: Arrays, name: str) -> Arrays:
    """The arrays of one part, without its prefix."""
    start = name + "."
    return {key.removeprefix(start): value for key, value in block.items() if key.startswith(start)}


def subject_of(key: str) -> str:
    """The subject's terms of a record's key, blanks between; "" for none."""
    return key.rpartition("|")[0].strip(" ")


def seconds(moment: str | None) -> float:
    """Of a moment written as ISO text; infinite for none."""
    return datetime.datetime.fromisoformat(moment).timestamp() if moment else NEVER


def ends(expires: str | None, type: str) -> tuple[float, float]:
    """When a record's first and second period end, in seconds."""
    first = seconds(expires)
    return first, first + 86_400 * forget.DAYS.get(type, 0)


def importance(known: dict[str, Any]) -> float:
    """Of a record as plain values."""
    return importance_of(
        known.get("weight", 0.5), known.get("source", ""), known.get("hits", 0), known.get("mentions", 1)
    )


def last_use(known: dict[str, Any]) -> float:
    """Seconds of the last use, or of the writing, of a record as plain values."""
    last = seconds(known["recorded"])
    return max(last, seconds(known["last_access"])) if known.get("last_access") else last
