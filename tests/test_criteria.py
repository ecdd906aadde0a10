"""Acceptance criteria: read from the goal, judged in code."""

import pytest

from agent_nb.criteria import check, split
from agent_nb.task import Criterion, Observation


@pytest.mark.parametrize("head", ["done when:", "Done when:", "  DONE WHEN :", "完成条件：", "验收标准:"])
@pytest.mark.parametrize("mark", ["-", "*", "•", "1.", "2)"])
def test_bullets_after_the_line(head, mark):
    goal, found = split(f"find it\n{head}\n{mark} has a table\n\n  {mark} at most 3 words\nthanks")
    assert [c.text for c in found] == ["has a table", "at most 3 words"]
    assert goal == "find it\nthanks"


@pytest.mark.parametrize(
    "asked", ["Which is best? done when:", "Find it. Done when:", "哪个最好？完成条件："]
)
def test_bullets_after_the_end_of_a_sentence(asked):
    goal, found = split(f"{asked}\n- it contains 'x'\n")
    assert goal == asked[: max(map(asked.find, ".?？")) + 1]
    assert [c.text for c in found] == ["it contains 'x'"]


@pytest.mark.parametrize(
    "goal",
    [
        "",
        "plain",
        "the work is done when:\n- a",
        "done when: it works",
        "say\ndone when:\nno bullets here",
        "- a\n- b",
    ],
)
def test_anything_else_is_the_goal_untouched(goal):
    assert split(goal) == (goal, [])


def judged(text, answer, evidence=(), observations=()):
    return check(Criterion(text), answer, evidence, observations).met


@pytest.mark.parametrize(
    ("text", "answer", "met"),
    [
        ("contains 'VX'", "the winner is vx", True),
        ("it mentions “JFK”", "LGA", False),
        ("does not contain 'sorry'", "Sorry!", False),
        ("must not mention `x`", "y", True),
        ("at most 3 words", "one two three", True),
        ("no more than 2 lines", "a\nb\nc", False),
        ("under 5 characters", "123456", False),
        ("不超过 5 字", "一二三四五六", False),
        ("包含“华东”", "华东最高", True),
        ("不包含“大概”", "大概是", False),
        ("it is polite", "no", None),
    ],
)
def test_checked_in_code(text, answer, met):
    assert judged(text, answer) is met


def test_every_number_has_evidence():
    rows = [{"text": "5", "sources": ["_r1"]}, {"text": "40 %", "sources": []}]
    assert judged("every number has evidence", "", rows) is False
    assert judged("every number has evidence", "", rows[:1]) is True


def test_a_table_with_columns():
    seen = Observation("i", "query_sql", {}, True, [], columns=["carrier", "delay"])
    assert judged("table has columns carrier, delay", "", (), [seen]) is True
    assert judged("a table with columns carrier and origin", "", (), [seen]) is False


@pytest.mark.parametrize(
    "text",
    [
        "contains 'north' and names the month",
        "contains 'north' and 'south'",
        "包含“北区”和“南区”",
        "mentions 'it's'",
        "not under 5 words",
        "at most 3 words a line",
        "at most 100 words, and in Chinese",
        "every number has evidence and the text is kind",
        "explains why it contains 'north' only",
    ],
)
def test_a_criterion_that_is_understood_in_part_is_not_judged_in_code(text):
    assert judged(text, "north north 北区") is None


@pytest.mark.parametrize("text", ["The final answer must contain “it's”.", "the text has at most 9 words!"])
def test_words_around_a_check_do_not_matter(text):
    assert judged(text, "so it's there") is True


@pytest.mark.parametrize(
    "goal", ["g\r\ndone when:\r\n- a b\r\n", "g\n**done when:**\n+ a\n  b", "g\nDone when:\n– a b"]
)
def test_bullets_in_other_hands(goal):
    text, found = split(goal)
    assert (text, [c.text for c in found]) == ("g", ["a b"])


def test_a_goal_of_criteria_only_is_still_a_goal():
    assert split("done when:\n- a") == ("done when:\n- a", [Criterion("a")])
