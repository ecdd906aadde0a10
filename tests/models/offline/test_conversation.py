"""Follow-ups, other tools, charts, errors and denials."""

import json
import re

import pandas as pd
import pytest

from agent_nb.errors import ToolError
from agent_nb.models.offline import OfflineModel, tooltalk
from agent_nb.models.protocol import Model
from agent_nb.tools.tool import tool


def num(value):
    value = float(f"{float(value):.10g}")
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


def test_it_is_a_model():
    model = OfflineModel()
    assert isinstance(model, Model)
    assert (model.name, model.can_judge, model.cost({})) == ("offline", False, 0.0)


FOLLOW = [
    (
        ["total revenue in July 2024", "and in August?"],
        lambda f: [num(f[f.order_date.dt.strftime("%Y-%m") == "2024-08"].amount.sum())],
    ),
    (
        ["revenue by region", "by product instead"],
        lambda f: [num(v) for v in f.groupby("product").amount.sum()],
    ),
    (["total revenue", "only West"], lambda f: [num(f[f.region == "West"].amount.sum())]),
    (
        ["total revenue in the East region", "what about West?"],
        lambda f: [num(f[f.region == "West"].amount.sum())],
    ),
    (
        ["Which region had the highest revenue in 2023?", "and in 2024?"],
        lambda f: [f[f.order_date.dt.year == 2024].groupby("region").amount.sum().idxmax()],
    ),
    (
        ["revenue by region", "and the average?"],
        lambda f: [num(v) for v in f.groupby("region").amount.mean()],
    ),
    (
        ["revenue by region", "only West", "in 2024"],
        lambda f: [num(f[(f.region == "West") & (f.order_date.dt.year == 2024)].amount.sum())],
    ),
    (["revenue by region", "How many orders are there?"], lambda f: [num(len(f))]),
    (
        ["total revenue in West", "what about quantity?"],
        lambda f: [num(f[f.region == "West"].quantity.sum())],
    ),
    (
        ["total revenue by region", "same for quantity"],
        lambda f: [num(v) for v in f.groupby("region").quantity.sum()],
    ),
    (
        ["revenue by region", "Laptop only"],
        lambda f: [num(v) for v in of_laptops(f).groupby("region").amount.sum()],
    ),
    (
        ["revenue by region", "without West"],
        lambda f: [num(v) for v in but_west(f).groupby("region").amount.sum()],
    ),
    (["revenue by region", "top 1"], lambda f: [f.groupby("region").amount.sum().idxmax()]),
    (["revenue by region", "draw it"], lambda f: [num(v) for v in f.groupby("region").amount.sum()]),
    (["revenue by region", "as a pie chart"], lambda f: [num(v) for v in f.groupby("region").amount.sum()]),
    (["revenue in March 2024 vs April 2024", "why?"], lambda f: [num(in_april(f)), "not proof of its cause"]),
]


def of_laptops(f):
    return f[f["product"] == "Laptop"]


def but_west(f):
    return f[f.region != "West"]


def in_april(f):
    return f[f.order_date.dt.strftime("%Y-%m") == "2024-04"].amount.sum()


@pytest.mark.parametrize(
    "change", ["and for Berlin?", "what about Atlantis?", "only Narnia", "why?", "without Mordor"]
)
def test_a_change_that_is_not_understood_is_not_passed_over(ask, world, change):
    assert ask(["revenue by region", change], {"sales": world["sales"](8)}).asks


@pytest.mark.parametrize(("goals", "wanted"), FOLLOW, ids=[" → ".join(g) for g, _ in FOLLOW])
def test_follow_ups(ask, world, goals, wanted):
    frame = world["sales"](8)
    answer = ask(goals, {"sales": frame})
    at = 0
    for piece in wanted(frame):
        assert answer.body.find(piece, at) >= 0, f"{piece} not in {answer.body}"
        at = answer.body.find(piece, at)


def test_chinese_follow_up(ask, world):
    frame = world["chinese"](8)
    answer = ask(["2024年7月的销售额", "那8月呢"], {"销售": frame})
    assert num(frame[frame.订单日期.dt.strftime("%Y-%m") == "2024-08"].金额.sum()) in answer.body


