"""The flags of the magics: read until the first word that is not a flag; the rest is left as it was typed."""

from __future__ import annotations

import argparse
import difflib
import keyword
import math
import re
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from ..errors import SettingError
from ..memory.record import TYPES
from ..planning.stations import PLANNERS
from ..session import APPROVE

LISTED = 20
"""Names that an error lists at most; it says how many more there are."""
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+|\S+""")
_FLAG = re.compile(r"--?[A-Za-z]")
_EXAMPLES = """
examples:
  %%agent
  Which airline's departure delay rose most from June to July 2013?

  %%agent -m offline --use flights --max-steps 6
  Total distance by month, as a line chart
  done when:
  - the answer names all twelve months

  %%agent --session audit --approve never -- - a goal that begins with a dash

The cell's text is the goal, exactly as it is typed; nothing in it is interpolated. Flags end at the first
word that is not one, or at --. The result is in _agent. `%agent` alone shows what can be done besides.
"""


def whole(text: str) -> int:
    """A whole number, zero or more."""
    try:
        number = int(text.replace(",", ""))
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of zero or more")
    return number


def amount(text: str) -> float:
    """A number, zero or more; a dollar sign before it is fine."""
    try:
        number = float(text.removeprefix("$").replace(",", ""))
    except ValueError:
        number = -1.0
    if not (number >= 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of zero or more")
    return number


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them, each once."""
    found = [name.strip() for name in re.split(r"[,，、]", text)]
    if not any(found):
        raise argparse.ArgumentTypeError("give one name or several, with commas between them")
    return tuple(dict.fromkeys(name for name in found if name))


def variable(text: str) -> str:
    """A name that Python can bind."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of a variable")
    return text


def name(text: str) -> str:
    """Any text that is not blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it needs a name")
    return text.strip()


def _parser(**settings: Any) -> Any:
    parser: Any = MagicArgumentParser(**settings)  # type: ignore[no-untyped-call]
    return parser


def _with_valves(parser: Any) -> Any:
    parser.add_argument("--max-steps", type=whole, metavar="N", help="stop after so many model calls")
    parser.add_argument("--max-tokens", type=whole, metavar="N", help="stop after so many tokens, all calls")
    parser.add_argument("--max-cost", type=amount, metavar="USD", help="stop at so many dollars")
    parser.add_argument("--max-seconds", type=amount, metavar="N", help="stop after so many seconds")
    return parser


def _with_help(parser: Any) -> Any:
    parser.add_argument("-h", "--help", action="store_true", help="show this")
    return parser


def _run() -> Any:
    parser = _parser(
        prog="agent",
        usage="%%agent [flags] [the goal's first line]\n  the goal",
        description="Give the agent a goal. It works on this notebook's variables and shows every step.",
        epilog=_EXAMPLES,
    )
    flag = parser.add_argument
    flag("-s", "--session", type=name, metavar="NAME", help="go on with this session, or begin it")
    flag("--new", action="store_true", help="start an empty session")
    flag(
        "-m",
        "--model",
        type=name,
        metavar="NAME",
        help="offline, claude-…, replay:FILE, student (you answer), or your own Model",
    )
    flag("-p", "--plan", choices=PLANNERS, metavar="HOW", help=f"how it plans: {', '.join(PLANNERS)}")
    _with_valves(parser)
    flag("--tools", type=names, metavar="NAMES", help="these tools only")
    flag("--no-tools", action="store_true", help="no tools at all")
    flag("--use", type=names, metavar="NAMES", help="hand these variables over: the model sees their schema")
    flag("--approve", choices=APPROVE, metavar="HOW", help="tools that write: ask, auto or never")
    flag("--user", type=name, metavar="NAME", help="whose memory (default: default)")
    flag("--no-memory", action="store_true", help="neither read nor write memory")
    flag("--step", action="store_true", help="wait at every station and show its data")
    flag("-o", "--out", type=variable, metavar="NAME", help="bind the result to this variable too")
    flag("--record", type=name, metavar="FILE", help="write a recording that -m replay:FILE plays back")
    flag("--keep-going", action="store_true", help="a run that fails does not fail the cell")
    return _with_help(parser)


