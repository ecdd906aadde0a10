"""Who runs a session: one process at a time, by an advisory lock beside the transcript.

The lock is the operating system's own, so that it vanishes with the process that held it. The file beside it tells
who ran last. Reading needs no lock. Where there is no `fcntl` (Windows) nobody is kept out.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
from typing import Any

from .errors import SettingError
from .places import private_file

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Lease:
    """The right to write one transcript, from `take` to `give_back`.

    Args:
        path: of the transcript; the lock is NAME.lock beside it.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.session = path.name.removesuffix(".jsonl")
        self.path = path.with_name(self.session + ".lock")
        self._handle: int | None = None

    def take(self) -> str:
        """Take it. Returns "" or which other living process has run this session before.

        Raises: SettingError where another process is running it right now.
        """
        if self._handle is not None or fcntl is None:
            return ""
        try:
            handle = os.open(private_file(self.path), os.O_RDWR)
        except OSError:
            return ""  # the transcript itself will tell what is wrong with the folder
        who = _owner(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if who.get("pid") == os.getpid():
                return ""  # a run of this process that nobody has ended
            raise SettingError(
                f"session {self.session!r} is running in another kernel ({_named(who)}); wait until it is done, or go "
                "on in a copy (%agent fork NAME)"
            ) from None
        except OSError:  # a file system without locks
            os.close(handle)
            return ""
        if os.fstat(handle).st_nlink == 0:  # the session was deleted between the two calls
            os.close(handle)
            return self.take()
        self._handle = handle
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode(), 0)
        return _named(who) if _lives(who) else ""

    def give_back(self) -> None:
        """Let others run the session."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(
                    handle, fcntl.LOCK_UN
                )  # closing would not do, where a child process has the handle too
            os.close(handle)


def _owner(handle: int) -> dict[str, Any]:
    try:
        told = json.loads(os.pread(handle, 1_000, 0))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _named(who: dict[str, Any]) -> str:
    return f"process {who.get('pid', '?')} on {who.get('host', 'this machine')}"


def _lives(who: dict[str, Any]) -> bool:
    """Whether that is another process, and one that still lives as far as can be told from here."""
    pid = who.get("pid")
    if not isinstance(pid, int) or pid <= 0 or pid == os.getpid() or who.get("host") != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
