"""Vectors for one user's records: at once where that is quick, else by a thread beside, which also catches up."""

from __future__ import annotations

import atexit
import collections
import contextlib
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from . import chunks, draft, embed, lacking, neighbours, store, trial
from .calling import ANSWER_S, Caller

if TYPE_CHECKING:
    from .record import MemoryRecord

    Vector = embed.Vectors

Json = dict[str, Any]

TEXT_S, WRITE_S, LONG = 0.02, 10.0, 4_000
"""A write waits this many seconds a text, and so long at most, for vectors to be committed together with the records;
for a text of so many characters it never waits."""
ROUND_S, ROUND, FRESH = 1.0, 128, 2_000
"""Between two writes: seconds, and records at most; how many new records are remembered to come first."""
IDLE_S, LEAVE_S = 1.0, 2.0
"""The thread ends after so long without work; closing waits so long for the call that is under way."""
SPREAD, SAMPLE = 0.65, 256
Scale = tuple[float, float, float]
"""Cosines of unrelated and of equal texts, and how far the embedder is relied on, 0…1."""
UNTRIED: Scale = (0.2, 0.8, 0.0)
TOO_FEW: Scale = (0.2, 0.8, 1.0)
_ALIVE: weakref.WeakSet[Embedding] = weakref.WeakSet()


class _Job:
    """Texts that somebody waits for."""

    def __init__(self, texts: list[str], kind: str) -> None:
        self.texts, self.kind = texts, kind
        self.made: list[Any] = []
        self.over = threading.Event()


