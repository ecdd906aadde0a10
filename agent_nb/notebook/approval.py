"""How a busy cell asks: by the live widget, else by input(), else by policy, at once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ..approval import Verdict
from .trace import place
from .views import question_html
from .views.calls import CODE_FIELDS

if TYPE_CHECKING:
    from .trace import LiveTrace

Json = dict[str, Any]

HELLO_S = 2.0
"""How long a page may take to say hello before the question goes to input()."""


class Gate:
    """Asks the user about a call; an `Asker` for `Session(asker=…)`.

    1. The trace's page said hello on a thread of its own: buttons there, and the main thread waits.
    2. The front end takes input: `input()`.
    3. Nobody can answer (nbconvert, no terminal): `policy`, at once.

    Args:
        trace: the run's live trace, or None.
        policy: deny or approve, where nobody can be asked.
    """

    def __init__(
        self, trace: LiveTrace | None = None, policy: str = "deny", hello_s: float = HELLO_S
    ) -> None:
        self.trace = trace
        self.policy = policy
        self.hello_s = hello_s

    def __call__(self, question: Json) -> Verdict:
        """The verdict on a question: a dict of id, name, input, effect."""
        return self.ask(**{k: question[k] for k in ("id", "name", "input", "effect") if k in question})

    def ask(self, id: str, name: str, input: Json, effect: str = "write", description: str = "") -> Verdict:
        """Ask about the call `name(**input)`. A KeyboardInterrupt while waiting is passed on."""
        panel = self.trace.panel if self.trace else None
        if panel is not None and panel.alive.wait(self.hello_s):
            return self._by_widget(panel, id, name, input, effect, description)
        if can_type():
            return ask_by_input(name, input, effect)
        if self.policy == "approve":
            return Verdict("approve", reason="nobody is here to ask")
        return Verdict("deny", reason="nobody is here to ask; run with --approve auto to allow it")

    def _by_widget(
        self, panel: Any, id: str, name: str, input: Json, effect: str, description: str
    ) -> Verdict:
        field = code_field(input)
        text = input[field] if field else json.dumps(input, ensure_ascii=False, indent=2, default=str)
        question = {
            "kind": "approval",
            "id": id,
            "name": name,
            "effect": effect,
            "input": text,
            "problem": "",
        }
        question["label"] = f"{field}, edited" if field else "Arguments as JSON"
        question["html"] = question_html(name, input, effect, description)
        while True:
            said = panel.ask(question)
            reason = str(said.get("reason") or "")[:2_000]
            if said.get("type") == "deny":
                return Verdict("deny", by="widget", reason=reason)
            if said.get("input") is None:
                return Verdict("approve", by="widget", reason=reason)
            text = str(said["input"])
            edited, problem = ({field: text}, "") if field else edited_arguments(text)
            if edited is not None:
                return Verdict("approve", by="widget", reason=reason, input=edited)
            question |= {"input": text, "problem": problem}


def can_type() -> bool:
    """Whether input() reaches a person."""
    where = place()
    if where in ("page", "file"):
        return where == "page"
    return bool(sys.stdin and sys.stdin.isatty())


def ask_by_input(name: str, arguments: Json, effect: str) -> Verdict:
    """Ask on the line: y, n, e to edit the arguments as JSON; any other text denies with that reason."""
    print(f"{name} {json.dumps(arguments, ensure_ascii=False, default=str)}")
    prompt = f"It may {_MAY.get(effect, effect)}. Allow? [y / N / e = edit / a reason to deny] "
    edited: Json | None = None
    try:
        answer = input(prompt).strip()
        while answer.lower() in ("e", "edit"):
            edited, problem = edited_arguments(input("arguments as JSON: "))
            answer = "y" if edited is not None else input(f"{problem} [e / n] ").strip()
    except EOFError:
        return Verdict("deny", by="input", reason="no answer")
    if answer.lower() in ("y", "yes", "是", "好"):
        return Verdict("approve", by="input", input=edited)
    return Verdict("deny", by="input", reason="" if answer.lower() in ("", "n", "no", "否") else answer)


_MAY = {"write": "change something", "external": "reach outside of this notebook"}


def code_field(arguments: Json) -> str:
    """The one argument that is SQL or Python, to be edited as it is; "" where there are others beside it."""
    field = next(iter(arguments), "") if len(arguments) == 1 else ""
    return field if field in CODE_FIELDS and isinstance(arguments[field], str) else ""


def edited_arguments(text: str) -> tuple[Json | None, str]:
    """(arguments, "") of a JSON object, or (None, what is wrong)."""
    try:
        edited = json.loads(text)
    except ValueError as error:
        return None, f"This is not JSON: {error}."
    if not isinstance(edited, dict):
        return None, "The arguments are one JSON object: {…}."
    return edited, ""
