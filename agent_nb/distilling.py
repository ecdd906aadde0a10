"""Distilling finished turns by the model, after the answer is shown and beside whatever comes next.

The turn waits in the memory's queue, so that nothing is lost where this process ends first; what came of it is told
at the start of the session's next run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from . import calling, replies
from .errors import ModelError, SettingError, one_line
from .places import settings
from .redact import redact
from .task import Usage

WHAT = "what to remember of finished turns"


def wanted(model: Any, memory: Any) -> bool:
    """Whether turns are distilled by this model: it says that it can, and config.toml does not say `distil = "rules"`.

    The rules work in any case; a model may add what they cannot read.
    """
    if not getattr(model, "can_distil", False) or not hasattr(memory, "distil"):
        return False
    try:
        return bool(settings().get("distil", "model") != "rules")
    except SettingError:
        return True


def asker(model: Any, spent: Usage) -> Callable[[str], str]:
    """`ask(prompt) -> str` of a model, counted in `spent`; it raises whatever kept the answer from being whole."""

    def ask(prompt: str) -> str:
        messages = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
        for piece in model.reply(messages, system="", tools=[], max_tokens=calling.CONSULT_TOKENS):
            if piece.get("type") == "message":
                reply = replies.read(piece["message"], set())
                spent.add(reply.usage, calling.cost_of(model, reply.usage))
                if reply.stop_reason != "end_turn":
                    raise ModelError(f"the answer ended with {reply.stop_reason or 'nothing'}")
                return reply.text
        raise ModelError("the stream ended without a whole message")

    return ask


def start(memory: Any, model: Any, told: list[str], spent: Usage) -> threading.Thread:
    """Distil what waits, in the background; a line about each turn goes into `told`, what it took into `spent`."""

    def work() -> None:
        try:
            told.extend(line(row) for row in memory.distil(asker(model, spent)))
        except Exception as error:  # a store that is gone must not end in a traceback of a thread
            told.append(f"memory could not distil what waits: {redact(one_line(error))}")

    thread = threading.Thread(target=work, name="agent_nb-distil", daemon=True)
    thread.start()
    return thread


def line(row: dict[str, Any]) -> str:
    """What became of a turn, in a sentence."""
    if row["error"]:
        later = f"tried again after {row['next_try'][:16]}" if row["next_try"] else "waits for %memory queue"
        return f"a turn could not be distilled ({redact(row['error'])[:200]}); it is kept, and {later}"
    texts = "; ".join(f"{w['text'][:80]} ({w['action']})" for w in row["written"])
    left = f"{len(row['left_out'])} left out"
    return f"distilled from the last turn: {texts or 'nothing to keep'}; {left}"
