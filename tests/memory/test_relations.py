"""Triples: what sentences of our own state, in two languages; and what states nothing."""

import json
import pathlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_nb.memory.relations import Triple, triples

DATA = pathlib.Path(__file__).parents[2] / "benchmarks" / "data" / "triples.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("held_out", [False, True])
def test_precision_and_recall_stay_above_their_floors(language, held_out):
    rows = [row for row in ROWS if row["lang"] == language and row["held_out"] == held_out]
    wanted = {(row["text"], *triple) for row in rows for triple in row["triples"]}
    found = {(row["text"], t.subject, t.relation, t.object) for row in rows for t in triples(row["text"])}
    assert len(rows) > 20
    assert len(wanted & found) >= 0.9 * len(wanted)
    assert len(wanted & found) >= 0.9 * len(found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I have a question about the report",
        "The data is ready",
        "Is Ana allergic to nuts?",
        "if I like it I will say so",
        "Bo could be allergic to nuts",
        "I no longer live in Rome",
        "The manager of the north is not Ana",
        "我有一个问题",
        "你对花生过敏吗？",
        "我对花生不过敏",
        "他可能住在成都",
        "客户投诉必须在两天内回复",
        "报告应该在周五之前发出",
        "会议在三点开始",
        "系统会在夜里重启",
    ],
)
def test_a_question_a_guess_or_a_denial_states_nothing(text):
    assert triples(text) == []


def test_a_text_of_several_sentences_gives_each_triple_once():
    text = "I like tea. I am allergic to nuts.\n我对花生过敏。我喜欢喝茶。I like tea."
    assert triples(text) == [
        Triple("user", "likes", "tea"),
        Triple("user", "allergic_to", "nuts"),
        Triple("user", "allergic_to", "花生"),
        Triple("user", "likes", "茶"),
    ]


@given(st.text(max_size=300))
@example("'=0")
@example("0='")
@example("GMV = “”")
@example("我喜欢“”")
@example("‘’的负责人是小王")
def test_any_text_is_read(text):
    for triple in triples(text):
        assert triple.subject
        assert triple.object
