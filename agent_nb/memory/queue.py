"""Turns that wait to be distilled by a model: kept until it is done, through failures and killed kernels.

A turn is taken by writing when it may be tried again, so that two processes never ask for the same one; what it yields
and its end are written in one transaction. A kernel that dies in between leaves it to be taken again later.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any

from ..errors import one_line
from ..redact import redact
from .consolidate import Turn

Json = dict[str, Any]

LEASE_S = 600
"""How long one try may take before another process may take the turn."""
PAUSES_S = (60, 600, 3_600, 21_600, 86_400)
"""Seconds until the next try, after the first, second … failure; then it waits for the user's word."""
_COLUMNS = "n, run, at, state, tries, error, next_try"
_CUT = 20_000


def put(db: Any, user: str, turn: Turn) -> None:
    """Keep a turn, without secrets; the same run twice is one turn."""
    at = _now()
    text = json.dumps(_clean(dataclasses.asdict(turn)), ensure_ascii=True, default=str)
    db.execute(
        "INSERT INTO queue (user, run, at, turn, state, tries, error, next_try) VALUES (?,?,?,?,?,?,?,?)"
        " ON CONFLICT (user, run) DO NOTHING",
        (user, turn.run, at, text, "waiting", 0, "", at),
    )


def due(db: Any, user: str) -> bool:
    """Whether a turn may be tried now."""
    found = "SELECT 1 FROM queue WHERE user=? AND state='waiting' AND next_try<=? LIMIT 1"
    return db.execute(found, (user, _now())).fetchone() is not None


def take(db: Any, user: str) -> tuple[int, int, str, Turn] | None:
    """The oldest turn that is due: its number, which try this is, the last fault, the turn. None where none is.

    One that cannot be read is set aside as failed, so that those behind it do not wait for ever.
    """
    rows = db.execute(
        "SELECT n, tries, error, turn FROM queue WHERE user=? AND state='waiting' AND next_try<=? ORDER BY n",
        (user, _now()),
    ).fetchall()
    for n, tries, error, text in rows:
        try:
            turn = Turn(**json.loads(text))
        except (ValueError, TypeError) as fault:
            told = f"the turn cannot be read ({one_line(fault)}); %memory queue drop {n}"
            db.execute(
                "UPDATE queue SET state='failed', error=?, next_try='' WHERE user=? AND n=?", (told, user, n)
            )
            continue
        db.execute(
            "UPDATE queue SET tries=?, next_try=? WHERE user=? AND n=?", (tries + 1, _now(LEASE_S), user, n)
        )
        return n, tries + 1, error, turn
    return None


def mine(db: Any, user: str, n: int, tries: int) -> bool:
    """Whether the turn still waits for the result of this try, and of no later one."""
    found = "SELECT 1 FROM queue WHERE user=? AND n=? AND tries=? AND state='waiting'"
    return db.execute(found, (user, n, tries)).fetchone() is not None


def end(db: Any, user: str, n: int) -> None:
    """It is done, in the transaction that wrote what it yielded; or the user drops it."""
    db.execute("DELETE FROM queue WHERE user=? AND n=?", (user, n))


def failed(db: Any, user: str, n: int, tries: int, error: str) -> str:
    """Keep the turn for a later try. Returns when that is, or "" where the user has to say so."""
    error = redact(error)[:500].encode("utf-8", "replace").decode()
    again = _now(PAUSES_S[tries - 1]) if tries <= len(PAUSES_S) else ""
    state = "waiting" if again else "failed"
    db.execute(
        "UPDATE queue SET state=?, error=?, next_try=? WHERE user=? AND n=? AND tries=?",
        (state, error, again, user, n, tries),
    )
    return again


def again(db: Any, user: str, n: int) -> None:
    """Try it as soon as possible, from the first try on."""
    db.execute(
        "UPDATE queue SET state='waiting', tries=0, next_try=? WHERE user=? AND n=?", (_now(), user, n)
    )


def rows(db: Any, user: str) -> list[Json]:
    """What waits, the oldest first: dicts of n, run, at, state, tries, error, next_try, goal."""
    found = db.execute(f"SELECT {_COLUMNS}, turn FROM queue WHERE user=? ORDER BY n", (user,)).fetchall()
    names = [*_COLUMNS.split(", "), "goal"]
    return [dict(zip(names, [*row[:-1], _goal(row[-1])], strict=True)) for row in found]


def _goal(text: str) -> str:
    try:
        return str(json.loads(text)["goal"])[:200]
    except (ValueError, TypeError, KeyError):
        return ""


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _clean(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value[:50]]
    return redact(value[:_CUT]) if isinstance(value, str) else value


def _now(later_s: float = 0) -> str:
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=later_s)
    return moment.isoformat(timespec="milliseconds")
