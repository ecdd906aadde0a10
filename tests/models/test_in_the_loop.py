"""The whole way: session, loop, SDK, wire, server; recorded on the way and played back without it."""

import pytest

from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.comparable import comparable
from agent_nb.models.replay import RecordingModel, ReplayModel
from agent_nb.models.scripted_server import Failure, ScriptedServer, Streamed
from agent_nb.session import Session
from agent_nb.tools.tool import tool

THINKING = {"type": "thinking", "thinking": "先看表", "signature": "c2lnbmF0dXJl"}


@tool
def count_flights(month: int) -> int:
    """Count the flights of a month.

    Args:
        month: 1 to 12.
    """
    return 27_004 if month == 1 else 24_951


def call(id, month):
    return {"type": "tool_use", "id": id, "name": "count_flights", "input": {"month": month}}


SCRIPT = [
    {
        "content": [
            THINKING,
            {"type": "text", "text": "I count both."},
            call("toolu_1", 1),
            call("toolu_2", 2),
        ]
    },
    {"content": [{"type": "text", "text": "January had 27,004 flights, February 24,951."}]},
    {"content": [call("toolu_3", 1)]},
    "Again 27,004.",
]


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENT_NB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-123456")


def session(model):
    return Session(model=model, tools=[count_flights], memory=None)


def test_two_turns_over_the_wire_and_their_replay(monkeypatch, tmp_path):
    tape = tmp_path / "tape.jsonl"
    goals = ("How many flights in January and February?", "And January again?")
    with ScriptedServer(SCRIPT) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        live = session(RecordingModel(model, tape))
        first, second = (live.run(goal) for goal in goals)
        model.close()
        assert server.refused == []
    assert (first.stop_reason, second.stop_reason) == ("done", "done")
    assert first.text == "January had 27,004 flights, February 24,951."
    assert server.requests[1]["messages"][1]["content"] == SCRIPT[0]["content"]
    assert first.usage.calls == 2

    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    again = session(ReplayModel(tape))
    assert [again.run(goal).text for goal in goals] == [first.text, second.text]
    assert comparable(again.messages, "", []) == comparable(live.messages, "", [])


def test_a_replay_on_other_data_stops_at_the_first_difference(monkeypatch, tmp_path):
    tape = tmp_path / "tape.jsonl"
    with ScriptedServer(SCRIPT[:2]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        session(RecordingModel(model, tape)).run("How many?")
        model.close()

    @tool
    def count_flights(month: int) -> int:
        """Count the flights of a month.

        Args:
            month: 1 to 12.
        """
        return 26_000

    result = Session(model=ReplayModel(tape), tools=[count_flights], memory=None).run("How many?")
    assert result.stop_reason == "error"
    words = str(result.task.reason)
    assert "call 2: tool_result of count_flights" in words
    assert "recorded 27004, now 26000" in words


def test_faults_of_the_wire_are_mended_by_the_loop(monkeypatch):
    broken = Streamed({"content": [call("toolu_1", 1)]}, cut_after=700)
    script = [Failure(529, "busy", retry_after_s=0.01), broken, *SCRIPT[2:]]
    with ScriptedServer(script) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        result = session(model).run("January?")
        model.close()
    assert result.text == "Again 27,004."
    assert result.usage.calls == 2
    assert server.refused == []
    assert server.requests[0]["messages"] == server.requests[2]["messages"]


def test_a_fault_that_stays_ends_the_run_with_one_line(monkeypatch):
    with ScriptedServer([Failure(401, "invalid x-api-key k-123456")]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        result = session(model).run("January?")
        model.close()
    assert result.stop_reason == "error"
    assert "ANTHROPIC_API_KEY" in result.task.reason
    assert "k-123456" not in result.task.reason
    assert len(server.requests) == 1
