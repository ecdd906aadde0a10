"""Step mode: each moment is exact, safe to show, waits where somebody is there, and stays in the notebook."""

import json

import pytest
from front_end import FrontEnd, custom, idle, question
from html_check import Checked
from hypothesis import given
from hypothesis import strategies as st
from sample_events import sample

from agent_nb import Session, tool
from agent_nb.events import Acted, CallStarted, Observed, Requested
from agent_nb.models.student import Student
from agent_nb.notebook.stepping import ALONE, Stepper
from agent_nb.notebook.studying import reply_of
from agent_nb.notebook.trace import LiveTrace
from agent_nb.notebook.views.moments import MOMENTS_CHARS, Moment, Moments, moments_html, moments_text
from agent_nb.notebook.views.request import request_html
from agent_nb.transcript import Transcript

EVIL = "<img src=x onerror=alert(1)> \x1b[31m </details> “密码”"


@tool
def twice(n: int) -> int:
    """Twice n."""
    return 2 * n


def events(goal="twice 4?"):
    replies = [["Doubling.", {"name": "twice", "input": {"n": 4}}], "It is 8."]
    session = Session(model=Student(replies=replies), tools=[twice], memory=None, name="stepped")
    return list(session.stream(goal))


def moments(told):
    taking = Moments()
    return [moment for moment in map(taking.take, told) if moment]


def test_every_station_has_its_moment_in_order():
    assert [m.station for m in moments(events())] == [
        *("load", "plan", "act", "act", "observe", "judge"),
        *("act", "act", "judge"),
    ]


def test_the_request_is_shown_as_it_was_sent_and_both_windows():
    made = moments(events())
    first, second = (m for m in made if "the request" in m.title)
    seen = Checked(second.html).text
    for kind in ("system", "user", "assistant", "tool result"):
        assert kind in seen
    assert '"role": "assistant"' in seen
    assert '"input_schema"' in seen
    assert "the window at the call before" in seen
    assert "the window at the call before" not in Checked(first.html).text
    assert "before: " in second.text
    assert "[tool result]" in second.text


def test_the_arguments_are_shown_in_both_forms():
    reply = next(m for m in moments(events()) if "the reply" in m.title)
    seen = Checked(reply.html).text
    assert '"input": {\n    "n": 4\n  }' in seen
    assert json.dumps('{"n": 4}') in seen
    assert "it streamed as 1 piece" in seen
    assert json.dumps('{"n": 4}') in reply.text


def test_requests_are_not_written_to_the_transcript():
    told = events()
    assert sum(isinstance(event, Requested) for event in told) == 2
    saved = Session.open("stepped").trace
    assert not [event for event in saved if isinstance(event, Requested)]
    assert Transcript(None).append(Requested(run="r", request={})) is None


@given(
    st.text(),
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    ),
)
def test_no_request_brings_markup_of_its_own(text, value):
    message = {
        "role": text,
        "content": [{"type": text, "text": text, "input": value}, {"type": "text", "text": EVIL}],
    }
    tools = [{"name": text, "description": EVIL, "input_schema": value}]
    Checked(request_html({"system": text, "messages": [message], "tools": tools}))
    told = [Requested(run="r", request={"system": EVIL, "messages": [message], "tools": tools})]
    told += [Acted(run="r", message=message, calls=[]), Observed(run="r", message=message)]
    told += [CallStarted(run="r", window=[{"part": EVIL, "tokens": 3}])]
    page = moments_html(moments(told), EVIL)
    Checked(page)
    assert "<img" not in page
    assert "\x1b" not in moments_text(moments(told))


def test_all_that_can_happen_can_be_a_moment():
    made = moments(sample())
    Checked(moments_html(made))
    assert {m.station for m in made} == {"load", "plan", "act", "observe", "judge", "consolidate"}


def test_large_data_is_shown_in_part_and_said_so():
    big = {"system": "s" * 50_000, "messages": [{"role": "user", "content": "u" * 50_000}] * 40, "tools": []}
    page = request_html(big)
    assert len(page) < 60_000
    assert "of 50,000 characters" in page
    assert "more of these stand in the JSON only" in page
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 9_000}}
    page = request_html({"system": "", "messages": [{"role": "user", "content": [picture]}], "tools": []})
    assert "(9,000 characters)" in page
    many = [Moment("act", "t", "x" * 100_000, "y" * 100_000) for _ in range(20)]
    assert len(moments_html(many)) < MOMENTS_CHARS + 20_000
    assert "left out here" in moments_html(many)
    assert len(moments_text(many)) < 80_000


# -- waiting ----------------------------------------------------------------------------------------------------------


def stepped(monkeypatch, *lines):
    """Which moments were waited at, where these lines are typed; and what the trace tells about it."""
    given, asked, trace = iter(lines), [], LiveTrace()

    def answer(prompt):
        asked.append(trace.moments[-1].station)
        if (line := next(given, None)) is None:
            raise EOFError
        return line

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr("agent_nb.notebook.stepping.can_type", lambda: True)
    step = Stepper(trace)
    for event in events():
        step(event)
    return asked, trace


def test_next_waits_at_each(monkeypatch):
    asked, trace = stepped(monkeypatch, *[""] * 9)
    assert len(asked) == 9 == len(trace.moments)


def test_next_of_this_kind_and_on_to_the_end(monkeypatch):
    asked, trace = stepped(monkeypatch, "", "", "s", "s", "what?", "", "r")
    assert asked == ["load", "plan", "act", "act", "act", "act", "act"]
    assert len(trace.moments) == 9
    assert trace.remark == ""


