"""The file of a recording: JSON Lines, a header and then a line for each call that ended well.

A line holds the request as far as it counts (see `comparable`), written as what is new since the call before,
and the events of the reply. A recording may hold several takes, such as the cells of one notebook.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .. import places
from ..errors import SettingError
from .stream import mended

Json = dict[str, Any]

VERSION = 1
_HEADER = "agent_nb_recording"
_PARTS = ("system", "tools")


def holds_something(path: Path) -> bool:
    """Whether there is a file that is not empty."""
    return path.exists() and path.stat().st_size > 0


def read(path: Path) -> tuple[Json, list[Json]]:
    """Header and calls, each call a dict of take, request (whole) and events.

    Raises: SettingError, in one line, for a file that is missing, broken or something else.
    """
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise SettingError(f"the recording {path} cannot be read: {why}") from None
    header = _parsed(lines[0])
    if _HEADER not in header:
        raise SettingError(f"{path} is not a recording; make one with --record FILE")
    if header[_HEADER] != VERSION:
        raise SettingError(f"the recording {path} is of version {header[_HEADER]!r}, this is {VERSION}")
    calls: list[Json] = []
    before: dict[int, Json] = {}
    for n, line in enumerate(lines[1:], start=2):
        try:
            calls.append(_unpacked(_parsed(line), before))
        except (KeyError, TypeError, ValueError):
            raise SettingError(f"the recording {path} is broken in line {n}; record it again") from None
    return header, calls


def append(path: Path, call: Json, before: Json) -> None:
    """Add a call; `before` is the request of its take's call before, or empty."""
    places.private_file(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(_packed(call, before)))


def write(path: Path, header: Json, calls: Iterable[Json]) -> None:
    """Put a whole recording into the file at once: whoever reads it sees the old lines or the new ones."""
    before: dict[int, Json] = {}
    rows: list[Json] = [{_HEADER: VERSION} | header]
    for call in calls:
        rows.append(_packed(call, before.get(call["take"], {})))
        before[call["take"]] = call["request"]
    places.private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(map(_line, rows))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _packed(call: Json, before: Json) -> Json:
    request, earlier = call["request"], before.get("messages", [])
    pairs = zip(earlier, request["messages"], strict=False)
    same = sum(1 for _ in itertools.takewhile(lambda pair: _same(*pair), pairs))
    row: Json = {"take": call["take"], "after": same, "messages": request["messages"][same:]}
    row |= {
        part: request[part] for part in _PARTS if part not in before or not _same(before[part], request[part])
    }
    return row | {"events": call["events"]}


def _unpacked(row: Json, before: dict[int, Json]) -> Json:
    """The call of a line. Raises KeyError, TypeError or ValueError where the line is none."""
    take, after, events = row["take"], row["after"], row["events"]
    earlier = before.get(take, {"messages": []})
    if not isinstance(take, int) or not 0 <= after <= len(earlier["messages"]):
        raise ValueError("a line is missing before it")
    if events[-1]["type"] != "message" or not isinstance(events[-1]["message"], dict):
        raise ValueError("the reply has no message")
    request: Json = {part: row.get(part, earlier.get(part)) for part in _PARTS}
    if not isinstance(request["system"], str) or not isinstance(request["tools"], list):
        raise ValueError("the request is not whole")
    request["messages"] = [*earlier["messages"][:after], *row["messages"]]
    before[take] = request
    return {"take": take, "request": request, "events": events}


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)  # 1, 1.0 and True differ


def _parsed(line: str) -> Json:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _line(row: Json) -> str:
    return mended(json.dumps(row, ensure_ascii=False, default=str)) + "\n"
