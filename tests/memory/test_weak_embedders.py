"""However weak an embedder is, recall does not fall below words alone by more than chance."""

import hashlib
import importlib.util
import pathlib

import numpy as np
import pytest

BENCH = pathlib.Path(__file__).parents[2] / "benchmarks" / "bench_memories.py"


class Noise:
    """Vectors that have nothing to do with the text."""

    name, dim = "noise", 256

    def embed(self, texts, kind="record"):
        seeds = [int(hashlib.sha256(f"{kind}{text}".encode()).hexdigest()[:8], 16) for text in texts]
        rows = np.stack([np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Alike(Noise):
    """Everything is the same to it."""

    name = "alike"

    def embed(self, texts, kind="record"):
        rows = np.zeros((len(texts), self.dim), np.float32)
        rows[:, 0] = 1
        return rows


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_memories", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=["memories_zh.json", "memories_en.json"])
def labelled(bench, request):
    """A labelled set, and how well words alone find it."""
    data = bench.read(bench.DATA / request.param)
    return data, bench.scored(data, bench.ours(data, None))["all"]


@pytest.mark.parametrize("weak", [Noise, Alike])
def test_a_weak_embedder_takes_nothing_from_what_words_find(bench, weak, labelled):
    data, words = labelled
    mixed = bench.scored(data, bench.ours(data, weak()))["all"]
    assert mixed["R@5"] >= words["R@5"] - 0.02
    assert mixed["MRR"] >= words["MRR"] - 0.02
