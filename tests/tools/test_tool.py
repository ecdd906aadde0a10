"""Schemas from signatures, arguments checked before the call, calls that never raise."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime
import enum
import json
import threading
from typing import Annotated, Any, Literal, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.errors import SettingError, ToolError, ToolInputError
from agent_nb.tools.tool import Tool, Toolbox, tool


class Status(enum.Enum):
    OPEN = "open"
    SHIPPED = "shipped"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 1.0


class Person(TypedDict, total=False):
    name: str
    age: int


def call(function: Any, **arguments: Any) -> Any:
    """What the function got, after the toolbox's checks."""
    seen = []

    def keep(*args: Any, **kwargs: Any) -> None:
        seen.append(function(*args, **kwargs))

    made = tool(function)
    box = Toolbox([dataclasses.replace(made, function=keep)])
    observation = box.run("t", made.name, arguments)
    assert observation.ok, observation.text
    return seen[0]


def test_a_decorated_function_is_still_the_function():
    @tool
    def double(n: int) -> int:
        """Twice n."""
        return 2 * n

    assert isinstance(double, Tool)
    assert double(4) == 8
    assert (double.name, double.description, double.effect) == ("double", "Twice n.", "read")
    assert double.__doc__ == "Twice n."


def test_settings_stand_on_the_tool():
    @tool(effect="write", takes=2.5, memory="short", keys=("a",), parallel=True)
    def f(a: str) -> str:
        """F."""
        return a

    assert (f.effect, f.takes, f.memory, f.keys, f.parallel) == ("write", 2.5, "short", ("a",), True)


