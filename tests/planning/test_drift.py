"""Whether a follow-up answers, goes on or changes the goal."""

import pytest

from agent_nb.planning import drift

ASKED = {"goal": "Refund my order", "answer": "Which order number is it?", "stop_reason": "needs_input"}
DONE = {"goal": "Total sales by region in June", "answer": "North leads with 120.", "stop_reason": "done"}


@pytest.mark.parametrize(
    ("before", "goal", "kind"),
    [
        ({}, "anything", "new"),
        (ASKED, "A-1001", "answer"),
        (ASKED, "It is the one from Monday, A-1001.", "answer"),
        (ASKED, "订单号是 A-1001", "answer"),
        (ASKED, "No, forget it. What is my address?", "changed"),
        (ASKED, "算了，帮我查一下天气", "changed"),
        (ASKED, "What is the weather like in Rome tomorrow?", "changed"),
        (DONE, "And in July?", "same"),
        (DONE, "那七月呢？", "same"),
        (DONE, "Total sales by region in July", "same"),
        (DONE, "Actually I meant by product", "changed"),
        (DONE, "Show it by product instead", "changed"),
        (DONE, "换成按产品", "changed"),
        (DONE, "How is the weather?", "new"),
        (DONE, "No rows are shown, why?", "new"),
        (DONE, "No-show rate by carrier", "new"),
        (DONE, "Wait times at the airport", "new"),
        (DONE, "不是周末的航班有多少？", "new"),
        (ASKED, "No, not that one", "changed"),
    ],
)
def test_follow_up(before, goal, kind):
    assert drift.follow_up(before, goal)[0] == kind


def test_similarity_is_that_of_words():
    assert drift.similarity("total sales by region", "sales of each region") > 0.5
    assert drift.similarity("各地区的销售额", "按地区看销售额") > 0.3
    assert drift.similarity("sales", "weather") == 0
    assert drift.similarity("", "weather") == 0
