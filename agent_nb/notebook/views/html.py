"""A run as HTML, part by part: the live trace shows them one by one, `run_html` together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import agent_nb.notebook.views.wording as wording

from ...events import Answered, Consolidated, Event, Loaded, Planned
from .calls import card, remarks_html, row_html
from .markdown import markdown_html
from .story import Run, runs
from .style import (
    BAR,
    LINE,
    MUTED,
    SMALL,
    TINTS,
    TONES,
    esc,
    folded,
    meter,
    muted,
    pill,
    tag,
    toned,
)

Json = dict[str, Any]

ANSWER_CHARS = 60_000
PICTURE_CHARS = 700_000
"""Most base64 text of pictures in one run; what is over it stays in the kernel only."""
CARDS_CHARS = 600_000
"""Full step cards up to this much HTML, the newest first; older steps get a line each."""
MOST_LINES = 400
FRAME = (
    f"border:{LINE};border-radius:8px;overflow:hidden;font-size:13px;line-height:1.5;max-width:980px;"
    "margin:2px 0"
)
SECTION = f"padding:5px 14px;border-top:{LINE}"


def run_html(events: Iterable[Event]) -> str:
    """The whole trace and the answer of each run among `events`, for a saved notebook."""
    return "".join(_run(run) for run in runs(events))


def _run(run: Run) -> str:
    parts = [head(run), load(run.loaded), plan(run.planned), steps(run), answer(run)]
    parts += [pictures(run), criteria(run), consolidate(run.consolidated), ending(run)]
    return tag("div", "".join(part for part in parts if part), FRAME)


# -- head ----------------------------------------------------------------------------------------------


def head(run: Run, live: bool = False) -> str:
    """Goal, status, what the run is made of, its valves and its stations."""
    words, tone = wording.status(run)
    goal = run.started.goal if run.started else "a run without its beginning"
    title, rest = wording.cut(goal.strip(), 600)
    shown = tag("div", esc(title) + (muted(f" … {rest}") if rest else ""), _GOAL, dir="auto")
    top = tag("div", shown + pill(words, tone), "display:flex;gap:12px;align-items:flex-start")
    return tag("div", top + _facts(run) + _valves(run, live) + _stations(run), "padding:10px 14px 9px")


_GOAL = "flex:1;font-weight:600;font-size:14px;white-space:pre-wrap;overflow-wrap:anywhere"


def _facts(run: Run) -> str:
    if run.started is None:
        return ""
    start = run.started
    reason = f" ({wording.clip(start.model_reason, 160)})" if start.model_reason else ""
    facts = [f"model {tag('b', esc(start.model))}{esc(reason)}", f"session {tag('b', esc(start.session))}"]
    if start.planner != "react":
        facts.append(f"planner {esc(start.planner)}")
    if start.resumes:
        facts.append("goes on with an earlier run")
    return tag("div", " · ".join(facts), f"{SMALL};{MUTED};margin-top:3px;overflow-wrap:anywhere")


def _valves(run: Run, live: bool) -> str:
    cells = []
    for name, (used, limit) in run.valves.items():
        if used is None and limit is None:
            continue
        share = float(used or 0) / limit if limit else 0.0
        tone = "bad" if share >= 1 else "warn" if share >= 0.8 else "live"
        shown = esc(wording.valve(name, used or 0, limit))
        if name == "seconds" and live and run.ended is None:
            shown = f'<span data-seconds="{used or 0}" data-limit="{limit or ""}">{shown}</span>'
        word = "time" if name == "seconds" else name
        text = tag("span", f"{muted(word)} {shown}", "white-space:nowrap")
        cells.append(tag("span", text + meter(share, tone), "flex:1;min-width:105px;max-width:180px"))
    look = (
        f"display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:7px;{SMALL};font-variant-numeric:tabular-nums"
    )
    return tag("div", " ".join(cells), look)


_STATION = (
    "flex:1 1 auto;min-width:0;padding:1px 4px;border-radius:3px;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap"
)
_STATION_TONE = {"load": "memory", "plan": "live", "consolidate": "memory"}


def _stations(run: Run) -> str:
    """The way of the run: what is behind is tinted, where it is stands in full colour, the rest is grey."""
    rounds = sum(step.acted for step in run.steps.values())
    order = list(wording.STATIONS)
    here = order.index(run.station) if run.station in order else len(order)
    cells = []
    for i, name in enumerate(order):
        passed = (
            i < here or run.ended is not None or (name in ("observe", "judge") and run.judged is not None)
        )
        if run.ended is not None and name == "consolidate" and run.consolidated is None:
            passed = False
        tone = _STATION_TONE.get(name, "warn")
        if i == here and run.ended is None:
            look = f"background:{TONES['live']};color:#fff;font-weight:600"
        elif passed:
            look = f"background:{TINTS[tone]}"
        else:
            look = "background:rgba(128,128,128,.07);opacity:.6"
        shown = name + (f" ×{rounds}" if name == "act" and rounds > 1 else "")
        cells.append(tag("span", shown, f"{_STATION};{look}", title=shown))
    look = "display:flex;gap:2px;margin-top:8px;font-size:11px;text-align:center"
    return tag("div", " ".join(cells), look)


# -- load, plan ----------------------------------------------------------------------------------------


def load(event: Loaded | None) -> str:
    """What memory gave, and the four gates that it went through."""
    if event is None:
        return ""
    if event.note:
        return tag("div", f"<b>load</b> &nbsp;{muted(esc(event.note))}", SECTION)
    of = f" of {event.total:,}" if event.total else ""
    verb = "memory entered" if len(event.hits) == 1 and not of else "memories entered"
    more = [wording.gates_line(event.gates), f"{event.tokens:,} tokens", wording.duration(event.ms)]
    said = " · ".join(part for part in more if part)
    summary = f"<b>load</b> &nbsp;{len(event.hits)}{of} {verb} the window &nbsp;{muted(esc(said))}"
    if not event.hits and not event.gates:
        return tag("div", summary, SECTION)
    return tag("div", folded(summary, hits_html(event.hits) + gates_html(event.gates)), SECTION)


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
    reason = f" · {hit['reason']}" if hit.get("reason") else ""
    text = esc(wording.field(hit, "text", 400))
    said = tag("div", text, "overflow-wrap:anywhere", dir="auto") + muted(
        esc(about + wording.clip(reason, 200))
    )
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


def plan(event: Planned | None) -> str:
    """Subtasks and acceptance criteria; a plan of the goal alone is not worth a line."""
    if event is None or (len(event.subtasks) < 2 and not event.criteria and not event.note):
        return ""
    nodes = [
        tag("li", esc(wording.field(node, "text", 300)) + muted(f" {esc(node.get('status', ''))}"))
        for node in event.subtasks[:50]
        if len(event.subtasks) > 1
    ]
    wanted = [tag("li", "done when: " + esc(wording.field(c, "text", 300))) for c in event.criteria[:50]]
    said = [wording.count(len(nodes), "subtask")] if nodes else []
    said += [wording.count(len(wanted), "criterion").replace("criterions", "criteria")] if wanted else []
    summary = f"<b>plan</b> &nbsp;{esc(', '.join(said))} &nbsp;{muted(esc(event.note))}"
    body = tag("ul", "".join(nodes + wanted), f"margin:3px 0;padding-left:22px;{SMALL}")
    return tag("div", folded(summary, body), SECTION)


# -- steps ---------------------------------------------------------------------------------------------


def steps(run: Run) -> str:
    """A card for each call; the newest in full as far as there is room, older ones in a line."""
    blocks: list[str] = []
    room = CARDS_CHARS
    for step in reversed(run.steps.values()):
        notes = remarks_html(step)
        for position in reversed(range(len(step.calls))):
            call = step.calls[position]
            made = card(step, call, position) if room > 0 else row_html(step, call, position)
            room -= len(made)
            blocks.append(made)
        if notes:
            blocks.append(notes)
        if len(blocks) > MOST_LINES:
            blocks.append(tag("div", muted(f"{step.number - 1:,} earlier steps are in the transcript"), ""))
            break
    return "".join(tag("div", block, SECTION) for block in reversed(blocks))


# -- answer --------------------------------------------------------------------------------------------


def answer(run: Run) -> str:
    """The answer with its evidence marked, and a legend."""
    event = run.answered
    if event is None or not (event.text.strip() or event.evidence):
        return ""
    body, legend = answer_html(event)
    partial = tag("div", pill("partial answer", "warn"), "margin-bottom:4px") if event.partial else ""
    look = f"padding:9px 14px 8px;border-top:{LINE};background:rgba(128,128,128,.045)"
    return tag("div", partial + tag("div", body, "font-size:14px") + legend, look)


def answer_html(event: Answered) -> tuple[str, str]:
    """(answer with marks, legend) as HTML."""
    text, rest = wording.cut(event.text, ANSWER_CHARS)
    sources = list(dict.fromkeys(row["sources"][0] for row in event.evidence if row.get("sources")))
    marks = [
        (end, _mark(row, sources))
        for row in sorted(event.evidence, key=lambda row: row["span"][1])[:2_000]
        if 0 < (end := int(row["span"][1])) <= len(text)
    ]
    body = markdown_html(text, marks) + (tag("div", muted(esc(rest))) if rest else "")
    told = [f"{_circled(i)} {esc(wording.clip(name, 120))}" for i, name in enumerate(sources[:30])]
    line = wording.evidence_line(event.evidence)
    complete = all(row.get("sources") for row in event.evidence)
    shown = [toned(line, "good" if complete else "bad")] if line else []
    legend = tag("div", " &nbsp;·&nbsp; ".join(shown + [muted(t) for t in told]), f"{SMALL};margin-top:4px")
    return body, legend if line else ""


def _mark(row: Json, sources: list[str]) -> str:
    if not row.get("sources"):
        look = f"color:{TONES['bad']};font-size:10px;font-weight:600;white-space:nowrap;vertical-align:super"
        return tag(
            "span",
            "&#8239;no&nbsp;evidence",
            f"{look};line-height:0",
            title="nothing that was seen holds this number",
        )
    told = "evidence: " + ", ".join(str(s) for s in row["sources"][:6])
    if row.get("formula"):
        told = f"{row['formula']} · {told}"
    look = f"color:{TONES['good']};font-size:11px;vertical-align:super;line-height:0"
    return tag("span", _circled(sources.index(row["sources"][0])), look, title=wording.clip(told, 300))


def _circled(index: int) -> str:
    return chr(0x2460 + index) if index < 20 else f"({index + 1})"


def pictures(run: Run) -> str:
    """Charts and other pictures, as far as the cell has room for them."""
    shown, room, out = 0, PICTURE_CHARS, []
    for picture in run.pictures:
        data = str(picture.get("data") or "")
        if picture.get("mime") == "image/png" and len(data) <= room and _is_base64(data):
            room -= len(data)
            shown += 1
            look = "max-width:100%;height:auto;border-radius:4px;background:#fff;display:block;margin:6px 0"
            name = str(picture.get("name") or "chart")
            out.append(f'<img alt="{esc(name)}" src="data:image/png;base64,{data}" style="{look}">')
    left = len(run.pictures) - shown
    if left:
        out.append(muted(f"{wording.count(left, 'picture')} too large for the cell; see _agent.artifacts"))
    return tag("div", "".join(out), f"padding:4px 14px;border-top:{LINE}") if out else ""


def _is_base64(data: str) -> bool:
    return data.isascii() and data.replace("+", "").replace("/", "").replace("=", "").isalnum()


def criteria(run: Run) -> str:
    """Whether each acceptance criterion holds."""
    rows = run.judged.criteria if run.judged else []
    lines = []
    for row in rows[:50]:
        sign, tone = (
            ("✓", "good") if row.get("met") else ("✗", "bad") if row.get("met") is False else ("·", "quiet")
        )
        reason = muted(" " + esc(wording.field(row, "reason", 300)))
        lines.append(tag("div", f"{toned(sign, tone)} {esc(wording.field(row, 'text', 300))}{reason}"))
    return tag("div", "<b>judge</b>" + "".join(lines), SECTION) if lines else ""


# -- consolidate, ending -------------------------------------------------------------------------------


def consolidate(event: Consolidated | None) -> str:
    """What was written to memory, and what was left out and why."""
    if event is None:
        return ""
    said = [f"{len(event.written)} kept", f"{len(event.left_out)} left out"]
    more = event.note or f"after the answer · {wording.duration(event.ms)}"
    summary = f"<b>consolidate</b> &nbsp;{', '.join(said)} &nbsp;{muted(esc(wording.clip(more, 300)))}"
    lines = [_written(row) for row in event.written[:30]]
    lines += [
        muted(esc(f"－ {wording.field(row, 'text', 200)}: {wording.field(row, 'reason', 200)}"))
        for row in event.left_out[:30]
    ]
    if not lines:
        return tag("div", summary, SECTION)
    body = "".join(tag("div", line, "overflow-wrap:anywhere", dir="auto") for line in lines)
    opened = bool(event.written)
    return tag("div", folded(summary, tag("div", body, f"{SMALL};margin:3px 0"), opened), SECTION)


def _written(row: Json) -> str:
    kind, text = esc(row.get("type") or "memory"), esc(wording.field(row, "text", 300))
    more = " · ".join(str(row[key]) for key in ("action", "id") if row.get(key))
    return f"{toned('＋', 'good')} {kind} · {text} {muted(esc(more))}"


def ending(run: Run) -> str:
    """Why a run that is not done came to its end."""
    if run.ended is None or run.ended.done or not run.ended.reason:
        return ""
    _, tone = wording.status(run)
    return tag("div", toned(wording.clip(run.ended.reason, 600), tone), f"{SECTION};{SMALL}")
