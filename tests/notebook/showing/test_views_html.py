"""The trace as HTML: everything shown, nothing that runs, bounded."""

import dataclasses
import json
import re

import pandas as pd
import pytest
from html_check import Checked
from hypothesis import given
from hypothesis import strategies as st
from sample_events import ANSWER, RUN, WINDOW, gates, hits, observation, png, sample

from agent_nb.events import (
    Acted,
    Answered,
    ApprovalAsked,
    CallStarted,
    Consolidated,
    Event,
    Judged,
    Loaded,
    Noticed,
    Planned,
    RunEnded,
    RunStarted,
    ToolFinished,
    ToolStarted,
    Unknown,
    from_dict,
)
from agent_nb.notebook.views import recall_html, run_html, run_text, wording
from agent_nb.notebook.views.story import Call
from agent_nb.notebook.views.style import BAR, TONES

MEGABYTE = 1_000_000


def only(cls, events=None):
    return next(e for e in events or sample() if isinstance(e, cls))


def changed(cls, **fields):
    return [dataclasses.replace(e, **fields) if isinstance(e, cls) else e for e in sample()]


def test_a_whole_run_shows_what_it_did():
    page = Checked(run_html(sample()))
    for words in (
        "Which airline's departure delay rose most",
        "done",
        "rules, not a language model",
        "flights",
        "5 / 12",
        "1.6k / 100k",
        "2.8 s",
        "2 of 41 memories given to the model",
        "38 candidates → 9 close enough → 2 fit",
        "cancelled flights left out",
        "query_sql",
        "16 rows",
        "42 ms",
        "310 tokens",
        "FILTER (month = 6)",
        "28.41",
        "first 3 of 16 rows",
        "_r1",
        "denied by you: “no files, please”",
        "no column humidity in flights",
        "overloaded; again in 0.5 s",
        "asked again",
        "window 3,841 tokens",
        "2 earlier turns",
        "7 of 8 numbers have evidence",
        "VX rose most, +6.85 min",
        "transient",
    ):
        assert words in page.text, words
    assert page.tags.count("img") == 1
    assert "details" in page.tags


def test_only_the_number_without_evidence_is_marked_at_its_place():
    page = run_html(sample())
    assert Checked(page).text.count("no\xa0evidence") == 1
    assert re.search(r"40 %<span[^>]*>&#8239;no&nbsp;evidence</span> of it", page)
    assert any("35.26 − 28.41" in title for title in Checked(page).titles)


def answered(text, **sources):
    """The page of an answer whose numbers have these sources, by their text."""
    rows = []
    for found in re.finditer(r"\d+\.\d+", text):
        named = sources.get("n" + found.group().replace(".", "_"), sources["rest"])
        rows.append({"text": found.group(), "span": list(found.span()), "value": 1.0, "sources": named})
    return Checked(run_html([only(RunStarted), Answered(run=RUN, text=text, evidence=rows)]))


def test_a_line_with_one_source_has_one_mark_and_an_answer_with_one_has_none():
    text = "From 1.5 to 2.5, then 3.5.\n\nLater 4.5 and 5.5."
    page = answered(text, n4_5=["_r2"], n5_5=["_r2"], rest=["_r1"])
    assert "2.5, then 3.5①." in page.text
    assert "4.5 and 5.5②." in page.text
    assert "① _r1 · ② _r2" in page.text.replace("\xa0", " ").replace("  ", " ")
    page = answered(text, rest=["_r1"])
    assert "3.5." in page.text
    assert "all 5 numbers have evidence" in page.text
    assert "①" not in page.text
    page = answered(text, n2_5=[], rest=["_r1"])
    assert page.text.count("no\xa0evidence") == 1


def test_the_source_that_vouches_for_most_is_named():
    page = answered("1.5, 2.5 and 3.5", n1_5=["an earlier turn", "_r8"], n2_5=["m1", "_r8"], rest=["_r8"])
    assert "_r8" in page.text
    assert "earlier turn" not in page.text


def test_a_date_that_was_seen_does_not_part_a_line():
    text = "From 1.5 in 2013-06 to 2.5."
    rows = [
        {"text": t, "span": [text.index(t), text.index(t) + len(t)], "value": v, "sources": [s]}
        for t, v, s in (("1.5", 1.5, "_r1"), ("2013-06", None, "_r2"), ("2.5", 2.5, "_r1"))
    ]
    page = Checked(run_html([only(RunStarted), Answered(run=RUN, text=text, evidence=rows)]))
    assert "From 1.5 in 2013-06 to 2.5." in page.text
    assert "_r1" in page.text
    assert "_r2" not in page.text


