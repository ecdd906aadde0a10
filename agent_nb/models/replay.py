"""Recordings: what a model replied, kept in a file, and played back exactly.

A recording is JSON Lines: a header `{"agent_nb_recording": 1, …}`, then a line for each call that ended well,
with the request as far as it counts (see `comparable`) and the events of the reply. A recording may hold
several takes, such as several cells of one notebook; recording a take again replaces it.
"""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import places
from ..errors import ModelError, SettingError
from .comparable import comparable, difference, redacted
from .protocol import Model
from .stream import mended

Json = dict[str, Any]

VERSION = 1
_HEADER = "agent_nb_recording"


class RecordingModel:
    """Any model, with each of its finished calls written to a file (mode 600, secrets taken out).

    Args:
        model: the model that answers.
        path: the recording; made where it is missing. A take that began with the same request is replaced.

    Raises: SettingError where the file is something else, or broken.
    """

    def __init__(self, model: Model, path: str | os.PathLike[str]) -> None:
        self.model = model
        self.path = Path(path).expanduser()
        self.take = 0
        if self.path.exists() and self.path.stat().st_size:
            _read(self.path)
        for optional in ("name", "note", "can_judge", "max_tokens", "cost"):
            if hasattr(model, optional):
                setattr(self, optional, getattr(model, optional))

    def reply(
        self,
        messages: list[Json],
        *,
        system: str,
        tools: list[Json],
        max_tokens: int,
        tool_choice: Json | None = None,
    ) -> Iterator[Json]:
        """The model's reply, piece by piece; the call is written when the last piece has come."""
        request = comparable(messages, system, tools)
        more: Json = {"max_tokens": max_tokens}
        if tool_choice is not None:
            more |= {"tool_choice": tool_choice} if _takes_tool_choice(self.model) else {}
        events: list[Json] = []
        for event in self.model.reply(messages, system=system, tools=tools, **more):
            if event.get("type") == "message":
                # Written before it is passed on: the loop stops listening after the message.
                self._write(request, [*events, event])
            events.append(event)
            yield event

    def _write(self, request: Json, events: list[Json]) -> None:
        try:
            self._append({"take": self.take, "request": request, "events": redacted(events)})
        except OSError as error:
            raise SettingError(f"the recording {self.path} cannot be written: {error.strerror}") from None

    def _append(self, call: Json) -> None:
        if self.take == 0:
            call["take"] = self.take = self._begin_take(call["request"])
        places.private_file(self.path)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(call))

    def _begin_take(self, request: Json) -> int:
        """Number of the new take, after a take that began with this request has been dropped."""
        header: Json = {
            _HEADER: VERSION,
            "model": str(getattr(self.model, "name", type(self.model).__name__)),
        }
        header["can_judge"] = bool(getattr(self.model, "can_judge", True))
        calls = _read(self.path)[1] if self.path.exists() and self.path.stat().st_size else []
        firsts: dict[int, Json] = {}
        for call in calls:
            firsts.setdefault(call["take"], call["request"])
        dropped: set[int] = {take for take, first in firsts.items() if first == request}
        kept = [call for call in calls if call["take"] not in dropped]
        _replace(self.path, [header, *kept])
        return max(firsts, default=0) + 1


class ReplayModel:
    """Plays a recording. The first difference between a request and the recorded one is a ModelError.

    Args:
        path: a file that a RecordingModel wrote (`--record FILE`).

    The first request is looked up among the recorded ones, so that each cell of a notebook finds its own;
    from there on the replies come in the recorded order.

    Raises: SettingError where the file is missing, broken or something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        header, self.calls = _read(self.path)
        self.name = f"replay:{path}"
        self.can_judge = bool(header.get("can_judge", True))
        self.note = f"recorded replies of {header.get('model', 'a model')}; the tools run again"
        self.at: int | None = None

    def reply(
        self,
        messages: list[Json],
        *,
        system: str,
        tools: list[Json],
        max_tokens: int,
        tool_choice: Json | None = None,
    ) -> Iterator[Json]:
        """The recorded reply, piece by piece. Raises ModelError where the request is another one."""
        request = comparable(messages, system, tools)
        if self.at is None:
            same = (n for n, call in enumerate(self.calls) if call["request"] == request)
            self.at = next(same, 0)
        if self.at >= len(self.calls):
            held = f"{len(self.calls)} call" + ("s" if len(self.calls) != 1 else "")
            raise ModelError(f"the recording {self.path.name} is over ({held}); record it again")
        call = self.calls[self.at]
        if different := difference(call["request"], request):
            raise ModelError(f"call {self.at + 1}: {different}")
        self.at += 1
        yield from call["events"]


def _read(path: Path) -> tuple[Json, list[Json]]:
    """Header and calls of a recording. Raises SettingError in one line."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise SettingError(f"the recording {path} cannot be read: {why}") from None
    rows = []
    for n, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise SettingError(f"the recording {path} is broken in line {n}; record it again") from None
    header = rows[0] if rows and isinstance(rows[0], dict) else {}
    if _HEADER not in header:
        raise SettingError(f"{path} is not a recording; make one with --record FILE")
    if header[_HEADER] != VERSION:
        raise SettingError(f"the recording {path} is of version {header[_HEADER]!r}, this is {VERSION}")
    for n, call in enumerate(rows[1:], start=2):
        if not _is_call(call):
            raise SettingError(f"the recording {path} is broken in line {n}; record it again")
    return header, rows[1:]


def _is_call(call: Any) -> bool:
    if not isinstance(call, dict) or not isinstance(call.get("take"), int):
        return False
    request, events = call.get("request"), call.get("events")
    if not isinstance(request, dict) or not {"messages", "tools", "system"} <= request.keys():
        return False
    if not isinstance(events, list) or not events or not all(isinstance(event, dict) for event in events):
        return False
    return events[-1].get("type") == "message" and isinstance(events[-1].get("message"), dict)


def _line(row: Json) -> str:
    return mended(json.dumps(row, ensure_ascii=False, default=str)) + "\n"


def _replace(path: Path, rows: list[Json]) -> None:
    """Put `rows` into the file at once: whoever reads it sees the old lines or the new ones."""
    places.private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(_line(row) for row in rows)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _takes_tool_choice(model: Model) -> bool:
    parameters: Mapping[str, inspect.Parameter] = inspect.signature(model.reply).parameters
    return "tool_choice" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
