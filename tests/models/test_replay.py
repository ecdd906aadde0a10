import copy
import json
import stat

import pytest

from agent_nb.errors import ModelError, SettingError
from agent_nb.models.protocol import Model
from agent_nb.models.replay import RecordingModel, ReplayModel
from agent_nb.models.scripted import ScriptedModel

TOOLS = [{"name": "query_sql", "description": "SQL", "input_schema": {"type": "object", "properties": {}}}]
ASK = [{"role": "user", "content": [{"type": "text", "text": "how many flights? 多少"}]}]
CALL = {"type": "tool_use", "id": "toolu_9", "name": "query_sql", "input": {"query": "select 1"}}
SYSTEM = "You are an analyst. Today is 2026-11-30."


def result(rows, *, call="toolu_9", ms=3.2, seconds=7, **more):
    value = {"ok": True, "columns": ["n"], "rows": rows, "ms": ms} | more
    block = {
        "type": "tool_result",
        "tool_use_id": call,
        "content": [{"type": "text", "text": json.dumps(value)}],
    }
    left = {"type": "text", "text": f"[step 1 of 12 · {seconds} of 600 s used]"}
    return {"role": "user", "content": [block, left]}


def history(rows=((12,),), goal=ASK, call=CALL, **more):
    return [
        *goal,
        {"role": "assistant", "content": [call]},
        result([list(r) for r in rows], call=call["id"], **more),
    ]


def play(model, messages, *, system=SYSTEM, tools=TOOLS, **more):
    return list(model.reply(messages, system=system, tools=tools, max_tokens=100, **more))


@pytest.fixture
def tape(tmp_path):
    """A recording of two calls: a tool call, then an answer."""
    path = tmp_path / "deep" / "tape.jsonl"
    model = RecordingModel(ScriptedModel([{"content": [CALL]}, "There are 12 flights. 十二"]), path)
    play(model, ASK)
    play(model, history())
    return path


def test_what_was_recorded_is_played_piece_by_piece(tape, tmp_path):
    inner = ScriptedModel([{"content": [CALL]}, "There are 12 flights. 十二"])
    played = ReplayModel(tape)
    assert isinstance(played, Model)
    for messages in (ASK, history()):
        assert play(played, messages) == play(inner, messages)


def test_the_file_is_private_readable_lines(tape):
    assert stat.S_IMODE(tape.stat().st_mode) == 0o600
    assert stat.S_IMODE(tape.parent.stat().st_mode) == 0o700
    header, *calls = [json.loads(line) for line in tape.read_text().splitlines()]
    assert header["agent_nb_recording"] == 1
    assert len(calls) == 2
    assert "十二" in tape.read_text()


def test_a_line_holds_what_is_new_since_the_call_before(tape):
    first, second = [json.loads(line) for line in tape.read_text().splitlines()][1:]
    assert (first["after"], len(first["messages"])) == (0, 1)
    assert (second["after"], len(second["messages"])) == (1, 2)
    assert not {"system", "tools"} & second.keys()


def test_a_missing_line_is_noticed(tape):
    header, _, second = tape.read_text().splitlines(keepends=True)
    tape.write_text(header + second)
    with pytest.raises(SettingError, match="line 2"):
        ReplayModel(tape)


def test_a_folded_history_and_a_changed_prompt_are_recorded_whole(tmp_path):
    path = tmp_path / "t.jsonl"
    model = RecordingModel(ScriptedModel(["a", "b", "c"]), path)
    plays = [(history(), SYSTEM, TOOLS), (ASK, "other", []), (history([[12.0]]), SYSTEM, TOOLS)]
    for messages, system, tools in plays:
        play(model, messages, system=system, tools=tools)
    played = ReplayModel(path)
    for messages, system, tools in plays:
        play(played, messages, system=system, tools=tools)


