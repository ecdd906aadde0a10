"""Numbers of an answer and the observations that hold them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.evidence import Number, invented, trace

TABLE = '{"ok": true, "columns": ["carrier", "delay", "n"], "rows": [["VX", 28.4123, 1234], ["B6", 35.2567, 16]], "name": "_r1"}'


def sources(answer, *seen):
    seen = seen or (("_r1", TABLE),)
    return {number.text: number.sources for number in trace(answer, seen)}


@pytest.mark.parametrize(
    "text",
    [
        "28.4123",
        "28.41",
        "28.4",
        "28",
        "1,234",
        "1234",
        "16",
        "35.26",
        "+35.26",
        "28.41 min",
        "28.41min",
        "28.41分钟",
    ],
)
def test_held_after_rounding(text):
    assert list(sources(f"It was {text}.").values()) == [("_r1",)]


@pytest.mark.parametrize("text", ["28.42", "29", "1,235", "17", "40 %", "3", "0.5", "1234.5"])
def test_not_held(text):
    assert list(sources(f"It was {text}.").values()) == [()]


@pytest.mark.parametrize(
    "answer",
    [
        "B6 and 9E and N123 lead",
        "see `_r1` and `x = 99`",
        "claude-sonnet-5-5 and order A-1001",
        "1. first\n2. second",
        "_r77",
        "v2",
    ],
)
def test_names_code_and_list_marks_are_no_numbers(answer):
    assert trace(answer, [("_r1", TABLE)]) == []


def test_spans_point_at_the_text():
    answer = "从 28.41 到 35.26，增加 6.84（24.1 %），共 1,234 班；2013-06-01 起"
    for number in trace(answer, [("_r1", TABLE)]):
        assert answer[slice(*number.span)] == number.text


def test_differences_ratios_and_shares_of_evidenced_numbers_follow():
    rows = {n.text: n for n in trace("from 28.41 to 35.26: +6.84, 24.1%, 1.24 times", [("_r1", TABLE)])}
    assert rows["+6.84"].formula == "35.26 − 28.41"
    assert rows["24.1%"].formula == "(35.26 − 28.41) / 28.41"
    assert rows["1.24"].formula == "35.26 / 28.41"
    assert all(row.sources == ("_r1",) for row in rows.values())


def test_a_number_without_evidence_supports_no_other():
    rows = {n.text: n for n in trace("from 100.5 to 150.75: +50.25", [("_r1", TABLE)])}
    assert not any(row.sources for row in rows.values())


def test_percent_of_a_share_or_of_a_percent_value():
    assert sources("25.3 %", ("_r1", "[0.2531]"))["25.3 %"]
    assert sources("25.3 %", ("_r1", "[25.31]"))["25.3 %"]
    assert not sources("25.3 %", ("_r1", "[2.531]"))["25.3 %"]


def test_chinese_units():
    assert sources("约3.2万元", ("_r1", "[32000]"))["3.2万"]
    assert sources("1.5亿", ("_r1", "[150012345]"))["1.5亿"]
    assert not sources("1.5亿", ("_r1", "[1.5]"))["1.5亿"]


def test_a_fall_told_without_its_sign():
    assert sources("fell by 6.84", ("_r1", "[-6.8444]"))["6.84"]
    assert sources("−6.84", ("_r1", "[-6.8444]"))["−6.84"]


def test_small_counts_must_match_exactly():
    assert not sources("3 airports", ("_r1", "[3.2]"))["3"]
    assert sources("3 airports", ("_r1", "[3]"))["3"]


def test_dates_need_the_same_date():
    assert sources("on 2013-06-01", ("_r1", '["2013-06-01"]'))["2013-06-01"] == ("_r1",)
    assert sources("on 2013-06-02", ("_r1", '["2013-06-01"]'))["2013-06-02"] == ()


def test_every_source_is_named_once():
    assert sources("28.41", ("goal", "28.41"), ("_r1", TABLE), ("_r1", TABLE))["28.41"] == ("goal", "_r1")


@given(st.text(), st.text())
def test_never_raises_and_spans_hold(answer, seen):
    for number in trace(answer, [("x", seen)]):
        assert answer[slice(*number.span)] == number.text
        assert Number.from_dict(number.to_dict()) == number


@given(st.floats(min_value=13, max_value=1e9), st.integers(0, 6))
def test_any_rounding_of_a_value_is_held(value, decimals):
    text = f"{value:,.{decimals}f}"
    assert trace(f"x {text} y", [("s", repr(value))])[0].sources == ("s",)


def test_a_long_answer_over_many_results_is_traced_in_one_pass(monkeypatch):
    """Each number looks only near its own size: the work grows with the answer, not with answer times results."""
    from agent_nb import evidence

    looked = []
    real = evidence._within
    monkeypatch.setattr(evidence, "_within", lambda sizes, *rest: looked.append(1) or real(sizes, *rest))
    answer = " ".join(f"{n + 0.25}" for n in range(100, 1_100))
    results = [("_r1", " ".join(f"{n + 0.25}" for n in range(100, 600))), ("_r2", "5 " * 5_000)]
    found = evidence.trace(answer, results)
    assert len(looked) == len(found) * len(results)
    assert [number.sources for number in found[:500]] == [("_r1",)] * 500


def test_dates_shift_no_span():
    from agent_nb import evidence

    answer = "2013-06-01, 17.5 and 2013-06-02, 18.5"
    assert [answer[slice(*n.span)] for n in evidence.trace(answer, [])] == [
        n.text for n in evidence.trace(answer, [])
    ]


SALES = (
    '{"ok": true, "columns": ["region", "sales_2023", "sales_2024", "orders"], "rows": [["north", 4120.5, 5310.25, 318],'
    ' ["south", 3890.75, 3402.5, 271], ["east", 2755.0, 2990.0, 199], ["west", 1204.25, 1333.75, 87]],'
    ' "total_rows": 4, "name": "_r3"}'
)


def formulas(answer, *texts):
    return {
        n.text: n.formula
        for n in trace(answer, [(f"_r{i}", text) for i, text in enumerate(texts, 3)])
        if n.sources
    }


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        ("South fell by 488.25.", "3890.75 − 3402.5"),
        ("North grew by 28.87 %.", "(5310.25 − 4120.5) / 4120.5"),
        ("北区增长了百分之二十八点八七。", "(5310.25 − 4120.5) / 4120.5"),
        ("In total 13,036.50 were sold.", "sum of sales_2024"),
        ("North holds 40.73 % of the sales.", "5310.25 / sum of sales_2024"),
        ("North sold 16.6989 an order.", "5310.25 / 318"),
        ("218.75 orders on average", "mean of orders"),
        ("North and south together: 8,712.75", "5310.25 + 3402.5"),
    ],
)
def test_simple_arithmetic_over_one_table_counts_and_shows_its_formula(answer, formula):
    assert list(formulas(answer, SALES).values()) == [formula]


@pytest.mark.parametrize(
    "answer",
    [
        "South fell by 489.25.",  # one digit off
        "13,136.50 in total",
        "North grew by 29.87 %.",
        "a growth of 12 %",  # two digits hit something by chance
        "4 regions grew by 3",
    ],
)
def test_what_no_simple_arithmetic_gives_is_marked(answer):
    assert not any(number.sources for number in trace(answer, [("_r3", SALES)]) if number.value != 4)


def test_a_table_that_was_cut_has_no_sum():
    cut = SALES.replace('"total_rows": 4', '"total_rows": 16')
    assert not formulas("In total 13,036.50 were sold.", cut)
    assert formulas("South fell by 488.25.", cut)  # both cells were seen


def test_cells_of_two_tables_are_not_mixed():
    other = '{"ok": true, "columns": ["x"], "rows": [[1000.125]], "name": "_r4"}'
    assert not formulas("a gap of 4,310.125", SALES, other)


@pytest.mark.parametrize(
    ("answer", "held", "formula"),
    [
        ("2.5 hours", "[150]", "150 ÷ 60"),
        ("2.5小时", "[9000]", "9000 ÷ 3,600"),
        ("1.5 km", "[1500]", "1500 ÷ 1,000"),
    ],
)
def test_another_unit_of_the_same_measure(answer, held, formula):
    assert list(formulas(answer, held).values()) == [formula]
    assert not formulas(answer, "[160, 9300, 1600]")


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        ("1.2 million rows", "1234567"),
        ("三百二十班", "320"),
        ("约1,200次", "1234"),
        ("over 1,200 flights", "1289"),
        ("twenty-five planes", "25"),
        ("1.234,57 EUR", "1234.571"),
        ("200,000 in all", "预算为二十万"),
        ("两成", "0.2031"),
    ],
)
def test_the_same_value_in_other_words_is_held(answer, held):
    assert all(number.sources for number in trace(answer, [("goal", held)]))


@pytest.mark.parametrize(
    ("answer", "held"), [("over 1,200", "1100"), ("nearly 1,200", "1289"), ("about 100", "140")]
)
def test_about_is_not_anything(answer, held):
    assert not any(number.sources for number in trace(answer, [("goal", held)]))


def test_arithmetic_over_random_tables_rarely_explains_a_made_up_number():
    """One made-up number in fifty at most may be called evidenced."""
    import json
    import random

    draw = random.Random(5)
    explained = tried = 0
    for _ in range(60):
        rows = [[draw.uniform(10, 5_000) for _ in range(4)] for _ in range(8)]
        table = json.dumps({"ok": True, "columns": list("abcd"), "rows": rows, "total_rows": 8})
        made_up = [
            f"{draw.uniform(13, 6_000):.1f}",
            f"{draw.uniform(1, 90):.1f} %",
            f"{draw.uniform(100, 9_000):.0f}",
        ]
        for number in trace(" and ".join(made_up), [("_r1", table)]):
            tried += 1
            explained += bool(number.sources)
    assert tried == 180
    assert explained <= tried / 50


@pytest.mark.parametrize(
    "held", ["2024-03-15", "2024年3月15日", "March 15, 2024", "15 Mar 2024", "2024/3/15"]
)
@pytest.mark.parametrize(
    "told",
    ["2024-03-15", "2024年3月15日", "2024 年 03 月 15 号", "March 15, 2024", "15th of March 2024", "2024/03/15", "3月15日", "2024年3月", "March 15"],
)  # fmt: skip
def test_a_date_is_the_same_however_it_is_written(told, held):
    [number] = trace(f"It began on {told}.", [("_r1", f'{{"began": "{held}"}}')])
    assert (number.text, number.value, number.sources) == (told, None, ("_r1",))


@pytest.mark.parametrize(
    "told", ["2024年3月16日", "March 16, 2024", "15 April 2024", "4月15日", "2023年3月", "2024/3/5"]
)
def test_another_date_is_marked(told):
    [number] = trace(f"It began on {told}.", [("_r1", '{"began": "2024-03-15"}')])
    assert not number.sources


def test_a_date_in_words_follows_from_its_parts_and_what_only_looks_like_one_is_a_number():
    assert sources("在2024年3月15日", ("_r1", '{"year": 2024, "month": 3, "day": 15}'))["2024年3月15日"] == (
        "_r1",
    )
    assert sources("May 20,000 units", ("_r1", "20000"))["20,000"] == ("_r1",)
    assert sources("May 2024", ("_r1", "2024-05-01"))["2024"] == ("_r1",)


@pytest.mark.parametrize("told", ["US$1.2m", "RMB1,200,000", "CNY 120万", "USD 1.2 million", "HK$1.2m"])
def test_a_currency_in_letters_hides_no_number(told):
    assert list(sources(f"It cost {told}.", ("_r1", "[1200000]")).values()) == [("_r1",)]


HOSTILE = ["一万" * 30_000, "零" * 50_000, "1," * 30_000, "9" * 60_000, "1e999 " * 5_000, "twenty-" * 9_000, "``` " * 20_000,
           "a-1" * 20_000, "12:" * 20_000, "may 1" * 9_000, "3月" * 30_000, "\t" * 60_000, "2024/" * 9_000, "A-1 " * 20_000]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:6].strip() or "tabs" for text in HOSTILE])
def test_long_texts_of_any_kind_are_traced_and_their_evidence_is_json(text):
    for answer, seen in ((text, "1 2 3"), ("4711.5 on 3月4日", text)):
        rows = [number.to_dict() for number in trace(answer, [("_r1", seen)])]
        json.dumps(rows, allow_nan=False)
    assert not invented({"id": text[:40]}, ["id"], [text[:40]])


@pytest.mark.parametrize(
    "told",
    ["cancel A-1001", "cancel a-1001.", "取消订单A-1001谢谢", "A1001", "a_1001", "A 1001", "A–1001", "Ａ－１００１", "order_A-1001", "“A-1001”", "/A-1001?x", '{"id": "A-1001"}'],
)  # fmt: skip
def test_an_identifier_may_be_written_another_way(told):
    assert invented({"id": "A-1001"}, ["id"], ["Hello", told]) == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [("1001", "order 2024-1001"), ("1001", "11001"), ("12", "12.5 kg"), ("1001", "SO1001"), ("A-1001", "A-1001-2"), ("A-1001", "B-1001"), ("A-1001", "A-10011"), ("10-01", "1001"), ("01001", "1001")],
)  # fmt: skip
def test_a_piece_of_something_longer_or_another_identifier_is_invented(given, told):
    assert invented({"id": given}, ["id"], [told]) == {"id": given}


@pytest.mark.parametrize(
    "told", ["#1001", "1001号", "id: 1001, x", '{"id": 1001.0}', "(1001)", "1001.", "order-1001", "１００１"]
)
def test_a_number_as_identifier(told):
    assert invented({"id": 1001}, ["id"], [told]) == {}
