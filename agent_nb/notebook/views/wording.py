"""Short words for what both views say: statuses, sizes, labels. Plain text, no markup."""

from __future__ import annotations

import collections
import json
import re
from typing import Any

from ...events import Consolidated, Loaded
from .story import Call, Run, Step

Json = dict[str, Any]

STATIONS = ("load", "plan", "act", "observe", "judge", "consolidate")

_STATUS = {
    "done": ("done", "good"),
    "needs_input": ("asks you", "warn"),
    "limit_steps": ("stopped: no steps left", "warn"),
    "limit_tokens": ("stopped: no tokens left", "warn"),
    "limit_cost": ("stopped: no money left", "warn"),
    "limit_seconds": ("stopped: no time left", "warn"),
    "no_progress": ("stopped: no progress", "warn"),
    "interrupted": ("stopped by you", "warn"),
    "truncated": ("cut off", "bad"),
    "empty": ("no answer", "bad"),
    "context_full": ("window full", "bad"),
    "refused": ("refused", "bad"),
    "error": ("failed", "bad"),
}


def status(run: Run) -> tuple[str, str]:
    """(words, tone) of a run; the tone is good, warn, bad or live."""
    if run.ended is None:
        last = next(reversed(run.steps.values()), None)
        asking = last is not None and any(call.state == "asking" for call in last.calls)
        return ("waits for you", "warn") if asking else ("running", "live")
    return _STATUS.get(run.ended.stop_reason, (run.ended.stop_reason or "ended", "warn"))


def ending(run: Run) -> str:
    """Why a run that is not done came to its end, and what its reader can do now."""
    if run.ended is None or run.ended.done:
        return ""
    stop = run.ended.stop_reason
    hint = "answer in the next %%agent cell" if stop == "needs_input" else ""
    if stop == "interrupted" or stop.startswith("limit_"):
        hint = "%agent resume goes on"
    return "; ".join(part for part in (run.ended.reason, hint) if part)


def taken_back(run: Run) -> str:
    """That the run was taken back afterwards, and with which results edited."""
    if run.rewound is None:
        return ""
    named = [f"{number(step, i)} {call.name}" for step, call, i in run.cards if call.replaced]
    edited = f", with the result of {', '.join(named[:8])} edited" if named else ""
    return f"taken back by you to the end of step {run.rewound.step}{edited}"


def reason(why: str) -> str:
    """Why this model, in brackets; that it was asked for goes without saying."""
    return "" if not why or why.endswith("was asked for") else f" ({clip(why, 160)})"


def count(number: Any, noun: str) -> str:
    """'1 row', '2 rows', '336,776 rows'."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def size(number: float | None) -> str:
    """A count in few letters: 812, 6.1k, 100k, 1.2M."""
    if number is None:
        return "–"
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if number >= limit:
            value = number / limit
            return f"{value:.0f}{unit}" if value >= 100 or value == int(value) else f"{value:.1f}{unit}"
    return f"{number:g}"


def figure(value: float) -> str:
    """A measured number with the digits that say something; the whole value stays in the kernel."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if abs(value) < 1_000 or abs(value) >= 1e15:
        return f"{value:.6g}"
    return f"{value:,.2f}".removesuffix("0").removesuffix(".0").replace(",", "")


def money(cost: float | None) -> str:
    """Dollars with as many digits as say something; "–" where no price is known."""
    if cost is None:
        return "–"
    return f"${cost:.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}".rstrip("0")


def duration(ms: float) -> str:
    """Milliseconds as people say them."""
    if ms < 1:
        return f"{ms:.1f} ms"
    if ms < 1_000:
        return f"{ms:.0f} ms"
    return f"{ms / 1_000:.1f} s" if ms < 100_000 else f"{ms / 60_000:.0f} min"


def clip(text: str, chars: int) -> str:
    """One line of at most `chars` characters, "…" where it was cut."""
    line = " ".join(str(text)[: chars * 8].split())
    return line if len(line) <= chars else line[: chars - 1].rstrip() + "…"


def field(row: Json, name: str, chars: int) -> str:
    """A field of a row from a transcript, as one line; "" where it is missing."""
    return clip(row.get(name) or "", chars)


def cut(text: str, chars: int, total: Any = 0) -> tuple[str, str]:
    """(text of at most `chars` characters, what was cut in words or ""). `total`: of the text before it came here."""
    whole = max(len(text), total if isinstance(total, int) else 0)
    shown = text[:chars]
    return shown, f"first {len(shown):,} of {whole:,} characters" if whole > len(shown) else ""


