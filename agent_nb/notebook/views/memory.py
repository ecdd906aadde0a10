"""What memory gave to a run and took from it; a recall on its own."""

from __future__ import annotations

from typing import Any

from ...events import Consolidated, Loaded
from . import wording
from .style import BAR, FRAME, LINE, MUTED, SECTION, SMALL, esc, folded, muted, tag, toned

Json = dict[str, Any]


def load(event: Loaded | None) -> str:
    """What memory gave, and the four gates that it went through."""
    if event is None:
        return ""
    if event.note:
        return tag("div", f"<b>load</b> &nbsp;{muted(esc(event.note))}", SECTION)
    words, way = wording.loaded(event)
    summary = f"<b>load</b> &nbsp;{words} &nbsp;{muted(esc(way))}"
    if not event.hits and not event.total:
        return tag("div", summary, SECTION)
    return tag(
        "div", folded(summary, hits_html(event.hits) + _memo(event.memo) + gates_html(event.gates)), SECTION
    )


def _memo(rows: list[Json]) -> str:
    """What stands in the window without a search."""
    if not rows:
        return ""
    told = (f"{row.get('type') or ''}: {wording.field(row, 'text', 400)}" for row in rows[:50])
    lines = "".join(tag("li", esc(text), "overflow-wrap:anywhere", dir="auto") for text in told)
    return muted("memo: true in every window of this user") + tag("ul", lines, "margin:3px 0 6px 0")


def hits_html(hits: list[Json]) -> str:
    """Recalled memories with their scores as bars: similarity, importance, freshness."""
    if not hits:
        return ""
    square = "display:inline-block;width:8px;height:8px;border-radius:2px;background:"
    names = zip(("similarity", "importance", "freshness"), BAR, strict=False)
    legend = " &nbsp;".join(tag("span", "", square + color) + f" {name}" for name, color in names)
    head = tag(
        "tr", f'<th style="{_TH}">score</th><th style="{_TH}">{legend}</th><th style="{_TH}">record</th>'
    )
    rows = "".join(_hit(hit) for hit in hits[:50])
    table = tag("table", f"<thead>{head}</thead><tbody>{rows}</tbody>", f"border-collapse:collapse;{SMALL}")
    return tag("div", table, "overflow:auto;max-width:100%;margin:5px 0")


_TH = "text-align:left;font-weight:400;padding:1px 14px 2px 0;white-space:nowrap;opacity:.68"


def _hit(hit: Json) -> str:
    parts = zip(("similarity", "importance", "freshness"), (0.5, 0.3, 0.2), BAR, strict=False)
    bars, told = "", []
    for name, weight, color in parts:
        value = float(hit.get(name) or 0.0)
        told.append(f"{name} {value:.2f}")
        width = max(1, round(150 * weight * max(0.0, min(1.0, value))))
        bars += tag("span", "", f"display:inline-block;width:{width}px;height:8px;background:{color}")
    about = " · ".join(str(hit.get(k) or "") for k in ("type", "source") if hit.get(k))
    about += f" · {str(hit.get('created') or '')[:10]}" if hit.get("created") else ""
    reason = f" · {wording.clip(str(hit['reason']), 200)}" if hit.get("reason") else ""
    text = esc(wording.field(hit, "text", 400))
    said = tag("div", text, "overflow-wrap:anywhere", dir="auto") + muted(esc(about + reason))
    cell = "padding:2px 14px 2px 0;vertical-align:top;text-align:left"
    return tag(
        "tr",
        tag("td", f"<b>{float(hit.get('score') or 0):.2f}</b>", cell)
        + tag("td", bars, f"{cell};white-space:nowrap", title=" · ".join(told))
        + tag("td", said, f"{cell};min-width:180px"),
        "background:none",
    )


def gates_html(gates: list[Json]) -> str:
    """The gates of a recall side by side: what entered, what left, why."""
    boxes = []
    for i, gate in enumerate(gates, 1):
        title = f"<b>{i} {esc(gate.get('name', ''))}</b> {gate.get('entered', 0):,} → {gate.get('left', 0):,}"
        why = tag("div", esc(wording.field(gate, "why", 300)), MUTED)
        boxes.append(
            tag("div", title + why, f"flex:1 1 150px;border:{LINE};border-radius:5px;padding:5px 8px")
        )
    if not boxes:
        return ""
    return tag("div", "".join(boxes), f"display:flex;flex-wrap:wrap;gap:6px;margin:6px 0 3px;{SMALL}")


def recall_html(recall: Json) -> str:
    """A recall on its own: a dict of query, hits, gates, tokens, ms (and total), as in `events.Loaded`."""
    hits, gates = recall.get("hits") or [], recall.get("gates") or []
    said = [f"{len(hits)} recalled", f"{recall.get('tokens') or 0:,} tokens"]
    said.append(wording.duration(float(recall.get("ms") or 0.0)))
    title = f"<b>recall</b> &nbsp;“{esc(wording.field(recall, 'query', 200))}”"
    top = tag("div", f"{title} &nbsp;{muted(esc(' · '.join(said)))}", "overflow-wrap:anywhere")
    nothing = "" if hits else tag("div", "Nothing in memory is close enough.", MUTED)
    inner = top + hits_html(hits) + nothing + gates_html(gates)
    return tag("div", tag("div", inner, "padding:9px 14px"), FRAME)


def consolidate(event: Consolidated | None) -> str:
    """What was written to memory, and what was left out and why."""
    if event is None:
        return ""
    more = event.note or f"after the answer · {wording.duration(event.ms)}"
    kept = wording.field(event.written[0], "text", 90) if event.written else ""
    said = f" &nbsp;{tag('span', esc(kept), '', dir='auto')}" if kept else ""
    words = wording.consolidated(event)
    summary = f"<b>consolidate</b> &nbsp;{words}{said} &nbsp;{muted(esc(wording.clip(more, 300)))}"
    lines = [_written(row) for row in event.written[:30]]
    lines += [
        muted(esc(f"－ {wording.field(row, 'text', 200)}: {wording.field(row, 'reason', 200)}"))
        for row in event.left_out[:30]
    ]
    if not lines:
        return tag("div", summary, SECTION)
    body = "".join(tag("div", line, "overflow-wrap:anywhere", dir="auto") for line in lines)
    return tag("div", folded(summary, tag("div", body, f"{SMALL};margin:3px 0 3px 14px")), SECTION)


def _written(row: Json) -> str:
    kind, text = esc(row.get("type") or "memory"), esc(wording.field(row, "text", 300))
    more = " · ".join(str(row[key]) for key in ("action", "id") if row.get(key))
    return f"{toned('＋', 'good')} {kind} · {text} {muted(esc(more))}"
