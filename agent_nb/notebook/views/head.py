"""The head of a run: its goal, its status, what it is made of, its valves and stations."""

from __future__ import annotations

from . import window, wording
from .story import Run
from .style import MUTED, SMALL, TINTS, TONES, esc, folded, meter, muted, pill, tag


def head(run: Run, live: bool = False) -> str:
    """Goal, status, what the run is made of, its valves, its stations and its window."""
    words, tone = wording.status(run)
    goal = run.started.goal if run.started else "a run without its beginning"
    top = tag("div", _goal(goal.strip()) + pill(words, tone), "display:flex;gap:12px;align-items:flex-start")
    return tag(
        "div",
        top + _facts(run) + _valves(run, live) + _stations(run) + _window(run, live),
        "padding:10px 14px 9px",
    )


TITLE_CHARS = 300
GOAL_CHARS = 10_000
_GOAL = "flex:1;font-size:14px;white-space:pre-wrap;overflow-wrap:anywhere"


def _goal(goal: str) -> str:
    """The goal; of a long one the beginning, which unfolds to the whole."""
    if len(goal) <= TITLE_CHARS:
        return tag("div", esc(goal), f"{_GOAL};font-weight:600", dir="auto")
    title = goal[:TITLE_CHARS].rsplit(None, 1)[0]
    text, rest = wording.cut(goal, GOAL_CHARS)
    whole = tag("div", esc(text) + muted(esc(f" … {rest}" if rest else "")), f"{SMALL};margin-top:4px")
    summary = f"<b>{esc(title)}</b> {muted(f'… {len(goal):,} characters')}"
    return tag("div", folded(summary, whole), _GOAL, dir="auto")


def _facts(run: Run) -> str:
    if run.started is None:
        return ""
    start = run.started
    reason = wording.reason(start.model_reason)
    facts = [f"model {tag('b', esc(start.model))}{esc(reason)}", f"session {tag('b', esc(start.session))}"]
    if start.planner != "react":
        facts.append(f"planner {esc(start.planner)}")
    if start.rules.strip():
        facts.append(f"rules “{esc(wording.clip(start.rules, 80))}”")
    if start.resumes:
        facts.append("goes on with an earlier run")
    return tag("div", " · ".join(facts), f"{SMALL};{MUTED};margin-top:3px;overflow-wrap:anywhere")


def _valves(run: Run, live: bool) -> str:
    cells = []
    for name, (used, limit) in run.valves.items():
        if limit is None and (used is None or (name == "cost" and not used)):
            continue  # no price is known, or nothing is paid
        share = float(used or 0) / limit if limit else 0.0
        tone = "bad" if share >= 1 else "warn" if share >= 0.8 else "live"
        shown = esc(wording.valve(name, used or 0, limit))
        if name == "seconds" and live and wording.status(run)[1] == "live":  # waiting costs nothing
            shown = f'<span data-seconds="{used or 0}" data-limit="{limit or ""}">{shown}</span>'
        word = "time" if name == "seconds" else name
        text = tag("span", f"{muted(word)} {shown}", "white-space:nowrap")
        cells.append(tag("span", text + meter(share, tone), "flex:1;min-width:105px;max-width:180px"))
    look = (
        f"display:flex;flex-wrap:wrap;gap:4px 18px;margin-top:7px;{SMALL};font-variant-numeric:tabular-nums"
    )
    return tag("div", " ".join(cells), look)


def _window(run: Run, live: bool) -> str:
    """What filled the window of the call under way, or of the last one."""
    step = next((step for step in reversed(run.steps.values()) if step.window), None)
    return window.folded_bar(step.window if step else [], step.left_out if step else [], live)


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
        passed = i < here
        if name in ("observe", "judge"):
            passed = run.judged is not None
        elif name == "consolidate":
            passed = run.consolidated is not None
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
