"""`%agent explain`: the last error of the notebook, with its cell, as a question."""

import pytest


@pytest.fixture
def cell(loaded, capsys):
    loaded.run_cell("import pandas as pd\nsales = pd.DataFrame({'delay': [1], 'carrier': ['x']})")

    def run(text):
        capsys.readouterr()
        done = loaded.run_cell(text)
        run.error = done.error_in_exec or done.error_before_exec
        return capsys.readouterr().out

    run.names = loaded.user_ns
    return run


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\nsales['dely'].mean()", ["KeyError", "line 2", "sales['dely'].mean()", "`delay` of sales"]),
        ("salse.head()", ["NameError", "line 1", "`sales`"]),
        ("sales['delay'] and sales['carrier']", ["ambiguous", "`&`"]),
        ("if True:\n    print(1", ["SyntaxError", "line 2", "print(1", "a bracket or quote is opened"]),
        ("def f():\n    return 1 / 0\nf()", ["ZeroDivisionError", "line 2", "return 1 / 0"]),
        (
            "import duckdb\nduckdb.sql('SELECT dely FROM sales')",
            ["BinderException", "line 2", "`delay` of sales"],
        ),
        ("np.zeros(3)", ["import numpy as np"]),
        ("raise LookupError('odd <b>')", ["LookupError", "No rule of mine"]),
    ],
)
def test_the_offline_model_names_error_line_and_likely_cause(cell, source, words):
    cell(source)
    assert cell.error is not None
    told = cell("%agent explain -m offline")
    assert cell.error is None, told
    for word in words:
        assert word in told


def test_any_model_gets_the_error_and_the_source(cell):
    cell("from agent_nb.models.scripted import ScriptedModel\nm = ScriptedModel(['because of zero'])")
    cell("key = 'sk-ant-api03-" + "a" * 40 + "'\nzero = 0\n1 / zero")
    told = cell("%agent explain -m m why does this happen?")
    assert "because of zero" in told
    (request,) = cell.names["m"].requests
    said = str(request["messages"])
    assert "why does this happen?" in said
    assert "ZeroDivisionError" in said
    assert "1 / zero" in said
    assert "aaaaaaaa" not in said
    assert not [t for t in request["tools"] if "memory" in t["name"]]


def test_nothing_to_explain_is_one_line(cell, monkeypatch):
    monkeypatch.delattr("sys.last_value", raising=False)
    cell("%agent explain")
    assert "no cell has failed" in str(cell.error)
    cell("%agent nonsense")
    cell("%agent explain")
    assert "says what to do" in str(cell.error)
