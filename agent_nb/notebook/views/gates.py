"""The recall of a question drawn as four gates: what entered each, what left it, and the number that decided."""

from __future__ import annotations

from typing import Any

from . import wording
from .style import BAR, FRAME, LINE, MUTED, SMALL, TINTS, TONES, esc, folded, meter, muted, tag, toned
from .style import reference as ref

Json = dict[str, Any]

PARTS = tuple(zip(("similarity", "importance", "freshness"), (0.5, 0.3, 0.2), BAR, strict=False))
"""Name, share of the score and colour of what a score is made of."""
ROWS = 14
"""Records that gate 3 shows at most; of those that fell short the nearest."""
_BOX = f"flex:1 1 230px;min-width:0;border:{LINE};border-radius:6px;padding:6px 10px 7px;{SMALL}"


def recall_html(recall: Json, live: bool = False) -> str:
    """A recall on its own: a dict of query, hits, gates, tokens, ms, as in `events.Loaded`."""
    hits = recall.get("hits") or []
    said = [f"{len(hits)} recalled", f"{recall.get('tokens') or 0:,} tokens"]
    said.append(wording.duration(float(recall.get("ms") or 0.0)))
    title = f"<b>recall</b> &nbsp;“{esc(wording.field(recall, 'query', 200))}”"
    top = tag("div", f"{title} &nbsp;{muted(esc(' · '.join(said)))}", "overflow-wrap:anywhere", dir="auto")
    nothing = "" if hits else tag("div", "Nothing in memory is close enough.", f"{MUTED};margin-top:4px")
    inner = top + nothing + gates_html(recall.get("gates") or [], hits, live)
    return tag("div", tag("div", inner, "padding:9px 14px"), FRAME)


def gates_html(gates: list[Json], hits: list[Json], live: bool = False) -> str:
    """The gates from left to right and top to bottom; what a transcript does not tell is left out."""
    named = {str(gate.get("name")): gate for gate in gates if isinstance(gate, dict)}
    first = "".join(
        _box(number, named[name], draw(named[name]))
        for number, name, draw in ((1, "query", _query), (2, "candidates", _candidates))
        if name in named
    )
    rows = _rows(named.get("score", {}), hits)
    third = _box(3, named["score"], _score(named["score"], rows, live), "100%") if "score" in named else ""
    fourth = (
        _box(4, named["budget"], _budget(named["budget"], hits, live), "100%") if "budget" in named else ""
    )
    if not (first or third or fourth):
        return _scores(rows, {}, live) if rows else ""
    return tag("div", first + third + fourth, "display:flex;flex-wrap:wrap;gap:7px;margin:7px 0 3px")


def _box(number: int, gate: Json, inner: str, basis: str = "") -> str:
    """A gate: its number and name, how many entered and left, and what it did."""
    entered, left = (_whole(gate.get(name)) for name in ("entered", "left"))
    told = f"{entered:,} → <b>{left:,}</b>"
    if "terms" in gate:
        told = f"{wording.count(entered, 'character')} → <b>{wording.count(left, 'term')}</b>"
    mark = f"display:inline-block;width:17px;text-align:center;border-radius:9px;background:{TINTS['memory']}"
    head = f"{tag('span', str(number), mark)} <b>{esc(gate.get('name', ''))}</b> &nbsp;{told}"
    share = meter(left / entered, "memory") if number > 1 and entered else ""
    return tag("div", tag("div", head) + share + inner, _BOX + (f";flex-basis:{basis}" if basis else ""))


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _why(gate: Json, chars: int = 300) -> str:
    told = wording.field(gate, "why", chars)
    return tag("div", esc(told), f"{MUTED};margin-top:4px;overflow-wrap:anywhere", dir="auto") if told else ""


# -- gates 1 and 2 -------------------------------------------------------------------------------------------


def _chip(text: Any, tone: str = "quiet") -> str:
    look = f"display:inline-block;margin:3px 4px 0 0;padding:0 7px;border-radius:8px;background:{TINTS[tone]}"
    return tag("span", esc(wording.clip(text, 60)), look, dir="auto")


def _query(gate: Json) -> str:
    """The terms that are looked for, and what was made of pronouns, dates and synonyms."""
    if not isinstance(gate.get("terms"), list):
        return _why(gate)
    chips = [_chip(term) for term in gate["terms"][:30]] or [muted("nothing to look for")]
    chips += [_chip(" → ".join(map(str, pair)), "live") for pair in gate.get("resolved") or []]
    chips += [_chip(f"{d.get('words')}: {_days(d)}", "warn") for d in gate.get("dates") or []]
    chips += [_chip(" = ".join(map(str, pair)), "memory") for pair in gate.get("synonyms") or []]
    more = len(gate["terms"]) - 30
    return tag("div", "".join(chips) + (muted(f" and {more} more") if more > 0 else ""), "margin-top:2px")


