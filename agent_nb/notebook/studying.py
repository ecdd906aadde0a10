"""The learner's seat: a request shown as the model gets it, and the reply that is written to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..events import Requested
from ..models.student import NOBODY, Student, ask_by_input, fields, typed
from ..transcript import redacted
from .approval import HELLO_S, can_type
from .views.request import request_html, request_text

if TYPE_CHECKING:
    from .trace import LiveTrace

Json = dict[str, Any]


class Seat:
    """Takes the reply of a person: by the page, else by input(), else raises ModelError at once."""

    def __init__(self, trace: LiveTrace, hello_s: float = HELLO_S) -> None:
        self.trace = trace
        self.hello_s = hello_s
        self._before, self._seen = 0, 0

    def __call__(self, request: Json) -> list[Any]:
        sent = {name: value for name, value in request.items() if name != "problem"}
        shown = redacted(Requested(run="", request=sent))
        assert isinstance(shown, Requested)
        problem = str(request.get("problem") or "")
        if not problem:
            self._before, self._seen = self._seen, len(request["messages"])
        earlier = self._before
        panel = self.trace.panel
        if panel is not None and panel.alive.wait(self.hello_s):
            tools = [_form(tool) for tool in request["tools"]]
            html = request_html(shown.request, earlier)
            said = panel.ask({"kind": "student", "html": html, "tools": tools, "problem": problem})
            return reply_of(said, request["tools"])
        self.hello_s = 0.0
        if not can_type():
            raise ModelError(NOBODY)
        forms = [f"  /{tool['name']} {_line(tool)}".rstrip() for tool in request["tools"]]
        lines = ["You are the model. This is the request:", *request_text(shown.request, earlier), *forms]
        return ask_by_input(request, "\n".join(lines))


def seat(model: Any, trace: LiveTrace) -> None:
    """Have a student, also one whose replies are recorded, asked through this trace."""
    while model is not None and not isinstance(model, Student):
        model = getattr(model, "model", None)
    if model is not None:
        model.ask = Seat(trace)


def reply_of(said: Json, tools: list[Json]) -> list[Any]:
    """The blocks of a reply from what the page sent: its text, then each call from its form or from its JSON."""
    forms = {tool["name"]: {field["name"]: field["type"] for field in fields(tool)} for tool in tools}
    parts: list[Any] = [text] if (text := str(said.get("text") or "").strip()) else []
    for call in said.get("calls") or []:
        name = str(call.get("name") or "")
        kinds, raw = forms.get(name, {}), call.get("raw")
        filled = {
            k: typed(kinds.get(k, "string"), str(v)) for k, v in (call.get("fields") or {}).items() if v
        }
        parts.append({"name": name, "input": filled if raw is None else str(raw)})
    return parts or [""]


def _form(tool: Json) -> Json:
    return {
        "name": tool["name"],
        "description": str(tool.get("description") or "")[:2_000],
        "fields": fields(tool),
    }


def _line(tool: Json) -> str:
    return ", ".join(f"{f['name']}{'' if f['required'] else '?'}: {f['type']}" for f in fields(tool))
