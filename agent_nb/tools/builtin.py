"""The tools that come with a namespace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def builtin_tools(namespace: dict[str, Any], allowed_paths: Iterable[str] = ()) -> list[Any]:
    """Data tools and Python over `namespace`; those of the `data` extra only where it is installed.

    Args:
        allowed_paths: data files that SQL may read, besides the tables of the namespace.
    """
    from .data import data_tools
    from .python import python_tool

    return [*data_tools(namespace, allowed_paths), python_tool(namespace)]
