"""Memories as files: JSON Lines, or Markdown that people can read; both come back exactly."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
from collections.abc import Sequence

from ..errors import SettingError, StoreError
from ..places import private_file
from ..redact import has_secret
from . import store
from .record import SOURCES, STATUSES, TYPES, MemoryRecord

_HEAD = "# What is remembered\n"


def write(path: pathlib.Path, records: Sequence[MemoryRecord]) -> None:
    """Write the records, atomically: the old file stays until the new one is whole."""
    lines = [store.dump(record) for record in records]
    if path.suffix.lower() in (".md", ".markdown"):
        shown = [
            f"- **{r.type}** {_day(r)} · {r.source} · {r.status}: {_flat(r.text)}\n  <!-- {_safe(line)} -->"
            for r, line in zip(records, lines, strict=True)
        ]
        text = _HEAD + "\n" + "\n".join(shown) + "\n"
    else:
        text = "".join(line + "\n" for line in lines)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")  # another process may be writing it, too
    try:
        private_file(part)
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except (OSError, ValueError) as error:  # a name may hold what no file system takes
        with contextlib.suppress(OSError, ValueError):
            part.unlink(missing_ok=True)
        said = getattr(error, "strerror", None) or error
        raise StoreError(f"{str(path)!r} could not be written: {said}") from error


def read(path: pathlib.Path) -> list[MemoryRecord]:
    """The records of an export. Raises SettingError with the line that is none."""
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise SettingError(f"there is no file {str(path)!r} to import") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} could not be read as an export: {error}") from error
    found = []
    # Only a line feed ends a line: the other separators that Python knows may stand inside a JSON text.
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if text.startswith(_HEAD):
            if not (line.startswith("<!-- {") and line.endswith(" -->")):
                continue
            line = line[5:-4]
        if not line:
            continue
        try:
            record = store.from_row(json.loads(line))
            fault = _fault(record)
        except (ValueError, TypeError, AttributeError):
            fault = "is no memory"
        if fault:
            raise SettingError(f"line {number} of {path} {fault}; nothing was imported")
        session, run = (text.encode("utf-8", "replace").decode() for text in (record.session, record.run))
        found.append(dataclasses.replace(record, session=session, run=run))
    return found


def _fault(record: MemoryRecord) -> str:
    """What keeps a record that somebody else wrote from being one; "" for nothing."""
    known = record.type in TYPES and record.source in SOURCES and record.status in STATUSES
    times = [record.created, record.recorded, record.last_access, record.expires]
    times = [time for at, time in enumerate(times) if at < 2 or time is not None]
    aware = all(isinstance(time, datetime.datetime) and time.tzinfo for time in times)
    numbers = all(isinstance(n, int | float) for n in (record.hits, record.mentions, record.weight))
    named = all(
        isinstance(name, str)
        for name in (record.id, record.text, record.superseded_by, record.session, record.run)
    )
    if not (known and aware and numbers and named and record.id and record.text.strip()):
        return "is no memory"
    return "holds a secret, which memory never keeps" if has_secret(record.text) else ""


def _day(record: MemoryRecord) -> str:
    return f"{record.created:%Y-%m-%d}"


def _flat(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split()).replace("<!--", "‹!--")


def _safe(line: str) -> str:
    # "-->" inside a comment would end it; JSON can say the same with an escape.
    return json.dumps(json.loads(line), ensure_ascii=True).replace(">", "\\u003e")
