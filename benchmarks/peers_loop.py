"""CPU milliseconds a step of other agent loops, with a model that answers at once and the same trivial tool.

Run by bench_loop.py with a Python that has the peers installed.
Prints one JSON object: name and version → {steps: ms}.
"""

import importlib.metadata
import json
import sys
import time
from collections.abc import Callable


def smolagents(steps: int) -> None:
    """ToolCallingAgent, silent."""
    from smolagents import Tool, ToolCallingAgent
    from smolagents.models import (
        ChatMessage,
        ChatMessageToolCall,
        ChatMessageToolCallFunction,
        MessageRole,
        Model,
        TokenUsage,
    )
    from smolagents.monitoring import LogLevel

    class Add(Tool):
        name = "add"
        description = "Add two numbers."
        inputs = {  # noqa: RUF012
            "a": {"type": "integer", "description": "first"},
            "b": {"type": "integer", "description": "second"},
        }
        output_type = "integer"

        def forward(self, a: int, b: int) -> int:
            return a + b

    class Fake(Model):
        asked = 0

        def generate(self, messages, **kwargs):
            self.asked += 1
            last = self.asked > steps
            given = {"answer": "done"} if last else {"a": self.asked, "b": 1}
            function = ChatMessageToolCallFunction(name="final_answer" if last else "add", arguments=given)
            call = ChatMessageToolCall(id=f"t{self.asked}", type="function", function=function)
            return ChatMessage(
                role=MessageRole.ASSISTANT, content="step", tool_calls=[call], token_usage=TokenUsage(1, 1)
            )

    model = Fake(model_id="fake")
    agent = ToolCallingAgent(tools=[Add()], model=model, max_steps=steps + 2, verbosity_level=LogLevel.OFF)
    assert agent.run("add numbers") == "done"
    assert model.asked == steps + 1


def langgraph(steps: int) -> None:
    """The prebuilt ReAct agent."""
    import warnings

    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool

    warnings.simplefilter("ignore")
    from langgraph.prebuilt import create_react_agent

    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    class Fake(BaseChatModel):
        asked: int = 0

        @property
        def _llm_type(self):
            return "fake"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            self.asked += 1
            call = {"name": "add", "args": {"a": self.asked, "b": 1}, "id": f"t{self.asked}"}
            told = AIMessage("done") if self.asked > steps else AIMessage("step", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=told)])

    agent = create_react_agent(Fake(), [add])
    state = agent.invoke({"messages": [("user", "add numbers")]}, {"recursion_limit": 2 * steps + 10})
    assert len(state["messages"]) == 2 * steps + 2


def pydantic_ai(steps: int) -> None:
    """Agent with a FunctionModel."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import UsageLimits

    asked = 0

    def answer(messages, info):
        nonlocal asked
        asked += 1
        if asked > steps:
            return ModelResponse(parts=[TextPart("done")])
        call = ToolCallPart("add", {"a": asked, "b": 1}, tool_call_id=f"t{asked}")
        return ModelResponse(parts=[TextPart("step"), call])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    assert agent.run_sync("add numbers", usage_limits=UsageLimits(request_limit=None)).output == "done"


def best(run: Callable[[int], None], steps: int, times: int) -> float:
    """CPU milliseconds a step, the best of several runs."""
    spent = []
    for _ in range(times):
        started = time.process_time()
        run(steps)
        spent.append(time.process_time() - started)
    return min(spent) * 1000 / steps


if __name__ == "__main__":
    lengths = [int(word) for word in sys.argv[1:]]
    found = {}
    for peer in (smolagents, langgraph, pydantic_ai):
        name = peer.__name__.replace("_", "-")
        try:
            peer(5)
            version = importlib.metadata.version("pydantic-ai-slim" if name == "pydantic-ai" else name)
        except ImportError:
            continue
        figures = {}
        for steps in lengths:
            if (
                figures and figures[str(lengths[0])] * steps > 4_000 * 2
            ):  # it grows with the length; not for minutes
                break
            figures[str(steps)] = best(peer, steps, 3 if steps < 1_000 else 1)
        found[f"{name} {version}"] = figures
    print(json.dumps(found))
