"""Forgetting by rule: what is out of use sinks first and goes later, and no clock can destroy anything at once.

A record lives for the period of its type, counted from the moment of writing and renewed by use. Unused for one
period it is `low`: it ranks lower, and mostly its own words find it. Unused for two it is removed. What was
superseded or revoked is removed after SUPERSEDED_DAYS, so that its history can be read until then.

The machine's own clock is not believed blindly. Under it a run first marks, and a record goes when a whole period
has been lived through since its mark. Days are lived through from run to run, at most GAP_DAYS for each: a clock
that jumps ahead by years adds a week, one that jumps back adds nothing, and marks are lifted once a record turns out
to be in use. A store that is seldom opened forgets later, never earlier.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from typing import Any

from ..errors import SettingError
from . import settings, store
from .record import MemoryRecord

DAYS: dict[str, int] = {"preference": 365, "fact": 180, "decision": 180, "experience": 90, "episode": 30}
"""Period in days, by type; constraints and profiles have none."""

SUPERSEDED_DAYS = 180
RARE_DAYS = 90
"""A record that was not recalled for so long is rare."""
GAP_DAYS = 7
"""Days that count as lived through between two runs, at most."""
FACTOR = {"": 1.0, "rare": 0.9, "low": 0.6}
"""What the score of a record is multiplied by."""
DECAYS = {"slow": 0.02, "normal": 0.07, "fast": 0.15}
"""Presets of λ in e^(−λ·days since last access)."""

RAN, LIVED = "expired_on", "days_lived"
"""Settings: the day (UTC) of the last run under the machine's clock; days lived through until then."""
_LOGGED = {"removed": "expired", "low": "low"}


@dataclasses.dataclass(frozen=True)
class Due:
    """A record that a run removes (`action` removed) or marks (low, ended), and why."""

    record: MemoryRecord
    action: str
    reason: str

    def row(self) -> dict[str, str]:
        """As `Memory.expire` tells it."""
        return {
            "id": self.record.id,
            "text": self.record.text,
            "reason": self.reason,
            "action": self.action,
        }


def rate(decay: float | str) -> float:
    """λ of a preset or a number. Raises SettingError for anything else."""
    found = DECAYS.get(decay, -1.0) if isinstance(decay, str) else decay
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < math.inf:
        raise SettingError(f"decay is {decay!r}; give slow, normal, fast or a number from 0 on")
    return float(found)


def renewed(record: MemoryRecord, now: datetime.datetime) -> datetime.datetime | None:
    """When the period of a record ends that is used at `now`."""
    if record.expires is None or record.type not in DAYS:
        return record.expires
    return max(record.expires, now + datetime.timedelta(days=DAYS[record.type]))


def removal(record: MemoryRecord) -> datetime.datetime | None:
    """When a record goes that nobody uses: a second period after the first; None for never."""
    if record.expires is None:
        return None
    return record.expires + datetime.timedelta(days=DAYS.get(record.type, 0))


def standing(record: MemoryRecord, now: datetime.datetime) -> str:
    """ "" for in use, else rare (not recalled for RARE_DAYS) or low (unused for its period)."""
    if record.expires is not None and record.expires <= now:
        return "low"
    last = max(record.last_access or record.recorded, record.recorded)
    return "rare" if now - last > datetime.timedelta(days=RARE_DAYS) else ""


def run(
    db: Any, user: str, now: datetime.datetime, trusted: bool, dry_run: bool = False
) -> list[dict[str, str]]:
    """Remove and mark what is due at `now`, in the caller's transaction; rows of id, text, reason, action.

    Args:
        trusted: `now` was named by the caller; else it is the machine's clock, which may be wrong.
    """
    lived = _lived(db, user, now)
    found, kept = due(db, user, now, None if trusted else lived)
    if not dry_run:
        for each in found:
            id, type = each.record.id, each.record.type
            if each.action == "removed":
                store.delete(db, user, id)
            store.note(db, user, _LOGGED[each.action], id, type=type, reason=each.reason)
        db.execute("DELETE FROM marks WHERE user=?", (user,))
        rows = [(user, id, lived if day is None else day) for id, day in kept.items()]
        db.executemany("INSERT INTO marks (user, record, day) VALUES (?,?,?)", rows)
        if not trusted:
            settings.write(db, user, RAN, now.date().isoformat())
            settings.write(db, user, LIVED, str(lived))
    return [each.row() for each in found]


