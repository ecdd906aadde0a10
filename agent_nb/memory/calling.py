"""Calls of an embedder, which may be slow, fail or hang: what is known of it, and how long it is worth waiting."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from . import embed

if TYPE_CHECKING:
    Vectors = embed.Vectors

ANSWER_S, LATE_S = 1.0, 0.02
"""A recall waits this long for a vector; so long from an embedder that was too late before."""
BATCH_S, SMALLEST, LARGEST = 0.1, 8, 64
"""What is embedded in one call: seconds, and texts at least (one call costs much by itself) and at most."""
QUICK_S = 0.003
"""An embedder that took no longer a text is called where the text is, without a thread."""
PAUSES_S = (1.0, 300.0)
"""After a failure: the first pause, doubled each time up to the last."""


class Caller:
    """One embedder. Its calls raise nothing: they give the vectors, or None and the reason in `failed`."""

    def __init__(self, embedder: embed.Embedder) -> None:
        self.embedder, self.name, self.dim = embedder, str(embedder.name), int(embedder.dim)
        self.failed, self.untold, self.late = "", False, False
        self.each_s: float | None = None
        self.retry_at = self.pause_s = 0.0
        self._one_at_a_time = threading.Lock()

    def is_quick(self) -> bool:
        """Whether a text takes so little that nobody need wait for it elsewhere."""
        said = getattr(self.embedder, "quick", None)
        return bool(said) if said is not None else self.each_s is not None and self.each_s <= QUICK_S

    def patience(self) -> float:
        """Seconds that a recall waits: as long as the embedder may load, once; then only for an answer."""
        if self.late:
            return LATE_S
        return ANSWER_S if self.each_s is not None else max(ANSWER_S, getattr(self.embedder, "loads_s", 0.0))

    def size(self) -> int:
        """How many texts one call should hold."""
        return max(SMALLEST, min(LARGEST, int(BATCH_S / self.each_s))) if self.each_s else SMALLEST

    def call(self, texts: list[str], kind: str, wait_s: float = -1, *, is_own_thread: bool = False) -> Any:
        """float32 (n, dim), or None where it failed or another call did not end in `wait_s` (-1: however long)."""
        if not self._one_at_a_time.acquire(timeout=wait_s):
            return None
        started = time.perf_counter()
        try:
            made = embed.vectors(self.embedder, texts, kind)
        except BaseException as error:
            if not isinstance(error, Exception) and not is_own_thread:
                raise
            self.fail(error)
            return None
        finally:
            self._one_at_a_time.release()
        took = time.perf_counter() - started
        each = took / max(1, len(texts))
        # The first call may have read the weights; only the next ones tell how quick it is.
        self.each_s = min(each, 0.01) if self.each_s is None else 0.7 * self.each_s + 0.3 * each
        if took < ANSWER_S:
            self.late = False
        self.failed, self.pause_s, self.retry_at = "", 0.0, 0.0
        return made

    def fail(self, error: BaseException) -> None:
        """Keep why, once for each time that it begins to fail, and leave it alone for a while."""
        said = " ".join(str(error).split())[:200] or type(error).__name__
        self.untold = self.untold or not self.failed
        self.failed = f"{self.name}: {said}"
        self.pause_s = min(max(PAUSES_S[0], 2 * self.pause_s), PAUSES_S[1])
        self.retry_at = time.monotonic() + self.pause_s

    def each(self, texts: list[str]) -> list[bytes | None]:
        """A vector each, on the thread; None for a text that is refused while others are taken. [] where none is."""
        whole = self.call(texts, "record", is_own_thread=True)
        if whole is not None:
            return [row.tobytes() for row in whole]
        # One text that it cannot read must not keep the others waiting, nor a broken one be asked for each.
        found = {place: self._alone(texts[place]) for place in {0, len(texts) - 1}}
        if not any(found.values()) and self._alone("is anybody there?") is None:
            return []
        for place in range(1, len(texts) - 1):
            found[place] = self._alone(texts[place])
        return [found[place] for place in range(len(texts))]

    def _alone(self, text: str) -> bytes | None:
        made = self.call([text], "record", is_own_thread=True)
        return None if made is None else made[0].tobytes()
