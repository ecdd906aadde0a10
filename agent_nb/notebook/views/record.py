"""A memory, its history as a chain, a conflict, a diagnosis, and a page of many: records → HTML."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from ...memory.record import MemoryRecord
from . import wording
from .style import FRAME, LINE, SECTION, SMALL, TONES, esc, folded, meter, muted, pill, reference, tag

Json = dict[str, Any]

TEXT_CHARS = 8_000
EVIDENCE = 12
CHAIN = 30
PAGE_CHARS = 250_000
"""A saved page ends once it holds so much HTML, and says how many records it leaves out."""
STATUS = {"active": "good", "pending": "warn", "superseded": "quiet", "revoked": "bad"}
_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere"


def day(moment: datetime.datetime | None) -> str:
    """In the reader's own time zone, to the minute; "" for never."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else ""


def scope(record: MemoryRecord) -> str:
    """The team that a record belongs to, or ""."""
    kind, _, name = record.user.partition(":")
    return f"team {name}" if kind == "team" and name else ""


def record_html(record: MemoryRecord, chain: Sequence[MemoryRecord] = (), live: bool = False) -> str:
    """One memory with all that is known of it, and its history where it has one."""
    text, cut = wording.cut(record.text, TEXT_CHARS)
    said = tag("div", esc(text), f"{_TEXT};font-size:14px;margin:7px 0 6px", dir="auto")
    rest = tag("div", muted(esc(cut)), SMALL) if cut else ""
    body = tag("div", _pills(record) + f" {reference(record.id, live)}") + said + rest
    if len(chain) > 1:
        body += tag("div", f"<b>history</b> {muted(f'{len(chain)} versions')}", "margin:9px 0 3px")
        body += chain_html(chain, record.id, live)
    return body + _facts(record) + _evidence(record)


def _pills(record: MemoryRecord) -> str:
    shown = [pill(record.type, "memory"), pill(record.status, STATUS.get(record.status, "quiet"))]
    shown += [pill(scope(record), "live")] if scope(record) else []
    return " ".join(shown)


def _facts(record: MemoryRecord) -> str:
    used = (
        f"{day(record.last_access)} · {wording.count(record.hits, 'time')} in all" if record.hits else "never"
    )
    about = " · ".join(part for part in (record.subject, record.attribute, record.value) if part)
    came = " · ".join(part for part in (record.source, record.session, record.run) if part)
    rows = [
        ("about", esc(about)),
        ("happened", esc(day(record.created))),
        ("written", esc(day(record.recorded))),
        ("used", esc(used)),
        ("said", esc(wording.count(record.mentions, "time"))),
        ("ends", esc(day(record.expires) or "never")),
        ("from", esc(came)),
        ("tags", esc(", ".join(record.tags))),
        ("entities", esc(", ".join(record.entities))),
        ("weight", _share(record.weight)),
        ("confidence", _share(record.confidence)),
    ]
    cells = "".join(
        tag("span", f"{muted(label)} {value}", "overflow-wrap:anywhere;min-width:0", dir="auto")
        for label, value in rows
        if value
    )
    return tag("div", cells, f"display:flex;flex-wrap:wrap;gap:2px 18px;margin-top:7px;{SMALL}")


def _share(value: float) -> str:
    return f"{value:.2f} {meter(value, 'memory', '72px')}"


def _evidence(record: MemoryRecord) -> str:
    if not record.evidence:
        return ""
    rows = []
    for row in record.evidence[:EVIDENCE]:
        about = " · ".join(f"{k} {wording.clip(v, 80)}" for k, v in row.items() if k != "text" and v)
        said = f"{esc(wording.field(row, 'text', 300))} {muted(esc(about))}"
        rows.append(tag("li", said, "overflow-wrap:anywhere", dir="auto"))
    more = len(record.evidence) - EVIDENCE
    rest = muted(f"and {more} more") if more > 0 else ""
    lines = tag("ul", "".join(rows), "margin:2px 0;padding-left:20px")
    return tag("div", f"<b>evidence</b>{lines}{rest}", f"{SMALL};margin-top:6px")


def chain_html(chain: Sequence[MemoryRecord], current: str = "", live: bool = False) -> str:
    """What took each other's place, the oldest above, with the moment of each change."""
    shown = chain[-CHAIN:]
    links = [_link(record, record.id == current, live) for record in shown]
    hidden = len(chain) - len(shown)
    before = (
        tag("div", muted(f"{hidden} earlier versions: %memory history {chain[0].id}"), SMALL)
        if hidden
        else ""
    )
    return before + "".join(links)


def _link(record: MemoryRecord, here: bool, live: bool) -> str:
    tone = TONES[STATUS.get(record.status, "quiet")]
    about = " · ".join((record.status, day(record.recorded), record.source))
    text = tag("div", esc(wording.clip(record.text, 600)), _TEXT, dir="auto")
    told = f"{tag('span', '●', f'color:{tone}')} {muted(esc(about))} {reference(record.id, live)}"
    look = f"border-left:2px solid {tone};padding:1px 0 7px 10px;margin-left:5px;{SMALL}"
    return tag("div", tag("div", told) + text, look + (";background:rgba(128,128,128,.09)" if here else ""))


def conflict_html(new: MemoryRecord, against: Sequence[MemoryRecord], live: bool = False) -> str:
    """What waits for a verdict beside what it contradicts."""
    boxes = [_side("says now", "warn", new, live)]
    boxes += [_side("against", "good", old, live) for old in against[:5]]
    if not against:
        boxes.append(tag("div", muted("what it contradicted is no longer active"), "flex:1 1 200px"))
    return tag("div", "".join(boxes), "display:flex;flex-wrap:wrap;gap:8px")


