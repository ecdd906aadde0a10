"""One user's model, tools, memory and transcript: a conversation that goes on from cell to cell."""

from __future__ import annotations

import contextlib
import datetime
import os
import pathlib
import threading
import uuid
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

from . import criteria, distilling, events, places, resuming, short_term, transcript, walking
from .approval import Asker, ask_on_terminal
from .bench import Bench
from .errors import SettingError
from .events import Event
from .folding import Folding
from .limits import Limits
from .planning import restoring
from .planning.stations import PLANNERS
from .replies import without_surrogates
from .result import Result
from .task import Task, Usage
from .tools.files import named_files
from .tools.tool import Tool, Toolbox
from .transcript import Transcript
from .zones import Zones

Json = dict[str, Any]

_OWN_STORE: Any = object()
APPROVE = ("ask", "auto", "never")


class Session:
    """A continuing conversation about one namespace.

    Args:
        model: a model's name ("offline", "claude-…", "replay:FILE"), a Model object, or None for the default.
        tools: None for the built-in data tools over `namespace` and the `@tool` functions in it; a list for
            exactly these. The memory tools come with the memory.
        memory: a Memory; left out: the user's own store; None: none.
        limits: the valves of each run.
        planner: react (no plan), plan (one is made first), hybrid (and made anew when it fails), or auto.
        approve: ask, auto or never: what happens to calls that write.
        name: of the transcript; an existing one is continued. None: a new one, named after the moment.
        rules: standing instructions.
        namespace: the variables that the tools work on.
        zones: how large the parts of the window may grow (`agent_nb.zones.Zones`); None: as config.toml says.
        asker: how the user is asked; the default asks on a terminal, and denies where there is none.

    Raises SettingError for a name or value that does not exist.
    """

    def __init__(
        self,
        model: Any = None,
        tools: Sequence[Any] | None = None,
        memory: Any = _OWN_STORE,
        limits: Limits | None = None,
        planner: str = "react",
        approve: str = "ask",
        name: str | None = None,
        rules: str = "",
        namespace: dict[str, Any] | None = None,
        user: str = "default",
        asker: Asker = ask_on_terminal,
        zones: Zones | None = None,
    ) -> None:
        self.namespace: dict[str, Any] = {} if namespace is None else namespace
        self._model: Any = model
        self._reason = ""
        self.tools = [tools] if callable(tools) else tools
        self.memory = _own_store(user) if memory is _OWN_STORE else memory
        self.limits = Limits() if limits is None else limits
        self.planner = _one_of("planner", planner, PLANNERS)
        self.approve = _one_of("approve", approve, APPROVE)
        self.name = (
            _instance("the session's name", name or "", str)
            or f"{datetime.datetime.now():%Y-%m-%d %H.%M.%S} {uuid.uuid4().hex[:4]}"
        )
        self.rules = rules or ""
        self.asker = asker
        self.zones = None if zones is None else _instance("zones", zones, Zones)
        self.result: Result | None = None
        self._files: list[str] = []
        self._cache: dict[Any, Any] = {}
        self._told: list[str] = []
        self._distilled = Usage()  # what the background spent since the last run began
        self._distiller: threading.Thread | None = None
        self._transcript = Transcript(_path(self.name))

    @classmethod
    def open(cls, name: str, **settings: Any) -> Session:
        """The session of that name, continued; the settings are those of the constructor."""
        if not _path(name).exists():
            known = ", ".join(cls.names()[:8]) or "none yet"
            raise SettingError(f"there is no session {name!r}; sessions: {known}")
        return cls(name=name, **settings)

    @staticmethod
    def names() -> list[str]:
        """Names of the saved sessions, the one used last first."""
        folder = _folder()
        if not folder.is_dir():
            return []
        files = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
        return [transcript.session_name(path) for path in files]

    # -- what a session is made of ---------------------------------------------------------------------------

    @property
    def model(self) -> Any:
        """The Model object; set it to a name or an object between runs."""
        if not hasattr(self._model, "reply"):
            from .models import choose

            self._model, self._reason = choose(self._model, self.namespace)
        return self._model

    @model.setter
    def model(self, model: Any) -> None:
        self._model, self._reason = model, ""

    @property
    def model_name(self) -> str:
        """The model's name, as the trace shows it."""
        return str(getattr(self.model, "name", type(self.model).__name__))

    @property
    def model_reason(self) -> str:
        """Why it is this model ("no credentials were found …"), or ""."""
        return self._reason or str(getattr(self.model, "note", ""))

    @property
    def limits(self) -> Limits:
        """The valves of each run; set others between runs."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        _instance("limits", limits, Limits)
        self._limits = limits

    @property
    def messages(self) -> list[Json]:
        """The history, in the Messages API's shape; always one that the API accepts."""
        return transcript.history(self._transcript.turns())

    @property
    def trace(self) -> list[Event]:
        """All events of this session, those of earlier kernels too."""
        return list(self._transcript.events)

    @property
    def summary(self) -> str:
        """All turns of this session, a line each: what the window shows of those that do not stay verbatim."""
        return short_term.of(self._transcript.turns()).summary(0)

    @property
    def state(self) -> Json:
        """The key outputs that tools declared (`keys=`), tool → the latest ones; no compression touches them."""
        return short_term.state(self._transcript.turns())

    @property
    def task(self) -> Task | None:
        """The work order of the last run of this kernel."""
        return self.result.task if self.result else None

    @property
    def usage(self) -> Usage:
        """Tokens, calls and cost of all runs of this session, and of what was distilled from them."""
        total = Usage()
        for event in self._transcript.events:
            if isinstance(event, events.RunEnded) or (isinstance(event, events.Consulted) and event.beside):
                total.include(event.usage)
        total.include(vars(self._distilled))
        return total

    @property
    def last_turn(self) -> list[Event]:
        """The events of the last goal as they count: with what was resumed, without what was taken back."""
        turns = self._transcript.turns()
        return list(turns[-1]) if turns else []

    @property
    def cards(self) -> dict[str, Json]:
        """The tool calls of the last goal: number of the card as the trace shows it → observation as a dict.

        A goal that was resumed has several runs with the same numbers; the later one counts.
        """
        found: dict[str, Json] = {}
        acted = {
            (e.run, e.step): [c["id"] for c in e.calls] for e in self.last_turn if isinstance(e, events.Acted)
        }
        for event in self.last_turn:
            ids = acted.get((event.run, event.step), [])
            if isinstance(event, events.ToolFinished) and event.id in ids:
                letter = chr(97 + ids.index(event.id) % 26) if len(ids) > 1 else ""
                found[f"{event.step}{letter}"] = event.observation
        return found

    @property
    def steps(self) -> int:
        """How many steps the last run has, those included with which it was resumed."""
        return sum(isinstance(event, events.Judged) for event in self.last_turn)

    def window(self) -> list[Json]:
        """The last call's window: dicts of part, tokens."""
        calls = [e for e in self._transcript.events if isinstance(e, events.CallStarted)]
        return calls[-1].window if calls else []

    def toolbox(self, goal: str = "", run: str = "", memory: Any = _OWN_STORE) -> Toolbox:
        """The tools of a run."""
        from .tools.builtin import builtin_tools

        memory = self.memory if memory is _OWN_STORE else memory
        self._files += [path for path in named_files(goal) if path not in self._files]
        files = [path for path in self._files if os.path.exists(path)]
        mounted: list[Any] = (
            list(self.tools) if self.tools is not None else builtin_tools(self.namespace, files)
        )
        if self.tools is None:
            mine = {
                id(v): v for k, v in self.namespace.items() if isinstance(v, Tool) and not k.startswith("_")
            }
            mounted += mine.values()
        if memory is not None:
            from .tools.memory_tools import memory_tools

            taken = {getattr(tool, "name", getattr(tool, "__name__", "")) for tool in mounted}
            mounted += [t for t in memory_tools(memory, self.name, run, goal=goal) if t.name not in taken]
        return Toolbox(mounted, namespace=self.namespace, cache=self._cache)

    def tell(self, text: str) -> None:
        """Have the next run begin with a notice."""
        self._told.append(text)

    # -- running ---------------------------------------------------------------------------------------------

    def run(self, goal: str, **overrides: Any) -> Result:
        """Work on `goal` to the end; the overrides are those of `stream`."""
        return self._outcome(self.stream(goal, **overrides))

    def _outcome(self, stream: Generator[Event, None, None]) -> Result:
        """Walk a run to its end. An interrupt ends it as one inside it would, and the result tells."""
        before = self.result
        try:
            for _ in stream:
                pass
        except KeyboardInterrupt:  # it came between two events
            stream.close()
            if self.result is before:
                raise  # … or before the first of them
        assert self.result is not None
        return self.result

    def stream(
        self,
        goal: str,
        *,
        model: Any = None,
        limits: Limits | None = None,
        approve: str | None = None,
        memory: Any = _OWN_STORE,
        use: Iterable[str] = (),
        cell: str = "",
        planner: str | None = None,
    ) -> Generator[Event, None, None]:
        """The same run, one event at a time; closing the generator stops it cleanly.

        Args:
            model: from this run on. limits, approve, memory, planner: for this run only.
            use: names of variables that are handed over: their schema enters the window.
            cell: id of the notebook cell; it replaces that cell's earlier turn.
        """
        if not _instance("the goal", goal, str).strip():
            raise SettingError("the goal is empty; write what the agent should find out or do")
        if planner is not None:
            _one_of("planner", planner, PLANNERS)
        self._transcript.refresh()
        text, wanted = criteria.split(goal)
        text = without_surrogates(text)
        task = Task(goal=goal, run=uuid.uuid4().hex[:12], session=self.name, criteria=wanted)
        task.messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
        task.planner = planner or self.planner
        bench = self._bench(task, model, limits, approve, memory)
        names = [use] if isinstance(use, str) else list(use)
        bench.handed_over = self._handed_over(bench.toolbox, names)
        turns = [t for t in self._transcript.turns() if not (cell and getattr(t[0], "cell", "") == cell)]
        bench.turns, bench.earlier = transcript.histories(turns), short_term.of(turns)
        task.before = restoring.before(turns)
        started = self._started(task, bench, cell=cell, message=task.messages[0], use=names)
        return self._walk(task, bench, started)

    def resume(self, **limits: Any) -> Result:
        """Go on with the last run where it stopped; fields of Limits may be given anew."""
        return self._outcome(self.stream_resume(**limits))

    def stream_resume(self, **limits: Any) -> Generator[Event, None, None]:
        """Go on with the last run, one event at a time.

        What that run was not allowed – tools, memory, writing, money – this one is not allowed either, in
        whichever kernel. Steps, tokens and seconds are the session's, and are counted anew. Its model and the
        variables that it was handed go on as well; what of them is not there any more is told.
        """
        self._transcript.refresh()
        turns = self._transcript.turns()
        if not turns:
            raise SettingError(f"session {self.name!r} has no run to go on with; start one with a goal")
        turn = turns[-1]
        end = next((e for e in reversed(turn) if isinstance(e, events.RunEnded)), None)
        if end is not None and end.done:
            raise SettingError("the last run is done; there is nothing to go on with")
        task, message = resuming.task_of(turn, self.name)
        was = next(event for event in reversed(turn) if isinstance(event, events.RunStarted))
        memory = _OWN_STORE if was.user else None
        missing = self._same_model(was)
        valves = resuming.valves(was, self.limits).but(**limits)
        bench = self._bench(task, None, valves, was.approve or None, memory)
        names = [name for name in was.use if name in self.namespace]
        missing += [f"the variable {name}, which it was handed" for name in was.use if name not in names]
        bench.handed_over = self._handed_over(bench.toolbox, names)
        bench.turns, bench.earlier = transcript.histories(turns[:-1]), short_term.of(turns[:-1])
        started = self._started(task, bench, was.cell, message, resumes=turn[-1].run, use=was.use)
        notice = f"this kernel does not have {' and '.join(missing)}; it goes on without" if missing else ""
        if edited := [seen.name for seen in task.observations if seen.edited]:
            notice += f"{'; ' if notice else ''}it goes on with results that you edited: {', '.join(edited)}"
        return self._walk(task, bench, started, notice)

    def _same_model(self, was: events.RunStarted) -> list[str]:
        """Choose the stopped run's model where none was chosen for this session; what could not be, in words."""
        if self._model is not None or not was.model:
            return []
        self._model = resuming.model_of(was, self.namespace)
        if self._model is None:
            return [f"the model {was.model} that it ran on"]
        self._reason = "the model of the run that it goes on with"
        return []

    def rewind(self, step: int, results: Json | None = None) -> None:
        """Take the last run back to the end of its step `step` (0: to the bare goal); `resume` goes on from there.

        Nothing is deleted: the transcript keeps what came after, and it no longer counts.

        Args:
            results: tool_use id → another result of that call, up to that step: a dict, or text. It stands in the
                transcript as the user's edit, and numbers from it are no evidence for a memory.
        """
        turns, steps = self._transcript.turns(), self.steps
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step < max(steps, 1) or not turns:
            last = f"give a step from 0 to {steps - 1}" if steps else "there is no run to take back"
            raise SettingError(f"cannot rewind to step {step!r}; {last}")
        told = resuming.edited(turns[-1], step, results or {})
        with self._transcript.alone():
            self._transcript.append(events.Rewound(run=turns[-1][-1].run, step=step, results=told))

    def fork(self, name: str, step: int | None = None) -> Session:
        """A new session that begins with this one's events, up to `step` of its last run where that is given."""
        if _path(name).exists():
            raise SettingError(f"there is a session {name!r} already; give another name")
        forked = Session(
            self._model, self.tools, self.memory, self.limits, self.planner, self.approve, name, self.rules,
            self.namespace, asker=self.asker, zones=self.zones,
        )  # fmt: skip
        with forked._transcript.alone():
            for event in self._transcript.events:
                forked._transcript.append(event)
        if step is not None:
            forked.rewind(step)
        return forked

    def last_run(self) -> events.RunStarted | None:
        """How the last run of this session began, in whichever kernel, or None."""
        turns = self._transcript.turns()
        started = [event for event in turns[-1] if isinstance(event, events.RunStarted)] if turns else []
        return started[-1] if started else None

    def _bench(
        self, task: Task, model: Any, limits: Limits | None, approve: str | None, memory: Any
    ) -> Bench:
        memory = self.memory if memory is _OWN_STORE else memory
        box = self.toolbox(task.goal, task.run, memory)
        valves = self.limits if limits is None else _instance("limits", limits, Limits)
        unknown = [name for name in valves.tools or () if name not in box.names]
        if unknown:
            raise SettingError(f"there is no tool {unknown[0]!r}; tools: {', '.join(box.names)}")
        approve = _one_of("approve", approve or self.approve, APPROVE)
        if model is not None:
            from .models import choose

            chosen, reason = choose(model, self.namespace)  # a wrong name must not stay in the session
            self._model, self._reason = chosen, reason if isinstance(model, str) else ""
        with contextlib.suppress(Exception):  # a broken store must not keep the analyst from working
            if hasattr(memory, "warm"):
                memory.warm()  # an embedder that takes seconds to load does so while the run works
        return Bench(
            model=self.model,
            toolbox=box,
            memory=memory,
            limits=valves,
            rules=self.rules,
            approve=approve,
            asker=self.asker,
            folding=Folding(self.zones or Zones.of(places.settings().get("zones", {}))),
        )

    def _handed_over(self, box: Toolbox, use: Sequence[str]) -> str:
        lines = []
        for name in use:
            if name not in self.namespace:
                known = [n for n in self.namespace if not n.startswith("_")]
                raise SettingError(
                    f"there is no variable {name!r} to hand over; there are {', '.join(known[:12])}"
                )
            if box.get("list_variables"):
                lines.append(box.run("use", "list_variables", {"pattern": name}).text)
            else:
                lines.append(f"{name}: {type(self.namespace[name]).__name__}")
        return "\n".join(lines)

    def _started(
        self, task: Task, bench: Bench, cell: str, message: Json, use: list[str], resumes: str = ""
    ) -> Event:
        return events.RunStarted(
            run=task.run,
            goal=task.goal,
            message=message,
            session=self.name,
            model=self.model_name,
            model_reason=self.model_reason,
            planner=task.planner,
            limits=bench.limits.to_dict(),
            tools=[schema["name"] for schema in bench.schemas()],
            user=str(getattr(bench.memory, "user", "")),
            approve=bench.approve,
            cell=cell,
            use=use,
            rules=bench.rules,
            resumes=resumes,
        )

    def _walk(
        self, task: Task, bench: Bench, started: Event, notice: str = ""
    ) -> Generator[Event, None, None]:
        """Each event is saved, then shown. However it ends, the transcript and the result agree."""
        shown: list[Event] = []
        notices = [text for text in (self._transcript.begin(), notice) if text]
        opening = [started, *self._from_the_background(task.run)]
        opening += [events.Noticed(run=task.run, text=text) for text in notices]
        try:
            yield from walking.walk(task, bench, self._transcript, shown, opening)
        finally:
            self._transcript.end()
            self.result = Result.of(task, shown)
            self._distil(bench)

    def _from_the_background(self, run: str) -> Iterator[Event]:
        """What distilling took and told since the last run began."""
        if self._distilled.calls and not self._is_distilling():
            spent, self._distilled = self._distilled, Usage()
            usage = dict(vars(spent))
            yield events.Consulted(run=run, what=distilling.WHAT, beside=True, usage=usage, cost=spent.cost)
        while self._told:
            yield events.Noticed(run=run, text=self._told.pop(0))

    def _is_distilling(self) -> bool:
        return self._distiller is not None and self._distiller.is_alive()

    def _distil(self, bench: Bench) -> None:
        """Let the model distil what waits, in the background: the answer is shown already."""
        if not self._is_distilling() and distilling.wanted(bench.model, bench.memory):
            self._distiller = distilling.start(bench.memory, bench.model, self._told, self._distilled)


def _own_store(user: str) -> Any:
    from .memory import Memory

    return Memory(user=user)


def _folder() -> pathlib.Path:
    from .places import home

    return home() / "sessions"


def _path(name: str) -> pathlib.Path:
    return _folder() / transcript.file_name(name)


def _instance(what: str, value: Any, wanted: type) -> Any:
    if not isinstance(value, wanted):
        raise SettingError(f"{what} is {value!r:.60}; give a {wanted.__name__}")
    return value


def _one_of(what: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise SettingError(f"{what} is {value!r}; choose one of {', '.join(choices)}")
    return value
