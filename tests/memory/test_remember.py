"""What the user asks to be remembered: word for word, all of it, and nothing that is only a question about it."""

import pytest

from agent_nb.memory import Memory
from agent_nb.memory.consolidate import statements

SAID = [
    ("remember that the refund window is 30 days", ["the refund window is 30 days"]),
    ("Please remember: net revenue = gross - refunds", ["net revenue = gross - refunds"]),
    ("please remember that Ana's desk is B2.", ["Ana's desk is B2."]),
    ('Remember the limit is {x} & "y" $z \\n', ['the limit is {x} & "y" $z \\n']),
    ("记住：退货期限为30天", ["退货期限为30天"]),
    ("请记住：金额一律用人民币显示。", ["金额一律用人民币显示。"]),
    ("请记住，华东区的负责人是王小明", ["华东区的负责人是王小明"]),
    ("帮我记住晚点指延误超过15分钟", ["晚点指延误超过15分钟"]),
    ("Count the rows.\nRemember that late is over 15 minutes", ["late is over 15 minutes"]),
    ("remember that a is 1\nremember that b is 2", ["a is 1", "b is 2"]),
    ("记住：甲是1\n请记住：乙是2", ["甲是1", "乙是2"]),
    ("remember that a is 1\n记住：乙是2", ["a is 1", "乙是2"]),
    ('remember that "late" means over 15 minutes', ['"late" means over 15 minutes']),
    ("记住：“晚点”指超过15分钟", ["“晚点”指超过15分钟"]),
    ("don't forget that the year starts in April", ["the year starts in April"]),
    ("keep in mind: amounts are in euro", ["amounts are in euro"]),
]
ASKED = [
    "do you remember what late means?",
    "what should I remember?",
    "What should I remember about refunds",
    "do you remember the refund window",
    "can you remember what I said?",
    "I remember that it was higher last year",
    "I can't remember the refund window",
    "remember what late means?",
    "Remember when we looked at July?",
    "你记住了什么？",
    "你还记得晚点是什么意思吗？",
    "你记住我的定义了吗",
    "记住了吗？",
    "which customers will remember us?",
    "how many rows mention 'remember that'",
]


@pytest.mark.parametrize(("goal", "texts"), SAID)
def test_what_is_said_is_kept_word_for_word(goal, texts):
    with Memory(":memory:", embedder=None) as memory:
        kept = memory.consolidate(goal=goal, session="s", run="r")
        assert [row["text"] for row in kept["written"]] == texts
        assert [record.text for record in memory.search()] == texts
        assert {(r.source, r.session, r.run) for r in memory.search()} == {("user_explicit", "s", "r")}


@pytest.mark.parametrize("goal", ASKED)
def test_a_question_is_nothing_to_remember(goal):
    assert statements(goal) == []


@pytest.mark.parametrize(
    "secret",
    [
        "the key is sk-ant-" + "a1B2" * 8,
        "password = tr0ub4dor&3x",
        "密码是 tr0ub4dor3x9",
        "ghp_" + "a1B2" * 9,
    ],
)
def test_a_secret_is_said_to_be_left_out_and_is_nowhere(tmp_path, secret):
    with Memory(tmp_path / "m.db", embedder=None) as memory:
        kept = memory.consolidate(goal=f"remember that {secret}\nremember that tea is green")
        assert [row["text"] for row in kept["written"]] == ["tea is green"]
        assert secret not in str(kept)
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("done", [False, True])
def test_a_run_that_was_refused_still_keeps_what_the_user_said_and_nothing_else(done):
    answer = "I will not do that. The total is 12."
    with Memory(":memory:", embedder=None) as memory:
        memory.consolidate(goal="remember that tea is green", answer=answer, done=done)
        assert [record.text for record in memory.search()] == ["tea is green"]


def test_what_recall_put_into_the_window_is_not_stored_again():
    answer = "The refund window is 30 days."
    rows = [{"text": "30", "span": [21, 23], "value": 30, "sources": ["memory m1"], "formula": ""}]
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add("the refund window is 30 days")
        kept = memory.consolidate(
            goal="how long is the refund window?", answer=answer, done=True, evidence=rows
        )
        assert kept["written"] == []
        assert [r.to_dict() for r in memory.search()] == [record.to_dict()]
