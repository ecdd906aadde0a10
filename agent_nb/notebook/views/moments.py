"""The moments of a run at which step mode stands still: what each station worked with, as exactly as it was."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...events import (
    Acted,
    CallStarted,
    Consolidated,
    Consulted,
    Event,
    Judged,
    Loaded,
    Observed,
    Planned,
    Requested,
    Streamed,
)
from . import memory, text, window, wording
from .gates import gates_html
from .request import blocks, call_html, code, flat, pretty, raw, request_html, request_text, said
from .style import FRAME, SECTION, SMALL, esc, folded, muted, pill, table, tag

Json = dict[str, Any]

MOMENTS_CHARS = 400_000
"""Most HTML of all moments that a notebook keeps; of those behind it the titles."""
TEXT_CHARS = 4_000


@dataclasses.dataclass(frozen=True)
class Moment:
    """A station at work. `title`: in a few words; `html`, `text`: the data of the moment."""

    station: str
    title: str
    html: str
    text: str


class Moments:
    """Gives for the events of one run the moments among them."""

    def __init__(self) -> None:
        self._window: list[Json] = []
        self._left_out: list[str] = []
        self._before: list[Json] = []
        self._asked, self._sent = 0, 0  # messages of the last request, and of the last that was answered
        self._typed: dict[str, list[str]] = {}

    def take(self, event: Event) -> Moment | None:
        """The moment that `event` is, or None."""
        match event:
            case CallStarted():
                self._before, self._window, self._left_out = self._window, event.window, event.left_out
                self._typed = {}
            case Streamed() if event.kind == "input_json":
                self._typed.setdefault(event.id, []).append(event.text)
            case Loaded():
                return _load(event)
            case Planned():
                return _plan(event)
            case Consulted() if not event.beside:
                return _consulted(event)
            case Requested():
                return self._request(event)
            case Acted():
                return self._reply(event)
            case Observed():
                return _observe(event)
            case Judged():
                return _judge(event)
            case Consolidated():
                lines = text.consolidate_lines(event)
                made = memory.consolidate(event).replace("<details", "<details open", 1)
                return Moment("consolidate", "what is written to memory", made, "\n".join(lines))
        return None

    def _request(self, event: Requested) -> Moment:
        request, earlier = event.request, self._sent
        self._asked = len(request.get("messages") or [])
        tokens = sum(int(part.get("tokens") or 0) for part in self._window)
        now = tag("div", muted("the window now"), SMALL) + window.bar_and_parts(self._window, self._left_out)
        was = ""
        if self._before:
            was = tag("div", muted("the window at the call before"), SMALL)
            was += window.bar_and_parts(self._before, ())
        told = [f"window {tokens:,} tokens: " + _parts(self._window)]
        told[:0] = [f"before: {_parts(self._before)}"] if self._before else []
        title = f"step {event.step}: the request to the model, {tokens:,} tokens"
        lines = told + request_text(request, earlier)
        return Moment("act", title, was + now + request_html(request, earlier), "\n".join(lines))

    def _reply(self, event: Acted) -> Moment:
        self._sent = self._asked
        html, lines = "", []
        for block in blocks(event.message):
            if block.get("type") == "tool_use":
                html += call_html(block) + self._streamed(str(block.get("id")))
                lines.append(f"[tool_use] {flat(block)}"[:TEXT_CHARS])
                lines.append(f"[the arguments as a string] {flat(flat(block.get('input')))}"[:TEXT_CHARS])
            else:
                html += tag("div", esc(block.get("type")), f"{SMALL};opacity:.68") + code(
                    said(block), TEXT_CHARS
                )
                lines.append(f"[{block.get('type')}] {said(block)}"[:TEXT_CHARS])
        used = f"stop_reason {event.stop_reason} · usage {flat(event.usage)}"
        kept = "" if event.kept else " · it does not enter the history"
        html += tag("div", muted(esc(used + kept)), SMALL) + raw(event.message, "the reply as JSON")
        calls = wording.count(len(event.calls), "call") if event.calls else "an answer"
        lines.append(used + kept)
        return Moment("act", f"step {event.step}: the reply of the model, {calls}", html, "\n".join(lines))

    def _streamed(self, id: str) -> str:
        pieces = self._typed.get(id)
        if not pieces:
            return ""
        told = f"it streamed as {wording.count(len(pieces), 'piece')} of a string: "
        shown = " ".join(f"⟨{piece}⟩" for piece in pieces[:12]) + (" …" if len(pieces) > 12 else "")
        return tag("div", muted(esc(told + wording.clip(shown, 400))), f"{SMALL};overflow-wrap:anywhere")


def _parts(parts: list[Json]) -> str:
    return ", ".join(f"{part.get('part')} {int(part.get('tokens') or 0):,}" for part in parts) or "empty"


def _load(event: Loaded) -> Moment:
    words, way = wording.loaded(event) if not event.note else (event.note, "")
    head = tag(
        "div", f"“{esc(wording.clip(event.query, 300))}” → {esc(words)} {muted(esc(way))}", "", dir="auto"
    )
    html = head + gates_html(event.gates, event.hits) + memory.memo(event.memo)
    gates = [
        f"gate {i} {gate.get('name')}: {gate.get('entered')} → {gate.get('left')} {wording.field(gate, 'why', 200)}"
        for i, gate in enumerate(event.gates, 1)
    ]
    lines = text.load_lines(event) + list(map(text.printable, gates))
    return Moment("load", event.note or "what memory gives, gate by gate", html, "\n".join(lines))


def _plan(event: Planned) -> Moment:
    plan = {"planner": event.planner, "subtasks": event.subtasks, "criteria": event.criteria}
    note = tag("div", esc(wording.clip(event.note, 600)), SMALL) if event.note else ""
    title = f"{event.planner}: {wording.count(len(event.subtasks), 'subtask')}"
    return Moment(
        "plan",
        title,
        note + code(pretty(plan), TEXT_CHARS),
        f"{event.note}\n{flat(plan)[:TEXT_CHARS]}".strip(),
    )


def _consulted(event: Consulted) -> Moment:
    html = tag("div", muted("asked beside the conversation"), SMALL) + code(event.prompt, TEXT_CHARS)
    html += tag("div", muted("the reply"), SMALL) + code(event.text or event.fault, TEXT_CHARS)
    told = f"{event.prompt}\n→ {event.text or event.fault}"
    station = "judge" if event.step else "plan"
    return Moment(
        station, f"the model was asked for {event.what}", html, text.printable(wording.cut(told, 1_500)[0])
    )


def _observe(event: Observed) -> Moment:
    html, lines, results = "", [], 0
    for block in blocks(event.message):
        name = str(block.get("type"))
        failed = " is_error" if block.get("is_error") else ""
        results += name == "tool_result"
        label = (
            pill(f"{name}{failed}", "bad" if failed else "good")
            if name == "tool_result"
            else muted(esc(name))
        )
        html += tag("div", label, "margin-top:4px") + code(said(block), TEXT_CHARS)
        lines.append(f"[{name}{failed}] {wording.cut(said(block), 800)[0]}")
    title = f"step {event.step}: " + (
        wording.count(results, "tool_result") if results else "what is sent back"
    )
    html += raw(event.message, "the message as JSON")
    return Moment("observe", f"{title}, one user message", html, "\n".join(map(text.printable, lines)))


def _judge(event: Judged) -> Moment:
    rows = [[name, *(_told(value) for value in pair)] for name, pair in event.valves.items()]
    html = table(
        ["valve", "used", "limit"], [[esc(cell) for cell in row] for row in rows], [False, True, True]
    )
    if event.criteria:
        html += code(pretty(event.criteria), TEXT_CHARS)
    said_ = f"{event.verdict}{': ' if event.reason else ''}{event.reason}"
    html = tag("div", tag("b", esc(wording.clip(said_, 600)))) + html
    lines = [said_, ", ".join(f"{name} {used} of {limit}" for name, used, limit in rows)]
    lines += [f"{row.get('text')}: {row.get('met')} {row.get('reason') or ''}" for row in event.criteria[:50]]
    return Moment("judge", f"step {event.step}: {event.verdict}", html, "\n".join(map(text.printable, lines)))


def _told(value: Any) -> str:
    return "–" if value is None else f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"


def moment_html(moment: Moment, number: int) -> str:
    """A moment folded under its title."""
    title = f"{muted(str(number))} <b>{esc(moment.station)}</b> &nbsp;{esc(moment.title)}"
    return folded(title, tag("div", moment.html, "margin:3px 0 6px 14px;min-width:0"))


def moments_html(moments: list[Moment], note: str = "") -> str:
    """All moments of a run, folded; as much of them as a notebook should hold."""
    if not moments:
        return ""
    room, lines = MOMENTS_CHARS, []
    for number, moment in enumerate(moments, 1):
        made = moment_html(moment, number)
        room -= len(made)
        if room < 0:
            made = f"{muted(str(number))} <b>{esc(moment.station)}</b> &nbsp;{esc(moment.title)}"
            made += muted(" (left out here, the output would be too large)")
        lines.append(tag("div", made))
    head = f"<b>step by step</b> &nbsp;{wording.count(len(moments), 'moment')} &nbsp;{muted(esc(note))}"
    return tag("div", tag("div", folded(head, "".join(lines)), SECTION), FRAME)


def moment_text(moment: Moment, number: int) -> str:
    """A moment as text, its lines moved in."""
    body = "\n".join(f"    {line}" for line in moment.text.splitlines()[:60])
    return text.printable(f"── {number} {moment.station}: {moment.title}\n{body}")


def moments_text(moments: list[Moment], note: str = "") -> str:
    """All moments of a run as text; "" where there are none."""
    if not moments:
        return ""
    said_ = "\n".join(moment_text(moment, number) for number, moment in enumerate(moments, 1))
    shown, rest = wording.cut(said_, 60_000)
    return (
        f"step by step: {len(moments)} moments. {note}".strip()
        + f"\n{shown}"
        + (f"\n… {rest}" if rest else "")
    )
