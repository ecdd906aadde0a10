"""The saved events of a session: one JSON Lines file, append-only, and the history it amounts to."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import events
from .errors import SettingError, StoreError
from .events import Event
from .lease import Lease
from .places import private_file
from .redact import has_secret, may_hold_secret, redact

Json = dict[str, Any]


class Transcript:
    """The events of one session, in memory and (where `path` is given) on disk.

    A line is written whole before its event is shown; a torn last line of a killed kernel is skipped when
    the file is read. Raises StoreError where the file cannot be read or written.
    """

    def __init__(self, path: pathlib.Path | None = None) -> None:
        self.path = path
        self.events: list[Event] = []
        self._torn = False
        self._size = 0
        self._handle: int | None = None
        self._lease = Lease(path) if path is not None else None
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: pathlib.Path) -> None:
        self.events = read(path)
        data = path.read_bytes()
        self._size, self._torn = len(data), data[-1:] not in (b"", b"\n")

    def refresh(self) -> None:
        """Read the file anew where another process has added to it."""
        if self.path is not None and self.path.exists() and self.path.stat().st_size != self._size:
            self._read(self.path)

    def begin(self) -> str:
        """Take the right to write, for one run. Returns "" or a sentence about who has this session open as well.

        Raises: SettingError where another process is running it right now.
        """
        who = self._lease.take() if self._lease is not None else ""
        return (
            f"this session is open in another kernel, too ({who}); what it added was read in" if who else ""
        )

    def end(self) -> None:
        """Close the file, and let others write."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)
        if self._lease is not None:
            self._lease.give_back()

    @contextlib.contextmanager
    def alone(self) -> Iterator[str]:
        """`begin`, and `end` however the block ends."""
        try:
            yield self.begin()
        finally:
            self.end()

    def append(self, event: Event) -> None:
        """Keep `event` (streamed pieces are not kept: the whole message follows them)."""
        if not event.saved:
            return
        line, before = self._line(event), self._size
        try:
            self.events.append(event)
            self._write(line)
        except KeyboardInterrupt:  # in memory and on disk, or in neither: the interrupt waits
            if self._on_disk() == before:
                self._write(line)
            else:
                self._size = before + len(line)
            raise

    def _line(self, event: Event) -> bytes:
        if self.path is None:
            return b""
        # A line that was torn, by a killed kernel or a full disk, must spoil only itself.
        return (b"\n" if self._torn else b"") + _line(event).encode("utf-8", "replace") + b"\n"

    def _write(self, line: bytes) -> None:
        if self.path is None:
            return
        try:
            written = os.write(self._opened(self.path), line)
            self._size += written
            self._torn = written < len(line)
            if self._torn:
                raise OSError("the disk is full")
        except OSError as error:
            raise StoreError(f"the transcript {self.path.name} could not be written: {error}") from error

    def _opened(self, path: pathlib.Path) -> int:
        """The file, open for appending from its first line of a run to the run's end."""
        if self._handle is not None and os.fstat(self._handle).st_nlink == 0:  # deleted or put anew meanwhile
            os.close(self._handle)
            self._handle = None
        if self._handle is None:
            self._handle = os.open(private_file(path), os.O_WRONLY | os.O_APPEND)
            self._size = os.fstat(self._handle).st_size
        return self._handle

    def _on_disk(self) -> int:
        return os.fstat(self._handle).st_size if self._handle is not None else self._size

    def runs(self) -> list[list[Event]]:
        """The events, one list a run, in order; a run that goes on with another one is joined to it."""
        runs: dict[str, list[Event]] = {}
        joined: dict[str, str] = {}
        for event in self.events:
            if isinstance(event, events.RunStarted):
                first = joined.get(event.resumes, event.resumes)
                if first in runs:
                    joined[event.run] = first
            turn = runs.setdefault(joined.get(event.run, event.run), [])
            if isinstance(event, events.Rewound):
                turn[:] = with_results(until_step(turn, event.step), event.results)
            else:
                turn.append(event)
        return list(runs.values())

    def turns(self) -> list[list[Event]]:
        """The runs that still count: a cell that was run again replaces its earlier turn."""
        runs = [run for run in self.runs() if isinstance(run[0], events.RunStarted)]
        last = {run[0].cell: i for i, run in enumerate(runs) if isinstance(run[0], events.RunStarted)}
        return [
            run
            for i, run in enumerate(runs)
            if isinstance(run[0], events.RunStarted) and (not run[0].cell or last[run[0].cell] == i)
        ]


def until_step(turn: Sequence[Event], step: int) -> list[Event]:
    """What a turn was at the end of its step `step`; steps count on where the turn was resumed."""
    kept: list[Event] = []
    before = steps = 0
    for event in turn:
        if isinstance(event, events.RunStarted):
            before = steps
        steps = max(steps, before + event.step)
        goes_on = before < step or not kept  # a part that was resumed later than this step is gone whole
        if before + event.step <= step and goes_on and not isinstance(event, _ENDINGS):
            kept.append(event)
    return kept


