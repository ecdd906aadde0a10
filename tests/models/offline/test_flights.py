"""The 336,776 flights: what the quickstart asks, and more, each figure recomputed with pandas."""

import pandas as pd
import pytest


def num(value):
    value = float(f"{float(value):.10g}")
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


@pytest.fixture
def tables(world):
    return {"flights": world["flights"](), "airlines": world["airlines"]()}


def in_order(text, wanted):
    at = 0
    for piece in wanted:
        found = text.find(str(piece), at)
        assert found >= 0, f"{piece!r} is not in (the rest of) the answer:\n{text}"
        at = found


def rise(flights, by):
    means = [flights[flights.month == m].groupby(by).dep_delay.mean() for m in (6, 7)]
    return (means[1] - means[0]).dropna()


QUESTIONS = [
    "Which airline's departure delay rose most from June to July 2013, and at which airport and on which routes?",
    "Which carrier's average dep delay increased the most between June and July 2013, at which airport and on which routes?",
    "2013年6月到7月，哪家航空公司的出发延误上升最多？在哪个机场、哪些航线？",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_quickstart_question(ask, tables, question):
    flights = tables["flights"]
    by_carrier = rise(flights, "carrier")
    mover = by_carrier.idxmax()
    inside = flights[flights.carrier == mover]
    routes = inside.assign(route=inside.origin + "–" + inside.dest)
    answer = ask(question, tables)
    in_order(
        answer.body,
        [
            f"**{mover}",
            num(by_carrier.max()),
            f"**{rise(inside, 'origin').idxmax()}**",
            f"**{rise(routes, 'route').idxmax()}**",
        ],
    )
    assert len({name for name, _, _ in answer.calls}) > 1


def test_the_quickstart_definition(ask, tables):
    flights = tables["flights"].query("month == 7").dropna(subset="dep_delay")
    share = flights.assign(late=flights.dep_delay > 15).groupby("carrier").late.mean().mul(100).nlargest(3)
    memory = ["a flight is late when its departure delay is over 15 minutes."]
    answer = ask(
        "Which three airlines had the largest share of late flights in July 2013?", tables, memory=memory
    )
    in_order(answer.body, [x for k, v in share.items() for x in (f"**{k} (", num(v) + "%")])
    assert memory[0] in answer.body


CASES = [
    (
        "How many flights left JFK in June 2013?",
        lambda f: [num(len(f[(f.origin == "JFK") & (f.month == 6)]))],
    ),
    ("How many flights from EWR to LAX?", lambda f: [num(len(f[(f.origin == "EWR") & (f.dest == "LAX")]))]),
    (
        "Which carrier had the most flights?",
        lambda f: [f"**{f.carrier.value_counts().index[0]} (", num(f.carrier.value_counts().iloc[0])],
    ),
    ("average arrival delay of United", lambda f: [num(f[f.carrier == "UA"].arr_delay.mean())]),
    (
        "Which month had the highest average arrival delay?",
        lambda f: [f"2013-{f.groupby('month').arr_delay.mean().idxmax():02}"],
    ),
    ("median distance by origin", lambda f: [num(v) for v in f.groupby("origin").distance.median()]),
    ("What was the longest departure delay?", lambda f: [num(f.dep_delay.max())]),
    (
        "Which three destinations had the most flights in 2013?",
        lambda f: [x for k, v in f.dest.value_counts().head(3).items() for x in (k, num(v))],
    ),
    ("How many missing values does dep_time have?", lambda f: [num(f.dep_time.isna().sum())]),
    (
        "How many flights had an arrival delay of more than 120 minutes?",
        lambda f: [num((f.arr_delay > 120).sum())],
    ),
    (
        "correlation between departure delay and arrival delay",
        lambda f: [f"{f.dep_delay.corr(f.arr_delay):.3f}"],
    ),
    (
        "number of flights in August compared to July",
        lambda f: [num((f.month == 7).sum()), num((f.month == 8).sum())],
    ),
    (
        "7月平均到达延误最高的航空公司",
        lambda f: [f"**{f[f.month == 7].groupby('carrier').arr_delay.mean().idxmax()} ("],
    ),
    ("How many different tail numbers are there?", lambda f: [num(f.tailnum.nunique())]),
    (
        "share of flights with a departure delay over 60 minutes",
        lambda f: [num(100 * (f.dep_delay.dropna() > 60).mean()) + "%"],
    ),
    ("Which flight had the longest departure delay?", lambda f: [num(f.dep_delay.max())]),
    ("number of flights on 2013-02-08", lambda f: [num(((f.month == 2) & (f.day == 8)).sum())]),
]


@pytest.mark.parametrize(("question", "wanted"), CASES, ids=[q for q, _ in CASES])
def test_flights(ask, tables, question, wanted):
    answer = ask(question, tables)
    in_order(answer.body, wanted(tables["flights"]))
    assert not answer.asks


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which carrier has the worst delay?", "arr_delay"),
        ("average departure delay in 2014", "2013-12-31"),
        ("share of cancelled flights", "cancelled"),
        ("average departure delay over 2 hours", "2 hours"),
        ("Which airport had the most flights?", "dest"),
        ("departure delay in the morning", "morning"),
    ],
)
def test_flights_traps(ask, tables, question, named):
    assert named in ask(question, tables).body


def test_a_look_up_table_with_other_names(ask, world):
    flights = world["flights"]().rename(
        columns={"carrier": "airline_code", "dep_delay": "departure_delay_min"}
    )
    names = pd.DataFrame(world["airlines"]()).rename(
        columns={"carrier": "airline_code", "name": "airline_name"}
    )
    answer = ask("average departure delay of JetBlue Airways", {"trips": flights, "companies": names})
    assert num(flights[flights.airline_code == "B6"].departure_delay_min.mean()) in answer.body


def test_the_queries_can_be_read(ask, tables):
    answer = ask(QUESTIONS[0], tables, charts=True)
    queries = [given["query"] for name, given, _ in answer.calls if name == "query_sql"]
    assert max(map(len, queries)) < 900
    assert all("CASE" not in query and '"' not in query for query in queries)
    assert any("year = 2013 AND month IN (6, 7)" in query for query in queries)
    assert len([m for m in answer.messages if m["role"] == "assistant"]) <= 9


def test_odd_tables(ask):
    shops = pd.DataFrame(
        {
            "group": ["G1", "G1", "G2"],
            "count": [1, 2, 4],
            "store": [3, 4, 5],
            "city": ["Rome", "rome ", "Oslo"],
            "when": [
                pd.Timestamp("2024-01-05").date(),
                pd.Timestamp("2024-02-05").date(),
                pd.Timestamp("2024-02-09").date(),
            ],
        }
    )
    in_order(ask("total count by group", {"t": shops}).body, ["G1", "3", "G2", "4"])
    in_order(ask("total count of stores 3 and 5", {"t": shops}).body, ["**5**"])
    in_order(ask("total count in Rome", {"t": shops}).body, ["**3**"])
    in_order(ask("total count in February 2024", {"t": shops}).body, ["**6**"])
    assert ask("total count", {"t": shops.iloc[:0]}).asks
