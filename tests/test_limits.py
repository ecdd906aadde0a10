"""The valves refuse what makes no sense, at once."""

import pytest

from agent_nb.limits import Limits


def test_defaults():
    assert Limits() == Limits(steps=12, tokens=100_000, cost=None, seconds=600, tools=None)


@pytest.mark.parametrize("field", ["steps", "tokens", "cost", "seconds"])
def test_negative_or_not_a_number(field):
    with pytest.raises(ValueError, match=field):
        Limits(**{field: -1})
    with pytest.raises(ValueError, match=field):
        Limits(**{field: float("nan")})
    for wrong in ("12", True, [1]):
        with pytest.raises(TypeError, match=field):
            Limits(**{field: wrong})


def test_unknown_field_fraction_and_bare_name():
    with pytest.raises(TypeError):
        Limits(step=3)
    with pytest.raises(ValueError, match="whole"):
        Limits(steps=1.5)
    with pytest.raises(TypeError, match="list"):
        Limits(tools="add")
    assert Limits(tools=["a"]).to_dict()["tools"] == ["a"]


def test_but_keeps_what_is_none():
    assert Limits(steps=3).but(steps=None, tokens=5) == Limits(steps=3, tokens=5)
    with pytest.raises(TypeError):
        Limits().but(step=3)


def test_numbers_without_an_end_are_no_limit_and_stay_json():
    import json
    import math

    free = Limits(cost=math.inf, seconds=math.inf, steps=10**400)
    assert free.cost is None
    assert Limits.from_dict(json.loads(json.dumps(free.to_dict(), allow_nan=False))) == free


def test_whole_floats_become_whole_and_any_iterable_names_tools():
    assert repr(Limits(steps=3.0).steps) == "3"
    assert Limits(tools=(name for name in ["a", "b"])).tools == ("a", "b")