@tool
def query_order(order_id: str) -> dict:
    """Look up an order: its status, address and amount.

    Args:
        order_id: the order's number.
    """
    if order_id != "A-1001":
        raise ToolError(f"there is no order {order_id}")
    return {"order_id": order_id, "status": "shipped", "amount": 59.9}


@tool(effect="write")
def modify_address(order_id: str, address: str) -> str:
    """Change the delivery address of an order.

    Args:
        order_id: the order's number.
        address: the new address.
    """
    raise ToolError(f"order {order_id} is shipped already, so its address cannot be changed")


@tool(effect="write")
def apply_refund(order_id: str, quantity: int = 1, reason: str = "") -> str:
    """Refund an order.

    Args:
        order_id: the order's number.
        quantity: how many pieces.
        reason: why.
    """
    return f"refund of {quantity} for {order_id} applied"


DESK = [query_order, modify_address, apply_refund]


@pytest.mark.parametrize(
    "goal",
    [
        "Where is order A-1001?",
        "What is the status of order A-1001?",
        "look up order A-1001",
        "查询订单A-1001",
        "订单 A-1001 的状态是什么？",
    ],
)
def test_order_look_up(ask, goal):
    answer = ask(goal, {}, tools=DESK, data=False)
    assert [(n, i) for n, i, _ in answer.calls] == [("query_order", {"order_id": "A-1001"})]
    assert "shipped" in answer.body
    assert "59.9" in answer.body


@pytest.mark.parametrize(
    "goal", ["Change the address of order A-1001 to 5 Main Street", "把订单A-1001的地址改成 人民路5号"]
)
def test_a_refusal_is_reported(ask, goal):
    answer = ask(goal, {}, tools=DESK, data=False)
    assert len(answer.calls) == 1
    name, given, _ = answer.calls[0]
    assert name == "modify_address"
    assert given["address"] in ("5 Main Street", "人民路5号")
    assert "shipped already" in answer.body


@pytest.mark.parametrize("goal", ["I want a refund", "I want my money back, refund please", "我要退款"])
def test_what_is_missing_is_asked_for(ask, goal):
    answer = ask(goal, {}, tools=DESK, data=False)
    assert answer.calls == []
    assert answer.asks
    assert "order_id" in answer.body


def test_the_answer_to_the_question_completes_the_call(ask):
    answer = ask(["I want a refund because it is broken", "it is order A-1001"], {}, tools=DESK, data=False)
    assert [(n, i["order_id"]) for n, i, _ in answer.calls] == [("apply_refund", "A-1001")]


@pytest.mark.parametrize(
    ("earlier", "goal", "wanted"),
    [
        ("Where is order A-1001?", "Change the address of order A-1002 to 5 Main Street", "A-1002"),
        ("Where is order A-1001?", "Refund order A-1002", "A-1002"),
        ("查询订单A-1001", "把订单A-1002的地址改成 人民路5号", "A-1002"),
        ("查询订单A-1001", "订单A-1002退款", "A-1002"),
        ("Where is order A-1001?", "Refund it", "A-1001"),
        ("Where is order A-1001?", "Change its address to 5 Main Street", "A-1001"),
    ],
)
def test_the_goals_own_order_is_meant_and_never_an_earlier_one(ask, earlier, goal, wanted):
    answer = ask([earlier, goal], {}, tools=DESK, data=False)
    assert [given["order_id"] for _, given, _ in answer.calls[1:]] == [wanted]


@pytest.mark.parametrize(
    "goal", ["Change the address to 5 Main Street", "I want a refund of 2 pieces", "我要退款2件"]
)
def test_an_order_that_was_spoken_of_earlier_is_not_taken_for_a_new_wish(ask, goal):
    answer = ask(["Where is order A-1001?", goal], {}, tools=DESK, data=False)
    assert len(answer.calls) == 1
    assert answer.asks


def test_two_order_numbers_are_not_guessed_between(ask):
    assert ask("refund A-1001 or A-1002", {}, tools=DESK, data=False).calls == []


