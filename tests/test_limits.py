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
