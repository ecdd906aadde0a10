"""Completion on the line of a magic: its flags, their values, its verbs. In the goal itself it is silent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from .magics import Magics

_WORDS = re.compile(r"\S+")
_WORDS_OF = {"decay": ("slow", "normal", "fast"), "ledger": ("off",), "team": ("off",)}


def matcher(magics: Magics) -> Any:
    """A matcher for `Completer.custom_matchers`."""

    def agent_nb_matcher(context: CompletionContext) -> SimpleMatcherResult:
        try:
            found, fragment = suggestions(
                magics, context.full_text, context.text_until_cursor, context.cursor_line
            )
        except Exception:  # completion must never get into the way of typing
            found, fragment = [], ""
        result: SimpleMatcherResult = {
            "completions": [SimpleCompletion(text=text, type="magic") for text in found]
        }
        if found:
            result |= {"suppress": True, "matched_fragment": fragment, "ordered": True}
        return result

    return context_matcher(identifier="agent_nb")(agent_nb_matcher)


def suggestions(magics: Magics, cell: str, before: str, cursor_line: int) -> tuple[list[str], str]:
    """What fits at the cursor, and the fragment that it takes the place of.

    Args:
        cell: the whole text. before: the text of the cursor's line, up to the cursor.
        cursor_line: its number, from 0.
    """
    agent, memory = magics.names["agent"], magics.names["memory"]
    line = before.split("\n")[-1]
    start = re.match(rf"\s*(%%?)({re.escape(agent)}|{re.escape(memory)})[ \t]+", line)
    if start is None:
        return [], ""
    above = cell.split("\n")[:cursor_line]
    if (start[1] == "%%" or agent_cell(above, agent)) and any(text.strip() for text in above):
        return [], ""
    said = line[start.end() :]
    fragment = re.findall(r"\S*\Z", said)[0]
    words = _WORDS.findall(said[: len(said) - len(fragment)])
    if start[1] == "%%":
        from . import arguments

        return _of_flags(magics, arguments.RUN, words, fragment)
    return _of_verbs(magics, start[2] == memory, words, fragment)


def agent_cell(above: list[str], agent: str) -> bool:
    """Whether the lines above the cursor open a `%%agent` cell, so that this line belongs to its goal."""
    first = next((text for text in above if text.strip()), "")
    return re.match(rf"\s*%%{re.escape(agent)}(\s|$)", first) is not None


def _of_flags(magics: Magics, parser: Any, words: list[str], fragment: str) -> tuple[list[str], str]:
    from . import arguments

    shown = arguments.options(parser)
    pending = None
    for word in words:
        if pending is not None:
            pending = None
        elif word in shown:
            pending = shown[word] if shown[word].nargs != 0 else None
        elif word.partition("=")[0] not in shown:
            return [], ""  # the goal has begun
    if pending is not None:
        return _beginning(_values(magics, pending), fragment.replace("，", ",").split(",")[-1])
    option, equals, value = fragment.partition("=")
    if equals and option in shown:
        return _beginning(_values(magics, shown[option]), value.split(",")[-1])
    if fragment and not fragment.startswith("-"):
        return [], ""
    used = {id(shown[word]) for word in words if word in shown}
    longs = [flag for flag, action in shown.items() if flag.startswith("--") and id(action) not in used]
    return _beginning(longs, fragment)


def _values(magics: Magics, action: Any) -> Iterable[str]:
    desk = magics.desk
    space = desk.shell.user_ns
    match action.dest:
        case "model":
            mine = [name for name in _variables(magics) if _has_reply(space[name])]
            return ["offline", "claude-sonnet-5-5", "replay:", "student", *mine]
        case "session":
            return desk.names()
        case "tools":
            return list(desk.session(memory=False).toolbox().names)
        case "use":
            return _variables(magics)
        case "out":
            return _variables(magics)
    return [str(choice) for choice in action.choices or ()]


def _of_verbs(magics: Magics, memory: bool, words: list[str], fragment: str) -> tuple[list[str], str]:
    from . import agent_verbs, arguments, memory_verbs

    verbs = memory_verbs.verbs() if memory else agent_verbs.verbs()
    if not words:
        return _beginning([*verbs, "help"], fragment)
    verb, rest = words[0], words[1:]
    if memory:
        if fragment.startswith("--u") and not rest:
            return _beginning(("--user",), fragment)
        if verb == "forget" and (fragment.startswith("-") or len(rest) == 1):
            return _beginning(("--erase",), fragment) if "--erase" not in rest else ([], "")
        if verb in ("browse", "show", "edit", "forget", "history", "resolve", "undo") and len(
            rest
        ) == rest.count("--erase"):
            return _beginning((record.id for record in magics.desk.memory().search()), fragment)
        if verb in _WORDS_OF and not rest:
            return _beginning(_WORDS_OF[verb], fragment)
        if verb == "resolve" and len(rest) == 1:
            return _beginning(("keep", "drop", "both"), fragment)
        if verb == "expire" and not rest:
            return _beginning(("--dry-run",), fragment)
        return _of_flags(magics, arguments.ADD, rest, fragment) if verb == "add" else ([], "")
    if verb == "help":
        return _beginning(verbs, fragment) if not rest else ([], "")
    if verb == "explain":
        return _of_flags(magics, arguments.RUN, rest, fragment)
    if (verb == "rewind" and not rest) or (verb == "fork" and len(rest) == 1):
        return _beginning(map(str, range(magics.desk.session(memory=False).steps)), fragment)
    if verb in ("resume", "limits"):
        return _of_flags(magics, arguments.VALVES, rest, fragment)
    if rest:
        return [], ""
    if verb in ("use", "trace", "delete"):
        return _beginning(magics.desk.names(), fragment)
    if verb == "model":
        return _beginning(_values(magics, arguments.options(arguments.RUN)["--model"]), fragment)
    return [], ""


def _beginning(names: Iterable[str], fragment: str) -> tuple[list[str], str]:
    return [name for name in names if name.startswith(fragment)], fragment


def _variables(magics: Magics) -> list[str]:
    shell = magics.desk.shell
    hidden = getattr(shell, "user_ns_hidden", {})
    return [name for name in shell.user_ns if not name.startswith("_") and name not in hidden]


def _has_reply(value: Any) -> bool:
    try:
        return not isinstance(value, type) and callable(getattr(value, "reply", None))
    except Exception:  # a variable of the user's own may raise anything
        return False
