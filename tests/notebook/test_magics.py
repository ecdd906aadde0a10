"""Goals and verbs through a real shell, real sessions and a model that plays a script."""

import json
import re

import pytest

from agent_nb import places
from agent_nb.session import Session

SETUP = """
from agent_nb.models.scripted import ScriptedModel
from agent_nb import tool

def call(name, **given):
    return {"content": [{"type": "tool_use", "id": f"t{len(calls)}{name}", "name": name, "input": given}]}
calls = []
m = ScriptedModel(["fine"] * 30)
secret = 7

@tool
def twice(n: int) -> int:
    "Twice n."
    return 2 * n

@tool(effect="write")
def wipe(what: str) -> str:
    "Wipe it."
    calls.append(what)
    return "wiped"
"""


@pytest.fixture
def cell(loaded, capsys):
    """Run a cell; what it printed, and its error, if any."""
    assert loaded.run_cell(SETUP).success

    def run(text):
        capsys.readouterr()
        done = loaded.run_cell(text)
        run.error = done.error_in_exec or done.error_before_exec
        run.told = capsys.readouterr().out
        return run.told

    run.names = loaded.user_ns
    run.shell = loaded
    return run


def one_line_error(cell):
    assert cell.error is not None
    lines = [line for line in cell.told.splitlines() if type(cell.error).__name__ in line]
    assert len(lines) == 1
    assert cell.told.strip().splitlines()[-1] == lines[0]
    return lines[0]


# -- goals ---------------------------------------------------------------------------------------------------


def test_a_goal(cell):
    told = cell("%%agent -m m --no-memory -o mine Count {x} $y\n  and ask 'what?'\n")
    assert cell.error is None
    assert "fine" in told
    result = cell.names["_agent"]
    assert result is cell.names["mine"]
    assert result.done
    assert result.task.goal == "Count {x} $y\n  and ask 'what?'\n"
    assert cell.names["m"].requests[0]["messages"][-1]["content"][0]["text"].startswith("Count {x} $y\n  and")


@pytest.mark.parametrize(
    "text", ["%%agent -m m", "%%agent -m m\n", "%%agent -m m\n  \n\t\n", "%%agent -m m --\n "]
)
def test_an_empty_goal(cell, text):
    cell(text)
    assert "goal is empty" in one_line_error(cell)
    assert cell.names["m"].requests == []
    assert Session.names() == []


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--modle m", "did you mean --model"),
        ("-m m --use secrt", "did you mean secret"),
        ("-m m --use _hidden", "there is no variable"),
        ("-m m --tools twise", "did you mean twice"),
        ("-m m --tools twice --no-tools", "leave one of them out"),
        ("-m m --user ana --no-memory", "leave one of them out"),
        ("-m nonesuch", "there is no model 'nonesuch'"),
        ("-m secret", "not a model"),
        ("-m m --record .", "is a folder"),
        ("-m m --max-cost -1", "--max-cost"),
        ("-m m -p vibes", "--plan"),
    ],
)
def test_a_wrong_flag_runs_nothing(cell, flags, words):
    cell(f"%%agent {'' if '--user' in flags else '--no-memory'} {flags}\nthe goal")
    assert words in one_line_error(cell)
    assert cell.names["m"].requests == []
    assert "_agent" not in cell.names


def test_a_wrong_model_does_not_stay(cell):
    cell("%%agent -m m --no-memory\na")
    cell("%%agent -m nonesuch --no-memory\nb")
    one_line_error(cell)
    cell("%agent model nonesuch")
    one_line_error(cell)
    cell("%%agent --no-memory\nc")
    assert cell.error is None
    assert len(cell.names["m"].requests) == 2


def test_a_failing_run_fails_the_cell(cell):
    cell("bad = ScriptedModel([ValueError('no')] * 20 + ['late'])")
    cell("%%agent -m bad --no-memory --max-seconds 0\nx")
    assert "RunFailed: limit_seconds" in one_line_error(cell)
    assert cell.names["_agent"].stop_reason == "limit_seconds"
    cell("%%agent -m m --no-memory --max-steps 0\nx")
    assert "--max-steps" in one_line_error(cell)
    cell("%%agent -m m --no-memory --max-steps 0 --keep-going -o kept\nx")
    assert cell.error is None
    assert cell.names["kept"].stop_reason == "limit_steps"


