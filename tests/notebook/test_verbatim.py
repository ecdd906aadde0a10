"""Text reaches the magics as it was typed, through a real shell's whole transformation."""

import ast
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_nb.notebook import extension

AWKWARD = [
    "plain",
    "braces {a} {{b}} {} {0!r} {a:>10}",
    "dollars $x $$y ${HOME} $",
    "quotes ' \" ''' \"\"\" `",
    "a lone ' here",
    'a lone """ here',
    "backslashes \\ \\n \\\\ \\",
    "ends in a backslash \\\nand goes on",
    "what is df?",
    "what is df??",
    "df?",
    "?df",
    "??",
    "two lines\nwhat is df?\nand more?",
    "!ls -la\n!!pwd\nx = !ls",
    "%time x\n%%bash\n%agent status\n%%agent\n%memory search x?",
    "哪个航空公司的延误最大？按月统计，画图。",
    '{"json": [1, 2.5, null, {"a": "b\\n"}]}',
    "```python\ndef f(x):\n    return x['a']\n```",
    "- a list\n- of items\n  - nested",
    "-5 degrees",
    "  leading and trailing  ",
    "\n\nblank lines before",
    "blank lines after\n\n\n",
    "spaces on an empty line\n   \n\t\nend",
    "   \n  all\n    lines\n   are indented",
    "\ttab\tseparated\t",
    "carriage return\r\nline feed\r\n",
    "old mac\rline",
    "form\x0cfeed and\x0bvertical tab",
    "unit separators \x1c\x1d\x1e\x1f, next line \x85, \u2028 and \u2029",
    "zero width \u200b\u200c\u200d\ufeff end",
    "emoji 👩‍👩‍👧‍👦 🇨🇳 e\u0301",
    "right to left שלום مرحبا",
    ">>> import os\n>>> os.getcwd()\n'/tmp'",
    "In [1]: 1 + 1\nOut[1]: 2\n   ...: x",
    "... dots\n...: more",
    "SELECT * FROM t WHERE a LIKE '%x%' -- comment",
    "# a comment?\n## heading",
    "unbalanced ( [ { \n) ]",
    "@decorator\nclass X:\n    pass",
    "a; b, c / d",
    ",auto quote\n;auto\n/auto",
    "done when:\n- it holds\n- 完成条件：都对",
    "-- leading dashes",
    "nul \x00 byte",
    "lone surrogate \ud800",
    "get_ipython().run_cell_magic('agent', '', 'x')",
    "%%agent",
    "<script>alert(1)</script> & <b>",
    "x" * 20_000,
]


class Recorder:
    """Stands where get_ipython() stands, and keeps the calls."""

    def __init__(self):
        self.calls = []

    def run_cell_magic(self, name, line, cell):
        self.calls.append((name, line, cell))

    def run_line_magic(self, name, line):
        self.calls.append((name, line))


def calls(shell, cell):
    code = shell.transform_cell(cell)
    recorder = Recorder()
    exec(compile(ast.parse(code), "cell", "exec"), {"get_ipython": lambda: recorder})
    return recorder.calls


@pytest.fixture
def loaded(loaded_for_all):
    return loaded_for_all


@pytest.fixture
def bare(loaded_for_all):
    """The same shell, while the extension is not loaded."""
    extension.unload(loaded_for_all)
    yield loaded_for_all
    extension.load(loaded_for_all)


def ended(text):
    """IPython gives every cell a line end."""
    return text if text.endswith("\n") else text + "\n"


@pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
def test_the_body_of_a_cell(loaded, text):
    assert calls(loaded, "%%agent\n" + text) == [("agent", "", ended(text))]
    assert calls(loaded, "%%agent -m offline --use a,b what?\n" + text) == [
        ("agent", "-m offline --use a,b what?", ended(text))
    ]
    assert calls(loaded, "\n \n%%agent  \n" + text) == [("agent", " ", ended(text))]


@pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
def test_what_the_session_gets(loaded, text):
    """From run_cell to the work order, with and without a line end that was typed."""
    if not text.strip():
        return
    loaded.run_cell(
        "from agent_nb.models.scripted import ScriptedModel\nm = ScriptedModel(['fine'], strict=False)"
    )
    loaded.run_cell("%%agent -m m --no-memory --keep-going\n" + text)
    assert loaded.user_ns["_agent"].task.goal == text