def test_the_schema_says_what_the_signature_says():
    @tool
    def f(
        a: str,
        n: Annotated[int, "how many", {"minimum": 1, "maximum": 9}],
        kind: Literal["x", "y"],
        status: Status,
        point: Point,
        person: Person,
        day: datetime.date,
        tags: list[str],
        more: dict[str, float],
        maybe: int | None = None,
        flag: bool = False,
    ) -> None:
        """Do it."""

    schema = f.input_schema
    properties = schema["properties"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["a", "n", "kind", "status", "point", "person", "day", "tags", "more"]
    assert properties["n"] == {"type": "integer", "description": "how many", "minimum": 1, "maximum": 9}
    assert properties["kind"] == {"type": "string", "enum": ["x", "y"]}
    assert properties["status"] == {"type": "string", "enum": ["open", "shipped"]}
    assert properties["point"]["required"] == ["x"]
    assert properties["person"]["required"] == []
    assert properties["day"] == {"type": "string", "format": "date"}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["more"] == {"type": "object", "additionalProperties": {"type": "number"}}
    assert properties["maybe"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    assert properties["flag"]["default"] is False
    json.dumps(f.schema())


GOOGLE = """Send it.

    More about it.

    Args:
        order: the order,
            as printed.
        how (str): by air: or sea.

    Returns:
        nothing: at all.
    """
NUMPY = """Send it.

    More about it.

    Parameters
    ----------
    order : str
        the order,
        as printed.
    how : str, optional
        by air: or sea.

    Returns
    -------
    nothing
        at all.
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY])
def test_both_styles_of_docstring_explain_the_parameters(docstring):
    def send(order: str, how: str = "air") -> None: ...

    send.__doc__ = docstring
    made = tool(send)
    assert made.description == "Send it. More about it."
    properties = made.input_schema["properties"]
    assert properties["order"]["description"] == "the order, as printed."
    assert properties["how"]["description"] == "by air: or sea."


def test_values_arrive_as_the_types_of_the_signature():
    def f(
        status: Status,
        point: Point,
        day: datetime.date,
        at: datetime.datetime,
        many: list[Point],
        pair: tuple[int, str],
        either: Point | Status | None = None,
    ) -> Any:
        return status, point, day, at, many, pair, either

    got = call(f, status="open", point={"x": 3.0}, day="2013-07-01", at="2013-07-01T10:00:00", many=[{"x": 1, "y": 2}],
               pair=[1, "a"], either="shipped")  # fmt: skip
    assert got == (
        Status.OPEN, Point(3, 1.0), datetime.date(2013, 7, 1), datetime.datetime(2013, 7, 1, 10), [Point(1, 2.0)],
        (1, "a"), Status.SHIPPED,
    )  # fmt: skip


def test_classes_of_the_enclosing_function_can_be_named():
    class Inner(enum.Enum):
        A = "a"

    @tool
    def f(x: Inner) -> str:
        return x.name

    assert Toolbox([f]).run("1", "f", {"x": "a"}).ok


def test_positional_only_parameters_are_handed_over():
    def f(a: int, b: int = 2, /, c: int = 3) -> Any:
        return a, b, c

    assert call(f, a=1, c=5) == (1, 2, 5)


def untyped(a) -> None: ...
def starred(*args: int) -> None: ...
def keywords(**kwargs: int) -> None: ...
def binary(a: bytes) -> None: ...
def unknown(a: NoSuchName) -> None: ...  # noqa: F821
def numbered(a: dict[int, str]) -> None: ...


@pytest.mark.parametrize("function", [untyped, starred, keywords, binary, unknown, numbered])
def test_what_has_no_schema_is_refused_in_one_line(function):
    with pytest.raises(SettingError) as caught:
        tool(function)
    assert "\n" not in str(caught.value)
    assert function.__name__ in str(caught.value)


@pytest.mark.parametrize(
    "settings_",
    [{"effect": "delete"}, {"memory": "always"}, {"takes": -1}, {"nonsense": 1}, {"name": "有空 格"}],
)
def test_wrong_settings_are_refused(settings_):
    with pytest.raises(SettingError):
        tool(**settings_)(lambda: None)


ALL: list[str] = []


def order(
    order_id: str,
    n: int = 1,
    price: float = 0.0,
    kind: Literal["a", "b"] = "a",
    gift: bool = False,
    where: Point | None = None,
    tags: Annotated[list[str], {"maxItems": 2}] = ALL,
) -> None:
    """Order."""


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "order_id"),
        ({"order_id": 3}, "order_id"),
        ({"order_id": None}, "order_id"),
        ({"order_id": "x", "n": "3"}, "n"),
        ({"order_id": "x", "n": 3.5}, "n"),
        ({"order_id": "x", "n": True}, "n"),
        ({"order_id": "x", "price": "1"}, "price"),
        ({"order_id": "x", "price": True}, "price"),
        ({"order_id": "x", "price": float("nan")}, "price"),
        ({"order_id": "x", "price": 10**400}, "price"),
        ({"order_id": "x", "kind": "c"}, "kind"),
        ({"order_id": "x", "gift": 1}, "gift"),
        ({"order_id": "x", "where": {"x": "a"}}, "where.x"),
        ({"order_id": "x", "where": {"x": 1, "z": 1}}, "where.z"),
        ({"order_id": "x", "tags": ["a", 1]}, "tags.1"),
        ({"order_id": "x", "tags": ["a", "b", "c"]}, "tags"),
        ({"order_id": "x", "colour": "red"}, "colour"),
    ],
)
def test_the_error_names_the_field_and_what_was_expected(arguments, field):
    box = Toolbox([order])
    with pytest.raises(ToolInputError) as caught:
        box.validate("order", arguments)
    assert caught.value.field == field
    assert caught.value.expected
    seen = box.run("1", "order", arguments)
    body = json.loads(seen.text)
    assert (seen.ok, seen.kind, body["ok"], body["field"]) == (False, "bad_input", False, field)
    assert seen.block()["is_error"] is True


def test_whole_floats_are_whole_numbers_and_whole_numbers_are_floats():
    checked = Toolbox([order]).validate("order", {"order_id": "x", "n": 3.0, "price": 2})
    assert type(checked["n"]) is int
    assert type(checked["price"]) is float


def test_an_unknown_argument_is_told_with_the_allowed_ones():
    text = Toolbox([order]).run("1", "order", {"order_id": "x", "colour": 1}).text
    assert "colour" in text
    assert "order_id, n, price, kind, gift, where, tags" in text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["order_id", "n", "price", "kind", "gift", "where", "tags", "?"]), json_values
    )
)
def test_whatever_the_input_a_call_is_answered_with_valid_json(arguments):
    seen = Toolbox([order]).run("1", "order", arguments)
    body = json.loads(seen.content[0]["text"], parse_constant=lambda name: pytest.fail(name))
    assert body["ok"] is seen.ok
    assert seen.kind in ("", "bad_input")


@pytest.mark.parametrize("given_", [None, [], "text", 3])
def test_an_input_that_is_no_object_is_answered(given_):
    assert Toolbox([order]).run("1", "order", given_).kind == "bad_input"


def test_an_unknown_tool_is_told_with_the_known_ones():
    seen = Toolbox([order]).run("1", "ordr", {})
    assert seen.kind == "unknown_tool"
    assert "order" in json.loads(seen.text)["error"]


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(SettingError):
        Toolbox([order, order])


class Awkward(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("two\nlines"), "ValueError: two lines"),
        (ToolError("order 7 is shipped"), "order 7 is shipped"),
        (SystemExit(3), "SystemExit: 3"),
        (RecursionError("deep"), "RecursionError: deep"),
        (Awkward(), "Awkward"),
    ],
)
def test_errors_become_one_line(error, text):
    def fails() -> None:
        raise error

    seen = Toolbox([fails]).run("1", "fails", {})
    assert (seen.ok, seen.kind) == (False, "failed")
    assert json.loads(seen.text)["error"].startswith(text)


def test_an_interrupt_passes():
    def stops() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Toolbox([stops]).run("1", "stops", {})


def test_async_tools_run_even_inside_a_running_loop():
    import asyncio

    @tool
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    async def cell() -> Any:
        return Toolbox([later]).run("1", "later", {"n": 1})

    # In a thread of its own: this one may have a loop already, left running by a browser's driver.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert json.loads(pool.submit(asyncio.run, cell()).result().text)["value"] == 2


def test_an_interrupted_async_tool_is_cancelled():
    import _thread
    import asyncio

    ended = threading.Event()

    @tool
    async def waits() -> None:
        try:
            threading.Timer(0.1, _thread.interrupt_main).start()
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        Toolbox([waits]).run("1", "waits", {})
    assert ended.wait(5)


def test_results_stay_under_names_that_overwrite_nothing():
    namespace: dict[str, Any] = {"_r2": "mine", "x": 1}
    box = Toolbox([lambda_tool := tool(name="make")(lambda: [1])], namespace=namespace)
    assert lambda_tool.name == "make"
    assert [box.run(str(i), "make", {}).value_name for i in range(2)] == ["_r3", "_r4"]
    assert namespace["_r2"] == "mine"
    assert namespace["_r3"] == [1]
    del namespace["_r4"]
    assert box.run("9", "make", {}).value_name == "_r5", "a name in the history never means two values"


def test_keys_come_from_the_result_and_else_from_the_arguments():
    @tool(keys=("order_id", "status", "missing"))
    def look(order_id: str) -> dict[str, str]:
        return {"status": "open"}

    assert Toolbox([look]).run("1", "look", {"order_id": "A7"}).keys == {"order_id": "A7", "status": "open"}


@pytest.mark.parametrize("settings_", [{"cached": True}, {"memory": "short"}])
def test_only_tools_that_say_so_are_cached_and_a_write_empties_the_cache(settings_):
    state = {"n": 0}

    @tool(**settings_)
    def pure(a: int) -> int:
        state["n"] += 1
        return state["n"]

    @tool
    def fresh(a: int) -> int:
        state["n"] += 1
        return state["n"]

    @tool(effect="write")
    def write() -> None: ...

    box = Toolbox([pure, fresh, write])
    first, again = box.run("1", "pure", {"a": 1}), box.run("2", "pure", {"a": 1})
    assert (first.cached, again.cached, again.id) == (False, True, "2")
    assert json.loads(again.text)["cached"] is True
    assert json.loads(again.text)["value"] == json.loads(first.text)["value"]
    assert not box.run("3", "pure", {"a": 2}).cached
    assert not box.run("4", "fresh", {"a": 1}).cached
    assert not box.run("5", "fresh", {"a": 1}).cached
    box.run("6", "write", {})
    assert not box.run("7", "pure", {"a": 1}).cached


def test_a_tool_cannot_change_the_arguments_that_are_shown():
    def f(tags: list[str]) -> None:
        tags.append("changed")

    assert Toolbox([f]).run("1", "f", {"tags": ["a"]}).input == {"tags": ["a"]}


def test_a_missing_argument_under_a_wrong_name_is_told_with_both():
    text = Toolbox([order]).run("1", "order", {"orderid": "x"}).text
    assert "order_id" in text
    assert "orderid" in text


@pytest.mark.parametrize("secret", ["plain-words", 'with "quotes" and \\', "中文口令中文口令"])
def test_values_of_secret_names_never_come_back_whatever_a_tool_does(secret, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "from-the-environment")

    def leaks(fail: bool = False) -> Any:
        if fail:
            raise ValueError(f"refused {secret} from-the-environment")
        return [{"a": f"x{secret}y", "b": "from-the-environment"}]

    box = Toolbox([leaks], namespace={"db_password": secret, "note": "stays here"})
    for seen in (box.run("1", "leaks", {}), box.run("2", "leaks", {"fail": True})):
        shown = json.dumps(dataclasses.asdict(seen), ensure_ascii=False) + str(json.loads(seen.text))
        assert secret not in shown
        assert json.dumps(secret, ensure_ascii=False)[1:-1] not in shown
        assert "from-the-environment" not in shown
        assert "[redacted]" in shown
