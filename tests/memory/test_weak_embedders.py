"""However weak an embedder is, recall does not fall below words alone by more than chance."""

import hashlib
import importlib.util
import itertools
import pathlib

import numpy as np
import pytest

from agent_nb.memory import Memory, lacking, trial

BENCH = pathlib.Path(__file__).parents[2] / "benchmarks" / "bench_memories.py"


class Noise:
    """Vectors that have nothing to do with the text."""

    def __init__(self, dim=256):
        self.name, self.dim = f"{type(self).__name__}-{dim}", dim

    def row(self, text, kind):
        seed = int(hashlib.sha256(f"{kind}{text}".encode()).hexdigest()[:8], 16)
        return np.random.default_rng(seed).standard_normal(self.dim)

    def embed(self, texts, kind="record"):
        rows = np.stack([self.row(text, kind) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class Alike(Noise):
    """Everything is the same to it."""

    def row(self, text, kind):
        return np.ones(self.dim)


class Length(Noise):
    """It sees how long a text is, and nothing else."""

    def row(self, text, kind):
        return np.array([np.cos(len(text) / 40), np.sin(len(text) / 40), *np.zeros(self.dim - 2)])


class Contrary(Noise):
    """It takes what a question asks for the farthest."""

    def row(self, text, kind):
        letters = np.zeros(self.dim)
        for pair in itertools.pairwise(text):
            letters[hash_of("".join(pair)) % self.dim] += 1
        return (letters + 1e-6) * (-1 if kind == "query" else 1)


class Slow(Noise):
    """Noise that has to be waited for."""

    quick = False


def hash_of(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


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


WEAK = [Noise(2), Noise(8), Noise(64), Noise(256), Alike(16), Length(4), Contrary(64), Slow(8)]


@pytest.mark.parametrize("weak", WEAK, ids=lambda weak: weak.name)
def test_a_weak_embedder_takes_nothing_from_what_words_find(bench, weak, labelled):
    data, words = labelled
    mixed = bench.scored(data, bench.ours(data, weak))["all"]
    assert mixed["R@5"] >= words["R@5"] - 0.01
    assert mixed["MRR"] >= words["MRR"] - 0.01


def test_an_embedder_that_finds_the_records_again_is_relied_on():
    """The hash of a text's words is one; how far it is relied on is told apart from noise with certainty."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    own = list(range(0, 192, 6))
    near = rows[own] + 0.1 * rng.standard_normal((32, 64)).astype(np.float32)
    assert trial.trust(near, rows, own) == 1
    for seed in range(200):
        noise = np.random.default_rng(seed).standard_normal((32, 64)).astype(np.float32)
        assert trial.trust(noise, rows, own) == 0
    assert trial.trust(-near, rows, own) == 0
    assert trial.trust(np.ones((32, 64), np.float32), np.ones((200, 64), np.float32), own) == 0
    assert trial.trust(near[:3], rows, own[:3]) == 1  # too few to tell


@pytest.mark.parametrize("count", [0, 1, 32, 33, 256])
def test_what_is_tried_is_spread_over_the_long_enough_texts(count):
    texts = ["a long enough text"] * count + ["short"] * 3
    chosen = trial.chosen(texts)
    assert len(chosen) == min(count, trial.TRIED)
    assert len(set(chosen)) == len(chosen)
    assert all(len(texts[place]) >= trial.SHORTEST for place in chosen)


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("one two three four", "one two"),
        ("会议改到周三下午三点", "会议改到周"),
        ("abcdefghij", "abcde"),
        ("a b", "a"),
    ],
)
def test_half_of_a_text(text, half):
    assert trial.half(text) == half


@pytest.mark.parametrize("text", ["{n}", "the number {n} of a long list"])
def test_a_recall_does_not_try_it_again_before_there_is_twice_as_much(text, monkeypatch):
    looked = []
    real = lacking.some_embedded
    monkeypatch.setattr(lacking, "some_embedded", lambda *args: looked.append(args) or real(*args))
    weak = Noise(16)
    weak.quick = True
    with Memory(":memory:", embedder=weak) as memory:
        for count in (300, 600):
            memory.add_many({"text": text.format(n=n), "type": "episode"} for n in range(count - 300, count))
            for _ in range(3):
                memory.recall("the number 7")
            assert len(looked) == count // 300
