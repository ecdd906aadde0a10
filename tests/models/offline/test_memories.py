"""Remember, recall, forget; and remembered definitions that later questions use."""

import pandas as pd
import pytest

from agent_nb.models.offline import definitions, remembering, schema
from agent_nb.tools.tool import tool


def num(value):
    value = float(f"{float(value):.10g}")
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


@pytest.fixture
def notebook():
    kept = []

    @tool
    def save_memory(text: str, type: str = "fact") -> dict:
        """Keep a statement.

        Args:
            text: what to keep.
            type: its kind.
        """
        kept.append((text, type))
        return {"id": f"m{len(kept)}"}

    @tool
    def recall_memory(query: str, k: int = 5) -> dict:
        """Look up what is remembered.

        Args:
            query: what about.
            k: how many.
        """
        return {
            "hits": [
                {"id": f"m{i}", "text": t, "type": kind}
                for i, (t, kind) in enumerate(kept, 1)
                if query.lower() in t.lower()
            ]
        }

    @tool
    def forget_memory(id: str) -> str:
        """Forget one memory.

        Args:
            id: which one.
        """
        kept.pop(int(id[1:]) - 1)
        return "gone"

    return kept, [save_memory, recall_memory, forget_memory]


@pytest.mark.parametrize(
    ("goal", "text", "type"),
    [
        (
            "Remember: a flight is late when its departure delay is over 15 minutes.",
            "a flight is late when its departure delay is over 15 minutes.",
            "fact",
        ),
        ("please remember that I prefer bar charts", "I prefer bar charts", "preference"),
        ("Remember: always exclude carrier OO", "always exclude carrier OO", "constraint"),
        ("记住：净销售额 = 金额 - 退款", "净销售额 = 金额 - 退款", "fact"),
        ("请记住，我喜欢折线图", "我喜欢折线图", "preference"),
        ('Remember: "{x}" costs $5 \\ 50%', '"{x}" costs $5 \\ 50%', "fact"),
    ],
)
def test_remember_saves_word_for_word(ask, notebook, goal, text, type):
    kept, tools = notebook
    answer = ask(goal, {}, tools=tools)
    assert kept == [(text, type)]
    assert text in answer.body


def test_recall_and_forget(ask, notebook):
    kept, tools = notebook
    kept.append(("a late flight is over 15 minutes", "fact"))
    assert kept[0][0] in ask("What do you know about late flight?", {}, tools=tools).body
    assert "nothing" in ask("What do you know about tea?", {}, tools=tools).body
    assert "Forgotten" in ask("forget late flight", {}, tools=tools).body
    assert kept == []


def test_a_question_is_no_order_to_remember():
    assert remembering.wants("Which region had the highest revenue?") is None
    assert remembering.wants("do you remember late flights?")[0] == "recall"


@pytest.mark.parametrize(
    ("memory", "question", "wanted"),
    [
        (
            "net sales = amount - refund",
            "total net sales by region",
            lambda f: [num(v) for v in (f.amount - f.refund).groupby(f.region).sum()],
        ),
        (
            "Net revenue is amount minus refund.",
            "Which region has the highest net revenue?",
            lambda f: [(f.amount - f.refund).groupby(f.region).sum().idxmax()],
        ),
        (
            "a big order is one with an amount over 300",
            "How many big orders are there by region?",
            lambda f: [num(v) for v in f[f.amount > 300].groupby("region").order_id.nunique()],
        ),
        (
            "an order is big when its quantity is at least 6",
            "Which region has the largest share of big orders?",
            lambda f: [
                f.assign(b=f.quantity >= 6).groupby("region").b.mean().idxmax(),
                num(100 * f.assign(b=f.quantity >= 6).groupby("region").b.mean().max()),
            ],
        ),
        ("always exclude region West", "total revenue", lambda f: [num(f[f.region != "West"].amount.sum())]),
        ("exclude customers from North and South in region", "total revenue", None),
        ("takings means revenue minus refund", "total takings", None),
    ],
)
def test_definitions_are_used(ask, world, memory, question, wanted):
    frame = world["sales"](7)
    answer = ask(question, {"sales": frame}, memory=[memory])
    if wanted is None:
        return
    assert memory in answer.body, answer.text
    at = 0
    for piece in wanted(frame):
        assert answer.body.find(piece, at) >= 0, f"{piece} not in {answer.body}"
        at = answer.body.find(piece, at)


@pytest.mark.parametrize(
    ("memory", "question", "wanted"),
    [
        (
            "净销售额 = 金额 - 退款",
            "各地区的净销售额",
            lambda f: [num(v) for v in (f.金额 - f.退款).groupby(f.地区).sum()],
        ),
        (
            "大订单是指金额超过300的订单",
            "有多少个大订单？",
            lambda f: [num(f[f.金额 > 300].订单号.nunique())],
        ),
        (
            "数量超过5的订单算大单",
            "哪个地区的大单占比最高",
            lambda f: [f.assign(b=f.数量 > 5).groupby("地区").b.mean().idxmax()],
        ),
    ],
)
def test_chinese_definitions_are_used(ask, world, memory, question, wanted):
    frame = world["chinese"](7)
    answer = ask(question, {"销售": frame}, memory=[memory])
    assert memory in answer.body, answer.text
    at = 0
    for piece in wanted(frame):
        assert answer.body.find(piece, at) >= 0, f"{piece} not in {answer.body}"
        at = answer.body.find(piece, at)


def test_a_definition_that_cannot_be_read_is_not_applied_silently(ask, world):
    memory = "an urgent order is one that the boss marked with a red star"
    answer = ask("How many urgent orders are there?", {"sales": world["sales"]()}, memory=[memory])
    assert answer.asks or "not applied" in answer.body


def test_an_alias_settles_an_ambiguous_word(ask, world):
    flights = world["flights"]()
    memory = "delays are departure delays, cancelled flights left out"
    answer = ask("Which month had the highest average delay?", {"flights": flights}, memory=[memory])
    assert f"2013-{flights.groupby('month').dep_delay.mean().idxmax():02}" in answer.body
    assert memory in answer.body


def test_memory_of_another_table_does_not_leak(ask, world):
    answer = ask(
        "total salary by department", {"staff": world["staff"]()}, memory=["always exclude region West"]
    )
    assert "West" not in answer.body


def test_definitions_of_one_table():
    columns = [{"name": "dep_delay", "dtype": "float64"}, {"name": "carrier", "dtype": "object"}]
    table = schema.tables_of({"variables": [{"name": "flights", "type": "DataFrame", "columns": columns}]})
    (found,) = definitions.parse(["a flight is late when its departure delay is over 15 minutes"], table)
    assert (found.kind, found.sql) == ("predicate", "\x02dep_delay > 15")
    (found,) = definitions.parse(["always exclude carrier OO"], table)
    assert found.kind == "exclude"
    assert pd.notna(found.sql)
