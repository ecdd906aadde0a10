"""Two kernels on one session: the second is told, nothing is spoilt, and a dead one keeps nobody out."""

import json
import os
import signal
import subprocess
import sys

import pytest

from agent_nb import Session, events, transcript
from agent_nb.errors import SettingError
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages

OTHER = """
import sys, time
from agent_nb import Session, tool
from agent_nb.models.scripted import ScriptedModel

@tool
def wait() -> str:
    "Wait."
    print("running", flush=True)
    sys.stdin.readline()
    return "ok"

call = {"type": "tool_use", "id": "t1", "name": "wait", "input": {}}
made = Session(ScriptedModel([{"content": [call]}, "theirs"]), tools=[wait], memory=None, name="s")
made.run("their goal")
print("done", flush=True)
sys.stdin.readline()
"""


class Other:
    """Another kernel that works on the session; `go` lets its tool return, `leave` lets it end."""

    def __enter__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", OTHER], **pipes)
        assert self.process.stdout.readline().strip() == "running"
        return self

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip() == "done"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def mine(*replies):
    return Session(ScriptedModel(replies or ["mine"]), tools=[], memory=None, name="s")


def valid(made):
    validate_messages([*made.messages, {"role": "user", "content": [{"type": "text", "text": "next"}]}])


def told(result):
    return [event.text for event in result.trace if isinstance(event, events.Noticed)]


def test_while_another_kernel_runs_it_one_may_look_but_not_run():
    with Other() as other:
        made = mine("copied", "mine")
        assert [type(event).__name__ for event in made.trace][0] == "RunStarted"
        valid(made)
        with pytest.raises(SettingError, match=f"running in another kernel .process {other.process.pid} on"):
            made.run("goal")
        copy = made.fork("copy")
        assert copy.run("in a copy").done
        other.go()
        result = made.run("goal")
        assert result.done
        assert "open in another kernel" in told(result)[0]
        texts = [block.get("text") for message in made.messages for block in message["content"]]
        assert [text for text in texts if text in ("theirs", "mine")] == ["theirs", "mine"]
        valid(made)


def test_a_kernel_that_was_killed_keeps_nobody_out():
    with Other() as other:
        other.kill()
        made = mine()
        assert made.resume().text == "mine"
        valid(made)
        assert not told(made.result) or "another kernel" not in told(made.result)[0]


def test_lines_that_another_kernel_added_are_read_before_the_next_run(own_home):
    first, second = mine("one", "three"), mine("two")
    first.run("a")
    second.run("b")
    first.run("c")
    texts = [m["content"][0]["text"] for m in first.messages]
    assert texts == ["a", "one", "b", "two", "c", "three"]


@pytest.mark.parametrize(
    "owner", ["", "{", "[1]", '{"pid": 1}', '{"pid": "x"}', '{"pid": 999999999, "host": "here"}']
)
def test_a_stale_or_damaged_lock_file_is_no_hindrance(own_home, owner):
    folder = own_home / "sessions"
    folder.mkdir(parents=True)
    (folder / "s.lock").write_text(owner)
    result = mine().run("goal")
    assert result.done
    assert told(result) == []
    assert json.loads((folder / "s.lock").read_text())["pid"] == os.getpid()
    assert Session.names() == ["s"]


def test_the_lock_is_given_back_however_a_run_ends():
    made = mine({"content": [{"type": "text", "text": "x " * 50}]}, "again")
    stream = made.stream("goal")
    for event in stream:
        if isinstance(event, events.Streamed):
            break
    stream.close()
    with Other() as other:
        other.go()
    assert made.run("again").text == "again"


def test_a_session_that_another_kernel_runs_cannot_be_deleted(own_home):
    path = own_home / "sessions" / "s.jsonl"
    with Other() as other:
        with pytest.raises(SettingError, match="running in another kernel"):
            transcript.delete(path)
        assert path.exists()
        other.go()
        transcript.delete(path)
    assert list(path.parent.iterdir()) == []
    transcript.delete(path)
    assert mine().run("goal").done
    assert Session.names() == ["s"]