def _add() -> Any:
    parser = _parser(prog="memory add")
    parser.add_argument("--type", choices=TYPES, metavar="T", help="its kind (default: fact)")
    parser.add_argument("--team", action="store_true", help="for all members of the team")
    return _with_help(parser)


RUN = _run()
VALVES = _with_help(_with_valves(_parser(prog="agent limits")))
ADD = _add()


def options(parser: Any, hidden: bool = False) -> dict[str, argparse.Action]:
    """Every flag of `parser` as it is written, and what it stands for."""
    return {
        option: action
        for action in parser._actions
        for option in action.option_strings
        if hidden or action.help != argparse.SUPPRESS
    }


def read(parser: Any, line: str) -> tuple[argparse.Namespace, str]:
    """The flags that `line` begins with, and the text after them, untouched.

    Raises SettingError for a flag that does not exist or a value that does not fit, in one line.
    """
    argv, rest = split(parser, line)
    try:
        flags: argparse.Namespace = parser.parse_args(argv)
        return flags, rest
    except (UsageError, argparse.ArgumentError) as error:
        raise SettingError(str(error).removeprefix("argument ")) from None


def split(parser: Any, line: str) -> tuple[list[str], str]:
    """`line` cut into the words of its flags (quotes around values are gone) and the text after them."""
    known = options(parser, hidden=True)
    argv: list[str] = []
    at = _skip(line, 0)
    while at < len(line):
        flag, after = _word(line, at)
        if flag == "--":
            return argv, line[after:].removeprefix(" ") if after < len(line) else ""
        if not _FLAG.match(flag):
            return argv, line[at:]
        option, equals, value = flag.partition("=")
        action = known.get(option)
        if action is None:
            raise SettingError(_unknown(option, known))
        at = _skip(line, after)
        if action.nargs == 0:
            if equals:
                raise SettingError(f"{option} takes no value")
            argv.append(option)
            continue
        if not equals:
            if at >= len(line):
                raise SettingError(f"{option} needs a value: {option} {action.metavar or '…'}")
            value, after = _word(line, at)
            if value == "--" or value.partition("=")[0] in known:
                raise SettingError(f"{option} needs a value before {value}")
            at = _skip(line, after)
        while action.type is names and value.endswith((",", "，", "、")) and at < len(line):
            more, after = _word(line, at)
            value, at = value + more, _skip(line, after)
        argv.append(f"{option}={_unquoted(option, value)}" if option.startswith("--") else option)
        if not option.startswith("--"):
            argv[-1:] = [_long(action) + "=" + _unquoted(option, value)]
    return argv, ""


def _skip(line: str, at: int) -> int:
    found = _SPACE.match(line, at)
    return found.end() if found else at


def _word(line: str, at: int) -> tuple[str, int]:
    found = _WORD.match(line, at)
    assert found is not None
    return found.group(), found.end()


def _long(action: argparse.Action) -> str:
    return next(option for option in action.option_strings if option.startswith("--"))


def _unquoted(option: str, value: str) -> str:
    plain = re.sub(
        r""""([^"]*)"|'([^']*)'""", lambda m: m.group(1) if m.group(1) is not None else m.group(2), value
    )
    outside = re.sub(r""""[^"]*"|'[^']*'""", "", value)
    if outside[:1] in ('"', "'"):
        raise SettingError(f"{option}: a quote is opened and not closed in {value}")
    return plain


def _unknown(option: str, known: dict[str, argparse.Action]) -> str:
    shown = [flag for flag, action in known.items() if action.help != argparse.SUPPRESS]
    close = difflib.get_close_matches(option, shown, n=2, cutoff=0.6)
    meant = f"; did you mean {' or '.join(close)}?" if close else "; --help shows them all."
    return f"there is no flag {option}{meant} A goal that begins with a dash goes after --"


def known_or_raise(given: str, known: Any, what: str) -> None:
    """Raise SettingError, with close matches, where `given` is not among the names in `known`."""
    known = [str(each) for each in known]
    if given in known:
        return
    close = difflib.get_close_matches(given, known, n=3, cutoff=0.5)
    if close:
        raise SettingError(f"there is no {what} {given!r}; did you mean {' or '.join(close)}?")
    few = ", ".join(known[:LISTED]) + (f" and {len(known) - LISTED} more" if len(known) > LISTED else "")
    raise SettingError(f"there is no {what} {given!r}; there are: {few or 'none yet'}")
