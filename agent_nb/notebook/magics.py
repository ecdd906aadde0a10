"""The magics themselves: `%%agent`, `%agent` and `%memory`. Each hands its text on as it was typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.magic import no_var_expand

from ..errors import SettingError
from .desk import Desk

Magic = Callable[..., None]

# What the magics need is imported when one of them is used: loading the extension takes milliseconds.


class Magics:
    """The magic functions over one desk.

    Args:
        desk: sessions and memories of the notebook.
        agent, memory: the names under which they are registered.
    """

    def __init__(self, desk: Desk, agent: str = "agent", memory: str = "memory") -> None:
        self.desk = desk
        self.raw_cell = ""
        self.names = {"agent": agent, "memory": memory}

    def agent(self, line: str, cell: str | None = None) -> None:
        """`%%agent`: the cell's text is a goal. `%agent VERB`: sessions, trace, tools, cost and the like."""
        from . import agent_verbs, arguments, running

        if cell is None:
            self._verb("agent", agent_verbs.verbs(), line)
            return
        flags, first = arguments.read(arguments.RUN, line)
        if flags.help:
            print(help_text(self.names["agent"]))
            return
        body = self._as_typed(cell)
        running.run(self.desk, flags, f"{first}\n{body}" if first and body.strip() else first or body)

    def memory(self, line: str) -> None:
        """`%memory VERB`: look at what is remembered, add to it, mend it."""
        from . import memory_verbs

        self._verb("memory", memory_verbs.verbs(), line)

    def remember_cell(self, info: Any) -> None:
        """Before each cell: keep its text, to tell a line end that was typed from one that IPython added."""
        self.raw_cell = str(getattr(info, "raw_cell", "") or "")

    def _as_typed(self, cell: str) -> str:
        return cell[:-1] if cell.endswith("\n") and not self.raw_cell.endswith(cell) else cell

    def _verb(self, magic: str, verbs: dict[str, Any], line: str) -> None:
        from .arguments import known_or_raise
        from .verbs import MEANT, help_sheet

        name, _, text = line.strip().partition(" ")
        if name in ("", "--help", "-h", "help", "?", "??"):
            help_sheet(f"%{self.names[magic]}", verbs, text.strip()).show()
            return
        verb = verbs.get(name)
        if verb is None:
            hint = (
                f"; a goal goes into a cell that begins with %%{self.names['agent']}"
                if magic == "agent"
                else ""
            )
            if magic == "memory" and name in MEANT:
                raise SettingError(f"there is no %memory verb {name!r}; did you mean {MEANT[name]}?")
            try:
                known_or_raise(name, verbs, f"%{self.names[magic]} verb")
            except SettingError as error:
                raise SettingError(f"{error}{hint}") from None
            return
        if text.strip() in ("--help", "-h"):
            help_sheet(f"%{self.names[magic]}", verbs, name).show()
            return
        verb.work(self.desk, text.strip())


_AGENT = """Give the agent a goal, or look at what it did.

%%{name} [flags]
the goal, in any words

%%{name} --help   all flags, with examples
%{name}           all verbs: status, sessions, trace, tools, cost, resume …
"""
_MEMORY = """Look at what the agent remembers, add to it, mend it.

%{name}           all verbs: search, recall, add, show, edit, forget …
"""


def help_text(name: str = "agent") -> str:
    """All flags of `%%agent`, with examples."""
    from . import arguments

    told: str = arguments.RUN.format_help()
    return told.replace("::\n\n  %%agent", f"%%{name}", 1).strip()


def registered(magics: Magics) -> dict[str, dict[str, Magic]]:
    """The functions to register, kind → name → function; no variable is expanded in their text."""

    @no_var_expand
    def agent(line: str, cell: str | None = None) -> None:
        magics.agent(line, cell)

    @no_var_expand
    def memory(line: str) -> None:
        magics.memory(line)

    name = magics.names["agent"]
    agent.__doc__ = _AGENT.format(name=name)
    memory.__doc__ = _MEMORY.format(name=magics.names["memory"])
    agent.__name__, memory.__name__ = magics.names["agent"], magics.names["memory"]
    return {
        "cell": {magics.names["agent"]: agent},
        "line": {magics.names["agent"]: agent, magics.names["memory"]: memory},
    }