def test_what_costs_nothing_is_no_valve():
    def told(cost, limit=None):
        events = changed(RunStarted, limits={"steps": 12, "cost": limit})
        events = [dataclasses.replace(e, cost=cost) if isinstance(e, Acted) else e for e in events]
        events = [
            dataclasses.replace(e, usage={"cost": cost}) if isinstance(e, RunEnded) else e for e in events
        ]
        return "cost" in Checked(run_html(events)).text, "cost" in run_text(events).splitlines()[-1]

    assert told(0.0) == (False, False)
    assert told(0.25) == (True, True)
    assert told(0.0, limit=1.0) == (True, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [({"value": None}, "ok"), ({"stdout": "two 2\n"}, "two 2"), ({"value": 7}, "7"), ({"value": 0}, "0")],
)
def test_what_a_call_brought_is_said_for_people(body, said):
    seen = {"ok": True, "content": [{"type": "text", "text": json.dumps({"ok": True} | body)}]}
    assert wording.found(Call("a", "run_python", {}, state="ok", seen=seen)) == said


def test_a_model_that_was_asked_for_needs_no_reason():
    assert (
        "("
        not in Checked(run_html(changed(RunStarted, model_reason="m was asked for"))).text.split("steps")[0]
    )
    assert "(no key)" in Checked(run_html(changed(RunStarted, model_reason="no key"))).text


def test_a_run_that_was_stopped_early_did_not_judge():
    page = run_html([*sample()[:4], RunEnded(run=RUN, stop_reason="interrupted", done=False)])
    assert re.search(r"opacity:\.6\" title=\"judge\"", page)
    assert "%agent resume goes on" in Checked(page).text


def test_no_call_waits_in_a_run_that_is_over():
    at = next(i for i, e in enumerate(sample()) if isinstance(e, ApprovalAsked))
    events = [*sample()[: at + 1], RunEnded(run=RUN, stop_reason="interrupted", done=False)]
    for page in (Checked(run_html(events)).text, run_text(events)):
        assert "waits" not in page
        assert "stopped before it ended" in page


def test_pictures_are_of_moderate_height():
    assert re.search(r'<img [^>]*style="[^"]*max-height:4\d\dpx', run_html(sample()))


def test_marks_do_not_break_markdown():
    text = "**35.26** and `35.26`\n\n| a |\n| --- |\n| 35.26 |"
    rows = [
        {
            "text": "35.26",
            "span": [text.index("35", at), text.index("35", at) + 5],
            "value": 35.26,
            "sources": [source],
        }
        for at, source in ((0, "_r1"), (20, "_r2"))
    ]
    page = Checked(run_html([only(RunStarted), Answered(run=RUN, text=text, evidence=rows)]))
    assert {"strong", "code", "table"} <= set(page.tags)
    assert page.text.count("①") == page.text.count("②") == 2  # at a number and in the legend


def test_a_run_read_back_from_its_transcript_looks_the_same():
    events = [e for e in sample() if e.saved]
    assert run_html(from_dict(e.to_dict()) for e in events) == run_html(sample())


@pytest.mark.parametrize("end", range(0, len(sample()) + 1, 3))
def test_every_beginning_of_a_run_can_be_drawn(end):
    Checked(run_html(sample()[:end]))


