"""What a record must share with a question to be recalled by itself."""

import pytest

from agent_nb.memory import Memory, relevance

TEXTS = [
    "Charts use the company blue, never red against green",
    "Meetings suit me in the morning; afternoons are for writing",
    "I live in Delfshaven",
    "GMV counts paid orders only",
    "Hotels are reimbursed up to 140 euros a night in capitals",
    "我最近在学钢琴",
    "回答先给结论，再列数据",
    "我对青霉素过敏",
]


@pytest.fixture(params=[":memory:", "m.pkl"])
def memory(request, tmp_path):
    where = request.param if request.param == ":memory:" else tmp_path / request.param
    with Memory(where, embedder=None) as kept:
        kept.add_many({"text": text} for text in TEXTS)
        yield kept


@pytest.mark.parametrize(
    "question",
    [
        "why is the sky blue?",
        "good morning, how are you?",
        "how many people live on the moon base in that film?",
        "is it a good night to watch a film?",
        "你好",
        "最近怎么样",
        "最近有什么好电影",
    ],
)
def test_one_everyday_word_in_common_recalls_nothing(memory, question):
    found = memory.recall(question)
    assert not found.hits
    assert found.gates[2]["left"] == 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("where do I live?", "I live in Delfshaven"),
        ("GMV", "GMV counts paid orders only"),
        ("what is GMV?", "GMV counts paid orders only"),
        ("which blue do charts use?", "Charts use the company blue, never red against green"),
        ("钢琴学得如何", "我最近在学钢琴"),
        ("我对什么过敏", "我对青霉素过敏"),
    ],
)
def test_the_whole_of_a_short_question_or_two_words_of_a_longer_one_do(memory, question, text):
    assert memory.recall(question).hits[0].record.text == text


def test_the_gate_and_the_doctor_say_what_was_missing(memory):
    found = memory.recall("why is the sky blue?")
    (row,) = [row for row in found.gates[2]["listed"] if "blue" in row["text"]]
    assert not row["passed"]
    assert row["similarity"] < row["needed"]
    assert "an everyday word of the question" in found.gates[2]["why"]
    told = memory.why("why is the sky blue?")
    assert told.broke == "not_recalled"
    assert f"needs {row['needed']:.2f}" in told.explanation
    entered = memory.recall("why is the sky blue?", **told.setting)
    assert row["id"] in [hit.record.id for hit in entered]


def test_a_threshold_of_ones_own_asks_for_no_words(memory):
    assert memory.recall("why is the sky blue?", threshold=0.1).hits


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("gmv", 1),
        ("blue", 0.5),
        ("30", 0.5),
        ("2013", 1),
        ("过敏", 0),
        ("敏", 0.5),
        ("好", 0.2),
        ("晚点", 0.5),
    ],
)
def test_words_count_by_what_they_tell(term, words):
    assert relevance.telling(term) == words
