"""A run as plain text: for terminals, screen readers and code hosts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...events import Answered, Consolidated, Event, Loaded, Planned
from . import wording
from .calls import CODE_FIELDS
from .story import Call, Run, Step, runs

Json = dict[str, Any]

ROWS = 10
COLUMNS = 8
CELL_CHARS = 28
CODE_LINES = 30
MOST_STEPS = 60
ANSWER_CHARS = 60_000


def run_text(events: Iterable[Event]) -> str:
    """The whole trace and the answer of each run among `events`."""
    return "\n\n".join("\n".join(_run(run)) for run in runs(events))


def _run(run: Run) -> list[str]:
    lines = head_lines(run)
    if run.loaded:
        lines += load_lines(run.loaded)
    if run.planned:
        lines += plan_lines(run.planned, run.ended is not None)
    known = list(run.steps.values())
    if len(known) > MOST_STEPS:
        lines.append(f"… {len(known) - MOST_STEPS:,} earlier steps are in the transcript")
    for step in known[-MOST_STEPS:]:
        lines += [f"  ! {kind}: {wording.clip(text, 300)}" for kind, text in step.remarks[:20]]
        for position, call in enumerate(step.calls):
            lines += call_lines(step, call, position)
    if run.answered and run.answered.text.strip():
        lines += ["", *answer_lines(run.answered), ""]
    lines += criteria_lines(run)
    if run.consolidated:
        lines += consolidate_lines(run.consolidated)
    return lines + end_lines(run)


def head_lines(run: Run) -> list[str]:
    """The goal and what the run is made of."""
    if run.started is None:
        return ["a run without its beginning"]
    start = run.started
    reason = wording.reason(start.model_reason)
    goal, rest = wording.cut(start.goal.strip(), 2_000)
    first = f"▶ {goal}" + (f" … {rest}" if rest else "")
    rules = f" · rules “{wording.clip(start.rules, 80)}”" if start.rules.strip() else ""
    return [printable(first), printable(f"  model {start.model}{reason} · session {start.session}{rules}")]


def load_lines(event: Loaded) -> list[str]:
    """What memory gave."""
    if event.note:
        return [printable(f"load   {event.note}")]
    lines = ["load   {}  ({})".format(*wording.loaded(event))]
    for hit in event.hits[:15]:
        score = float(hit.get("score") or 0)
        lines.append(printable(f"       {score:.2f} {hit.get('type')}: {wording.field(hit, 'text', 160)}"))
    for row in event.memo[:15]:
        lines.append(printable(f"       memo {row.get('type')}: {wording.field(row, 'text', 160)}"))
    return lines


def plan_text(events: Iterable[Event]) -> str:
    """The plan of the last run and what reflection found in it."""
    told = runs(events)
    if not told:
        return ""
    run = told[-1]
    lines = plan_lines(run.planned, run.ended is not None) if run.planned else []
    for step in run.steps.values():
        lines += [
            f"  ! step {step.number} {kind}: {wording.clip(text, 400)}"
            for kind, text in step.remarks
            if kind.startswith("reflected")
        ]
    return "\n".join(map(printable, lines))


def plan_lines(event: Planned, over: bool = False) -> list[str]:
    """The plan as a tree, where there is more to it than the goal."""
    nodes = wording.plan_tree(event.subtasks)
    if not nodes and not event.note:
        return []
    note = f"  ({event.note})" if event.note else ""
    lines = [f"plan   {wording.plan_count(event.subtasks) if nodes else 'none'}{note}"]
    for node, depth in nodes:
        result = wording.node_result(node)
        told = (
            f"{wording.field(node, 'id', 20)}. {wording.field(node, 'text', 160)} {wording.node_more(node)}"
        )
        line = f"       {'  ' * depth}{wording.node_sign(node, over)[0]} {told.rstrip()}"
        lines.append(line + (f" → {result}" if result else ""))
    return [printable(line) for line in lines]


def call_lines(step: Step, call: Call, position: int) -> list[str]:
    """One tool call: purpose, code, outcome, the first rows."""
    return [*asked_lines(step, call, position), *result_lines(step, call, position)]


def asked_lines(step: Step, call: Call, position: int) -> list[str]:
    """What is called and why."""
    lines = [
        f"{wording.number(step, position):<3} {call.name}  {wording.label(step, call, position)}".rstrip()
    ]
    rest = dict(call.input)
    for field in CODE_FIELDS:
        if isinstance(rest.get(field), str) and call.name != "recall_memory":
            code = wording.written(field, rest.pop(field)).splitlines()
            lines += [
                f"    | {wording.clip(line, 160) if len(line) > 160 else line}" for line in code[:CODE_LINES]
            ]
            if len(code) > CODE_LINES:
                lines.append(f"    | … {len(code) - CODE_LINES} more lines")
    if rest:
        lines.append("    " + wording.clip(json.dumps(rest, ensure_ascii=False, default=str), 300))
    return [printable(line) for line in lines]


def result_lines(step: Step, call: Call, position: int) -> list[str]:
    """What came back."""
    words, _ = wording.outcome(call)
    facts = [f"ERROR: {words}" if call.state == "error" else words.replace("chart below", "chart drawn")]
    if call.state in ("ok", "error"):
        facts.append(
            "from cache" if call.seen.get("cached") else wording.duration(float(call.seen.get("ms") or 0))
        )
    if position == 0 and step.tokens:
        facts.append(f"{wording.size(step.tokens)} tokens")
    lines = ["    → " + " · ".join(facts)]
    if call.replaced:
        lines.append(f"    → edited by you: {wording.clip(call.replaced, 300)}")
    if call.state == "ok" and call.seen.get("rows"):
        lines += [f"    {line}" for line in table_lines(call)]
    return [printable(line) for line in lines]


def table_lines(call: Call) -> list[str]:
    """The first rows of a table in columns of even width."""
    columns = [wording.clip(name, CELL_CHARS) for name in call.seen["columns"][:COLUMNS]]
    rows = [[_cell(value) for value in row[:COLUMNS]] for row in (call.seen.get("rows") or [])[:ROWS]]
    widths = [
        max([width(name), *(width(row[i]) for row in rows if i < len(row))]) for i, name in enumerate(columns)
    ]
    lines = [
        "  ".join(_pad(cell, w) for cell, w in zip(line, widths, strict=False)).rstrip()
        for line in [columns, *rows]
    ]
    note = wording.table_note(call, len(rows), COLUMNS)
    return [lines[0], "  ".join("─" * w for w in widths), *lines[1:], *([note] if note else [])]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return wording.figure(value)
    return "–" if value is None else wording.clip(str(value), CELL_CHARS)


def width(text: str) -> int:
    """Columns that the text takes in a terminal; a Chinese character takes two."""
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def answer_lines(event: Answered) -> list[str]:
    """The answer; numbers without evidence are marked where they stand."""
    text, rest = wording.cut(event.text.strip("\n"), ANSWER_CHARS)
    shift = len(event.text) - len(event.text.lstrip("\n"))
    for row in sorted(event.evidence, key=lambda row: -int(row["span"][1])):
        end = int(row["span"][1]) - shift
        if not row.get("sources") and 0 < end <= len(text):
            text = f"{text[:end]} [no evidence]{text[end:]}"
    lines = ["(partial answer)"] if event.partial else []
    lines += text.splitlines() + ([f"… {rest}"] if rest else [])
    told = wording.evidence_line(event.evidence)
    sources = dict.fromkeys(row["sources"][0] for row in event.evidence if row.get("sources"))
    if told:
        lines.append(
            f"({told}{': ' if sources else ''}{', '.join(wording.clip(s, 60) for s in list(sources)[:10])})"
        )
    return [printable(line) for line in lines]


def criteria_lines(run: Run) -> list[str]:
    """Whether each acceptance criterion holds."""
    rows = run.judged.criteria if run.judged else []
    signs = {True: "✓", False: "✗", None: "·"}
    told = [
        f"{wording.field(row, 'text', 200)}  {wording.field(row, 'reason', 200)}".rstrip() for row in rows
    ]
    return [printable(f"{signs[row.get('met')]} {line}") for row, line in zip(rows[:50], told, strict=False)]


def consolidate_lines(event: Consolidated) -> list[str]:
    """What was written to memory, and what was left out."""
    lines = [f"memory {wording.consolidated(event)}" + (f" · {event.note}" if event.note else "")]
    lines += [
        f"  + {row.get('type', 'memory')}: {wording.field(row, 'text', 200)}" for row in event.written[:30]
    ]
    lines += [
        f"  - {wording.field(row, 'text', 120)}: {wording.field(row, 'reason', 120)}"
        for row in event.left_out[:30]
    ]
    return [printable(line) for line in lines]


def end_lines(run: Run) -> list[str]:
    """How the run ended and what it took."""
    if run.ended is None:
        return []
    words, _ = wording.status(run)
    told = wording.ending(run)
    reason = f": {wording.clip(told, 300)}" if told else ""
    words_for = {"seconds": "time"}
    used = [
        f"{words_for.get(name, name)} {wording.valve(name, value or 0, limit)}"
        for name, (value, limit) in run.valves.items()
        if name != "cost" or value or (value is not None and limit is not None)
    ]
    back = wording.taken_back(run)
    lines = [f"■ {words}{reason} · {' · '.join(used)}", *([f"  ! {back}"] if back else [])]
    return [printable(line) for line in lines]


def printable(text: str) -> str:
    """Without the controls by which text from outside could drive a terminal."""
    return "".join(
        c if c == "\n" or (c >= " " and not "\x7f" <= c <= "\x9f" and not "\ud800" <= c <= "\udfff") else "�"
        for c in text
    )
