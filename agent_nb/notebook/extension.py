"""Into the notebook and out of it again: `%load_ext agent_nb`, `%unload_ext agent_nb`."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import completion, verbatim
from .desk import Desk
from .magics import Magics, registered

PACKAGE = "agent_nb"
_MISSING: Any = object()


@dataclasses.dataclass
class _Loaded:
    """What was put where, and what was there before."""

    magics: Magics
    matcher: Any
    cleanups: tuple[Any, Any]
    line: Any
    before: list[tuple[dict[str, Any], str, Any]]
    lazily: bool


_loaded: dict[int, _Loaded] = {}


def load(shell: Any) -> None:
    """Register the magics, their transformers and their completion. Doing it again does no harm.

    Where another package owns `%%agent` (or `%memory`), it is said, and ours is `%%agent_nb` (`%memory_nb`).
    """
    if id(shell) in _loaded:
        return
    agent, memory = (_free(shell, name) for name in ("agent", "memory"))
    magics = Magics(Desk(shell), agent, memory)
    tables = shell.magics_manager.magics
    before = []
    for kind, functions in registered(magics).items():
        for name, function in functions.items():
            before.append((tables[kind], name, tables[kind].get(name, _MISSING)))
            tables[kind][name] = function
    cleanups = verbatim.cell_transformer([agent]), verbatim.line_gluer([agent, memory])
    line = verbatim.line_transformer([agent, memory])
    transforms = shell.input_transformer_manager
    transforms.cleanup_transforms[:] = [cleanups[0], *transforms.cleanup_transforms, cleanups[1]]
    transforms.token_transformers.append(line)
    shell.events.register("pre_run_cell", magics.remember_cell)
    matcher = completion.matcher(magics)
    if shell.Completer is not None:
        shell.Completer.custom_matchers.append(matcher)
    lazily = PACKAGE in getattr(shell.magics_manager, "_loaded_lazy", ())
    _loaded[id(shell)] = _Loaded(magics, matcher, cleanups, line, before, lazily)


def unload(shell: Any) -> None:
    """Put everything back as it was before `load`."""
    loaded = _loaded.pop(id(shell), None)
    if loaded is None:
        return
    for table, name, was in reversed(loaded.before):
        if was is _MISSING:
            table.pop(name, None)
        else:
            table[name] = was
    if loaded.lazily:  # the placeholder is back, and may load us once more
        shell.magics_manager._loaded_lazy.discard(PACKAGE)
    for cleanup in loaded.cleanups:
        _without(shell.input_transformer_manager.cleanup_transforms, cleanup)
    _without(shell.input_transformer_manager.token_transformers, loaded.line)
    shell.events.unregister("pre_run_cell", loaded.magics.remember_cell)
    if shell.Completer is not None:
        _without(shell.Completer.custom_matchers, loaded.matcher)
    loaded.magics.desk.close()


def _free(shell: Any, name: str) -> str:
    """`name`, or another one where someone else's magic has it already."""
    owner = next(
        (
            function
            for kind in ("cell", "line")
            if (function := shell.magics_manager.magics[kind].get(name)) is not None
            and not _is_placeholder(function)
        ),
        None,
    )
    if owner is None:
        return name
    ours, sign = f"{name}_nb", "%%" if name == "agent" else "%"
    whose = getattr(owner, "__module__", None) or type(owner).__module__
    print(f"{sign}{name} belongs to {whose} already; agent_nb is {sign}{ours} here.")
    return ours


def _is_placeholder(function: Any) -> bool:
    """Whether it only stands for us, until it is used."""
    return getattr(function, "spec", "").partition(":")[0].partition(".")[0] == PACKAGE


def _without(things: list[Any], thing: Any) -> None:
    things[:] = [each for each in things if each is not thing]
