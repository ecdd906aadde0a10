# The first cell of every kernel test: models that are slow, tools that take their time.
import os
import pathlib
import time

from agent_nb import tool
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages

_ids = iter(range(10_000))


def call(name, **given):
    return {"content": [{"type": "tool_use", "id": f"t{next(_ids)}", "name": name, "input": given}]}


def leave_mark():
    """Tell the test that the moment has come."""
    pathlib.Path(os.environ["MARK"]).touch()


class Slow:
    """Streams a word every 50 ms, for a minute."""

    name = "slow"

    def reply(self, messages, *, system, tools, max_tokens):
        validate_messages(messages, tools)
        for i in range(1_200):
            if i == 3:
                leave_mark()
            yield {"type": "text_delta", "text": "word "}
            time.sleep(0.05)
        yield {"type": "message", "message": {"role": "assistant", "content": [], "stop_reason": "end_turn"}}


@tool
def nap(seconds: float) -> str:
    """Sleep."""
    leave_mark()
    time.sleep(seconds)
    return "slept"


@tool(parallel=True)
def doze(seconds: float) -> str:
    """Sleep in a thread."""
    leave_mark()
    time.sleep(seconds)
    return "slept"


@tool(effect="write")
def wipe(what: str) -> str:
    """Wipe it."""
    return "wiped " + what


slow = Slow()
fine = ScriptedModel(["fine"] * 1_000)
LONG = "SELECT sum(a.i * b.i % 7) AS s FROM range(3000000) a(i), range(3000000) b(i)"


def history():
    """Check the current session's history, and count its messages."""
    from agent_nb.notebook import extension

    session = extension._loaded[id(get_ipython())].magics.desk.current  # noqa: F821
    goal = {"role": "user", "content": [{"type": "text", "text": "next"}]}
    validate_messages([*session.messages, goal])
    return len(session.messages)