def test_times_ids_and_dates_make_no_difference(tape):
    played = ReplayModel(tape)
    other = CALL | {"id": "toolu_another"}
    play(played, ASK, system=SYSTEM.replace("2026-11-30", "2027-01-02"))
    play(played, history(call=other, ms=99.9, seconds=31), system=SYSTEM.replace("11-30", "12-24"))


def test_names_of_kept_values_make_no_difference_but_their_order_does(tmp_path):
    path = tmp_path / "t.jsonl"
    note = "first 10 of 16 rows; the whole table is {}"
    play(RecordingModel(ScriptedModel(["x"]), path), history(name="_r1", note=note.format("_r1")))
    play(ReplayModel(path), history(name="_r7", note=note.format("_r7")))
    with pytest.raises(ModelError, match="note"):
        play(ReplayModel(path), history(name="_r7", note=note.format("_r8")))


def _recalled(tool, **memory):
    found = CALL | {"name": tool}
    value = {"ok": True, "memories": [{"text": "EMEA is six markets"} | memory]}
    block = {
        "type": "tool_result",
        "tool_use_id": "toolu_9",
        "content": [{"type": "text", "text": json.dumps(value)}],
    }
    return [*ASK, {"role": "assistant", "content": [found]}, {"role": "user", "content": [block]}]


@pytest.mark.parametrize(("tool", "matters"), [("recall_memory", False), ("query_sql", True)])
def test_ids_and_ages_are_left_out_of_memories_but_not_of_data(tmp_path, tool, matters):
    path = tmp_path / "t.jsonl"
    play(
        RecordingModel(ScriptedModel(["x"]), path), _recalled(tool, id="7f", score=0.9, created="2026-11-30")
    )
    later = _recalled(tool, id="8a", score=0.7, created="2026-12-24")
    if matters:
        with pytest.raises(ModelError, match="recorded"):
            play(ReplayModel(path), later)
    else:
        play(ReplayModel(path), later)
        with pytest.raises(ModelError, match="six markets"):
            play(ReplayModel(path), _recalled(tool, text="EMEA is five markets"))


def _drawn(data, points):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    messages = history(chart="bar", points=points)
    messages[-1]["content"][0]["content"].append(image)
    return messages


def test_a_chart_counts_by_its_figures(tmp_path):
    path = tmp_path / "t.jsonl"
    play(RecordingModel(ScriptedModel(["x"]), path), _drawn("aGk=", 4))
    play(ReplayModel(path), _drawn("aG8=", 4))
    with pytest.raises(ModelError, match="points"):
        play(ReplayModel(path), _drawn("aGk=", 5))
    assert "aGk=" not in path.read_text()


def test_addresses_of_objects_make_no_difference(tmp_path):
    path = tmp_path / "t.jsonl"
    play(RecordingModel(ScriptedModel(["x"]), path), history(text="<Thing at 0x7f00aa>"))
    play(ReplayModel(path), history(text="<Thing at 0x7f99bb>"))


def _changed_schema():
    tools = copy.deepcopy(TOOLS)
    tools[0]["input_schema"]["properties"]["limit"] = {"type": "integer"}
    return tools


@pytest.mark.parametrize(
    ("messages", "more", "words"),
    [
        (history([[13]]), {}, ["call 2", "tool_result of query_sql", "rows.0.0", "recorded 12", "now 13"]),
        (history([[12], [5]]), {}, ["call 2", "rows.1", "recorded nothing", "now [5]"]),
        (history(note="cut"), {}, ["tool_result of query_sql", "note", '"cut"']),
        (history(call=CALL | {"input": {"query": "select 2"}}), {}, ["tool_use of query_sql", "select 2"]),
        (history(goal=[{"role": "user", "content": "why?"}]), {}, ["text of the user", "why?"]),
        (
            [*history(), {"role": "assistant", "content": [CALL | {"id": "b"}]}, result([[1]], call="b")],
            {},
            ["call 2", "message 4"],
        ),
        (history(), {"system": "You are a poet."}, ["the system prompt", "poet"]),
        (history(), {"tools": []}, ["the tool query_sql", "now nothing"]),
        (history(), {"tools": _changed_schema()}, ["the tool query_sql", "limit"]),
    ],
)
def test_the_first_difference_is_named(tape, messages, more, words):
    played = ReplayModel(tape)
    play(played, ASK)
    with pytest.raises(ModelError) as caught:
        play(played, messages, **more)
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert "\n" not in text
    assert len(text) < 400


