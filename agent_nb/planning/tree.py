"""The plan as a tree of subtasks: what may become of a node, which is next, and edits that are all made or none.

    pending → running → done | failed        pending, running, failed → skipped        failed → pending (changed)

What is done stays done. A node may run once all nodes that it needs are done or skipped.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import ToolInputError
from ..task import Subtask

Json = dict[str, Any]

STATES = ("pending", "running", "done", "failed", "skipped")
CLOSED = ("done", "skipped")
MOST = 12
"""Subtasks of one plan; more of them are no plan but a list of calls."""
TEXT_CHARS = 400
RESULT_CHARS = 4_000


def edit(nodes: Sequence[Subtask], edits: Iterable[Json]) -> list[Subtask]:
    """The tree after these edits, as a copy; `nodes` stays as it is.

    Args:
        edits: dicts of op (add, change, start, finish, fail, skip) and id, text, needs, expects, result.

    Raises:
        ToolInputError: an unknown id, a cycle, or a state that does not allow it; nothing is changed then.
    """
    made = copy.deepcopy(list(nodes))
    for at, given in enumerate(edits):
        try:
            _OPS[given["op"]](made, given)
        except ToolInputError as error:
            raise ToolInputError(f"edits[{at}]: {error}; nothing was changed", f"edits[{at}]") from None
    check(made)
    return made


def check(nodes: Sequence[Subtask]) -> None:
    """Raise ToolInputError where the nodes are no tree that can be walked."""
    known = {node.id: node for node in nodes}
    if len(known) < len(nodes):
        raise ToolInputError("two subtasks have one id; give each its own")
    if len(nodes) > MOST:
        raise ToolInputError(f"a plan has at most {MOST} subtasks, not {len(nodes)}; join some")
    for node in nodes:
        for need in node.needs:
            if need not in known:
                raise ToolInputError(f"subtask {node.id} needs {need!r}, which is no subtask")
    if circle := _circle(known):
        raise ToolInputError(f"these subtasks wait for each other: {' → '.join(circle)}")


def ready(nodes: Sequence[Subtask]) -> list[Subtask]:
    """The pending nodes that may run now; they do not depend on one another."""
    closed = {node.id for node in nodes if node.status in CLOSED}
    return [node for node in nodes if node.status == "pending" and closed >= set(node.needs)]


def unfinished(nodes: Sequence[Subtask]) -> list[Subtask]:
    """The nodes that are pending or running."""
    return [node for node in nodes if node.status in ("pending", "running")]


def blocked(nodes: Sequence[Subtask]) -> list[Subtask]:
    """The pending nodes that wait, at whatever distance, for one that failed."""
    stuck = {node.id for node in nodes if node.status == "failed"}
    found: list[Subtask] = []
    for _ in nodes:
        new = [n for n in nodes if n.status == "pending" and n.id not in stuck and stuck & set(n.needs)]
        stuck |= {node.id for node in new}
        found += new
    return found


def running(nodes: Sequence[Subtask]) -> Subtask | None:
    """The node that act works on; where several run, the first."""
    return next((node for node in nodes if node.status == "running"), None)


def focus(nodes: Sequence[Subtask]) -> Subtask | None:
    """See to it that a node is running where one can be; that node, or None."""
    node = running(nodes) or next(iter(ready(nodes)), None)
    if node is not None:
        node.status = "running"
    return node


def _circle(known: dict[str, Subtask]) -> list[str]:
    """Ids that need one another in a ring, or an empty list."""
    over: set[str] = set()

    def visit(id: str, path: list[str]) -> list[str]:
        if id in path:
            return [*path[path.index(id) :], id]
        if id in over:
            return []
        for need in known[id].needs:
            if found := visit(need, [*path, id]):
                return found
        over.add(id)
        return []

    return next((found for id in known if (found := visit(id, []))), [])


# -- the edits -----------------------------------------------------------------------------------------------


def _add(nodes: list[Subtask], given: Json) -> None:
    text = _text(given, "text")
    if not text:
        raise ToolInputError("a new subtask needs a text")
    taken = {node.id for node in nodes}
    id = _text(given, "id") or next(str(n) for n in range(1, len(nodes) + 2) if str(n) not in taken)
    if id in taken:
        raise ToolInputError(f"there is a subtask {id} already; change it, or leave the id out")
    nodes.append(Subtask(id[:40], text, needs=_needs(given), expects=_text(given, "expects")))


def _change(nodes: list[Subtask], given: Json) -> None:
    node = _open(nodes, given)
    node.text = _text(given, "text") or node.text
    node.expects = _text(given, "expects") if "expects" in given else node.expects
    node.needs = _needs(given) if "needs" in given else node.needs
    if node.status in ("failed", "skipped"):  # it is tried anew
        node.status, node.result, node.fails = "pending", "", 0


def _start(nodes: list[Subtask], given: Json) -> None:
    node = _open(nodes, given, "pending", "running")
    _needs_closed(nodes, node)
    node.status = "running"


def _finish(nodes: list[Subtask], given: Json) -> None:
    node = _open(nodes, given, "pending", "running")
    _needs_closed(nodes, node)
    node.status, node.result = "done", _text(given, "result", RESULT_CHARS)


def _fail(nodes: list[Subtask], given: Json) -> None:
    node = _open(nodes, given, "pending", "running")
    node.status, node.result = "failed", _text(given, "result", RESULT_CHARS)


def _skip(nodes: list[Subtask], given: Json) -> None:
    node = _open(nodes, given)
    node.status, node.result = "skipped", _text(given, "result", RESULT_CHARS)


_OPS = {"add": _add, "change": _change, "start": _start, "finish": _finish, "fail": _fail, "skip": _skip}
OPS = tuple(_OPS)


def _open(nodes: Sequence[Subtask], given: Json, *states: str) -> Subtask:
    """The node of that id, which must not be done (and in one of the states, where some are named)."""
    id = _text(given, "id")
    node = next((node for node in nodes if node.id == id), None)
    if node is None:
        known = ", ".join(node.id for node in nodes) or "none"
        raise ToolInputError(f"there is no subtask {id!r}; subtasks: {known}")
    if node.status == "done" or (states and node.status not in states):
        raise ToolInputError(f"subtask {id} is {node.status}, so it cannot {given['op']}")
    return node


def _needs_closed(nodes: Sequence[Subtask], node: Subtask) -> None:
    missing = [n.id for n in nodes if n.id in node.needs and n.status not in CLOSED]
    if missing:
        raise ToolInputError(f"subtask {node.id} needs {', '.join(missing)} first")


def _needs(given: Json) -> list[str]:
    return list(dict.fromkeys(str(need).strip() for need in given.get("needs") or []))


def _text(given: Json, field: str, chars: int = TEXT_CHARS) -> str:
    value = given.get(field)
    return " ".join(str(value).split())[:chars] if value is not None else ""