def test_stop_is_an_interrupt(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        stepped(monkeypatch, "", "q")


def test_where_nobody_answers_it_goes_on_and_says_so(monkeypatch):
    asked, trace = stepped(monkeypatch)
    assert len(asked) == 1
    assert trace.remark == ALONE
    assert ALONE in moments_html(trace.moments, trace.remark)
    assert ALONE in moments_text(trace.moments, trace.remark)


def test_a_reply_from_the_page():
    tools = [
        {"name": "twice", "input_schema": {"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}}
    ]
    calls = [
        {"name": "twice", "raw": None, "fields": {"n": "4", "s": ""}},
        {"name": "twice", "raw": None, "fields": {"n": "four"}},
        {"name": "twice", "raw": "{broken", "fields": {}},
        {"name": "nope", "raw": "{}", "fields": {}},
    ]
    assert reply_of({"text": " Both. ", "calls": calls}, tools) == [
        "Both.",
        {"name": "twice", "input": {"n": 4}},
        {"name": "twice", "input": {"n": "four"}},
        {"name": "twice", "input": "{broken"},
        {"name": "nope", "input": "{}"},
    ]
    assert reply_of({}, tools) == [""]


# -- in a kernel ------------------------------------------------------------------------------------------------------

SETUP = """
%load_ext agent_nb
from agent_nb import tool
from agent_nb.models.student import Student
@tool
def twice(n: int) -> int:
    "Twice n."
    return 2 * n
me = Student(replies=[["Look. <b>", {"name": "twice", "input": {"n": 4}}], "It is 8."] * 5)
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    front = FrontEnd(tmp_path_factory.mktemp("kernel"))
    front.run(SETUP)
    front.until(idle)
    yield front
    front.stop()


def begin(lab, cell):
    lab.run(cell)
    lab.until(lambda kind, content: kind == "display_data")
    lab.say(type="hello")


def asked(lab, after=None):
    """The next question; one that a redrawn page gets again is none."""
    known = after["ask"] if after else ""
    return custom(lab.until(lambda *said: question(*said) and custom(said[1])["ask"]["ask"] != known))["ask"]


@pytest.mark.kernel
def test_the_page_steps_through_and_the_moments_stay(lab):
    begin(lab, "%%agent --step -m me --no-memory --tools twice\ntwice 4?")
    stations, ask = [], None
    for type in ("next", "next", "same", "same", "next", "next", "on"):
        ask = asked(lab, ask)
        assert ask["kind"] == "step"
        stations.append(ask["station"])
        Checked(ask["html"])
        lab.say(type=type, ask="of before")
        lab.say(type=type, ask=ask["ask"])
    lab.until(idle)
    assert stations == ["load", "plan", "act", "act", "act", "act", "judge"]
    (left,) = lab.outputs()
    assert "step by step  9 moments" in " ".join(
        Checked(left["text/html"]).text.replace("\xa0", " ").split(" ")
    )
    assert "── 9 judge: step 2: done" in left["text/plain"]


@pytest.mark.kernel
def test_stop_and_interrupt_end_the_run_cleanly(lab):
    for stop in (lambda ask: lab.say(type="stop", ask=ask["ask"]), lambda _: lab.manager.interrupt_kernel()):
        begin(lab, "%%agent --step -m me --no-memory\ntwice 4?")
        stop(asked(lab))
        lab.until(idle)
        assert lab.reply()["ename"] == "AgentStopped"
        lab.run("print(_agent.stop_reason)")
        lab.until(idle)
        assert {"stream": {"name": "stdout", "text": "interrupted\n"}} in lab.outputs()


@pytest.mark.kernel
def test_headless_it_goes_on_by_itself_and_says_so(lab):
    lab.run("me.calls = 0", allow_stdin=False)
    lab.until(idle)
    lab.run("%%agent --step -m me --no-memory --new\ntwice 4?", allow_stdin=False)
    lab.until(idle)
    (left,) = lab.outputs()
    assert ALONE in left["text/plain"]
    assert ALONE in Checked(left["text/html"]).text


@pytest.mark.kernel
def test_the_student_answers_on_the_page(lab):
    begin(lab, "%%agent -m student --no-memory --new --tools twice\ntwice 4?")
    ask = asked(lab)
    assert ask["kind"] == "student"
    assert [tool["name"] for tool in ask["tools"]] == ["twice"]
    assert ask["tools"][0]["fields"][0]["type"] == "integer"
    lab.say(
        type="reply", ask=ask["ask"], text="", calls=[{"name": "twice", "raw": None, "fields": {"n": "four"}}]
    )
    ask = asked(lab, ask)
    assert "is_error" in ask["html"]
    lab.say(type="reply", ask=ask["ask"], text="I give up.", calls=[])
    lab.until(idle)
    (left,) = lab.outputs()
    assert "I give up." in left["text/plain"]


@pytest.mark.kernel
def test_the_student_is_asked_by_input_where_the_page_is_silent_and_nobody_headless(lab):
    lab.run("%%agent -m student --no-memory --new --tools twice\ntwice 4?")
    assert "/tool" in lab.client.get_stdin_msg(timeout=60)["content"]["prompt"]
    lab.client.input("8")
    lab.client.get_stdin_msg(timeout=60)
    lab.client.input("")
    lab.until(idle)
    assert any("8" in data.get("text/plain", "") for data in lab.outputs())
    lab.run("%%agent -m student --no-memory --new\ntwice 4?", allow_stdin=False)
    lab.until(idle)
    assert "nobody is here to answer as the model" in lab.reply()["evalue"]
