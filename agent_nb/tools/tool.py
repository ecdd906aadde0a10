"""A tool is a typed function with a docstring; a toolbox checks its arguments, runs it and shows its result.

@tool(effect="write", keys=("order_id",))
def modify_address(order_id: str, address: str) -> dict:
    \"\"\"Change the address of an order that is not shipped yet.

    Args:
        order_id: as it stands on the invoice.
        address: the new one, in full.
    \"\"\"
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, overload

from ..errors import CutShort, SettingError, ToolError, ToolInputError, one_line
from ..redact import secret_values
from ..task import Observation
from . import result, schema
from .check import check
from .plain import Plainly
from .waiting import awaited

Json = dict[str, Any]
EFFECTS = ("read", "write", "external")
MEMORY = ("none", "short", "long")


@dataclasses.dataclass(eq=False)
class Tool:
    """A function that a model may call. Callable like the function itself.

    Args:
        name: letters, digits, _ and -; at most 64.
        input_schema: JSON schema of its arguments, an object.
        function: takes the arguments by name.
        effect: read (runs at once), write or external (asks first).
        takes: seconds that a call is expected to take.
        memory: what is worth keeping of its results: none, short (this session), long.
        keys: names of arguments or result fields (ids, statuses) for the task-state slot.
        parallel: may run in a thread beside others.
        asks: False for a tool that writes and yet never asks (saving a memory).
        cached: the same call again in a session is answered from the cache, until a tool writes. None: where
            it only reads and its results are worth keeping for the session (memory="short"). Tools that read
            the notebook are never cached: a table may change between two calls, and a stale answer is worse
            than a slow one.
        bind: a checked input → (positional, keyword) arguments; None: all by keyword.
    """

    name: str
    description: str
    input_schema: Json
    function: Callable[..., Any]
    effect: str = "read"
    takes: float = 1.0
    memory: str = "none"
    keys: tuple[str, ...] = ()
    parallel: bool = False
    asks: bool = True
    cached: bool | None = None
    bind: Callable[[Json], tuple[list[Any], Json]] | None = None

    def __post_init__(self) -> None:
        self.keys = (self.keys,) if isinstance(self.keys, str) else tuple(self.keys)
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.name):
            raise SettingError(
                f"a tool cannot be named {self.name!r}; use @tool(name=…) with letters, digits, _ or -"
            )
        for label, value, allowed in (("effect", self.effect, EFFECTS), ("memory", self.memory, MEMORY)):
            if value not in allowed:
                raise SettingError(f"tool {self.name}: {label} is {value!r}; use one of {', '.join(allowed)}")
        if isinstance(self.takes, bool) or not isinstance(self.takes, (int, float)) or not self.takes >= 0:
            raise SettingError(
                f"tool {self.name}: takes is {self.takes!r}; give the seconds that a call takes"
            )
        if self.cached is None:
            self.cached = self.memory == "short"
        self.cached = self.cached and self.effect == "read"
        functools.update_wrapper(self, self.function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name} ({self.effect})>"

    def schema(self) -> Json:
        """The tool as the Messages API takes it."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    def run(self, checked: Json) -> Any:
        """Call the function with an input that was checked; a coroutine is run to its end."""
        args, kwargs = self.bind(copy.deepcopy(checked)) if self.bind else ([], copy.deepcopy(checked))
        value = self.function(*args, **kwargs)
        return awaited(value) if inspect.iscoroutine(value) else value


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    effect: str = "read",
    takes: float = 1.0,
    memory: str = "none",
    keys: Iterable[str] = (),
    parallel: bool = False,
    name: str = "",
    asks: bool = True,
    cached: bool | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
    """Make a tool of a typed function with a docstring (Google or NumPy style).

    Args:
        effect: read, write or external; the last two ask before they run.
        takes: seconds that a call is expected to take.
        memory: none, short or long: what is worth keeping of its results.
        keys: names of arguments or result fields (ids, statuses) that the task keeps at hand; a tool that
            writes is not run with an identifier under such a name that nobody gave and no result showed.
        parallel: may leave the main thread and run beside other tools.
        name: in place of the function's own.
        asks: False: never asks, though it writes.
        cached: the same call again in a session is answered from the cache; by default where memory="short".

    Raises:
        SettingError: a parameter without a type, `*args`, or a type that JSON cannot carry.
    """
    caller = sys._getframe(1).f_locals  # so that annotations may name classes of the enclosing function
    if function is not None:
        return _make(function, dict(caller), {})
    unknown = set(settings) - {f.name for f in dataclasses.fields(Tool)} | set(settings) & {
        "function",
        "bind",
    }
    if unknown:
        raise SettingError(f"@tool has no setting {min(unknown)!r}")
    return lambda function: _make(function, dict(caller), settings)


