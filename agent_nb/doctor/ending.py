"""Breaks of the stations judge and consolidate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import events
from .reading import Finding, Turn, first, last, observations, of, rows_of, text_of, without_evidence

_NEVER = {
    "limit_steps": "%agent resume --max-steps 24 goes on",
    "limit_tokens": "%agent resume --max-tokens 200000 goes on",
    "limit_cost": "%agent resume --max-cost 1 goes on",
    "limit_seconds": "%agent resume --max-seconds 1200 goes on",
    "no_progress": "say in the goal what to do when nothing is found, or give it another tool",
    "truncated": "ask for a shorter answer",
    "empty": "run the cell again, or use another model",
    "context_full": "begin a new session (--new), or ask for less at once",
    "refused": "put the goal in other words",
    "error": "%agent explain or %agent trace shows the error; %agent resume tries again",
}


def judge(turn: Turn) -> Iterator[Finding]:
    ended, judged = last(turn, events.RunEnded), last(turn, events.Judged)
    if ended is None:
        return
    if not ended.done:
        if ended.stop_reason in _NEVER:
            said = f"it never came to an end that counts ({ended.stop_reason})"
            yield of(
                "judged_wrong", said, ended, ended.reason or ended.stop_reason, _NEVER[ended.stop_reason]
            )
        for row in rows_of(judged.criteria) if judged else ():
            if judged and not row.get("met") and row.get("reason"):
                said = f"a criterion was not met: {row.get('text')}"
                change = "put it so that it can be checked (contains '…', at most N words), or drop it"
                yield of("judged_wrong", said, judged, str(row["reason"]), change)
        return
    seen = list(observations(turn))
    if seen and not seen[-1][1].get("ok") and judged:
        said = f"it was judged done though its last call, of {seen[-1][0].name}, did not succeed"
        change = "give a criterion under done when: that this answer would fail"
        yield of("judged_wrong", said, seen[-1][0], text_of(seen[-1][1]), change)
    planned = last(turn, events.Planned)
    skipped = (
        [n for n in rows_of(planned.subtasks) if n.get("status") in ("pending", "skipped")] if planned else []
    )
    if planned and len(planned.subtasks) > 1 and skipped and judged:
        said = f"it was judged done with {len(skipped)} of {len(planned.subtasks)} subtasks not worked on"
        yield of(
            "judged_wrong", said, judged, "; ".join(str(n.get("text"))[:60] for n in skipped), "ask for them"
        )


_ASKED = re.compile(
    r"\b(?:please )?(?:remember|note)(?: that|:| this| for)|\bkeep in mind\b|\bfrom now on\b"
    r"|记住|记下|记一下|记着|请记|(?:以后|今后)(?:都|请|一律)",
    re.IGNORECASE,
)


def consolidate(turn: Turn) -> Iterator[Finding]:
    kept, loaded = last(turn, events.Consolidated), last(turn, events.Loaded)
    started, ended = first(turn, events.RunStarted), last(turn, events.RunEnded)
    asked = bool(started and _ASKED.search(started.goal))
    if kept is None:
        if asked and loaded and started and ended is not None:
            said = "it was to be remembered, and memory was never written"
            shown = loaded.note or ended.stop_reason
            yield of("written_wrong", said, started, shown, "leave out --no-memory, and run it to its end")
        return
    if kept.note:
        yield of(
            "written_wrong", kept.note, kept, kept.note, "see %memory stats; then say “Remember: …” again"
        )
    saved = any(seen.get("ok") and event.name == "save_memory" for event, seen in observations(turn))
    if asked and not kept.written and not saved and not kept.note:
        shown = "; ".join(str(row.get("reason")) for row in rows_of(kept.left_out)) or "nothing to keep"
        yield of("written_wrong", "it was to be remembered, and nothing was", kept, shown, "use %memory add")
    answered = last(turn, events.Answered)
    unproved = {row["text"] for row in without_evidence(answered) if row["text"]}
    for row in rows_of(kept.written):
        text = str(row.get("text") or "")
        false = [n for n in unproved if re.search(rf"(?<![\w.,]){re.escape(n)}(?![\w])", text)]
        if false:
            said = f"a memory was written with a number that has no evidence ({', '.join(sorted(false))})"
            yield of("written_wrong", said, kept, text[:200], f"%memory forget {row.get('id', 'ID')}")
