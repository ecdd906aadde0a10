"""The gate: by the page, else by input(), else by policy at once; and it never hangs."""

import io
import json
import threading

import pytest
from front_end import FrontEnd, custom, idle, question
from html_check import Checked
from hypothesis import given
from hypothesis import strategies as st

from agent_nb.notebook import approval
from agent_nb.notebook.approval import Gate, ask_by_input, edited_arguments
from agent_nb.notebook.trace_widget import TracePanel
from agent_nb.notebook.views import question_html

ASK = {"id": "t3", "name": "run_python", "input": {"code": "open('x', 'w')"}, "effect": "write"}
CELL = f"""
from agent_nb.notebook.trace import LiveTrace
from agent_nb.notebook.approval import Gate
from sample_events import sample
trace = LiveTrace()
try:
    for event in sample()[:3]:
        trace.show(event)
    print(Gate(trace)({ASK!r}))
finally:
    trace.close()
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    front = FrontEnd(tmp_path_factory.mktemp("kernel"))
    yield front
    front.stop()


def asked(lab, cell=CELL):
    """Run the cell until the page is asked; returns the question."""
    lab.run(cell)
    lab.until(lambda kind, content: kind == "display_data")
    lab.say(type="hello")
    return custom(lab.until(question))["ask"]


def printed(lab):
    lab.until(idle)
    return "".join(content["text"] for kind, content, _ in lab.heard if kind == "stream")


@pytest.mark.kernel
def test_the_page_approves(lab):
    shown = asked(lab)
    assert shown["input"] == ASK["input"]["code"]
    assert "open(&#x27;x&#x27;, &#x27;w&#x27;)" in shown["html"]
    lab.say(type="approve", ask=shown["ask"], reason="", input=None)
    assert "verdict='approve', by='widget', reason='', input=None" in printed(lab)


@pytest.mark.kernel
def test_the_page_denies_with_a_reason(lab):
    lab.say(type="deny", ask=asked(lab)["ask"], reason="no <files>, 请", input=None)
    assert "verdict='deny', by='widget', reason='no <files>, 请'" in printed(lab)


@pytest.mark.kernel
def test_code_is_edited_as_code(lab):
    lab.say(type="approve", ask=asked(lab)["ask"], input='if x:\n    y = "1"')
    assert """input={'code': 'if x:\\n    y = "1"'}""" in printed(lab)


@pytest.mark.kernel
def test_the_page_edits_and_is_asked_again_where_that_is_no_json(lab):
    more = {"to": "ana", "amount": 3}
    shown = asked(lab, CELL.replace(repr(ASK), repr(ASK | {"input": more})))
    assert json.loads(shown["input"]) == more
    lab.say(type="approve", ask=shown["ask"], input="[1")
    again = custom(lab.until(lambda *said: question(*said) and custom(said[1])["ask"]["problem"]))["ask"]
    assert "not JSON" in again["problem"]
    assert again["input"] == "[1"
    lab.say(type="approve", ask=again["ask"], input='{"to": "ben"}')
    assert "input={'to': 'ben'}" in printed(lab)


@pytest.mark.kernel
def test_late_and_foreign_clicks_do_nothing(lab):
    shown = asked(lab)
    lab.say(type="approve", ask="an earlier question", input=None)
    lab.say(type="approve", ask=shown["ask"], run="another run", input=None)
    lab.say(type="deny", ask=shown["ask"], reason="this one counts", input=None)
    lab.say(type="approve", ask=shown["ask"], input=None)
    assert "reason='this one counts'" in printed(lab)


@pytest.mark.kernel
def test_stop_ends_the_wait(lab):
    asked(lab)
    lab.say(type="stop")
    lab.until(idle)
    assert lab.reply()["ename"] == "KeyboardInterrupt"


@pytest.mark.kernel
def test_the_kernels_own_interrupt_ends_the_wait(lab):
    asked(lab)
    lab.manager.interrupt_kernel()
    lab.until(idle)
    assert lab.reply()["ename"] == "KeyboardInterrupt"


@pytest.mark.kernel
@pytest.mark.parametrize("hello", [False, True], ids=["silent page", "page without subshell"])
def test_input_where_the_page_is_not_heard(lab, hello):
    lab.run(CELL)
    lab.until(lambda kind, content: kind == "display_data")
    if hello:
        lab.say(type="hello", on_subshell=False)  # arrives when the cell is over
    prompt = lab.client.get_stdin_msg(timeout=60)["content"]["prompt"]
    assert "change something" in prompt
    lab.client.input("y")
    assert "verdict='approve', by='input'" in printed(lab)


@pytest.mark.kernel
def test_no_stdin_denies_by_policy(lab):
    lab.run(CELL, allow_stdin=False)
    said = printed(lab)
    assert "verdict='deny', by='policy'" in said
    assert "--approve auto" in said


def typed(monkeypatch, *lines):
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return ask_by_input("run_python", {"code": "1"}, "write")


@pytest.mark.parametrize(
    ("lines", "verdict", "reason", "edited"),
    [
        (["y"], "approve", "", None),
        (["YES"], "approve", "", None),
        (["好"], "approve", "", None),
        ([""], "deny", "", None),
        (["n"], "deny", "", None),
        (["rather not"], "deny", "rather not", None),
        (["e", '{"code": "2"}'], "approve", "", {"code": "2"}),
        (["e", "{", "e", '{"code": "3"}'], "approve", "", {"code": "3"}),
        (["e", "{", "n"], "deny", "", None),
        ([], "deny", "no answer", None),
    ],
)
def test_what_is_typed(monkeypatch, lines, verdict, reason, edited):
    said = typed(monkeypatch, *lines)
    assert (said.verdict, said.by, said.reason, said.input) == (verdict, "input", reason, edited)


def test_nobody_at_the_terminal_is_told_at_once(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    said = Gate()(ASK)
    assert (said.verdict, said.by) == ("deny", "policy")
    assert "--approve auto" in said.reason
    assert Gate(policy="approve")(ASK).verdict == "approve"


def test_ctrl_c_at_the_prompt_passes(monkeypatch):
    def interrupted(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with pytest.raises(KeyboardInterrupt):
        approval.ask_by_input("run_python", {}, "write")


@given(st.text())
def test_edited_arguments_are_an_object_or_a_problem(text):
    edited, problem = edited_arguments(text)
    assert (edited is None) == bool(problem)
    assert edited is None or isinstance(edited, dict)


@given(st.text(), st.dictionaries(st.text(), st.text() | st.integers()), st.text())
def test_no_question_brings_markup_of_its_own(name, arguments, effect):
    Checked(question_html(name, arguments, effect, name))


def test_a_state_that_was_read_before_the_question_cannot_take_it_back():
    """The page says hello on its own thread while the main one asks: the question is the last word."""
    sent, reading, hello_read = [], threading.Event(), threading.Event()

    class Recorded(TracePanel):
        def send(self, content, buffers=None):
            sent.append(content)
            if content.get("ask") and not content.get("full"):
                self._said(self, {"run": self.key, "type": "deny", "ask": content["ask"]["ask"]}, [])

    def state():
        asked = panel.question
        reading.set()
        hello_read.wait(0.5)  # long enough for the main thread to put its question in between
        return {"full": True, "ops": [], "ask": asked}

    panel = Recorded(state)
    hello = threading.Thread(target=panel._said, args=(panel, {"run": panel.key, "type": "hello"}, []))
    hello.start()
    assert reading.wait(5)
    assert panel.ask({"id": "t", "input": "x"})["type"] == "deny"
    hello.join()
    assert [bool(message.get("ask")) for message in sent] == [False, True, False]
    assert sent[0].get("full")
