"""An AI agent that lives in the notebook: a goal in a cell, an answer with evidence, a memory one can open.

    %load_ext agent_nb
    %%agent
    Which airline's departure delay rose most from June to July 2013?

In Python: `Session(...).run(goal)`. Start reading at `loop.py`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["AgentError", "Limits", "Memory", "Session", "tool"]

if TYPE_CHECKING:
    from .errors import AgentError
    from .limits import Limits
    from .memory import Memory
    from .session import Session
    from .tools.tool import tool

_HOMES = {
    "AgentError": "errors",
    "Limits": "limits",
    "Memory": "memory",
    "Session": "session",
    "tool": "tools.tool",
}


def __getattr__(name: str) -> Any:
    # Imported on first use, so that loading the extension costs milliseconds.
    if name not in _HOMES:
        raise AttributeError(f"module 'agent_nb' has no attribute {name!r}")
    return getattr(importlib.import_module(f"agent_nb.{_HOMES[name]}"), name)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext agent_nb`: the magics `%%agent`, `%agent` and `%memory`. Loading twice does no harm."""
    from .notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext agent_nb`: everything as it was before."""
    from .notebook.extension import unload

    unload(shell)
