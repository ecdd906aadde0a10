"""Plain IPython in a terminal: the trace is readable text, questions are asked on the line."""

import os
import pathlib
import re
import subprocess
import sys
import time

import pexpect
import pytest

pytestmark = pytest.mark.kernel

SETUP = pathlib.Path(__file__).with_name("setup_cell.py")
IPYTHON = [
    sys.executable,
    "-m",
    "IPython",
    "--simple-prompt",
    "--no-banner",
    "--colors=nocolor",
    "--no-confirm-exit",
]


def environment(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "JPY_"))}
    return env | {
        "AGENT_NB_HOME": str(folder / "home"),
        "IPYTHONDIR": str(folder / "ipython"),
        "MARK": str(folder / "mark"),
        "TERM": "dumb",
        "PYTHONIOENCODING": "utf-8",
    }


def test_piped_into_ipython(tmp_path):
    cells = [
        "%load_ext agent_nb",
        f"%run -i {SETUP}",
        "%agent",
        "%agent model fine",
        "%memory stats?",
        "%agent status of?",
    ]
    done = subprocess.run(
        IPYTHON,
        input="\n".join(cells) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(tmp_path),
    )
    assert "%agent status" in done.stdout
    assert "model: scripted" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "<div" not in done.stdout


@pytest.fixture
def terminal(tmp_path):
    child = pexpect.spawn(
        IPYTHON[0], IPYTHON[1:], env=environment(tmp_path), encoding="utf-8", timeout=20, dimensions=(50, 160)
    )
    child.mark = tmp_path / "mark"
    child.expect_exact("In [1]: ")
    for line in ("%load_ext agent_nb", f"%run -i {SETUP}"):
        run(child, line)
    yield child
    child.close(force=True)


def run(child, *lines):
    """Type the lines; what was printed up to the next prompt."""
    send(child, *lines)
    child.expect(r"In \[\d+\]: ")
    return child.before


def send(child, *lines):
    for line in lines:
        child.sendline(line)
        if len(lines) > 1 and line != lines[-1]:
            child.expect_exact("...: ")


def test_a_goal_over_several_lines(terminal):
    told = run(terminal, "%%agent -m fine --no-memory", "the {first} line?", "the second line", "", "")
    assert "fine" in told
    assert "done" in told
    assert "Traceback" not in told
    told = run(terminal, "print(repr(_agent.task.goal))")
    assert repr("the {first} line?\nthe second line")[:-1] in told


def test_a_question_on_the_line(terminal):
    run(terminal, "m = ScriptedModel([call('wipe', what='x'), 'it is done'])")
    send(terminal, "%%agent -m m --no-memory", "wipe it", "", "")
    terminal.expect_exact("Allow?")
    told = run(terminal, "y")
    assert "it is done" in told
    assert "wiped x" in run(terminal, "_agent.task.observations[0].text")


def test_control_c(terminal):
    send(terminal, "%%agent -m slow --no-memory", "x", "", "")
    while not terminal.mark.exists():
        time.sleep(0.05)
    terminal.sendintr()
    terminal.expect(r"In \[\d+\]: ")
    assert len(re.findall("AgentStopped", terminal.before)) == 1
    assert "Traceback" not in terminal.before
    assert "interrupted" in run(terminal, "_agent.stop_reason")
    assert "2" in run(terminal, "history()")
    assert "fine" in run(terminal, "%%agent -m fine --no-memory", "and now?", "", "")


def test_delete_asks(terminal):
    run(terminal, "%%agent -m fine --no-memory -s mine", "x", "", "")
    send(terminal, "%agent delete mine")
    terminal.expect_exact("Allow?")
    assert "was kept" in run(terminal, "n")
    send(terminal, "%agent delete mine")
    terminal.expect_exact("Allow?")
    assert "is deleted" in run(terminal, "y")
