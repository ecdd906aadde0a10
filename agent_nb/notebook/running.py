"""A run in a cell: from flags to a session's events, shown as they come, to the value in `_agent`."""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import places
from ..errors import AgentStopped, RunFailed, SettingError
from ..events import Requested, RunStarted
from ..result import Result
from ..task import Task
from ..transcript import redacted
from .arguments import known_or_raise
from .cell import cell_id
from .desk import Desk

FINE = ("done", "needs_input")
_LIMITS = {"max_steps": "steps", "max_tokens": "tokens", "max_cost": "cost", "max_seconds": "seconds"}


def run(desk: Desk, flags: argparse.Namespace, goal: str) -> None:
    """Work on `goal` in the session that the flags name. Raises RunFailed, AgentStopped or AgentError."""
    if not goal.strip():
        raise SettingError("the goal is empty; write under %%agent what the agent should find out or do")
    for name in flags.use or ():
        known_or_raise(name, _variables(desk), "variable")
    with _stoppable(desk, goal):
        cell = cell_id(desk.shell)
        memory = not (flags.no_memory or flags.user)
        first = not (places.home() / "sessions").exists()
        session = desk.session(flags.session, flags.new, memory, cell)
        if first:
            session.tell(greeting())
        overrides = _overrides(desk, session, flags)
        model = overrides.get("model")
        try:
            own = overrides.get("memory", session.memory)
            outcome = _shown(
                desk,
                session,
                lambda: session.stream(goal, cell=cell, **overrides),
                own,
                flags.out,
                flags.step,
            )
        finally:
            if flags.record and model is not None and session.model is model:
                session.model = model.model  # what was recorded with goes on without the recorder
    _judge(outcome, flags.keep_going)


def greeting() -> str:
    """What a first run says about what was found."""
    from ..models import credentials_found

    key = credentials_found()
    found = f"credentials were found ({key}); -m offline does without" if key else "no key was found"
    return (
        f"first run here: {found}; memories and transcripts stay on this machine "
        "(%agent status names what is there, %agent what can be typed)"
    )


def resume(desk: Desk, flags: argparse.Namespace) -> None:
    """Go on with the current session's last run, with these valves.

    What that run was not allowed to do – tools, memory, writing – it is not allowed now either.
    """
    with _stoppable(desk, "resume"):
        session = desk.session(memory=False)
        was, own = session.last_run(), session.memory
        session.memory = desk.memory(was.user) if was is not None and was.user else None
        try:
            outcome = _shown(desk, session, lambda: session.stream_resume(**limits(flags)), session.memory)
        finally:
            session.memory = own
    _judge(outcome, keep_going=False)


def limits(flags: argparse.Namespace) -> dict[str, Any]:
    """The fields of Limits that the flags set."""
    given = {field: getattr(flags, flag) for flag, field in _LIMITS.items()}
    return {field: value for field, value in given.items() if value is not None}


def _overrides(desk: Desk, session: Any, flags: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {"use": flags.use or ()}
    if flags.no_memory and flags.user:
        raise SettingError("--user names a memory and --no-memory takes none; leave one of them out")
    if flags.no_memory:
        found["memory"] = None
    elif flags.user:
        found["memory"] = desk.memory(flags.user)
    if flags.no_tools and flags.tools:
        raise SettingError("--tools names tools and --no-tools takes none; leave one of them out")
    tools = () if flags.no_tools else flags.tools
    if tools:
        mounted = session.toolbox(**{k: v for k, v in found.items() if k == "memory"}).names
        for name in tools:
            known_or_raise(name, mounted, "tool")
    given = limits(flags)
    if given or tools is not None:
        found["limits"] = session.limits.but(**given, tools=tools)
    if flags.model:
        from ..models import choose

        choose(flags.model, desk.shell.user_ns)  # a wrong name must not stay in the session
        found["model"] = flags.model
    if flags.record:
        from ..models.replay import RecordingModel

        if pathlib.Path(flags.record).expanduser().is_dir():
            raise SettingError(f"--record {flags.record} is a folder; name a file in it")
        if flags.model:
            session.model = flags.model
        found["model"] = RecordingModel(session.model, flags.record)
    if flags.approve:
        found["approve"] = flags.approve
    if flags.plan:
        found["planner"] = flags.plan
    return found


def _variables(desk: Desk) -> list[str]:
    hidden = getattr(desk.shell, "user_ns_hidden", {})
    return [name for name in desk.shell.user_ns if not name.startswith("_") and name not in hidden]


@contextlib.contextmanager
def _stoppable(desk: Desk, goal: str) -> Iterator[None]:
    """However early or late the stop comes, it is one line, and `_agent` tells of it."""
    before = desk.shell.user_ns.get("_agent")
    try:
        yield
    except KeyboardInterrupt:
        if desk.shell.user_ns.get("_agent") is before:
            reason = "stopped by the user before the run began"
            task = Task(goal=goal, stop_reason="interrupted", reason=reason)
            desk.shell.user_ns["_agent"] = Result.of(task, ())
        raise AgentStopped("stopped by the user") from None


def _shown(
    desk: Desk,
    session: Any,
    start: Callable[[], Iterator[Any]],
    memory: Any,
    out: str | None = None,
    step: bool = False,
) -> Any:
    """Walk the run and show it; bind the result, also where it was stopped, and return it.

    Args:
        memory: what the trace's ids are looked up in, or None.
        step: stand still at each station.
    """
    from . import inspector, studying
    from .approval import Gate
    from .stepping import Stepper
    from .trace import LiveTrace

    trace = LiveTrace(look=inspector.look(memory) if memory is not None else None)
    stepper = Stepper(trace) if step else None
    session.asker = Gate(trace)
    before = session.result
    stream = start()
    try:
        for event in stream:
            if isinstance(event, RunStarted):
                studying.seat(session.model, trace)  # it is chosen by now
            if isinstance(event, Requested) and stepper is None:
                continue
            told = redacted(event)
            trace.show(told)
            if stepper is not None:
                stepper(told)
    except KeyboardInterrupt:
        pass  # it came between two events; closing the stream ends the run as one inside it would
    finally:
        with _undisturbed():
            stream.close()  # type: ignore[attr-defined]
            ended = session.result if session.result is not before else None
            if ended is not None:
                desk.shell.user_ns.update({name: ended for name in ("_agent", out) if name})
            trace.close([redacted(event) for event in ended.trace] if ended is not None else None)
    if ended is None:
        raise KeyboardInterrupt
    return ended


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """The stop button pressed again finds the run stopped already; what it leaves behind must be whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    was = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, was)


def _judge(outcome: Any, keep_going: bool) -> None:
    """Fail the cell where the run failed, so that Run All and a headless run notice."""
    if outcome.stop_reason == "interrupted":
        raise AgentStopped("stopped by the user; `%agent resume` goes on") from None
    if outcome.stop_reason in FINE or keep_going:
        return
    raise RunFailed(_told(outcome)) from None


def _told(outcome: Any) -> str:
    why = f": {outcome.reason}" if outcome.reason else ""
    hint = "the partial result is in _agent"
    if outcome.stop_reason.startswith("limit_"):
        flag = {"limit_steps": "--max-steps", "limit_tokens": "--max-tokens", "limit_cost": "--max-cost"}
        more = flag.get(outcome.stop_reason, "--max-seconds")
        hint += f", and `%agent resume {more} …` goes on"
    elif outcome.stop_reason == "error":
        hint += ", and `%agent resume` tries again"
    return f"{outcome.stop_reason}{why}; {hint}"
