"""What the memory inspector answers to its page: plain values and drawings, from one user's memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..errors import AgentError, one_line
from ..loop import hit_row
from ..memory.browsing import Page
from ..memory.record import MemoryRecord
from .cell import cell_id
from .show import Sheet
from .trace import place
from .views import wording
from .views.gates import recall_html
from .views.graph import MOST, picture, svg
from .views.record import conflict_html, day, diagnosis_html, page_html, record_html, scope
from .views.style import esc, muted, reference, table, tag

Json = dict[str, Any]

CLIP = 240
"""Characters of a text that a row of the list gets."""
PAGE = 100
"""Records of the page that is saved."""
CONFLICTS = 50
LINES = 30
"""Records that are told in a terminal."""


class Inspector:
    """Answers messages of the page, one at a time, whichever thread they come on.

    Args:
        memory: a `Memory`; every answer is of its user and team alone.
    """

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self._lock = threading.Lock()
        self._work = {
            "find": self.find,
            "open": self.open,
            "edit": self.edit,
            "forget": self.forget,
            "undo": self.undo,
            "conflicts": self.conflicts,
            "resolve": self.resolve,
            "recall": self.recall,
            "why": self.why,
            "graph": self.graph,
        }

    def answer(self, message: Json) -> Json:
        """The answer to a message: its `type` and `seq` again, with what was asked for, or an `error` in a line."""
        asked = {name: message[name] for name in ("type", "seq") if name in message}
        work = self._work.get(str(message.get("type")))
        if work is None:
            return asked | {"error": "this page asks for what the kernel does not know; run the cell again"}
        try:
            with self._lock:
                return asked | work(message)
        except AgentError as error:
            return asked | {"error": str(error)}
        except Exception as error:  # whatever breaks, the page must not wait for ever
            return asked | {"error": one_line(error)}

    # -- the list --------------------------------------------------------------------------------------------

    def find(self, message: Json) -> Json:
        """Rows of the list from `from` on."""
        started = time.perf_counter()
        days = message.get("days")
        page = self.memory.browse(
            str(message.get("text") or ""),
            start=int(message.get("from") or 0),
            count=int(message.get("count") or 50),
            type=str(message.get("kind") or ""),
            status=str(message.get("status") or ""),
            scope=str(message.get("scope") or ""),
            days=int(days) if days else 0,
        )
        rows = [row(record) for record in page.records]
        ms = round((time.perf_counter() - started) * 1000, 1)
        told = {"rows": rows, "from": page.start, "total": page.total, "of": page.of, "ms": ms}
        return told | {"pending": page.pending, "team": self.memory.team is not None}

    def open(self, message: Json) -> Json:
        """One record with its history, and what can be done to it."""
        record = self._record(message)
        mine = not scope(record)
        can = [name for name in ("edit", "forget") if mine and record.status == "active"]
        if mine and record.status == "pending":
            can = ["resolve"]
        chain = self.memory.history(record.id)
        html = record_html(record, chain, live=True)
        return {"id": record.id, "html": html, "text": record.text, "can": can + (["undo"] if mine else [])}

    def _record(self, message: Json) -> MemoryRecord:
        id = str(message.get("id") or "")
        found: MemoryRecord | None = self.memory.get(id)
        if found is None:
            raise AgentError(f"there is no memory {id} any more")
        return found

    # -- changes ---------------------------------------------------------------------------------------------

    def edit(self, message: Json) -> Json:
        """A new text; the old one stays in the history."""
        text = str(message.get("text") or "").strip()
        record = self.memory.edit(str(message.get("id") or ""), text)
        return self._changed(record.id, "Said anew; the old text stays in its history.")

    def forget(self, message: Json) -> Json:
        """Never recalled again; the text stays in the history."""
        record = self.memory.forget(str(message.get("id") or ""))
        return self._changed(
            record.id, f"Forgotten. %memory forget {record.id} --erase removes its text, too."
        )

    def undo(self, message: Json) -> Json:
        """Take back the last change of a record."""
        record = self.memory.undo(str(message.get("id") or ""))
        return self._changed(record.id, f"Taken back: {record.id} is {record.status} again.")

    def resolve(self, message: Json) -> Json:
        """Settle a conflict."""
        record = self.memory.resolve(str(message.get("id") or ""), str(message.get("verdict") or ""))
        return self._changed(record.id, f"Settled: {record.id} is {record.status}.")

    def _changed(self, id: str, said: str) -> Json:
        return {"changed": id, "said": said}

    # -- views -----------------------------------------------------------------------------------------------

    def conflicts(self, message: Json) -> Json:
        """What waits for a verdict."""
        rows = waiting(self.memory)
        drawn = [
            {"id": new.id, "html": conflict_html(new, old, live=True), "mine": not scope(new)}
            for new, old in rows[:CONFLICTS]
        ]
        return {"rows": drawn, "more": max(0, len(rows) - CONFLICTS)}

    def recall(self, message: Json) -> Json:
        """The four gates of a question."""
        return {"html": recall_html(recalled(self.memory, str(message.get("text") or "")), live=True)}

    def why(self, message: Json) -> Json:
        """Why a question does not know what it should."""
        return {"html": diagnosis_html(self.memory.why(str(message.get("text") or "")), live=True)}

    def graph(self, message: Json) -> Json:
        """What is related to what, around an entity where one is named."""
        entity = str(message.get("text") or "").strip()
        return {"html": graph_html(self.memory.graph(entity or None), entity, live=True)}


def look(memory: Any) -> Callable[[str], str]:
    """What draws a memory by its id for the trace; a fault is a line, since nobody else would see it."""

    def drawn(id: str) -> str:
        try:
            record = memory.get(id)
            if record is None:
                return muted(f"There is no memory {esc(id)} any more.")
            return record_html(record, memory.history(id), live=True)
        except Exception as error:
            return muted(esc(one_line(error)))

    return drawn


def row(record: MemoryRecord) -> Json:
    """What the list shows of a record."""
    text = " ".join(record.text[: CLIP * 4].split())
    text = text if len(text) <= CLIP else text[: CLIP - 1] + "…"
    about = {"type": record.type, "status": record.status, "day": day(record.created)[:10]}
    return {"id": record.id, "text": text, "scope": scope(record), "hits": record.hits} | about


def recalled(memory: Any, question: str) -> Json:
    """A recall as plain values, as `events.Loaded` has them."""
    found = memory.recall(question)
    hits = [hit_row(hit) for hit in found]
    gates = [dict(gate) for gate in found.gates]
    return {"hits": hits, "gates": gates, "tokens": found.tokens, "ms": found.ms, "query": question}


def waiting(memory: Any) -> list[tuple[MemoryRecord, list[MemoryRecord]]]:
    """Each pending record with those that it contradicts."""
    found: dict[str, tuple[MemoryRecord, list[MemoryRecord]]] = {}
    for each in memory.conflicts():
        new = memory.get(each["id"])
        if new is None:
            continue
        old = memory.get(each["against"]) if each["against"] else None
        found.setdefault(new.id, (new, []))[1].extend([old] if old is not None else [])
    return list(found.values())


def graph_html(found: Json, entity: str = "", live: bool = False) -> str:
    """A picture of what is related to what and, since a picture is read by nobody aloud, the same as a table."""
    if not found["edges"]:
        nothing = f"Nothing is linked to {entity}." if entity else "No relation was read from any memory yet."
        return tag("div", muted(esc(nothing)), "padding:9px 14px", dir="auto")
    rows = [
        [
            esc(e["source"]),
            esc(str(e["relation"]).replace("_", " ")),
            esc(e["target"]),
            reference(e["record"], live),
        ]
        for e in found["edges"][:200]
    ]
    said = (
        [f"The picture shows {MOST} of {len(found['nodes']):,} entities."]
        if len(found["nodes"]) > MOST
        else []
    )
    said += (
        [f"The table shows 200 of {len(found['edges']):,} relations."] if len(found["edges"]) > 200 else []
    )
    note = tag("div", muted(esc(" ".join(said)))) if said else ""
    listed = table(["from", "relation", "to", "memory"], rows, [False] * 4)
    return (svg(found, live=True) if live else picture(found)) + note + listed


def first_page(memory: Any, text: str = "") -> Page:
    """The latest active records that hold `text`: what is saved, and told in a terminal."""
    found: Page = memory.browse(text, count=PAGE, status="active")
    return found


def saved_html(memory: Any, title: str, page: Page) -> str:
    """The page that stays in a saved notebook."""
    records = [(record, _chain(memory, record)) for record in page.records]
    graph = memory.graph()
    drawn = graph_html(graph) if graph["edges"] else ""
    return page_html(title, records, page.total, waiting(memory), drawn)


def _chain(memory: Any, record: MemoryRecord) -> list[MemoryRecord]:
    """Its history; [] where nothing took its place and it took nobody's."""
    chain: list[MemoryRecord] = memory.history(record.id)
    return chain if len(chain) > 1 else []