class Embedding:
    """One user's embedder, kept from harm: it may be slow, fail or hang, and no add or recall does.

    Args:
        kept: the store, user: whose records get vectors. embedder: what makes them.

    The thread is started when there is something to embed and ends when there is not. It reads what lacks a vector
    of this embedder from the store, so that nothing is lost when the process ends at any time.
    """

    def __init__(self, kept: store.Store, user: str, embedder: embed.Embedder) -> None:
        self.embedder = embedder
        self._store, self._user = kept, user
        self._scale: tuple[int, Scale] | None = None
        self._reset()
        _ALIVE.add(self)

    def _reset(self) -> None:
        self._caller = Caller(self.embedder)
        self._changed, self.at_store = threading.Condition(), threading.Lock()
        self._jobs: collections.deque[_Job] = collections.deque()
        self._fresh: dict[str, MemoryRecord] = {}  # by id, what was written here and has no vector yet
        self._ready: dict[str, bytes] = {}  # text → vector that came too late for its write
        self._refused: set[str] = set()
        self._thread: threading.Thread | None = None
        self._stopping = self._filling = False
        self._untried, self._active = False, 0
        self._opened = ""
        self._older = True  # records of before the opening, under another embedder, may be left

    @property
    def name(self) -> str:
        """The embedder's name, under which its vectors are kept."""
        return self._caller.name

    @property
    def dim(self) -> int:
        """Numbers of a vector."""
        return self._caller.dim

    # -- what others call --------------------------------------------------------------------------------------

    def warm(self) -> None:
        """Load an embedder that takes seconds beside whatever else is done."""
        if self._caller.each_s is None and not self._caller.is_quick() and not self._caller.failed:
            with self._changed:
                self._jobs.append(_Job(["the first text loads the weights"], "query"))
                self._start()

    def records(self, records: list[MemoryRecord]) -> list[store.Vectors]:
        """The vectors of each one's pieces, or none of those that were not ready in time and follow later."""
        with self._store.reading() as db:
            before = neighbours.before_new(db, self._user, records)
        texts = [
            draft.embedded_of(record, turn) if len(record.text) < LONG else []
            for record, turn in zip(records, before, strict=True)
        ]
        short = [text for parts in texts for text in parts]
        quick = self._caller.is_quick()
        if not short or (self._caller.failed and not quick):
            return [()] * len(texts)
        patience = min(WRITE_S, TEXT_S * len(short))
        made = self._here(short, patience) if quick else self._there(short, "record", patience)
        found = dict(zip(short, (row.tobytes() for row in made), strict=False))
        return [_whole(found, parts) for parts in texts]

    def wrote(self, records: list[MemoryRecord]) -> None:
        """These were committed; those without a vector are caught up with, before all others."""
        without = [record for record in records if record.embedder != self.name and record.status == "active"]
        if without:
            with self._changed:
                room = max(0, FRESH - len(self._fresh))
                self._fresh |= {record.id: record for record in without[:room]}
            self.wake()

    def question(self, text: str) -> Vector | None:
        """The question's vector (dim,), or None where the embedder fails or takes too long."""
        if self._caller.is_quick():
            made = self._caller.call([text], "query", ANSWER_S)
            return None if made is None else made[0]
        job = self._there([text], "query", self._caller.patience())
        return job[0] if job else None

    def settle(self) -> None:
        """Give records just written here a moment to get their vectors, if that is soon; else the words must do."""
        if not self._fresh or self._caller.failed or len(self._fresh) * (self._caller.each_s or 0) > ANSWER_S:
            return
        until = time.monotonic() + self._caller.patience()
        with self._changed:
            while self._fresh and not self._caller.failed and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
            self._caller.late = self._caller.late or bool(self._fresh)

    def look(self) -> None:
        """Records may have been written or come back by other ways."""
        if not self._filling:
            with self._store.reading() as db:
                left = lacking.some(db, self._user, self.name, "", "", len(self._refused) + 1)
            if any(record.id not in self._refused for record in left):
                self.wake()

    def wake(self) -> None:
        """There may be records without a vector."""
        with self._changed:
            self._filling = True
            self._start()

    def open(self) -> None:
        """Called before each use: the first one looks for records that lack a vector."""
        if not self._opened:
            self._opened, self._older = store.now().isoformat(), True
            with self._store.reading() as db:
                is_behind = lacking.is_any(db, self._user, self.name, self.dim)
            if is_behind:
                self.wake()

    def wait(self, timeout_s: float) -> bool:
        """Whether every active record has a vector, after so many seconds at most."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while self._filling and (left := until - time.monotonic()) > 0 and self._caller.retry_at < until:
                self._changed.wait(left)
        return not self.waiting()

    def waiting(self) -> int:
        """How many active records lack a vector of this embedder."""
        with self._store.reading() as db:
            return lacking.count(db, self._user, self.name)

    def told(self) -> Json:
        """How many active records wait for a vector, and the line that the embedder failed with ("" where not)."""
        return {"waiting": self.waiting(), "failed": self._caller.failed}

    def scale(self, active: int) -> Scale:
        """The embedder's own scale, which is believed; else as the user's records lie and it finds them again.

        A slow embedder is tried by the thread; until then the words must do.

        Args:
            active: how many active records there are now; it is tried anew when they have doubled.
        """
        low, high = getattr(self.embedder, "unrelated", None), getattr(self.embedder, "same", None)
        if low is not None and high is not None:
            return float(low), float(high), 1.0
        if self._scale is None or active >= 2 * self._scale[0]:
            self._active = active
            if self._caller.is_quick():
                self._try()
            else:
                self._untried = True
                self.wake()
        return self._scale[1] if self._scale else UNTRIED

    def stop(self, timeout_s: float = LEAVE_S) -> None:
        """End the thread; a call that takes longer than this is left to end by itself and writes nothing."""
        with self._changed:
            thread, self._thread = self._thread, None
            self._stopping, self._opened = True, ""
            self._fresh.clear()
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    # -- for those who wait ------------------------------------------------------------------------------------

    def _here(self, texts: list[str], patience: float) -> list[Any]:
        until, made, size = time.monotonic() + patience, [], max(64, self._caller.size())
        for start in range(0, len(texts), size):
            rows = self._caller.call(texts[start : start + size], "record", patience)
            if rows is None:
                break
            made += list(rows)
            if time.monotonic() > until:
                break
        if self._caller.untold:
            self.wake()
        return made

    def _there(self, texts: list[str], kind: str, patience: float) -> list[Any]:
        job = _Job(texts, kind)
        with self._changed:
            if kind == "query":
                self._jobs.appendleft(job)
            else:
                self._jobs.append(job)
            self._start()
            self._changed.notify_all()
        try:
            in_time = job.over.wait(patience)
        finally:
            job.over.set()  # nobody waits any more
        if not in_time and kind == "query":
            self._caller.late = True
        return list(job.made)

    # -- the thread --------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._stopping = False
            self._thread = threading.Thread(target=self._run, name="agent_nb embedder", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _mine(self) -> bool:
        return not self._stopping and self._thread is threading.current_thread()

    def _run(self) -> None:
        after = draft.new_id()  # two processes begin at different places
        while True:
            with self._changed:
                pause = self._caller.retry_at - time.monotonic() if self._filling else IDLE_S
                if self._mine() and not self._jobs and pause > 0:
                    self._changed.wait(pause)
                if not self._mine() or not (self._jobs or self._filling):
                    if self._mine():
                        self._thread = None
                    return
            self._serve()
            try:
                if self._caller.untold and self._mine():
                    self._tell()
                if self._filling and self._mine() and time.monotonic() >= self._caller.retry_at:
                    after = self._round(after)
            except Exception as error:  # a full disk, a locked file: the records are still there to try again
                self._caller.fail(error)

    def _tell(self) -> None:
        """One line in the log for each time that the embedder began to fail."""
        self._caller.untold = False
        with self.at_store, self._store.writing(self._user) as db:
            store.note(db, self._user, "embedder failed", "", error=self._caller.failed)

    def _serve(self) -> None:
        """What somebody waits for comes first."""
        while self._mine() and self._jobs:
            job = self._jobs.popleft()
            while not job.over.is_set() and len(job.made) < len(job.texts):
                start = len(job.made)
                texts = job.texts[start : start + self._caller.size()]
                rows = self._caller.call(texts, job.kind, is_own_thread=True)
                if rows is None:
                    break
                if job.over.is_set() and job.kind == "record":  # too late for them, but not for nothing
                    self._keep(texts, rows)
                job.made += list(rows)
            job.over.set()

    def _keep(self, texts: list[str], rows: Any) -> None:
        self._ready |= dict(zip(texts, (row.tobytes() for row in rows), strict=True))
        for text in list(self._ready)[:-ROUND]:
            del self._ready[text]

    def _round(self, after: str) -> str:
        """Embed some records that lack a vector and write them; gives the id up to which it came."""
        with self._changed:
            rows = list(self._fresh.values())[:ROUND]
        fresh = bool(rows)
        if not fresh:
            rows = self._found(after)
        if not rows:
            if self._untried:
                self._try(is_own_thread=True)
            with self._changed:
                self._older = self._older and bool(after)
                self._filling = bool(after or self._fresh)
                self._changed.notify_all()
            return ""  # from the first one on
        until = time.monotonic() + ROUND_S
        tried: list[str] = []
        done: list[tuple[MemoryRecord, store.Vectors]] = []
        while rows and self._mine() and time.monotonic() < until:
            size = 1 if len(rows[0].text) >= LONG else self._caller.size()
            batch = [record for record in rows[:size] if len(record.text) < LONG] or rows[:1]
            made = self._embedded(batch)
            if len(made) < len(batch):
                break
            rows = [record for record in rows if record not in batch]
            tried += [record.id for record in batch]
            done += [(record, vectors) for record, vectors in zip(batch, made, strict=True) if vectors]
            self._refused |= {record.id for record, vectors in zip(batch, made, strict=True) if not vectors}
            self._serve()
        if done and self._mine():
            with self.at_store, self._store.writing(self._user) as db:
                for record, vectors in done:
                    lacking.give(db, self._user, record, self.name, vectors)
        with self._changed:
            for id in tried:
                self._fresh.pop(id, None)
            self._changed.notify_all()
        return after if fresh or not tried else tried[-1]

    def _found(self, after: str) -> list[MemoryRecord]:
        limit = ROUND + len(self._refused)
        before = self._opened if self._older else ""
        with self.at_store, self._store.reading() as db:
            if before and lacking.misfit(db, self._user, self.name, self.dim):
                with self._store.writing(self._user) as db:
                    lacking.drop_misfits(db, self._user, self.name, self.dim)
            records = lacking.some(db, self._user, self.name, before, after, limit)
        return [record for record in records if record.id not in self._refused]

    def _embedded(self, records: list[MemoryRecord]) -> list[store.Vectors]:
        """Vectors of each one's pieces; none where the embedder refuses all of them. [] where it takes no text."""
        with self.at_store, self._store.reading() as db:
            before = neighbours.before(db, self._user, records)
        texts = [draft.embedded_of(record, turn) for record, turn in zip(records, before, strict=True)]
        every = dict.fromkeys(text for parts in texts for text in parts)
        found: dict[str, bytes | None] = {
            text: self._ready.pop(text) for text in every if text in self._ready
        }
        left, size = [text for text in every if text not in found], self._caller.size()
        for start in range(0, len(left), size):
            some = left[start : start + size]
            rows = self._caller.each(some)
            if len(rows) < len(some) or not self._mine():
                return []
            found |= dict(zip(some, rows, strict=True))
            if start + size < len(left):
                self._serve()
        return [self._pieced([found[text] for text in parts]) for parts in texts]

    def _pieced(self, rows: list[bytes | None]) -> store.Vectors:
        """One for each piece, of zeros where the embedder refuses it but takes others."""
        return [row or bytes(4 * self.dim) for row in rows] if any(rows) else ()

    def _try(self, *, is_own_thread: bool = False) -> None:
        """Estimate the scale from the user's records, and try whether halves of some find the whole."""
        import numpy as np

        self._untried = False
        with self.at_store if is_own_thread else contextlib.nullcontext(), self._store.reading() as db:
            found = lacking.some_embedded(db, self._user, self.name, SAMPLE)
        found = [(text, vector) for text, vector in found if len(vector) == 4 * self.dim]
        own = trial.chosen([text for text, _ in found])
        # It holds until there is twice as much to try it on: of more than a sample, twice as many records.
        holds_for = max(self._active if len(found) == SAMPLE else len(found), 8)
        if len(own) < trial.FEWEST:
            self._scale = (holds_for, TOO_FEW)
            return
        rows = np.array([np.frombuffer(vector, np.float32) for _, vector in found])
        halves = [trial.half(chunks.pieces(draft.sendable(found[place][0]))[0]) for place in own]
        made: list[Any] = []
        for start in range(0, len(halves), size := self._caller.size()):
            part = self._caller.call(halves[start : start + size], "query", is_own_thread=is_own_thread)
            if part is None:  # it fails now; the next recall asks for a trial again
                return
            made += list(part)
            if is_own_thread:
                self._serve()
        pairs = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
        # Three of four pairs of a user's records are less alike than this; what is beyond is shared out between
        # it and 1 as the embedders do whose cosines are known.
        low = float(np.quantile(pairs, 0.75))
        high = low + max(0.05, SPREAD * (1 - low))
        self._scale = (holds_for, (low, high, trial.trust(np.array(made), rows, own)))


def _whole(found: dict[str, bytes], parts: list[str]) -> store.Vectors:
    """The vectors of a record's pieces, where all of them are there."""
    return [found[part] for part in parts] if all(part in found for part in parts) else ()


def _leave() -> None:
    """Native code in a thread that is cut off at the interpreter's end may crash it: wait a little."""
    for one in list(_ALIVE):
        one.stop()


def _hold() -> None:
    for one in list(_ALIVE):
        one.at_store.acquire(timeout=LEAVE_S)  # a store that is forked in the middle of a write stays locked


def _go_on() -> None:
    for one in list(_ALIVE):
        with contextlib.suppress(RuntimeError):
            one.at_store.release()


def _forked() -> None:
    for one in list(_ALIVE):
        one._reset()


atexit.register(_leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_go_on, after_in_child=_forked)
