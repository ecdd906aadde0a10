"""A run walked from its first event to its last: each is saved, then shown, and the books agree however it ends."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Generator, Iterator, Sequence

from . import events, loop, transcript
from .bench import Bench
from .errors import StoreError, one_line
from .events import Event
from .task import Task
from .transcript import Transcript


def walk(
    task: Task, bench: Bench, saved: Transcript, shown: list[Event], opening: Sequence[Event]
) -> Generator[Event, None, None]:
    """Work on `task`, one event at a time. Closing the generator, and an interrupt, end it as one inside would.

    Args:
        saved: where each event goes before it is shown. shown: gets them as well, for the result.
        opening: the first event, and what is told behind it.
    """
    steps = loop.run(task, bench)

    def keep(event: Event) -> Event:
        if event.saved:
            shown.append(event)
        saved.append(event)
        return event

    def recover() -> None:
        """Save the last event, where an interrupt came just before its line was written."""
        last = shown[-1] if shown else opening[0]
        if all(event is not last for event in saved.events[-1:]):
            saved.append(last)

    try:
        yield keep(opening[0])
        try:
            for event in itertools.chain(opening[1:], steps):
                keep(event)
                with bench.waiting():
                    yield event
        except KeyboardInterrupt:
            recover()
            for event in _closing(task, bench, shown):
                yield keep(event)
    except StoreError as error:
        # It cannot be saved any more; it is still shown, and the result still tells what was found.
        task.stop_reason, task.reason, task.done = "error", one_line(error), False
        shown.append(loop.ended(task, bench))
        yield shown[-1]
    finally:
        steps.close()  # where this generator was closed: the model's stream ends before the books are made up
        with contextlib.suppress(StoreError):
            recover()
            for event in _closing(task, bench, shown):
                keep(event)


def _closing(task: Task, bench: Bench, shown: Sequence[Event]) -> Iterator[Event]:
    """What a run that was stopped still lacks: an answer to every pending call, the partial answer, the end."""
    if any(isinstance(event, events.RunEnded) for event in shown):
        return
    if not task.stop_reason:
        task.stop_reason, task.reason = "interrupted", "stopped by the user"
    if task.messages and task.messages[-1]["role"] == "assistant" and task.calls:
        results = {seen.id: seen.block() for seen in task.results}
        content = [results.get(c["id"]) or transcript.interrupted(c["id"]) for c in task.calls]
        message = {"role": "user", "content": content}
        task.messages.append(message)
        task.observations += task.results
        yield events.Observed(run=task.run, step=task.steps, message=message)
    if not any(isinstance(event, events.Answered) for event in shown):
        yield loop.answered(task, bench)
    yield loop.ended(task, bench)
