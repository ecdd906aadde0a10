"""One question to the model and one usable reply, whatever goes wrong on the way."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import dispatch, replies, transcript, window
from .alarm import within
from .errors import AgentError, ContextFull, CutShort, ModelError, ModelUnavailable, one_line
from .events import Acted, CallFailed, CallStarted, Consulted, Event, Noticed, Observed, Requested, Streamed
from .models.protocol import takes_tool_choice
from .redact import redact
from .replies import Reply
from .task import Task

if TYPE_CHECKING:
    from collections.abc import Generator

    from .bench import Bench

Json = dict[str, Any]

MAX_TOKENS = 8_192
"""Output limit of one call; a reply cut inside a tool call is asked for again with four times as much."""

ATTEMPTS = 3
"""How often one call is tried when the server is overloaded or the stream breaks."""

CONSULT_TOKENS = 2_048
"""Output limit of a question beside the conversation."""

LONGEST_WAIT_S = 60.0


LAST_CALL = (
    "[No further call is possible: answer now, without a tool, with what you have, and say what is missing.]"
)

_END: Any = object()


class _OutOfTime(Exception):
    """The seconds valve closed while the reply was streaming."""


def converse(task: Task, bench: Bench) -> Generator[Event, None, Reply]:
    """Ask for the next move; each fault that asking again can mend is mended once."""
    mended: set[str] = set()
    nudge, room = "", _room(bench.model)
    while True:
        reply = yield from _call(task, bench, nudge, room)
        fault = (
            "room" if reply.more_room else reply.ends if reply.retry or reply.ends == "context_full" else ""
        )
        if not fault or fault in mended or (fault == "context_full" and not bench.shrink()):
            return reply
        mended.add(fault)
        yield Noticed(run=task.run, step=task.steps, text=f"{reply.problem}; asked again")
        nudge = reply.retry
        if fault == "room":
            room *= 4


def last_word(task: Task, bench: Bench) -> Iterator[Event]:
    """A run that goes in circles says what it knows, in one call more that may name no tool.

    Only where the valves leave room for it and the model can be told; else the last results stand for themselves.
    """
    circle = task.stop_reason == "no_progress" and task.messages[-1]["role"] == "user"
    if not circle or bench.closed_valve(task)[0] or not takes_tool_choice(bench.model):
        return
    task.steps += 1
    said = task.text
    reply = yield from _call(task, bench, "", _room(bench.model), last=True)
    task.text = task.text or said
    if reply.calls:  # a server that takes no notice of tool_choice
        task.calls = reply.calls
        task.results = [
            dispatch.refusal(c, "not_allowed", "no call is possible any more") for c in task.calls
        ]
        message: Json = {"role": "user", "content": [seen.block() for seen in task.results]}
        task.messages.append(message)
        yield Observed(run=task.run, step=task.steps, message=message)


def _is_last(task: Task, bench: Bench, view: window.Window) -> bool:
    """Whether the valves leave room for this call only, after others whose results it can answer with."""
    if not bench.forecast.calls or task.messages[-1]["role"] != "user":
        return False
    cost = functools.partial(cost_of, bench.model)
    after = bench.forecast.closes(view, task.usage, bench.limits, cost, calls=2)
    return (task.steps >= bench.limits.steps or bool(after[0])) and takes_tool_choice(bench.model)


def _call(
    task: Task, bench: Bench, nudge: str, room: int, last: bool = False
) -> Generator[Event, None, Reply]:
    tools, unshown = bench.shown(task)
    view = window.build(
        task,
        tools,
        bench.turns,
        bench.rules,
        bench.handed_over,
        bench.sizes,
        bench.earlier,
        None if getattr(bench.model, "needs_whole_turn", False) else bench.folding,
        unshown,
    )
    closed = bench.forecast.closes(view, task.usage, bench.limits, functools.partial(cost_of, bench.model))
    if closed[0]:
        return _failed(*closed)
    room = bench.forecast.room(view, task.usage, bench.limits, room)
    last = last or _is_last(task, bench, view)
    messages = _with_nudge(view.messages, f"{nudge} {LAST_CALL}".strip() if last else nudge)
    mark: Json = {"run": task.run, "step": task.steps}
    for attempt in range(1, ATTEMPTS + 1):
        yield CallStarted(**mark, attempt=attempt, window=view.parts, left_out=view.left_out)
        started = bench.seconds()
        try:
            message = yield from _stream(task, bench, view, messages, room, last)
        except _OutOfTime:
            return _failed(
                "limit_seconds", f"{bench.seconds():.3g} of {bench.limits.seconds:g} seconds passed"
            )
        except ContextFull as error:
            return _failed("context_full", _told(error))
        except (ModelUnavailable, ValueError, OSError) as error:
            if isinstance(error, AgentError) and not isinstance(error, ModelUnavailable):
                return _failed("error", _told(error))
            wait_s = _wait(error, attempt) if attempt < ATTEMPTS else None
            yield CallFailed(**mark, error=_told(error), attempt=attempt, wait_s=wait_s)
            if wait_s is None or bench.seconds() + wait_s > bench.limits.seconds:
                return _failed("error", _told(error))
            time.sleep(wait_s)
            continue
        except Exception as error:  # a model of the user's own may raise anything
            return _failed("error", _told(error))
        return (yield from _taken(task, bench, view, message, (bench.seconds() - started) * 1000))
    raise AssertionError("unreachable")


def _stream(
    task: Task, bench: Bench, view: window.Window, messages: list[Json], room: int, last: bool
) -> Generator[Event, None, Json]:
    """Pass on the pieces; return the whole message. The stream is closed however this ends."""
    mark: Json = {"run": task.run, "step": task.steps}
    message: Any = None
    said: list[str] = []
    request: Json = {"system": view.system, "tools": view.tools, "max_tokens": room}
    request |= {"tool_choice": {"type": "none"}} if last else {}
    yield Requested(**mark, request={"messages": messages, **request})
    pieces = _pieces(bench, messages, request)
    try:
        for piece in pieces:
            kind = piece.get("type")
            if kind == "message":
                message = piece.get("message")
                break
            elif kind == "text_delta":
                said.append(str(piece.get("text") or ""))
                yield Streamed(**mark, kind="text", text=said[-1])
            elif kind == "thinking_delta":
                yield Streamed(**mark, kind="thinking", text=str(piece.get("thinking") or ""))
            elif kind == "input_json_delta":
                text, call = str(piece.get("partial_json") or ""), str(piece.get("id") or "")
                yield Streamed(**mark, kind="input_json", text=text, id=call)
            if bench.seconds() > bench.limits.seconds:
                raise _OutOfTime
    finally:
        pieces.close()
        task.text = "".join(said)
    if not isinstance(message, dict):
        raise ValueError("the stream ended without a whole message")
    return message


def _pieces(bench: Bench, messages: list[Json], request: Json) -> Generator[Json, None, None]:
    """What the model yields. Whatever a model of the user's own does, only an interrupt passes as it is."""
    with _as_model_error():
        pieces = iter(_timed(bench, lambda: bench.model.reply(messages, **request)))
    try:
        while True:
            with _as_model_error():
                piece = _timed(bench, lambda: next(pieces, _END))
            if piece is _END:
                return
            if not isinstance(piece, dict):
                raise ModelError(f"the model yields {type(piece).__name__} where a dict with a type is due")
            yield piece
    finally:
        if hasattr(pieces, "close"):
            pieces.close()


