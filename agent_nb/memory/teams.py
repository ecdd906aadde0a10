"""The scope of a team: memories that its members read beside their own, and write only by naming it.

A team's records have an owner of their own, so that every statement, index and export that names its user keeps
them apart like those of anybody else. Whoever opens a memory with the team's name is a member.
"""

from __future__ import annotations

from typing import Any

from ..errors import SettingError

OWNER = "team:"
"""What the owner of a team's records is called begins with this; no user's name may."""


def owner(name: str) -> str:
    """The owner of the records of the team of that name."""
    if not isinstance(name, str) or not name.strip():
        raise SettingError("a team's name is a text that is not empty")
    return OWNER + name


def shown(owner: str) -> str:
    """How a record's owner is shown: "" for a user, "team sales" for a team."""
    return f"team {owner.removeprefix(OWNER)}" if owner.startswith(OWNER) else ""


def checked(user: Any) -> str:
    """The user's name, or a SettingError."""
    if not isinstance(user, str) or not user.strip():
        raise SettingError("the memory's user is a name that is not empty")
    if user.startswith(OWNER):
        raise SettingError(f"a user's name may not begin with {OWNER!r}; open a team's memory with team=NAME")
    return user


def is_team(scope: Any, team: Any) -> bool:
    """Whether a write is for the team. Raises SettingError where there is none, or another one is named."""
    if scope in ("user", "", None):
        return False
    if team is None:
        raise SettingError("this memory belongs to no team; open it with Memory(…, team=NAME)")
    if scope not in ("team", team.user.removeprefix(OWNER)):
        name = team.user.removeprefix(OWNER)
        raise SettingError(f"the scope is {scope!r}; give 'user' or 'team' (this memory's team is {name!r})")
    return True
