"""Parameters named in the user's own language work at the API, which takes plain names only."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_nb import Session, tool
from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.scripted_server import ScriptedServer
from agent_nb.models.wire_names import received, sent

names = st.text(min_size=1, max_size=6) | st.sampled_from(["arg1", "arg2", "地区", "größe", "x" * 65, "a b"])
schemas = st.lists(names, max_size=5, unique=True).map(
    lambda own: {
        "name": "look",
        "description": "",
        "input_schema": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in own},
            "required": own[:2],
        },
    }
)


def call(values):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "look", "input": values}],
    }


@given(schemas)
def test_what_is_sent_is_plain_and_comes_back(schema):
    before = copy.deepcopy(schema)
    own = list(schema["input_schema"]["properties"])
    values = {name: f"value of {name}" for name in own}
    [wired], [message] = sent([schema], [call(values)])
    plain = list(wired["input_schema"]["properties"])
    assert all(name.isascii() and len(name) <= 64 and " " not in name for name in plain)
    assert len(set(plain)) == len(own)
    assert list(message["content"][0]["input"]) == plain
    assert set(wired["input_schema"]["required"]) <= set(plain)
    assert received([schema], message) == call(values)
    assert schema == before
    for name, inner in zip(own, wired["input_schema"]["properties"].values(), strict=True):
        assert inner == {"type": "string"} or inner["description"].startswith(name)


def test_a_tool_with_chinese_parameters_runs_over_the_wire(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-123456")
    asked = []

    @tool
    def sales_of(地区: str, month: int, größe: str = "all") -> int:
        """Sales.

        Args:
            地区: 省或市。
            month: 1 to 12.
        """
        asked.append((地区, month, größe))
        return 4711

    def first(body):
        [schema] = [t for t in body["tools"] if t["name"] == "sales_of"]
        wired = schema["input_schema"]
        plain, _, other = wired["properties"]
        assert wired["required"] == [plain, "month"]
        assert wired["properties"][plain]["description"] == "地区: 省或市。"
        given = {plain: "华东", "month": 3, other: "small"}
        return {"content": [{"type": "tool_use", "id": "t1", "name": "sales_of", "input": given}]}

    def second(body):
        assert "地区" not in body["messages"][1]["content"][0]["input"]
        return {"content": [{"type": "tool_use", "id": "t2", "name": "sales_of", "input": {"month": 3}}]}

    with ScriptedServer([first, second, "华东 4711。"]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = AnthropicModel()
        session = Session(model, tools=[sales_of], memory=None)
        result = session.run("华东三月卖了多少？")
        model.close()
    assert server.refused == []
    assert result.done, result.reason
    assert asked == [("华东", 3, "small")]
    assert result.task.observations[0].input == {"地区": "华东", "month": 3, "größe": "small"}
    assert "地区" in result.task.observations[1].text, "a missing argument is named as the user names it"
    assert session.messages[1]["content"][0]["input"]["地区"] == "华东"


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": None}])
def test_a_schema_without_properties_passes(schema):
    tools = [{"name": "look", "input_schema": schema}]
    assert sent(tools, [call({"地": 1})]) == (tools, [call({"地": 1})])
