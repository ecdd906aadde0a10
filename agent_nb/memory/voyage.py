"""Voyage AI's embeddings over HTTP: optional, never chosen by itself, since it sends what is remembered elsewhere."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from ..errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

SERVICE = "https://api.voyageai.com/v1"
TIMEOUT_S, AT_ONCE = 30.0, 64
READ = 16_000
"""Characters of a text that are sent."""


class Voyage:
    """Vectors by Voyage AI, with the key in VOYAGE_API_KEY.

    Args:
        model: one of theirs. dim: numbers of its vectors. url: where the service is.

    Raises SettingError where there is no key.
    """

    quick = False

    def __init__(self, model: str = "voyage-3.5-lite", dim: int = 1024, url: str = SERVICE) -> None:
        if not os.environ.get("VOYAGE_API_KEY"):
            raise SettingError("the embedder 'voyage' needs a key in VOYAGE_API_KEY; set it, or give 'auto'")
        self.name, self.dim = f"{model}-{dim}", dim
        self._model, self._url = model, url.rstrip("/") + "/embeddings"

    def embed(self, texts: list[str], kind: str = "record") -> Vectors:
        """float32 (n, dim). Raises OSError in one line where the service refuses or is not reached."""
        import numpy as np

        rows: list[Any] = []
        for start in range(0, len(texts), AT_ONCE):
            rows += self._asked([text[:READ] or " " for text in texts[start : start + AT_ONCE]], kind)
        return np.asarray(rows, np.float32).reshape(len(texts), -1)

    def _asked(self, texts: list[str], kind: str) -> list[Any]:
        body = {
            "input": texts,
            "model": self._model,
            "input_type": "query" if kind == "query" else "document",
            "output_dimension": self.dim,
        }
        key = os.environ.get("VOYAGE_API_KEY", "")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                data = json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(500).decode("utf-8", "replace")
            raise OSError(
                f"Voyage answered {error.code}: {said.replace(key, '…') if key else said}"
            ) from None
        except (KeyError, TypeError, ValueError) as error:
            raise OSError(f"Voyage's answer could not be read: {error}") from None
        return [row["embedding"] for row in sorted(data, key=lambda row: row["index"])]
