"""Step mode: the run stands still at each station until its reader goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..events import Event
from .approval import HELLO_S, can_type
from .views.moments import Moment, Moments, moment_text

if TYPE_CHECKING:
    from .trace import LiveTrace

Json = dict[str, Any]

ALONE = "nobody was here to press Next, so the run went on by itself"
KEYS = {"": "next", "n": "next", "s": "same", "r": "on", "q": "stop"}
_PROMPT = "Enter = next · s = next of this station · r = run on to the end · q = stop > "


class Stepper:
    """Called with each event after it was shown. Asks as the approval gate does: by the page, by input(), or nobody.

    Raises KeyboardInterrupt where the reader stops the run.
    """

    def __init__(self, trace: LiveTrace, hello_s: float = HELLO_S) -> None:
        self.trace = trace
        self.hello_s = hello_s
        self._moments = Moments()
        self._only = ""
        self._waits = True

    def __call__(self, event: Event) -> None:
        moment = self._moments.take(event)
        if moment is None:
            return
        self.trace.keep(moment)
        if self._waits and self._only in ("", moment.station):
            self._go(self._asked(moment), moment)

    def _go(self, said: str, moment: Moment) -> None:
        if said == "stop":
            raise KeyboardInterrupt
        self._only = moment.station if said == "same" else ""
        self._waits = said not in ("on", "alone")
        if said == "alone":
            self.trace.remark = ALONE
            if self.trace.place == "terminal":
                print(f"({ALONE})")

    def _asked(self, moment: Moment) -> str:
        panel = self.trace.panel
        if panel is not None and panel.alive.wait(self.hello_s):
            question = {"kind": "step", "station": moment.station, "title": moment.title, "html": moment.html}
            return str(panel.ask({**question, "number": len(self.trace.moments)}).get("type"))
        self.hello_s = 0.0  # a page that has not answered by now will not
        if not can_type():
            return "alone"
        if self.trace.place != "terminal":  # there it was printed already
            print(moment_text(moment, len(self.trace.moments)))
        try:
            while (said := KEYS.get(input(_PROMPT).strip().lower()[:1])) is None:
                pass
        except EOFError:
            return "alone"
        return said
