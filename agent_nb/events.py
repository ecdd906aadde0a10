"""What can happen in a run: one frozen class each. Views and transcripts know nothing else.

The six stations have one event each: Loaded, Planned, Acted, Observed, Judged, Consolidated. The others tell
what happens on the way: RunStarted, CallStarted, Requested, Streamed, CallFailed, Consulted, ToolStarted,
ApprovalAsked, ApprovalGiven, ToolFinished, Reflected, Answered, RunEnded, Rewound, Noticed. Planned comes again
whenever the plan has changed.

All fields are plain JSON values (dict, list, str, int, float, bool, None), so that an event written to a
transcript and read back is equal to the one that was shown.
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, ClassVar

Json = dict[str, Any]


def now() -> str:
    """The present moment, UTC, ISO 8601 with milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened in run `run`, at its step `step` (0 before the first model call)."""

    run: str
    step: int = 0
    at: str = dataclasses.field(default_factory=now)

    saved: ClassVar[bool] = True
    """Whether it goes into the transcript (streamed deltas do not: the whole message follows; nor do requests)."""

    def to_dict(self) -> Json:
        """One transcript line: the class's name under "event", then the fields."""
        return {"event": type(self).__name__, **vars(self)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    """A goal was taken up. `message` is the user message that opens the turn."""

    goal: str
    message: Json
    session: str
    model: str
    model_reason: str = ""
    """Why this model: "-m offline", "no credentials found", …"""
    planner: str = "react"
    limits: Json = dataclasses.field(default_factory=dict)
    tools: list[str] = dataclasses.field(default_factory=list)
    user: str = ""
    cell: str = ""
    """Id of the notebook cell; a later turn of the same cell replaces this one."""
    approve: str = ""
    """What happens to calls that write: ask, auto or never."""
    use: list[str] = dataclasses.field(default_factory=list)
    """Names of the variables that were handed over."""
    rules: str = ""
    """The notebook's standing instructions, as they stood in the window."""
    resumes: str = ""
    """Id of the run that this one goes on with, or ""."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loaded(Event):
    """Station load: what memory gave for the goal.

    `hits`: dicts of id, text, type, source, created, score, similarity, importance, freshness, reason.
    `gates`: four dicts of name, entered (int), left (int), why (str) and details of that gate's own.
    """

    query: str
    hits: list[Json] = dataclasses.field(default_factory=list)
    gates: list[Json] = dataclasses.field(default_factory=list)
    memo: list[Json] = dataclasses.field(default_factory=list)
    """Profile, constraints and standing preferences that entered without a search; rows as in `hits`."""
    total: int = 0
    """Memories that this user has."""
    tokens: int = 0
    ms: float = 0.0
    note: str = ""
    """Why nothing was loaded ("no memory in this run"), or ""."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Planned(Event):
    """Station plan: subtasks (task.Subtask as dicts) and acceptance criteria (text, met, reason).

    It comes again when the plan has changed; `note` then says why, where there is more to say than a status.
    """

    planner: str
    subtasks: list[Json] = dataclasses.field(default_factory=list)
    criteria: list[Json] = dataclasses.field(default_factory=list)
    note: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallStarted(Event):
    """The model is being asked. `window`: dicts of part, tokens; `left_out`: what did not fit, in words."""

    attempt: int = 1
    window: list[Json] = dataclasses.field(default_factory=list)
    left_out: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Requested(Event):
    """The request as it is sent: messages, system, tools, max_tokens. The transcript has its parts already."""

    request: Json
    saved: ClassVar[bool] = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Streamed(Event):
    """A piece of the reply under way. `kind`: text, thinking or input_json (then `id` is the tool_use's)."""

    kind: str
    text: str
    id: str = ""
    saved: ClassVar[bool] = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class CallFailed(Event):
    """A model call failed; with `wait_s` it is tried again after that many seconds."""

    error: str
    attempt: int = 1
    wait_s: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Acted(Event):
    """Station act: the model's whole reply, and the tool calls it names (id, name, input).

    `message` has role and content only and is part of the history. `kept` is False where the reply was
    shown but must not enter the history (a refusal, a truncated tool call, an empty one).
    """

    message: Json
    calls: list[Json] = dataclasses.field(default_factory=list)
    stop_reason: str = ""
    usage: Json = dataclasses.field(default_factory=dict)
    cost: float | None = None
    ms: float = 0.0
    kept: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class Consulted(Event):
    """The model was asked one question beside the conversation: for a plan, whether criteria hold, what to remember.

    `what`: what for, in a few words; `prompt`: what was asked; `text`: the reply; `fault`: why there is none, or "".
    `beside`: it is of no run (finished turns were distilled), so that only the session's sums count it.
    """

    what: str
    prompt: str = ""
    text: str = ""
    fault: str = ""
    beside: bool = False
    usage: Json = dataclasses.field(default_factory=dict)
    cost: float | None = None
    ms: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToolStarted(Event):
    """A tool call begins. `effect`: read, write or external; `takes`: the seconds that its tool declares."""

    id: str
    name: str
    input: Json
    effect: str = "read"
    takes: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class ApprovalAsked(Event):
    """A tool that writes waits for the user's word."""

    id: str
    name: str
    input: Json
    effect: str = "write"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ApprovalGiven(Event):
    """The word came. `verdict`: approve or deny; `by`: widget, input, policy; `input`: as edited."""

    id: str
    verdict: str
    by: str = "policy"
    reason: str = ""
    input: Json = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToolFinished(Event):
    """A tool call ended. `observation` is task.Observation as a dict."""

    id: str
    name: str
    observation: Json


@dataclasses.dataclass(frozen=True, kw_only=True)
class Observed(Event):
    """Station observe: the one user message that carries every result of the step back to the model."""

    message: Json


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judged(Event):
    """Station judge. `verdict`: done, go_on or stop; `valves`: dict of valve → [used, limit or None]."""

    verdict: str
    reason: str = ""
    criteria: list[Json] = dataclasses.field(default_factory=list)
    valves: Json = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reflected(Event):
    """The run looked at itself. `level`: task (another way), strategy (change the plan), cognition (a rule).

    `trigger`: what was counted, in a few words; `text`: what follows from it, as the model reads it;
    `rule`: the rule of `planning.rules` that holds from the next step on.
    """

    level: str
    trigger: str
    text: str
    rule: Json = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answered(Event):
    """The answer, whole or partial. `evidence`: dicts of text, span, value, sources, formula."""

    text: str
    evidence: list[Json] = dataclasses.field(default_factory=list)
    partial: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Consolidated(Event):
    """Station consolidate: what was written to memory, and what was left out and why.

    `written`: dicts of id, text, type, source, action (added, merged, superseded, pending).
    `left_out`: dicts of text, reason.
    """

    written: list[Json] = dataclasses.field(default_factory=list)
    left_out: list[Json] = dataclasses.field(default_factory=list)
    ms: float = 0.0
    note: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Noticed(Event):
    """Something the user should know, in a sentence."""

    text: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rewound(Event):
    """The turn of `run` was taken back to the end of its step `step`: what came after it no longer counts.

    `results`: tool_use id → text of the result that its user put in place of what the tool brought.
    """

    results: Json = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunEnded(Event):
    """The run is over. `usage`: input, output, cache_read, cache_write, calls, cost (dollars or None)."""

    stop_reason: str
    reason: str = ""
    done: bool = False
    usage: Json = dataclasses.field(default_factory=dict)
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unknown(Event):
    """A line of a transcript that is damaged or that a newer version wrote: kept, shown by name, else ignored."""

    name: str = ""
    fields: Json = dataclasses.field(default_factory=dict)

    def to_dict(self) -> Json:
        """The line as it was read."""
        return {"event": self.name, "run": self.run, "step": self.step, "at": self.at, **self.fields}


_CLASSES = {cls.__name__: cls for cls in Event.__subclasses__()}


_TYPES: dict[str, Any] = {"str": str, "bool": bool, "Json": dict, "list[Json]": list, "list[str]": list}
_TYPES |= {"int": int, "float": (int, float), "float | None": (int, float, type(None))}


def from_dict(line: Json) -> Event:
    """The event of one transcript line. Unknown names and fields of a newer version do no harm."""
    line = dict(line)
    name = str(line.pop("event", ""))
    head: Json = {
        "run": str(line.pop("run", "")),
        "step": int(line.pop("step", 0)),
        "at": str(line.pop("at", "")),
    }
    cls = _CLASSES.get(name)
    if cls is None or cls is Unknown:
        return Unknown(**head, name=name, fields=line)
    known = {f.name: _TYPES.get(str(f.type), object) for f in dataclasses.fields(cls)}
    if not all(isinstance(v, known[k]) for k, v in line.items() if k in known):
        return Unknown(**head, name=name, fields=line)  # damaged: nobody who reads events has to expect it
    try:
        return cls(**head, **{k: v for k, v in line.items() if k in known})
    except TypeError:
        return Unknown(**head, name=name, fields=line)
