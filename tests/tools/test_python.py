"""Python in the user's namespace: what it prints, returns, draws, names and breaks."""

import _thread
import builtins
import json
import sys
import threading

import pytest

from agent_nb.tools.python import python_tool
from agent_nb.tools.tool import Toolbox


@pytest.fixture
def namespace():
    return {"__name__": "__main__", "n": 20}


@pytest.fixture
def do(namespace):
    box = Toolbox([python_tool(namespace)], namespace=namespace)
    return lambda code: box.run("1", "run_python", {"code": code})


def body(seen):
    return json.loads(seen.content[0]["text"])


def test_it_asks_first(namespace):
    assert python_tool(namespace).effect == "write"
    assert python_tool(namespace).asks


def test_the_last_expression_is_the_value(do, namespace):
    assert body(do("m = n + 1\nm * 2")) == {"ok": True, "value": 42, "new_variables": ["m"], "name": "_r1"}
    assert namespace["m"] == 21
    assert namespace["_r1"] == 42
    assert body(do("m = 3")) == {"ok": True, "value": None}
    assert body(do("'text'"))["text"] == "text"
    assert body(do("def f(): return n\nf()"))["value"] == 20
    assert body(do("[i for i in range(3) if i < n]"))["value"] == [0, 1, 2]


def test_a_table_is_cut_with_its_total(do):
    seen = do("import pandas as pd\npd.DataFrame({'a': range(30)})")
    assert seen.total_rows == 30
    assert len(seen.rows) == 10
    assert body(seen)["new_variables"] == ["pd"]


def test_what_is_printed_comes_back_and_is_cut(do):
    got = body(do("import sys\nprint('hello')\nprint('oops', file=sys.stderr)"))
    assert (got["stdout"], got["stderr"]) == ("hello\n", "oops\n")
    got = body(do("for i in range(200_000): print('x' * 50)"))
    assert got["stdout_total_chars"] == 200_000 * 51
    assert len(got["stdout"]) <= 8_001


def test_errors_come_with_the_lines_of_the_user(do):
    got = body(do("def f(a):\n    return a / 0\nprint('before')\nkept = 1\nf(1)"))
    assert got["ok"] is False
    assert got["error"] == "ZeroDivisionError: division by zero"
    assert got["traceback"][-1] == "line 2, in f: return a / 0"
    assert got["stdout"] == "before\n"
    assert got["new_variables"] == ["f", "kept"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 +", "SyntaxError"),
        ("x = (", "SyntaxError"),
        ("\tx\n  y", "IndentationError"),
        ("input()", "no keyboard input"),
        ("import sys; sys.exit(2)", "sys.exit(2)"),
        ("raise SystemExit", "sys.exit"),
        ("def f(): f()\nf()", "RecursionError"),
        ("a\x00b", "Error"),
        ("'\ud800'.encode()", "Error"),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            "E: its message cannot be shown",
        ),
        ("class Q(BaseException): pass\nraise Q('q')", "Q: q"),
    ],
)
def test_everything_that_goes_wrong_is_told(do, code, error):
    seen = do(code)
    assert seen.ok is False
    assert error in body(seen)["error"]


def test_the_kernel_is_as_before(do):
    before = (sys.stdout, sys.stderr, builtins.input)
    do("print(1)\n1/0")
    assert (sys.stdout, sys.stderr, builtins.input) == before


def test_figures_are_captured_and_closed(do):
    import matplotlib.pyplot as plt

    mine = plt.figure()
    show = plt.show
    seen = do(
        "import matplotlib.pyplot as plt\nplt.figure(); plt.plot([1, 2])\nplt.show()\nplt.figure(); plt.plot([3])"
    )
    assert [block["type"] for block in seen.content] == ["text", "image", "image"]
    assert len(seen.artifacts) == 2
    assert plt.get_fignums() == [mine.number]
    assert plt.show is show
    plt.close(mine)


def test_a_figure_as_value_is_shown_once(do):
    seen = do("from matplotlib.figure import Figure\nf = Figure()\nf.add_subplot().plot([1])\nf")
    assert [block["type"] for block in seen.content] == ["text", "image"]
    seen = do("import pandas as pd\npd.Series([1, 2]).plot()")
    assert [block["type"] for block in seen.content] == ["text", "image"]


def test_await_works_at_the_top(do):
    assert body(do("import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 5)"))["value"] == 5


def test_an_interrupt_passes_and_restores_everything(do):
    before = (sys.stdout, builtins.input)
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        do("while True: pass")
    assert (sys.stdout, builtins.input) == before
    assert body(do("1 + 1"))["value"] == 2


def test_secrets_that_code_prints_are_masked(do):
    key = "sk-" + "ant-" + "a1B2" * 10
    seen = do(f"print('{key[:9]}' + '{key[9:]}')\npassword = 'hunter22'\nf'password={{password}}'")
    assert key not in seen.text
    assert "hunter22" not in seen.text


def test_figures_are_captured_when_the_code_is_the_first_to_import_pyplot():
    import subprocess

    script = """
import sys
from agent_nb.tools.python import python_tool
from agent_nb.tools.tool import Toolbox
namespace = {}
code = "import matplotlib.pyplot as plt\\nplt.plot([1, 2])\\nshown = plt.show"
seen = Toolbox([python_tool(namespace)]).run("1", "run_python", {"code": code})
pyplot = sys.modules["matplotlib.pyplot"]
print(len(seen.artifacts), namespace["shown"] is pyplot.show, pyplot.get_fignums())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1 False []", "show() inside was not the one that would draw into the cell"
