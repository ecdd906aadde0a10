"""A turn is distilled by the model after its answer, in the background; what came of it is told at the next run."""

import json
import threading

import pytest

from agent_nb import Memory, Session
from agent_nb.events import Answered, Consolidated, Consulted, Noticed, RunEnded
from agent_nb.models.scripted import ScriptedModel
from agent_nb.notebook.views.story import runs

ITEM = {
    "text": "Orders close at 17:00", "type": "fact", "subject": "orders", "attribute": "close", "value": "17:00",
    "stability": "stable", "confidence": 0.9, "evidence_span": "orders close at 17:00",
}  # fmt: skip
GOAL = "note: orders close at 17:00. Thanks"


class Distilling(ScriptedModel):
    can_distil = True


def run(session, goal=GOAL):
    events = list(session.stream(goal))
    if session._distiller:
        session._distiller.join(20)
    return events


def noticed(events):
    return " ".join(event.text for event in events if isinstance(event, Noticed))


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "m.db", embedder=None) as opened:
        yield opened


def session(memory, *replies, cls=Distilling):
    return Session(model=cls(replies), tools=[], memory=memory)


def test_the_answer_comes_first_and_the_next_run_tells(memory):
    talk = session(memory, "Noted.", json.dumps([ITEM]), "Hello.", "[]")
    events = run(talk)
    (event,) = [e for e in events if isinstance(e, Consolidated)]
    assert event.note.startswith("queued")
    assert [type(e) for e in events[-3:]] == [Answered, Consolidated, RunEnded]
    assert memory.queue() == []
    assert "1 left out" in noticed(run(talk, "hello"))


def test_what_it_takes_is_counted_by_the_session_and_by_no_run(memory, own_home):
    usage = {"input_tokens": 100, "output_tokens": 20}
    said = [
        {"content": [{"type": "text", "text": text}], "usage": usage}
        for text in ("Noted.", json.dumps([ITEM]), "Hi.", "[]")
    ]
    talk = session(memory, *said)
    run(talk)
    assert (talk.result.usage.calls, talk.usage.calls, talk.usage.input) == (1, 2, 200)
    events = run(talk, "hello")
    (beside,) = [event for event in events if isinstance(event, Consulted)]
    assert beside.usage["input"] == 100
    assert (talk.result.usage.calls, talk.usage.calls, talk.usage.output) == (1, 4, 80)
    (told,) = runs(events)
    assert told.tokens == 120
    again = Session.open(talk.name, model="offline", memory=None)
    assert again.usage.calls == 3  # what was spent after the last run is told with the next one


def test_a_model_that_hangs_delays_nothing(memory):
    goes_on = threading.Event()

    def hangs(request):
        goes_on.wait(20)
        return "[]"

    talk = session(memory, "Noted.", hangs)
    events = list(talk.stream(GOAL))
    assert isinstance(events[-1], RunEnded)
    assert len(memory.queue()) == 1
    goes_on.set()
    talk._distiller.join(20)
    assert memory.queue() == []


def test_a_failure_is_told_and_the_turn_is_kept(memory):
    talk = session(memory, "Noted.", ConnectionError("the server is gone"), "Hello.", "[]")
    run(talk)
    assert "the server is gone" in noticed(run(talk, "hello"))
    assert [row["goal"] for row in memory.queue()] == [GOAL]


@pytest.mark.parametrize("how", ["a model that cannot", "the setting", "no memory"])
def test_without_being_wanted_the_model_is_not_called(memory, own_home, how):
    cls = ScriptedModel if how == "a model that cannot" else Distilling
    if how == "the setting":
        own_home.mkdir(exist_ok=True)
        (own_home / "config.toml").write_text('distil = "rules"\n')
    talk = session(None if how == "no memory" else memory, "Noted.", cls=cls)
    run(talk)
    assert len(talk.model.requests) == 1
    assert memory.queue() == []


def test_an_open_question_is_put_at_the_next_turn_and_answered_by_the_next_words(memory):
    memory.add("the refund window is 14 days")
    new = memory.add("the refund window is 30 days for members")
    talk = session(memory, "Hello.", "Good.", "Fine.", cls=ScriptedModel)
    assert new.text in noticed(run(talk, "hello"))
    assert "active" in noticed(run(talk, "keep the new one"))
    assert [record.id for record in memory.search()] == [new.id]
    assert noticed(run(talk, "hello again")) == ""
