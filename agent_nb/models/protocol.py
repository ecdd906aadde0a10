"""What the loop asks of a model: one method."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

Json = dict[str, Any]


@runtime_checkable
class Model(Protocol):
    """Anything that answers a history.

    `reply` returns an iterator of dicts: while it streams `{"type": "text_delta", "text": …}`,
    `{"type": "thinking_delta", "thinking": …}`, `{"type": "input_json_delta", "id": …, "partial_json": …}`;
    last `{"type": "message", "message": {"role": "assistant", "content": […], "stop_reason": …,
    "usage": {"input_tokens": …, "output_tokens": …}}}` in the Messages API's own shape. A model that
    cannot stream yields only the last.

    Optional attributes: `name` (str, shown in the trace), `cost(usage) -> float | None` (US dollars of one
    call), `can_judge` (False: it cannot tell whether a criterion holds; default True), `can_plan` (False: it makes no
    plans; default True), `needs_whole_turn` (True: it goes by the results of all steps of its turn, so none is folded;
    default False), `is_person` (True: the seconds valve stands still while it answers), `note` (a sentence for the
    trace), `max_tokens` (output limit of one call, default 8,192).

    Raises: errors.ModelError and its kin; ValueError for a reply that could not be parsed (the loop tries
    such a call again).
    """

    def reply(
        self, messages: list[Json], *, system: str, tools: list[Json], max_tokens: int
    ) -> Iterator[Json]:
        """Answer `messages` (Messages API shape). `tools`: dicts of name, description, input_schema."""
        ...


def takes_tool_choice(model: Any) -> bool:
    """Whether `reply` has the keyword `tool_choice` in its signature: only then it is passed."""
    try:
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(model.reply).parameters
    except (TypeError, ValueError, AttributeError):  # an object of the user's own without a signature to read
        return False
    return "tool_choice" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
