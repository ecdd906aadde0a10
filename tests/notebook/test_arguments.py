"""Flags: read up to the first word that is none, checked, and wrong in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.errors import SettingError, one_line
from agent_nb.notebook import arguments
from agent_nb.notebook.arguments import ADD, RUN, VALVES, read


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("-s september", "session", "september"),
        ("--session september", "session", "september"),
        ("--session=september", "session", "september"),
        ("--session 'two words'", "session", "two words"),
        ('--session="two words"', "session", "two words"),
        ('--session "it\'s"', "session", "it's"),
        ("--session 九月", "session", "九月"),
        ("--new", "new", True),
        ("-m offline", "model", "offline"),
        ("-m 'replay:a file.jsonl'", "model", "replay:a file.jsonl"),
        ("-p react", "plan", "react"),
        ("--max-steps 7", "max_steps", 7),
        ("--max-steps 0", "max_steps", 0),
        ("--max-tokens 60_000", "max_tokens", 60_000),
        ("--max-tokens 60,000", "max_tokens", 60_000),
        ("--max-cost 0.5", "max_cost", 0.5),
        ("--max-cost $0.5", "max_cost", 0.5),
        ("--max-seconds 1e2", "max_seconds", 100.0),
        ("--tools a,b", "tools", ("a", "b")),
        ("--tools a, b", "tools", ("a", "b")),
        ("--tools 'a, b,a'", "tools", ("a", "b")),
        ("--use df，kpi", "use", ("df", "kpi")),
        ("--no-tools", "no_tools", True),
        ("--approve never", "approve", "never"),
        ("--user ana", "user", "ana"),
        ("--no-memory", "no_memory", True),
        ("-o out", "out", "out"),
        (r"--record C:\new\t.jsonl", "record", r"C:\new\t.jsonl"),
        ("--keep-going", "keep_going", True),
        ("--help", "help", True),
        ("-h", "help", True),
    ],
)
def test_a_flag(line, field, value):
    flags, rest = read(RUN, line)
    assert getattr(flags, field) == value
    assert rest == ""
    flags, rest = read(RUN, f"  {line}   the goal -- it 'is  this? --new ")
    assert getattr(flags, field) == value
    assert rest == "the goal -- it 'is  this? --new "


@pytest.mark.parametrize(
    ("line", "goal"),
    [
        ("", ""),
        ("   ", ""),
        ("what's up?", "what's up?"),
        ("--new what's up?", "what's up?"),
        ("- a list item", "- a list item"),
        ("-5 degrees", "-5 degrees"),
        ("--", ""),
        ("-- --new is a goal", "--new is a goal"),
        ("--new -- -m is a goal", "-m is a goal"),
        ("--new --  two spaces", " two spaces"),
        ("—dash", "—dash"),
        ("--- a rule", "--- a rule"),
        ('"quoted" goal', '"quoted" goal'),
        ("a --new", "a --new"),
    ],
)
def test_where_the_goal_begins(line, goal):
    assert read(RUN, line)[1] == goal


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--modle offline", ["--modle", "--model"]),
        ("--max-step 3", ["--max-step", "--max-steps"]),
        ("-x", ["-x", "--help"]),
        ("--bogus=1", ["--bogus"]),
        ("-moffline", ["-moffline"]),
        ("--max-steps", ["--max-steps", "value"]),
        ("--max-steps -- x", ["--max-steps", "value"]),
        ("--session --new x", ["--session", "value", "--new"]),
        ("--max-steps -1", ["--max-steps", "-1"]),
        ("--max-steps 1.5", ["--max-steps", "1.5"]),
        ("--max-steps many", ["--max-steps", "many"]),
        ("--max-cost nan", ["--max-cost", "nan"]),
        ("--max-cost inf", ["--max-cost", "inf"]),
        ("--max-cost -0.1", ["--max-cost", "-0.1"]),
        ("--max-seconds 1m", ["--max-seconds", "1m"]),
        ("--new=1", ["--new", "no value"]),
        ("--tools ,", ["--tools"]),
        ("--tools ''", ["--tools"]),
        ("--session ''", ["--session"]),
        ("--session ' '", ["--session"]),
        ("--session 'open", ["--session", "quote"]),
        ("--approve maybe", ["--approve", "maybe", "ask", "never"]),
        ("--plan vibes", ["--plan", "vibes", "react"]),
        ("--out 1x", ["--out", "1x"]),
        ("--out class", ["--out", "class"]),
    ],
)
def test_a_wrong_flag_is_one_line(line, words):
    with pytest.raises(SettingError) as raised:
        read(RUN, line)
    told = str(raised.value)
    assert "\n" not in told
    assert all(word in told for word in words), told
    assert raised.value._render_traceback_() == [one_line(raised.value)]


def test_other_sets_of_flags():
    assert read(VALVES, "--max-steps 3 --max-cost 1")[0].max_steps == 3
    with pytest.raises(SettingError, match="no flag --model"):
        read(VALVES, "--model offline")
    assert read(ADD, "--type preference -- - answer in Chinese")[1] == "- answer in Chinese"
    with pytest.raises(SettingError, match="--type"):
        read(ADD, "--type nonsense x")


@given(st.text(max_size=80))
def test_any_goal_after_the_dashes(goal):
    assert read(RUN, f"-m offline --max-steps 3 -- {goal}")[1] == goal


@given(st.text(st.characters(blacklist_characters="-"), min_size=1, max_size=80))
def test_any_goal_after_a_flag(goal):
    _, rest = read(RUN, f"--new {goal}")
    assert rest == goal.lstrip()


@given(st.text(alphabet="-mns= '\"\\,x1", max_size=30))
def test_any_line_is_read_or_refused_in_one_line(line):
    told = ""
    try:
        rest = read(RUN, line)[1]
    except SettingError as error:
        told, rest = str(error), ""
    assert "\n" not in told
    assert line.endswith(rest)


def test_help_names_every_flag_that_works():
    told = RUN.format_help()
    for flag in arguments.options(RUN):
        assert flag in told
    assert "examples" in told