def with_results(turn: Sequence[Event], results: Json) -> list[Event]:
    """The turn with other results of its calls: tool_use id → text, as its user edited them."""
    found: list[Event] = []
    for event in turn:
        if isinstance(event, events.ToolFinished) and event.id in results:
            event = dataclasses.replace(event, observation=_edited(event.observation, results[event.id]))
        elif isinstance(event, events.Observed):
            blocks = [_block(block, results) for block in event.message.get("content") or []]
            event = dataclasses.replace(event, message=event.message | {"content": blocks})
        found.append(event)
    return found


def _block(block: Any, results: Json) -> Any:
    if not isinstance(block, dict) or block.get("tool_use_id") not in results:
        return block
    text = str(results[block["tool_use_id"]])
    kept = {key: value for key, value in block.items() if key != "is_error"}
    failed = {} if _body(text).get("ok", True) else {"is_error": True}
    return kept | {"content": [{"type": "text", "text": text}]} | failed


def _edited(observation: Json, text: str) -> Json:
    """An observation that holds `text`; what the tool left in the kernel belongs to its own result."""
    body = _body(text)
    columns, rows = body.get("columns"), body.get("rows")
    fits = isinstance(columns, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    table = {"columns": columns if fits else [], "rows": rows if fits else []}
    table["total_rows"] = len(table["rows"]) if fits else None  # type: ignore[arg-type]
    seen = {"content": [{"type": "text", "text": text}], "ok": bool(body.get("ok", True)), "edited": True}
    return observation | seen | table | {"value_name": "", "artifacts": [], "cached": False, "kind": ""}


def _body(text: str) -> Json:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


_ENDINGS = (events.Answered, events.Consolidated, events.RunEnded)


def read(path: pathlib.Path) -> list[Event]:
    """The events of a transcript file; lines that are torn or no JSON object are left out."""
    try:
        lines = path.read_text("utf-8", "replace").split("\n")
    except OSError as error:
        raise StoreError(f"the transcript {path} could not be read: {error}") from error
    found = []
    for line in lines:
        try:
            data = json.loads(line)
            found.append(events.from_dict(data))
        except (ValueError, TypeError, AttributeError):
            continue
    return found


def delete(path: pathlib.Path) -> None:
    """Remove a transcript and the lock beside it. Raises SettingError while another process runs the session."""
    lease = Lease(path)
    lease.take()
    try:
        path.unlink(missing_ok=True)
        lease.path.unlink(missing_ok=True)
    finally:
        lease.give_back()


def file_name(session: str) -> str:
    """A file name for a session's name: readable, with characters that file systems refuse percent-coded."""
    safe = "".join(c if c.isalnum() or c in " _-+=@()." else _coded(c) for c in session)
    if safe != safe.strip():  # Windows drops a space at the end
        safe = "".join(c if i not in (0, len(safe) - 1) or c != " " else "%20" for i, c in enumerate(safe))
    safe = safe or "_"
    safe = "%2E" + safe[1:] if safe.startswith(".") else safe
    if len(safe.encode()) > 200:  # file systems take 255 bytes
        raise SettingError(f"the session name {session[:20]!r}… is too long; give one under 60 characters")
    return safe + ".jsonl"


def _coded(character: str) -> str:
    return urllib.parse.quote(character, safe="", errors="replace")


def session_name(path: pathlib.Path) -> str:
    """The session's name of a transcript file: `file_name` read backwards."""
    return urllib.parse.unquote(path.name.removesuffix(".jsonl"))


def turn_messages(turn: Sequence[Event]) -> list[Json]:
    """The messages of one turn, as they were sent and received."""
    told = [e for e in turn if isinstance(e, events.RunStarted | events.Acted | events.Observed)]
    return repair([e.message for e in told if e.message and getattr(e, "kept", True)])


def histories(turns: Iterable[Sequence[Event]]) -> list[list[Json]]:
    """The messages of finished turns, one list a turn, each ended by a reply, so that a next goal may follow."""
    found: list[list[Json]] = []
    seen: set[str] = set()
    for turn in turns:
        mine = _with_own_ids(turn_messages(turn), seen)
        if mine and mine[-1]["role"] == "user":
            ended = [event.stop_reason for event in turn if isinstance(event, events.RunEnded)]
            why = ended[-1] if ended else "interrupted"
            mine.append(
                {"role": "assistant", "content": [{"type": "text", "text": f"[The run ended here: {why}.]"}]}
            )
        found.append(mine)
    return found


def history(turns: Iterable[Sequence[Event]]) -> list[Json]:
    """The messages of finished turns in one list."""
    return [message for turn in histories(turns) for message in turn]


def _with_own_ids(messages: list[Json], seen: set[str]) -> list[Json]:
    """The messages with each tool_use under an id that no other has; two kernels may have written at once."""
    new: dict[str, str] = {}
    fixed = []
    for message in messages:
        field = "id" if message["role"] == "assistant" else "tool_use_id"
        content = []
        for block in message["content"]:
            given = block.get(field)
            if block.get("type") == "tool_use" and given in seen:
                count = next(n for n in range(2, len(seen) + 3) if f"{given}_{n}" not in seen)
                new[given] = f"{given}_{count}"
            if block.get("type") == "tool_use":
                seen.add(new.get(given, given))
            content.append(block | {field: new[given]} if given in new else block)
        fixed.append({**message, "content": content})
    return fixed


SENT = {
    "assistant": ("text", "thinking", "redacted_thinking", "tool_use"),
    "user": ("text", "image", "document", "tool_result"),
}
"""Types of blocks that may stand in a history; others are kept in the transcript and not sent."""


def sent_back(message: Any) -> Json:
    """The message as it may stand in a history: the blocks of types that are known, with the fields they need."""
    role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, [])
    role = role if role in SENT else "user"
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    return {"role": role, "content": [block for block in blocks if fits(block, role)]}


