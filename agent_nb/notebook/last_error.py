"""The notebook's last error as a question to the agent: what it was, where, and the source of the cell."""

from __future__ import annotations

import linecache
import sys
import traceback
from typing import Any

from ..errors import AgentError, AgentStopped, SettingError
from ..redact import redact

CELL_CHARS = 6_000
CALLS = 8
"""How many of the calls that led to the error are told."""


def as_goal(question: str = "") -> str:
    """The last error as a goal. Raises SettingError where there was none that can be explained.

    Args:
        question: what the user wants to know besides; it comes first.
    """
    error = getattr(sys, "last_value", None)
    if error is None:
        raise SettingError("no cell has failed in this kernel, so there is no error to explain")
    if isinstance(error, (AgentError, AgentStopped)):
        raise SettingError(f"the last error was the agent's own and says what to do: {error}")
    said = str(error.msg if isinstance(error, SyntaxError) else error)  # its place is told apart
    said = " ".join(said.split())[:600]
    parts = [f"{question}\n" if question else "", "Explain this error and how to mend it.\n"]
    name = type(error).__name__
    module = type(error).__module__
    whole = name if module in ("builtins", "__main__") else f"{module}.{name}"
    line, source = _place(error)
    parts.append(f"Error: {whole}" + (f": {said}" if said else ""))
    if line and source:
        parts.append(f"Line {line} of the cell: {_line(source, line)}")
        shown = (
            source if len(source) <= CELL_CHARS else f"{source[:CELL_CHARS]}\n… {len(source):,} characters"
        )
        parts.append(f"\nThe cell:\n```python\n{shown.rstrip()}\n```")
    calls = traceback.extract_tb(error.__traceback__)[-CALLS:]
    inner = [f"  {call.name}, line {call.lineno}: {call.line}" for call in calls if call.line]
    if len(inner) > 1:
        parts.append("\nThe calls that led to it, the last one last:\n" + "\n".join(inner))
    return redact("\n".join(part for part in parts if part))


def _place(error: BaseException) -> tuple[int, str]:
    """(line, source) of the innermost code that was typed into the notebook; (0, "") where there is none."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        if source := _typed(error.filename):
            return error.lineno, source
        return 1, error.text or ""
    found = (0, "")
    for frame, line in traceback.walk_tb(error.__traceback__):
        if source := _typed(frame.f_code.co_filename):
            found = (line, source)
    return found


def _typed(file: str) -> str:
    """The source of a cell, by the name under which it was compiled; "" for a file of a package."""
    import IPython

    entry: Any = linecache.cache.get(file)
    shell = IPython.get_ipython()
    names = getattr(getattr(shell, "compile", None), "_filename_map", {})
    if entry is None or len(entry) < 3 or (file not in names and entry[1] is not None):
        return ""
    return "".join(entry[2])


def _line(source: str, number: int) -> str:
    lines = source.splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
