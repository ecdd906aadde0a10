"""Events folded into what a reader thinks in: a run with its steps and their calls."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

from ...events import (
    Acted,
    Answered,
    ApprovalAsked,
    ApprovalGiven,
    CallFailed,
    CallStarted,
    Consolidated,
    Consulted,
    Event,
    Judged,
    Loaded,
    Noticed,
    Observed,
    Planned,
    Reflected,
    Rewound,
    RunEnded,
    RunStarted,
    Streamed,
    ToolFinished,
    ToolStarted,
)

Json = dict[str, Any]


@dataclasses.dataclass
class Call:
    """One tool call. `state`: running, asking, ok, error, denied, stopped; `seen`: its observation, or empty."""

    id: str
    name: str
    input: Json
    effect: str = "read"
    state: str = "running"
    takes: float = 0.0
    """Seconds that its tool declares, 0 where it declares none."""
    seen: Json = dataclasses.field(default_factory=dict)
    verdict: ApprovalGiven | None = None
    replaced: str = ""
    """The result that the user put in place of this one afterwards."""

    @property
    def body(self) -> Json:
        """The JSON object in the observation's first text block, or {}."""
        for block in self.seen.get("content") or []:
            if isinstance(block, dict) and block.get("type") == "text":
                try:
                    body = json.loads(block.get("text") or "")
                except ValueError:
                    return {}
                return body if isinstance(body, dict) else {}
        return {}

    @property
    def raw(self) -> str:
        """All text blocks of the observation, joined."""
        blocks = [b for b in self.seen.get("content") or [] if isinstance(b, dict)]
        return "\n".join(str(b.get("text") or "") for b in blocks if b.get("type") == "text")


@dataclasses.dataclass
class Step:
    """One model call and the tool calls that it named."""

    number: int
    window: list[Json] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)
    remarks: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    """(kind, sentence): retries, notices, criteria that sent the answer back."""
    text: str = ""
    thinking: str = ""
    typed: int = 0
    """Characters of tool arguments streamed so far."""
    calls: list[Call] = dataclasses.field(default_factory=list)
    tokens: int = 0
    ms: float = 0.0
    acted: bool = False
    several: bool = False
    """Whether it makes more than one call."""


