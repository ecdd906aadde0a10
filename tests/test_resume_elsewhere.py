"""A stopped run that goes on in a new kernel keeps its model and what it was handed, or says what is missing."""

from agent_nb import Limits, Session, events


def stopped(**namespace):
    made = Session("offline", memory=None, name="s", namespace=namespace, limits=Limits(steps=0))
    made_stream = made.stream("how many rows has it?", use=list(namespace))
    assert [type(event).__name__ for event in made_stream][-1] == "RunEnded"


def told(result):
    return " ".join(event.text for event in result.trace if isinstance(event, events.Noticed))


def test_the_model_and_the_variables_go_on():
    stopped(table=[1, 2])
    again = Session.open("s", memory=None, namespace={"table": [1, 2]})
    result = again.resume()
    assert again.model_name == "offline"
    assert result.trace[0].use == ["table"]
    assert "does not have" not in told(result)


def test_what_is_not_there_any_more_is_told():
    stopped(table=[1, 2])
    result = Session.open("s", memory=None).resume()
    assert "does not have the variable table" in told(result)
