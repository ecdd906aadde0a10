"""The saved events and the history they amount to, whatever is missing from the file."""

import json
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb import events
from agent_nb.errors import SettingError, StoreError
from agent_nb.models.validate import validate_messages
from agent_nb.transcript import Transcript, file_name, history, read, repair, session_name, turn_messages


def user(*content):
    return {"role": "user", "content": list(content)}


def assistant(*content):
    return {"role": "assistant", "content": list(content)}


def text(words):
    return {"type": "text", "text": words}


def call(name):
    return {"type": "tool_use", "id": name, "name": "add", "input": {}}


def result(name):
    return {"type": "tool_result", "tool_use_id": name, "content": [text("{}")]}


def turn(run="r", cell="", resumes="", *messages, end="done"):
    started = events.RunStarted(
        run=run,
        goal="g",
        message=messages[0] if messages else {},
        session="s",
        model="m",
        cell=cell,
        resumes=resumes,
    )
    made = [started]
    for message in messages[1:]:
        kind = events.Acted if message["role"] == "assistant" else events.Observed
        made.append(kind(run=run, message=message))
    return [*made, events.RunEnded(run=run, stop_reason=end)] if end else made


WHOLE = [
    user(text("g")),
    assistant(text("t"), call("a"), call("b")),
    user(result("a"), result("b")),
    assistant(text("x")),
]


def saved(tmp_path, *turns):
    made = Transcript(tmp_path / "sessions" / "s.jsonl")
    for one in turns:
        for event in one:
            made.append(event)
    return made


def test_written_and_read_back_equal_with_private_modes(tmp_path):
    made = saved(tmp_path, turn("r", "", "", *WHOLE))
    again = Transcript(made.path)
    assert again.events == made.events
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    lines = made.path.read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines][0] == "RunStarted"


def test_streamed_pieces_are_not_written(tmp_path):
    made = saved(tmp_path, [events.Streamed(run="r", kind="text", text="x")])
    assert made.events == []


def test_cut_at_every_byte_the_history_is_valid_and_the_session_goes_on(tmp_path):
    made = saved(tmp_path, turn("r", "", "", *WHOLE))
    data = made.path.read_bytes()
    for size in range(0, len(data), 7):
        made.path.write_bytes(data[:size])
        again = Transcript(made.path)
        again.append(events.Noticed(run="n", text="after"))
        assert read(made.path)[-1].text == "after"
        if messages := history(again.turns()):
            validate_messages([*messages, user(text("next"))])


def test_a_full_disk_is_one_line_and_spoils_nothing(tmp_path, monkeypatch):
    made = saved(tmp_path, turn("r", "", "", *WHOLE))
    before = len(read(made.path))
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, data[: len(data) // 2]))
        with pytest.raises(StoreError, match="disk is full"):
            made.append(events.Noticed(run="n", text="lost"))
    made.append(events.Noticed(run="n", text="kept"))
    assert len(read(made.path)) == before + 1


def test_a_cell_run_again_replaces_its_turn():
    made = Transcript()
    for one in (
        turn("1", "c1", "", user(text("one")), assistant(text("1"))),
        turn("2", "c2", "", user(text("two")), assistant(text("2"))),
        turn("3", "c1", "", user(text("uno")), assistant(text("3"))),
    ):
        for event in one:
            made.append(event)
    assert [m["content"][0]["text"] for m in history(made.turns())] == ["two", "2", "uno", "3"]


def test_a_resumed_run_belongs_to_its_turn():
    made = Transcript()
    first = turn("1", "c", "", user(text("g")), assistant(call("a")), end="limit_steps")
    second = turn("2", "c", "1", {}, assistant(text("end")))
    third = turn("3", "c", "2", {}, assistant(text("more")))
    for event in [*first, *second, *third]:
        made.append(event)
    assert len(made.turns()) == 1
    roles = [m["role"] for m in turn_messages(made.turns()[0])]
    assert roles == ["user", "assistant", "user", "assistant"]


def test_secrets_do_not_reach_the_file_but_signatures_do(tmp_path):
    key = "sk-ant-api03-" + "a1B2" * 20
    thinking = {"type": "thinking", "thinking": "t", "signature": "eyJhbGciOi" + "A" * 60}
    made = saved(tmp_path, turn("r", "", "", user(text(f"my key is {key}")), assistant(thinking, text("ok"))))
    raw = made.path.read_text()
    assert key not in raw
    assert thinking["signature"] in raw


def test_lines_of_a_newer_version_do_no_harm(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(
        '{"event": "Teleported", "run": "r", "where": "mars"}\n[1]\nnull\n{"event": "Noticed", "run": "r", "text": "x",'
        ' "new_field": 1}\n{"event": "Noticed"}\n\x00\n'
    )
    found = read(path)
    assert [type(e).__name__ for e in found] == ["Unknown", "Noticed", "Unknown"]
    assert found[0].to_dict()["where"] == "mars"


@pytest.mark.parametrize(
    "name", ["a", "Über sales 2013", "销售/九月", "../../etc/passwd", ".hidden", "a:b*c?", "%41", "x" * 100]
)
def test_file_names_are_safe_and_readable_backwards(name, tmp_path):
    made = tmp_path / file_name(name)
    assert made.parent == tmp_path
    assert "/" not in file_name(name)
    assert not file_name(name).startswith(".")
    made.write_text("")
    assert session_name(made) == name


def test_a_name_too_long_for_a_file_is_refused():
    with pytest.raises(SettingError, match="too long"):
        file_name("名" * 100)


BLOCKS = st.sampled_from([text("t"), call("a"), call("b"), result("a"), result("b"), result("z")])
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant"]),
        st.lists(BLOCKS, max_size=3),
    ),
    max_size=8,
)


def _sensible(messages):
    """Ids once, roles with their own kinds of block, as events of one run have them."""
    seen, kept = set(), []
    for message in messages:
        content = []
        for block in message["content"]:
            if (block["type"] == "tool_use") and (message["role"] == "user" or block["id"] in seen):
                continue
            if block["type"] == "tool_result" and message["role"] == "assistant":
                continue
            if block["type"] == "tool_use":
                seen.add(block["id"])
            content.append(block)
        kept.append({"role": message["role"], "content": content})
    return kept


@settings(max_examples=300)
@given(MESSAGES)
def test_repair_makes_any_history_valid(messages):
    fixed = repair(_sensible(messages))
    if fixed and fixed[-1]["role"] == "assistant":
        fixed.append(user(text("next")))
    if fixed:
        validate_messages(fixed)


@given(MESSAGES)
def test_repair_leaves_a_valid_history_alone(messages):
    fixed = repair(_sensible(messages))
    assert repair(fixed) == fixed