def _side(label: str, tone: str, record: MemoryRecord, live: bool) -> str:
    about = " · ".join((record.type, record.source, day(record.created)))
    text = tag("div", esc(wording.clip(record.text, 600)), f"{_TEXT};margin:2px 0", dir="auto")
    inner = f"{pill(label, tone)} {reference(record.id, live)}{text}{muted(esc(about))}"
    return tag(
        "div", inner, f"flex:1 1 200px;min-width:0;border:{LINE};border-radius:6px;padding:6px 9px;{SMALL}"
    )


_WAY = {
    "not_written": "written",
    "not_recalled": "recalled",
    "not_injected": "in the window",
    "ignored": "used",
}


def diagnosis_html(diagnosis: Any, live: bool = False) -> str:
    """Why a question did not know: the way from writing to use, where it broke, and what would mend it."""
    order = list(_WAY)
    at = order.index(diagnosis.broke) if diagnosis.broke in order else 3
    cells = []
    for i, station in enumerate(_WAY.values()):
        broke = i == at and diagnosis.broke
        sign, tone = ("✗", "bad") if broke else ("✓", "good") if i < at else ("·", "quiet")
        cells.append(pill(f"{sign} {station}", tone))
    gate = f" {muted(f'at gate {esc(diagnosis.gate)}')}" if diagnosis.gate else ""
    parts = [tag("div", f"<b>why</b> &nbsp;“{esc(wording.clip(diagnosis.question, 200))}”", dir="auto")]
    parts += [tag("div", " → ".join(cells) + gate, "margin:6px 0;line-height:1.9")]
    parts += [
        tag("div", esc(wording.clip(diagnosis.explanation, 1_000)), "overflow-wrap:anywhere", dir="auto")
    ]
    if diagnosis.change:
        change = esc(wording.clip(diagnosis.change, 600))
        parts.append(tag("div", f"<b>to mend it:</b> {change}", "overflow-wrap:anywhere", dir="auto"))
    rows = [_told(row, live) for row in diagnosis.records[:10]]
    if rows:
        parts.append(tag("ul", "".join(rows), f"margin:5px 0 0;padding-left:20px;{SMALL}"))
    return tag("div", tag("div", "".join(parts), "padding:9px 14px"), FRAME)


def _told(row: Json, live: bool) -> str:
    id = f" {reference(row['id'], live)}" if row.get("id") else ""
    more = muted(esc(wording.field(row, "reason", 200)))
    return tag(
        "li", f"{esc(wording.field(row, 'text', 400))} {more}{id}", "overflow-wrap:anywhere", dir="auto"
    )


# -- the page that stays in a saved notebook --------------------------------------------------------------------


def page_html(
    title: str,
    records: Sequence[tuple[MemoryRecord, Sequence[MemoryRecord]]],
    total: int,
    conflicts: Sequence[tuple[MemoryRecord, Sequence[MemoryRecord]]] = (),
    graph: str = "",
) -> str:
    """Records with their chains as folded lines, at most PAGE_CHARS of them; what is left out is said.

    Args:
        total: how many there are. graph: a drawing of what is related to what, or "".
    """
    lines: list[str] = []
    room = PAGE_CHARS
    for record, chain in records:
        made = _folded(record, chain)
        room -= len(made)
        if room < 0:
            break
        lines.append(made)
    hidden = total - len(lines)
    left = (
        f"the latest {len(lines):,} of {total:,}; %memory search WORDS finds the others" if hidden > 0 else ""
    )
    more = tag("div", muted(esc(left)), f"{SECTION};{SMALL}") if left else ""
    nothing = tag("div", muted("Nothing is remembered yet."), SECTION) if not total else ""
    hint = "%memory show ID opens one, %memory history ID its chain, %memory recall QUESTION the four gates"
    foot = tag("div", muted(esc(hint)), f"{SECTION};{SMALL}")
    head = tag("div", tag("b", esc(title)), "padding:8px 14px;overflow-wrap:anywhere", dir="auto")
    waiting = _waiting(conflicts)
    related = tag("div", folded("<b>what is related to what</b>", graph), SECTION) if graph else ""
    return tag("div", head + waiting + "".join(lines) + nothing + more + related + foot, FRAME)


def _folded(record: MemoryRecord, chain: Sequence[MemoryRecord]) -> str:
    text = tag("span", esc(wording.clip(record.text, 160)), "", dir="auto")
    about = [record.type] + ([record.status] if record.status != "active" else [])
    about += ([scope(record)] if scope(record) else []) + [day(record.created)[:10]]
    summary = f"{text} &nbsp;{muted(esc(' · '.join(about)))}"
    return tag(
        "div", folded(summary, tag("div", record_html(record, chain), "margin:4px 0 6px 14px")), SECTION
    )


def _waiting(conflicts: Sequence[tuple[MemoryRecord, Sequence[MemoryRecord]]]) -> str:
    if not conflicts:
        return ""
    shown = [
        conflict_html(new, against)
        + tag("div", muted(f"%memory resolve {esc(new.id)} keep, drop or both"), SMALL)
        for new, against in conflicts[:20]
    ]
    more = len(conflicts) - len(shown)
    rest = tag("div", muted(f"{more:,} more: %memory conflicts")) if more > 0 else ""
    words = wording.count(len(conflicts), "conflict")
    inner = "".join(tag("div", each, "margin:5px 0") for each in shown)
    return tag("div", folded(f"<b>{words} to settle</b>", inner + rest), SECTION)
