"""A verb of a line magic, and the help made from a set of them."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable

from ..errors import SettingError
from .arguments import known_or_raise
from .desk import Desk
from .show import Sheet


@dataclasses.dataclass(frozen=True)
class Verb:
    """What stands after `%agent` or `%memory`.

    Args:
        work: does it, given the desk and the rest of the line.
        usage: what follows the verb, e.g. "NAME".
        about: a line of help.
        example: one that can be typed.
    """

    work: Callable[[Desk, str], None]
    usage: str
    about: str
    example: str


def help_sheet(magic: str, verbs: dict[str, Verb], verb: str = "") -> Sheet:
    """Help on all verbs, or on one."""
    if verb:
        known_or_raise(verb, verbs, f"{magic} verb")
        chosen = verbs[verb]
        return (
            Sheet(f"{magic} {verb} {chosen.usage}".strip())
            .say(chosen.about)
            .remark(f"Example: {magic} {verb} {chosen.example}".strip())
        )
    sheet = Sheet(f"{magic} VERB")
    sheet.rows(
        ["type", "to", "for example"],
        [
            [f"{magic} {name} {v.usage}".strip(), v.about, f"{magic} {name} {v.example}".strip()]
            for name, v in verbs.items()
        ],
    )
    if magic == "%memory":
        sheet.remark("Each takes --user NAME right after the verb, for another user's memory.")
    else:
        sheet.remark(
            f"A goal goes into a cell: %{magic} on its first line, the goal below. Flags: %{magic} --help."
        )
    return sheet


MEANT = {
    "remember": "add",
    "save": "add",
    "list": "search",
    "find": "search",
    "delete": "forget",
    "remove": "forget",
    "erase": "forget ID --erase",
}
"""What somebody looks for who types a word that is no verb of `%memory`."""


def needed(text: str, what: str) -> str:
    """`text`, or a SettingError that says what is missing."""
    if not text:
        raise SettingError(f"{what} is missing")
    return text


def new_file(name: str, *suffixes: str) -> pathlib.Path:
    """The path of a file that is to be written; SettingError where it exists or has another suffix."""
    path = pathlib.Path(name).expanduser()
    if path.suffix.lower() not in suffixes:
        kinds = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise SettingError(f"{path.name} is no file that can be exported to; its name ends in {kinds}")
    if path.exists():
        raise SettingError(f"{path} exists already; choose another name or remove it")
    if not path.parent.is_dir():
        raise SettingError(f"there is no folder {path.parent}; make it first")
    return path
