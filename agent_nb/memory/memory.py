"""One user's long-term memory: add, recall, mend, forget; everything that can be seen can be explained."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import pathlib
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..errors import SettingError, StoreError, one_line
from ..redact import redact
from . import (
    asking,
    browsing,
    diagnose,
    distill,
    draft,
    embed,
    erase,
    forget,
    graph,
    heard,
    integrity,
    ledger,
    live,
    load,
    looking,
    memo,
    opening,
    queue,
    salvage,
    settings,
    standing,
    store,
    synonyms,
    taking_in,
    teams,
    terms,
    together,
    writeback,
    writing,
)
from . import query as query_gate
from .consolidate import Turn
from .embedding import Embedding
from .index import Index
from .load import Question, Recall
from .record import MemoryRecord

Json = dict[str, Any]


class Memory:
    """What is remembered of one user.

    Args:
        where: None for the user's own file, ":memory:", a path (one that ends in .pkl is a pickle file), or
            postgresql://… for a server with pgvector.
        user: whose; every read and write is theirs alone.
        embedder: "auto" for the best one installed, None for words only, a name, or an Embedder.
        team: the team whose memories are read beside one's own. They are written only explicitly, by
            `add(…, scope="team")` or by `memory.team`, a Memory of its own.

    Nothing is opened or written before the first use. Raises SettingError for a place or embedder that does
    not exist, StoreError where the file cannot be used.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        user: str = "default",
        embedder: Any = "auto",
        *,
        team: str | None = None,
    ) -> None:
        self._embedder: Any = embed.choose(embedder)
        self._begin(teams.checked(user), *opening.opened(where, user))
        self.where = self._store.shown
        self.team: Memory | None = None
        if team is not None:
            teams.owner(team)  # "" is no name here
            self.join(team)

    def _begin(self, user: str, keeper: store.Store, index: Index) -> None:
        self.user = user
        self._store, self._index = keeper, index
        self._lock = threading.RLock()
        self._day: datetime.date | None = None
        self._stood: standing.Standing | None = None
        self._live = live.Live(self._ledger_file, self._everything)
        self._catalogue = browsing.Catalogue()
        self._embedding: Embedding | None = None
        if self._embedder is not None:
            self._embedding = Embedding(self._store, user, self._embedder)
            weakref.finalize(self, self._embedding.stop, 0).atexit = False

    def join(self, team: str) -> None:
        """Read the memories of this team beside one's own from now on; "" leaves it."""
        self.team, self._store.scopes = None, ()
        if team == "":
            return
        owner = teams.owner(team)
        theirs = Memory.__new__(Memory)
        theirs.where, theirs._embedder, theirs.team = self.where, self._embedder, None
        theirs._begin(owner, self._store, self._index.another())
        self.team, self._store.scopes = theirs, (owner,)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a later use opens it again. Vectors that are under way are made at the next opening."""
        if self._embedding is not None:
            self._embedding.stop()
        self._live.stop()
        with self._lock:
            if self.team is not None:
                self.team.close()
            self._index.close(self.user, self._embedder)
            self._store.close()

    def warm(self) -> None:
        """Begin to load an embedder that takes seconds, in the background; a run calls this when it starts."""
        if self._embedding is not None:
            self._embedding.warm()

    def wait(self, timeout_s: float = 60.0) -> bool:
        """Wait for vectors that are made in the background; whether every active record has one then."""
        return self._embedding is None or self._embedding.wait(timeout_s)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Any]:
        """One transaction of this user's; a live ledger follows it."""
        with self._store.writing(self.user) as db:
            yield db
        self._live.touch()

    def _ledger_file(self) -> tuple[str, int]:
        with self._store.reading() as db:
            changes = db.execute("SELECT n FROM changes WHERE user=?", (self.user,)).fetchone()
            return settings.read(db, self.user, live.SETTING), changes[0] if changes else 0

    def _everything(self) -> list[MemoryRecord]:
        with self._store.reading() as db:
            return store.select(db, self.user)

    # -- writing -----------------------------------------------------------------------------------------------

    def add(
        self,
        text: str,
        type: str = "fact",
        source: str = "user_explicit",
        *,
        evidence: Sequence[Any] = (),
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        created: draft.Moment = None,
        session: str | None = None,
        scope: str = "user",
    ) -> MemoryRecord:
        """Write one memory; it is committed with its index when this returns. `scope`: user or team.

        The same text again merges (its mentions grow). Another value of the same thing supersedes the old
        one, or is `pending` where its source ranks lower; episodes never supersede.

        Raises SettingError for an empty text, an unknown type or source, or a secret.
        """
        row: Json = {"text": text, "type": type, "source": source, "evidence": evidence, "tags": tags}
        row |= {"entities": entities, "created": created, "session": session, "scope": scope}
        return self.add_many([row])[0]

    def add_many(self, rows: Iterable[Json]) -> list[MemoryRecord]:
        """Write several in one transaction (the team's in one of their own), in order; dicts of `add`'s arguments."""
        made: dict[bool, list[MemoryRecord]] = {False: [], True: []}
        order = []
        for row in rows:
            for_team = teams.is_team(row.get("scope"), self.team)
            keeper = self.team if for_team and self.team else self
            plain = {name: value for name, value in row.items() if name != "scope"}
            made[for_team].append(draft.new(keeper.user, plain))
            order.append(for_team)
        written = {False: self._write(made[False]) if made[False] or not order else []}
        written[True] = self.team._write(made[True]) if self.team and made[True] else []
        return [written[for_team].pop(0)[0] for for_team in order]

    def _write(self, records: list[MemoryRecord]) -> list[tuple[MemoryRecord, str]]:
        """Each record as it stands after the write, with what was done: added, merged, superseded, pending."""
        vectors = self._vectors(records)
        done = []
        with self._lock, self._writing() as db:
            terms.renew(db, self.user)
            for record, made in zip(records, vectors, strict=True):
                done.append(writing.place(db, record, made, self._embedder_name))
        self._wrote([record for record, _ in done])
        self._open()
        return done

    @property
    def _embedder_name(self) -> str:
        return str(self._embedder.name) if self._embedder else ""

    def _vectors(self, records: list[MemoryRecord]) -> list[store.Vectors]:
        """What is written together with the records; those that are not ready in time follow in the background."""
        if self._embedding is None:
            return [()] * len(records)
        self._embedding.open()
        return self._embedding.records(records)

    def _wrote(self, records: list[MemoryRecord]) -> None:
        self._index.written(len(records), self.user, self._embedder)
        if self._embedding is not None:
            self._embedding.wrote(records)

    # -- reading -----------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        k: int = 5,
        budget: int = 600,
        *,
        threshold: float | None = None,
        types: Sequence[str] | None = None,
        now: datetime.datetime | None = None,
        context: Sequence[str] = (),
    ) -> Recall:
        """What the question recalls; changes nothing.

        Args:
            k: records at most. budget: tokens at most.
            threshold: of the score; 0 lifts every floor. types: only these.
            now: the moment the question is asked, for freshness, expiry and dates ("last month" in its time zone).
            context: what was said before in the session, the latest last: what "it" may stand for.
        """
        started = time.perf_counter()
        moment = draft.moment(now)
        text = draft.sendable(query)
        read = self._read(text, now, [draft.sendable(said) for said in context])
        question = Question(text, k, budget, threshold, types, moment, self.decay, read)
        found = self._gathered(question)
        if self.team is not None:
            theirs = self.team._gathered(question)
            found = together.joined(found, dataclasses.replace(theirs, scope=teams.shown(self.team.user)))
        found = together.bound(question, found, self._constraints(question.text))
        found = dataclasses.replace(found, passed=together.marked(found.passed, 2 * k))
        return load.finish(question, found, started)

    def memo(self, budget: int = memo.TOKENS, now: datetime.datetime | None = None) -> memo.Memo:
        """Profile, constraints and standing preferences, the team's too, without a search; at most `budget` tokens."""
        self._open()
        with self._store.reading() as db:
            records = memo.standing(db, self.user)
        if self.team is not None:
            with self.team._store.reading() as db:
                records += memo.standing(db, self.team.user)
        moment = draft.moment(now) or store.now()
        return memo.write(records, moment, budget, self.decay)

    def _read(self, text: str, now: datetime.datetime | None, context: Sequence[str]) -> query_gate.Query:
        zoned = now or datetime.datetime.now().astimezone()
        zoned = zoned if zoned.tzinfo else zoned.replace(tzinfo=datetime.UTC)
        table = self._standing().synonyms
        if self.team is not None:
            table = (*table, *self.team._standing().synonyms)
        return query_gate.read(text, zoned, table, context)

    def _standing(self) -> standing.Standing:
        with self._store.reading() as db:
            self._stood = standing.read(db, self.user, self._stood)
        return self._stood

    def synonyms(self) -> list[tuple[str, str]]:
        """What this user calls by several names: pairs of term and meaning; a question for one asks for both."""
        return list(self._standing().synonyms)

    def add_synonym(self, term: str, means: str) -> None:
        """Keep that `term` also means `means`: GMV = 成交额. Raises SettingError where a side says nothing."""
        with self._lock, self._store.writing(self.user) as db:
            synonyms.add(db, self.user, draft.sendable(term), draft.sendable(means))
            store.note(db, self.user, "synonym", "")

    def remove_synonym(self, term: str, means: str = "") -> int:
        """Drop the pairs that hold `term` (and `means`, where given); returns how many."""
        with self._lock, self._store.writing(self.user) as db:
            gone = synonyms.remove(db, self.user, draft.sendable(term), draft.sendable(means))
            store.note(db, self.user, "synonym removed", "", pairs=gone)
        return gone

    def _gathered(self, question: Question) -> load.Gathered:
        if self._embedding is not None:
            self._embedding.open()
            self._embedding.settle()
        with self._lock:
            self._open()
            known = self._index.changes
            index = self._fresh_index()
            if self._embedding is not None and index.changes != known:
                self._embedding.look()
            # It takes seconds to load; an empty store needs none.
            return load.gather(question, index, self._embedding if index.active else None)

    def _constraints(self, question: str) -> list[graph.Constraint]:
        own = []
        if self._standing().binds:
            with self._store.reading() as db:
                own = graph.constraints(db, self.user, question)
        return own + (self.team._constraints(question) if self.team is not None else [])

    def _fresh_index(self) -> Index:
        known = self._index.changes
        with self._store.reading() as db:
            self._index.refresh(db, self.user, self._embedder)
            if self._index.changes == known or not terms.outdated(db, self.user):
                return self._index
        with self._writing() as db:
            terms.renew(db, self.user)
        with self._store.reading() as db:
            self._index.refresh(db, self.user, self._embedder)
        return self._index

    def get(self, id: str) -> MemoryRecord | None:
        """The record of that id; None for an unknown one or another user's."""
        with self._store.reading() as db:
            found = store.select(db, self.user, "id=?", [draft.sendable(id)])
        if not found and self.team is not None:
            return self.team.get(id)
        return found[0] if found else None

    def search(self, text: str = "", **fields: Any) -> list[MemoryRecord]:
        """Records that hold all words of `text`; active ones, or those of the fields given (status=…, type=…)."""
        with self._store.reading() as db:
            found = looking.search(db, self.user, text, fields)
        return found + (self.team.search(text, **fields) if self.team is not None else [])

    def browse(
        self, text: str = "", *, start: int = 0, count: int = browsing.COUNT, **wanted: Any
    ) -> browsing.Page:
        """A page of all records, the newest first; see `browsing.Wanted` for what else may be wanted.

        The words are those of `search`, or the beginning of an id. The first call reads everything once.
        """
        sides = [("own", self.user, self._store.reading, self._catalogue)]
        if self.team is not None:
            sides.append(("team", self.team.user, self.team._store.reading, self.team._catalogue))
        with self._lock:
            return browsing.page(sides, browsing.Wanted(text, **wanted), start, count)

    def history(self, id: str) -> list[MemoryRecord]:
        """The whole chain that a record belongs to, the oldest first, from any of its ids."""
        with self._store.reading() as db:
            found = store.chain(db, self.user, draft.sendable(id))
        return found or (self.team.history(id) if self.team is not None else [])

    def graph(self, entity: str | None = None) -> Json:
        """What is related to what: dict of nodes (id, records) and edges (source, relation, target, record).

        `entity`: only what is linked to it, in any number of steps.
        """
        with self._store.reading() as db:
            own = graph.graph(db, self.user, entity)
        return graph.both(own, self.team.graph(entity)) if self.team is not None else own

    def why(self, question: str, run: Json | None = None, **asked: Any) -> diagnose.Diagnosis:
        """Why the question did not know what it should: not written, not recalled, not injected, or ignored.

        Args:
            run: what a run did with it, see `diagnose.why`. asked: other arguments of `recall` than its defaults.
        """
        return diagnose.why(self, question, run, **asked)

    def stats(self) -> Json:
        """Counts by status, type and source, and what the memory works with."""
        with self._store.reading() as db:
            counts = looking.counts(db, self.user)
            counts |= forget.unused(db, self.user, store.now())
        if self.team is not None:
            counts["team"] = {teams.shown(self.team.user): self.team.stats()["active"]}
        return counts | {
            "decay": self.decay,
            "ledger": self._live.fault or self.ledger() or None,
            "embedder": self._embedder_name or None,
            "embedding": self._embedding.told() if self._embedding else {},
            "where": self.where,
            "user": self.user,
            **self._store.facts(),
        }

    def log(self) -> list[Json]:
        """What was written and changed, the oldest first: dicts of at, action, id, detail."""
        with self._store.reading() as db:
            return looking.log(db, self.user)

    # -- mending and forgetting --------------------------------------------------------------------------------

    def edit(self, id: str, text: str) -> MemoryRecord:
        """Say it anew: a new record supersedes the old one, which stays in the history."""
        with self._lock:
            with self._store.reading() as db:
                old = self._known(db, id)
            new = draft.anew(old, text)
            vectors = self._vectors([new])[0]
            with self._writing() as db:
                old = self._known(db, id)  # as it is now: another process may have written since
                new = writing.edit(db, old, new, vectors, self._embedder_name)
            self._wrote([new])
            return new

    def forget(self, id: str, erase: bool = False) -> MemoryRecord:
        """Take a memory back: it is never recalled again. `erase` removes its text too; see `erase`."""
        if erase:
            with self._store.reading() as db:
                old = self._known(db, id)
            self.erase(id)
            return dataclasses.replace(old, status="revoked")
        with self._lock, self._writing() as db:
            old = self._known(db, id)
            writing.revoke(db, old)
        return dataclasses.replace(old, status="revoked")

    def erase(self, id: str) -> erase.Erased:
        """Remove a memory and its whole history: records, index, and the text wherever the store has it.

        Returns what was done, with the transcripts and backups that still hold the text; print it.
        Raises StoreError where another process keeps the old bytes from being overwritten; they go later.
        """
        with self._lock:
            with self._writing() as db:
                gone = erase.take_out(db, self.user, self._known(db, id).id)
                texts = list(dict.fromkeys(record.text for record in gone))
                cleaned, also = erase.blot_out(self._store, db, self.user, texts)
                backups = looking.backups(db, self.user)
            self._index.clear()  # this process forgets it too
            self._catalogue.clear()
            bytes_of = erase.forms([*texts, *map(draft.normal_of, gone)])
            clean = self._store.scrub(lambda path: erase.bytes_hold(path, bytes_of))
            file = getattr(self._store, "file", self._store.path)
            found = erase.copies(self.user, texts, file, backups)
            self._live.flush()
            found += erase.in_ledger(self.ledger(), texts)
        if not clean:
            raise StoreError(
                "it is erased, but another program is reading the memory and keeps its old bytes on disk until it"
                " closes it; close it and erase again to be sure"
            )
        return erase.Erased(tuple(record.id for record in gone), cleaned, tuple(also), tuple(found))

    def conflicts(self) -> list[Json]:
        """Pending records with the active ones that they contradict: dicts of id, text, against, against_text."""
        with self._store.reading() as db:
            return writing.conflicts(db, self.user)

    def resolve(self, id: str, verdict: str) -> MemoryRecord:
        """Settle a pending record. keep: it takes the place of the other; drop: it is revoked; both: both stay."""
        if verdict not in ("keep", "drop", "both"):
            raise SettingError(f"the verdict is {verdict!r}; give keep, drop or both")
        with self._lock, self._writing() as db:
            record = writing.resolve(db, self._known(db, id), verdict)
        self._wrote([record])
        return record

    def undo(self, id: str) -> MemoryRecord:
        """Take back the last merge, supersede, edit, forget or verdict that touched the record of that id.

        Returns the record as it stands then. Raises SettingError where there is nothing to take back.
        """
        with self._lock, self._writing() as db:
            return writing.take_back(db, self.user, draft.sendable(id))

    def mark_used(self, used: Recall | Iterable[str], run: str = "") -> None:
        """A run put these (a Recall, or ids) into its window: hits, last access, expiry; its load is logged."""
        ids = [hit.record.id for hit in used] if isinstance(used, Recall) else list(used)
        if not ids and not run:
            return
        if ids and self.team is not None:
            self.team.mark_used([id for id in ids if self.team.get(id)], run)
        with self._lock, self._writing() as db:
            if run:
                store.note(db, self.user, "loaded", "", run=run, hits=len(ids))
            writing.use(db, self.user, ids, run)

    def expire(self, now: datetime.datetime | None = None, dry_run: bool = False) -> list[Json]:
        """Mark what was unused for a period, remove what was so for two; `forget` has the rules.

        Args:
            now: the day to judge by; without it the machine's clock, under which only what an earlier run has
                marked can go. dry_run: only tell.

        Returns dicts of id, text, reason and action (removed, low). Once a day, opening the store does the same.
        """
        moment, trusted = draft.moment(now) or store.now(), now is not None
        with self._lock:
            if dry_run:
                with self._store.reading() as db:
                    return forget.run(db, self.user, moment, trusted, dry_run=True)
            with self._writing() as db:
                return forget.run(db, self.user, moment, trusted)

    def _open(self) -> None:
        """What is done when a store is opened, and then once a day: forget, and read what was never read."""
        now = store.now()
        if self._day == now.date():
            return
        self._day = now.date()
        with contextlib.suppress(StoreError):  # a file that cannot be written can still be read
            with self._store.reading() as db:
                due = forget.is_due_today(db, self.user, now)
            if due:
                with self._writing() as db:
                    if graph.is_behind(db, self.user):
                        graph.catch_up(db, self.user)
                    if forget.is_due_today(db, self.user, now):  # another process may have been faster
                        forget.run(db, self.user, now, trusted=False)

    @property
    def decay(self) -> float:
        """λ of freshness, e^(−λ·days since last access); set it to a number or to slow, normal or fast."""
        return self._standing().decay

    @decay.setter
    def decay(self, value: float | str) -> None:
        rate = forget.rate(value)
        with self._lock, self._writing() as db:
            settings.write(db, self.user, "decay", str(rate))

    # -- what a run leaves --------------------------------------------------------------------------------------

    def consolidate(self, *, dry_run: bool = False, queued: bool = False, **run: Any) -> Json:
        """Write what is worth keeping of a finished run; see `consolidate.Turn` for the arguments.

        Args:
            dry_run: only tell. queued: keep the turn for `distil` as well, in the same transaction.

        Returns a dict of written (id, text, type, source, action) and left_out (text, reason).
        """
        turn = Turn(**run)
        found, left_out = writeback.drafts(self.user, turn)
        if not (found or queued or left_out or heard.takes_back(turn.goal)):
            return {"written": [], "left_out": left_out}
        vectors = self._vectors([one.record for one in found])
        written: list[Json] = []
        records: list[MemoryRecord] = []
        with contextlib.suppress(_Dry), self._lock, self._writing() as db:
            terms.renew(db, self.user)
            left_out += writeback.taken_back(db, self.user, turn)
            written, more, records = writeback.write(db, turn, found, vectors, self._embedder_name)
            left_out += more
            if queued:
                queue.put(db, self.user, turn)
            if left_out:  # the doctor tells later why it was not kept
                store.note(db, self.user, "left_out", "", run=turn.run, left_out=left_out)
            if dry_run:
                raise _Dry
        if not dry_run:
            self._wrote(records)
        return {"written": written, "left_out": left_out}

    def distil(self, ask: Callable[[str], str], most: int = 3) -> list[Json]:
        """Let a model distil turns that wait, at most `most` of them, one question each.

        Args:
            ask: gives the model's answer to a prompt; it raises where there is none.

        Returns a dict of run, written, left_out, error and next_try for each turn; a turn whose answer could not
        be had or used stays queued. Nothing is written twice, whatever dies when.
        """
        done: list[Json] = []
        while len(done) < most:
            with self._store.reading() as db:
                if not queue.due(db, self.user):
                    return done
            with self._lock, self._writing() as db:
                job = queue.take(db, self.user)
            if job is None:
                return done
            done.append(self._distil(ask, *job))
        return done

    def _distil(self, ask: Callable[[str], str], n: int, tries: int, fault: str, turn: Turn) -> Json:
        told: Json = {"run": turn.run, "written": [], "left_out": [], "error": "", "next_try": ""}
        try:
            items = distill.parse(ask(distill.prompt(turn, fault)))
            found, left_out = writeback.distilled(self.user, turn, items)
            vectors = self._vectors([one.record for one in found])
        except Exception as error:  # a time-out is no "nothing to keep": the turn stays
            with self._lock, self._writing() as db:
                again = queue.failed(db, self.user, n, tries, one_line(error))
                store.note(db, self.user, "distil_failed", "", run=turn.run, error=redact(one_line(error)))
            return told | {"error": one_line(error), "next_try": again}
        with self._lock, self._writing() as db:
            if not queue.mine(db, self.user, n, tries):
                return told | {"error": "another process has taken this turn"}
            terms.renew(db, self.user)
            written, more, records = writeback.write(db, turn, found, vectors, self._embedder_name)
            writeback.ended(db, self.user, n, turn, written)
        self._wrote(records)
        return told | {"written": written, "left_out": left_out + more}

    def queue(self) -> list[Json]:
        """Turns that wait to be distilled: dicts of n, run, at, state, tries, error, next_try, goal."""
        with self._store.reading() as db:
            return queue.rows(db, self.user)

    def retry(self, n: int) -> None:
        """Distil that turn of the queue as soon as possible."""
        with self._lock, self._writing() as db:
            queue.again(db, self.user, n)

    def drop(self, n: int) -> None:
        """Take that turn out of the queue; nothing of it will be kept."""
        with self._lock, self._writing() as db:
            queue.end(db, self.user, n)
            store.note(db, self.user, "dropped", "", n=n)

    def open_question(self) -> Json | None:
        """The oldest record that waits for the user's word and was not asked about; from now on it was.

        Returns a dict of id, text, against (a text, or "") or None.
        """
        with self._store.reading() as db:
            if not asking.unasked(db, self.user):
                return None
        with self._lock, self._writing() as db:
            return asking.ask(db, self.user)

    def answer(self, words: str) -> MemoryRecord | None:
        """Settle what was asked last by the user's words ("the new one", "both", "用旧的", "800"); else None."""
        with self._store.reading() as db:
            record = asking.asked_last(db, self.user)
            verdict = asking.verdict(words, record.text, asking.against(db, record)) if record else ""
        if record is None or not verdict:
            return None
        with self._lock, self._writing() as db:
            waits = store.select(db, self.user, "id=? AND status='pending'", [record.id])
            return writing.resolve(db, waits[0], verdict) if waits else None

    # -- in and out --------------------------------------------------------------------------------------------

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write all records, the team's too, to PATH: Markdown where it ends in .md, else JSON Lines.

        Returns how many.
        """
        with self._store.reading() as db:
            records = store.select(db, self.user)
        if self.team is not None:
            with self.team._store.reading() as db:
                records += store.select(db, self.team.user)
        ledger.write(pathlib.Path(path).expanduser(), records)
        return len(records)

    def ledger(self, path: str | os.PathLike[str] | None = None) -> str:
        """Keep a Markdown ledger of all records live at PATH, written anew soon after every change.

        `""` ends it (the file stays); without an argument only the file's name is told, "" for none. It can be
        imported like an export. Where it cannot be written later, the memory is kept and a warning says so once.
        Raises StoreError where it cannot be written now.
        """
        if path is None:
            return self._ledger_file()[0]
        name = str(pathlib.Path(path).expanduser().absolute()) if os.fspath(path) else ""
        if name and pathlib.Path(name).suffix.lower() not in (".md", ".markdown"):
            raise SettingError(f"{path} is no name for a ledger; it ends in .md")
        if name:
            ledger.write(pathlib.Path(name), self._everything())
        with self._lock, self._writing() as db:
            settings.write(db, self.user, live.SETTING, name)
        self._live.flush()
        return name

    def import_(self, path: str | os.PathLike[str]) -> Json:
        """Read an export; records that are there already stay as they are. Returns dict of read, new."""
        read = ledger.read(pathlib.Path(path).expanduser())
        records = taking_in.of(read, self.user)
        vectors = self._vectors(records)
        with self._lock, self._writing() as db:
            written = taking_in.write(db, self.user, records, vectors, self._embedder_name)
        self._wrote(written)
        return {"read": len(records), "new": len(written)}

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a whole copy of the store, all users' memories, while others go on writing; opens like the store."""
        file = pathlib.Path(path).expanduser()
        salvage.backup(self._store, file)
        with self._writing() as db:  # erasing looks there for what it erases
            store.note(db, self.user, "backup", "", path=str(file.absolute()))

    def check(self) -> list[Json]:
        """What is wrong with the file and this user's records: dicts of id, what, repair. [] where all is well."""
        with self._lock:
            return integrity.check(self._store, self.user)

    def repair(self) -> list[Json]:
        """Mend what `check` finds; nothing goes silently. Dicts of id, what, repair (what was done).

        Of a damaged file, all readable rows are saved into a new one, and the damaged one is kept beside it.
        Raises StoreError where another program has the file open.
        """
        with self._lock:
            return integrity.repair(self._store, self.user)

    def _known(self, db: Any, id: str) -> MemoryRecord:
        found = store.select(db, self.user, "id=?", [draft.sendable(id)])
        if not found and self.team is not None and self.team.get(id):
            raise SettingError(
                f"{id} is {teams.shown(self.team.user)}'s; memory.team changes what is the team's"
            )
        if not found:
            raise SettingError(f"there is no memory {id!r}; search() lists them")
        return found[0]


class _Dry(Exception):
    """Ends a transaction of which nothing is to stay."""