@pytest.mark.parametrize("text", [t for t in AWKWARD if "\n" not in t and "\r" not in t])
def test_a_line(loaded, text):
    assert calls(loaded, "%memory search " + text) == [("memory", "search " + text)]
    if not text.endswith("\\"):  # a backslash at the end of a line goes on, as everywhere in Python
        assert calls(loaded, "x = 1\nif x:\n    %agent why " + text + "\ny = 2") == [("agent", "why " + text)]


def test_a_line_that_goes_on(loaded):
    assert calls(loaded, "%agent limits --max-steps 3 \\\n   --max-cost 1\nx = 1") == [
        ("agent", "limits --max-steps 3     --max-cost 1")
    ]


def test_several_lines_of_one_cell(loaded):
    cell = "%memory search a?\nx = 1\n%agent window?? \n\tx\n"
    cell = cell.replace("\n\tx", "")
    assert calls(loaded, cell) == [("memory", "search a?"), ("agent", "window?? ")]


def test_an_indented_cell_moves_to_the_margin(loaded):
    assert calls(loaded, "    %%agent\n    a\n\n      b?\n") == [("agent", "", "a\n\n  b?\n")]
    assert calls(loaded, "    %%agent\na\n    b") == [("agent", "", "a\n    b\n")]


def test_a_goal_in_the_first_line_alone(loaded):
    assert calls(loaded, "%%agent what is in df?") == [("agent", "what is in df?", "\n")]


@pytest.mark.parametrize(
    "cell",
    [
        "x = '''\n%agent what?\n%%agent\n'''\nlen?",
        "%agents what?",
        "%agent_x a?",
        "%%agents\nwhat?\n   \n",
        "%%time\n%agent what?\n   \n",
        "%agent?",
        "%%agent?",
        "%agent??",
        "y = x % agent",
        "print('%agent what?')",
        "%timeit agent",
        "len?\n%time x\n!ls",
        ">>> x = 1\n>>> %time x",
        "# %agent x?\n",
        "  \n  x = 1\n  y = 2\n",
        "f(\n%agent\n)",
        "",
        "\n",
    ],
)
def test_other_cells_are_left_alone(bare, cell):
    before = bare.transform_cell(cell)
    extension.load(bare)
    try:
        assert bare.transform_cell(cell) == before
    finally:
        extension.unload(bare)


def test_a_terminal_still_waits_for_the_body(loaded):
    manager = loaded.input_transformer_manager
    assert manager.check_complete("%%agent")[0] == "incomplete"
    assert manager.check_complete("%%agent\nwhat is df?")[0] == "incomplete"
    assert manager.check_complete("%%agent\nwhat is df?\n\n")[0] == "complete"
    assert manager.check_complete("%agent status")[0] == "complete"


TEXTS = st.text(
    st.one_of(
        st.sampled_from(list("{}$'\"\\?!%#- \t\n\r\x0b\x0c\x85\u2028\u200b>.:;,/()[]=&<@`中é👍")),
        st.characters(),
        st.sampled_from(string.ascii_letters),
    ),
    max_size=60,
)
FAST = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FAST
@given(TEXTS)
def test_any_body(loaded, text):
    assert calls(loaded, "%%agent --new\n" + text) == [("agent", "--new", ended(text))]


@FAST
@given(TEXTS.map(lambda text: text.replace("\n", "").replace("\r", "")))
def test_any_line(loaded, text):
    assert calls(loaded, "x = 1\n%agent v " + text) == [("agent", "v " + text)]
    if not text.endswith("\\"):
        assert calls(loaded, "%memory v " + text + "\nx = 1") == [("memory", "v " + text)]


@FAST
@given(TEXTS)
def test_any_other_cell(bare, text):
    transform = bare.input_transformer_manager.transform_cell  # without automagic, which knows any magic
    if any(name in text for name in ("%agent", "%memory")):
        return
    try:
        before = transform(text)
    except Exception as error:
        before = type(error)
    extension.load(bare)
    try:
        try:
            after = transform(text)
        except Exception as error:
            after = type(error)
    finally:
        extension.unload(bare)
    assert after == before
