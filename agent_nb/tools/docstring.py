"""What a docstring says about a function and each of its parameters."""

from __future__ import annotations

import inspect
import re

_GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Params|参数)\s*[:：]\s*$")
_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Params|参数|Returns?|Yields?|Raises|Examples?|Notes?|See Also|References"
    r"|Attributes|Warnings?|返回|异常)\s*[:：]?\s*$"
)
_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?:\([^)]*\))?\s*[:：]\s*(?P<text>.*)$")
_NUMPY_ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """(description without its sections, description of each parameter); Google and NumPy style."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    head: list[str] = []
    section: list[str] = []
    style = ""
    place = "head"
    for number, line in enumerate(lines):
        underlined = number + 1 < len(lines) and re.match(r"^-{3,}\s*$", lines[number + 1]) is not None
        title = not line.startswith(" ") and _SECTION.match(line) is not None
        if title and (underlined or line.rstrip().endswith((":", "："))):
            wanted = _GOOGLE.match(line.rstrip().rstrip(":：") + ":") is not None
            place = "args" if wanted else "other"
            style = ("numpy" if underlined else "google") if wanted else style
        elif place == "head":
            head.append(line)
        elif place == "args" and not re.match(r"^-{3,}\s*$", line):
            section.append(line)
    text = " ".join(" ".join(head).split())
    return text, _entries(section, _NUMPY_ENTRY if style == "numpy" else _ENTRY)


def _entries(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Entries begin at the least indentation; deeper lines go on with the entry before them."""
    filled = [line for line in lines if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in filled:
        entry = pattern.match(line.strip()) if len(line) - len(line.lstrip()) == margin else None
        if entry:
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            first = entry.groupdict().get("text") or ""
            found |= {name: [first] for name in names}
        else:
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(" ".join(text).split()) for name, text in found.items()}