def is_due_today(db: Any, user: str, now: datetime.datetime) -> bool:
    """Whether this day of this user's store has not seen a run yet; an empty store needs none."""
    written = db.execute("SELECT n FROM changes WHERE user=?", (user,)).fetchone()
    return bool(written) and settings.read(db, user, RAN) != now.date().isoformat()


def unused(db: Any, user: str, now: datetime.datetime) -> dict[str, int]:
    """How many active records are rare and how many are low."""
    long_ago = (now - datetime.timedelta(days=min(RARE_DAYS, *DAYS.values()))).isoformat()
    old = store.select(db, user, "status='active' AND recorded<=?", [long_ago])
    stands = [standing(record, now) for record in old]
    return {name: stands.count(name) for name in ("rare", "low")}


def due(
    db: Any, user: str, now: datetime.datetime, lived: int | None
) -> tuple[list[Due], dict[str, int | None]]:
    """What a run at `now` removes or newly marks, and the marks after it: id → day, None for marked by this run.

    Args:
        lived: days lived through so far, where `now` is the machine's clock; None where the caller named it.
    """
    marks = dict(db.execute("SELECT record, day FROM marks WHERE user=?", (user,)).fetchall())
    unused = store.select(db, user, "status IN ('active','pending') AND expires<=?", [now.isoformat()])
    ended = store.select(db, user, "status IN ('superseded','revoked')")
    since = _since(db, user, ended) if lived is None else {}
    found: list[Due] = []
    kept: dict[str, int | None] = {}
    for record in [*unused, *ended]:
        is_ended = record.status in ("superseded", "revoked")
        days = SUPERSEDED_DAYS if is_ended else DAYS.get(record.type, 0)
        day = marks.get(record.id)
        if is_ended:
            gone = lived is not None or since[record.id] + datetime.timedelta(days=days) <= now
        else:
            gone = (removal(record) or now) <= now
        if lived is not None:
            gone = gone and day is not None and lived - day >= days
        if gone:
            found.append(Due(record, "removed", _why(record, days)))
            continue
        if day is not None or not is_ended or lived is not None:
            kept[record.id] = day
        if day is None and not is_ended:
            found.append(Due(record, "low", f"a {record.type} unused for {days} days: ranked lower"))
    return found, kept


def _why(record: MemoryRecord, days: int) -> str:
    if record.status in ("superseded", "revoked"):
        return f"{record.status} for {days} days"
    return f"a {record.type} unused for {2 * days} days" if days else f"a {record.type} past its end"


def _since(db: Any, user: str, ended: list[MemoryRecord]) -> dict[str, datetime.datetime]:
    """When each of these ended: as the log tells, and no earlier than what took its place was written."""
    if not ended:
        return {}
    query = "SELECT id, max(at) FROM log WHERE user=? AND action IN ('superseded','revoked','resolved') GROUP BY id"
    logged = {id: datetime.datetime.fromisoformat(at) for id, at in db.execute(query, (user,)).fetchall()}
    heads = "id IN (SELECT superseded_by FROM records WHERE user=? AND status='superseded')"
    after = {record.id: record.recorded for record in store.select(db, user, heads, [user])}
    found = {}
    for record in ended:
        times = (record.recorded, record.last_access, logged.get(record.id), after.get(record.superseded_by))
        found[record.id] = max(time for time in times if time is not None)
    return found


def _lived(db: Any, user: str, now: datetime.datetime) -> int:
    """Days lived through up to this run."""
    ran, lived = settings.read(db, user, RAN), int(settings.read(db, user, LIVED) or 0)
    if not ran:
        return lived
    return lived + max(0, min(GAP_DAYS, (now.date() - datetime.date.fromisoformat(ran)).days))
