"""The inspector in a cell: a page that is saved, and a widget that makes it live while the kernel is there."""

from __future__ import annotations

import pathlib
import sys
import uuid
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

Json = dict[str, Any]

_STATIC = pathlib.Path(__file__).parent / "static"
VIEW = "application/vnd.jupyter.widget-view+json"


class InspectorPanel(anywidget.AnyWidget):
    """Never shown by itself: its page finds the saved page by `key` and takes its place, so that no notebook file
    holds a view of a widget that is gone. The page's side stands in static/inspector.js.

    Args:
        answer: gives the answer to a message. start: what the page begins with (text, tab, id).
    """

    _esm = "\n".join((_STATIC / name).read_text("utf-8") for name in ("keys.js", "inspector.js"))
    _css = _STATIC / "inspector.css"
    key = traitlets.Unicode("").tag(sync=True)
    start = traitlets.Dict().tag(sync=True)

    def __init__(self, answer: Callable[[Json], Json], start: Json) -> None:
        super().__init__(key=uuid.uuid4().hex, start=start)
        self._answer = answer
        if hasattr(self.comm, "_reply_subshell_for"):
            # ipykernel 7.4 sends a comm's messages back to the shell that last published on it: it may be busy.
            self.comm._reply_subshell_for = None
        self.on_msg(self._said)

    def _said(self, _widget: Any, content: Json, _buffers: Any) -> None:
        if content.get("key") == self.key:
            self.send(self._answer(content))


def apart(shell: Any) -> bool:
    """Whether outputs stand where no page of another output can reach them: then the widget is shown by itself."""
    return "google.colab" in sys.modules or "__vsc_ipynb_file__" in getattr(shell, "user_ns", {})