def _make(function: Any, names: Json, settings: Json) -> Tool:
    if isinstance(function, Tool):
        return dataclasses.replace(function, **settings) if settings else function
    if not callable(function):
        raise SettingError(f"a tool is a function, not {type(function).__name__}")
    signature = schema.read(function, names)
    settings = dict(settings)
    name = settings.pop("name", "") or getattr(function, "__name__", type(function).__name__)
    description = settings.pop("description", "") or signature.description or name.replace("_", " ")
    return Tool(name, description, signature.schema, function, bind=signature.bind, **settings)


class Toolbox:
    """The tools of one session: their schemas, their calls, their results.

    Args:
        tools: Tool objects, or plain typed functions.
        namespace: where whole results stay as `_r1`, `_r2`, …; a dict of its own where None.
        sizes: how much of a result the model gets.
        cache: answers of `cached` tools so far; give the same dict again to keep them over several runs.

    Raises:
        SettingError: two tools of one name, or a function that is no tool.
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        namespace: Json | None = None,
        sizes: result.Sizes | None = None,
        cache: dict[str, Any] | None = None,
    ) -> None:
        self.namespace: Json = {} if namespace is None else namespace
        self.sizes = sizes or result.Sizes()
        self._cache: dict[str, Any] = {} if cache is None else cache
        self._tools: dict[str, Tool] = {}
        self._naming = threading.Lock()
        self._values = {name for name in list(self.namespace) if _is_value_name(name)}
        self._named = max((int(name[2:]) for name in self._values), default=0)
        for each in tools:
            self.add(each)

    def add(self, function: Any) -> Tool:
        """Mount one more tool."""
        added = _make(function, {}, {})
        if added.name in self._tools:
            raise SettingError(f"two tools are named {added.name!r}; rename one with @tool(name=…)")
        self._tools[added.name] = added
        return added

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    @property
    def names(self) -> list[str]:
        """Names of the tools, in the order in which they were mounted."""
        return list(self._tools)

    def schemas(self) -> list[Json]:
        """name, description and input_schema of each tool, as the Messages API takes them."""
        return [each.schema() for each in self._tools.values()]

    def validate(self, name: str, input: Json) -> Json:
        """The input as the tool's schema wants it, as a copy (3.0 for an integer becomes 3).

        Raises:
            ToolInputError: names the field and what was expected.
        """
        mounted = self._tools.get(name)
        if mounted is None:
            raise ToolInputError(self._unknown(name))
        if not isinstance(input, dict):
            raise ToolInputError(
                f"the input of {name} is {type(input).__name__}; expected an object", "", "an object"
            )
        checked: Json = check(mounted.input_schema, input)
        return copy.deepcopy(checked)

    def run(self, id: str, name: str, input: Json) -> Observation:
        """Check, call and show. What goes wrong becomes an observation, but for an interrupt and the end of time."""
        begun = time.perf_counter()
        given = input if isinstance(input, dict) else {}
        mounted = self._tools.get(name)
        if mounted is None:
            told = result.error(self._unknown(name))
            return Observation(id, name, given, ok=False, content=told, kind="unknown_tool")
        try:
            checked = self.validate(name, input)
        except ToolInputError as error:
            told = _input_error(error)
            return Observation(
                id, name, given, ok=False, content=told, effect=mounted.effect, kind="bad_input"
            )
        key = f"{name} {json.dumps(checked, sort_keys=True, default=str)}" if mounted.cached else ""
        if mounted.cached and key in self._cache:
            return _again(self._cache[key], id, begun)
        seen = Observation(id, name, checked, ok=False, content=[], effect=mounted.effect)
        seen = dataclasses.replace(self._call(mounted, seen), ms=_ms(begun))
        if mounted.effect != "read":
            self._cache.clear()
        elif mounted.cached and seen.ok:
            self._cache[key] = seen
        return seen

    def _call(self, mounted: Tool, seen: Observation) -> Observation:
        try:
            value = mounted.run(seen.input)
        except (KeyboardInterrupt, CutShort):
            raise
        except ToolInputError as error:
            return dataclasses.replace(seen, content=_input_error(error), kind="failed")
        except ToolError as error:
            return self._failed(seen, str(error))
        except BaseException as error:  # SystemExit and the like from a tool must not end the kernel
            return self._failed(seen, one_line(error))
        kept = value.value if isinstance(value, result.Reply) else value
        name = "" if kept is result.NOTHING or kept is None else self._keep(kept)
        shown = result.hide(result.show(value, name, self.sizes), self._secrets())
        return dataclasses.replace(
            seen,
            ok=shown.ok,
            content=shown.content,
            value_name=name,
            columns=shown.columns,
            rows=shown.rows,
            total_rows=shown.total_rows,
            artifacts=shown.artifacts,
            keys=_keys(mounted.keys, seen.input, kept),
            kind="" if shown.ok else "failed",
        )

    def _failed(self, seen: Observation, text: str) -> Observation:
        shown = result.hide(result.Shown(result.error(text)), self._secrets())
        return dataclasses.replace(seen, content=shown.content, kind="failed")

    def _secrets(self) -> list[str]:
        return secret_values(self.namespace, os.environ, but=self._values)

    def _keep(self, value: Any) -> str:
        """Put a whole result into the namespace under the next name that nobody uses."""
        with self._naming:
            while True:
                self._named += 1
                name = f"_r{self._named}"
                if name not in self.namespace:
                    self.namespace[name] = value
                    self._values.add(name)
                    return name

    def _unknown(self, name: str) -> str:
        return f"there is no tool {name!r}; tools: {', '.join(self._tools) or 'none'}"


def _is_value_name(name: Any) -> bool:
    return isinstance(name, str) and re.fullmatch(r"_r[1-9]\d{0,8}", name) is not None


def _input_error(error: ToolInputError) -> list[Json]:
    return result.error(str(error), field=error.field, expected=error.expected)


def _again(seen: Observation, id: str, begun: float) -> Observation:
    """An earlier answer under a new id, saying that it is one."""
    head = json.loads(seen.content[0]["text"])
    text = json.dumps({"ok": head.pop("ok"), "cached": True, **head}, ensure_ascii=False)
    content = [{"type": "text", "text": text}, *seen.content[1:]]
    return dataclasses.replace(copy.deepcopy(seen), id=id, content=content, cached=True, ms=_ms(begun))


def _ms(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1_000, 3)


def _keys(names: tuple[str, ...], given: Json, value: Any) -> Json:
    """The declared keys: from the result where it has them, else from the arguments."""
    found: Json = {}
    for name in names:
        try:
            inner = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        except Exception:  # a result may do anything when it is asked
            inner = None
        inner = given.get(name) if inner is None or callable(inner) else inner
        if inner is not None:
            found[name] = Plainly(500, 50)(inner)
    return found
