"""A live ledger: a Markdown file beside the store that people can read, written anew soon after every change.

It follows the store and never leads it: where it cannot be written, the memory is kept all the same, and that is
said once.
"""

from __future__ import annotations

import atexit
import pathlib
import threading
import warnings
from collections.abc import Callable

from ..errors import AgentError
from . import ledger
from .record import MemoryRecord

DELAY_S = 0.3
"""Changes within so many seconds are written together."""
SETTING = "ledger"


class Live:
    """The live ledger of one memory.

    Args:
        read: gives the file's name ("" for no ledger) and a number that grows with every change.
        records: gives what there is to write.
    """

    def __init__(
        self, read: Callable[[], tuple[str, int]], records: Callable[[], list[MemoryRecord]]
    ) -> None:
        self._read, self._records = read, records
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self.on: bool | None = None
        """Whether there is a ledger; None while nobody has looked."""
        self.fault = ""
        self._said = self._kept = False

    def touch(self) -> None:
        """Something changed: write the file soon. A fault of the last time is said here, once."""
        if self.fault and not self._said:
            self._said = True
            warnings.warn(f"{self.fault}; the memory itself is kept", stacklevel=4)
        if self.on is None:
            self.on = bool(self._read()[0])
        if self.on and self._timer is None:
            if not self._kept:
                self._kept = True
                atexit.register(self.stop)
            self._timer = threading.Timer(DELAY_S, self.flush)
            self._timer.daemon = True
            self._timer.start()

    def flush(self) -> None:
        """Write the file now, if there is one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        with self._lock:
            try:
                for _ in range(3):  # what was written meanwhile, by another process too, is written as well
                    name, n = self._read()
                    self.on = bool(name)
                    if not name:
                        return
                    ledger.write(pathlib.Path(name), self._records())
                    if self._read()[1] == n:
                        break
                self.fault, self._said = "", False
            except AgentError as error:
                self.fault = f"the live ledger could not be written: {error}"

    def stop(self) -> None:
        """Write what is still to be written; nothing runs afterwards."""
        if self._timer is not None:
            self.flush()
