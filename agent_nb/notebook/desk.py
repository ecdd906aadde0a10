"""What the magics of one notebook share: its sessions, its memories and its standing instructions."""

from __future__ import annotations

from typing import Any

from .cell import session_name

PANELS = 8
"""Live pages besides traces that a notebook has at most."""


class Desk:
    """The sessions that this kernel has open; the one used last is the current one.

    Args:
        shell: the InteractiveShell whose variables the agent works on.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._rules: str | None = None
        self.current: Any = None
        self._open: dict[str, Any] = {}
        self._cells: dict[str, str] = {}
        self._began: dict[str, str] = {}
        self._memories: dict[str, Any] = {}
        self._panels: dict[str, Any] = {}

    def session(self, name: str | None = None, new: bool = False, memory: bool = True, cell: str = "") -> Any:
        """The current session, or the one of that name, made where there is none; `new`: an empty one.

        Args:
            memory: False leaves the user's store alone, unless it is open already.
            cell: id of the cell that asks. Run again, it finds the session that it was in.
        """
        if name is None and not new:
            name = self._cells.get(cell)
        if name is not None or new or self.current is None:
            self.current = self._named(name, new)
        if cell:
            self._settle(cell, self.current.name, new)
        if memory and self.current.memory is None:
            self.current.memory = self.memory()
        return self.current

    def _settle(self, cell: str, name: str, new: bool) -> None:
        """Note where a cell is; the cells after one that begins anew come along when it does so again."""
        was = self._began.get(cell) if new else None
        self._cells = {each: name if at == was else at for each, at in self._cells.items()} | {cell: name}
        if new:
            self._began[cell] = name

    @property
    def rules(self) -> str:
        """The notebook's standing instructions; in a new kernel those of its session's last run."""
        if self._rules is None and self.current is None:
            self.session(memory=False)
        return self._rules or ""

    @rules.setter
    def rules(self, rules: str) -> None:
        self._rules = rules
        if self.current is not None:
            self.current.rules = rules

    def scatter(self) -> None:
        """The user chose a session by hand: cells that are run again go there, too."""
        self._cells.clear()
        self._began.clear()

    def _named(self, name: str | None, new: bool) -> Any:
        if name is None and (new or self._default is not None):
            name = self._default or "session"
        if new:
            name = self._unused(name or "session")
        if name is None or name not in self._open:
            session = self._make(name)
            self._open[session.name] = session
            name = session.name
        return self._open[name]

    def memory(self, user: str = "default") -> Any:
        """The memory of that user; opened once."""
        if user not in self._memories:
            from ..memory import Memory

            self._memories[user] = Memory(user=user)
        return self._memories[user]

    def names(self) -> list[str]:
        """Names of all sessions, those without a turn too; the one used last first."""
        from ..session import Session

        saved = Session.names()
        return [name for name in self._open if name not in saved] + saved

    def forget(self, name: str) -> None:
        """Close the session of that name; nothing on disk changes."""
        session = self._open.pop(name, None)
        self._cells = {cell: at for cell, at in self._cells.items() if at != name}
        if session is not None and session is self.current:
            self.current = None

    def keep(self, cell: str, panel: Any) -> None:
        """Keep a live page of that cell; the one that stood there before, and the oldest of many, are closed."""
        panels = [self._panels.pop(cell, None)]
        self._panels[cell] = panel
        panels += [self._panels.pop(old) for old in list(self._panels)[:-PANELS]]
        for old in filter(None, panels):
            old.close()

    def close(self) -> None:
        """Close the live pages and the memories."""
        panels, self._panels = self._panels, {}
        for panel in panels.values():
            panel.close()
        memories, self._memories = self._memories, {}
        for memory in memories.values():
            memory.close()

    @property
    def _default(self) -> str | None:
        return session_name(self.shell)

    def _make(self, name: str | None) -> Any:
        from ..session import Session

        session = Session(name=name, memory=None, namespace=self.shell.user_ns, rules=self._rules or "")
        if self._rules is None:
            was = session.last_run()
            self._rules = session.rules = was.rules if was is not None else ""
        return session

    def _unused(self, name: str) -> str:
        taken = set(self.names())
        number = 1
        while (candidate := name if number == 1 else f"{name}-{number}") in taken:
            number += 1
        return candidate
