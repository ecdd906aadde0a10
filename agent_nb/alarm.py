"""Foreign code on the main thread, cut off when its time is up."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from .errors import CutShort

T = TypeVar("T")

AGAIN_S = 0.2
"""Code that swallows the cut is cut again so often."""

_NOT_SET: Any = object()
_LONGEST_S = 10_000_000.0


def may_cut() -> bool:
    """Whether signals are at home here: on the main thread of a POSIX system."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def within(seconds: float, work: Callable[[], T]) -> T:
    """`work()`, cut by an alarm where signals are at home; elsewhere it runs as long as it likes.

    The cut comes where an interrupt would come, between two steps of Python: one native call that does not
    yield cannot be cut before it returns. An alarm that was set before goes on afterwards.

    Args:
        seconds: how long it may take; infinity: no alarm.

    Raises: errors.CutShort when the time is up; whatever `work` raises.
    """
    if math.isinf(seconds) or not may_cut():
        return work()
    alarm = _Alarm()
    try:
        alarm.set(max(seconds, 0.001))
        return work()
    finally:
        alarm.put_back()


class _Alarm:
    """One alarm, and the one that it stands in for."""

    def __init__(self) -> None:
        self.armed = True
        self.before: Any = _NOT_SET
        self.begun_s = 0.0
        self.pending: tuple[float, float] | None = None

    def ring(self, number: int, frame: FrameType | None) -> None:
        if self.armed:
            raise CutShort("the time was up")

    def set(self, seconds: float) -> None:
        self.before = signal.signal(signal.SIGALRM, self.ring)
        self.begun_s = time.monotonic()
        self.pending = signal.setitimer(signal.ITIMER_REAL, min(seconds, _LONGEST_S), AGAIN_S)

    def put_back(self) -> None:
        """What was before, whatever rings or is pressed meanwhile."""
        pressed = None
        while self.armed or self.pending is not None:
            try:
                self.armed = False
                self._restore()
            except CutShort:
                continue
            except KeyboardInterrupt as error:
                pressed = error
        if pressed is not None:
            raise pressed

    def _restore(self) -> None:
        delay_s, every_s = self.pending or (0.0, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.before is not _NOT_SET:
            signal.signal(signal.SIGALRM, signal.SIG_DFL if self.before is None else self.before)
        if delay_s:
            left_s = delay_s - (time.monotonic() - self.begun_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, 0.001), every_s)
        self.pending = None
