"""All active records of a user as arrays, made in one pass: what an index starts from when there are many."""

from __future__ import annotations

import datetime
import json
from array import array
from typing import TYPE_CHECKING, Any

from . import forget, phrases, pieces, postings, store, turns, vectors
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
        self.counts: list[int] = []
        self.vectors: list[bytes] = []
        self.pieces = pieces.Draft()

    def add(self, row: Any, embedder: str, more: store.Vectors) -> None:
        """Take in a row of COLUMNS; its vector, and those of its further pieces, where they are the embedder's."""
        number, _, data, terms, key, type, expires, session, name, vector = row
        known, found = json.loads(data), json.loads(terms)
        words = pieces.words(found)
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
        columns["length"].append(pieces.length(found))
        self.counts.append(len(words))
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
        vector = vector if vector and is_of(name, embedder) else b""
        self.pieces.add(len(self.vectors), found, [vector, *more])
        self.vectors.append(vector)

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
            "word": postings.gathered(list(self.words), ids, np.array(self.counts, np.int32)),
            "subject": phrases.gathered([subject.split(" ") for subject in self.subjects]),
            "piece": self.pieces.arrays(dim),
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
    more = further(db, user, -1)
    for row in db.execute(query, (user,)):
        draft.add(row, name, more.pop(row[0], ()))
    return draft.arrays(embedder.dim if embedder is not None else 0)


def further(db: Connection, user: str, since: int) -> dict[int, list[bytes]]:
    """Number of a record → the vectors of its further pieces, of those that were written since a change."""
    query = (
        "SELECT r.n, p.vector FROM pieces p JOIN records r ON r.user=p.user AND r.id=p.record"
        " WHERE p.user=? AND p.changed>? ORDER BY r.n, p.at"
    )
    found: dict[int, list[bytes]] = {}
    for number, vector in db.execute(query, (user, since)):
        found.setdefault(number, []).append(vector)
    return found


def is_of(name: str, embedder: str) -> bool:
    """Whether a vector that is kept under that name is one of the embedder's, also one of before (see `store.FORM`)."""
    return name in (store.form(embedder), embedder)


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
