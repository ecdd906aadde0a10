"""What is related to what: a small picture of entities on a circle, as SVG that needs no script."""

from __future__ import annotations

import base64
import math
from typing import Any

from .style import SCROLL, TONES, esc, tag

Json = dict[str, Any]

MOST = 24
"""Entities that are drawn; a table tells the rest."""
_SIZE, _RADIUS = 640, 210
_STYLE = "font-family:system-ui,sans-serif;max-width:640px;width:100%;min-width:420px"
_ALT = "graph of what is remembered"


def svg(graph: Json, live: bool = False, color: str = "inherit") -> str:
    """`graph`: nodes (id) and edges (source, relation, target). Live nodes can be clicked."""
    names = [str(node["id"]) for node in graph["nodes"]][:MOST]
    at = {name: _place(i, len(names)) for i, name in enumerate(names)}
    drawn = [
        e for e in graph["edges"] if e["source"] in at and e["target"] in at and e["source"] != e["target"]
    ]
    lines = "".join(
        _edge(at[e["source"]], at[e["target"]], str(e["relation"]).replace("_", " ")) for e in drawn
    )
    dots = "".join(_node(name, *place, live) for name, place in at.items())
    box = f'viewBox="0 0 {_SIZE} {_SIZE // 4 * 3}" role="img" aria-label="{_ALT}"'
    drawn_in = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} style="{_STYLE};color:{color}">{lines}{dots}</svg>'
    )
    return tag("div", drawn_in, SCROLL)


def picture(graph: Json) -> str:
    """The same for a saved page: an image, since an untrusted notebook strips SVG and leaves its words in a heap."""
    found = svg(graph, color=TONES["quiet"])
    data = base64.b64encode(found[found.index("<svg") : found.rindex("</svg>") + 6].encode()).decode()
    return tag("div", f'<img alt="{_ALT}" style="{_STYLE}" src="data:image/svg+xml;base64,{data}">', SCROLL)


def _place(i: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * i / max(count, 1) - math.pi / 2
    return _SIZE / 2 + 1.15 * _RADIUS * math.cos(angle), _SIZE * 3 / 8 + 0.9 * _RADIUS * math.sin(angle)


def _edge(start: tuple[float, float], end: tuple[float, float], relation: str) -> str:
    (x1, y1), (x2, y2) = start, end
    at = f'x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"'
    line = f'<line {at} stroke="currentColor" stroke-opacity=".35"/>'
    # Nearer to its source, which is how a relation without an arrow reads from source to target.
    x, y = x1 + 0.4 * (x2 - x1), y1 + 0.4 * (y2 - y1)
    return line + _text(relation, x, y, 10, 0.7)


def _node(name: str, x: float, y: float, live: bool) -> str:
    dot = f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="#9a63d3"/>'
    inner = dot + _text(name, x, y - 8, 12, 1)
    return f'<g data-entity="{esc(name)}">{inner}</g>' if live else inner


def _text(text: str, x: float, y: float, size: int, opacity: float) -> str:
    shown = text if len(text) <= 28 else text[:27] + "…"
    look = f'font-size="{size}" fill="currentColor" fill-opacity="{opacity}" text-anchor="middle"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {look}>{esc(shown)}</text>'