def test_every_change_of_a_value_is_noticed(tape):
    for rows in ([[12.0]], [["12"]], [[True]], [[None]], [], [[12, 12]]):
        played = ReplayModel(tape)
        play(played, ASK)
        with pytest.raises(ModelError, match="differs"):
            play(played, history(rows))


def test_a_replay_that_goes_on_too_long(tape):
    played = ReplayModel(tape)
    play(played, ASK)
    play(played, history())
    with pytest.raises(ModelError, match=r"over \(2 calls\)"):
        play(played, history())


def test_a_cell_that_is_run_again_plays_again(tape):
    played = ReplayModel(tape)
    for _ in range(2):
        play(played, ASK)
        play(played, history())
    play(played, ASK)
    play(played, ASK)  # stopped after the first call, then run again
    assert play(played, history())[-1]["message"]["content"][0]["text"] == "There are 12 flights. 十二"


def test_within_a_turn_the_order_is_kept(tape):
    with pytest.raises(ModelError, match="call 1"):
        play(ReplayModel(tape), history())


def test_a_call_that_differed_can_be_asked_again(tape):
    played = ReplayModel(tape)
    play(played, ASK)
    with pytest.raises(ModelError):
        play(played, history([[13]]))
    assert play(played, history())[-1]["type"] == "message"


def test_each_cell_finds_its_own_part_of_the_recording(tmp_path):
    path = tmp_path / "tape.jsonl"
    other = [{"role": "user", "content": "and yesterday?"}]
    for goal, answer in ((ASK, "today 3"), (other, "yesterday 4")):
        play(RecordingModel(ScriptedModel([answer]), path), goal)
    assert play(ReplayModel(path), other)[-1]["message"]["content"][0]["text"] == "yesterday 4"
    assert play(ReplayModel(path), ASK)[-1]["message"]["content"][0]["text"] == "today 3"


def test_recording_a_cell_again_replaces_its_part_only(tmp_path):
    path = tmp_path / "tape.jsonl"
    other = [{"role": "user", "content": "and yesterday?"}]
    for goal, answers in (
        (ASK, [{"content": [CALL]}, "12"]),
        (other, ["4"]),
        (ASK, [{"content": [CALL]}, "13"]),
    ):
        model = RecordingModel(ScriptedModel(answers), path)
        play(model, goal)
        if goal is ASK:
            play(model, history())
    assert len(path.read_text().splitlines()) == 4
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    played = ReplayModel(path)
    play(played, ASK)
    assert play(played, history())[-1]["message"]["content"][0]["text"] == "13"
    assert play(ReplayModel(path), other)[-1]["message"]["content"][0]["text"] == "4"


def test_only_finished_calls_are_written(tmp_path):
    path = tmp_path / "tape.jsonl"
    half = [{"type": "text_delta", "text": "ha"}, ValueError("bad JSON")]
    model = RecordingModel(ScriptedModel([half, "whole"]), path)
    with pytest.raises(ValueError, match="bad JSON"):
        play(model, ASK)
    assert not path.exists()
    stopped = model.reply(ASK, system=SYSTEM, tools=TOOLS, max_tokens=9)
    next(stopped)
    stopped.close()
    assert not path.exists()


def test_a_loop_that_stops_listening_after_the_message_loses_nothing(tmp_path):
    path = tmp_path / "tape.jsonl"
    stream = RecordingModel(ScriptedModel(["whole"]), path).reply(ASK, system="", tools=[], max_tokens=9)
    for event in stream:
        if event["type"] == "message":
            break
    assert len(path.read_text().splitlines()) == 2


