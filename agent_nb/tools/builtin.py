"""The tools that come with a namespace."""

from __future__ import annotations

from typing import Any


def builtin_tools(namespace: dict[str, Any]) -> list[Any]:
    """Data tools and Python over `namespace`; those of the `data` extra only where it is installed."""
    from .data import data_tools
    from .python import python_tool

    return [*data_tools(namespace), python_tool(namespace)]