def _days(span: Json) -> str:
    return " … ".join(str(span.get(end) or "")[:10] for end in ("from", "to"))


def _candidates(gate: Json) -> str:
    """Found by words, by meaning, by both; and what was not looked at."""
    if "lexical" not in gate:
        return _why(gate)
    words, near, both = (_whole(gate.get(name)) for name in ("lexical", "embedding", "both"))
    parts = [
        ("by words", words - both, BAR[0]),
        ("by both", both, BAR[3]),
        ("by meaning", near - both, BAR[2]),
    ]
    shown = [part for part in parts if part[1] > 0]
    bar = "".join(tag("span", "", f"flex:{n};background:{color}") for _, n, color in shown)
    legend = " &nbsp;".join(f"{_square(color)} {name} {n:,}" for name, n, color in shown)
    out = ", ".join(f"{n:,} {name}" for name, n in (gate.get("out") or {}).items() if n)
    why = str(gate.get("why") or "")
    told = [f"out: {out}"] if out else []
    told += [why[why.index("constraints") :]] if "; constraints" in why else []
    look = "display:flex;height:8px;border-radius:3px;overflow:hidden;margin:6px 0 3px"
    lines = "".join(
        tag("div", esc(wording.clip(line, 300)), f"{MUTED};overflow-wrap:anywhere") for line in told
    )
    return (tag("div", bar, look) + tag("div", legend) if shown else "") + lines


def _square(color: str) -> str:
    return tag("span", "", f"display:inline-block;width:8px;height:8px;border-radius:2px;background:{color}")


# -- gate 3 --------------------------------------------------------------------------------------------------


def _rows(gate: Json, hits: list[Json]) -> list[Json]:
    """What gate 3 lists with what is known of the hits besides; an old transcript lists the hits alone."""
    known = {str(hit.get("id")): hit for hit in hits}
    listed = [row for row in gate.get("listed") or [] if isinstance(row, dict)]
    rows = [{**known.get(str(row.get("id")), {}), **row} for row in listed]
    return rows or [{**hit, "passed": True} for hit in hits]


def _score(gate: Json, rows: list[Json], live: bool) -> str:
    passed = [row for row in rows if row.get("passed")]
    short = [row for row in rows if not row.get("passed")]
    shown = passed[:ROWS]
    near = short[: max(2, ROWS - len(shown))]
    hidden = len(passed) - len(shown) + len(short) - len(near) + _whole(gate.get("unlisted"))
    table = _scores(shown, gate, live)
    if near:
        words = f"{len(short) + _whole(gate.get('unlisted')):,} fell short"
        table += folded(muted(words), _scores(near, gate, live)) if shown else _scores(near, gate, live)
    rest = tag("div", muted(f"{hidden:,} more are not drawn"), "margin-top:2px") if hidden > 0 else ""
    # The legend tells the threshold; what else the gate says follows behind it.
    more = (
        {"why": str(gate.get("why") or "").partition("; ")[2]} if gate.get("threshold") is not None else gate
    )
    return _legend(gate) + table + rest + _why(more)


def _legend(gate: Json) -> str:
    names = " &nbsp;".join(f"{_square(color)} {name} ×{weight:g}" for name, weight, color in PARTS)
    line = ""
    if gate.get("threshold") is not None:
        mark = tag("span", "", f"display:inline-block;width:2px;height:10px;background:{TONES['bad']}")
        line = f" &nbsp;{mark} threshold {float(gate['threshold']):g}"
        line += f", similarity at least {float(gate.get('floor') or 0):g}"
    return tag("div", names + line, f"{MUTED};margin:4px 0 2px")


def _scores(rows: list[Json], gate: Json, live: bool) -> str:
    """A line for each record: its score, the bar of its parts with the threshold across, its text."""
    line = gate.get("threshold")
    lines = "".join(_scored(row, None if line is None else float(line), live) for row in rows)
    return tag("div", lines, "margin:2px 0")