def test_a_session_of_several_runs_shows_each():
    text = Checked(run_html(sample() + sample(goal="second goal"))).text
    assert "second goal" in text
    assert "Which airline" in text


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\x00\x1b[31m\ud800\ue0000\ue001"


def poisoned(value):
    """The value with every text in it replaced by something evil, keys of tables too."""
    if isinstance(value, str):
        return EVIL
    if isinstance(value, list):
        return [poisoned(v) for v in value]
    if isinstance(value, dict):
        keep = {"type", "mime", "span", "kind", "verdict"}
        return {k: v if k in keep else poisoned(v) for k, v in value.items()} | (
            {EVIL: EVIL} if "code" in value or "query" in value else {}
        )
    return value


@pytest.mark.parametrize("i", range(len(sample())))
def test_no_field_of_any_event_reaches_the_page_unescaped(i):
    events = sample()
    event = events[i]
    keep = {"run", "step", "at", "id", "verdict", "kind"}
    fields = {f.name: getattr(event, f.name) for f in dataclasses.fields(event) if f.name not in keep}
    events[i] = dataclasses.replace(event, **{name: poisoned(value) for name, value in fields.items()})
    page = run_html(events)
    Checked(page)
    page.encode("utf-8")


def test_evil_everywhere_at_once():
    page = Checked(
        run_html(
            [
                only(RunStarted),
                *(
                    dataclasses.replace(e, **poisoned({"text": ""}))
                    for e in sample()
                    if isinstance(e, (Noticed, Answered))
                ),
            ]
        )
    )
    assert "<script>alert(1)</script>" in page.text


values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 10**6) | st.floats(0, 1e6) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["ok", "text", "error", "value", "rows", "variables", "chart", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(values, st.booleans())
def test_any_tool_result_can_be_drawn(value, ok):
    import json

    text = json.dumps(value)
    seen = observation("t", "tool", text, ok=ok)
    events = [
        ToolStarted(run=RUN, step=1, id="t", name="tool", input={}),
        ToolFinished(run=RUN, step=1, id="t", name="tool", observation=seen),
    ]
    Checked(run_html(events))


# -- bounds ------------------------------------------------------------------------------------------------


def call(step, text="", **more):
    id = f"t{step}"
    seen = observation(id, "query_sql", text or '{"ok":true,"value":1}', **more)
    given_input = {"query": more.get("sql", "SELECT 1")}
    return [
        Acted(
            run=RUN,
            step=step,
            message={"role": "assistant", "content": [{"type": "text", "text": "Look."}]},
            usage={"input_tokens": 5},
        ),
        ToolStarted(run=RUN, step=step, id=id, name="query_sql", input=given_input),
        ToolFinished(run=RUN, step=step, id=id, name="query_sql", observation=seen | {"input": given_input}),
    ]


def test_ten_megabytes_of_observation_stay_small_and_the_cut_is_told():
    page = run_html([only(RunStarted), *call(1, "x" * 10 * MEGABYTE)])
    assert len(page) < 100_000
    assert "of 10,000,000 characters" in page


def test_a_wide_and_long_table_is_cut_and_the_cut_is_told():
    columns = [f"c{i}" for i in range(2_000)]
    rows = [[f"{'v' * 5_000}"] * 2_000] * 50
    page = run_html(
        [only(RunStarted), *call(1, columns=columns, rows=rows, total_rows=10**6, value_name="_r9")]
    )
    assert len(page) < 100_000
    text = Checked(page).text
    assert "first 10 of 1,000,000 rows · first 12 of 2,000 columns · the whole table is _r9" in text


@pytest.mark.parametrize("steps", [200, 20_000])
def test_long_runs_stay_under_a_megabyte_and_a_half(steps):
    rows = [["x" * 150] * 12] * 10
    events = [only(RunStarted)]
    for step in range(1, steps + 1):
        events += call(step, columns=[f"c{i}" for i in range(12)], rows=rows, total_rows=10)
    page = run_html([*events, *sample()[-4:]])
    assert len(page.encode()) < 1.5 * MEGABYTE
    text = Checked(page).text
    assert f"{steps} query_sql" in text
    assert "1 query_sql" in text or "earlier steps are in the transcript" in text


def test_pictures_share_a_budget_and_what_is_left_out_is_told():
    picture = {"mime": "image/png", "data": "A" * 400_000, "name": "big"}
    page = run_html([only(RunStarted), *call(1, artifacts=[picture] * 4)])
    assert len(page) < 1.5 * MEGABYTE
    assert Checked(page).tags.count("img") == 1
    assert "3 pictures too large for the cell" in page


def test_a_picture_that_is_no_base64_or_no_png_is_not_shown():
    bad = [
        {"mime": "image/png", "data": '" onerror="x', "name": "n"},
        {"mime": "image/svg+xml", "data": png(), "name": "n"},
    ]
    assert "img" not in Checked(run_html(call(1, artifacts=bad))).tags


def test_a_long_answer_goal_and_memory_are_cut():
    long = "word " * MEGABYTE
    events = changed(RunStarted, goal=long)
    events += [
        Answered(run=RUN, text=long),
        Consolidated(run=RUN, written=[{"text": long, "type": "fact"}] * 99),
    ]
    assert len(run_html(events)) < 400_000


# -- looks ---------------------------------------------------------------------------------------------------


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", TONES.values())
@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_text_colors_read_on_light_and_dark(color, ground):
    assert contrast(color, ground) >= 3.9


@pytest.mark.parametrize("color", BAR)
@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_bar_colors_are_seen_on_light_and_dark(color, ground):
    assert contrast(color, ground) >= 2.7


def test_right_to_left_text_and_chinese_find_their_direction():
    page = run_html(changed(RunStarted, goal="أي شركة تأخرت أكثر؟"))
    assert 'dir="auto">أي شركة' in page
    assert "哪家航空公司" in run_html(changed(RunStarted, goal="哪家航空公司的延误最多？"))


@pytest.mark.parametrize(
    ("stop_reason", "words"),
    [
        ("limit_steps", "no steps left"),
        ("interrupted", "stopped by you"),
        ("error", "failed"),
        ("refused", "refused"),
        ("needs_input", "asks you"),
        ("new_kind", "new_kind"),
    ],
)
def test_every_ending_says_why(stop_reason, words):
    text = Checked(
        run_html(changed(RunEnded, stop_reason=stop_reason, done=False, reason="because of it"))
    ).text
    assert words in text
    assert "because of it" in text


def test_a_partial_answer_is_called_so():
    assert "partial answer" in run_html(changed(Answered, partial=True))


def test_criteria_and_plan_are_shown():
    rows = [
        {"text": "names a route", "met": True, "reason": "found"},
        {"text": "short", "met": False, "reason": "too long"},
    ]
    events = [
        only(RunStarted),
        Planned(run=RUN, planner="react", criteria=rows),
        Judged(run=RUN, verdict="stop", criteria=rows),
    ]
    text = Checked(run_html(events)).text
    assert "✓ names a route found" in text
    assert "✗ short too long" in text
    assert "2 criteria" in text


def test_a_run_without_memory_says_so():
    assert "this run has no memory" in run_html(
        [only(RunStarted), Loaded(run=RUN, query="q", note="this run has no memory")]
    )


def test_events_of_a_newer_version_do_no_harm():
    Checked(run_html([*sample(), Unknown(run=RUN, name="Dreamt", fields={"x": 1}), Event(run=RUN)]))


def test_recall_on_its_own():
    page = Checked(
        recall_html(
            {"query": "how are delays <defined>?", "hits": hits(), "gates": gates(), "tokens": 61, "ms": 1.1}
        )
    )
    assert "“how are delays <defined>?”" in page.text
    assert "2 candidates \xa041 → 38" in page.text
    assert "29 under .35" in page.text
    assert "Nothing in memory is close enough." in recall_html({"query": "x", "hits": [], "gates": []})


def test_the_answer_is_not_altered_but_for_the_marks():
    text = Checked(run_html(changed(Answered, evidence=[]))).text
    for line in ANSWER.splitlines():
        words = re.sub(r"[*`|]|---:?|^- ", "", line).split()
        assert all(word in text for word in words)


def test_what_the_tool_itself_has_cut_is_told_by_its_whole_size():
    from agent_nb.tools.builtin import builtin_tools
    from agent_nb.tools.tool import Toolbox

    space = {"wide": pd.DataFrame({f"c{i}": range(3) for i in range(1_000)}), "big": "x" * 10_000_000}
    box = Toolbox(builtin_tools(space), namespace=space)
    calls = [("query_sql", {"query": "SELECT * FROM wide"}), ("run_python", {"code": "print(big)"})]
    told = [
        ToolFinished(run=RUN, step=1, id=n, name=n, observation=vars(box.run(n, n, given)))
        for n, given in calls
    ]
    for draw in (run_html, run_text):
        page = draw(told)
        assert len(page) < 60_000
        assert re.search(r"first \d+ of 1,000 columns", page)
    assert "first 4,000 of 10,000,001 characters" in run_html(told)


def test_the_window_of_the_last_call_stands_in_the_head():
    page = Checked(run_html(sample()))
    assert page.text.count(f"window {sum(part['tokens'] for part in WINDOW):,} tokens") >= 2
    html = run_html([CallStarted(run=RUN, step=1, window=[{"part": "<b>", "tokens": 3}], left_out=["<i>"])])
    assert Checked(html).text.count("<i>") == 1
    assert "1 thing left out" in html
    for odd in ([{}], [{"part": None, "tokens": "x"}], [{"part": "a", "tokens": -1}]):
        Checked(run_html([CallStarted(run=RUN, step=1, window=odd)]))
