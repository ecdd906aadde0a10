"""Vectors of one user's records, and an exact search in them that reads about a third of the bytes.

The bulk is also kept turned, cut to the directions that hold most of its energy (its principal components, without
a mean). With x = head + tail and q likewise, q·x ≤ q_head·x_head + |q_tail||x_tail| (Cauchy and Schwarz), so a
record whose bound is below what is already found need not be read in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ENOUGH = 4_000
"""Rows from which on a bound pays."""
SAMPLE = 8_192
ASKED, WANTED = 32, 20
"""When it is chosen how many directions pay: rows of the sample that are asked for like questions, and how many of the
nearest are wanted."""
ROW = 300
"""Numbers that are read in a row while one row is fetched from somewhere."""
ROUNDING = 1e-5
"""What single precision may be wrong by; bounds are that much higher."""


class Vectors:
    """Rows of the bulk (places 0, 1, …) and rows that came later, each with its place.

    Args:
        dim: of a vector. block: array `rows`, and where it pays `head` and `basis`; see `gathered`.
    """

    def __init__(self, dim: int, block: Mapping[str, NDArray[Any]] | None = None) -> None:
        import numpy as np

        self.dim = dim
        self._block = block or {}
        self._late: Floats = np.empty((0, dim), np.float32)
        self._where: NDArray[np.int32] = np.empty(0, np.int32)
        self._at: dict[int, int] = {}

    def give(self, place: int, row: Any) -> None:
        """Keep the vector of a place that has none in the bulk."""
        import numpy as np

        at = self._at.setdefault(place, len(self._at))
        if at == len(self._where):
            room = at + at // 4 + 64
            late, where = np.zeros((room, self.dim), np.float32), np.zeros(room, np.int32)
            late[:at], where[:at] = self._late, self._where
            self._late, self._where = late, where
        self._late[at], self._where[at] = row, place

    def has(self, place: int) -> bool:
        """Whether a place has a vector, one of zeros included."""
        return place in self._at or place < len(self._block.get("rows", ()))

    def row(self, place: int) -> Any:
        """The vector of a place that has one."""
        at = self._at.get(place)
        return self._block["rows"][place] if at is None else self._late[at]

    @property
    def late(self) -> int:
        """How many vectors are not in the bulk."""
        return len(self._at)

    def bounds(self, vector: Floats, size: int) -> Bounds:
        """Cosines of `size` places with a question's vector: exact, or at least an upper bound of each."""
        import numpy as np

        upper = np.zeros(size, np.float32)
        known = np.ones(size, bool)
        rows = self._block.get("rows")
        if rows is not None and "head" in self._block:
            basis = self._block["basis"]
            turned = vector @ basis
            tail = np.sqrt(max(0.0, float(vector @ vector) - float(turned @ turned)) + 1e-7)
            here = upper[: len(rows)]
            np.dot(self._block["head"], np.append(turned, np.float32(tail)), out=here)
            here += np.float32(ROUNDING)
            known[: len(rows)] = False
        elif rows is not None:
            np.dot(rows, vector, out=upper[: len(rows)])
        count = len(self._at)
        if count:
            where = self._where[:count]
            upper[where] = self._late[:count] @ vector
            known[where] = True
        return Bounds(upper, known, rows, vector)


class Bounds:
    """`upper`: a bound of each place's cosine (float32 (n,)), exact where `known` (bool (n,))."""

    def __init__(self, upper: Floats, known: NDArray[np.bool_], rows: Any, vector: Floats) -> None:
        self.upper, self.known, self._rows, self._vector = upper, known, rows, vector

    def refine(self, places: Any) -> Any:
        """Make those places exact; gives the ones that were not before."""
        places = places[~self.known[places]]
        if not len(places):
            return places
        if len(places) * 6 > len(self._rows):  # reading all in a row is faster than that many here and there
            import numpy as np

            places = np.flatnonzero(~self.known)
            self.upper[places] = (self._rows @ self._vector)[places]
        else:
            self.upper[places] = self._rows[places] @ self._vector
        self.known[places] = True
        return places


def gathered(rows: Floats) -> dict[str, NDArray[Any]]:
    """The block of many vectors (float32 (n, dim); zeros where there is none)."""
    import numpy as np

    size, dim = rows.shape
    if size < ENOUGH or dim < 64:
        return {"rows": rows}
    sample = rows[np.linspace(0, size - 1, min(size, SAMPLE)).astype(np.int64)]
    _, turns = np.linalg.eigh((sample.T @ sample).astype(np.float64))
    turns = np.ascontiguousarray(turns[:, ::-1].astype(np.float32))
    kept = _kept(sample, turns, size)
    if not kept:
        return {"rows": rows}
    basis = np.ascontiguousarray(turns[:, :kept])
    return {"rows": rows, "head": _headed(rows, basis), "basis": basis}


def _headed(rows: Floats, basis: Floats) -> Floats:
    """Rows in the directions of the basis, and in one more column the length of what is left of each."""
    import numpy as np

    head = np.empty((len(rows), basis.shape[1] + 1), np.float32)
    head[:, :-1] = turned = rows @ basis
    left = np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", turned, turned)
    # The margin covers what the difference of two rounded sums may be wrong by.
    head[:, -1] = np.sqrt(np.maximum(left, 0) + 1e-6)
    return head


def _kept(sample: Floats, turns: Floats, size: int) -> int:
    """How many directions cost least for the hardest of some questions like rows of the sample; 0: none."""
    import numpy as np

    dim = len(turns)
    asked = sample[:: max(1, len(sample) // ASKED)][:ASKED]
    exact = sample @ asked.T
    # The row itself is left out: no question is that near.
    rank = min(len(sample) - 1, 1 + round(WANTED * len(sample) / size))
    line = np.partition(exact, -1 - rank, axis=0)[-1 - rank]
    costs = {0: float(dim)}
    for kept in (15, 31, 47, 63, 95, 127, 159, 191):
        if kept < dim // 2:
            basis = turns[:, :kept]
            bounds = _headed(sample, basis) @ _headed(asked, basis).T
            fetched = np.count_nonzero(bounds >= line, axis=0) / len(sample)
            costs[kept] = kept + 1 + (dim + ROW) * float(fetched.max())
    return min(costs, key=costs.__getitem__)