def test_no_tool_fits(ask):
    answer = ask("sing me a song", {}, tools=DESK, data=False)
    assert answer.calls == []
    assert "claude-sonnet-5-5" in answer.body


def test_arguments_by_type_and_pattern():
    schema = {
        "properties": {
            "to": {"type": "string", "format": "email"},
            "day": {"type": "string", "format": "date"},
            "size": {"type": "string", "enum": ["small", "large"]},
            "count": {"type": "integer"},
            "note": {"type": "string"},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"},
        },
        "required": ["to", "day", "size", "count", "note", "code"],
    }
    text = 'Send 3 large boxes XY-2044 to ana@example.org on 2024-05-06 with the note "ring twice"'
    assert tooltalk.arguments(text, schema) == {
        "to": "ana@example.org",
        "day": "2024-05-06",
        "size": "large",
        "count": 3,
        "note": "ring twice",
        "code": "XY-2044",
    }


def test_a_question_about_data_goes_to_the_data_though_a_tool_is_near(ask, world):
    answer = ask("How many orders are there?", {"sales": world["sales"]()}, tools=DESK)
    assert "400" in answer.body


def test_a_chart_is_drawn_where_it_helps(ask, world):
    tables = {"sales": world["sales"]()}
    kinds = {
        "revenue by region": "bar",
        "monthly revenue trend in 2024": "line",
        "distribution of quantity": "hist",
        "correlation between quantity and revenue": "scatter",
        "plot revenue by region as a horizontal bar chart": "barh",
    }
    for question, kind in kinds.items():
        answer = ask(question, tables, charts=True)
        drawn = [(given, seen) for name, given, seen in answer.calls if name == "draw_chart"]
        assert [given["kind"] for given, _ in drawn] == [kind], answer.text
        assert drawn[0][1].ok, drawn[0][1].text
    assert not [
        n for n, _, _ in ask("revenue by region, no chart", tables, charts=True).calls if n == "draw_chart"
    ]


def test_a_chart_without_the_tool(ask, world):
    answer = ask("draw a bar chart of revenue by region", {"sales": world["sales"]()})
    assert "not mounted" in answer.body


def replied(messages, tools):
    return list(OfflineModel().reply(messages, system="", tools=tools, max_tokens=100))[-1]["message"]


TOOLS = [
    {"name": n, "description": "", "input_schema": {"type": "object"}}
    for n in ("list_variables", "query_sql")
]


def test_a_denied_call_is_reported():
    messages = [{"role": "user", "content": [{"type": "text", "text": "total revenue"}]}]
    first = replied(messages, TOOLS)
    (use,) = [b for b in first["content"] if b["type"] == "tool_use"]
    denied = {
        "type": "tool_result",
        "tool_use_id": use["id"],
        "is_error": True,
        "content": [{"type": "text", "text": json.dumps({"ok": False, "error": "denied by the user"})}],
    }
    messages += [{"role": "assistant", "content": first["content"]}, {"role": "user", "content": [denied]}]
    second = replied(messages, TOOLS)
    assert second["stop_reason"] == "end_turn"
    assert "denied by the user" in second["content"][0]["text"]


def test_tool_choice_none_gives_an_answer():
    pieces = OfflineModel().reply(
        [{"role": "user", "content": "total revenue"}],
        system="",
        tools=TOOLS,
        max_tokens=9,
        tool_choice={"type": "none"},
    )
    assert list(pieces)[-1]["message"]["stop_reason"] == "end_turn"


def test_a_database(ask, world):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(
        "sqlite://", poolclass=sqlalchemy.pool.StaticPool, connect_args={"check_same_thread": False}
    )
    frame = world["sales"](9)
    frame.assign(order_date=frame.order_date.dt.strftime("%Y-%m-%d")).to_sql("orders", engine, index=False)
    answer = ask("Which region had the highest revenue in 2024?", {"shop": engine})
    best = frame[frame.order_date.dt.year == 2024].groupby("region").amount.sum()
    assert best.idxmax() in answer.body, answer.text
    assert num(best.max()) in answer.body
    engine.dispose()


def test_what_is_there(ask, world):
    answer = ask("what tables do we have?", {"sales": world["sales"](), "df": pd.DataFrame({"x": [1]})})
    assert "sales" in answer.body
    assert "df" in answer.body


