"""A run as HTML, part by part: the live trace shows them one by one, `run_html` together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...events import Answered, Event, Planned
from . import wording
from .calls import card, remarks_html, row_html
from .head import head
from .markdown import markdown_html
from .memory import consolidate, load
from .story import Run, runs
from .style import (
    FRAME,
    LINE,
    MUTED,
    SECTION,
    SMALL,
    TONES,
    esc,
    folded,
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
_PICTURE = "max-width:100%;max-height:400px;width:auto;height:auto"


def run_html(events: Iterable[Event]) -> str:
    """The whole trace and the answer of each run among `events`, for a saved notebook."""
    return "".join(_run(run) for run in runs(events))


def _run(run: Run) -> str:
    parts = [head(run), load(run.loaded), plan(run.planned, run.ended is not None), steps(run), pictures(run)]
    parts += [answer(run), criteria(run), consolidate(run.consolidated), ending(run)]
    return tag("div", "".join(part for part in parts if part), FRAME)


def plan_html(events: Iterable[Event]) -> str:
    """The plan of the last run and what reflection found in it; "" where there is neither."""
    told = runs(events)
    if not told:
        return ""
    run = told[-1]
    tree = plan(run.planned, run.ended is not None)
    lines = [
        tag(
            "div",
            f"{muted(f'step {step.number} {esc(kind)}')} &nbsp;{esc(wording.clip(text, 400))}",
            SMALL,
        )
        for step in run.steps.values()
        for kind, text in step.remarks
        if kind.startswith("reflected")
    ]
    learnt = tag("div", "".join(lines), SECTION) if lines else ""
    return tag("div", tree + learnt, FRAME) if tree or learnt else ""


def plan(event: Planned | None, over: bool = False) -> str:
    """Subtasks as a tree and acceptance criteria; a plan of the goal alone is not worth a line."""
    if event is None or (len(event.subtasks) < 2 and not event.criteria and not event.note):
        return ""
    nodes = [_node(node, depth, over) for node, depth in wording.plan_tree(event.subtasks)]
    wanted = [tag("li", "done when: " + esc(wording.field(c, "text", 300))) for c in event.criteria[:50]]
    said = [wording.plan_count(event.subtasks)] if nodes else []
    said += [wording.count(len(wanted), "criterion").replace("criterions", "criteria")] if wanted else []
    summary = f"<b>plan</b> &nbsp;{esc(', '.join(said))} &nbsp;{muted(esc(event.note))}"
    body = "".join(nodes) + (
        tag("ul", "".join(wanted), f"margin:3px 0;padding-left:22px;{SMALL}") if wanted else ""
    )
    return tag("div", folded(summary, body, opened=bool(nodes)), SECTION)


def _node(node: Json, depth: int, over: bool) -> str:
    """A subtask in a line, moved in below what it needs."""
    sign, tone = wording.node_sign(node, over)
    result = wording.node_result(node)
    line = (
        f"{toned(sign, tone)} {esc(wording.field(node, 'id', 20))}. {esc(wording.field(node, 'text', 300))}"
    )
    more = wording.node_more(node)
    line += muted(f" {esc(more)}") if more else ""
    line += tag("span", f" → {esc(result)}", MUTED) if result else ""
    return tag("div", line, f"{SMALL};padding-left:{6 + 16 * depth}px;overflow-wrap:anywhere", dir="auto")


# -- plan, steps ---------------------------------------------------------------------------------------------


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
    rows = sorted(event.evidence, key=lambda row: int(row["span"][1]))[:2_000]
    groups = _groups(rows, wording.sources(rows), text)
    sources = list(dict.fromkeys(source for source, _ in groups if source))
    marks = [
        (int(group[-1]["span"][1]), _mark(group, source, sources))
        for source, group in groups
        if not source or len(sources) > 1
    ]
    body = markdown_html(text, marks) + (tag("div", muted(esc(rest))) if rest else "")
    told = [esc(wording.clip(name, 120)) for name in sources[:30]]
    if len(sources) > 1:
        told = [f"{_circled(i)} {name}" for i, name in enumerate(told)]
    line = wording.evidence_line(event.evidence)
    complete = all(row.get("sources") for row in event.evidence)
    shown = [toned(line, "good" if complete else "bad")] if line else []
    legend = tag("div", " &nbsp;·&nbsp; ".join(shown + [muted(t) for t in told]), f"{SMALL};margin-top:4px")
    return body, legend if line else ""


def _groups(rows: list[Json], chosen: list[str], text: str) -> list[tuple[str, list[Json]]]:
    """Numbers that stand in one line and have one source share a mark; one without any has its own."""
    groups: list[tuple[str, list[Json]]] = []
    for row, source in zip(rows, chosen, strict=True):
        end = int(row["span"][1])
        if not 0 < end <= len(text) or (source and row.get("value") is None):
            continue  # a date that was seen needs no mark
        last = groups[-1] if groups else None
        if last and source and last[0] == source and "\n" not in text[int(last[1][-1]["span"][1]) : end]:
            last[1].append(row)
        else:
            groups.append((source, [row]))
    return groups


def _mark(group: list[Json], source: str, sources: list[str]) -> str:
    if not source:
        look = f"color:{TONES['bad']};font-size:10px;font-weight:600;white-space:nowrap;vertical-align:super"
        return tag(
            "span",
            "&#8239;no&nbsp;evidence",
            f"{look};line-height:0",
            title="nothing that was seen holds this number",
        )
    told = "; ".join(
        f"{row.get('formula') or row.get('text')} · evidence: {', '.join(map(str, row['sources'][:6]))}"
        for row in group
    )
    look = f"color:{TONES['quiet']};font-size:10px;vertical-align:super;line-height:0"
    return tag("span", _circled(sources.index(source)), look, title=wording.clip(told, 500))


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
            look = f"{_PICTURE};border-radius:4px;background:#fff;display:block;margin:6px 0"
            name = str(picture.get("name") or "chart")
            out.append(f'<img alt="{esc(name)}" src="data:image/png;base64,{data}" style="{look}">')
    left = len(run.pictures) - shown
    if left:
        out.append(muted(f"{wording.count(left, 'picture')} too large for the cell; see _agent.artifacts"))
    shown_all = tag("div", "".join(out), "max-width:680px")
    return tag("div", shown_all, f"padding:4px 14px;border-top:{LINE}") if out else ""


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


def ending(run: Run) -> str:
    """Why a run that is not done came to its end."""
    told, back = wording.ending(run), wording.taken_back(run)
    _, tone = wording.status(run)
    lines = [toned(wording.clip(told, 600), tone)] if told else []
    lines += [toned(back, "warn")] if back else []
    return tag("div", "".join(tag("div", line) for line in lines), f"{SECTION};{SMALL}") if lines else ""
