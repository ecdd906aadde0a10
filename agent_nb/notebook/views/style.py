"""The few looks that the trace is made of, as inline styles, and the one way in which text becomes HTML.

Untrusted notebooks strip <style>, classes and scripts, so every look is an inline style, and the page still
reads where these are stripped too. Colours have about the same contrast (4:1 and more) on white and on
JupyterLab's dark background; everything else is a transparent grey over whatever is below.
"""

from __future__ import annotations

import html
import re
from typing import Any

TONES = {
    "good": "#24933f",
    "warn": "#b5701c",
    "bad": "#dd4242",
    "live": "#3b7fdd",
    "memory": "#9a63d3",
    "quiet": "#7c7c7c",
}
TINTS = {
    "good": "rgba(36,147,63,.14)",
    "warn": "rgba(201,128,30,.16)",
    "bad": "rgba(221,66,66,.13)",
    "live": "rgba(59,127,221,.14)",
    "memory": "rgba(154,99,211,.15)",
    "quiet": "rgba(128,128,128,.12)",
}
BAR = ("#4f86c6", "#c98a3c", "#9a63d3", "#5f9f6e", "#b8637c", "#6f8f9f", "#8a7f5a")

LINE = "1px solid rgba(128,128,128,.25)"
MUTED = "opacity:.68"
SMALL = "font-size:12px"
PRE = (
    "margin:4px 0;padding:7px 10px;background:rgba(128,128,128,.1);border-radius:5px;overflow:auto;"
    "max-height:230px;font-size:12px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere"
)
CODE = "padding:0 3px;background:rgba(128,128,128,.14);border-radius:3px;font-size:92%"
FRAME = (
    f"border:{LINE};border-radius:8px;overflow:hidden;font-size:13px;line-height:1.5;max-width:980px;"
    "margin:2px 0"
)
SECTION = f"padding:5px 14px;border-top:{LINE}"
SCROLL = "overflow:auto;max-width:100%"

# What no page may get: controls, lone surrogates, and the private characters that the renderer uses as marks.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ue000-\ue00f]")


def clean(text: Any) -> str:
    """The text without what no page may hold."""
    return _UNFIT.sub("\ufffd", str(text))


def esc(text: Any) -> str:
    """Text from outside, fit for HTML, inside attributes too."""
    return html.escape(clean(text), quote=True)


def tag(name: str, inner: str, style: str = "", **attributes: Any) -> str:
    """An element around `inner`, which is HTML already; attributes are escaped."""
    named = "".join(f' {k}="{esc(v)}"' for k, v in attributes.items() if v not in (None, ""))
    styled = f' style="{style}"' if style else ""
    return f"<{name}{styled}{named}>{inner}</{name}>"


def muted(inner: str) -> str:
    """A quieter stretch."""
    return tag("span", inner, MUTED)


def toned(text: str, tone: str) -> str:
    """Text in a tone's colour; "" is the colour around it."""
    return tag("span", esc(text), f"color:{TONES[tone]}") if tone else esc(text)


def pill(text: str, tone: str) -> str:
    """A small rounded label."""
    look = f"color:{TONES[tone]};background:{TINTS[tone]};padding:1px 9px;border-radius:9px"
    return tag("span", esc(text), f"{look};white-space:nowrap;{SMALL};font-weight:600")


def reference(id: Any, live: bool = False) -> str:
    """A memory's id: on a live page a click opens it, on a saved one it says what to type."""
    typed = f"%memory show {id}"
    return tag("code", esc(id), CODE, title=typed, **({"data-record": id} if live else {}))


def meter(share: float, tone: str = "live", width: str = "100%") -> str:
    """A thin bar that is filled to `share` (0…1)."""
    filled = max(0.0, min(1.0, share)) * 100
    inner = tag("span", "", f"display:block;width:{filled:.1f}%;height:3px;background:{TONES[tone]}")
    look = f"display:block;width:{width};height:3px;margin-top:2px;border-radius:2px;overflow:hidden"
    return tag("span", inner, f"{look};background:rgba(128,128,128,.22)")


def folded(summary: str, body: str, opened: bool = False, style: str = "") -> str:
    """A <details> with HTML inside."""
    head = tag("summary", summary, "cursor:pointer;overflow-wrap:anywhere")
    styled = f' style="{style}"' if style else ""
    return f"<details{styled}{' open' if opened else ''}>{head}{body}</details>"


def table(columns: list[str], rows: list[list[str]], right: list[bool]) -> str:
    """A table of HTML cells; wide ones scroll inside. `right`: columns aligned to the right."""

    def cells(kind: str, values: list[str], more: str) -> str:
        return "".join(
            tag(kind, value, f"padding:2px 12px 2px 2px;text-align:{'right' if r else 'left'};{more}")
            for value, r in zip(values, right, strict=False)
        )

    head = tag("tr", cells("th", columns, "font-weight:600;white-space:nowrap"), f"border-bottom:{LINE}")
    body = "".join(tag("tr", cells("td", row, "vertical-align:top"), "background:none") for row in rows)
    whole = tag(
        "table",
        tag("thead", head) + tag("tbody", body),
        f"border-collapse:collapse;{SMALL};margin:2px 0;font-variant-numeric:tabular-nums",
    )
    return tag("div", whole, SCROLL)
