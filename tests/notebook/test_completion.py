"""Completion on the line of a magic, through a real shell's completer."""

import pytest
from IPython.core.completer import provisionalcompleter


@pytest.fixture
def complete(loaded):
    loaded.run_cell(
        "from agent_nb.models.scripted import ScriptedModel\nmine = ScriptedModel([])\ndf_sales = 1\n_x = 2"
    )

    def texts(before, after=""):
        with provisionalcompleter():
            cell = before + after
            return [
                cell[: c.start] + c.text + cell[c.end :] if after else before[: c.start] + c.text
                for c in loaded.Completer.completions(cell, len(before))
            ]

    return texts


def test_flags(complete):
    assert complete("%%agent --mo") == ["%%agent --model"]
    assert set(complete("%%agent --max-")) == {
        f"%%agent --max-{valve}" for valve in ("steps", "tokens", "cost", "seconds")
    }
    assert "%%agent --no-memory" in complete("%%agent ")
    assert "%%agent --new --approve" in complete("%%agent --new --")
    assert "%%agent --new --new" not in complete("%%agent --new --")
    assert complete("%%agent --st") == ["%%agent --step"]


def test_values(complete):
    assert {"%%agent -m offline", "%%agent -m mine"} <= set(complete("%%agent -m "))
    assert complete("%%agent -m off") == ["%%agent -m offline"]
    assert complete("%%agent --model=off") == ["%%agent --model=offline"]
    assert complete("%%agent --model repl") == ["%%agent --model replay:"]
    assert complete("%%agent -m stu") == ["%%agent -m student"]
    assert complete("%%agent --approve n") == ["%%agent --approve never"]
    assert complete("%%agent --plan r") == ["%%agent --plan react"]
    assert complete("%%agent --use df_") == ["%%agent --use df_sales"]
    assert complete("%%agent --use mine,df_") == ["%%agent --use mine,df_sales"]
    assert complete("%%agent --use _") == [] or "_x" not in complete("%%agent --use _")[0]
    assert complete("%%agent --tools list_variables,query") == ["%%agent --tools list_variables,query_sql"]


def test_with_a_body_below(complete):
    assert complete("%%agent --appro", "\nthe goal") == ["%%agent --approve\nthe goal"]


def test_verbs_and_what_follows_them(complete, loaded):
    assert "%agent status" in complete("%agent st")
    assert "%memory search" in complete("%memory ")
    assert complete("%agent limits --max-s") == ["%agent limits --max-steps", "%agent limits --max-seconds"]
    assert complete("%memory expire --") == ["%memory expire --dry-run"]
    assert complete("%memory add --type pre") == ["%memory add --type preference"]
    assert complete("x = 1\n%agent wind") == ["x = 1\n%agent window"]
    loaded.run_cell("%agent new september")
    assert complete("%agent use sep") == ["%agent use september"]
    assert complete("%%agent -s sep") == ["%%agent -s september"]


@pytest.mark.parametrize(
    "before",
    [
        "%%agent\n--mo",
        "%%agent\n%agent st",
        "%%agent\nwhat is %%agent --mo",
        "%%agent the goal --mo",
        "%%agent -- --mo",
        "%%agentx --mo",
        "agent --mo",
        "%time --mo",
        "%%time\n%%agent --mo",
    ],
)
def test_silent_in_the_goal_and_elsewhere(complete, before):
    assert not [text for text in complete(before) if text.endswith(("--model", "status"))]


def test_broken_variables_do_no_harm(complete, loaded):
    loaded.run_cell(
        "class Bad:\n    def __getattr__(self, name):\n        raise RuntimeError(name)\nbad = Bad()"
    )
    assert "%%agent -m offline" in complete("%%agent -m ")


def test_verbs_of_steering(complete, loaded):
    assert complete("%agent help rew") == ["%agent help rewind"]
    assert complete("%agent explain --mo") == ["%agent explain --model"]
    loaded.run_cell("mine = ScriptedModel(['fine'])")
    loaded.run_cell("%%agent -m mine --no-memory -s long\nx")
    assert complete("%agent rewind ") == ["%agent rewind 0"]
    assert complete("%agent fork other ") == ["%agent fork other 0"]
    assert complete("%agent trace lo") == ["%agent trace long"]
