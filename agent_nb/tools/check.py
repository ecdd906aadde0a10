"""A JSON value against a JSON schema: what tools use of it, with messages that a model can act on."""

from __future__ import annotations

import datetime
import json
import math
import re
import uuid
from collections.abc import Callable
from typing import Any

from ..errors import ToolInputError

Json = dict[str, Any]

_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_PLAIN: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "array": (list, tuple),
    "object": dict,
    "null": type(None),
}
_FORMATS: dict[str, Callable[[str], Any]] = {
    "date": datetime.date.fromisoformat,
    "date-time": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "uuid": uuid.UUID,
}
_BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", "at least", lambda value, bound: value >= bound),
    ("exclusiveMinimum", "more than", lambda value, bound: value > bound),
    ("maximum", "at most", lambda value, bound: value <= bound),
    ("exclusiveMaximum", "less than", lambda value, bound: value < bound),
)


def check(schema: Json, value: Any, field: str = "") -> Any:
    """`value` as the schema wants it (3.0 for an integer becomes 3), as a copy.

    Args:
        field: dotted path of the value, for messages.

    Raises:
        ToolInputError: names the field and what was expected.
    """
    if not isinstance(schema, dict) or not schema:
        return value
    arms = schema.get("anyOf") or schema.get("oneOf")
    if arms:
        value = _any_of(arms, value, field)
    kinds = schema.get("type")
    if kinds is not None:
        value = _typed([kinds] if isinstance(kinds, str) else list(kinds), schema, value, field)
    if "enum" in schema:
        value = _one_of(schema["enum"], value, field)
    if "const" in schema:
        value = _one_of([schema["const"]], value, field)
    if isinstance(value, str):
        _check_text(schema, value, field)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_number(schema, value, field)
    return value


def expected(schema: Json) -> str:
    """What the schema wants, in words."""
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(v, ensure_ascii=False) for v in schema["enum"])
    arms = schema.get("anyOf") or schema.get("oneOf")
    if arms:
        return " or ".join(dict.fromkeys(expected(arm) for arm in arms))
    kinds = schema.get("type", "")
    words = " or ".join(_WORDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    formats = {
        "date": "a date as YYYY-MM-DD",
        "date-time": "a date and time as ISO 8601",
        "time": "a time as HH:MM",
    }
    words = formats.get(schema.get("format", ""), words)
    bounds = [f"{text} {schema[name]}" for name, text, _ in _BOUNDS if name in schema]
    if kinds == "array" and isinstance(schema.get("items"), dict) and schema["items"]:
        words += f" of {expected(schema['items'])}"
    return " ".join([words, *bounds]) or "any value"


def _wrong(schema: Json, value: Any, field: str, why: str = "") -> ToolInputError:
    wanted = expected(schema)
    where = f"argument {field!r}" if field else "the input"
    return ToolInputError(f"{where} is {_show(value)}{why}; expected {wanted}", field, wanted)


def _show(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else text[:57] + "…"


def _any_of(arms: list[Json], value: Any, field: str) -> Any:
    deepest: ToolInputError | None = None
    for arm in arms:
        try:
            return check(arm, value, field)
        except ToolInputError as error:
            if error.field != field and (deepest is None or len(error.field) > len(deepest.field)):
                deepest = error
    raise deepest or _wrong({"anyOf": arms}, value, field)


def _typed(kinds: list[str], schema: Json, value: Any, field: str) -> Any:
    for kind in kinds:
        if _is(kind, value):
            if kind == "integer":
                return int(value)
            if kind == "number" and isinstance(value, int):
                return _as_float(schema, value, field)
            if kind == "array":
                return _items(schema, value, field)
            if kind == "object":
                return _properties(schema, value, field)
            return value
    raise _wrong({**schema, "type": kinds if len(kinds) > 1 else kinds[0]}, value, field)


def _is(kind: str, value: Any) -> bool:
    if kind == "integer":  # bool is an int in Python, and not in JSON; 3.0 is a whole number
        return (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
    if kind == "number":
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (isinstance(value, int) or math.isfinite(value))
    return isinstance(value, _PLAIN[kind]) if kind in _PLAIN else True


def _as_float(schema: Json, value: int, field: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise _wrong(schema, str(value)[:40], field, " (too large)") from None


def _items(schema: Json, value: Any, field: str) -> list[Any]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        limits = f"{schema.get('minItems', 0)} to {schema.get('maxItems', 'any number of')}"
        raise ToolInputError(
            f"argument {field!r} has {len(value)} items; expected {limits}", field, f"{limits} items"
        )
    each = schema.get("prefixItems", [])
    rest = schema.get("items", {})
    return [
        check(each[i] if i < len(each) else rest, item, f"{field}.{i}" if field else str(i))
        for i, item in enumerate(value)
    ]


def _properties(schema: Json, value: Json, field: str) -> Json:
    properties = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    within = f" of {field!r}" if field else ""
    path = f"{field}." if field else ""
    for name in schema.get("required", ()):
        if name not in value:
            wanted = expected(properties.get(name, {}))
            extra = [repr(other) for other in value if other not in properties] if rest is False else []
            instead = f"; there is no argument {', '.join(extra[:5])}" if extra else ""
            text = f"argument {path + name!r} is missing{instead}; expected {wanted}"
            raise ToolInputError(text, path + name, wanted)
    for name in value:
        if name not in properties and rest is False:
            allowed = ", ".join(properties) or "none"
            raise ToolInputError(
                f"unknown argument {name!r}{within}; allowed: {allowed}",
                f"{path}{name}",
                f"one of: {allowed}",
            )
    return {
        name: check(properties.get(name, rest if isinstance(rest, dict) else {}), inner, f"{path}{name}")
        for name, inner in value.items()
    }


def _one_of(values: list[Any], value: Any, field: str) -> Any:
    for allowed in values:  # True == 1 in Python, and not in JSON
        if allowed == value and isinstance(allowed, bool) == isinstance(value, bool):
            return allowed
    raise _wrong({"enum": values}, value, field)


def _check_number(schema: Json, value: float, field: str) -> None:
    for name, _, holds in _BOUNDS:
        if name in schema and not holds(value, schema[name]):
            raise _wrong(schema, value, field)
    step = schema.get("multipleOf")
    if step and abs(value / step - round(value / step)) > 1e-9:
        raise ToolInputError(
            f"argument {field!r} is {value}; expected a multiple of {step}", field, f"a multiple of {step}"
        )


def _check_text(schema: Json, value: str, field: str) -> None:
    length = len(value)
    if not schema.get("minLength", 0) <= length <= schema.get("maxLength", length):
        limits = f"{schema.get('minLength', 0)} to {schema.get('maxLength', 'any number of')} characters"
        raise ToolInputError(f"argument {field!r} has {length} characters; expected {limits}", field, limits)
    if "pattern" in schema and not re.search(schema["pattern"], value):
        raise ToolInputError(
            f"argument {field!r} is {_show(value)}; expected text like {schema['pattern']}",
            field,
            schema["pattern"],
        )
    read = _FORMATS.get(schema.get("format", ""))
    if read:
        try:
            read(value)
        except ValueError:
            raise _wrong(schema, value, field) from None
