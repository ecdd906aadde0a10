"""The import rules of the house: who may import whom, what loading costs, and no cycles."""

import ast
import functools
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).parent.parent / "agent_nb"
FILES = sorted(PACKAGE.rglob("*.py"))
VALUES = {"errors", "events", "limits", "figures", "memory.record", "tokens", "redact", "lease", "places"}
CONTRACTS = {
    "task",
    "approval",
    "transcript",
    "result",
    "models.protocol",
    "tools.tool",
    "memory.schema",
    "memory.store",
    "evidence",
}
HEAVY = ["anthropic", "sklearn", "scipy", "numpy", "pandas", "duckdb", "matplotlib", "sqlalchemy", "mcp"]
FRONT_END = {"IPython", "ipywidgets", "anywidget", "traitlets", "comm"}


def module(path):
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return name.removesuffix(".__init__") if name != "__init__" else ""


@functools.cache
def imports(path):
    """(absolute module, is_inner) for every import of the file; inner ones stand in a function or TYPE_CHECKING."""
    found = []
    tree = ast.parse(path.read_text("utf-8"))
    outer = set()
    for node in tree.body:
        outer.add(node)
    package = ["agent_nb", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
            names = [name if name.removeprefix("agent_nb.") in MODULES else stem for name in names]
        for name in names:
            found.append((name, node not in outer))
    return found


MODULES = {module(file) for file in FILES}


def own(path):
    for name, inner in imports(path):
        if name.startswith("agent_nb.") and (target := name.removeprefix("agent_nb.")) in MODULES:
            yield target, inner


@pytest.mark.parametrize("path", FILES, ids=module)
def test_layers(path):
    me = module(path)
    for target, _ in own(path):
        if me in VALUES:
            assert target in VALUES, f"the value module {me} imports {target}"
        if me in CONTRACTS:
            # How a tool's schema, checks and results are made is its own affair: tools/tool leans on those.
            mine = me == "tools.tool" and target.startswith("tools.")
            assert mine or target in VALUES | CONTRACTS, f"the contract module {me} imports {target}"
        if not me.startswith("notebook") and me:
            assert not target.startswith("notebook"), f"{me} imports {target}"
        if me.startswith("memory"):
            assert target.startswith("memory") or target in VALUES | CONTRACTS, f"{me} imports {target}"
        if me.startswith(("models", "tools", "memory")):
            assert target not in {"loop", "session"}, f"{me} imports {target}"
        if me == "loop":
            assert target != "session"
        if me.startswith("notebook.views"):
            assert target in {"events", "memory.record"} or target.startswith("notebook.views"), target


@pytest.mark.parametrize("path", FILES, ids=module)
def test_front_end_packages_only_in_notebook(path):
    for name, _ in imports(path):
        if name.split(".")[0] in FRONT_END:
            assert module(path).startswith("notebook"), f"{module(path)} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=module)
def test_heavy_packages_are_imported_on_first_use(path):
    for name, inner in imports(path):
        if name.split(".")[0] in HEAVY:
            assert inner, f"{module(path)} imports {name} when it is loaded"


def test_each_third_party_package_has_one_home():
    homes = {}
    for path in FILES:
        top = module(path).split(".")[0]
        for name, _ in imports(path):
            package = name.split(".")[0]
            if package not in sys.stdlib_module_names and package != "agent_nb":
                homes.setdefault(package, set()).add(top)
    shared = {"numpy", "platformdirs"}  # numpy is the language of embedders, tools and stores alike
    many = {package: tops for package, tops in homes.items() if len(tops) > 1 and package not in shared}
    assert not many


def test_no_cycles():
    graph = {module(path): {target for target, _ in own(path)} - {module(path)} for path in FILES}
    done, path = set(), []

    def visit(node):
        assert node not in path, f"import cycle: {' → '.join([*path[path.index(node) :], node])}"
        if node in done:
            return
        path.append(node)
        for target in sorted(graph.get(node, ())):
            visit(target)
        done.add(path.pop())

    for node in sorted(graph):
        if node:  # the package's own __init__ hands out public names lazily
            visit(node)


def test_importing_everything_loads_nothing_heavy():
    names = [f"agent_nb.{module(path)}" for path in FILES if module(path)]
    names = [name for name in names if not name.startswith("agent_nb.notebook.trace")]
    code = (
        f"import importlib, sys\nfor n in {names!r}: importlib.import_module(n)\n"
        f"print([n for n in {HEAVY!r} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
