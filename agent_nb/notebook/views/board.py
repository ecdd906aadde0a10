"""A run under way as small changes: which parts of the page are to be put anew, in which slot."""

from __future__ import annotations

import time
from typing import Any

from ...events import (
    Acted,
    Answered,
    ApprovalAsked,
    ApprovalGiven,
    CallFailed,
    CallStarted,
    Consulted,
    Event,
    Noticed,
    Observed,
    Reflected,
    RunEnded,
    Streamed,
    ToolFinished,
    ToolStarted,
)
from . import calls, head, html, memory, wording
from .markdown import markdown_html
from .story import Run, Step
from .style import SECTION, SMALL, esc, muted, tag

Json = dict[str, Any]

SLOTS = ("head", "line", "load", "plan", "steps", "now", "pictures", "answer", "end")
STREAM_CHARS = 20_000
"""Longest streamed text that is shown while it comes; the whole follows with the step's card."""


class Board:
    """Takes events; gives changes `{"op": "put", "key", "slot", "html"}` and `{"op": "drop", "key"}`.

    Nothing is drawn before `take` asks for it, so that a burst of events costs one drawing of each part.
    Streamed text is cut at blank lines into blocks; a finished block is never drawn again.
    """

    def __init__(self) -> None:
        self.run = Run()
        self._dirty: dict[str, None] = {}
        self._shown: dict[str, Json] = {}
        self._since: dict[str, float] = {}
        self._frozen, self._block = 0, 0
        self._streaming: Step | None = None
        self._over = False

    def add(self, event: Event) -> None:
        """Take up one event."""
        if self._over and not isinstance(event, (Acted, Streamed)):
            self._end_stream()
        self.run.add(event)
        match event:
            case Streamed():
                self._mark("now-text" if event.kind == "text" else "now-aside")
            case CallStarted():
                self._end_stream()
                self._streaming = self.run.step(event.step)
                self._mark("line", "head")
            case Acted():
                self._over = True
                self._mark("head")
            case ToolStarted() | ToolFinished() | ApprovalAsked() | ApprovalGiven():
                self._mark(f"call-{event.step}-{event.id}", "line", "head")
            case CallFailed() | Consulted() | Noticed():
                self._mark(f"remarks-{event.step}", "head")
            case Reflected():
                self._mark(f"remarks-{event.step}")
            case Observed():
                self._mark(f"remarks-{event.step}", "head", "pictures")
            case Answered():
                self._mark("answer", "pictures", "line", "head")
            case RunEnded():
                self._end_stream()
                self._mark("line", "head", "plan", "end")
            case _:
                self._mark("head", "load", "plan", "judge", "consolidate")

    def take(self) -> list[Json]:
        """The changes since the last time, each part once."""
        dirty, self._dirty = self._dirty, {}
        ops: list[Json] = []
        for key in dirty:
            if key == "now-text":
                ops += self._stream()
            elif key.startswith("drop:"):
                ops.append({"op": "drop", "key": key.removeprefix("drop:")})
            else:
                ops += self._put(key, *self._draw(key))
        return ops

    def state(self) -> list[Json]:
        """Everything that stands on the page now, for a page that is new."""
        self.take()
        now = time.monotonic()
        order = {slot: i for i, slot in enumerate(SLOTS)}
        puts = sorted(self._shown.values(), key=lambda op: order[op["slot"]])
        return [{**op, "age": round(now - self._since[op["key"]], 2)} for op in puts]

    # -- drawing ---------------------------------------------------------------------------------------------

    def _mark(self, *keys: str) -> None:
        self._dirty |= dict.fromkeys(keys)

    def _put(self, key: str, slot: str, made: str) -> list[Json]:
        if self._shown.get(key, {"html": ""})["html"] == made:
            return []
        self._since[key] = time.monotonic()
        self._shown[key] = {"op": "put", "key": key, "slot": slot, "html": made}
        return [{**self._shown[key], "age": 0}]

    def _draw(self, key: str) -> tuple[str, str]:
        """(slot, HTML) of a part as the run stands now."""
        run = self.run
        kind, _, rest = key.partition("-")
        match kind:
            case "head":
                return "head", head.head(run, live=True)
            case "load":
                return "load", memory.load(run.loaded, live=True)
            case "plan":
                return "plan", html.plan(run.planned, run.ended is not None)
            case "call":
                number, _, id = rest.partition("-")
                return "steps", self._card(run.step(int(number)), id)
            case "remarks":
                made = calls.remarks_html(run.step(int(rest)))
                return "steps", tag("div", made, SECTION) if made else ""
            case "line":
                return "line", self._line()
            case "now":
                return "now", self._aside()
            case "answer":
                return "answer", html.answer(run)
            case "pictures":
                return "pictures", html.pictures(run)
            case "judge":
                return "end", html.criteria(run)
            case "consolidate":
                return "end", memory.consolidate(run.consolidated, live=True)
        return "end", html.ending(run)

    def _card(self, step: Step, id: str) -> str:
        position, call = next((i, c) for i, c in enumerate(step.calls) if c.id == id)
        return tag("div", calls.card(step, call, position, live=True), SECTION)

    # -- the reply under way ---------------------------------------------------------------------------------

    def _line(self) -> str:
        """What happens at this moment, and since when."""
        run, step = self.run, next(reversed(self.run.steps.values()), None)
        if run.ended is not None or step is None:
            return ""
        call = next((call for call in step.calls if call.state in ("running", "asking")), None)
        if run.answered is not None:
            doing = "writing memory"
        elif call is not None:
            doing = f"{esc(call.name)} {'waits for your word' if call.state == 'asking' else 'is running'}"
        else:
            doing = f"asking {esc(run.started.model if run.started else 'the model')}"
        since = calls.since(call) if call and call.state == "running" else '<span data-since="0"></span>'
        return f"step {step.number} · {doing} · {since}"

    def _aside(self) -> str:
        step = self._streaming
        if step is None:
            return ""
        told = [f"thinking: …{wording.clip(step.thinking[-160:], 160)}"] if step.thinking else []
        told += [f"writing arguments, {step.typed:,} characters"] if step.typed else []
        return tag("div", muted(esc(" · ".join(told))), f"{SMALL};overflow-wrap:anywhere", dir="auto")

    def _stream(self) -> list[Json]:
        if self._streaming is None:
            return []
        text = self._streaming.text[:STREAM_CHARS]
        ops: list[Json] = []
        while (end := _block_end(text, self._frozen)) is not None:
            ops += self._put(f"now-block-{self._block}", "now", markdown_html(text[self._frozen : end]))
            self._frozen, self._block = end, self._block + 1
        if text[self._frozen :].strip():
            ops += self._put(f"now-block-{self._block}", "now", markdown_html(text[self._frozen :]))
        return ops

    def _end_stream(self) -> None:
        for key in [key for key in self._shown if key.startswith("now")]:
            del self._shown[key], self._since[key]
            self._mark(f"drop:{key}")
        for key in [key for key in self._dirty if key.startswith("now")]:
            del self._dirty[key]
        self._frozen, self._block, self._streaming, self._over = 0, 0, None, False


def _block_end(text: str, start: int) -> int | None:
    """Where the block that begins at `start` is finished: behind a blank line that no code fence encloses."""
    at = start
    while (blank := text.find("\n\n", at)) >= 0:
        if text.count("```", start, blank) % 2 == 0 and text[start:blank].strip():
            return blank + 2
        at = blank + 2
    return None
