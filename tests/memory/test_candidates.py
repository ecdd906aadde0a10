"""The search that reads a part of the vectors against one that evaluates every place by the written formulas."""

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.memory import Memory, block, candidates, turns, vectors
from agent_nb.memory.index import Index
from agent_nb.memory.text import tokens

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
WORDS = [f"word{n}" for n in range(30)]


class Cloud:
    """An embedder of clustered vectors, the same for the same text."""

    unrelated, same, quick = 0.1, 0.9, True

    def __init__(self, dim, clusters, noise, seed):
        self.name, self.dim, self.noise = f"cloud-{seed}", dim, noise
        self.random = np.random.default_rng(seed)
        self.centres = self.random.standard_normal((clusters, dim))
        self.known = {}

    def embed(self, texts, kind="record"):
        """float32 (n, dim)."""
        for text in texts:
            if text not in self.known:
                centre = self.centres[self.random.integers(len(self.centres))]
                vector = centre + self.noise * self.random.standard_normal(self.dim)
                self.known[text] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return np.stack([self.known[text] for text in texts])


def mixed_plainly(index, own, terms):
    """`turns.mixed` once more, turn by turn in Python."""
    state = index.columns
    talks = {}
    for place in np.argsort(state["number"], kind="stable").tolist():
        if state["session"][place] and state["alive"][place]:
            talks.setdefault(int(state["session"][place]), []).append(place)
    named = index.sessions._speakers.within(terms)
    found = own.astype(np.float64)
    for talk in talks.values():
        best = max(own[place] for place in talk)
        for i, place in enumerate(talk):
            gain = turns.SESSION * best
            if i:
                before = talk[i - 1]
                gain += own[before] * (turns.BEFORE + (turns.REPLY if state["asks"][before] else 0))
            if i + 1 < len(talk):
                gain += own[talk[i + 1]] * turns.AFTER
            gain += turns.SPEAKER * named.count(state["speaker"][place]) * (own[place] > 0)
            long = 1 + turns.LONG * (np.log1p(state["length"][place]) - turns.TYPICAL)
            whole = (own[place] + gain) * long - turns.ASKS * state["asks"][place] * own[place]
            if whole > turns.FULL:
                whole = 1 - (1 - turns.FULL) * np.exp((turns.FULL - whole) / (1 - turns.FULL))
            found[place] = max(whole, 0)
    return found


def plainly(index, terms, vector, rows, embedder, valid, keep):
    """Every place evaluated: scores of the mix, and the best by words, meaning and mix, as scores."""
    own = lexical = index.lexical(terms)
    cosines = np.zeros(index.size) if vector is None else rows @ vector
    if vector is not None:
        sem = np.clip((cosines - embedder.unrelated) / (embedder.same - embedder.unrelated), 0, 1)
        own = lexical + (1 - lexical) * candidates.EMBEDDED * sem * sem
    mixed = mixed_plainly(index, own, terms)
    top = np.sort(mixed[valid & (mixed > 0)])[::-1][:keep]
    near = np.sort(cosines[valid])[::-1][:keep]
    words = np.sort(lexical[valid & (lexical > 0)])[::-1][:keep]
    return mixed, cosines, top, near, words


