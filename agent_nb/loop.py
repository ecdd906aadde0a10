"""The loop: six stations, in the order in which they run.

    load → plan → (act → observe → judge)* → consolidate

Each station is one function that reads and writes the work order (`Task`) and yields what happens as events.
How a reply is read, a call is run, a number is traced or a record is kept stands in the modules they call.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from . import calling, dispatch, distilling, judging, window
from .errors import one_line
from .events import Answered, Consolidated, Event, Judged, Loaded, Noticed, Observed, RunEnded
from .planning import stations
from .task import Task

if TYPE_CHECKING:
    from .bench import Bench

Json = dict[str, Any]

CONTEXT_TURNS, CONTEXT_CHARS = 3, 300
"""Earlier turns whose words may tell what a pronoun of the goal stands for, and how much of each text."""


MEMORY_TOKENS = 600
"""Most that memory takes of the window: the memo of the user, then what the goal recalls."""


def run(task: Task, bench: Bench) -> Generator[Event, None, None]:
    """Work on `task` until it is done or a valve closes. Closing the generator stops it at any point."""
    yield from load(task, bench)
    yield from plan(task, bench)
    while not task.stop_reason:
        yield from act(task, bench)
        yield from observe(task, bench)
        yield from judge(task, bench)
    yield from calling.last_word(task, bench)
    yield answered(task, bench)
    yield from consolidate(task, bench)
    yield ended(task, bench)


def load(task: Task, bench: Bench) -> Iterator[Event]:
    """Recall what memory holds for the goal, and put it into the window."""
    if bench.memory is None:
        yield Loaded(run=task.run, query=task.goal, note="this run has no memory")
        return
    yield from _asked(task, bench)
    try:
        memo = bench.memory.memo() if hasattr(bench.memory, "memo") else None
        left = MEMORY_TOKENS - (memo.tokens if memo else 0)
        context = _said_before(bench.turns)
        recall = bench.memory.recall(task.goal, budget=left, **({"context": context} if context else {}))
        total = bench.memory.stats()["active"]
        found = [hit_row(hit) for hit in recall]
        known = {hit["id"] for hit in found}
        standing = [hit_row(hit) for hit in memo.hits if hit.record.id not in known] if memo else []
        task.memory = found + standing
        task.memory_text = _block(memo, recall)
        # A memo stands in every window of the session; that counts as use once.
        used = task.memory if not bench.turns else found
        bench.memory.mark_used([hit["id"] for hit in used], task.run)
    except Exception as error:  # a broken store must not keep the analyst from working
        yield Loaded(run=task.run, query=task.goal, note=f"memory could not be read: {one_line(error)}")
        return
    yield Loaded(
        run=task.run,
        query=task.goal,
        hits=found,
        memo=standing,
        gates=list(recall.gates),
        total=total,
        tokens=recall.tokens + (memo.tokens if memo else 0),
        ms=recall.ms,
    )


def _block(memo: Any, recall: Any) -> str:
    """The memory block: the memo first, then what was recalled, each record once."""
    lines = memo.text.splitlines() if memo else []
    known = {hit.record.id for hit in memo.hits} if memo else set()
    recalled = zip(recall, recall.text.splitlines(), strict=False)
    return "\n".join(lines + [line for hit, line in recalled if hit.record.id not in known])


def _said_before(turns: list[list[Json]]) -> list[str]:
    """What was asked in the session's last turns and how the answers begin, the latest last: for pronouns."""
    said = []
    for messages in turns[-CONTEXT_TURNS:]:
        goal, *others = map(_words, messages)
        said += [others[-1][:CONTEXT_CHARS] if others else "", goal[:CONTEXT_CHARS]]
    return [text for text in said if text]


def _words(message: Json) -> str:
    content = message["content"]
    parts = [{"text": content}] if isinstance(content, str) else content
    return "".join(part.get("text", "") for part in parts if isinstance(part, dict))


def plan(task: Task, bench: Bench) -> Iterator[Event]:
    """Turn the goal into subtasks. React: one subtask, the goal itself, and no call of the model."""
    yield from stations.begin(task, bench)
    task.stop_reason, task.reason = bench.closed_valve(task)


def act(task: Task, bench: Bench) -> Iterator[Event]:
    """Ask the model for its next move, and make the calls that it names."""
    task.steps += 1
    task.calls, task.results = [], []
    yield from stations.focus(task, bench)
    reply = yield from calling.converse(task, bench)
    task.calls, task.paused = reply.calls, reply.stop_reason == "pause_turn"
    task.stop_reason, task.reason = reply.ends, reply.problem
    yield from dispatch.run(task, bench)


def observe(task: Task, bench: Bench) -> Iterator[Event]:
    """Bring every result back under its id, in one message, with what is left of the valves."""
    if not task.calls:
        return
    left = {"type": "text", "text": window.status_line(task, bench.limits, bench.seconds(), bench.sizes)}
    message: Json = {"role": "user", "content": [seen.block() for seen in task.results] + [left]}
    task.observations += task.results
    task.messages.append(message)
    yield Observed(run=task.run, step=task.steps, message=message)


