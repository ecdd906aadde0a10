"""Numbers as people write them, in English and Chinese."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.figures import figures, values


def read(text):
    return [(figure.text, figure.value) for figure in figures(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", 1234.5),
        ("1'234", 1234),
        ("1’234", 1234),
        ("1\u202f234", 1234),
        ("1.234,50", 1234.5),
        ("12,5 %", 0.125),
        ("25 %", 0.25),
        ("25%", 0.25),
        ("3 ‰", 0.003),
        ("25 percent", 0.25),
        ("5 pp", 0.05),
        ("2 percentage points", 0.02),
        ("5个百分点", 0.05),
        ("3.2万", 32_000),
        ("1.5亿", 150_000_000),
        ("2万亿", 2e12),
        ("3千", 3_000),
        ("12k", 12_000),
        ("1.2M", 1_200_000),
        ("3 thousand", 3_000),
        ("1.2 million", 1_200_000),
        ("1.5bn", 1.5e9),
        ("1e6", 1e6),
        ("−6.85", -6.85),
        ("三百二十", 320),
        ("一万五", 15_000),
        ("一千零五", 1_005),
        ("三千二", 3_200),
        ("二十", 20),
        ("两万三千", 23_000),
        ("一千二百万", 12_000_000),
        ("三亿", 300_000_000),
        ("三千二百一十五点六", 3_215.6),
        ("百分之二十五", 0.25),
        ("百分之三点五", 0.035),
        ("两成", 0.2),
        ("三成半", 0.35),
        ("twenty-five", 25),
        ("three hundred", 300),
        ("three hundred and twenty", 320),
        ("two hundred thousand", 200_000),
        ("one million", 1_000_000),
    ],
)
def test_a_number_is_what_it_amounts_to(text, value):
    for around in ("It was {} then.", "一共{}，", "({})", "{}"):
        ((written, found),) = read(around.format(text))
        assert (written, found) == (text, pytest.approx(value))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("$1.2m", [("1.2m", 1_200_000)]),
        ("€5B", [("5B", 5e9)]),
        ("¥3.2万", [("3.2万", 32_000)]),
        ("15min", [("15", 15)]),
        ("run of 20 m", [("20", 20)]),
        ("5千克", [("5", 5)]),
        ("20–30", [("20", 20), ("30", 30)]),
        ("2013-06-01 12:30", [("2013-06-01 12:30", None)]),
        ("at 14:05", [("14:05", None)]),
        ("16 carriers in 2013 120 flights", [("16", 16), ("2013", 2013), ("120", 120)]),
    ],
)
def test_what_stands_around_a_number(text, wanted):
    assert read(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "B6 and 9E and N123 lead",
        "see `_r1` and ```x = 99```",
        "claude-sonnet-5-5, order A-1001",
        "1. first\n2. second",
        "千万不要万一",
        "一成不变，八成熟",
        "one of them; the first two; 一个，十分好",
        "二零二四年",
        "someone, anyone, often, weight",
    ],
)
def test_what_is_no_number(text):
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1,200", 1199.5, 1200.5),
        ("about 1,200", 1150, 1250),
        ("约1200", 1150, 1250),
        ("over 1,200", 1199.5, 1300),
        ("超过1,200", 1199.5, 1300),
        ("nearly 1,200", 1100, 1200.5),
        ("about 1,000", 999.5, 1000.5),  # a single digit with zeros would hold too much
        ("3.2万", 31_500, 32_500),
        ("24 %", 0.235, 0.245),
        ("7", 7, 7),
        ("7.0", 6.95, 7.05),
    ],
)
def test_how_far_it_may_be_rounded(text, low, high):
    (figure,) = figures(text)
    assert (figure.low, figure.high) == (pytest.approx(low), pytest.approx(high))


def test_values_of_a_tools_text():
    assert list(values('{"rows": [[12, 5.5], ["3.2万", "2013-06-01"]]}')) == [2013, 12, 5.5, 32_000]


@given(st.text())
def test_spans_hold_and_never_overlap(text):
    found = list(figures(text))
    assert all(text[slice(*figure.span)] == figure.text for figure in found)
    assert all(a.span[1] <= b.span[0] for a, b in itertools.pairwise(found))
    assert all(figure.low <= abs(figure.value) <= figure.high for figure in found if figure.value is not None)


@given(st.integers(13, 99_999_999))
def test_any_whole_number_is_read_as_it_is_spelled(number):
    assert read(chinese(number)) == [(chinese(number), number)]
    assert read(english(number)) == [(english(number), number)]


def chinese(number):
    """320 → 三百二十, said by the book."""
    if number >= 10_000:
        rest = number % 10_000
        gap = "零" if 0 < rest < 1_000 else ""
        return chinese(number // 10_000) + "万" + gap + (chinese(rest) if rest else "")
    said, gap = "", False
    for unit, name in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            said += ("零" if gap else "") + "零一二三四五六七八九"[digit] + name
            gap = False
        else:
            gap = bool(said)
    return said


def english(number):
    small = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    for unit, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= unit:
            rest = number % unit
            return f"{english(number // unit)} {name}" + (f" {english(rest)}" if rest else "")
    if number < 20:
        return small[number]
    return tens[number // 10 - 2] + (f"-{small[number % 10]}" if number % 10 else "")
