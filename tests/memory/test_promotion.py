"""What is promoted to long-term memory, and what stays short-term: in English and Chinese."""

import pandas
import pytest

from agent_nb.memory import Memory

PASSING = [
    ("I prefer bar charts", "I prefer line charts"),
    ("I am allergic to nuts.", "I am not allergic to nuts"),
    ("I live in Hamburg", "I moved to Vienna"),
    ("a late flight means over 15 minutes", "a late flight means over 20 minutes"),
    ("我喜欢喝绿茶", "我不喜欢喝绿茶"),
    ("我对花生过敏。", "我对花生不过敏"),
    ("我住在杭州", "我搬到南京了"),
]


@pytest.fixture
def memory():
    with Memory(":memory:", embedder=None) as opened:
        yield opened


def say(memory, goal, run, session="s", **more):
    return memory.consolidate(goal=goal, run=run, session=session, **more)


@pytest.mark.parametrize(("text", "other"), PASSING)
def test_the_third_time_promotes_and_each_run_counts_once(memory, text, other):
    for run in ("r1", "r1", "r2"):
        kept = say(memory, f"{text}\nHow many rows are there?", run)
        assert kept["written"] == []
        assert "of 3" in kept["left_out"][0]["reason"]
    assert memory.search() == []
    (row,) = say(memory, text, "r3", session="another")["written"]
    assert (row["text"], row["source"]) == (text, "user_explicit")
    assert memory.search()[0].evidence


@pytest.mark.parametrize(("text", "other"), PASSING)
def test_another_value_starts_anew(memory, text, other):
    for run, said in enumerate([text, text, other, text]):
        assert say(memory, said, f"r{run}")["written"] == []


@pytest.mark.parametrize("back", ["scratch that", "Never mind.", "算了", "forget what I said"])
def test_what_is_taken_back_in_the_same_session_is_not_promoted(memory, back):
    for run in ("r1", "r2"):
        say(memory, "I prefer bar charts", run)
    say(memory, back, "r3")
    assert say(memory, "I prefer bar charts", "r4")["written"] == []


def test_a_preference_that_is_known_gains_weight(memory):
    first = memory.add("I like green tea", "preference")
    (row,) = say(memory, "I really like green tea", "r1")["written"]
    assert (row["id"], row["action"]) == (first.id, "merged")
    assert memory.get(first.id).weight > first.weight
    assert memory.get(first.id).mentions == 2


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        ("No, a late flight means over 20 minutes", "a late flight means over 20 minutes"),
        ("That's wrong: the refund window is 30 days", "the refund window is 30 days"),
        ("不对，退货期限是30天", "退货期限是30天"),
        ("错了，应该是：财年从4月开始", "财年从4月开始"),
    ],
)
def test_a_correction_is_promoted_at_once_and_takes_the_wrong_ones_place(memory, goal, text):
    (row,) = say(memory, goal, "r1")["written"]
    assert (row["text"], row["source"]) == (text, "user_explicit")
    assert [record.text for record in memory.search()] == [text]


def test_what_is_said_after_a_failed_call_puts_it_right(memory):
    assert say(memory, "the revenue column is called amount_eur", "r1")["written"] == []
    assert say(memory, "the revenue column is called amount_eur", "r2", after_failure=True)["written"]


@pytest.mark.parametrize(
    "goal",
    [
        "no",
        "No, show me July",
        "count the flights that are over 15 minutes late",
        "Which customers like tea?",
        "what does late mean?",
        "the table has 40 rows, plot them",
        "不对，画七月的",
        "统计延误超过15分钟的航班",
        "谁负责华东区？",
    ],
)
def test_orders_and_questions_state_nothing(memory, goal):
    for run in range(4):
        assert say(memory, goal, f"r{run}") == {"written": [], "left_out": []}


@pytest.mark.parametrize("goal", ["remember that tea is green", "No, the refund window is 30 days"])
def test_a_dry_run_tells_and_changes_nothing(memory, goal):
    memory.add("the refund window is 14 days")
    before = [record.to_dict() for record in memory.search()]
    told = say(memory, goal, "r1", dry_run=True)
    assert told["written"]
    assert [record.to_dict() for record in memory.search()] == before
    assert [row["text"] for row in say(memory, goal, "r1")["written"]] == [r["text"] for r in told["written"]]


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("keep the new one", {"NEW"}), ("保留新的", {"NEW"}), ("Both.", {"OLD", "NEW"}), ("都保留", {"OLD", "NEW"}),
        ("keep the old one", {"OLD"}), ("以旧的为准", {"OLD"}), ("the first one", {"NEW"}), ("the second", {"OLD"}),
        ("The latter.", {"OLD"}), ("第一个", {"NEW"}), ("第二个", {"OLD"}), ("后者", {"OLD"}), ("两个都要", {"OLD", "NEW"}),
        ("30 days", {"NEW"}), ("14", {"OLD"}), ("14 days!", {"OLD"}),
    ],
)  # fmt: skip
def test_what_is_unclear_is_asked_once_and_settled_by_the_users_words(memory, words, texts):
    named = {"OLD": "the refund window is 14 days", "NEW": "the refund window is 30 days for members"}
    memory.add(named["OLD"])
    assert memory.add(named["NEW"]).status == "pending"
    question = memory.open_question()
    assert (question["text"], question["against"]) == (named["NEW"], named["OLD"])
    assert memory.open_question() is None
    for other in (
        "how long is the window?",
        "14 days?",
        "members",
        "show the second chart",
        "7 days",
        "the window",
        "",
    ):
        assert memory.answer(other) is None, other
    assert memory.answer(words)
    assert {record.text for record in memory.search()} == {named[name] for name in texts}


@pytest.mark.parametrize(
    ("old", "new", "way"),
    [
        ("the refund window is 14 days", "the refund window is 30 days for members", "keep the new one"),
        ("退货期限是14天", "退货期限是30天", "用新的"),
    ],
)
def test_the_question_is_put_in_the_language_of_what_was_heard_and_its_answers_work(memory, old, new, way):
    memory.add(old)
    made = memory.add(new, source="tool")
    assert made.status == "pending"
    asked = memory.open_question()["question"]
    assert way in asked
    assert made.id in asked
    assert memory.answer(way).id == made.id


def test_every_load_write_merge_conflict_and_expiry_is_a_line_of_plain_columns(memory):
    first = memory.add("the refund window is 14 days")
    memory.add("the refund window is two weeks")
    memory.add("the refund window is 60 days", source="tool")
    memory.add("the refund window is 30 days")
    memory.mark_used([first.id], "r1")
    memory.mark_used([], "r2")
    before = len(memory.log())
    memory.recall("refund window")
    rows = memory.log()
    assert len(rows) == before
    memory.expire(first.recorded.replace(year=first.recorded.year + 5))
    rows = memory.log()
    actions = {row["action"] for row in rows}
    assert {"added", "merged", "pending", "superseded", "loaded", "used"} <= actions
    assert len(rows) > before
    assert all(set(row) == {"at", "action", "id", "detail"} for row in rows)
    assert all(isinstance(value, str) for row in rows for value in row.values())
    assert pandas.DataFrame(rows).shape == (len(rows), 4)
