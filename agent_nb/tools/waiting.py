"""Work in a thread of its own while the caller waits in short waits, so that an interrupt gets through."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import CutShort

T = TypeVar("T")
WAIT_S = 0.05
STOP_S = 0.4
"""How long an interrupted caller waits for the work to end; after that it is left behind."""


def waiting(work: Callable[[], T], stop: Callable[[], None], name: str = "tool") -> T:
    """`work()`, run beside the waiting caller.

    Args:
        stop: asks the work to end; called on an interrupt and when the time is up, until the work has ended.

    Raises:
        whatever the work raises; the KeyboardInterrupt or CutShort, after the work was told to stop.
    """
    outcome: list[Any] = []
    done = threading.Event()  # an interrupted Thread.join takes the thread for ended
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome[:] = [True, context.run(work)]
        except BaseException as error:
            outcome[:] = [False, error]
        finally:
            done.set()

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        while not done.wait(WAIT_S):
            pass
    except (KeyboardInterrupt, CutShort):
        waited_s = 0.0
        while not done.is_set() and waited_s < STOP_S:
            stop()  # again and again: it may come before the work has begun
            done.wait(WAIT_S)
            waited_s += WAIT_S
        raise
    if outcome[0]:
        result: T = outcome[1]
        return result
    raise outcome[1]


def awaited(coroutine: Any) -> Any:
    """The result of a coroutine, run by a loop of its own: the kernel's loop is busy with this very cell."""
    running: list[Any] = []

    async def main() -> Any:
        running[:] = [asyncio.get_running_loop(), asyncio.current_task()]
        return await coroutine

    def stop() -> None:
        if running and not running[0].is_closed():
            running[0].call_soon_threadsafe(running[1].cancel)

    return waiting(lambda: asyncio.run(main()), stop, "async-tool")
