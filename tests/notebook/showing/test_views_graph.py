"""The picture of a graph: escaped, without fixed colours for text, and bounded."""

import xml.etree.ElementTree as ElementTree

from agent_nb.notebook.views.graph import MOST, svg


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
