"""Kinds of tables and words that once got a confident wrong answer, or none: each kind under several names and values.

Every figure is computed here with pandas. A question whose wanted figures are None must be asked back.
"""

import datetime

import numpy as np
import pandas as pd
import pytest

from agent_nb import Session

SEEDS = (1, 2)


def num(value):
    value = float(f"{float(value):.10g}")
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 0.1 else f"{value:.3g}"


def each(series):
    return [x for k, v in series.sort_index().items() for x in (str(k), num(v))]


def check(answer, wanted):
    if wanted is None:
        assert answer.asks, answer.text
        return
    assert not answer.asks, answer.text
    at = 0
    for piece in wanted:
        text = piece if isinstance(piece, str) else num(piece)
        found = answer.body.find(text, at)
        assert found >= 0, f"{text!r} is not in (the rest of) the answer:\n{answer.text}"
        at = found + 1


def shop(seed, n=160):
    """One table that all kinds of columns are added to."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "region": rng.choice(["Nord", "Süd", "Łódź", "Москва"], n),
            "postcode": rng.choice([10115, 10117, 20095], n),
            "member_id": rng.integers(1, 30, n),
            "kind": rng.choice(["in", "out", "adjust"], n),
            "released_year": rng.integers(1980, 2024, n),
            "sold_on": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 600, n), "D"),
            "clicks": rng.integers(1, 90, n),
            "spend": rng.gamma(2, 80, n).round(2),
            "gadget": rng.normal(10, 2, n).round(2),
            "rooms": rng.integers(1, 6, n),
            "overtime_hours": rng.integers(0, 30, n),
            "minutes": rng.integers(1, 99, n),
            "visit_no": range(n),
            "no_show": rng.random(n) < 0.2,
            "churned": rng.random(n) < 0.3,
            "sla_breached": rng.random(n) < 0.2,
            "has_garden": rng.random(n) < 0.4,
            "industry": rng.choice(["Retail", "Health", None], n),
            "oscar": rng.choice(["yes", "no"], n),
            "season": rng.choice(["2022/23", "2023/24"], n),
            "age_group": rng.choice(["18-24", "25-49", "50+"], n),
            "comments": rng.choice(["fine", "", "  ", None], n),
            "credit": rng.normal(0, 50, n).round(2),
        }
    )
    return frame[list(rng.permutation(frame.columns))]


BLANK = ("", "  ")
CASES = [
    # letters of every script are letters
    ("total spend in Süd", lambda f: [f[f.region == "Süd"].spend.sum()]),
    ("mean spend of Łódź", lambda f: [f[f.region == "Łódź"].spend.mean()]),
    ("total spend excluding Москва", lambda f: [f[f.region != "Москва"].spend.sum()]),
    ("total spend in Zürich", None),
    ("total spend in Киев", None),
    # years that are not the time of the rows
    ("items released in 1999", None),
    ("How many rows were released in 1999?", lambda f: [(f.released_year == 1999).sum()]),
    ("how many rows released after 2010", lambda f: [(f.released_year > 2010).sum()]),
    ("mean spend released before 2000", lambda f: [f[f.released_year < 2000].spend.mean()]),
    (
        "total spend released between 1990 and 1999",
        lambda f: [f[f.released_year.between(1990, 1999)].spend.sum()],
    ),
    ("total spend in 2023", lambda f: [f[f.sold_on.dt.year == 2023].spend.sum()]),
    ("total spend sold in 2024", lambda f: [f[f.sold_on.dt.year == 2024].spend.sum()]),
    # numbers that name have no mean, and of two columns "per" is a ratio
    ("average postcode", None),
    ("mean postcode by region", None),
    ("spend per click", None),
    ("spend per click by region", None),
    # values that are stop words elsewhere
    ("total clicks out", lambda f: [f[f.kind == "out"].clicks.sum()]),
    ("total clicks where kind is in", lambda f: [f[f.kind == "in"].clicks.sum()]),
    ("total clicks in season 2023/24", lambda f: [f[f.season == "2023/24"].clicks.sum()]),
    ("mean spend of age group 50+", lambda f: [f[f.age_group == "50+"].spend.mean()]),
    ("mean spend of 18-24", lambda f: [f[f.age_group == "18-24"].spend.mean()]),
    # how many of them, not how many rows
    ("members by region", lambda f: each(f.groupby("region").member_id.nunique())),
    ("members with more than 5 rows", None),
    ("total credit", lambda f: [f.credit.sum()]),
    ("sum of negative credit", lambda f: [f[f.credit < 0].credit.sum()]),
    ("mean of positive credit", lambda f: [f[f.credit > 0].credit.mean()]),
    ("how many rows with 3 rooms", lambda f: [(f.rooms == 3).sum()]),
    ("total spend with rooms 2", lambda f: [f[f.rooms == 2].spend.sum()]),
    ("average number of rooms", lambda f: [f.rooms.mean()]),
    ("overtime hours between 10 and 20 hours", lambda f: [f.overtime_hours.between(10, 20).sum()]),
    # no statistic: both, or the one that fits
    (
        "gadget by region",
        lambda f: [x for k, g in f.groupby("region").gadget for x in (k, g.sum(), g.mean())],
    ),
    ("gadget of Nord", lambda f: [f[f.region == "Nord"].gadget.sum(), f[f.region == "Nord"].gadget.mean()]),
    ("largest gadget", lambda f: [f.gadget.max()]),
    ("Which region has the highest gadget?", None),
    ("Which region has the most clicks?", lambda f: [f.groupby("region").clicks.sum().idxmax()]),
    ("clicks by month", lambda f: list(f.groupby(f.sold_on.dt.strftime("%Y-%m")).clicks.sum())),
    # yes-or-no columns and their verbs
    ("churn rate", lambda f: [num(100 * f.churned.mean()) + "%"]),
    ("churn rate by region", lambda f: each(100 * f.groupby("region").churned.mean())),
    ("How many did not churn?", lambda f: [(~f.churned).sum()]),
    ("SLA breach rate by region", lambda f: each(100 * f.groupby("region").sla_breached.mean())),
    ("how many rows did not breach the sla?", lambda f: [(~f.sla_breached).sum()]),
    ("rows without a garden", lambda f: [(~f.has_garden).sum()]),
    ("total spend of rows with no garden", lambda f: [f[~f.has_garden].spend.sum()]),
    ("total spend excluding churned ones", lambda f: [f[~f.churned].spend.sum()]),
    # nothing there
    ("How many rows have no industry?", lambda f: [f.industry.isna().sum()]),
    ("rows without industry", lambda f: [f.industry.isna().sum()]),
    ("rows without an oscar", lambda f: [(f.oscar == "no").sum()]),
    ("rows without spend", None),
    ("empty comments", lambda f: [f.comments.isna().sum(), f.comments.isin(BLANK).sum()]),
    # a "no" that belongs to a name, numbers that end in no or id, and the column that a unit names
    ("how many no shows?", lambda f: [f.no_show.sum()]),
    ("total clicks excluding no shows", lambda f: [f[~f.no_show].clicks.sum()]),
    ("average visit_no", None),
    ("visits over 50 minutes in Nord", lambda f: [((f.minutes > 50) & (f.region == "Nord")).sum()]),
    ("clicks over 50 minutes", lambda f: [f[f.minutes > 50].clicks.sum()]),
    # shares
    ("percent Nord", lambda f: [num(100 * (f.region == "Nord").mean()) + "%"]),
    ("what % of rows is Nord", lambda f: [num(100 * (f.region == "Nord").mean()) + "%"]),
    ("share of yes by region", lambda f: each(100 * (f.oscar == "yes").groupby(f.region).mean())),
    ("how many drivers?", None),
]


@pytest.mark.parametrize(("question", "wanted"), CASES, ids=[q for q, _ in CASES])
@pytest.mark.parametrize("seed", SEEDS)
def test_kinds(ask, seed, question, wanted):
    frame = shop(seed)
    check(ask(question, {"tbl": frame}), wanted and wanted(frame))


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai", "UTC"])
def test_a_month_is_the_month_of_the_tables_own_clock(ask, library, zone):
    stamps = pd.date_range("2024-02-28", periods=100, freq="h", tz="UTC").tz_convert(zone)
    frame = pd.DataFrame({"at": stamps, "load": range(100)})
    wanted = frame[frame["at"].dt.month == 3].load.sum()
    table = frame
    if library == "polars":
        table = pytest.importorskip("polars").from_pandas(frame)
    if library == "arrow":
        table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    check(ask("total load in March 2024", {"t": table}), [wanted])
    days = ask("total load by day", {"t": table})
    assert (
        f"| 2024-03-01 | {num(frame[frame['at'].dt.strftime('%m-%d') == '03-01'].load.sum())} |" in days.body
    )


@pytest.mark.parametrize("hours", [5.5, -3])
def test_a_fixed_offset_is_a_clock_too(ask, hours):
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    stamps = pd.date_range("2024-02-28", periods=100, freq="h", tz="UTC").tz_convert(zone)
    frame = pd.DataFrame({"at": stamps, "load": range(100)})
    check(ask("total load in March 2024", {"t": frame}), [frame[frame["at"].dt.month == 3].load.sum()])


MONEY = pd.Series([1200.5, 950.0, 12345.67, 80.0, 4100.25, 70.0])
WRITTEN = {
    "€1,200.50": MONEY.map("€{:,.2f}".format),
    "1200.50 USD": MONEY.map("{:.2f} USD".format),
    "plain": MONEY.map("{:.2f}".format),
    "percent": MONEY.map("{:.2f}%".format),
    "two currencies": pd.Series(["€1.00", "$2.00"] * 3),
    "decimal comma": MONEY.map(lambda v: f"{v:.2f}".replace(".", ",")),
    "thousands or thousandths": pd.Series(["1.200", "2.500"] * 3),
    "some are words": pd.Series(["12", "n/a"] * 3),
}
UNSAFE = ("two currencies", "decimal comma", "thousands or thousandths", "some are words")


@pytest.mark.parametrize("how", WRITTEN)
@pytest.mark.parametrize("column", ["gross_pay", "Invoice Amount"])
def test_numbers_kept_as_text(ask, how, column):
    frame = pd.DataFrame({"office": list("aabbcc"), column: WRITTEN[how]})
    named = column.replace("_", " ")
    by_office = MONEY.groupby(frame.office)
    check(ask(f"total {named}", {"t": frame}), None if how in UNSAFE else [MONEY.sum()])
    check(ask(f"average {named} by office", {"t": frame}), None if how in UNSAFE else each(by_office.mean()))
    over = ask(f"how many rows with {named} over 1000", {"t": frame})
    check(over, None if how in UNSAFE else [(MONEY > 1000).sum()])


@pytest.mark.parametrize(
    "names", ["Jan Feb Mar", "January February March", "2021 2022 2023", "Q1 Q2 Q3", "1月 2月 3月"]
)
def test_columns_that_are_periods(ask, names):
    first, second, third = names.split()
    rng = np.random.default_rng(len(names))
    frame = pd.DataFrame({"team": list("aabbc"), **{n: rng.integers(1, 99, 5) for n in names.split()}})
    frame["Total"] = frame[[first, second, third]].sum(axis=1)
    check(ask(f"total {second} by team", {"plan": frame}), each(frame.groupby("team")[second].sum()))
    check(ask(f"sum of {third}", {"plan": frame}), [frame[third].sum()])
    check(ask("total by team", {"plan": frame}), each(frame.groupby("team").Total.sum()))
    check(ask(f"change from {first} to {second}", {"plan": frame}), None)
    check(ask("monthly trend", {"plan": frame}), None)


def test_two_values_beside_each_other_need_no_dates(ask):
    frame = pd.DataFrame({"grade": ["lead", "junior", "senior"] * 3, "pay": range(9)})
    pay = frame[frame.grade != "senior"].groupby("grade").pay.mean()
    check(ask("average pay of lead vs junior", {"staff": frame}), each(pay))


@pytest.mark.parametrize("yes", ["是", "否"])
def test_a_word_of_the_question_is_no_value(ask, yes):
    frame = pd.DataFrame(
        {"医生": ["王伟", "李娜"] * 4, "是否复诊": ["是", "是", "否", "否"] * 2, "费用": range(8)}
    )
    check(ask("王伟的平均费用是多少", {"门诊": frame}), [frame[frame.医生 == "王伟"].费用.mean()])
    named = ask(f"是否复诊为{yes}的总费用", {"门诊": frame})
    check(named, [frame[frame.是否复诊 == yes].费用.sum()])
    check(ask("费用在2到5之间的有几个", {"门诊": frame}), [frame.费用.between(2, 5).sum()])


@pytest.mark.parametrize("name", ["trips.parquet", "trips.csv", "trips_2024.csv"])
def test_rows_of_a_file_are_what_its_name_says(tmp_path, name):
    frame = pd.DataFrame(
        {"trip_km": [1.5, 12.0, 30.0], "passengers": [1, 3, 4], "paid_by": ["card", "cash", "card"]}
    )
    frame.to_parquet(tmp_path / name) if name.endswith("parquet") else frame.to_csv(
        tmp_path / name, index=False
    )
    made = Session("offline", memory=None, namespace={}, name="file")
    for i, where in enumerate([tmp_path / name, f'"{tmp_path / name}"', f"'{tmp_path / name}'"]):
        assert "**2**" in made.run(f"trips with 3 or more passengers in {where}", cell=f"a{i}").text
        assert "66.67%" in made.run(f"share of trips paid by card in {where}?", cell=f"b{i}").text
    assert "**8**" in made.run(f"{tmp_path / name}里passengers的总和是多少", cell="c").text
    assert "**8**" in made.run(f"计算{tmp_path / name}的passengers总和", cell="d").text
