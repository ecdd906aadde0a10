"""The work order of one goal: everything the stations read and write, as plain values."""

from __future__ import annotations

import dataclasses
from typing import Any

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Observation:
    """What one tool call brought back.

    Args:
        id: the tool_use's id.
        name: the tool's name.
        input: the arguments as they were run (after the user's edits).
        ok: False for an error; it goes back with `is_error: true`.
        content: Messages API content blocks (text, image) as the model gets them. The first text block is
            one JSON object: `{"ok": true, ...}` or `{"ok": false, "error": …}`; see `tools/result.py`.
        value_name: name under which the whole value stays in the kernel ("_r1"), or "".
        columns, rows: the shown part of a table, else empty.
        total_rows: rows of the whole table, or None where it is no table.
        artifacts: pictures, each {"mime": "image/png", "data": base64 text, "name": …}.
        effect: read, write or external.
        ms: milliseconds it took.
        cached: the same read call was answered before in this session.
        keys: declared key outputs (ids, statuses) for the task-state slot.
        kind: "" or why it was not run: unknown_tool, bad_input, invented, denied, not_allowed, ruled_out (by a
            temporary rule of this run), interrupted, failed.
        edited: the user took the run back and put this result in place of what the tool brought.
    """

    id: str
    name: str
    input: Json
    ok: bool
    content: list[Json]
    value_name: str = ""
    columns: list[str] = dataclasses.field(default_factory=list)
    rows: list[list[Any]] = dataclasses.field(default_factory=list)
    total_rows: int | None = None
    artifacts: list[Json] = dataclasses.field(default_factory=list)
    effect: str = "read"
    ms: float = 0.0
    cached: bool = False
    keys: Json = dataclasses.field(default_factory=dict)
    kind: str = ""
    edited: bool = False

    @classmethod
    def from_dict(cls, row: Json) -> Observation:
        """The observation of a transcript; fields that another version had are left out."""
        known = {field.name for field in dataclasses.fields(cls)}
        blank: Json = {"id": "", "name": "", "input": {}, "ok": False, "content": []}
        told = {key: value for key, value in row.items() if key in known}
        if not isinstance(told.get("content", []), list):
            told["content"] = [{"type": "text", "text": str(told["content"])}]
        return cls(**blank | told)

    @property
    def text(self) -> str:
        """The text blocks, joined: what the model reads."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")

    def block(self) -> Json:
        """The tool_result block that carries it back."""
        block: Json = {"type": "tool_result", "tool_use_id": self.id, "content": self.content}
        return block if self.ok else block | {"is_error": True}


@dataclasses.dataclass
class Subtask:
    """A node of the plan.

    Args:
        id: as the plan names it.
        text: what is to be found out or done.
        status: pending, running, done, failed or skipped.
        needs: ids of the subtasks that must be done or skipped before it.
        expects: what its result should look like ("at least 1 row"), or "".
        result: what it brought, or why it failed, in a few words.
        fails: steps of it in which every call failed.
    """

    id: str
    text: str
    status: str = "pending"
    needs: list[str] = dataclasses.field(default_factory=list)
    expects: str = ""
    result: str = ""
    fails: int = 0


@dataclasses.dataclass
class Criterion:
    """One acceptance criterion. `met` is None until it was judged."""

    text: str
    met: bool | None = None
    reason: str = ""


@dataclasses.dataclass
class Usage:
    """Tokens of all successful calls of a run; `cost` in US dollars, None where no price is known."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    calls: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """Everything that counts against the token valve."""
        return self.input + self.output + self.cache_read + self.cache_write

    def include(self, other: Json) -> None:
        """Count what another one holds, given as a dict of its fields; what is no number counts nothing."""
        for name in ("input", "output", "cache_read", "cache_write", "calls"):
            setattr(self, name, getattr(self, name) + _count(other.get(name)))
        if isinstance(cost := other.get("cost"), int | float):
            self.cost = (self.cost or 0.0) + cost

    def add(self, usage: Json, cost: float | None) -> None:
        """Count one call, `usage` in the Messages API's shape."""
        self.calls += 1
        self.input += _count(usage.get("input_tokens"))
        self.output += _count(usage.get("output_tokens"))
        self.cache_read += _count(usage.get("cache_read_input_tokens"))
        self.cache_write += _count(usage.get("cache_creation_input_tokens"))
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def to_dict(self) -> Json:
        """Plain values."""
        return dataclasses.asdict(self)


def _count(given: Any) -> int:
    """Tokens as a server tells them; what is no number of zero or more counts as zero."""
    try:
        return max(0, int(given or 0))
    except (TypeError, ValueError, OverflowError):
        return 0


@dataclasses.dataclass
class Task:
    """The work order: one goal, and all that is known about it so far.

    Args:
        goal: as the user typed it; never changed.
        run: id of this run.
        memory: the records that entered the window (dicts as in `events.Loaded.hits`).
        planner: react, plan, hybrid or auto; auto becomes one of the others at the plan station.
        plan: subtasks; react has one, the goal.
        rules: what reflection found, each a dict of `planning.rules`; those that are over are left out.
        before: the goal, answer, plan and stop_reason of the turn before this one, or empty.
        void: the earlier goal that this one takes back, or "".
        observations: what the tools brought back, in order.
        messages: the turn so far in the Messages API's shape, beginning with the goal.
        calls: the tool calls of the running step; results: those that are answered already.
        criteria: what must hold for the run to be done.
        rejections: how often an answer was sent back because a criterion failed.
        paused: the model paused its turn and is asked to go on.
        text: the answer, or what there is of it.
        stop_reason: "" while it runs, then one of `Result.stop_reason`.
    """

    goal: str
    run: str = ""
    session: str = ""
    memory: list[Json] = dataclasses.field(default_factory=list)
    memory_text: str = ""
    planner: str = "react"
    plan: list[Subtask] = dataclasses.field(default_factory=list)
    rules: list[Json] = dataclasses.field(default_factory=list)
    before: Json = dataclasses.field(default_factory=dict)
    void: str = ""
    observations: list[Observation] = dataclasses.field(default_factory=list)
    messages: list[Json] = dataclasses.field(default_factory=list)
    calls: list[Json] = dataclasses.field(default_factory=list)
    results: list[Observation] = dataclasses.field(default_factory=list)
    criteria: list[Criterion] = dataclasses.field(default_factory=list)
    evidence: list[Json] = dataclasses.field(default_factory=list)
    usage: Usage = dataclasses.field(default_factory=Usage)
    steps: int = 0
    rejections: int = 0
    paused: bool = False
    done: bool = False
    stop_reason: str = ""
    reason: str = ""
    text: str = ""

    def to_dict(self) -> Json:
        """Plain values, equal after `from_dict`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Json) -> Task:
        """The work order that `to_dict` wrote."""
        data = dict(data)
        data["plan"] = [Subtask(**node) for node in data.get("plan", [])]
        for name in ("observations", "results"):
            data[name] = [Observation.from_dict(seen) for seen in data.get(name, [])]
        data["criteria"] = [Criterion(**criterion) for criterion in data.get("criteria", [])]
        data["usage"] = Usage(**data.get("usage", {}))
        return cls(**data)