def test_secrets_stay_out_and_do_not_disturb_the_replay(tmp_path):
    path = tmp_path / "tape.jsonl"
    key = "sk-ant-api03-" + "x1Y2" * 12
    goal = [{"role": "user", "content": f"use {key} please"}]
    play(RecordingModel(ScriptedModel([f"I used {key}"]), path), goal, system=f"key {key}")
    assert key not in path.read_text()
    assert play(ReplayModel(path), goal, system=f"key {key}")[-1]["type"] == "message"


def test_tool_choice_goes_where_it_is_understood(tmp_path):
    class Old:
        def reply(self, messages, *, system, tools, max_tokens):
            yield {
                "type": "message",
                "message": {"role": "assistant", "content": [], "stop_reason": "end_turn"},
            }

    none = {"type": "none"}
    play(RecordingModel(Old(), tmp_path / "old.jsonl"), ASK, tool_choice=none)
    inner = ScriptedModel(["x"])
    play(RecordingModel(inner, tmp_path / "new.jsonl"), ASK, tool_choice=none)
    assert inner.requests[0]["tool_choice"] == none
    play(ReplayModel(tmp_path / "old.jsonl"), ASK, tool_choice=none)


def test_the_recording_model_is_like_the_model_inside(tmp_path):
    inner = ScriptedModel(["x"])
    inner.can_judge, inner.max_tokens, inner.cost = False, 77, lambda usage: 1.5
    model = RecordingModel(inner, tmp_path / "t.jsonl")
    assert (model.name, model.can_judge, model.max_tokens, model.cost({})) == ("scripted", False, 77, 1.5)
    play(model, ASK)
    assert ReplayModel(tmp_path / "t.jsonl").can_judge is False


def test_odd_texts_survive(tmp_path):
    path = tmp_path / "t.jsonl"
    goal = [{"role": "user", "content": 'a\u2028b\x85c \ud800 \x1c"\\{} 🙂'}]
    play(RecordingModel(ScriptedModel(["back: \u2028\x85 🙂"], strict=False), path), goal)
    assert play(ReplayModel(path), goal)[-1]["message"]["content"][0]["text"] == "back: \u2028\x85 🙂"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello\n",
        '{"event": "RunStarted"}\n',
        "[]\n",
        '{"agent_nb_recording": 99}\n',
        '{"agent_nb_recording": 1}\n{"take": 1, "request": {"mess',
        '{"agent_nb_recording": 1}\n{"take": 1}\n',
        '{"agent_nb_recording": 1}\n7\n',
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_recording_is_one_clear_line(tmp_path, content):
    path = tmp_path / "t.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SettingError) as caught:
        ReplayModel(path)
    assert "\n" not in str(caught.value)
    assert "t.jsonl" in str(caught.value)
    if content:
        with pytest.raises(SettingError):
            RecordingModel(ScriptedModel([]), path)
        assert path.stat().st_size == len(content if isinstance(content, bytes) else content.encode())


def test_missing_files_and_folders(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SettingError, match=r"nothing\.jsonl"):
        ReplayModel(tmp_path / "nothing.jsonl")
    with pytest.raises(SettingError):
        ReplayModel(tmp_path)
    with pytest.raises(SettingError):
        play(RecordingModel(ScriptedModel(["x"]), file / "t.jsonl"), ASK)


def test_a_lost_last_newline_does_no_harm(tape):
    tape.write_bytes(tape.read_bytes()[:-1])
    assert len(ReplayModel(tape).calls) == 2
    play(RecordingModel(ScriptedModel(["new"]), tape), [{"role": "user", "content": "another"}])
    assert len(ReplayModel(tape).calls) == 3


@pytest.mark.parametrize("cut", [2, 40, 200])
def test_a_torn_recording(tape, cut):
    data = tape.read_bytes()
    tape.write_bytes(data[:-cut])
    with pytest.raises(SettingError, match="line 3"):
        ReplayModel(tape)
