"""A run shown while it happens, and what it leaves behind in the notebook."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..errors import one_line
from ..events import Answered, Event, RunEnded, Streamed
from .views import Board, Lines, run_html, run_text
from .views.moments import Moment, moment_html, moment_text, moments_html, moments_text
from .views.style import SECTION, tag

if TYPE_CHECKING:
    from .trace_widget import TracePanel

Json = dict[str, Any]

BATCH_S = 0.04
"""Changes are sent together, this often at most."""
BLIND_S = 1.0
"""How often the whole state is sent to a page that has not said hello (it cannot ask for it)."""

_NOTE = (
    '<div style="opacity:.68;font-size:12px">The agent is at work; its trace will stand here. '
    "After a reload in the middle, <code>%agent trace</code> draws it.</div>"
)


def place() -> str:
    """Where a trace can be shown now.

    Returns: "page" (a kernel whose front end can answer), "file" (a kernel that runs headless),
    "terminal" (plain IPython), or "" (no IPython).
    """
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None:
        return ""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return "terminal"
    return "page" if getattr(kernel, "_allow_stdin", False) else "file"


class LiveTrace:
    """Shows the events of one run as they come.

        trace = LiveTrace()
        try:
            for event in session.stream(goal):
                trace.show(event)
        finally:
            trace.close()

    In a notebook it is a widget while the run goes on, and HTML with plain text afterwards, in the same
    place of the cell's output; in a headless kernel only the latter; in a terminal it prints lines;
    elsewhere nothing.

    Args:
        run_id: shown nowhere; tells late clicks of other runs apart. "" makes a new one.
        look: draws the memory of an id that the reader clicks on, or None.
    """

    def __init__(self, run_id: str = "", look: Callable[[str], str] | None = None) -> None:
        self.run_id = run_id or uuid.uuid4().hex
        self.place = place()
        self._look = look
        self.panel: TracePanel | None = None
        self.closed = False
        self.fault = ""
        self.moments: list[Moment] = []
        self.remark = ""  # how step mode went, where it is to be told
        self._events: list[Event] = []
        self._lines = Lines()
        self._board = Board()
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None
        self._slot: Any = None
        self._sent_s = 0.0

    def show(self, event: Event) -> None:
        """Take up the next event of the run. A fault in drawing ends the drawing, never the run."""
        if event.saved:
            self._events.append(event)
        try:
            if self.place == "terminal":
                self._print(event)
            elif self.place == "page" and not self.closed and not self.fault:
                self._draw(event)
        except Exception as error:
            self.fault = one_line(error)

    def keep(self, moment: Moment) -> None:
        """Take up a moment of step mode: it stays below the run; on the page as soon as the next one comes."""
        self.moments.append(moment)
        if self.place == "terminal":
            print(moment_text(moment, len(self.moments)), flush=True)
        elif self.panel is not None:
            self._flush()
            with self._lock:
                self.panel.send({"ops": self._passed()[-1:]})

    def _passed(self) -> list[Json]:
        """The moments before this one, as changes of the page."""
        made = [
            tag("div", moment_html(moment, number), SECTION)
            for number, moment in enumerate(self.moments[:-1], 1)
        ]
        return [
            {"op": "put", "key": f"moment-{number}", "slot": "moments", "html": html, "age": 0}
            for number, html in enumerate(made, 1)
        ]

    def close(self, events: Iterable[Event] | None = None) -> None:
        """Leave HTML and text of the whole run (of `events`, else of what was shown) where the widget was."""
        if self.closed:
            return
        self.closed = True
        told = self._events if events is None else [event for event in events if event.saved]
        try:
            if self.place == "terminal":
                self._print_rest(told)
            elif self.place and told:
                self._publish(told)
        finally:
            self._over.set()
            if self.panel is not None:
                self.panel.close()

    # -- the page --------------------------------------------------------------------------------------------

    def _draw(self, event: Event) -> None:
        with self._lock:
            self._board.add(event)
        if self.panel is None:
            self._open()
        elif time.monotonic() - self._sent_s >= BATCH_S and not isinstance(event, Streamed):
            self._flush()  # a tool that holds the interpreter may follow, and the ticker gets no turn

    def _open(self) -> None:
        from IPython.display import display

        from .trace_widget import TracePanel

        self.panel = TracePanel(self._whole, self._lock, self._look)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.panel.model_id}
        bundle = {"text/plain": "The agent is at work.", "text/html": _NOTE}
        bundle["application/vnd.jupyter.widget-view+json"] = view  # type: ignore[assignment]
        self._slot = display(  # type: ignore[no-untyped-call]
            bundle, raw=True, display_id=f"agent-{self.run_id}"
        )
        self._ticker = threading.Thread(target=self._tick, name="agent-trace", daemon=True)
        self._ticker.start()

    def _tick(self) -> None:
        blind_s = 0.0
        while not self._over.wait(BATCH_S) and not self.fault:
            try:
                blind_s += BATCH_S
                if self.panel is not None and blind_s >= BLIND_S and not self.panel.alive.is_set():
                    blind_s = 0.0
                    self.panel.send_whole()
                else:
                    self._flush()
            except Exception as error:
                self.fault = one_line(error)

    def _flush(self) -> None:
        with self._lock:
            if self.closed or self.panel is None:
                return
            ops = self._board.take()
            self._sent_s = time.monotonic()
            if ops:
                self.panel.send({"ops": ops})

    def _whole(self) -> Json:
        with self._lock:
            question = self.panel.question if self.panel else None
            return {"full": True, "ops": [*self._board.state(), *self._passed()], "ask": question}

    def _publish(self, events: list[Event]) -> None:
        from IPython.display import display

        try:
            html = run_html(events) + moments_html(self.moments, self.remark)
            told = [run_text(events), moments_text(self.moments, self.remark)]
            bundle = {"text/html": html, "text/plain": "\n\n".join(filter(None, told))}
        except Exception as error:  # the answer must reach its reader
            answers = [event.text for event in events if isinstance(event, Answered)]
            told = [*answers, f"The trace could not be drawn: {one_line(error)}"]
            bundle = {"text/plain": "\n\n".join(told)}
        if self._slot is None:
            display(bundle, raw=True)  # type: ignore[no-untyped-call]
        else:
            self._slot.update(bundle, raw=True)

    # -- the terminal ----------------------------------------------------------------------------------------

    def _print(self, event: Event) -> None:
        text = self._lines.add(event)
        if text:
            print(text, flush=True)

    def _print_rest(self, events: list[Event]) -> None:
        # A run that was stopped tells its last events only after the loop over them was left.
        shown = {id(event) for event in self._events}
        if any(isinstance(event, RunEnded) for event in self._events):
            return
        for event in events:
            if id(event) not in shown:
                with contextlib.suppress(StopIteration):
                    self._print(event)
