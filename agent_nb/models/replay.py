"""A model that records another one's replies, and one that plays them back exactly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ModelError, SettingError
from . import recording
from .comparable import comparable, difference, redacted
from .protocol import Model, takes_tool_choice

Json = dict[str, Any]

ABILITIES = {"can_judge": True, "can_plan": True, "needs_whole_turn": False}
"""What the loop asks of a model beside replies, and the default: a replay must go the way of the recorded run."""


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
        self._before: Json = {}
        if recording.holds_something(self.path):
            recording.read(self.path)
        for optional in ("name", "note", "max_tokens", "cost", "is_person", *ABILITIES):
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
            more |= {"tool_choice": tool_choice} if takes_tool_choice(self.model) else {}
        events: list[Json] = []
        for event in self.model.reply(messages, system=system, tools=tools, **more):
            if event.get("type") == "message":
                # Written before it is passed on: the loop stops listening after the message.
                self._write(request, [*events, event])
            events.append(event)
            yield event

    def _write(self, request: Json, events: list[Json]) -> None:
        call: Json = {"take": self.take, "request": request, "events": redacted(events)}
        try:
            if self.take == 0:
                call["take"] = self.take = self._begin_take(request)
            recording.append(self.path, call, self._before)
        except OSError as error:
            raise SettingError(f"the recording {self.path} cannot be written: {error.strerror}") from None
        self._before = request

    def _begin_take(self, request: Json) -> int:
        """Number of the new take, after a take that began with this request has been dropped."""
        header: Json = {"model": str(getattr(self.model, "name", type(self.model).__name__))}
        header |= {ability: bool(getattr(self.model, ability, by)) for ability, by in ABILITIES.items()}
        calls = recording.read(self.path)[1] if recording.holds_something(self.path) else []
        firsts: dict[int, Json] = {}
        for call in calls:
            firsts.setdefault(call["take"], call["request"])
        dropped: set[int] = {take for take, first in firsts.items() if first == request}
        recording.write(self.path, header, [call for call in calls if call["take"] not in dropped])
        return max(firsts, default=0) + 1


class ReplayModel:
    """Plays a recording. The first difference between a request and the recorded one is a ModelError.

    Args:
        path: a file that a RecordingModel wrote (`--record FILE`).

    The replies come in the recorded order. Only a request that begins a turn, and is not the next one, is
    looked up among all: so each cell of a notebook finds its own part, also when it is run again.

    Raises: SettingError where the file is missing, broken or something else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        header, self.calls = recording.read(self.path)
        self.name = f"replay:{path}"
        for ability, by in ABILITIES.items():
            setattr(self, ability, bool(header.get(ability, by)))
        self.note = f"recorded replies of {header.get('model', 'a model')}; the tools run again"
        self.at = 0

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
        if _begins_turn(request) and not self._is(self.at, request):
            self.at = next((n for n in range(len(self.calls)) if self._is(n, request)), self.at)
        if self.at >= len(self.calls):
            held = f"{len(self.calls)} call" + ("s" if len(self.calls) != 1 else "")
            raise ModelError(f"the recording {self.path.name} is over ({held}); record it again")
        call = self.calls[self.at]
        if different := difference(call["request"], request):
            raise ModelError(f"call {self.at + 1}: {different}")
        self.at += 1
        yield from call["events"]

    def _is(self, n: int, request: Json) -> bool:
        return n < len(self.calls) and not difference(self.calls[n]["request"], request)


def _begins_turn(request: Json) -> bool:
    last = request["messages"][-1]["content"] if request["messages"] else []
    return not any(block.get("type") == "tool_result" for block in last)