def judge(task: Task, bench: Bench) -> Iterator[Event]:
    """Done, go on, or stop: by the answer, its criteria, the valves and the progress made; look back, plan anew."""
    final = not task.stop_reason and not task.calls and not task.paused
    if final:
        yield from _judge_answer(task, bench)
    if not task.stop_reason:
        task.stop_reason, task.reason = bench.closed_valve(task)
    yield from stations.review(task, bench)
    verdict = "done" if task.done else "stop" if task.stop_reason else "go_on"
    criteria = [dataclasses.asdict(criterion) for criterion in task.criteria]
    valves = bench.valves(task)
    yield Judged(
        run=task.run, step=task.steps, verdict=verdict, reason=task.reason, criteria=criteria, valves=valves
    )


def _judge_answer(task: Task, bench: Bench) -> Iterator[Event]:
    if more := stations.go_on(task, bench):
        yield _told(task, more)
        return
    task.evidence = judging.trace_numbers(task, bench)
    stop_reason, reason = "done", ""
    if judging.asks_user(task):
        stop_reason, reason = "needs_input", "the agent asks for something it needs"
    elif task.criteria:
        task.criteria, helps = yield from judging.judge_criteria(task, bench)
        failed = [c for c in task.criteria if not c.met]
        if failed and helps and task.rejections < judging.REPEATS:
            task.rejections += 1
            why = "; ".join(f"{c.text}: {c.reason}" for c in failed)
            yield _told(
                task, f"Not done yet. These criteria do not hold: {why}. Mend the answer, and give it whole."
            )
            return
        if failed:
            stop_reason = "no_progress"
            reason = "not met: " + "; ".join(f"{c.text} ({c.reason})" for c in failed)
    task.stop_reason, task.reason, task.done = stop_reason, reason, stop_reason == "done"
    if task.done:
        stations.closed(task)


def _told(task: Task, text: str) -> Event:
    message: Json = {"role": "user", "content": [{"type": "text", "text": text}]}
    task.messages.append(message)
    return Observed(run=task.run, step=task.steps, message=message)


def answered(task: Task, bench: Bench) -> Event:
    """The answer, or what there is of it, with the evidence of its numbers."""
    partial = task.stop_reason not in ("done", "needs_input")
    if partial:
        task.evidence = judging.trace_numbers(task, bench)
        stations.closed(task)
    return Answered(run=task.run, step=task.steps, text=task.text, evidence=task.evidence, partial=partial)


def consolidate(task: Task, bench: Bench) -> Iterator[Event]:
    """Write what is worth keeping to memory; the answer was shown before."""
    if bench.memory is None or task.stop_reason == "refused":
        return
    started = time.monotonic()
    queued = task.stop_reason in ("done", "needs_input") and distilling.wanted(bench.model, bench.memory)
    try:
        kept = bench.memory.consolidate(
            goal=task.goal,
            answer=task.text,
            done=task.done,
            evidence=task.evidence,
            observations=[_seen(o) for o in task.observations if not o.edited],
            session=task.session,
            run=task.run,
            after_failure=_failed(bench.turns),
            **{"queued": True} if queued else {},
        )
    except Exception as error:  # the answer stands; that it was not kept is said, not raised
        yield Consolidated(run=task.run, step=task.steps, note=f"nothing was written: {one_line(error)}")
        return
    ms = round((time.monotonic() - started) * 1000, 1)
    yield Consolidated(
        run=task.run,
        step=task.steps,
        written=kept["written"],
        left_out=kept["left_out"],
        ms=ms,
        note="queued: the model distils this turn after the answer" if queued else "",
    )


def ended(task: Task, bench: Bench) -> Event:
    """The last event: why the run stopped, and what it took."""
    return RunEnded(
        run=task.run,
        step=task.steps,
        stop_reason=task.stop_reason,
        reason=task.reason,
        done=task.done,
        usage=task.usage.to_dict(),
        seconds=round(bench.seconds(), 3),
    )


def _asked(task: Task, bench: Bench) -> Iterator[Event]:
    """What memory could not decide: the user's words may settle it, else one open question is put."""
    try:
        settled = bench.memory.answer(task.goal)
        open_one = None if settled else bench.memory.open_question()
    except Exception:  # a memory of the user's own, or a broken store: the run goes on without
        return
    if settled:
        yield Noticed(run=task.run, text=f"memory {settled.id} is {settled.status}: {settled.text}")
    elif open_one:
        yield Noticed(run=task.run, text=open_one["question"])


def _failed(turns: list[list[Json]]) -> bool:
    """Whether a call of the turn before failed."""
    blocks = [b for message in turns[-1] for b in message["content"]] if turns else []
    return any(isinstance(b, dict) and b.get("type") == "tool_result" and b.get("is_error") for b in blocks)


def hit_row(hit: Any) -> Json:
    """A hit of a recall as plain values, as `Loaded` tells it."""
    record = hit.record
    scores = {
        name: round(getattr(hit, name), 4) for name in ("score", "similarity", "importance", "freshness")
    }
    return {
        "id": record.id,
        "text": record.text,
        "type": record.type,
        "source": record.source,
        "created": record.created.isoformat(),
        "reason": hit.reason,
        **scores,
    }


def _seen(observation: Any) -> Json:
    names = ("id", "name", "input", "ok", "effect", "value_name")
    return {name: getattr(observation, name) for name in names} | {"text": observation.text}