def _scored(row: Json, line: float | None, live: bool) -> str:
    values = [(name, weight, color, _unit(row.get(name))) for name, weight, color in PARTS]
    told = " · ".join(f"{name} {value:.2f}" for name, _, _, value in values)
    bar = _bar([(weight * value, color) for _, weight, color, value in values], line)
    passed = row.get("passed")
    about = [str(row[name]) for name in ("type", "source") if row.get(name)]
    about += [str(row["created"])[:10]] if row.get("created") else []
    about += [wording.field(row, "reason", 200)] if row.get("reason") else []
    text = tag("span", esc(wording.field(row, "text", 400)), "overflow-wrap:anywhere", dir="auto")
    id = f" {ref(row['id'], live)}" if row.get("id") else ""
    said = tag(
        "div", f"{text} {muted(esc(' · '.join(about)))}{id}", "flex:3 1 200px;min-width:0;padding:2px 0"
    )
    sign = toned("✓", "good") if passed else toned("✗", "quiet")
    number = tag("span", f"{sign} <b>{_unit(row.get('score')):.2f}</b>", "flex:0 0 52px;padding-top:2px")
    look = "flex:2 1 150px;min-width:110px;max-width:300px;align-self:stretch;padding-top:5px"
    look += ";display:flex;align-items:flex-start"
    shown = number + tag("div", bar, look, title=told) + said
    style = "display:flex;flex-wrap:wrap;gap:0 12px;align-items:flex-start"
    return tag("div", shown, style + ("" if passed else ";opacity:.72"))


def _unit(value: Any) -> float:
    return max(0.0, min(1.0, float(value))) if isinstance(value, (int, float)) and value == value else 0.0


def _bar(parts: list[tuple[float, str]], line: float | None) -> str:
    """Parts of a whole of 1 side by side, and a line where the threshold is, whatever it cuts through."""
    mark = tag("span", "", f"flex:0 0 2px;align-self:stretch;margin-top:-5px;background:{TONES['bad']}")
    cells, at = [], 0.0
    for size, color in [*parts, (1 - sum(size for size, _ in parts), "rgba(128,128,128,.16)")]:
        crossed = line is not None and at <= line < at + size
        for i, cut in enumerate([line - at, at + size - line] if crossed and line is not None else [size]):
            cells.append(mark if i else "")
            cells.append(
                tag("span", "", f"flex:{100 * cut:.2f} 0 0;height:8px;background:{color}") if cut > 0 else ""
            )
        at += size
    return "".join(cells)


# -- gate 4 --------------------------------------------------------------------------------------------------


def _budget(gate: Json, hits: list[Json], live: bool) -> str:
    """The budget as a tank that the records fill; one that did not fit stands beside it, whole."""
    budget = _whole(gate.get("budget"))
    if not budget:
        return _why(gate)
    texts = {str(hit.get("id")): wording.field(hit, "text", 120) for hit in hits}
    taken = [row for row in gate.get("taken") or [] if isinstance(row, dict)]
    taken = taken or ([{"id": "", "tokens": _whole(gate.get("used"))}] if gate.get("used") else [])
    blocks, lines = [], []
    for i, row in enumerate(taken):
        color, size = BAR[i % len(BAR)], _whole(row.get("tokens"))
        look = f"flex:0 0 {min(100, 100 * size / budget):.1f}%;min-height:2px;background:{color}"
        blocks.append(tag("span", "", look, title=f"{size} tokens"))
        name = ref(row["id"], live) if row.get("id") else muted("what entered")
        said = tag("span", esc(texts.get(str(row.get("id")), "")), "overflow-wrap:anywhere", dir="auto")
        lines.append(f"{_square(color)} {size:,} tokens &nbsp;{said} {name}")
    for row in (gate.get("skipped") or [])[:8]:
        name = ref(row.get("id"), live)
        lines.append(
            toned(f"✗ {_whole(row.get('tokens')):,} tokens did not fit, skipped whole", "warn") + f" {name}"
        )
    used = _whole(gate.get("used"))
    told = wording.field(gate, "why", 300) or f"{used:,} of {budget:,} tokens"
    lines.append(muted(esc(f"{told}; {budget - used:,} are free")))
    room = "display:flex;flex-direction:column-reverse;flex:0 0 62px;height:96px;overflow:hidden"
    walls = "2px solid rgba(128,128,128,.55)"
    tank = tag(
        "div",
        "".join(blocks),
        f"{room};border-left:{walls};border-right:{walls};border-bottom:{walls};border-radius:0 0 7px 7px",
        title=f"{used} of {budget} tokens",
    )
    shown = "".join(tag("div", line, "margin-bottom:1px;overflow-wrap:anywhere") for line in lines)
    whole = tank + tag("div", shown, "flex:1 1 200px;min-width:0")
    return tag("div", whole, "display:flex;gap:14px;margin-top:6px;align-items:flex-start")