def test_an_error_of_the_model_fails_the_cell(cell):
    cell(
        "from agent_nb.errors import CredentialsError\nbad = ScriptedModel([CredentialsError('no key; set one')])"
    )
    cell("%%agent -m bad --no-memory\nx")
    line = one_line_error(cell)
    assert "RunFailed: error" in line
    assert "no key; set one" in line
    assert cell.names["_agent"].stop_reason == "error"


def test_refused_fails_and_a_question_does_not(cell):
    cell("bad = ScriptedModel([{'content': 'no', 'stop_reason': 'refusal'}])")
    cell("%%agent -m bad --no-memory\nx")
    assert "RunFailed: refused" in one_line_error(cell)


def test_resume(cell):
    cell("script = ScriptedModel([call('twice', n=3), 'it is 6', 'more'])")
    cell("%%agent -m script --no-memory --max-steps 1\nx")
    one_line_error(cell)
    cell("%agent limits --max-steps 9")
    cell(
        "import agent_nb.notebook.extension as e\nd = e._loaded[id(get_ipython())].magics.desk\nd.memory = lambda user='': None"
    )
    told = cell("%agent resume --max-steps 5")
    assert cell.error is None, told
    assert cell.names["_agent"].text == "it is 6"
    cell("%agent resume")
    assert "nothing to go on with" in one_line_error(cell)
    cell("%agent resume --bogus 3")
    one_line_error(cell)
    cell("%agent resume now")
    assert "flags only" in one_line_error(cell)


def test_resume_keeps_to_what_the_run_was_allowed(cell, monkeypatch):
    monkeypatch.setattr("agent_nb.memory.Memory", None)  # not even opened
    cell("script = ScriptedModel([call('wipe', what='a'), call('wipe', what='b'), 'over'])")
    flags = "--no-memory --approve never --tools wipe,twice"
    cell(f"%%agent -m script {flags} --max-steps 1\nx")
    one_line_error(cell)
    cell("%agent resume")
    assert cell.error is None, cell.told
    assert cell.names["calls"] == []
    assert [o.kind for o in cell.names["_agent"].task.observations] == ["denied", "denied"]
    for request in cell.names["script"].requests:
        assert {tool["name"] for tool in request["tools"]} == {"wipe", "twice"}
    assert "tools" not in cell("%agent limits").replace("tokens", "")


def test_tools_of_the_notebook_and_their_whitelist(cell):
    cell("script = ScriptedModel([call('twice', n=4), 'it is 8'])")
    cell("%%agent -m script --no-memory --tools twice,list_variables\nx")
    assert cell.error is None
    assert [tool["name"] for tool in cell.names["script"].requests[0]["tools"]] == ["list_variables", "twice"]
    assert cell.names["_agent"].task.observations[0].ok
    cell("script = ScriptedModel(['nothing'])")
    cell("%%agent -m script --no-memory --no-tools\nx")
    assert cell.names["script"].requests[0]["tools"] == []