def filled(memory, random, size, talks):
    """Records of few words, in facts and conversations that interleave; some of them ended, revoked or of a type."""
    rows = []
    for n in range(size):
        text = " ".join(random.choice(WORDS, random.integers(1, 7))) + f" no{n}"
        row = {"text": text, "type": "fact"}
        if random.random() < talks:
            speaker = random.choice(["Ana", "Bo", "Cy"])
            row = {"text": f"{speaker}: {text}" + "?" * (random.random() < 0.3), "type": "episode"}
            row["session"] = f"s{random.integers(1 + size // 8)}"
        rows.append(row)
    records = memory.add_many(rows)
    for record in records[1 :: size // 4 + 2]:
        memory.forget(record.id)
    return records


def check(memory, questions, keep, now, types, embedder):
    index = memory._fresh_index()
    valid, *_ = index.valid(now, types)
    with memory._store.reading() as db:
        stored = dict(db.execute("SELECT n, vector FROM records").fetchall())
    for question in questions:
        terms = list(dict.fromkeys(tokens(question)))
        vector = rows = meaning = None
        if embedder is not None:
            vector = embedder.embed([question], "query")[0]
            rows = np.stack([np.frombuffer(stored[n], np.float32) for n in index.columns["number"].tolist()])
            meaning = candidates.Meaning(index, vector, embedder.unrelated, embedder.same)
        found = candidates.search(index, terms, meaning, valid, keep)
        mixed, cosines, top, near, words = plainly(index, terms, vector, rows, embedder, valid, keep)
        np.testing.assert_allclose(found.mixed, mixed[found.places], atol=2e-5)
        assert valid[found.places].all()
        best = np.sort(found.mixed)[::-1][: len(top)]
        np.testing.assert_allclose(best, top, atol=2e-5)
        assert set(np.flatnonzero(valid & (mixed > (top[-1] if len(top) == keep else 0) + 1e-4))) <= set(
            found.places.tolist()
        )
        np.testing.assert_allclose(np.sort(index.lexical(terms)[list(found.words)])[::-1], words, atol=1e-6)
        if embedder is not None:
            np.testing.assert_allclose(np.sort(cosines[list(found.near)])[::-1], near, atol=2e-5)
        else:
            assert found.near == set()


@pytest.fixture
def always_bounded(monkeypatch):
    """Blocks and bounds from the first record on, as in a large store."""
    monkeypatch.setattr(Index, "bulk", 1)
    monkeypatch.setattr(vectors, "ENOUGH", 1)
    monkeypatch.setattr(vectors, "_kept", lambda *_: 31)  # also where it does not pay


CASE = {
    "seed": st.integers(0, 10**6),
    "size": st.sampled_from([1, 2, 30, 300]),
    "talks": st.sampled_from([0.0, 0.5, 1.0]),
    "noise": st.sampled_from([0.1, 0.7, 3.0]),
    "clusters": st.sampled_from([1, 5, 100]),
    "keep": st.sampled_from([1, 5, 20]),
    "later": st.sampled_from([0, 1, 40]),
}


@pytest.mark.parametrize("words_only", [False, True])
def test_a_search_by_bounds_finds_what_evaluating_everything_finds(always_bounded, words_only):
    @settings(max_examples=15, deadline=None)
    @given(**CASE)
    def holds(seed, size, talks, noise, clusters, keep, later):
        random = np.random.default_rng(seed)
        embedder = None if words_only else Cloud(64, clusters, noise, seed)
        with Memory(":memory:", embedder=embedder) as memory:
            records = filled(memory, random, size, talks)
            memory._fresh_index()
            assert memory._index._block == memory._index.active
            if later:
                filled(memory, random, later, talks)
                for record in records[:: size // 5 + 1]:
                    memory.forget(record.id)
            questions = [*random.choice([r.text for r in records], 2), "Ana word1 word2?", "nothing of this"]
            now = datetime.datetime.now(datetime.UTC)
            check(memory, questions, keep, now, [None, ["fact"], ["episode"]][seed % 3], embedder)

    holds()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1, 3, 200]), k=st.sampled_from([0, 1, 5, 50]))
def test_a_block_answers_like_records_that_were_added_one_by_one(seed, size, k):
    random = np.random.default_rng(seed)
    embedder = Cloud(64, 20, 0.7, seed)
    with Memory(":memory:", embedder=embedder) as memory, pytest.MonkeyPatch.context() as patch:
        records = filled(memory, random, size, 0.5)
        questions = [*random.choice([r.text for r in records], 2), "Ana word1 word2?", "nothing of this"]
        answers = []
        for least in (10**9, 1):
            patch.setattr(Index, "bulk", least)
            patch.setattr(vectors, "ENOUGH", least)
            memory._index.clear()
            answers.append(
                [
                    [
                        (h.record.id, round(h.similarity, 3), round(h.score, 3))
                        for h in memory.recall(q, k, 10**6, threshold=0)
                    ]
                    for q in questions
                ]
            )
        assert [[id for id, *_ in row] for row in answers[0]] == [
            [id for id, *_ in row] for row in answers[1]
        ]
        assert answers[0] == [
            [(id, pytest.approx(s, abs=2e-3), pytest.approx(t, abs=2e-3)) for id, s, t in row]
            for row in answers[1]
        ]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([2, 40]))
def test_no_mix_falls_when_a_score_rises(seed, size):
    random = np.random.default_rng(seed)
    with Memory(":memory:", embedder=None) as memory:
        filled(memory, random, size, 0.8)
        index = memory._fresh_index()
        low = random.random(index.size).astype(np.float32) * (random.random(index.size) < 0.7)
        high = np.minimum(low + random.random(index.size).astype(np.float32) * 0.4, 1)
        terms = tokens("Ana Bo word1")
        assert (index.sessions.mixed(high, terms) >= index.sessions.mixed(low, terms) - 1e-6).all()


def test_the_rows_of_an_index_are_read_only_where_they_are_asked_for():
    with Memory(":memory:", embedder=None) as memory:
        memory.add_many({"text": f"zebra number {n}", "type": "episode"} for n in range(2_100))
        memory.recall("zebra", k=3)
        assert memory._index._block == 2_100
        assert len(memory._index._rows) < 100


def test_a_block_holds_no_text():
    with Memory(":memory:", embedder=None) as memory:
        memory.add_many(
            {"text": f"Ana: the canary{n} sings", "type": "episode", "session": "secretly"} for n in range(50)
        )
        memory.add("the parrot is green")
        with memory._store.reading() as db:
            arrays = block.build(db, "default", None)
        raw = b"".join(array.tobytes() for array in arrays.values())
        for word in ("canari", "canary", "Ana", "ana", "secretly", "parrot", "green"):
            assert word.encode() not in raw