def _timed(bench: Bench, work: Callable[[], Any]) -> Any:
    """`work()` within the seconds that are left; a person who plays the model may take any time."""
    if not getattr(bench.model, "is_person", False):
        return within(bench.seconds_left(), work)
    with bench.waiting():
        return work()


@contextlib.contextmanager
def _as_model_error() -> Iterator[None]:
    """SystemExit and its like, out of a model, end the run and not the kernel."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except CutShort:
        raise _OutOfTime from None
    except BaseException as error:
        raise ModelError(f"the model raised {one_line(error)}") from error


def _taken(
    task: Task, bench: Bench, view: window.Window, message: Json, ms: float
) -> Generator[Event, None, Reply]:
    """Count and read a whole message, and put it into the history where it may stand there."""
    if bench.used_ids is None:
        bench.used_ids = _ids([*bench.turns, task.messages])
    reply = replies.read(message, bench.used_ids)
    cost = cost_of(bench.model, reply.usage)
    task.usage.add(reply.usage, cost)
    bench.forecast.learn(view, reply.usage)
    if cost is None and bench.limits.cost is not None and task.usage.calls == 1:
        reply.notices.append("the price of this model is not known, so the limit on cost cannot close")
    # Of a reply with a fault, only text that was cut off may stand in the history.
    kept = bool(reply.text and reply.ends in ("truncated", "error")) if reply.problem else True
    told = transcript.sent_back(reply.message)
    kept = kept and bool(told["content"]) and not (reply.problem and _calls(told["content"]))
    task.text = reply.text
    if kept:
        _append(task, told)
        task.text = replies.text_of(task.messages[-1]["content"])  # the whole, where it went on after a pause
        bench.used_ids |= _ids([[reply.message]])
    yield Acted(
        run=task.run,
        step=task.steps,
        message=reply.message,
        calls=[{"id": c["id"], "name": c["name"], "input": c["input"]} for c in reply.calls],
        stop_reason=reply.stop_reason,
        usage=reply.usage,
        cost=cost,
        ms=round(ms, 1),
        kept=kept,
    )
    for text in reply.notices:
        yield Noticed(run=task.run, step=task.steps, text=text)
    return reply


def _append(task: Task, message: Json) -> None:
    if task.messages and task.messages[-1]["role"] == "assistant":  # it goes on after a pause
        content = task.messages[-1]["content"] + message["content"]
        task.messages[-1] = {"role": "assistant", "content": content}
    else:
        task.messages.append(message)


def _told(error: BaseException) -> str:
    """The error in one line of bounded length, without secrets: it goes to the page and the transcript."""
    said = redact(one_line(error))
    return said if len(said) <= 1_000 else said[:1_000] + "…"


def _room(model: Any) -> int:
    room = getattr(model, "max_tokens", None)
    return room if isinstance(room, int) and room > 0 else MAX_TOKENS


def cost_of(model: Any, usage: Json) -> float | None:
    """Dollars of one call, None where the model tells no number of zero or more."""
    try:
        cost = float(model.cost(usage))
    except Exception:  # there is no such method, no price, or a method of the user's own that fails
        return None
    return cost if 0 <= cost < float("inf") else None


def _failed(ends: str, problem: str) -> Reply:
    return Reply({"role": "assistant", "content": []}, [], "", "", problem=problem, ends=ends)


def _wait(error: BaseException, attempt: int) -> float:
    asked = error.retry_after_s if isinstance(error, ModelUnavailable) else None
    return min(asked if asked is not None else 0.5 * 2.0 ** (attempt - 1), LONGEST_WAIT_S)


def _with_nudge(messages: list[Json], nudge: str) -> list[Json]:
    # Said in the last user message of this one call: the history keeps no trace of an empty reply.
    if not nudge or not messages or messages[-1]["role"] != "user":
        return messages
    last = messages[-1]
    return [*messages[:-1], {**last, "content": [*last["content"], {"type": "text", "text": nudge}]}]


def _calls(content: list[Json]) -> list[Json]:
    return [block for block in content if block.get("type") == "tool_use"]


def _ids(turns: list[list[Json]]) -> set[str]:
    return {block["id"] for turn in turns for message in turn for block in _calls(message["content"])}


def ask_once(task: Task, bench: Bench, what: str, prompt: str) -> Generator[Event, None, str]:
    """Ask the model one question outside the history; its text, "" where it fails. `what`: what for, for the trace."""
    messages = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
    told: Json = {"run": task.run, "step": task.steps, "what": what, "prompt": prompt}
    started = time.monotonic()
    try:
        pieces = _pieces(bench, messages, {"system": "", "tools": [], "max_tokens": CONSULT_TOKENS})
        with contextlib.closing(pieces):
            last = next((piece for piece in pieces if piece.get("type") == "message"), None)
        if last is None:
            raise ValueError("the stream ended without a whole message")
        reply = replies.read(last["message"], set())
        cost = cost_of(bench.model, reply.usage)
        task.usage.add(reply.usage, cost)
        told |= {"text": reply.text, "fault": reply.problem, "usage": reply.usage, "cost": cost}
    except Exception as error:
        told["fault"] = _told(error)
    yield Consulted(**told, ms=round((time.monotonic() - started) * 1000, 1))
    return str(told.get("text", ""))