@dataclasses.dataclass
class Run:
    """Everything known of one run; `add` takes its events in their order."""

    started: RunStarted | None = None
    loaded: Loaded | None = None
    planned: Planned | None = None
    judged: Judged | None = None
    answered: Answered | None = None
    consolidated: Consolidated | None = None
    ended: RunEnded | None = None
    rewound: Rewound | None = None
    """How it was taken back afterwards; what its steps show is what they brought at the time."""
    steps: dict[int, Step] = dataclasses.field(default_factory=dict)
    tokens: int = 0
    cost: float | None = None
    station: str = "load"

    def step(self, number: int) -> Step:
        """The step of that number, made where it is new."""
        return self.steps.setdefault(number, Step(number))

    def add(self, event: Event) -> None:
        """Take up one event. Events of a kind that is not known change nothing."""
        match event:
            case RunStarted():
                self.started = event
            case Loaded():
                self.loaded, self.station = event, "plan"
            case Planned():
                if not event.note and self.planned is not None:
                    event = dataclasses.replace(event, note=self.planned.note)
                self.planned, self.station = event, "act"
            case CallStarted() | Streamed() | CallFailed() | Acted():
                self.station = "act"
                self._call(self.step(event.step), event)
            case ToolStarted() | ApprovalAsked() | ApprovalGiven() | ToolFinished():
                self.station = "act"
                self._tool(self.step(event.step), event)
            case Observed():
                self.station = "judge"
                self._sent_back(event)
            case Judged():
                self.judged = event
                self.station = "act" if event.verdict == "go_on" else "consolidate"
            case Answered():
                self.answered, self.station = event, "consolidate"
            case Consolidated():
                self.consolidated = event
            case Reflected():
                self.step(event.step).remarks.append((f"reflected ({event.level})", _reflection(event)))
            case Consulted():
                self._consulted(event)
            case Noticed():
                self.step(event.step).remarks.append(("notice", event.text))
            case Rewound():
                self.rewound = event
                for _, call, _ in self.cards:
                    call.replaced = str(event.results.get(call.id) or call.replaced)
            case RunEnded():
                self.ended, self.station = event, ""
                for _, call, _ in self.cards:
                    call.state = "stopped" if call.state in ("running", "asking") else call.state

    def _call(self, step: Step, event: Event) -> None:
        if isinstance(event, CallStarted):
            step.window, step.left_out = event.window, event.left_out
            step.text, step.thinking, step.typed = "", "", 0
        elif isinstance(event, Streamed):
            if event.kind == "text":
                step.text += event.text
            elif event.kind == "thinking":
                step.thinking += event.text
            else:
                step.typed += len(event.text)
        elif isinstance(event, CallFailed):
            wait = f"; again in {event.wait_s:g} s" if event.wait_s is not None else ""
            step.remarks.append(("retry", f"{event.error}{wait}"))
        elif isinstance(event, Acted):
            step.acted, step.ms, step.several = True, event.ms, len(event.calls) > 1
            step.text = _joined(event.message, "text", "text")
            step.thinking = _joined(event.message, "thinking", "thinking")
            used = tokens_of(event.usage)
            step.tokens += used
            self.tokens += used
            if event.cost is not None:
                self.cost = (self.cost or 0.0) + event.cost

    def _consulted(self, event: Consulted) -> None:
        """A call beside the conversation: it counts, and its place is told."""
        used = tokens_of(event.usage)
        if not event.beside:
            self.tokens += used
            if event.cost is not None:
                self.cost = (self.cost or 0.0) + event.cost
        took = f", {event.ms / 1_000:.1f} s" if event.ms else ""
        came = f"; {event.fault}" if event.fault else ""
        said = f"the model was asked for {event.what} ({used:,} tokens{took}){came}"
        self.step(event.step).remarks.append(("asked", said))

    def _tool(self, step: Step, event: Event) -> None:
        assert isinstance(event, (ToolStarted, ApprovalAsked, ApprovalGiven, ToolFinished))
        call = next((c for c in step.calls if c.id == event.id), None)
        if call is None:
            call = Call(event.id, getattr(event, "name", "?"), getattr(event, "input", None) or {})
            step.calls.append(call)
        if isinstance(event, ToolStarted):
            call.effect, call.takes = event.effect, event.takes
        elif isinstance(event, ApprovalAsked):
            call.state, call.effect = "asking", event.effect
        elif isinstance(event, ApprovalGiven):
            call.verdict, call.state = event, "running" if event.verdict == "approve" else "denied"
            call.input = event.input or call.input
        else:
            call.seen = event.observation
            denied = event.observation.get("kind") == "denied"
            call.state = "denied" if denied else "ok" if event.observation.get("ok") else "error"
            call.input = event.observation.get("input") or call.input

    def _sent_back(self, event: Observed) -> None:
        blocks = [b for b in event.message.get("content") or [] if isinstance(b, dict)]
        if blocks and not any(b.get("type") == "tool_result" for b in blocks):
            text = _joined(event.message, "text", "text")
            self.step(event.step).remarks.append(("next" if text.startswith("Go on.") else "sent back", text))

    # -- what the head shows ---------------------------------------------------------------------------------

    @property
    def valves(self) -> Json:
        """Valve → [used, limit or None], as far as it is known now."""
        limits = self.started.limits if self.started else {}
        last = self.judged.valves if self.judged else {}
        used: Json = {
            "steps": max(self.steps, default=0),
            "tokens": max(self.tokens, (last.get("tokens") or [0])[0] or 0),
            "cost": self.cost if self.cost is not None else (last.get("cost") or [None])[0],
            "seconds": self.ended.seconds if self.ended else (last.get("seconds") or [0.0])[0] or 0.0,
        }
        if self.ended:
            used["tokens"] = max(used["tokens"], tokens_of(self.ended.usage))
            if self.ended.usage.get("cost") is not None:
                used["cost"] = self.ended.usage["cost"]
        return {name: [value, limits.get(name)] for name, value in used.items()}

    @property
    def cards(self) -> list[tuple[Step, Call, int]]:
        """(step, call, position in its step) in order."""
        return [(step, call, i) for step in self.steps.values() for i, call in enumerate(step.calls)]

    @property
    def pictures(self) -> list[Json]:
        """Artifacts of all calls, in order."""
        return [picture for _, call, _ in self.cards for picture in call.seen.get("artifacts") or []]


def _reflection(event: Reflected) -> str:
    """What follows, and for how long; a rule is told by its own text."""
    last = event.rule.get("until")
    return event.text + (f" (until step {last})" if isinstance(last, int) else "")


def runs(events: Iterable[Event]) -> list[Run]:
    """The runs that the events tell of, in order; events without a start make a run of their own."""
    found: list[Run] = []
    for event in events:
        if not found or isinstance(event, RunStarted):
            found.append(Run())
        found[-1].add(event)
    return found


def tokens_of(usage: Json) -> int:
    """Input, output and cache tokens, in the Messages API's names or in those of `task.Usage`."""
    return sum(int(usage.get(name) or 0) for name in _TOKEN_FIELDS)


_TOKEN_FIELDS = (
    *("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    *("input", "output", "cache_read", "cache_write"),
)


def _joined(message: Json, kind: str, field: str) -> str:
    blocks = message.get("content") or []
    if isinstance(blocks, str):
        return blocks if kind == "text" else ""
    texts = [str(b.get(field) or "") for b in blocks if isinstance(b, dict) and b.get("type") == kind]
    return "\n\n".join(text for text in texts if text.strip())