def test_nobody_to_ask_is_a_denial_at_once_and_auto_is_not(cell, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    cell("script = ScriptedModel([call('wipe', what='disk'), 'done'] * 2)")
    cell("%%agent -m script --no-memory\nx")
    assert cell.names["_agent"].task.observations[0].kind == "denied"
    assert cell.names["calls"] == []
    cell("%%agent -m script --no-memory --approve auto --new\nx")
    assert cell.names["calls"] == ["disk"]


def test_use_hands_the_schema_over(cell):
    cell("import pandas as pd\ndf = pd.DataFrame({'fare': [1.5], 'port': ['x']})")
    cell("%%agent -m m --no-memory --use df\nx")
    request = json.dumps(cell.names["m"].requests[-1])
    assert "fare" in request
    assert "port" in request


def test_record_and_replay(cell, tmp_path):
    file = tmp_path / "a b.jsonl"
    cell("script = ScriptedModel([call('twice', n=4), 'it is 8'])")
    cell(f"%%agent -m script --no-memory --record '{file}'\nx")
    assert cell.error is None
    assert file.exists()
    assert cell.shell.run_line_magic("agent", "model script") is None
    cell(f"%%agent -m 'replay:{file}' --no-memory --new\nx")
    assert cell.error is None, cell.told
    assert cell.names["_agent"].text == "it is 8"
    cell("from agent_nb.notebook import extension as e\ns = e._loaded[id(get_ipython())].magics.desk.current")
    assert type(cell.names["s"].model).__name__ == "ReplayModel"


# -- sessions ------------------------------------------------------------------------------------------------


def goals(model):
    return [m["content"][0]["text"] for m in model.requests[-1]["messages"] if m["role"] == "user"]


def test_the_current_session_goes_on(cell):
    cell("%%agent -m m --no-memory\na")
    cell("%%agent -m m --no-memory\nb")
    assert goals(cell.names["m"]) == ["a", "b"]
    cell("%%agent -m m --no-memory --new\nc")
    assert goals(cell.names["m"]) == ["c"]
    cell("%%agent -m m --no-memory -s 'my own'\nd")
    assert goals(cell.names["m"]) == ["d"]
    cell("%%agent -m m --no-memory\ne")
    assert goals(cell.names["m"]) == ["d", "e"]
    assert "my own" in Session.names()
    assert len(Session.names()) == 3


def test_a_new_session_takes_a_free_name(cell):
    cell("%%agent -m m --no-memory -s one\na")
    cell("%%agent -m m --no-memory -s one --new\nb")
    assert goals(cell.names["m"]) == ["b"]
    assert set(Session.names()) == {"one", "one-2"}


@pytest.mark.parametrize(
    ("path", "start"),
    [("/home/x/Flights 2013.ipynb", "Flights 2013-"), ("分析.ipynb", "分析-"), ("a/b", "b-")],
)
def test_the_session_is_named_after_the_notebook(cell, monkeypatch, path, start):
    monkeypatch.setenv("JPY_SESSION_NAME", path)
    cell("%%agent -m m --no-memory\na")
    assert cell.names["_agent"].task.session.startswith(start)
    monkeypatch.setenv("JPY_SESSION_NAME", "/elsewhere/" + path)
    cell("%reload_ext agent_nb")
    cell("%%agent -m m --no-memory\na")
    assert cell.names["_agent"].task.session.startswith(start)
    assert len(Session.names()) == 2


def test_the_notebook_of_vs_code(cell):
    cell("__vsc_ipynb_file__ = '/home/x/sales.ipynb'")
    cell("%%agent -m m --no-memory\na")
    assert cell.names["_agent"].task.session.startswith("sales-")


def test_running_a_cell_again_replaces_its_turn(cell):
    parent = {"metadata": {"cellId": "c1"}}
    cell.shell.get_parent = lambda: parent
    cell("%%agent -m m --no-memory\na")
    parent["metadata"]["cellId"] = "c2"
    cell("%%agent -m m --no-memory\nb")
    parent["metadata"]["cellId"] = "c1"
    cell("%%agent -m m --no-memory\nbetter a")
    assert goals(cell.names["m"]) == ["b", "better a"]
    for odd in (None, {}, {"metadata": None}, {"metadata": {"cellId": 7}}):
        cell.shell.get_parent = lambda odd=odd: odd
        cell("%%agent -m m --no-memory\nc")
        assert cell.error is None


def test_running_all_cells_again(cell):
    """Each cell goes back to its session, and those behind a --new cell follow it into the next one."""
    parent = {"metadata": {}}
    cell.shell.get_parent = lambda: parent
    cells = {"c1": "a", "c2": "b", "c3": "--new\nc", "c4": "d"}

    def run(id):
        parent["metadata"]["cellId"] = id
        text = cells[id]
        cell("%%agent -m m --no-memory " + ("" if "--new" in text else "\n") + text)
        assert cell.error is None
        return goals(cell.names["m"]), cell.names["_agent"].task.session

    first = {id: run(id) for id in cells}
    assert [first[id][0] for id in cells] == [["a"], ["a", "b"], ["c"], ["c", "d"]]
    again = {id: run(id) for id in cells}
    assert [again[id][0] for id in cells] == [["b", "a"], ["a", "b"], ["c"], ["c", "d"]]
    assert again["c1"][1] == again["c2"][1] == first["c1"][1]
    assert again["c3"][1] == again["c4"][1] != first["c3"][1]
    assert run("c2")[0] == ["a", "b"]
    cell("%agent new other")
    assert run("c2")[0] == ["b"]
    assert run("c1")[0] == ["b", "a"]


def test_verbs_of_sessions(cell, monkeypatch):
    assert "no session yet" in cell("%agent sessions")
    cell("%%agent -m m --no-memory -s one\na")
    cell("%%agent -m m --no-memory -s two\nb")
    told = cell("%agent sessions")
    assert "one" in told
    assert "current" in told
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", told)
    assert "Now in session one (2 messages)" in cell("%agent use one")
    cell("%agent use oen")
    assert "did you mean one" in one_line_error(cell)
    cell("%agent use")
    assert "missing" in one_line_error(cell)
    assert "three" in cell("%agent new three")
    assert "no messages" in cell("%agent messages")
    assert "two" in cell("%agent trace two") or "b" in cell.told
    monkeypatch.setattr("sys.stdin", None)
    cell("%agent delete two")
    assert "was kept" in one_line_error(cell)
    assert "two" in Session.names()


def test_delete_after_a_yes(cell, monkeypatch):
    import agent_nb.notebook.approval as approval

    cell("%%agent -m m --no-memory -s two\nb")
    monkeypatch.setattr(approval, "can_type", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt="": "y")
    cell("%agent delete two")
    assert cell.error is None
    assert Session.names() == []
    assert list((places.home() / "sessions").iterdir()) == []


# -- other verbs ---------------------------------------------------------------------------------------------


def test_help(cell):
    told = cell("%agent")
    assert "%agent status" in told
    assert "%%agent --help" in told
    assert cell("%agent --help") == told
    assert "%memory search" in cell("%memory")
    told = cell("%%agent --help\nx")
    assert "--max-cost" in told
    assert "examples:" in told
    assert cell.names["m"].requests == []
    assert "--max-cost 0.50" in cell("%agent limits --help")
    cell("%agent?")
    assert cell.error is None
    cell("%agent what is df?")
    assert "there is no %agent verb 'what'" in one_line_error(cell)


def test_cost_window_messages_trace(cell):
    for verb in ("cost", "window", "trace", "messages"):
        assert "yet" in cell(f"%agent {verb}")
    cell("%%agent -m m --no-memory\nthe <goal>")
    assert "100" in cell("%agent cost")
    assert "Left out: nothing." in cell("%agent window")
    assert "the <goal>" in cell("%agent messages")
    assert "fine" in cell("%agent trace")


def test_model_limits_rules(cell):
    assert "offline" in cell("%agent model offline")
    assert "scripted" in cell("%agent model m")
    assert "5 steps" in cell("%agent limits --max-steps 5")
    assert "5 steps" in cell("%agent limits")
    cell("%agent limits 5")
    one_line_error(cell)
    cell("%agent rules Answer in {Chinese}?")
    cell("%%agent --no-memory\nx")
    assert "Answer in {Chinese}?" in cell.names["m"].requests[-1]["system"]
    cell("%agent rules -")
    cell("%%agent --no-memory --new -m m\nx")
    assert "Chinese" not in cell.names["m"].requests[-1]["system"]


def test_code_is_a_cell_without_the_agent(cell):
    cell("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})")
    cell(
        "script = ScriptedModel([call('query_sql', query='SELECT sum(a) AS s\\nFROM df WHERE b <> \\'z\\''),"
        "call('run_python', code='total = df.a.sum()'), call('query_sql', query='SELECT nonsense'), 'it is 3'])"
    )
    cell("%%agent -m script --no-memory --approve auto\nthe\nsum")
    assert cell.error is None, cell.told
    told = cell("%agent code")
    assert "# the\n# sum\n" in told
    assert "nonsense" not in told
    source = cell.shell.rl_next_input if hasattr(cell.shell, "rl_next_input") else told
    space = {"df": cell.names["df"]}
    exec(source or told, space)
    assert space["total"] == 3
    assert float(space["_r1"]["s"][0]) == 3


@pytest.mark.parametrize("suffix", ["html", "txt", "md", "jsonl"])
def test_export(cell, tmp_path, suffix):
    file = tmp_path / f"a report.{suffix}"
    cell(f"%agent export '{file}'")
    assert "no run yet" in one_line_error(cell)
    cell("%%agent -m m --no-memory\nwhat <b>?")
    cell(f"%agent export '{file}'")
    assert cell.error is None
    written = file.read_text("utf-8")
    assert "fine" in written
    if suffix == "html":
        assert "<b>?" not in written
    if suffix == "jsonl":
        assert [json.loads(line)["event"] for line in written.splitlines()][0] == "RunStarted"
    cell(f"%agent export {file}")
    assert "exists already" in one_line_error(cell)


@pytest.mark.parametrize("name", ["x.ipynb", "x.py", "x", "/nonexistent/x.html", ""])
def test_export_refuses(cell, name):
    cell("%%agent -m m --no-memory\nx")
    cell(f"%agent export {name}")
    one_line_error(cell)


def test_an_interrupt_is_one_line_and_the_session_goes_on(cell):
    cell("@tool\ndef stop(why: str) -> str:\n    'Stop.'\n    raise KeyboardInterrupt")
    cell("script = ScriptedModel([call('stop', why='x'), 'fine'])")
    cell("%%agent -m script --no-memory -o kept\nx")
    assert "AgentStopped" in one_line_error(cell)
    assert cell.names["_agent"] is cell.names["kept"]
    assert cell.names["_agent"].stop_reason == "interrupted"
    cell("%%agent --no-memory\ny")
    assert cell.error is None
    assert cell.names["_agent"].done


def test_an_interrupt_while_it_is_drawn(cell, monkeypatch):
    from agent_nb.notebook.trace import LiveTrace

    shown = LiveTrace.show

    def show(self, event):
        shown(self, event)
        if type(event).__name__ == "Acted":
            raise KeyboardInterrupt

    monkeypatch.setattr(LiveTrace, "show", show)
    cell("%%agent -m m --no-memory\nx")
    assert "AgentStopped" in one_line_error(cell)
    assert cell.names["_agent"].stop_reason == "interrupted"
    monkeypatch.undo()


def test_an_interrupt_before_it_begins(cell, monkeypatch):
    def toolbox(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "toolbox", toolbox)
    cell("%%agent -m m --no-memory\nx")
    assert "AgentStopped" in one_line_error(cell)
    assert cell.names["_agent"].stop_reason == "interrupted"
    assert cell.names["_agent"].task.goal == "x"
    monkeypatch.undo()


def test_an_error_of_our_own_still_closes_the_trace(cell, monkeypatch):
    from agent_nb.notebook.trace import LiveTrace

    closed = []
    close = LiveTrace.close
    monkeypatch.setattr(LiveTrace, "close", lambda self, events=None: closed.append(1) or close(self, events))
    monkeypatch.setattr(LiveTrace, "show", lambda self, event: 1 / 0)
    cell("%%agent -m m --no-memory\nx")
    assert isinstance(cell.error, ZeroDivisionError)
    assert closed == [1]
    assert cell.names["_agent"].stop_reason == "interrupted"
    monkeypatch.undo()
    cell("%%agent -m m --no-memory\nx")
    assert cell.error is None


def test_no_secret_is_drawn_and_resume_in_a_new_kernel_keeps_to_what_was_allowed(cell, own_home):
    key = "sk-ant-api03-" + "a1B2" * 20
    cell(f"script = ScriptedModel([call('wipe', what='{key}'), call('wipe', what='b'), 'the key is {key}'])")
    told = cell("%%agent -m script --no-memory --approve never -s keep --max-steps 1\nuse " + key)
    assert key not in told
    for verb in ("trace", "messages", "code", f"export {own_home}.jsonl"):
        told = cell(f"%agent {verb}")
        assert cell.error is None
        assert key not in told
    assert key not in (own_home.parent / f"{own_home.name}.jsonl").read_text()
    cell.shell.run_line_magic("unload_ext", "agent_nb")  # as a new kernel would, it forgets all flags
    cell.shell.run_line_magic("load_ext", "agent_nb")
    cell("%agent use keep")
    cell("%agent model script")
    told = cell("%agent resume")
    assert cell.error is None
    assert key not in told
    assert [seen.kind for seen in cell.names["_agent"].task.observations] == ["denied", "denied"]
    assert cell.names["calls"] == []
    assert not (own_home / "memory.db").exists()


def test_rewind_and_fork(cell):
    cell(
        "script = ScriptedModel([call('list_variables'), dict(content=[dict(call('list_variables')['content'][0], id='second')]), 'the end', 'anew'])"
    )
    cell("%%agent -m script --no-memory -s long\ngoal")
    assert cell.error is None
    assert "step 1" in cell("%agent rewind 1")
    assert "anew" in cell("%agent resume")
    assert "otherwise" in cell("%agent fork otherwise 1")
    assert "otherwise" in cell("%agent status")
    for line in ("rewind", "rewind x", "rewind 99", "fork", "fork long", "fork new x"):
        cell(f"%agent {line}")
        one_line_error(cell)


def test_rewind_with_an_edited_result(cell):
    two = "dict(content=[*call('twice', n=1)['content'], dict(call('twice', n=2)['content'][0], id='other')])"
    cell(f"script = ScriptedModel([{two}, 'it is 4', 'it is 40'])")
    cell("%%agent -m script --no-memory -s edited\ngoal")
    offered = cell("%agent rewind 1 1b")
    assert '%agent rewind 1 1b: {"ok": true' in offered
    assert "1b twice as you edited it" in cell('%agent rewind 1 1b: {"ok": true, "value": "<b>40</b>"}')
    assert "results that you edited: twice" in cell("%agent resume")
    assert "edited, in the last run: 1b" in cell("%agent messages")
    trace = cell("%agent trace")
    assert "with the result of 1b twice edited" in trace
    assert "edited by you: " in trace
    from agent_nb.notebook.views import run_html

    html = run_html(Session.open("edited").trace)
    assert "&lt;b&gt;40" in html
    assert "<b>40" not in html
    for line in ("rewind 1 9: 3", "rewind 0 1b: 3", "rewind 1 1b 3", "rewind 1 1c"):
        cell(f"%agent {line}")
        one_line_error(cell)


PLANNED = """%%agent -m n -p {planner} --new
goal
"""


def test_a_planner_the_plan_verb_and_the_doctor(cell):
    nodes = [{"id": "1", "text": "look at June"}, {"id": "2", "text": "look at July"}]
    plan = json.dumps({"subtasks": nodes})
    cell(f"n = ScriptedModel([{plan!r}, call('twice', n='x'), 'June is 3', 'July is 4'])")
    assert "no plan" in cell("%agent plan")
    told = cell(PLANNED.format(planner="plan"))
    assert cell.error is None
    assert "2 subtasks" in told
    assert cell.names["_agent"].task.plan[0].result == "June is 3"
    assert "1. look at June" in cell("%agent plan")
    doctor = cell("%agent doctor")
    assert "act" in doctor
    assert "twice" in doctor
    assert "goal" in cell("%agent doctor why is June 3?")
    cell("n = ScriptedModel(['fine'])")
    cell(PLANNED.format(planner="auto"))
    assert "react: the goal reads as one question" in cell.told
    assert "Nothing in the events" in cell("%agent doctor")


def test_the_doctor_without_a_run_says_so(cell):
    cell("%agent doctor")
    assert "no run yet" in one_line_error(cell)


def test_charts_of_the_run_are_code_too(cell):
    cell(
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3, 4], 'b': ['x', 'y'] * 2, 'c': ['u', 'u', 'v', 'v']})"
    )
    charts = [
        {"kind": "bar", "data": "df", "x": "b", "y": "a", "series": "c", "title": 'the "best"'},
        {"kind": "line", "data": "SELECT a, a * 2 AS d FROM df;", "x": "a", "y": "d"},
        {"kind": "scatter", "data": "df", "x": "a", "y": "a"},
        {"kind": "hist", "data": "df", "x": "a", "title": "all"},
    ]
    cell(f"script = ScriptedModel([call('draw_chart', **each) for each in {charts!r}] + ['drawn'])")
    cell("%%agent -m script --no-memory\ndraw")
    assert cell.error is None, cell.told
    told = cell("%agent code")
    source = told[told.index("# draw") :]
    assert source.count(".plot.") == len(charts)
    exec(source, {"df": cell.names["df"]})


def test_rules_stand_in_the_transcript_and_hold_in_the_next_kernel(cell):
    cell("%agent rules Answer in <Chinese>.")
    cell("%%agent --no-memory -m m -s ruled\nx")
    (started,) = [e for e in Session.open("ruled").trace if type(e).__name__ == "RunStarted"]
    assert started.rules == "Answer in <Chinese>."
    assert "Answer in <Chinese>." in cell.told
    cell("%reload_ext agent_nb")
    cell("%unload_ext agent_nb")
    cell("%load_ext agent_nb")
    cell("%agent use ruled")
    assert "Answer in <Chinese>." in cell("%agent rules")
    cell("%%agent --no-memory -m m\nx")
    assert "Answer in <Chinese>." in cell.names["m"].requests[-1]["system"]


def test_the_first_run_says_what_was_found(cell, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    told = cell("%%agent --no-memory -m m\nx")
    assert "first run here: no key was found" in told
    assert "first run here" not in cell("%%agent --no-memory -m m\nx")
