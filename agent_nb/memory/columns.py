"""What an index knows of each record, as arrays over places: a place is a record's row in all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIELDS = {
    "number": ("int64", 0),  # the record's number in the store
    "alive": ("bool", False),
    "embedded": ("bool", False),  # whether its vector is here
    "type": ("int8", -1),
    "length": ("int32", 0),  # terms
    "expires": ("float64", 0.0),  # seconds, infinite for never: from then on it ranks low
    "removal": ("float64", 0.0),  # from then on it is not recalled
    "created": ("float64", 0.0),  # seconds
    "importance": ("float64", 0.0),
    "last": ("float64", 0.0),  # seconds of the last use or of the writing
    "subject": ("int32", -1),  # a phrase of its index, -1 for none
    "session": ("int32", 0),  # 0 for what is no turn of a conversation
    "speaker": ("int32", -1),
    "asks": ("bool", False),
}
"""Name → type and value of nothing."""


class Columns:
    """Arrays that grow together. `columns["alive"]` is the whole column, a view that may be written to."""

    def __init__(self, filled: Mapping[str, NDArray[Any]] | None = None) -> None:
        import numpy as np

        self.size = len(filled["number"]) if filled else 0
        # Copied, since records change state, which a mapped file must not.
        self._whole = {
            name: np.array(filled[name], dtype) if filled else np.full(64, empty, dtype)
            for name, (dtype, empty) in FIELDS.items()
        }
        self._views: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        view = self._views.get(name)
        if view is None:
            view = self._views[name] = self._whole[name][: self.size]
        return view

    def append(self, **values: Any) -> int:
        """One more place; fields that are not given have the value of nothing. Returns the place."""
        place = self.size
        if place == len(self._whole["number"]):
            self._grow(place + place // 4 + 64)
        for name, value in values.items():
            self._whole[name][place] = value
        self.size += 1
        self._views.clear()
        return place

    def _grow(self, room: int) -> None:
        import numpy as np

        for name, (dtype, empty) in FIELDS.items():
            grown: np.ndarray[Any, Any] = np.full(room, empty, dtype)
            grown[: self.size] = self._whole[name][: self.size]
            self._whole[name] = grown