_NEEDED = {"text": "text", "thinking": "thinking", "redacted_thinking": "data", "tool_use": "id"}
_NEEDED |= {"tool_result": "tool_use_id"}


def fits(block: Any, role: str) -> bool:
    """Whether a block may stand in a message of that role: of a known type, with what it is there for."""
    if not isinstance(block, dict) or block.get("type") not in SENT[role]:
        return False
    needed = _NEEDED.get(block["type"])
    if block["type"] == "tool_use" and not (isinstance(block.get("input"), dict) and block.get("name")):
        return False
    given = block.get(needed) if needed else "fine"
    return isinstance(given, str) and (block["type"] == "thinking" or bool(given.strip()))


def repair(messages: list[Json]) -> list[Json]:
    """A history that the Messages API accepts: every tool_use answered at once, no orphan results."""
    fixed: list[Json] = []
    for message in map(sent_back, messages):
        if not fixed and message["role"] == "assistant":
            continue
        pending = _pending(fixed)
        content = message["content"]
        if message["role"] == "user":
            results = {b["tool_use_id"]: b for b in content if b.get("type") == "tool_result"}
            others = [b for b in content if b.get("type") != "tool_result"]
            content = [results.get(i) or interrupted(i) for i in pending] + others
        elif pending:
            fixed.append({"role": "user", "content": [interrupted(i) for i in pending]})
        if content:
            _push(fixed, {"role": message["role"], "content": content})
    if pending := _pending(fixed):
        fixed.append({"role": "user", "content": [interrupted(i) for i in pending]})
    return fixed


def interrupted(tool_use_id: str) -> Json:
    """The result of a call that was stopped before it had one."""
    text = '{"ok": false, "error": "interrupted: the run was stopped before this call had a result"}'
    return {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": [{"type": "text", "text": text}],
        "is_error": True,
    }


def _pending(messages: list[Json]) -> list[str]:
    if not messages or messages[-1]["role"] != "assistant":
        return []
    return [block["id"] for block in messages[-1]["content"] if block.get("type") == "tool_use"]


def _push(messages: list[Json], message: Json) -> None:
    """Append, joined to the last message where the role is the same (after a paused turn)."""
    if messages and messages[-1]["role"] == message["role"]:
        messages[-1] = {"role": message["role"], "content": messages[-1]["content"] + message["content"]}
    else:
        messages.append({"role": message["role"], "content": list(message["content"])})


_IDS = {"tool_use": "id", "tool_result": "tool_use_id"}


def redacted(event: Event) -> Event:
    """The event as it is saved: without secrets. What shows a run to others takes this one."""
    return events.from_dict(_redacted(event.to_dict()))


def _redacted(value: Any) -> Any:
    """Plain values without secrets. Ids and pictures stay; a thinking block with a secret goes: it is signed."""
    if isinstance(value, str):
        return redact(value).encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [_redacted(inner) for inner in value if not _secret_thinking(inner)]
    if not isinstance(value, dict) or value.get("type") in ("thinking", "redacted_thinking"):
        return value
    kept = {_IDS.get(str(value.get("type")), ""), "data" if {"mime", "media_type"} & value.keys() else ""}
    return {_redacted(str(k)): v if k in kept else _redacted(v) for k, v in value.items()}


_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def _line(event: Event) -> str:
    """The event as its line in the file. Only where the line may hold a secret is it looked through value by value."""
    line = _encode(event.to_dict())
    return _encode(_redacted(json.loads(line))) if may_hold_secret(line) else line


def _secret_thinking(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") != "thinking":
        return False
    return has_secret(str(block.get("thinking", "")))
