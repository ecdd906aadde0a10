"""Floors of recall on the labelled sets that ship with the benchmarks, by words alone: below these, something broke."""

import importlib.util
import pathlib

import pytest

BENCH = pathlib.Path(__file__).parents[2] / "benchmarks" / "bench_memories.py"
FLOORS = {
    "memories_zh.json": {
        "paraphrase": 0.85,
        "term": 0.95,
        "date": 0.9,
        "negation": 0.95,
        "conflict": 0.95,
        "all": 0.93,
    },
    "memories_en.json": {
        "paraphrase": 0.6,
        "term": 0.95,
        "date": 0.9,
        "negation": 0.85,
        "conflict": 0.95,
        "all": 0.84,
    },
}
NOTHING = {"memories_zh.json": 0.88, "memories_en.json": 0.94}
"""Share of unrelated questions that recall nothing …"""
LEFT = {"memories_zh.json": 0.79, "memories_en.json": 0.8}
"""… and R@5 of the others, both under the default threshold."""
NEWER = {"memories_zh.json": 0.85, "memories_en.json": 0.85}


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_memories", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=sorted(FLOORS))
def scored(request, bench):
    data = bench.read(bench.DATA / request.param)
    return request.param, data, bench.scored(data, bench.ours(data, None))


def test_each_kind_of_question_is_answered_as_well_as_before(scored):
    name, _, table = scored
    low = {k: table[k]["R@5"] for k, floor in FLOORS[name].items() if table[k]["R@5"] < floor}
    assert low == {}


def test_the_newer_of_two_statements_comes_first(scored):
    name, _, table = scored
    assert table["conflict"]["R@1"] >= NEWER[name]


def test_the_threshold_keeps_out_what_is_unrelated_and_lets_in_what_is_asked_for(scored, bench):
    name, data, _ = scored
    table = bench.threshold(data, bench.ours(data, None))
    assert table["none"]["nothing recalled"] >= NOTHING[name]
    assert table["none, held"]["nothing recalled"] >= NOTHING[name]
    assert table["threshold"]["R@5"] >= LEFT[name]


def test_the_sets_are_as_large_and_whole_as_they_claim(scored):
    name, data, _ = scored
    ids = [row["id"] for row in data["memories"]]
    assert len(set(ids)) == len(ids) >= (150 if "zh" in name else 100)
    assert len(data["questions"]) >= (80 if "zh" in name else 60)
    assert {id for row in data["questions"] for id in row["right"]} <= set(ids)
    assert sum(row["kind"] == "none, held" for row in data["questions"]) >= 40
    assert all(bool(row["right"]) != row["kind"].startswith("none") for row in data["questions"])


def test_it_is_better_than_plain_bm25_on_words_or_characters(scored, bench):
    _, data, table = scored
    plain = bench.scored(data, bench.naive(data, bench.characters))
    assert table["all"]["R@5"] > plain["all"]["R@5"]
    assert table["all"]["MRR"] > plain["all"]["MRR"]
