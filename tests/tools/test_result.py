"""Whatever a tool returns, the model gets valid JSON of bounded size, with the totals of what was cut."""

import dataclasses
import datetime
import decimal
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.redact import MASK
from agent_nb.tools.result import Reply, Sizes, error, show


def body(value, name="_r1", sizes=None):
    shown = show(value, name, sizes)
    text = shown.content[0]["text"]
    assert len(text) <= 16_000
    text.encode("utf-8")
    return json.loads(text, parse_constant=lambda constant: pytest.fail(constant))


FRAME = pd.DataFrame({"a": range(25), "b": [f"x{i}" for i in range(25)]})


@pytest.mark.parametrize(
    "table", [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), FRAME.to_dict("records")], ids=type
)
def test_tables_are_cut_to_their_first_rows_with_the_total(table):
    shown = show(table, "_r7")
    got = json.loads(shown.content[0]["text"])
    assert got["columns"] == shown.columns == ["a", "b"]
    assert got["rows"] == shown.rows == [[i, f"x{i}"] for i in range(10)]
    assert got["total_rows"] == shown.total_rows == 25
    assert got["name"] == "_r7"
    assert "10 of 25" in got["note"]


def test_a_whole_table_has_no_note():
    got = body(FRAME.head(3))
    assert got["total_rows"] == 3
    assert "note" not in got


def test_awkward_cells_are_plain():
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(["2013-01-01", None]),
            "at": pd.to_datetime(["2013-01-01 10:30", None]),
            "zone": pd.to_datetime(["2013-01-01", None]).tz_localize("UTC"),
            "f": [0.1 + 0.2, math.inf],
            "na": pd.array([1, pd.NA], dtype="Int64"),
            "d": [decimal.Decimal("1.50"), decimal.Decimal("NaN")],
            "td": pd.to_timedelta(["1h", None]),
            "o": [{"k": [1]}, "\ud800"],
            "c": pd.Categorical(["u", None]),
        }
    )
    first, second = body(frame)["rows"]
    assert first[:6] == ["2013-01-01", "2013-01-01T10:30:00", "2013-01-01T00:00:00+00:00", 0.3, 1, 1.5]
    assert first[7:] == [{"k": [1]}, "u"]
    assert second == [None, None, None, None, None, None, None, "\ufffd", None]


def test_an_index_that_means_something_is_shown():
    grouped = pd.DataFrame({"g": ["a", "b"], "v": [1, 2]}).groupby("g")["v"].sum()
    assert body(grouped)["columns"] == ["g", "v"]
    both = pd.DataFrame({"g": ["a"], "h": [1], "v": [2]}).set_index(["g", "h"])
    assert body(both)["columns"] == ["g", "h", "v"]
    assert body(pd.DataFrame([[1, 2]], columns=["a", "a"]))["rows"] == [[1, 2]]


def test_long_text_is_cut_with_its_count():
    got = body("x" * 10_000_000)
    assert got["total_chars"] == 10_000_000
    assert 7_900 <= len(got["text"]) <= 8_100
    assert "_r1" in got["note"]


@dataclasses.dataclass
class Order:
    id: int
    when: datetime.date


class Loud:
    def __repr__(self):
        raise RuntimeError("no")


class Endless(dict):
    def items(self):
        raise OSError("gone")


loop: list = []
loop.append(loop)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (1.7976931348623157e308, 1.7976931348623157e308),
        (3, 3),
        (float("nan"), None),
        (1 / 3, 0.3333333333),
        (decimal.Decimal("12"), 12),
        (b"abc", "abc"),
        (np.int64(4), 4),
        (np.float32("nan"), None),
        (np.array([1, 2]), [1, 2]),
        (np.datetime64("2013-01-01"), "2013-01-01"),
        (Order(1, datetime.date(2013, 1, 2)), {"id": 1, "when": "2013-01-02"}),
        (ValueError("bad"), "ValueError: bad"),
        ({1: "a", (2, 3): {"b"}}, {"1": "a", "[2, 3]": ["b"]}),
        (pd.NaT, None),
        (pd.NA, None),
        ({"password": "hunter2"}, {"password": MASK}),
    ],
)
def test_values_are_plain(value, plain):
    got = body(value)
    if got["value"] != plain:
        assert str(got["value"]).replace("'", "").replace("(", "[").replace(")", "]") == str(plain).replace(
            "'", ""
        )


@pytest.mark.parametrize(
    "value",
    [Loud(), [Loud()], Endless(a=1), loop, 10**5_000, "\ud800\udfff", list(range(3_000_000)), dict.fromkeys(range(99999), "x" * 99),
     [["x" * 5_000] * 50] * 50, pd.DataFrame(np.zeros((3, 3_000))), pd.DataFrame({"t": ["y" * 50_000] * 30}), iter([1]),
     memoryview(b"x" * 9_000_000), np.zeros((400, 400, 4)), {"a": {"b": {"c": FRAME}}}, object, pl.LazyFrame({"a": [1]})],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_anything_fits(value):
    got = body(value)
    assert got["ok"] is True


def test_what_was_cut_is_said():
    assert "note" in body(list(range(3_000_000)))
    assert "columns" in body(pd.DataFrame(np.zeros((3, 3_000))))["note"]
    assert "note" in body(dict.fromkeys(range(9999), "x" * 99))


def test_secrets_never_come_back():
    key = "sk-" + "ant-" + "a1B2" * 10
    frame = pd.DataFrame({"password": ["hunter2"], "note": [f"my key is {key}"]})
    for value in (key, {"a": [key]}, frame, ValueError(key), Reply({"stdout": f"token={key}"})):
        text = show(value, "_r1").content[0]["text"]
        assert key not in text
        assert "hunter2" not in text
        assert MASK in text
    assert key not in error(f"refused: {key}")[0]["text"]


def test_pictures_become_image_blocks():
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure()
    figure.add_subplot().plot([1, 2])
    for value in (figure, figure.axes[0], Image.new("RGB", (4_000, 10))):
        shown = show(value, "_r1")
        assert [block["type"] for block in shown.content] == ["text", "image"]
        assert shown.artifacts[0]["mime"] == "image/png"
        assert json.loads(shown.content[0]["text"])["name"] == "_r1"


def test_sizes_are_a_setting():
    assert len(body(FRAME, sizes=Sizes(rows=3))["rows"]) == 3


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals() | st.dates()
    | st.datetimes() | st.timedeltas() | st.complex_numbers() | st.characters(categories=["Cs"])
)  # fmt: skip


containers = st.recursive(
    scalars,
    lambda v: st.lists(v) | st.dictionaries(st.text() | st.integers(), v) | st.tuples(v, v),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(containers)
def test_any_nesting_is_valid_json(value):
    assert body(value)["ok"] is True
