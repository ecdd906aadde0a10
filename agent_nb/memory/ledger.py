"""Memories as files: JSON Lines, or Markdown that people can read; both come back exactly."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Sequence

from ..errors import SettingError, StoreError
from ..places import private_file
from . import store
from .record import MemoryRecord

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
    part = path.with_name(path.name + ".part")
    try:
        private_file(part)
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror or error}") from error


def read(path: pathlib.Path) -> list[MemoryRecord]:
    """The records of an export. Raises SettingError with the line that is none."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path} could not be read as an export: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if text.startswith(_HEAD):
            if not (line.startswith("<!-- {") and line.endswith(" -->")):
                continue
            line = line[5:-4]
        if not line:
            continue
        try:
            found.append(store.load(line))
        except (ValueError, TypeError, AttributeError):
            raise SettingError(f"line {number} of {path} is no memory; nothing was imported") from None
    return found


def _day(record: MemoryRecord) -> str:
    return f"{record.created:%Y-%m-%d}"


def _flat(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split()).replace("<!--", "‹!--")


def _safe(line: str) -> str:
    # "-->" inside a comment would end it; JSON can say the same with an escape.
    return json.dumps(json.loads(line), ensure_ascii=True).replace(">", "\\u003e")