def placeholder(key: str, saved: str) -> str:
    """The saved page in an element that a live page finds."""
    return tag("div", saved, "", **{"data-inspector": key})


# -- the verb ---------------------------------------------------------------------------------------------------


def browse(desk: Any, text: str) -> None:
    """`%memory browse [TEXT]`: live where there is a page, as text in a terminal, and saved as a page either way."""
    memory = desk.memory()
    text = text.strip().strip("\"'")
    named = memory.get(text) if text else None
    page = first_page(memory, text)
    title = f"memory of {memory.user}: {page.total:,} active" + (f" with “{text}”" if text else "")
    title += f", {page.of:,} records in all"
    plain = _plain(title, page)
    saved = saved_html(memory, title, page)
    if place() != "page":
        Sheet().raw(saved, plain).show()
        return
    _live(desk, memory, {"id": text} if named else {"text": text}, saved, plain)


def _live(desk: Any, memory: Any, start: Json, saved: str, plain: str) -> None:
    from IPython.display import display

    from .inspector_widget import VIEW, InspectorPanel, apart

    panel = InspectorPanel(Inspector(memory).answer, start)
    bundle: Json = {"text/html": placeholder(panel.key, saved), "text/plain": plain}
    if apart(desk.shell):
        bundle[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}
    desk.keep(cell_id(desk.shell) or panel.key, panel)
    display(bundle, raw=True)  # type: ignore[no-untyped-call]


def _plain(title: str, page: Page) -> str:
    """The same for a terminal: the latest records, a line each."""
    rows = [
        [r.id, r.type, r.status, day(r.created)[:10], wording.clip(r.text, 90)] for r in page.records[:LINES]
    ]
    sheet = Sheet(title).rows(["id", "type", "status", "created", "text"], rows, "Nothing is remembered yet.")
    if page.total > len(rows):
        sheet.remark(f"the latest {len(rows)} of {page.total:,}; %memory search WORDS finds the others")
    if page.pending:
        sheet.remark(f"{wording.count(page.pending, 'conflict')} to settle: %memory conflicts")
    if rows:
        sheet.remark(
            "%memory show ID opens one, edit ID TEXT and forget ID change it, recall QUESTION shows the gates"
        )
    return sheet.plain()
