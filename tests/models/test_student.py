"""The learner as the model: what is written is what the agent gets, mistakes included."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Session, tool
from agent_nb.errors import ModelError
from agent_nb.limits import Limits
from agent_nb.models import student
from agent_nb.models.replay import RecordingModel, ReplayModel
from agent_nb.models.student import Student


@tool
def twice(n: int, note: str = "") -> int:
    """Twice n."""
    return 2 * n


def run(*replies, **settings):
    model = Student(replies=replies)
    return Session(model=model, tools=[twice], memory=None, **settings).run("twice 4?")


def results(result):
    blocks = [b for m in result.task.messages for b in m["content"] if b["type"] == "tool_result"]
    return [(bool(b.get("is_error")), b["content"][0]["text"]) for b in blocks]


def test_a_text_is_the_answer():
    result = run("8")
    assert (result.text, result.done) == ("8", True)
    assert result.usage.cost == 0.0


def test_calls_and_text_in_one_reply():
    result = run(
        ["Both.", {"name": "twice", "input": {"n": 4}}, {"name": "twice", "input": {"n": 5}}], "8 and 10"
    )
    assert [json.loads(text)["value"] for _, text in results(result)] == [8, 10]
    ids = [b["id"] for m in result.task.messages for b in m["content"] if b["type"] == "tool_use"]
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"name": "thrice", "input": {}}, "there is no tool 'thrice'"),
        ({"name": "twice", "input": {}}, "'n' is missing"),
        ({"name": "twice", "input": {"n": "four"}}, r"""'n' is \"four\"; expected a whole number"""),
        ({"name": "twice", "input": {"n": 4, "m": 1}}, "m"),
        ({"name": "twice"}, "'n' is missing"),
    ],
)
def test_a_mistake_comes_back_as_a_models_would(call, words):
    ((failed, text),) = results(run(call, "sorry"))
    assert failed
    assert words in text


@pytest.mark.parametrize("raw", ["{n: 4}", "[4]", '{"n": 4', "four"])
def test_broken_json_makes_the_request_come_again(raw):
    result = run({"name": "twice", "input": raw}, {"name": "twice", "input": '{"n": 4}'}, "8")
    assert result.done
    assert [e.error for e in result.trace if type(e).__name__ == "CallFailed"]
    ((failed, text),) = results(result)
    assert (failed, json.loads(text)["value"]) == (False, 8)


def test_who_is_asked_again_is_told_why():
    asked = []

    def ask(request):
        asked.append(request.get("problem", ""))
        return {"name": "twice", "input": "{broken"} if len(asked) == 1 else "8"

    assert Session(model=Student(ask=ask), tools=[twice], memory=None).run("twice 4?").done
    assert asked[0] == ""
    assert "not valid JSON" in asked[1]


def test_a_list_that_is_too_short_says_so():
    result = run({"name": "twice", "input": {"n": 4}})
    assert result.stop_reason == "error"
    assert "1 replies of the student are used up" in result.reason


def test_what_is_no_reply_says_so():
    assert "a reply is text, a call" in run(5).reason


def test_nobody_at_the_terminal_is_told_at_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("hello\n"))
    result = Session(model="student", tools=[], memory=None).run("hi")
    assert "Student(replies=[" in result.reason
    assert "\n" not in result.reason


def test_thinking_is_not_charged_to_the_clock():
    def slowly(request):
        monotonic[0] += 100.0
        return "8"

    monotonic = [0.0]
    model = Student(ask=slowly)
    session = Session(model=model, tools=[], memory=None, limits=Limits(seconds=30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent_nb.bench.time.monotonic", lambda: monotonic[0])
        assert session.run("twice 4?").done


def test_nor_is_what_the_taker_of_the_events_needs(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("agent_nb.bench.time.monotonic", lambda: clock[0])
    session = Session(
        model=Student(replies=[{"name": "twice", "input": {"n": 4}}, "8"]),
        tools=[twice],
        memory=None,
        limits=Limits(seconds=30),
    )
    for event in session.stream("twice 4?"):
        clock[0] += 100.0
        if type(event).__name__ == "Acted":
            assert event.ms < 60_000
    assert session.result.done


def test_a_students_replies_are_recorded_and_replayed(tmp_path):
    path = tmp_path / "me.jsonl"
    recorder = RecordingModel(Student(replies=[{"name": "twice", "input": {"n": 4}}, "8"]), path)
    assert recorder.is_person
    assert Session(model=recorder, tools=[twice], memory=None).run("twice 4?").done
    assert Session(model=ReplayModel(path), tools=[twice], memory=None).run("twice 4?").text == "8"


# -- forms ------------------------------------------------------------------------------------------------------------


def test_the_fields_of_a_form():
    schema = {
        "properties": {
            "n": {"type": "integer", "description": "how many"},
            "how": {"enum": ["up", "down"], "default": "up"},
            "many": {"type": "array", "items": {"type": "string"}},
            "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        },
        "required": ["n"],
    }
    n, how, many, maybe = student.fields({"name": "x", "input_schema": schema})
    assert (n["type"], n["required"], n["description"]) == ("integer", True, "how many")
    assert (how["type"], how["choices"], how["default"]) == ("one of these", ["up", "down"], '"up"')
    assert (many["type"], maybe["type"]) == ("array of string", "number or null")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "4", "4"),
        ("integer", "4", 4),
        ("integer", "four", "four"),
        ("boolean", "true", True),
        ("array of string", '["a"]', ["a"]),
        ("number or null", "null", None),
        ("string or null", "null", "null"),
        ("object", "{broken", "{broken"),
    ],
)
def test_what_is_typed_into_a_field(kind, text, value):
    assert student.typed(kind, text) == value


@given(st.text(), st.text())
def test_whatever_is_typed_is_json(kind, text):
    json.dumps(student.typed(kind, text))


def typing(monkeypatch, *lines):
    given = iter(lines)

    def answer(prompt):
        line = next(given, None)
        if line is None:
            raise EOFError
        return line

    monkeypatch.setattr("builtins.input", answer)


REQUEST = {
    "system": "be kind",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "\x1b[31m 密码: hunter2hunter2"}]}],
    "tools": [
        {
            "name": "twice",
            "description": "Twice n.",
            "input_schema": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "note": {"type": "string"}},
                "required": ["n"],
            },
        }
    ],
    "max_tokens": 5,
}


def test_a_reply_by_prompts(monkeypatch, capsys):
    typing(monkeypatch, "I double it.", "/twice", "4", "", '/twice {"n": 5}', "/other", "")
    parts = student.ask_by_input(REQUEST)
    assert parts == [
        "I double it.",
        {"name": "twice", "input": {"n": 4}},
        {"name": "twice", "input": '{"n": 5}'},
        {"name": "other", "input": {}},
    ]
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "hunter2" not in told
    assert "twice(n: integer, note?: string)" in told


def test_no_input_at_the_prompt_ends_in_one_line(monkeypatch):
    typing(monkeypatch)
    with pytest.raises(ModelError, match="nobody is here"):
        student.ask_by_input(REQUEST)


def test_an_interrupt_at_the_prompt_ends_the_run_cleanly():
    def interrupted(request):
        raise KeyboardInterrupt

    session = Session(model=Student(ask=interrupted), tools=[], memory=None)
    assert session.run("hi").stop_reason == "interrupted"
    assert [m["role"] for m in session.messages][:1] == ["user"]
