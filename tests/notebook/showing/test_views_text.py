"""The trace as text, whole and line by line."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_events import RUN, sample

from agent_nb.events import Answered, RunStarted, ToolFinished
from agent_nb.notebook.views import Lines, run_text, wording
from agent_nb.notebook.views.story import Call
from agent_nb.notebook.views.text import table_lines, width
from agent_nb.notebook.views.wording import sql_lines


def told(events):
    lines = Lines()
    return [text for event in events if (text := lines.add(event))]


def test_the_text_tells_the_whole_run():
    text = run_text(sample())
    for words in (
        "▶ Which airline's departure delay rose most",
        "rules, not a language model",
        "2 of 41 memories",
        "| SELECT carrier",
        "→ 16 rows · 42 ms · 310 tokens",
        "VX       28.41  35.26  6.85",
        "first 3 of 16 rows · the whole table is _r1",
        "denied by you",
        "ERROR: no column humidity in flights",
        "about 40 % [no evidence] of it",
        "7 of 8 numbers have evidence",
        "1 kept, 2 left out",
        "■ done · steps 5 / 12",
    ):
        assert words in text, words


def test_line_by_line_says_what_the_whole_says():
    whole = [line for line in run_text(sample()).splitlines() if line.strip()]
    lines = [line for text in told(sample()) for line in text.splitlines() if line.strip()]
    said_only_live = {"    deny by widget: no files, please"}
    assert [line for line in lines if line not in said_only_live] == whole


def test_each_event_is_told_as_soon_as_it_comes():
    events = sample()
    at = next(i for i, e in enumerate(events) if isinstance(e, ToolFinished))
    assert "16 rows" not in "\n".join(told(events[:at]))
    assert "16 rows" in "\n".join(told(events[: at + 1]))


@pytest.mark.parametrize("end", range(0, len(sample()) + 1, 5))
def test_every_beginning_can_be_told(end):
    run_text(sample()[:end])


def test_no_escape_sequence_reaches_the_terminal():
    events = [
        dataclasses.replace(e, goal="\x1b[2J\x07goal\x9b") if isinstance(e, RunStarted) else e
        for e in sample()
    ]
    events.append(Answered(run=RUN, text="\x1b]0;title\x07 answer \ud800"))
    text = run_text(events) + "\n".join(told(events))
    assert not any(c != "\n" and (c < " " or "\x7f" <= c <= "\x9f") for c in text)
    text.encode()


def test_chinese_columns_stand_under_each_other():
    seen = {"columns": ["航空公司", "延误"], "rows": [["维珍", 35.2], ["JetBlue", 24]], "total_rows": 2}
    lines = table_lines(Call("t", "query_sql", {}, seen=seen))
    assert [
        width(line[: line.index(x)])
        for line, x in zip(lines[:1] + lines[2:], ("延误", "35.2", "24"), strict=True)
    ] == [10] * 3


def test_marks_stand_right_even_behind_leading_blank_lines():
    rows = [{"text": "40", "span": [8, 10], "sources": []}]
    assert "about 40 [no evidence] of" in run_text(
        [Answered(run=RUN, text="\n\nabout 40 of it", evidence=rows)]
    )


def test_ten_megabytes_stay_small():
    seen = {"id": "t", "ok": True, "content": [{"type": "text", "text": "x" * 10_000_000}]}
    events = [ToolFinished(run=RUN, step=1, id="t", name="read", observation=seen)] * 3
    assert len(run_text([*events, Answered(run=RUN, text="y" * 10_000_000)])) < 100_000


LONG = "SELECT a, 'x FROM (y' AS t, count(*) FROM (SELECT a FROM \"my FROM\" WHERE b > 1) AS q WHERE a IS NOT NULL GROUP BY ALL"


def test_a_long_query_is_named_by_what_it_groups():
    query = (
        "WITH s AS (SELECT {first} AVG(delay) AS d FROM flights WHERE month IN (6, 7) AND year = 2013 {end})"
    )
    query += " SELECT s.*, d - 1 AS change FROM s ORDER BY change DESC LIMIT 10"
    told = wording.query_line(query.format(first="carrier,", end="GROUP BY carrier"))
    assert told == "flights by carrier"
    told = wording.query_line(query.format(first="origin || dest AS route,", end="GROUP BY 1"))
    assert told == "flights by route"
    assert wording.query_line(query.format(first="", end="")) == ""
    assert wording.query_line("SELECT a, sum(b) FROM t GROUP BY a") == ""  # stands there as it is


def test_a_query_in_one_line_is_broken_before_its_clauses():
    shown = sql_lines(LONG)
    assert shown.split() == LONG.split()
    assert [line.strip().split(" ")[0] for line in shown.splitlines()] == [
        "SELECT",
        "FROM",
        "FROM",
        "WHERE",
        "WHERE",
        "GROUP",
    ]
    assert sql_lines("SELECT 1 FROM t") == "SELECT 1 FROM t"
    assert sql_lines(shown) == shown


@given(
    st.lists(
        st.sampled_from(["SELECT", "FROM", "(", ")", "'it''s FROM'", '"FROM"', "a", ",", "ORDER BY", "'"]),
        min_size=30,
    )
)
def test_only_white_space_of_a_query_changes(words):
    query = " ".join(words)
    shown = sql_lines(query)
    assert shown.replace("\n", " ").split() == query.split()


PLAN = [
    {"id": "1", "text": "look <b>at</b> June", "status": "done", "needs": [], "result": "28.4 minutes"},
    {"id": "2", "text": "look at July", "status": "failed", "needs": [], "result": "no such table"},
    {"id": "3", "text": "compare", "status": "running", "needs": ["1", "2"], "expects": "at least 1 row"},
]
LEARNT = "Do not call query_sql with {} again: its result is known."


def planned_run(*more):
    from agent_nb.events import Acted, Planned, Reflected, RunStarted

    message = {"role": "assistant", "content": []}
    start = RunStarted(run="r", goal="goal", message={}, session="s", model="m", planner="hybrid")
    first = Planned(
        run="r", planner="hybrid", subtasks=[n | {"status": "pending"} for n in PLAN], note="hybrid: 3 parts"
    )
    again = Planned(run="r", step=1, planner="hybrid", subtasks=PLAN)
    rule = {"id": "r1", "text": LEARNT, "until": 6}
    told = Reflected(run="r", step=1, level="cognition", trigger="t", text=LEARNT, rule=rule)
    return [start, first, Acted(run="r", step=1, message=message), told, again, *more]


def test_a_plan_is_a_tree_with_what_it_brought_and_what_was_learnt():
    from agent_nb.events import RunEnded
    from agent_nb.notebook.views import plan_html, plan_text, run_html

    text = run_text(planned_run())
    lines = text.splitlines()
    assert "plan   3 subtasks, 1 done  (hybrid: 3 parts)" in lines
    assert any(line.endswith("✓ 1. look <b>at</b> June → 28.4 minutes") for line in lines)
    assert any(
        line.startswith("         ▶ 3. compare (needs 1, 2; expects at least 1 row)") for line in lines
    )
    assert f"  ! reflected (cognition): {LEARNT} (until step 6)" in lines
    html = run_html(planned_run())
    assert "look &lt;b&gt;at&lt;/b&gt; June" in html
    assert "until step 6" in html
    assert html.count("<details open>") >= 1
    ended = planned_run(RunEnded(run="r", step=1, stop_reason="limit_steps"))
    assert "■ 3. compare" in run_text(ended)
    assert LEARNT in plan_text(ended)
    assert "compare" in plan_html(ended)
    assert (plan_html([]), plan_text([])) == ("", "")


def test_a_damaged_plan_is_drawn_as_far_as_it_goes():
    from agent_nb.events import Planned
    from agent_nb.notebook.views import run_html

    rows = [1, {}, {"id": None, "needs": 3, "status": 4, "text": None}, {"needs": [None, {}]}]
    event = Planned(run="r", planner="plan", subtasks=rows)
    assert "plan" in run_text([event])
    assert "plan" in run_html([event])


def test_the_plan_is_told_line_by_line_and_live_as_it_changes():
    from agent_nb.notebook.views import Board, Lines

    lines, board = Lines(), Board()
    told = []
    drawn = []
    for event in planned_run():
        told.append(lines.add(event))
        board.add(event)
        drawn += [op for op in board.take() if op.get("key") in ("plan", "remarks-1")]
    assert sum("3. compare" in part for part in told) == 2
    assert any(LEARNT in part for part in told)
    assert [op["key"] for op in drawn] == ["plan", "remarks-1", "plan"]
    assert "28.4 minutes" in drawn[-1]["html"]


def test_an_edit_of_the_plan_is_told_in_words():
    from agent_nb.notebook.views import wording
    from agent_nb.notebook.views.story import Call, Step

    edits = [{"op": "finish", "id": "1"}, {"op": "add", "text": "look at July"}, 3, {"op": None}]
    call = Call("t", "update_plan", {"edits": edits})
    assert wording.label(Step(1), call, 0) == "finish 1, add look at July,"
