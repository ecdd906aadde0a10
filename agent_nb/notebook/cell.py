"""Which notebook this is, and which of its cells is running."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import sys
from typing import Any


def session_name(shell: Any) -> str | None:
    """The name of the notebook's own session: after its file, else after the kernel; None in a terminal.

    Four digits tell notebooks of one name in different folders apart.
    """
    space = getattr(shell, "user_ns", {})
    for path in (
        space.get("__vsc_ipynb_file__"),
        os.environ.get("JPY_SESSION_NAME"),
        space.get("__session__"),
    ):
        if isinstance(path, str) and path.strip():
            file = pathlib.PurePath(path)
            mark = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:4]
            return f"{file.name.removesuffix('.ipynb') or 'notebook'}-{mark}"
    kernel = kernel_id(shell)
    return f"kernel-{kernel[:8]}" if kernel else None


def kernel_id(shell: Any) -> str:
    """The id of the kernel, or "" outside of one."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return ""
    connect = sys.modules.get("ipykernel.connect")
    try:
        file = pathlib.PurePath(connect.get_connection_file()) if connect else None
    except Exception:  # an embedded kernel has no connection file
        file = None
    if file is not None and (found := re.fullmatch(r"kernel-(.+)\.json", file.name)):
        return found[1]
    return str(getattr(getattr(kernel, "session", None), "session", "")) or str(os.getpid())


def cell_id(shell: Any) -> str:
    """The id of the running cell as the front end gave it, or ""."""
    try:
        parent = shell.get_parent()
        found = parent.get("metadata", {}).get("cellId", "")
    except Exception:  # plain IPython, or a front end that sends something else
        return ""
    return found if isinstance(found, str) else ""
