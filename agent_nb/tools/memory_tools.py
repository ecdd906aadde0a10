"""Memory as tools: the model can look for more, keep something, or take it back."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import AgentError, ToolError
from ..redact import has_secret
from .result import Reply
from .tool import Tool, tool

Type = Literal["constraint", "preference", "profile", "fact", "decision", "experience", "episode"]
MOST = 15


def memory_tools(memory: Any, session: str = "", run: str = "", goal: str = "") -> list[Tool]:
    """recall_memory, save_memory and forget_memory over `memory`; only the last of them asks.

    Args:
        session: name that a saved memory carries.
        run: id of the run, kept with what it saves.
        goal: the user's own words; what stands in them word for word is saved as said by the user.
    """

    @tool(memory="long")
    def recall_memory(query: str, k: int = 5, types: list[Type] | None = None) -> object:
        """Look for more in the long-term memory of this user, beyond what was loaded at the start.

        Args:
            query: what to look for, in words.
            k: how many at most, up to 15.
            types: only these kinds of memory.
        """
        k = max(0, min(k, MOST))
        budget = max(600, 120 * k)  # tokens; more were asked for than the start of a run loads
        recall = _told(lambda: memory.recall(query, k=k, budget=budget, types=types or None))
        found = [_hit(hit) for hit in recall]
        return Reply(
            {"memories": found} | ({} if found else {"note": "nothing in memory is near enough to this"})
        )

    @tool(effect="write", asks=False)
    def save_memory(text: str, type: Type = "fact") -> object:
        """Keep one conclusion, definition or wish for later sessions: one sentence that stands on its own.

        Args:
            text: what to remember.
            type: its kind.
        """
        words = " ".join(text.split())
        if not words:
            raise ToolError("there is nothing to remember; give one sentence")
        if has_secret(words):
            raise ToolError("this holds a secret (a key, token or password), which memory never keeps")
        said = words.casefold() in " ".join(goal.split()).casefold()
        evidence = ({"run": run, "text": "saved by the model in this run"},) if run and not said else ()
        source = "user_explicit" if said else "task"
        record = _told(lambda: memory.add(text, type, source, evidence=evidence, session=session or None))
        return Reply({"id": record.id, "text": record.text, "type": record.type, "status": record.status})

    @tool(effect="write")
    def forget_memory(id: str) -> object:
        """Take a memory back, so that it is never recalled again. Asks first.

        Args:
            id: as recall_memory gave it.
        """
        record = memory.get(id)
        if record is None:
            raise ToolError(f"there is no memory {id!r}; recall_memory gives the ids")
        _told(lambda: memory.forget(id))
        return Reply({"id": id, "forgotten": record.text})

    return [recall_memory, save_memory, forget_memory]


def _hit(hit: Any) -> dict[str, Any]:
    record = hit.record
    return {
        "id": record.id,
        "text": record.text,
        "type": record.type,
        "source": record.source,
        "created": record.created.date().isoformat(),
        "score": round(float(hit.score), 3),
    } | ({"team": record.user.removeprefix("team:")} if record.user.startswith("team:") else {})


def _told(work: Any) -> Any:
    """What the store refuses, in its own words."""
    try:
        return work()
    except AgentError as error:
        raise ToolError(str(error)) from None
