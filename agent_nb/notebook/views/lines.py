"""A run told line by line as it happens, for a plain terminal."""

from __future__ import annotations

from ...events import (
    Answered,
    ApprovalGiven,
    CallFailed,
    Consolidated,
    Consulted,
    Event,
    Judged,
    Loaded,
    Noticed,
    Observed,
    Planned,
    Reflected,
    RunEnded,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from . import text, wording
from .story import Run


class Lines:
    """Gives for each event the text to print; what all texts say together is what `run_text` says."""

    def __init__(self) -> None:
        self.run = Run()

    def add(self, event: Event) -> str:
        """The lines for `event`, without a last line break; "" where there is nothing to say yet."""
        if isinstance(event, RunStarted):
            self.run = Run()
        self.run.add(event)
        return "\n".join(self._lines(event))

    def _lines(self, event: Event) -> list[str]:
        run = self.run
        match event:
            case RunStarted():
                return text.head_lines(run)
            case Loaded():
                return text.load_lines(event)
            case Planned() if len(event.subtasks) > 1 or event.note:
                return text.plan_lines(event)
            case ToolStarted() | ToolFinished():
                return self._tool(event)
            case ApprovalGiven():
                return [
                    f"    {event.verdict} by {event.by}"
                    + (f": {wording.clip(event.reason, 200)}" if event.reason else "")
                ]
            case CallFailed() | Consulted() | Noticed() | Observed() | Reflected():
                step = run.step(event.step)
                back = step.remarks and step.remarks[-1][0] in ("sent back", "next")
                if isinstance(event, Observed) and not back:
                    return []
                kind, said = step.remarks[-1]
                return [f"  ! {kind}: {wording.clip(said, 300)}"]
            case Answered() if event.text.strip():
                return ["", *text.answer_lines(event), ""]
            case Judged() if event.verdict != "go_on":
                return text.criteria_lines(run)
            case Consolidated():
                return text.consolidate_lines(event)
            case RunEnded():
                return text.end_lines(run)
        return []

    def _tool(self, event: ToolStarted | ToolFinished) -> list[str]:
        step = self.run.step(event.step)
        position, call = next((i, c) for i, c in enumerate(step.calls) if c.id == event.id)
        if isinstance(event, ToolStarted):
            return text.asked_lines(step, call, position)
        return text.result_lines(step, call, position)
