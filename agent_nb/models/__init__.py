"""Models: what answers the loop's questions."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import places
from ..errors import SettingError
from .protocol import Model

DEFAULT = "claude-sonnet-5-5"
CHOICES = ("offline", "claude-…", "replay:FILE", "student")


def choose(name: str | Model | None = None, namespace: Mapping[str, Any] | None = None) -> tuple[Model, str]:
    """The model of that name, and why it is the one, in a short sentence.

    Args:
        name: "offline", "claude-…", "replay:FILE", "student", the name of a Model object in `namespace`, such an object
            itself, or None for the user's default: `model = "…"` in config.toml, else claude-sonnet-5-5
            where credentials are found, else offline. Nothing is sent to find out.
        namespace: the notebook's variables.

    Raises: SettingError for a name that means nothing, or a broken config.toml.
    """
    if name is not None and not isinstance(name, str):
        return _checked(name, type(name).__name__), "the object that was given"
    if name is not None and name.strip():
        return _with_server(_named(name.strip(), namespace or {}), f"{name.strip()} was asked for")
    if configured := _configured():
        try:
            model = _named(configured, namespace or {})
        except SettingError as error:
            raise SettingError(f"config.toml: {error}") from None
        return _with_server(model, f"{configured} is the default in config.toml")
    if found := credentials_found():
        return _with_server(_named(DEFAULT, {}), f"credentials were found ({found})")
    return _named(
        "offline", {}
    ), "no credentials were found, so the rules answer; set ANTHROPIC_API_KEY for Claude"


def _with_server(model: Model, reason: str) -> tuple[Model, str]:
    """Say where the requests go, where that is not the API itself."""
    server = getattr(model, "server", "")
    return model, f"{reason}, at {server}" if server not in ("", "api.anthropic.com") else reason


def _named(name: str, namespace: Mapping[str, Any]) -> Model:
    if name == "offline":
        from .offline import OfflineModel

        return OfflineModel()
    if name.startswith("claude-"):
        from .anthropic import AnthropicModel

        return AnthropicModel(name)
    if name.startswith("replay:"):
        from .replay import ReplayModel

        return ReplayModel(name.removeprefix("replay:"))
    if name == "student":
        from .student import Student

        return Student()
    if name in namespace:
        return _checked(namespace[name], name)
    raise SettingError(f"there is no model {name!r}; {_hint(name, namespace)}")


def _checked(thing: Any, name: str) -> Model:
    if isinstance(thing, type):
        raise SettingError(f"{name} is a class; make a model of it first: `model = {thing.__name__}(…)`")
    if not callable(getattr(thing, "reply", None)):
        raise SettingError(f"{name} is a {type(thing).__name__}, not a model: it has no method `reply`")
    model: Model = thing
    return model


def _hint(name: str, namespace: Mapping[str, Any]) -> str:
    mine = [
        key
        for key, value in list(namespace.items())
        if not key.startswith("_") and not isinstance(value, type) and callable(_quietly(value, "reply"))
    ]
    close = difflib.get_close_matches(name, ["offline", DEFAULT, *mine], n=2)
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    also = f", {', '.join(sorted(mine))}" if mine else ""
    hint = f"{meant}Choose {', '.join(CHOICES)}{also}, or the name of a Model object in this notebook"
    if os.environ.get("ANTHROPIC_BASE_URL"):
        hint += f" (for a model of your own server: `m = AnthropicModel({name!r})`, then -m m)"
    return hint


def _quietly(value: Any, attribute: str) -> Any:
    try:
        return getattr(value, attribute, None)
    except Exception:  # a variable of the user's own may raise anything
        return None


def _configured() -> str:
    model = places.settings().get("model", "")
    if not isinstance(model, str):
        raise SettingError(
            f'config.toml: model is a name in quotes, such as model = "offline", not {model!r}'
        )
    return model.strip()


def credentials_found() -> str:
    """Where the anthropic SDK would find credentials (a name or path, never a value), or "".

    The same places in the same order as the SDK's own, looked at without importing it, which takes seconds.
    """
    env = os.environ
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        if env.get(variable):
            return variable
    token = env.get("ANTHROPIC_IDENTITY_TOKEN") or env.get("ANTHROPIC_IDENTITY_TOKEN_FILE")
    if token and env.get("ANTHROPIC_FEDERATION_RULE_ID") and env.get("ANTHROPIC_ORGANIZATION_ID"):
        return "workload identity"
    for line in env.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
        header, _, value = line.partition(":")
        if header.strip().lower() in ("authorization", "x-api-key") and value.strip():
            return "ANTHROPIC_CUSTOM_HEADERS"
    folder = _config_folder()
    try:
        profile = (folder / "active_config").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        profile = ""
    profile = profile or "default"
    if profile.startswith(".") or "/" in profile or "\\" in profile:
        return ""
    return f"profile {profile}" if (folder / "configs" / f"{profile}.json").is_file() else ""


def _config_folder() -> Path:
    if named := os.environ.get("ANTHROPIC_CONFIG_DIR"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "Anthropic"
    return Path.home() / ".config" / "anthropic"
