"""`%load_ext` and `%unload_ext`: idempotent, exact, light; and the start-up file that makes them lazy."""

import json
import os
import pathlib
import runpy
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
STARTUP = ROOT / "jupyter-config" / "agent_nb_startup.py"
HEAVY = [
    "anthropic",
    "sklearn",
    "scipy",
    "numpy",
    "pandas",
    "duckdb",
    "matplotlib",
    "sqlalchemy",
    "mcp",
    "ipywidgets",
    "anywidget",
]


def state(shell):
    """Everything that loading could have changed."""
    manager = shell.input_transformer_manager
    return {
        "magics": {kind: dict(table) for kind, table in shell.magics_manager.magics.items()},
        "registry": dict(shell.magics_manager.registry),
        "lazy": dict(shell.magics_manager.lazy_magics),
        "loaded_lazy": set(getattr(shell.magics_manager, "_loaded_lazy", ())),
        "cleanup": list(manager.cleanup_transforms),
        "lines": list(manager.line_transforms),
        "tokens": list(manager.token_transformers),
        "matchers": list(shell.Completer.custom_matchers),
        "events": {name: list(hooks) for name, hooks in shell.events.callbacks.items()},
        "names": {k: id(v) for k, v in shell.user_ns.items()},
        "ast": list(shell.ast_transformers),
    }


def test_unload_puts_everything_back(shell):
    before = state(shell)
    for _ in range(3):
        shell.run_line_magic("load_ext", "agent_nb")
        assert state(shell) != before
        shell.run_line_magic("unload_ext", "agent_nb")
        assert state(shell) == before


def test_unload_after_use(shell):
    shell.run_line_magic("load_ext", "agent_nb")
    shell.run_cell("%agent rules be brief")
    shell.run_cell("%agent")
    shell.run_line_magic("unload_ext", "agent_nb")
    assert not shell.run_cell("%agent status").success
    assert "agent" not in shell.magics_manager.magics["cell"]


def test_loading_twice_does_no_harm(shell):
    from agent_nb import load_ipython_extension, unload_ipython_extension

    load_ipython_extension(shell)
    once = state(shell)
    load_ipython_extension(shell)
    shell.run_line_magic("load_ext", "agent_nb")
    assert state(shell) == once
    shell.run_line_magic("reload_ext", "agent_nb")
    assert len(shell.input_transformer_manager.cleanup_transforms) == len(once["cleanup"])
    assert len(shell.events.callbacks["pre_run_cell"]) == len(once["events"]["pre_run_cell"])
    unload_ipython_extension(shell)
    unload_ipython_extension(shell)


@pytest.mark.parametrize("kind", ["cell", "line"])
def test_someone_else_owns_the_name(shell, capsys, kind):
    def agent(line, cell=None):
        shell.user_ns["theirs"] = (line, cell)

    shell.register_magic_function(agent, kind)
    before = state(shell)
    shell.run_line_magic("load_ext", "agent_nb")
    told = capsys.readouterr().out
    assert "%%agent_nb" in told
    assert told.count("\n") == 1
    shell.run_cell("%%agent_nb --bogus\nx")
    assert "there is no flag --bogus" in capsys.readouterr().out
    if kind == "cell":
        shell.run_cell("%%agent x?\nbody")
        assert shell.user_ns["theirs"] == ("x?", "body\n")
        shell.run_cell("%agent_nb nonsense?")
        assert "%agent_nb" in capsys.readouterr().out
        del shell.user_ns["theirs"]
    shell.run_line_magic("unload_ext", "agent_nb")
    after = state(shell)
    for kept in ("magics", "cleanup", "tokens", "matchers", "events", "registry"):
        assert after[kept] == before[kept]


AUDITED = """
import json, os, pathlib, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_cell("1")
seen = []
def hook(name, args):
    if name == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append([name, str(args[0])])
    elif name.split(".")[0] in ("socket", "sqlite3", "subprocess") or name in ("os.mkdir", "os.rename", "os.remove", "os.system"):
        seen.append([name, repr(args)[:200]])
sys.addaudithook(hook)
sys.dont_write_bytecode = True
before = set(sys.modules)
%s
new = sorted({name.split(".")[0] for name in set(sys.modules) - before})
print(json.dumps({"seen": seen, "new": new}))
"""


def audited(code, tmp_path):
    env = os.environ | {
        "AGENT_NB_HOME": str(tmp_path / "home"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", AUDITED % code],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert not (tmp_path / "home").exists()
    return told


@pytest.mark.parametrize(
    "code",
    [
        'shell.run_line_magic("load_ext", "agent_nb")',
        'shell.run_line_magic("load_ext", "agent_nb"); shell.run_cell("%agent"); shell.run_cell("%memory");'
        ' shell.run_cell("%%agent --help\\nx"); shell.run_cell("%agent rules x");'
        ' shell.run_line_magic("unload_ext", "agent_nb")',
        f'import runpy; runpy.run_path({str(STARTUP)!r}); shell.run_cell("x = 1")',
    ],
    ids=["load", "help", "startup"],
)
def test_loading_is_light(code, tmp_path):
    told = audited(code, tmp_path)
    assert told["seen"] == []
    assert not set(told["new"]) & set(HEAVY)
    if "runpy" in code:
        assert "agent_nb" not in told["new"]


# -- the start-up file ---------------------------------------------------------------------------------------


def start(shell):
    names = dict(shell.user_ns)
    made = runpy.run_path(str(STARTUP))
    assert dict(shell.user_ns) == names
    assert not [name for name in made if not name.startswith("__")]


def test_startup_declares_without_loading(shell):
    start(shell)
    assert {"agent", "memory"} <= set(shell.magics_manager.lazy_magics)
    shell.run_cell("x = 1\nx % 1")
    assert "agent_nb" not in shell.extension_manager.loaded


@pytest.mark.parametrize("text", ["what is df?", "   \n a\n\n  \n>>> b  ", "\x0c{x}$y"])
def test_the_first_use_loads_and_gets_its_text_as_typed(shell, text):
    start(shell)
    shell.run_cell("from agent_nb.models.scripted import ScriptedModel\nm = ScriptedModel(['fine'])")
    shell.run_cell("%%agent -m m --no-memory\n" + text)
    assert shell.user_ns["_agent"].task.goal == text
    assert "agent_nb" in shell.extension_manager.loaded


def test_the_first_use_may_be_a_line(shell, capsys):
    start(shell)
    assert not shell.run_cell("x = 1\n%agent statsu of df?").success
    assert "did you mean status" in capsys.readouterr().out


def test_startup_then_load_then_unload(shell):
    start(shell)
    before = state(shell)
    shell.run_line_magic("load_ext", "agent_nb")
    shell.run_line_magic("unload_ext", "agent_nb")
    assert state(shell) == before
    shell.run_cell("%agent rules be brief")
    assert "agent_nb" in shell.extension_manager.loaded


def test_startup_twice_and_after_loading(shell):
    start(shell)
    before = state(shell)
    start(shell)
    assert state(shell) == before
    shell.run_line_magic("load_ext", "agent_nb")
    loaded = state(shell)
    start(shell)
    assert state(shell) == loaded


def test_startup_leaves_the_magics_of_others_alone(shell):
    def agent(line, cell):
        shell.user_ns["theirs"] = cell

    shell.register_magic_function(agent, "cell")
    before = state(shell)
    start(shell)
    assert state(shell)["magics"] == before["magics"]
    shell.run_cell("%%agent\nbody")
    assert shell.user_ns["theirs"] == "body\n"


def test_startup_never_raises(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    runpy.run_path(str(STARTUP))  # no shell at all
