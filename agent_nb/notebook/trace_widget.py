"""The one widget: a page that shows changes, and says what its reader clicks.

Its clicks arrive on another thread than the main one wherever the front end talks to a subshell of the
kernel; whether they do is found out by a handshake, never assumed.
"""

from __future__ import annotations

import _thread
import pathlib
import signal
import threading
import uuid
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

Json = dict[str, Any]

ANSWERS = ("approve", "deny", "next", "same", "on", "stop", "reply")
"""What a question may be answered with; `stop` without a question stops the run wherever it is."""

_STATIC = pathlib.Path(__file__).parent / "static"


class TracePanel(anywidget.AnyWidget):
    """The page's side stands in static: trace.js, gates.js, keys.js. `state()` gives the message that draws everything.

    `sending` is held from before a message is made until it is sent: a state that was read on one thread must
    not arrive after a newer message of another, or the page would take back a question that is still open.

    `alive` is set once a click has been seen to arrive while the main thread is busy; only then does the page
    show buttons.
    """

    _esm = "\n".join((_STATIC / name).read_text("utf-8") for name in ("keys.js", "gates.js", "trace.js"))
    _css = _STATIC / "trace.css"
    key = traitlets.Unicode("").tag(sync=True)
    live = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        state: Callable[[], Json],
        sending: threading.RLock | None = None,
        look: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(key=uuid.uuid4().hex)
        self.sending = sending or threading.RLock()
        self.alive = threading.Event()
        self.open = True
        self.question: Json | None = None
        self._answered = threading.Event()
        self._answer: Json = {}
        self._state, self._look = state, look
        self._main = threading.main_thread().ident
        if hasattr(self.comm, "_reply_subshell_for"):
            # ipykernel 7.4 sends a comm's messages back to the shell that last published on it: the busy one.
            self.comm._reply_subshell_for = None
        self.on_msg(self._said)

    def _said(self, _widget: Any, content: Json, _buffers: Any) -> None:
        """A message of the page. On a subshell's thread, so it sets flags and touches nothing of the run."""
        if content.get("run") != self.key or not self.open:
            return
        match content.get("type"):
            case "hello":
                if threading.get_ident() != self._main and not self.alive.is_set():
                    self.alive.set()
                    self.live = True
                self.send_whole()
            case "stop" if "ask" not in content:
                interrupt(self._main)
            case "record" if self._look is not None:
                html = self._look(str(content.get("id") or ""))
                with self.sending:
                    self.send({"record": html})
            case kind if kind in ANSWERS and self.question and content.get("ask") == self.question["ask"]:
                if (
                    not self._answered.is_set()
                ):  # the first click counts, though the main thread may read it late
                    self._answer = content
                    self._answered.set()

    def send_whole(self) -> None:
        """Draw everything anew."""
        with self.sending:
            self.send(self._state())

    def ask(self, question: Json) -> Json:
        """Show `question` and wait for the answer. A KeyboardInterrupt ends the wait."""
        self._answered.clear()
        try:
            with self.sending:
                self.question = {**question, "ask": uuid.uuid4().hex}
                self.send({"ask": self.question})
            while not self._answered.wait(0.1):  # short waits, so that an interrupt is seen
                pass
            return self._answer
        finally:
            with self.sending:
                self.question = None
                self.send({"ask": None})

    def close(self) -> None:
        """Remove the widget; clicks that are still under way are ignored."""
        self.open = False
        super().close()


def interrupt(main: int | None) -> None:
    """What Ctrl-C does, wherever the main thread is."""
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:  # Windows
        _thread.interrupt_main()
