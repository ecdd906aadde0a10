"""Numbers of an answer and the observations that hold them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.evidence import Number, trace

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
