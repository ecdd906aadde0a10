"""The stop button, wherever the run is: one line, queued cells aborted, and the next goal works."""

import contextlib
import functools
import os
import random
import time

import pytest

pytestmark = pytest.mark.kernel

SOON_S = 15  # far less than what is interrupted would take


def stop(kernel, code, stdin=False, later_s=0.0):
    """Run `code` with a cell queued behind it, and interrupt once the kernel has left its mark."""
    kernel.mark.unlink(missing_ok=True)
    cell = kernel.send(code, stdin=stdin)
    queued = kernel.send("queued_cell_ran = True")
    kernel.wait(kernel.mark.exists)
    time.sleep(later_s)
    kernel.interrupt()
    kernel.done(cell, SOON_S)
    kernel.wait(lambda: queued.reply is not None, SOON_S)
    check(kernel, cell, queued)
    return cell


def check(kernel, cell, queued):
    assert cell.status == "error", cell.outputs
    assert cell.error["ename"] == "AgentStopped"
    assert len(cell.error["traceback"]) == 1
    assert "\n" not in cell.error["traceback"][0]
    assert queued.status == "aborted"
    (data,) = cell.shown
    assert set(data) == {"text/html", "text/plain"}
    assert kernel.value("_agent.stop_reason") == "'interrupted'"
    assert kernel.value("history()")
    after = kernel.run("%%agent -m fine --no-memory\nand now?")
    assert after.status == "ok", after.error
    assert kernel.value("_agent.done") == "True"
    assert int(kernel.value("history()")) >= 3


@pytest.mark.parametrize("stdin", [True, False], ids=["page", "headless"])
@pytest.mark.parametrize("later_s", [0.0, 0.6])
def test_in_the_middle_of_a_stream(kernel, stdin, later_s):
    stop(kernel, "%%agent -m slow --no-memory --new\nx", stdin, later_s)


@pytest.mark.parametrize("stdin", [True, False], ids=["page", "headless"])
def test_in_a_tool(kernel, stdin):
    kernel.run("m = ScriptedModel([call('nap', seconds=60), 'fine'])")
    stop(kernel, "%%agent -m m --no-memory --new\nx", stdin)


def test_in_a_tool_of_a_thread(kernel):
    kernel.run(
        "m = ScriptedModel([{'content': call('doze', seconds=60)['content'] + call('doze', seconds=61)['content']}])"
    )
    stop(kernel, "%%agent -m m --no-memory --new\nx", True)


def test_in_python(kernel):
    code = "leave_mark()\nwhile True:\n    pass"
    kernel.run(f"m = ScriptedModel([call('run_python', code={code!r}), 'fine'])")
    stop(kernel, "%%agent -m m --no-memory --new --approve auto\nx", True, 0.2)


def test_in_a_query(kernel):
    kernel.run("m = ScriptedModel([lambda request: leave_mark() or call('query_sql', query=LONG), 'fine'])")
    stop(kernel, "%%agent -m m --no-memory --new\nx", True, 1.5)


def test_in_a_question(kernel):
    kernel.run("m = ScriptedModel([lambda request: leave_mark() or call('wipe', what='x'), 'fine'])")
    stop(kernel, "%%agent -m m --no-memory --new\nx", True, 1.0)  # while it waits for a page to say hello


def test_in_the_line_of_a_question(kernel):
    kernel.run("m = ScriptedModel([call('wipe', what='x'), 'fine'])")
    cell = kernel.send("%%agent -m m --no-memory --new\nx", stdin=True)
    queued = kernel.send("queued_cell_ran = True")
    kernel.asked()
    kernel.interrupt()
    kernel.done(cell, SOON_S)
    kernel.wait(lambda: queued.reply is not None, SOON_S)
    check(kernel, cell, queued)


def test_what_was_said_until_then_stays(kernel):
    cell = stop(kernel, "%%agent -m slow --no-memory --new\nx", True, 1.0)
    assert "word word" in cell.shown[0]["text/plain"]
    assert "word word" in cell.shown[0]["text/html"]


def test_resume_after_a_stop(kernel):
    kernel.run("m = ScriptedModel([call('nap', seconds=60), 'it went on'])")
    cell = kernel.send("%%agent -m m --no-memory --new\nx")
    kernel.mark.unlink(missing_ok=True)
    kernel.wait(kernel.mark.exists)
    kernel.interrupt()
    kernel.done(cell, SOON_S)
    again = kernel.run("%agent resume")
    assert again.status == "ok", again.error
    assert kernel.value("_agent.text") == "'it went on'"


def test_at_random_moments(kernel):
    """Whatever it hits – start, stream, tool, drawing, end – the next goal works and nothing is left behind."""
    chance = random.Random(7)
    for _ in range(int(os.environ.get("AGENT_NB_SOAK", "12"))):
        kernel.run("m = ScriptedModel([call('nap', seconds=0.05), call('list_variables'), 'word ' * 300])")
        cell = kernel.send("%%agent -m m --no-memory --new\nx", stdin=True)
        kernel.wait(functools.partial(getattr, cell, "begun"))
        time.sleep(chance.uniform(0, 0.35))
        kernel.interrupt()
        # An interrupt right at the end of a cell can hit the kernel's own loop, which then loses the reply.
        # Whether the run itself hangs, the next goal tells.
        with contextlib.suppress(TimeoutError):
            kernel.done(cell, SOON_S)
        if cell.reply is not None and cell.status == "error":
            assert cell.error["ename"] in ("AgentStopped", "KeyboardInterrupt")
        for data in cell.shown:
            assert set(data) == {"text/html", "text/plain"}
        after = kernel.run("%%agent -m fine --no-memory\nand now?")
        assert after.status == "ok", after.error
        assert kernel.value("(_agent.done, history() > 0)") == "(True, True)"
