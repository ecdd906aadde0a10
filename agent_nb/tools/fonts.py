"""Which installed fonts have the glyphs of a text, so that Chinese labels are not drawn as boxes."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

DEFAULT = "DejaVu Sans"  # comes with matplotlib
_FIRST = re.compile(
    r"Noto Sans (CJK|SC|TC|JP|KR)|Source Han Sans|WenQuanYi|Microsoft YaHei|SimHei|PingFang|Hiragino|Heiti"
    r"|Arial Unicode|Droid Sans Fallback|Malgun|Yu Gothic|Noto Sans|FreeSans|Unifont",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


def families(texts: Iterable[str]) -> tuple[list[str], str]:
    """(font families that together have the glyphs, a sentence about glyphs that none has or "")."""
    needed = {c for text in texts for c in text if c.isprintable() and not c.isspace()}
    chosen: list[str] = []
    for family, path in [(DEFAULT, ""), *_installed()]:
        if chosen and not needed:
            break
        found = needed & _glyphs(family, path)
        if found or not chosen:
            chosen.append(family)
            needed -= found
    return chosen, _advice(needed) if needed else ""


def _advice(missing: set[str]) -> str:
    shown = " ".join(sorted(missing)[:5])
    package = "fonts-noto-cjk" if any(map(_CJK.match, missing)) else "fonts-noto"
    return f"no installed font has {shown}: install one (Debian, Ubuntu: apt install {package}) and restart"


@functools.lru_cache(maxsize=1)
def _installed() -> tuple[tuple[str, str], ...]:
    """(family, file) of upright fonts of normal weight, those made for many scripts first."""
    from matplotlib import font_manager

    fonts = font_manager.fontManager.ttflist
    plain = [f for f in fonts if f.style == "normal" and f.weight in (400, "normal", "regular", "book")]
    found = {font.name: font.fname for font in plain if font.name != DEFAULT}
    ordered = sorted(found.items(), key=lambda item: (_FIRST.search(item[0]) is None, item[0]))
    return tuple(ordered)


@functools.lru_cache(maxsize=256)
def _glyphs(family: str, path: str) -> frozenset[str]:
    from matplotlib import font_manager, ft2font

    try:
        font = ft2font.FT2Font(path or font_manager.findfont(family))
        return frozenset(map(chr, font.get_charmap()))
    except (OSError, RuntimeError, ValueError):
        return frozenset()