_SQL = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()]|\s+(?P<clause>(?:FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|UNION"
    r"|(?:LEFT |INNER |CROSS |FULL )?JOIN|QUALIFY|SELECT|WITH)\b)",
    re.IGNORECASE,
)


def sql_lines(query: str) -> str:
    """A query written in one long line, broken before its clauses; only white space is changed."""
    if "\n" in query.strip() or len(query) < 90:
        return query
    depth = 0

    def broken(found: re.Match[str]) -> str:
        nonlocal depth
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if found["clause"] is None:
            return found.group()
        return "\n" + "  " * min(max(depth, 0), 8) + found["clause"]

    return _SQL.sub(broken, query)


def written(field: str, code: str) -> str:
    """SQL or Python of an argument, as it is shown."""
    return (code if field == "code" else sql_lines(code)).strip("\n")


_PLAIN = re.compile(r"\*+|`+|^[#>]+\s*|\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)", re.MULTILINE)


def number(step: Step, position: int) -> str:
    """The number of a call: that of its step, with a letter where the step makes several."""
    return f"{step.number}{chr(97 + position % 26) if step.several else ''}"


def label(step: Step, call: Call, position: int) -> str:
    """What a call is for, in a line: the first sentence of the thought, else its own arguments."""
    thought = _PLAIN.sub(lambda m: m.group(1) or "", step.text[:2_000]) if position == 0 else ""
    sentence = re.split(r"(?<=[.!?])\s|(?<=[。！？])|\n", thought.strip(), maxsplit=1)[0]
    if sentence:
        return clip(sentence.rstrip(".。:："), 110)
    if call.name == "update_plan" and isinstance(edits := call.input.get("edits"), list):
        return clip(", ".join(_edit(edit) for edit in edits if isinstance(edit, dict)), 110)
    if isinstance(call.input.get("query"), str) and (told := query_line(call.input["query"])):
        return clip(told, 110)
    for field in ("title", "query", "code", "text", "name", "pattern"):
        if isinstance(call.input.get(field), str) and call.input[field].strip():
            return clip(call.input[field], 110)
    return clip(", ".join(f"{key} {value}" for key, value in call.input.items()), 110)


def _edit(edit: Json) -> str:
    """An edit of the plan in a few words: "finish 1", "add look at July"."""
    return f"{field(edit, 'op', 20)} {field(edit, 'id', 20) or field(edit, 'text', 60)}".rstrip()


_NAME = r'(?:[\w.]+|"[^"]+")'
_FROM = re.compile(rf"\bFROM\s+({_NAME})", re.IGNORECASE)
_GROUPED = re.compile(rf"\bGROUP\s+BY\s+({_NAME}(?:\s*,\s*{_NAME})*)", re.IGNORECASE)
_FIRST = re.compile(rf"\bSELECT\b[^,]*?\bAS\s+({_NAME})\s*,", re.IGNORECASE)


def query_line(query: str) -> str:
    """A long query by what it groups: "flights by carrier"; "" for one that is short or groups nothing."""
    table, groups = _FROM.search(query), _GROUPED.search(query)
    if len(query) <= 110 or not table or not groups:
        return ""
    columns = groups.group(1)
    if columns == "1" and (first := _FIRST.search(query)):
        columns = first.group(1)
    return f"{table.group(1)} by {columns}" if not columns.isdigit() else ""


def outcome(call: Call) -> tuple[str, str]:
    """(words, tone) for what came of a call."""
    if call.state == "running":
        return "running", "live"
    if call.state == "asking":
        return "waits for your word", "warn"
    if call.state == "stopped":
        return "stopped before it ended", "warn"
    if call.state == "denied":
        return denial(call), "bad"
    if call.state == "error":
        return clip(call.body.get("error") or call.raw or "failed", 120), "bad"
    return found(call), ""


def denial(call: Call) -> str:
    """Who denied a call and why."""
    if call.verdict is None:
        return clip(call.body.get("error") or "denied", 120)
    who = "denied by you" if call.verdict.by in ("widget", "input") else "denied by policy"
    return f"{who}: “{clip(call.verdict.reason, 90)}”" if call.verdict.reason else who


def found(call: Call) -> str:
    """What a successful call brought, in a few words."""
    body, total = call.body, call.seen.get("total_rows")
    if "chart" in body:
        return "chart below" if call.seen.get("artifacts") else "chart"
    if total is not None:
        return count(total, "row")
    if isinstance(body.get("variables"), list):
        return count(len(body["variables"]), "variable")
    if printed := str(body.get("stdout") or "").strip():
        return clip(printed, 60)
    if body.get("value") is not None:
        return clip(json.dumps(body["value"], ensure_ascii=False), 60)
    if isinstance(body.get("text"), str):
        return clip(body["text"], 60)
    return clip(call.raw, 60) if not body else "ok"


def table_note(call: Call, rows: int, columns: int) -> str:
    """How much of the table is shown, and under which name the whole stays."""
    total, name = call.seen.get("total_rows"), call.seen.get("value_name")
    notes = []
    if total is not None and total > rows:
        notes.append(f"first {rows:,} of {total:,} rows")
    wide = call.body.get("total_columns")
    wide = wide if isinstance(wide, int) else len(call.seen.get("columns") or [])
    if wide > columns:
        notes.append(f"first {columns} of {wide:,} columns")
    if name:
        notes.append(
            f"the whole {'table' if total is not None else 'value'} is {name}" if notes else f"kept as {name}"
        )
    return " · ".join(notes)


_NODE = {"pending": ("○", "quiet"), "running": ("▶", "live"), "done": ("✓", "good")}
_NODE |= {"failed": ("✗", "bad"), "skipped": ("–", "quiet")}


def node_sign(node: Json, over: bool) -> tuple[str, str]:
    """(sign, tone) of a subtask; one that was running when the run ended was stopped."""
    status = str(node.get("status"))
    return ("■", "warn") if over and status == "running" else _NODE.get(status, ("·", "quiet"))


def node_more(node: Json) -> str:
    """What a subtask needs and expects, while that still matters."""
    if node.get("status") in ("done", "skipped"):
        return ""
    needs = node.get("needs")
    said = [f"needs {clip(', '.join(map(str, needs)), 60)}"] if isinstance(needs, list) and needs else []
    said += [f"expects {field(node, 'expects', 100)}"] if node.get("expects") else []
    return f"({'; '.join(said)})" if said else ""


def node_result(node: Json) -> str:
    """What a subtask came to, in a line: a table under it stays in the answer."""
    said = field(node, "result", 1_000)
    head = re.split(r"(?:^|\s)\|\s", said)[0].replace("**", "").rstrip(" :：")
    return clip(head or said, 100)


def plan_count(nodes: list[Json]) -> str:
    """'3 subtasks, 1 done'."""
    done = sum(node.get("status") == "done" for node in nodes if isinstance(node, dict))
    return count(len(nodes), "subtask") + (f", {done} done" if done else "")


def plan_tree(nodes: list[Json]) -> list[tuple[Json, int]]:
    """Each subtask of a plan of several, with how deep it stands: one more than the deepest that it needs."""
    depths: dict[str, int] = {}
    found = []
    for node in nodes[:50] if len(nodes) > 1 else ():
        if isinstance(node, dict):
            needs = node.get("needs") if isinstance(node.get("needs"), list) else []
            depth = min(
                max((depths[str(need)] + 1 for need in needs or () if str(need) in depths), default=0), 6
            )
            depths[str(node.get("id"))] = depth
            found.append((node, depth))
    return found


def loaded(event: Loaded) -> tuple[str, str]:
    """(how much of memory entered the window, by which way)."""
    if not event.total and not event.hits:
        return "nothing is remembered yet", duration(event.ms)
    of = f" of {event.total:,}" if event.total else ""
    memo = f"{len(event.memo)} standing in the memo" if event.memo else ""
    said = [gates_line(event.gates), memo, f"{event.tokens:,} tokens", duration(event.ms)]
    one = len(event.hits) == 1 and event.total <= 1
    noun = "memory" if one else "memories"
    return f"{len(event.hits)}{of} {noun} given to the model", " · ".join(part for part in said if part)


def consolidated(event: Consolidated) -> str:
    """How much was kept and left out."""
    if not event.written and not event.left_out:
        return "nothing further to keep"
    return f"{len(event.written)} kept, {len(event.left_out)} left out"


def gates_line(gates: list[Json]) -> str:
    """'38 candidates → 9 close enough → 2 fit'."""
    words = {"candidates": "candidates", "score": "close enough", "budget": "fit"}
    told = [
        f"{gate.get('left', 0):,} {words.get(str(gate.get('name')), gate.get('name'))}" for gate in gates[1:]
    ]
    return " → ".join(told).replace("1 candidates", "1 candidate") if gates else ""


def sources(rows: list[Json]) -> list[str]:
    """For each number the source to name, "" where it has none: that which vouches for most of the answer.

    A number may stand in several results; naming the same one again and again is easier to follow.
    """
    held = collections.Counter(source for row in rows for source in set(row.get("sources") or ()))
    return [max(row.get("sources") or [""], key=lambda source: held[source]) for row in rows]


def evidence_line(evidence: list[Json]) -> str:
    """'3 of 4 numbers have evidence', or "" for an answer without numbers."""
    if not evidence:
        return ""
    held = sum(bool(row.get("sources")) for row in evidence)
    if len(evidence) == 1:
        return "the number has evidence" if held else "the number has no evidence"
    if held == len(evidence):
        return f"all {held} numbers have evidence"
    return f"{held} of {len(evidence)} numbers have evidence"


def valve(name: str, used: Any, limit: Any) -> str:
    """'4 / 12', '6.1k / 100k', '$0.02 / $1', '2.8 s / 600 s'."""
    if name == "seconds":
        text = f"{used:.1f} s" if used < 100 else f"{used:.0f} s"
        return f"{text} / {limit:g} s" if limit else text
    form = money if name == "cost" else size
    return f"{form(used)} / {form(limit)}" if limit is not None else form(used)
