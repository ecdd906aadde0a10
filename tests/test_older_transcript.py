"""A session as the first version of the package wrote it opens, draws, is taken back, goes on.

The file was written by that version's offline model; only the pixels of its chart were made fewer since.
"""

import pathlib
import shutil

import pandas as pd
import pytest

from agent_nb import Limits, Session, doctor, events
from agent_nb.models.validate import validate_messages
from agent_nb.notebook.views.html import run_html
from agent_nb.notebook.views.text import run_text

WRITTEN = pathlib.Path(__file__).parent / "data" / "first_version.jsonl"
NEXT = {"role": "user", "content": "and?"}
UNITS = [120, 90, 75, 60, 130, 85, 70, 66, 118, 40, 72, 71]
MONTHS = ["2024-01"] * 4 + ["2024-02"] * 4 + ["2024-03"] * 4
SALES = pd.DataFrame({"region": ["North", "South", "West", "East"] * 3, "month": MONTHS, "units": UNITS})


@pytest.fixture
def session(own_home):
    (own_home / "sessions").mkdir(parents=True)
    shutil.copy(WRITTEN, own_home / "sessions" / "first version.jsonl")
    assert Session.names() == ["first version"]
    return Session.open("first version", model="offline", memory=None, namespace={"sales": SALES})


def schemas(session):
    return session.toolbox().schemas()


def test_every_line_is_understood(session):
    lines = WRITTEN.read_text("utf-8").splitlines()
    assert len(session.trace) == len(lines)
    assert not [event for event in session.trace if isinstance(event, events.Unknown)]
    assert session.usage.calls == sum(
        event.usage["calls"] for event in session.trace if isinstance(event, events.RunEnded)
    )


def test_its_history_is_one_that_the_api_accepts(session):
    validate_messages([*session.messages, NEXT], [*schemas(session), SAVE])
    asked = [
        m["content"][0]["text"]
        for m in session.messages
        if m["content"][0]["type"] == "text" and m["role"] == "user"
    ]
    assert asked[0] == "Which region sold the most units?"
    assert "各地区三月的销量是多少" in session.summary


SAVE = {"name": "save_memory", "description": "", "input_schema": {"type": "object"}}


def test_it_is_drawn(session):
    page, text = run_html(session.trace), run_text(session.trace)
    for told in ("368", "各地区三月的销量是多少", "list_variables", "2 of 2 steps were used"):
        assert told in page
        assert told in text


def test_its_last_run_goes_on_to_the_end(session):
    result = session.resume(steps=12)
    assert result.done, result.reason
    assert "South" in result.text
    validate_messages([*session.messages, NEXT], [*schemas(session), SAVE])
    again = Session.open("first version", model="offline", memory=None, namespace={"sales": SALES})
    assert again.messages == session.messages


def test_a_next_goal_knows_the_turns_before(session):
    result = session.run("Which region has the lowest total units?")
    assert result.done
    assert "East" in result.text
    file = session._transcript.path.read_bytes()
    assert file.startswith(WRITTEN.read_bytes()), "what was written then stays as it is"


def test_it_is_taken_back_and_forked(session):
    session.rewind(1)
    validate_messages([*session.messages, NEXT], [*schemas(session), SAVE])
    assert session.resume(steps=12).done
    fork = session.fork("beside it", 0)
    assert fork.resume(steps=12).done
    assert len(fork.trace) > len(WRITTEN.read_text("utf-8").splitlines())


def test_the_doctor_reads_it(session):
    found = doctor.examine(doctor.turn_about(session.trace, "largest drop in total units"))
    assert [finding.kind for finding in found] == ["judged_wrong"]
    assert doctor.turn_about(session.trace, "各地区三月的销量")[0].goal == "各地区三月的销量是多少？"


def test_a_valve_of_then_still_holds(session):
    assert session.resume(steps=1).stop_reason == "limit_steps"
    assert session.last_run().limits["steps"] == 1
    assert isinstance(Limits.from_dict(session.last_run().limits), Limits)
