"""Events are plain values that survive a transcript."""

import dataclasses
import json

import pytest

from agent_nb import events

CLASSES = [c for c in events.Event.__subclasses__() if c is not events.Unknown]
SAMPLE = {"str": "text", "float": 1.5, "int": 3, "bool": True}


def sample(cls):
    values = {}
    for field in dataclasses.fields(cls):
        kind = str(field.type)
        if kind.startswith("list[Json]"):
            values[field.name] = [{"a": 1}]
        elif kind.startswith("list"):
            values[field.name] = ["x"]
        elif kind.startswith("Json"):
            values[field.name] = {"b": [1, None, "é"]}
        else:
            values[field.name] = SAMPLE[kind.split(" |")[0]]
    return cls(**values)


@pytest.mark.parametrize("cls", CLASSES)
def test_equal_after_json(cls):
    event = sample(cls)
    assert events.from_dict(json.loads(json.dumps(event.to_dict()))) == event
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.run = "other"


def test_times_are_utc():
    assert events.now().endswith("+00:00")
