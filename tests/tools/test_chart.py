"""Charts: a picture and what was left out, nothing of matplotlib's state changed, labels that can be read."""

import base64
import io
import json
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from agent_nb.tools import chart, fonts
from agent_nb.tools.data import data_tools
from agent_nb.tools.tool import Toolbox


@pytest.fixture
def namespace():
    days = pd.date_range("2013-01-01", periods=40)
    return {
        "sales": pd.DataFrame({"city": ["Oslo", "Rom", "Bern"], "total": [3.5, -1.0, 2.0]}),
        "days": pd.DataFrame({"day": days, "v": np.arange(40.0), "w": np.arange(40.0)[::-1]}),
        "groups": pd.DataFrame({"m": [1, 2, 3] * 2, "g": ["a"] * 3 + ["b"] * 3, "v": [1, 2, 3, 3, 2, 1]}),
        "many": pd.DataFrame({"c": [f"c{i}" for i in range(90)], "v": range(90)}),
        "gaps": pd.DataFrame({"c": ["a", "b", "c"], "v": [1.0, np.nan, np.inf]}),
        "empty": pd.DataFrame({"c": [], "v": []}),
        "one": pd.DataFrame({"c": ["a"], "v": [1]}),
        "texts": pd.DataFrame({"c": ["a"], "v": ["b"]}),
        "城市": pd.DataFrame({"城市": ["北京", "上海"], "销售额": [1, 2]}),
        "long": pd.DataFrame({"c": ["a very long label " * 9, "another very long label " * 9], "v": [1, 2]}),
        "odd": pd.DataFrame({"$x$_{": ["$a$", "\\frac{"], "v": [1, 2]}),
    }


@pytest.fixture
def draw(namespace):
    box = Toolbox(data_tools(namespace), namespace=namespace)
    return lambda **arguments: box.run("1", "draw_chart", arguments)


def body(seen):
    return json.loads(seen.content[0]["text"])


@pytest.mark.parametrize(
    ("arguments", "points"),
    [
        ({"kind": "bar", "data": "sales", "x": "city", "y": "total", "title": "Sales"}, 3),
        ({"kind": "barh", "data": "sales", "x": "CITY", "y": "total"}, 3),
        ({"kind": "line", "data": "days", "x": "day", "y": "v"}, 40),
        ({"kind": "line", "data": "groups", "x": "m", "y": "v", "series": "g"}, 6),
        ({"kind": "bar", "data": "groups", "x": "m", "y": "v", "series": "g"}, 6),
        ({"kind": "scatter", "data": "days", "x": "v", "y": "w"}, 40),
        ({"kind": "hist", "data": "days", "x": "v"}, 40),
        ({"kind": "hist", "data": "groups", "x": "v", "series": "g"}, 6),
        ({"kind": "hist", "data": "one", "x": "v"}, 1),
        ({"kind": "line", "data": "one", "x": "c", "y": "v"}, 1),
        (
            {
                "kind": "bar",
                "data": "SELECT city, sum(total) AS t FROM sales GROUP BY 1;",
                "x": "city",
                "y": "t",
            },
            3,
        ),
        ({"kind": "bar", "data": "long", "x": "c", "y": "v", "title": "t" * 500}, 2),
        ({"kind": "bar", "data": "odd", "x": "$x$_{", "y": "v", "title": "$100 and ${"}, 2),
        ({"kind": "bar", "data": "城市", "x": "城市", "y": "销售额", "title": "各城市销售额"}, 2),
    ],
)
def test_a_chart_is_a_picture_with_its_points(draw, namespace, arguments, points):
    seen = draw(**arguments)
    assert seen.ok, seen.text
    got = body(seen)
    assert (got["chart"], got["points"], got["name"]) == (arguments["kind"], points, "_r1")
    assert [block["type"] for block in seen.content] == ["text", "image"]
    picture = Image.open(io.BytesIO(base64.b64decode(seen.artifacts[0]["data"])))
    assert picture.format == "PNG"
    assert 600 <= picture.width <= 1_600
    assert len(picture.convert("RGB").getcolors(1 << 24)) > 10
    assert namespace["_r1"].axes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "bar", "data": "empty", "x": "c", "y": "v"}, "nothing to draw"),
        ({"kind": "bar", "data": "sales", "x": "city"}, "needs y"),
        ({"kind": "bar", "data": "sales", "x": "town", "y": "total"}, "city, total"),
        ({"kind": "bar", "data": "texts", "x": "c", "y": "v"}, "holds text"),
        ({"kind": "hist", "data": "days", "x": "day"}, "holds times"),
        ({"kind": "bar", "data": "groups", "x": "g", "y": "v"}, "aggregate"),
        ({"kind": "bar", "data": "nothing_here", "x": "c", "y": "v"}, "nothing_here"),
        ({"kind": "bar", "data": "DROP TABLE sales", "x": "c", "y": "v"}, ""),
        ({"kind": "bar", "data": "SELECT 1; SELECT 2", "x": "c", "y": "v"}, ""),
        ({"kind": "pie", "data": "sales", "x": "city", "y": "total"}, "barh"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_line(draw, arguments, words):
    seen = draw(**arguments)
    assert not seen.ok
    assert words in body(seen)["error"]


def test_what_was_left_out_is_told(draw):
    assert "30 largest of 90" in body(draw(kind="bar", data="many", x="c", y="v"))["note"]
    got = body(draw(kind="bar", data="gaps", x="c", y="v"))
    assert got["points"] == 1
    assert "2 rows" in got["note"]


def test_bars_stand_for_the_values(draw, namespace):
    assert draw(kind="bar", data="sales", x="city", y="total").ok
    axes = namespace["_r1"].axes[0]
    labels = [text.get_text() for text in axes.get_xticklabels()]
    heights = [patch.get_height() for patch in axes.patches]
    assert dict(zip(labels, heights, strict=True)) == {"Oslo": 3.5, "Rom": -1.0, "Bern": 2.0}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([6.8509, 2.4458, -0.097033], ["6.851", "2.446", "−0.097"]),
        ([12.5, 300.25], ["12.5", "300.2"]),
        ([1.0, 20.0], ["1", "20"]),
        ([1234567.5, 2.25], ["1,234,568", "2.25"]),
        ([1000.5, 0.0004], ["1000.5", "0.0004"]),
        ([], []),
    ],
)
def test_the_numbers_over_bars_are_told_alike(values, told):
    assert chart._figures(values) == told


def test_no_state_of_matplotlib_is_changed(draw):
    before = dict(matplotlib.rcParams)
    pyplot = sys.modules.get("matplotlib.pyplot")
    figures = pyplot.get_fignums() if pyplot else None
    draw(kind="bar", data="sales", x="city", y="total")
    assert dict(matplotlib.rcParams) == before
    assert sys.modules.get("matplotlib.pyplot") is pyplot
    assert (pyplot.get_fignums() if pyplot else None) == figures


def test_a_font_is_chosen_that_has_the_glyphs():
    assert fonts.families(["plain text"]) == ([fonts.DEFAULT], "")
    families, note = fonts.families(["销售额", "Grüße"])
    if not note:  # some installed font has them
        assert families[0] == fonts.DEFAULT
        assert len(families) > 1


def test_without_such_a_font_the_package_is_named(monkeypatch, draw):
    monkeypatch.setattr(fonts, "_installed", lambda: ())
    assert "fonts-noto-cjk" in fonts.families(["销售额"])[1]
    assert "fonts-noto-cjk" in body(draw(kind="bar", data="城市", x="城市", y="销售额"))["note"]
