"""Data files that the user names: only those may be read, and each is a table under its own name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

ENDINGS = r"csv|tsv|parquet|pq|jsonl?|ndjson"
_QUOTED = re.compile(rf"[\"'“‘`](?P<path>[^\"'”’`\n]+\.(?:{ENDINGS})(?:\.gz)?)[\"'”’`]", re.IGNORECASE)
_BARE = re.compile(
    rf"(?P<path>(?:~|\.{{0,2}}/)?[\w./+-]+\.(?:{ENDINGS})(?:\.gz)?)(?![A-Za-z0-9_]|\.\w)", re.IGNORECASE
)
_BESIDE = re.compile(r"^[\u3400-\u9fff]+")


def named_files(text: str) -> list[str]:
    """Absolute paths of the existing CSV, Parquet and JSON files that a text names, in order."""
    found = [match["path"] for pattern in (_QUOTED, _BARE) for match in pattern.finditer(text)]
    found += [_BESIDE.sub("", path) for path in found]  # Chinese puts no blank before a name
    paths = (os.path.abspath(os.path.expanduser(path.strip())) for path in found)
    return list(dict.fromkeys(path for path in paths if os.path.isfile(path)))


def table_names(paths: Iterable[str]) -> dict[str, str]:
    """Name of the table → path: the file's own name, with more of its folders where two files share it."""
    names: dict[str, str] = {}
    for path in paths:
        parts = path.split(os.sep)
        size = next(
            n for n in range(1, len(parts) + 1) if "/".join(parts[-n:]) not in names or n == len(parts)
        )
        names["/".join(parts[-size:])] = path
    return names
