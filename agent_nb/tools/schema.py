"""Type hints → JSON schema, and checked JSON values → the Python values that a function expects."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

from ..errors import SettingError, ToolInputError
from . import docstring
from .check import check

Json = dict[str, Any]
Convert = Callable[[Any], Any]

_SIMPLE: dict[Any, Json] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    decimal.Decimal: {"type": "number"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array"},
    dict: {"type": "object"},
}
_CONVERT: dict[Any, Convert] = {
    decimal.Decimal: lambda value: decimal.Decimal(str(value)),
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    pathlib.Path: pathlib.Path,
}
_LISTS: dict[Any, Convert | None] = {
    list: None,
    collections.abc.Sequence: None,
    collections.abc.Iterable: None,
    collections.abc.Collection: None,
    set: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
}
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}


@dataclasses.dataclass(frozen=True)
class Shape:
    """A type hint, read: its JSON schema, and how a checked JSON value becomes a value of that type."""

    schema: Json
    convert: Convert | None = None

    def __call__(self, value: Any) -> Any:
        return self.convert(value) if self.convert else value


@dataclasses.dataclass(frozen=True)
class Signature:
    """The arguments of a function, read: the schema of them all, and how a checked input is handed over."""

    description: str
    schema: Json
    bind: Callable[[Json], tuple[list[Any], Json]]


def read(function: Callable[..., Any], names: Json | None = None) -> Signature:
    """The signature of a typed function.

    Args:
        names: names that its annotations may use besides the globals of its module.

    Raises:
        SettingError: a parameter has no type, a type that JSON cannot carry, or is `*args` / `**kwargs`.
    """
    label = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters.values()
        target = function if inspect.isroutine(function) else type(function).__call__
        hints = typing.get_type_hints(target, localns=names, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise SettingError(f"tool {label}: its type annotations cannot be read ({error})") from None
    description, explained = docstring.parse(inspect.getdoc(function))
    shapes: dict[str, Shape] = {}
    for parameter in parameters:
        shapes[parameter.name] = _parameter(label, parameter, hints, explained.get(parameter.name, ""))
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    schema = _object({name: shape.schema for name, shape in shapes.items()}, required)
    first = {p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY}

    def bind(given: Json) -> tuple[list[Any], Json]:
        values = {name: shapes[name](value) for name, value in given.items()}
        positional = []
        for parameter in parameters:
            if parameter.name in first:
                positional.append(values.pop(parameter.name, parameter.default))
        return positional, values

    return Signature(description, schema, bind)


def _parameter(label: str, parameter: inspect.Parameter, hints: Json, explained: str) -> Shape:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "**"
        raise SettingError(f"tool {label}: {stars}{parameter.name} has no schema; name each parameter")
    if parameter.name not in hints:
        raise SettingError(
            f"tool {label}: parameter {parameter.name!r} has no type; write {parameter.name}: str"
        )
    try:
        shape = shape_of(hints[parameter.name])
    except SettingError as error:
        raise SettingError(f"tool {label}: parameter {parameter.name!r}: {error}") from None
    schema = dict(shape.schema)
    if parameter.default is None and not _allows_null(schema):
        inner = shape
        schema = {"anyOf": [schema, {"type": "null"}]}
        shape = Shape(schema, lambda value: None if value is None else inner(value))
    if explained and "description" not in schema:
        schema["description"] = explained
    if parameter.default is not inspect.Parameter.empty:
        default = _default(parameter.default)
        if default is not None:
            schema["default"] = default
    return Shape(schema, shape.convert)


def shape_of(hint: Any, outer: tuple[Any, ...] = ()) -> Shape:
    """The shape of one type hint. Raises SettingError where JSON cannot carry it."""
    if hint in outer:
        raise SettingError(f"{_name(hint)} contains itself, which a tool's schema cannot say")
    if hasattr(hint, "__supertype__"):
        return shape_of(hint.__supertype__, outer)
    try:
        if hint in _SIMPLE:
            return Shape(dict(_SIMPLE[hint]), _CONVERT.get(hint))
    except TypeError:
        pass  # an unhashable hint is none of the simple ones
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(shape_of(args[0], outer), args[1:])
    if origin is typing.Literal:
        return Shape(_enum(list(args)))
    if origin in (typing.Union, types.UnionType):
        return _union([shape_of(arm, outer) for arm in args])
    if origin is tuple or hint is tuple:
        return _tuple(args, outer)
    if (origin or hint) in _LISTS:
        item = shape_of(args[0], outer) if args else Shape({})
        return _list(item, _LISTS[origin or hint])
    if (origin or hint) in _DICTS:
        return _dict(args, outer)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        members = {member.value: member for member in hint}
        return Shape(_enum(list(members)), lambda value: members[value])
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint, (*outer, hint))
    if typing.is_typeddict(hint):
        return _typed_dict(hint, (*outer, hint))
    raise SettingError(
        f"the type {_name(hint)} cannot come from JSON; use str, int, float, bool, list, dict, …"
    )


def _enum(values: list[Any]) -> Json:
    kinds = {type(value) for value in values}
    if not kinds <= {str, int, bool, float, type(None)}:
        raise SettingError("the values of an enum or Literal must be text, numbers, bool or None")
    schema: Json = {"enum": values}
    return {**_SIMPLE[kinds.pop()], **schema} if len(kinds) == 1 else schema


def _union(arms: list[Shape]) -> Shape:
    def convert(value: Any) -> Any:
        for arm in arms:
            try:
                return arm(check(arm.schema, value))
            except ToolInputError:
                continue
        return value

    return Shape({"anyOf": [arm.schema for arm in arms]}, convert)


def _list(item: Shape, build: Convert | None) -> Shape:
    schema: Json = {"type": "array"} | ({"items": item.schema} if item.schema else {})
    if build:
        schema["uniqueItems"] = True
    if item.convert is None and build is None:
        return Shape(schema)
    return Shape(schema, lambda value: (build or list)([item(inner) for inner in value]))


def _tuple(args: tuple[Any, ...], outer: tuple[Any, ...]) -> Shape:
    if not args or args[-1] is Ellipsis:
        shape = _list(shape_of(args[0], outer) if args else Shape({}), tuple)
        return Shape({k: v for k, v in shape.schema.items() if k != "uniqueItems"}, shape.convert)
    items = [shape_of(arg, outer) for arg in args]
    schema = {
        "type": "array",
        "prefixItems": [item.schema for item in items],
        "minItems": len(items),
        "maxItems": len(items),
    }
    return Shape(schema, lambda value: tuple(item(inner) for item, inner in zip(items, value, strict=True)))


def _dict(args: tuple[Any, ...], outer: tuple[Any, ...]) -> Shape:
    if args and args[0] is not str:
        raise SettingError("the keys of a dict must be str")
    item = shape_of(args[1], outer) if args else Shape({})
    schema: Json = {"type": "object"} | ({"additionalProperties": item.schema} if item.schema else {})
    return Shape(schema, lambda value: {key: item(inner) for key, inner in value.items()})


def _dataclass(cls: type, outer: tuple[Any, ...]) -> Shape:
    hints = _hints(cls)
    fields = [field for field in dataclasses.fields(cls) if field.init]
    shapes = {field.name: shape_of(hints[field.name], outer) for field in fields}
    nothing = dataclasses.MISSING
    required = [f.name for f in fields if f.default is nothing and f.default_factory is nothing]
    schema = _object({name: shape.schema for name, shape in shapes.items()}, required)
    return Shape(schema, lambda value: cls(**{key: shapes[key](inner) for key, inner in value.items()}))


def _typed_dict(cls: Any, outer: tuple[Any, ...]) -> Shape:
    shapes = {}
    required = []
    for name, hint in _hints(cls).items():
        marker: Any = typing.get_origin(hint)
        marked = marker is typing.Required or marker is typing.NotRequired
        shapes[name] = shape_of(typing.get_args(hint)[0] if marked else hint, outer)
        # The class itself overlooks markers in annotations that are kept as text.
        if marker is typing.Required or (not marked and name in cls.__required_keys__):
            required.append(name)
    schema = _object({name: shape.schema for name, shape in shapes.items()}, required)
    return Shape(schema, lambda value: {key: shapes[key](inner) for key, inner in value.items()})


def _hints(cls: Any) -> Json:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError) as error:
        raise SettingError(f"the annotations of {_name(cls)} cannot be read ({error})") from None


def _annotated(shape: Shape, notes: tuple[Any, ...]) -> Shape:
    schema = dict(shape.schema)
    text = schema.get("type") == "string"
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, dict):
            schema |= note
        else:
            for attribute, keyword in _BOUNDS.items():
                if getattr(note, attribute, None) is not None:
                    schema[keyword] = getattr(note, attribute)
            for attribute, keyword in (("min_length", "min"), ("max_length", "max")):
                if getattr(note, attribute, None) is not None:
                    schema[keyword + ("Length" if text else "Items")] = getattr(note, attribute)
    return Shape(schema, shape.convert)


def _object(properties: Json, required: list[str]) -> Json:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _allows_null(schema: Json) -> bool:
    if not schema or schema.get("type") == "null":
        return True
    return None in schema.get("enum", ()) or any(_allows_null(arm) for arm in schema.get("anyOf", ()))


def _default(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return list(value) if all(isinstance(v, (str, int, float, bool)) for v in value) else None
    return value if isinstance(value, (str, int, float, bool)) else None


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)
