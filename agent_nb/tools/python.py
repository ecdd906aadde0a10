"""`run_python`: code in the user's namespace, with what it prints, returns, draws and names."""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import inspect
import io
import itertools
import linecache
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any

from ..errors import CutShort
from .result import NOTHING, Reply, as_png
from .table import as_table
from .tool import Tool, tool
from .waiting import awaited

Json = dict[str, Any]
PRINTED_CHARS = 8_000
FRAMES = 3
_numbers = itertools.count(1)
_PLOTTING = {"matplotlib", "pylab", "seaborn"}


class Printed(io.TextIOBase):
    """The first characters of what was printed, and how many there were."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.total = 0

    def write(self, text: str) -> int:
        room = PRINTED_CHARS - self.total
        if room > 0:
            self.kept.append(text[:room])
        self.total += len(text)
        return len(text)

    def writable(self) -> bool:
        return True

    @property
    def text(self) -> str:
        return "".join(self.kept)


def python_tool(namespace: Json) -> Tool:
    """`run_python` over `namespace`."""

    @tool(effect="write", takes=5.0)
    def run_python(code: str) -> object:
        """Run Python in the notebook's own namespace: its variables can be read and changed. Asks first.

        What it prints, the value of a last expression, figures that it opens and new variables come back.
        There is no keyboard input. Prefer query_sql for reading tables.

        Args:
            code: Python statements.
        """
        return run(code, namespace)

    return run_python


def run(code: str, namespace: Json) -> Reply:
    """Run `code`; an error of its own comes back as a Reply that is not ok. A KeyboardInterrupt passes."""
    source = f"<run_python {next(_numbers)}>"
    linecache.cache[source] = (len(code), None, code.splitlines(keepends=True), source)
    out, err = Printed(), Printed()
    before = set(namespace)
    pictures: list[bytes] = []
    value: Any = NOTHING
    failure: Json = {}
    try:
        body, last = _compiled(code, source)
        printing = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with _no_input(), _figures(code, pictures), printing[0], printing[1]:
            _evaluate(body, namespace)
            value = _evaluate(last, namespace) if last else NOTHING
    except (KeyboardInterrupt, CutShort):
        raise
    except SystemExit as error:
        failure = {"error": f"the code called sys.exit({error.code!r}); the kernel goes on"}
    except BaseException as error:
        failure = _failure(error, source)
    new = sorted(str(name) for name in set(namespace) - before if not str(name).startswith("_"))
    printed = _printed("stdout", out) | _printed("stderr", err)
    names: Json = {"new_variables": new} if new else {}
    if failure:
        return Reply(failure | printed | names, pictures=tuple(pictures), ok=False)
    return _reply(value, printed | names, pictures)


def _reply(value: Any, more: Json, pictures: list[bytes]) -> Reply:
    if value is NOTHING or value is None:
        return Reply(more or {"value": None}, pictures=tuple(pictures))
    picture = as_png(value)
    if picture and not pictures:
        pictures.append(picture)
    if as_table(value):
        return Reply({"columns": []} | more, value, tuple(pictures))
    return Reply(
        ({} if picture else {"text" if isinstance(value, str) else "value": value}) | more,
        value,
        tuple(pictures),
    )


def _compiled(code: str, source: str) -> tuple[types.CodeType, types.CodeType | None]:
    """The statements, and the last one apart where it is an expression."""
    tree = ast.parse(code, source)
    last = None
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        expression = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        last = compile(expression, source, "eval", flags=flags, dont_inherit=True)
    return compile(tree, source, "exec", flags=flags, dont_inherit=True), last


def _evaluate(code: types.CodeType, namespace: Json) -> Any:
    value = eval(code, namespace)
    return awaited(value) if code.co_flags & inspect.CO_COROUTINE else value


def _failure(error: BaseException, source: str) -> Json:
    """The error, and the last lines of the user's code that led to it."""
    if isinstance(error, SyntaxError) and error.filename == source:
        return {
            "error": f"{type(error).__name__}: {error.msg} (line {error.lineno})",
            "line": (error.text or "").strip(),
        }
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<run_python")]
    lines = [f"line {frame.lineno}, in {frame.name}: {frame.line or ''}" for frame in frames[-FRAMES:]]
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "its message cannot be shown"
    text = text if len(text) <= 1_000 else text[:1_000] + "…"
    name = type(error).__name__
    return {"error": f"{name}: {text}" if text else name, "traceback": lines}


def _printed(name: str, printed: Printed) -> Json:
    if not printed.total:
        return {}
    cut = printed.total > PRINTED_CHARS
    return {name: printed.text} | ({f"{name}_total_chars": printed.total} if cut else {})


@contextlib.contextmanager
def _no_input() -> Iterator[None]:
    def refused(*_: Any, **__: Any) -> str:
        raise EOFError("there is no keyboard input in run_python; put the value into the code")

    before = builtins.input
    builtins.input = refused
    try:
        yield
    finally:
        builtins.input = before


@contextlib.contextmanager
def _figures(code: str, pictures: list[bytes]) -> Iterator[None]:
    """Figures that pyplot opens inside are captured and closed, so that they show once and in their place."""
    if _imports_plotting(code):
        with contextlib.suppress(ImportError):
            importlib.import_module("matplotlib.pyplot")  # before the code does, so that its show() is ours
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    before = set(pyplot.get_fignums()) if pyplot else set()
    show = getattr(pyplot, "show", None)
    if pyplot:
        pyplot.show = lambda *_, **__: None
    try:
        yield
    finally:
        if pyplot:
            pyplot.show = show
        pyplot = pyplot or sys.modules.get("matplotlib.pyplot")  # df.plot() imports it
        for number in sorted(set(pyplot.get_fignums()) - before) if pyplot else ():
            picture = as_png(pyplot.figure(number))
            if picture:
                pictures.append(picture)
            pyplot.close(number)


def _imports_plotting(code: str) -> bool:
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return False
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.partition(".")[0] in _PLOTTING for name in names)
