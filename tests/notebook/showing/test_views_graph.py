"""The picture of a graph: escaped, without fixed colours for text, and bounded."""

import base64
import re
import xml.etree.ElementTree as ElementTree

from html_check import Checked

from agent_nb.notebook.views.graph import MOST, picture, svg


def graph(*edges):
    names = dict.fromkeys(name for s, _, t in edges for name in (s, t))
    rows = [{"source": s, "relation": r, "target": t, "record": "m1"} for s, r, t in edges]
    return {"nodes": [{"id": name, "records": ["m1"]} for name in names], "edges": rows}


def test_everything_is_escaped_and_reads_on_dark_pages():
    told = svg(graph(("<script>x</script>", 'a"b', "咖啡 & 茶\x00\ud800"), ("x", "is", "x")))
    ElementTree.fromstring(told)
    assert "<script" not in told
    assert "咖啡 &amp; 茶" in told
    assert "currentColor" in told
    assert "black" not in told
    assert "#000" not in told


def test_a_large_graph_is_cut():
    told = svg(graph(*((f"n{i}", "is_a", f"n{i + 1}") for i in range(500))))
    assert told.count("<circle") == MOST
    assert svg(graph()).startswith("<div")


def test_the_picture_of_a_saved_page_is_an_image_that_holds_the_same():
    page = picture(graph(("<script>x</script>", 'a"b', "咖啡\ud800")))
    assert Checked(page).tags == ["div", "img"]
    inner = base64.b64decode(re.search('base64,([^"]+)', page)[1]).decode()
    ElementTree.fromstring(inner)
    assert "<script" not in inner
    assert "咖啡" in inner
    assert "inherit" not in inner
