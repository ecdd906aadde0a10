"""Any Python value → plain JSON values, bounded in size, whatever the value is."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from ..errors import CutShort
from ..redact import MASK, redact, secret_name

_SURROGATE = re.compile(r"[\ud800-\udfff]")
DIGITS = 10
"""Significant digits to which floats are rounded."""


class Plainly:
    """One conversion: how many characters and items it may still spend, and whether anything was cut.

    Args:
        characters: of all texts together.
        items: values in all, at all depths.
    """

    def __init__(self, characters: int = 8_000, items: int = 2_000) -> None:
        self.characters = characters
        self.items = items
        self.cut = False

    def __call__(self, value: Any, depth: int = 0) -> Any:
        """`value` in plain JSON values. Never raises, but for an interrupt and the end of time."""
        try:
            return self._convert(value, depth)
        except (KeyboardInterrupt, CutShort):
            raise
        except BaseException as error:  # a repr, an iterator or a property of the user's may do anything
            return f"<{type(value).__name__}: its value cannot be shown ({type(error).__name__})>"

    def _convert(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return self._convert(value.value, depth)
        if isinstance(value, int):
            return int(value) if value.bit_length() <= 4_000 else f"an integer of {value.bit_length():,} bits"
        if isinstance(value, float):
            return number(value)
        if isinstance(value, str):
            return self.text(str(value))
        if isinstance(value, decimal.Decimal):
            return _decimal(value)
        if isinstance(value, (datetime.date, datetime.time)):
            text = value.isoformat() if value == value else None  # pandas' NaT is a datetime
            return text if text != "NaT" else None
        if isinstance(value, datetime.timedelta):
            return str(value) if value == value else None
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._bytes(bytes(value[:200]), len(value))
        if isinstance(value, BaseException):
            return self.text(f"{type(value).__name__}: {value}")
        if depth > 12:
            self.cut = True
            return "…"
        if isinstance(value, Mapping):
            return self._mapping(value.items(), len(value), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
            return self._mapping(fields, len(fields), depth)
        if isinstance(value, (list, tuple, AbstractSet)):
            return self._list(value, len(value), depth)
        return self._foreign(value, depth)

    def text(self, value: str) -> str:
        """Lone surrogates and secrets replaced, cut to what may still be spent."""
        room = max(0, self.characters)
        # Redacted before it is cut, so that no half of a secret is left at the end.
        whole = redact(_SURROGATE.sub("\ufffd", value[: room + 4_000]))
        self.characters -= min(len(whole), room)
        if len(whole) <= room and len(value) <= room + 4_000:
            return whole
        self.cut = True
        return whole[:room] + "…"

    def _spend(self) -> bool:
        self.items -= 1
        self.characters -= 2
        if self.items < 0 or self.characters < 0:
            self.cut = True
            return False
        return True

    def _mapping(self, pairs: Any, total: int, depth: int) -> Any:
        plain: dict[str, Any] = {}
        for key, inner in pairs:
            if not self._spend():
                plain["…"] = f"{total - len(plain):,} more of {total:,}"
                break
            name = self.text(key if isinstance(key, str) else str(self(key, depth + 1)))
            plain[name] = (
                MASK if isinstance(inner, str) and inner and secret_name(name) else self(inner, depth + 1)
            )
        return plain

    def _list(self, values: Any, total: int, depth: int) -> list[Any]:
        plain: list[Any] = []
        for inner in values:
            if not self._spend():
                plain.append(f"… {total - len(plain):,} more of {total:,}")
                break
            plain.append(self(inner, depth + 1))
        return plain

    def _bytes(self, head: bytes, total: int) -> str:
        shown = self.text(head.decode("utf-8", "replace"))
        return f"{total:,} bytes: {shown}" if total > 200 else shown

    def _foreign(self, value: Any, depth: int) -> Any:
        """Scalars, arrays and the missing values of numpy, pandas, polars and Arrow; else the text of it."""
        kind = type(value).__name__
        module = type(value).__module__.partition(".")[0]
        if kind in ("NAType", "NaTType", "MaskedConstant"):
            return None
        if module == "pyarrow" and hasattr(value, "as_py"):
            return self(value.as_py(), depth + 1)
        if module == "numpy" and getattr(value, "ndim", None) == 0:
            inner = value.item()
            return self(
                str(value) if isinstance(inner, int) and value.dtype.kind in "mM" else inner, depth + 1
            )
        if module in ("numpy", "pandas", "polars", "pyarrow") and hasattr(value, "__len__"):
            if (module == "pandas" and kind == "DataFrame") or (module == "polars" and kind == "DataFrame"):
                return self.text(f"{kind} of {value.shape[0]:,} rows × {value.shape[1]:,} columns")
            head = value[: max(1, min(len(value), self.items))]
            return self._list(head.tolist() if hasattr(head, "tolist") else list(head), len(value), depth)
        return self.text(str(value))


def number(value: float) -> float | int | None:
    """A float rounded to 10 significant digits; None for NaN and infinities, which JSON does not have."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    return rounded if math.isfinite(rounded) else value  # the largest float rounds up to infinity


def _decimal(value: decimal.Decimal) -> float | int | str | None:
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and value.adjusted() < 30:
        return int(value)
    return number(float(value))
