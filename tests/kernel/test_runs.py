"""Runs in a real kernel: what a cell leaves behind, when it fails, who is asked."""

import pytest

pytestmark = pytest.mark.kernel


def test_a_run_leaves_html_and_text_and_no_widget(kernel):
    cell = kernel.run("%%agent -m fine --no-memory --new\nthe {goal}?", stdin=True)
    assert cell.status == "ok", cell.error
    (data,) = cell.shown
    assert set(data) == {"text/html", "text/plain"}
    for kind in data:
        assert "fine" in data[kind]
        assert "the {goal}?" in data[kind]
    assert kernel.value("_agent.task.goal") == repr("the {goal}?")
    assert kernel.value("history()") == "2"


def test_without_a_front_end_too(kernel):
    cell = kernel.run("%%agent -m fine --no-memory --new\nx", stdin=False)
    (data,) = cell.shown
    assert set(data) == {"text/html", "text/plain"}


def test_a_failing_run_fails_its_cell_and_the_next_ones(kernel):
    kernel.send("import time; time.sleep(0.5)")  # so that the next two wait in the queue together
    first = kernel.send("%%agent -m fine --no-memory --max-steps 0 --new\nx")
    second = kernel.send("after = 1")
    kernel.done(first)
    kernel.wait(lambda: second.reply is not None)
    assert first.status == "error"
    assert len(first.error["traceback"]) == 1
    assert "\n" not in first.error["traceback"][0]
    assert first.error["ename"] == "RunFailed"
    assert second.status == "aborted"
    assert "text/html" in first.shown[0]


def test_a_wrong_flag_is_one_line(kernel):
    cell = kernel.run("%%agent --modle fine\nx")
    assert cell.status == "error"
    assert len(cell.error["traceback"]) == 1
    assert "did you mean --model" in cell.error["traceback"][0]
    assert cell.shown == []


def test_nobody_can_be_asked(kernel):
    kernel.run("m = ScriptedModel([call('wipe', what='x'), 'fine'])")
    cell = kernel.run("%%agent -m m --no-memory --new\nx", stdin=False)
    assert cell.status == "ok"
    assert kernel.value("_agent.task.observations[0].kind") == "'denied'"


@pytest.mark.parametrize(("answer", "kind"), [("y", "''"), ("n", "'denied'"), ("not this one", "'denied'")])
def test_the_question_goes_to_input(kernel, answer, kind):
    kernel.run("m = ScriptedModel([call('wipe', what='x'), 'fine'])")
    cell = kernel.send("%%agent -m m --no-memory --new\nx", stdin=True)
    assert "Allow?" in kernel.asked()["prompt"]
    kernel.client.input(answer)
    kernel.done(cell)
    assert cell.status == "ok"
    assert kernel.value("_agent.task.observations[0].kind") == kind


def test_running_a_cell_again_replaces_its_turn(kernel):
    kernel.run("%%agent -m fine --no-memory --new\na", cell_id="one")
    kernel.run("%%agent -m fine --no-memory\nb", cell_id="two")
    assert kernel.value("history()") == "4"
    kernel.run("%%agent -m fine --no-memory\na again", cell_id="one")
    assert kernel.value("history()") == "4"
    assert "a again" in kernel.value("_agent.task.messages[0]['content'][0]['text']")


def test_line_magics_show_html_and_text(kernel):
    for line in ("%agent", "%memory", "%agent cost", "%agent trace", "%agent window", "%agent sessions"):
        cell = kernel.run(line)
        assert cell.status == "ok", cell.error
        (data,) = cell.shown
        assert set(data) == {"text/html", "text/plain"}


def test_the_session_is_named_after_the_kernel(kernel):
    assert kernel.value("_agent.task.session").startswith("'kernel-")


def test_completion_over_the_wire(kernel):
    def matches(code):
        kernel.client.complete(code, len(code))
        while True:
            reply = kernel.client.get_shell_msg(timeout=60)
            if reply["msg_type"] == "complete_reply":
                return reply["content"]["matches"]

    assert matches("%%agent --appr") == ["--approve"]
    assert "--approve" not in matches("%%agent\n--appr")


def test_the_offline_model_answers(kernel):
    kernel.run(
        "import pandas as pd\nsales = pd.DataFrame({'region': ['n', 's', 's'], 'amount': [10.0, 20.0, 5.0]})"
    )
    cell = kernel.run("%%agent -m offline --no-memory --new\nWhat is the total amount by region?")
    assert cell.status == "ok", cell.error
    assert "25" in cell.shown[0]["text/plain"]


def test_unloading_and_loading_again(kernel):
    assert kernel.run("%unload_ext agent_nb").status == "ok"
    # Where the start-up file is installed the magics stay known, and would load the extension again.
    loaded = "'agent_nb' in get_ipython().extension_manager.loaded"
    assert kernel.value(loaded) == "False"
    assert kernel.run("%load_ext agent_nb").status == "ok"
    assert kernel.run("%%agent -m fine --no-memory\nx").status == "ok"
