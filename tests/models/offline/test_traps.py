"""Questions that must not get a confident answer: it asks, or declines, and names what it could not place."""

import numpy as np
import pandas as pd
import pytest

SALES = [
    ("total profit by region", "profit"),
    ("Which region did not sell any tablets?", "not"),
    ("revenue by region without discounts", "discounts"),
    ("revenue per passenger", "passenger"),
    ("revenue of Atlantis", "Atlantis"),
    ("revenue in March", "year"),
    ("How many orders are over 200?", "over 200"),
    ("How many orders above average revenue?", "average"),
    ("weighted average unit price", "weighted"),
    ("net revenue by region", "net"),
    ("revenue minus refund by region", "minus"),
    ("cumulative revenue by month in 2024", "cumulative"),
    ("forecast revenue for next month", "forecast"),
    ("second highest region by revenue", "second"),
    ("how many orders have no refund?", "no"),
    ("rolling average of revenue", "rolling"),
    ("ratio of refund to revenue", "ratio"),
    ("Did East sell more than West in 2024?", "which number"),
    ("average revenue per customer", "customer_id"),
    ("What is the average revenue per month?", "month"),
    ("revenue for customers older than 30", "older than 30"),
    ("orders with a refund over 10%", "10%"),
    ("Which region had the lowest revenue in 2024 and which product?", "combinations"),
    ("Which region's share of revenue rose most from 2023 to 2024?", "share"),
    ("How many customers bought both Laptop and Phone?", "both"),
    ("How many customers bought all products?", "all"),
    ("Which products have the highest and the lowest revenue?", "one first"),
    ("revenue growth", "periods"),
    ("Which region's revenue rose most?", "periods"),
    ("Which region had the highest revenue if West is ignored?", "if"),
    ("delete all rows where the amount is missing", "delete"),
    ("seasonally adjusted revenue by month", "adjusted"),
    ("hello", "which number"),
    ("What percentage of orders had a refund over 50?", "rows"),
    ("What percentage of customers had a refund over 50?", "customers"),
    ("number of customers in East but not West", "excluded"),
    ("min and max revenue", "several statistics"),
    ("mean and standard deviation of revenue", "several statistics"),
    ("revenue by group", "group"),
]


@pytest.mark.parametrize(("question", "named"), SALES, ids=[q for q, _ in SALES])
def test_it_asks_rather_than_guesses(ask, world, question, named):
    answer = ask(question, {"sales": world["sales"]()})
    assert answer.asks, answer.text
    assert named.lower() in answer.body.lower()
    assert "claude-sonnet-5-5" in answer.text
    assert not any(name == "draw_chart" for name, _, _ in answer.calls)


CHINESE = [
    "各地区的利润",
    "火星的销售额",
    "3月的销售额",
    "人均销售额",
    "没有退款的订单有多少个",
    "上周的销售额",
    "累计销售额",
]


@pytest.mark.parametrize("question", CHINESE)
def test_it_asks_in_chinese(ask, world, question):
    answer = ask(question, {"销售": world["chinese"]()})
    assert answer.asks, answer.text
    assert "规则" in answer.text.splitlines()[0]


def test_a_year_without_data_is_said(ask, world):
    answer = ask("total revenue in 2019", {"sales": world["sales"]()})
    assert "No rows" in answer.body
    assert "2023-01" in answer.body


def test_a_comparison_with_an_empty_period_is_not_made(ask, world):
    answer = ask("Which region's revenue fell most from 2022 to 2023?", {"sales": world["sales"]()})
    assert "nothing to compare" in answer.body
    assert "2022" in answer.body


def test_two_measures_that_fit_equally(ask, world):
    frame = world["sales"]().rename(columns={"amount": "gross_sales", "refund": "net_sales"})
    answer = ask("total sales by region", {"orders": frame})
    assert answer.asks
    assert "gross_sales" in answer.body
    assert "net_sales" in answer.body


def test_two_tables_that_fit_equally(ask, world):
    tables = {"sales_2023": world["sales"](1), "sales_2024": world["sales"](2)}
    answer = ask("total revenue", tables)
    assert answer.asks
    assert "sales_2023" in answer.body
    named = ask("total revenue in sales_2024", tables)
    assert f"{tables['sales_2024'].amount.sum():,.2f}" in named.body


def test_a_refund_is_not_taken_for_revenue(ask):
    frame = pd.DataFrame({"region": ["a", "b"], "refund_amount": [1.0, 2.0]})
    assert ask("total revenue by region", {"orders": frame}).asks


def test_two_dates_that_fit_equally(ask, world):
    frame = (
        world["sales"]()
        .assign(ship_date=pd.Timestamp("2024-01-01"))
        .rename(columns={"order_date": "paid_date"})
    )
    answer = ask("total revenue in 2024", {"sales": frame})
    assert answer.asks
    assert "ship_date" in answer.body


def test_a_date_of_another_kind_is_asked_about(ask, world):
    assert "hire_date" in ask("average salary in 2019", {"staff": world["staff"]()}).body


