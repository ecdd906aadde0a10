"""The index against an independent BM25, and against itself built anew, after any series of writes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from agent_nb.memory import Memory, index
from agent_nb.memory.index import Index
from agent_nb.memory.text import tokens

WORDS = [f"word{n}" for n in range(400)]


def fresh(memory):
    with memory._store.reading() as db:
        built = Index(memory._store.reading)
        built.refresh(db, memory.user, memory._embedder)
    return built


def test_scores_are_those_of_rank_bm25_with_the_same_weights_on_the_same_tokens():
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice(WORDS, random.integers(3, 20))) for _ in range(120)]
    with Memory(":memory:", embedder=None) as memory:
        memory.add_many({"text": text, "type": "episode"} for text in texts)
        memory.recall("x")
        with memory._store.reading() as db:
            stored = [json.loads(row[0]) for row in db.execute("SELECT terms FROM records ORDER BY n")]
        oracle = BM25Okapi(stored, k1=index.K1, b=index.B)
        size = max(len(stored), index.SMALL)
        for term in oracle.idf:
            n = sum(term in document for document in stored)
            oracle.idf[term] = math.log(1 + (size - n + 0.5) / (n + 0.5))
        for question in texts[:20]:
            terms = sorted(set(tokens(question)))
            whole = sum(oracle.idf[term] for term in terms)
            expected = np.minimum(oracle.get_scores(terms) / whole, 1)
            np.testing.assert_allclose(memory._index.lexical(terms), expected, rtol=1e-4)


def test_the_only_record_that_matches_scores_above_zero():
    # rank_bm25 itself gives the perfect match in a store of one a negative score.
    with Memory(":memory:", embedder=None) as memory:
        memory.add("the canary is yellow", "episode")
        memory.recall("x")
        assert memory._index.lexical(tokens("yellow canary"))[0] > 0.9


STEP = st.tuples(
    st.sampled_from(["add", "add", "add", "edit", "forget", "erase", "use", "recall", "resolve"]),
    st.integers(0, 9),
    st.integers(10, 14),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(STEP, max_size=25), st.sampled_from([None, "hashing"]))
def test_an_index_that_followed_all_writes_answers_like_one_built_anew(steps, embedder):
    with Memory(":memory:", embedder=embedder) as memory:
        ids = []
        for action, n, value in steps:
            pick = ids[n % len(ids)] if ids else ""
            record = memory.get(pick)
            if action == "add":
                source = "tool" if n == 9 else "user_explicit"
                ids.append(memory.add(f"the limit of {WORDS[n]} is {value}", source=source).id)
            elif action == "recall":
                memory.recall(WORDS[n])
            elif record is None:
                continue
            elif action == "edit" and record.status in ("active", "pending"):
                ids.append(memory.edit(pick, f"the limit of {WORDS[n]} is {value}").id)
            elif action in ("forget", "erase"):
                memory.forget(pick, erase=action == "erase")
            elif action == "use":
                memory.mark_used([pick])
            elif action == "resolve" and record.status == "pending":
                memory.resolve(pick, ("keep", "drop", "both")[n % 3])
        questions = [f"the limit of {word}" for word in WORDS[:10]]
        followed = [_shape(memory.recall(q, k=20, budget=10_000, threshold=0)) for q in questions]
        memory._index = Index(memory._store.reading)
        assert followed == [_shape(memory.recall(q, k=20, budget=10_000, threshold=0)) for q in questions]
        shown = {id for row in followed for id, _ in row}
        assert shown <= {record.id for record in memory.search()}


def _shape(recall):
    return sorted((hit.record.id, round(hit.similarity, 3)) for hit in recall)


def test_a_write_of_ones_own_or_of_another_process_reads_only_what_is_new(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as one, Memory(tmp_path / "m.db", embedder=None) as two:
        one.add_many({"text": f"{word} is here", "type": "episode"} for word in WORDS)
        one.recall("word1")
        seen = []
        apply = one._index._apply
        one._index._apply = lambda row, *rest: (
            seen.append(json.loads(row[2])["id"]),
            apply(row, *rest),
        )[1]
        new = [one.add("zebra crossing", "episode").id, two.add("zebra foal", "episode").id]
        assert {hit.record.id for hit in one.recall("zebra")} == set(new)
        one.mark_used(new[:1])
        assert {hit.record.hits for hit in one.recall("zebra")} == {0, 1}
        assert seen == [*new, new[0]]


def test_many_dead_places_are_cleared():
    with Memory(":memory:", embedder=None) as memory:
        ids = [record.id for record in memory.add_many({"text": f"{w} x", "type": "episode"} for w in WORDS)]
        memory.recall("x")
        for id in ids[1:]:
            memory.forget(id)
        assert [hit.record.id for hit in memory.recall(WORDS[0])] == ids[:1]
        assert fresh(memory).active == memory._index.active == 1


@pytest.mark.parametrize("types", [["fact"], ["profile", "episode"], [], ["nonsense"]])
def test_only_the_types_that_are_asked_for_come_back_and_the_gate_counts_the_others(types):
    with Memory(":memory:", embedder="hashing") as memory:
        for type in ("fact", "profile", "episode"):
            memory.add(f"zebra of {type}", type)
        recall = memory.recall("zebra", types=types, threshold=0)
        assert {hit.record.type for hit in recall} == set(types) - {"nonsense"}
        assert recall.gates[1]["out"]["other type"] == 3 - len(recall.hits)