def user(*blocks):
    return {
        "role": "user",
        "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
    }


def test_a_picture_costs_what_it_costs_to_look_at(ask, world):
    answer = ask("revenue by region", {"sales": world["sales"]()}, charts=True)
    picture = [
        b for m in answer.messages for c in m["content"] for b in c.get("content", ()) if b["type"] == "image"
    ]
    assert len(picture[0]["source"]["data"]) > 4_000
    tools = [{"name": "list_variables", "description": "", "input_schema": {"type": "object"}}]
    messages = [*answer.messages, user("total revenue")]
    with_picture = replied(messages, tools)["usage"]["input_tokens"]
    picture[0]["source"]["data"] *= 50
    assert replied(messages, tools)["usage"]["input_tokens"] == with_picture < 15_000


@pytest.mark.parametrize(
    "nudge", ["Go on from where you stopped.", "Not done yet. These criteria do not hold: x."]
)
def test_what_the_loop_says_is_no_new_goal(ask, world, nudge):
    answer = ask("total revenue", {"sales": world["sales"]()})
    schemas = [
        {"name": n, "description": "", "input_schema": {"type": "object"}}
        for n in ("list_variables", "query_sql")
    ]
    again = replied([*answer.messages, user(nudge)], schemas)
    assert again["content"] == answer.messages[-1]["content"]


def test_a_call_that_was_interrupted_is_made_again(ask, world):
    answer = ask("total revenue", {"sales": world["sales"]()})
    schemas = [
        {"name": n, "description": "", "input_schema": {"type": "object"}}
        for n in ("list_variables", "query_sql")
    ]
    at = max(i for i, m in enumerate(answer.messages) for b in m["content"] if b["type"] == "tool_use")
    use = next(b for b in answer.messages[at]["content"] if b["type"] == "tool_use")
    lost = {
        "type": "tool_result",
        "tool_use_id": use["id"],
        "content": [
            {"type": "text", "text": '{"ok": false, "error": "interrupted: the run was stopped before"}'}
        ],
        "is_error": True,
    }
    again = replied([*answer.messages[: at + 1], user(lost), user("Go on from where you stopped.")], schemas)
    called = next(b for b in again["content"] if b["type"] == "tool_use")
    assert (called["name"], called["input"]) == (use["name"], use["input"])
    assert called["id"] != use["id"]


def test_a_follow_up_is_an_answer_and_a_cell_that_runs_again_has_calls_of_its_own():
    import pandas as pd

    from agent_nb import Session, events

    sales = pd.DataFrame(
        {
            "region": ["north", "south"] * 2,
            "product": ["tea", "tea", "rum", "rum"],
            "amount": [10.0, 20, 5, 30],
        }
    )
    made = Session("offline", memory=None, namespace={"sales": sales}, name="follow")
    assert made.run("What is the total amount by region?", cell="a").done
    follow = made.run("and by product?", cell="b")
    assert (follow.stop_reason, follow.done) == ("done", True), follow.text
    assert "35" in follow.text
    for cell, goal in (("a", "What is the total amount by region?"), ("b", "and by product?")):
        again = made.run(goal, cell=cell)
        assert again.done
        assert not [event.text for event in again.trace if isinstance(event, events.Noticed)]


@pytest.mark.parametrize(
    "goal",
    [
        "2024年8月比7月收入变化最大的地区是哪个，为什么？",
        "每月收入的趋势",
        "画出每月收入的折线图",
        "West的收入是多少",
        "各地区收入占比",
        "收入有没有异常值？",
        "哪些列有缺失值？",
    ],
)
def test_every_step_of_a_chinese_goal_is_told_in_chinese(ask, world, goal):
    answer = ask(goal, {"sales": world["sales"]()}, charts=True)
    told = [
        b["text"]
        for m in answer.messages
        if m["role"] == "assistant"
        for b in m["content"]
        if b["type"] == "text"
    ]
    assert told
    assert not answer.asks
    for text in told:
        assert not re.search(r"[A-Za-z]+ [a-z]+ [a-z]+ ", text), text
