"""What memory gave to a run and took from it."""

from __future__ import annotations

from typing import Any

from ...events import Consolidated, Loaded
from . import wording
from .gates import gates_html
from .style import SECTION, SMALL, esc, folded, muted, reference, tag, toned

Json = dict[str, Any]


def load(event: Loaded | None, live: bool = False) -> str:
    """What memory gave, and the four gates that it went through."""
    if event is None:
        return ""
    if event.note:
        return tag("div", f"<b>load</b> &nbsp;{muted(esc(event.note))}", SECTION)
    words, way = wording.loaded(event)
    summary = f"<b>load</b> &nbsp;{words} &nbsp;{muted(esc(way))}"
    if not event.hits and not event.total:
        return tag("div", summary, SECTION)
    body = gates_html(event.gates, event.hits, live) + memo(event.memo, live)
    if not live and (event.hits or event.memo):
        body += tag("div", muted("%memory browse ID opens a record, %memory show ID prints it"), SMALL)
    return tag("div", folded(summary, body), SECTION)


def memo(rows: list[Json], live: bool = False) -> str:
    """What stands in the window without a search."""
    if not rows:
        return ""
    told = (
        f"{esc(row.get('type') or '')}: {esc(wording.field(row, 'text', 400))} {_id(row, live)}"
        for row in rows[:50]
    )
    lines = "".join(tag("li", text, "overflow-wrap:anywhere", dir="auto") for text in told)
    return muted("memo: true in every window of this user") + tag("ul", lines, "margin:3px 0 6px 0")


def _id(row: Json, live: bool) -> str:
    return reference(row["id"], live) if row.get("id") else ""


def consolidate(event: Consolidated | None, live: bool = False) -> str:
    """What was written to memory, and what was left out and why."""
    if event is None:
        return ""
    more = event.note or f"after the answer · {wording.duration(event.ms)}"
    kept = wording.field(event.written[0], "text", 90) if event.written else ""
    said = f" &nbsp;{tag('span', esc(kept), '', dir='auto')}" if kept else ""
    words = wording.consolidated(event)
    summary = f"<b>consolidate</b> &nbsp;{words}{said} &nbsp;{muted(esc(wording.clip(more, 300)))}"
    lines = [_written(row, live) for row in event.written[:30]]
    lines += [
        muted(esc(f"－ {wording.field(row, 'text', 200)}: {wording.field(row, 'reason', 200)}"))
        for row in event.left_out[:30]
    ]
    if not lines:
        return tag("div", summary, SECTION)
    body = "".join(tag("div", line, "overflow-wrap:anywhere", dir="auto") for line in lines)
    return tag("div", folded(summary, tag("div", body, f"{SMALL};margin:3px 0 3px 14px")), SECTION)


def _written(row: Json, live: bool) -> str:
    kind, text = esc(row.get("type") or "memory"), esc(wording.field(row, "text", 300))
    return f"{toned('＋', 'good')} {kind} · {text} {muted(esc(row.get('action') or ''))} {_id(row, live)}"