def test_a_join_that_would_count_twice_is_refused(ask):
    orders = pd.DataFrame({"client_id": [1, 1, 2], "amount": [5.0, 7.0, 9.0]})
    clients = pd.DataFrame({"client_id": [1, 1, 2], "segment": ["A", "A", "B"]})
    assert "not unique" in ask("total amount by segment", {"orders": orders, "clients": clients}).body
    good = ask("total amount by segment", {"orders": orders, "clients": clients.drop_duplicates()})
    assert "12" in good.body
    assert not good.asks


def test_ties_are_named(ask):
    frame = pd.DataFrame({"region": list("aabbc"), "amount": [1.0, 2.0, 1.5, 1.5, 2.0]})
    answer = ask("Which region has the highest total amount?", {"t": frame})
    assert "**a**, **b** tie" in answer.body


def test_when_nothing_rose_it_says_so(ask):
    frame = pd.DataFrame(
        {"year": [2023, 2023, 2024, 2024], "team": list("abab"), "score": [5.0, 6.0, 4.0, 3.0]}
    )
    answer = ask("Which team's average score rose most from 2023 to 2024?", {"t": frame})
    assert "No team rose" in answer.body


def test_without_tables_it_says_so(ask):
    assert "no table" in ask("total revenue", {"x": 3}).body


def test_without_tools_it_says_so(ask):
    assert "not mounted" in ask("Remember: I like tea", {}, data=False).body


def test_null_groups_never_win(ask):
    frame = pd.DataFrame({"region": ["a", None, None], "amount": [1.0, 50.0, 50.0]})
    assert "**a** has the highest" in ask("Which region has the highest total amount?", {"t": frame}).body


@pytest.mark.parametrize("name", ['am"ount', "select", "Gesamt Wert", "order", "金 额", "group"])
def test_names_that_need_quotes(ask, name):
    frame = pd.DataFrame({"kind": ["x", "y", "y"], name: [1.0, 2.0, 4.0]})
    answer = ask(f'total "{name}" by kind' if '"' not in name else f"total `{name}` by kind", {"t": frame})
    assert answer.asks or ("6" in answer.body and "y" in answer.body)


def test_values_with_quotes(ask):
    frame = pd.DataFrame({"shop": ["O'Neil", "Bob"], "amount": [3.0, 4.0]})
    assert "**3**" in ask("total amount of O'Neil", {"t": frame}).body


@pytest.mark.parametrize(
    "dates",
    [
        lambda d: d,
        lambda d: d.dt.strftime("%Y-%m-%d"),
        lambda d: d.dt.strftime("%Y-%m"),
        lambda d: d.dt.strftime("%Y/%m/%d"),
        lambda d: d.dt.strftime("%Y%m").astype(int),
    ],
    ids=["timestamp", "iso text", "month text", "slashes", "yyyymm"],
)
def test_months_however_dates_are_kept(ask, world, dates):
    frame = world["sales"](3)
    wanted = frame[frame.order_date.dt.strftime("%Y-%m") == "2024-03"].amount.sum()
    frame["order_date"] = dates(frame.order_date)
    answer = ask("total revenue in March 2024", {"sales": frame.rename(columns={"order_date": "date"})})
    assert f"{wanted:,.2f}" in answer.body, answer.text


def test_dates_day_first_are_not_guessed(ask, world):
    frame = world["sales"](3)
    frame["order_date"] = frame.order_date.dt.strftime("%d/%m/%Y")
    assert ask("total revenue in March 2024", {"sales": frame}).asks


def test_month_names(ask):
    frame = pd.DataFrame({"month": ["Jan", "Feb", "Mar"], "amount": [1.0, 2.0, 7.0]})
    assert "**7**" in ask("total amount in March", {"t": frame}).body
    assert ask("total amount in March 2024", {"t": frame}).asks


def test_many_groups_are_never_read_from_a_cut_table(ask):
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(
        {"shop": [f"shop {i:03}" for i in rng.integers(0, 300, 3000)], "amount": rng.uniform(1, 9, 3000)}
    )
    best = frame.groupby("shop").amount.sum()
    answer = ask("Which shop has the highest total amount?", {"t": frame})
    assert answer.body.startswith(f"**{best.idxmax()}**")
    assert "300 groups" in answer.body


def test_a_value_of_one_letter_counts(ask, world):
    frame = world["staff"](5)
    answer = ask("average salary of F", {"staff": frame})
    assert f"{frame[frame.gender == 'F'].salary.mean():,.2f}" in answer.body


def test_groups_side_by_side_in_one_period_are_not_compared_with_another_period(ask, world):
    frame = world["sales"](5)
    answer = ask("Compare revenue of Laptop and Phone in 2024", {"sales": frame})
    in_2024 = frame[frame.order_date.dt.year == 2024].groupby("product").amount.sum()
    assert f"{in_2024['Laptop']:,.2f}".rstrip("0").rstrip(".") in answer.body
    assert "2023" not in answer.body


def test_a_number_of_customers_is_not_a_quantity(ask, world):
    assert ask("客户数量", {"销售": world["chinese"]()}).asks
    assert ask("How many units does the average customer buy?", {"sales": world["sales"]()}).asks


def test_every_group_is_listed_though_results_are_cut(ask, world):
    frame = world["staff"](5)
    answer = ask("number of employees by age", {"staff": frame})
    for age, count in frame.groupby("age").size().items():
        assert f"| {age} | {count} |" in answer.body
