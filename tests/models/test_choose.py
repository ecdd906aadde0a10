import json
import os
import subprocess
import sys

import pytest

from agent_nb.errors import SettingError
from agent_nb.models import choose, credentials_found
from agent_nb.models.anthropic import AnthropicModel
from agent_nb.models.scripted import ScriptedModel


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """No credentials anywhere, an empty home, and no network."""
    for name in list(os.environ):
        if name.startswith("ANTHROPIC_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENT_NB_HOME", str(tmp_path / "home"))
    return tmp_path


def name_of(choice):
    return choice[0].name


def test_names():
    assert name_of(choose("claude-opus-5-5")) == "claude-opus-5-5"
    assert isinstance(choose("claude-x-9")[0], AnthropicModel)
    mine = ScriptedModel([])
    assert choose("mine", {"mine": mine})[0] is mine
    assert choose(mine)[0] is mine
    model, reason = choose("offline")
    assert callable(model.reply)
    assert "offline" in reason


def test_the_student_is_a_model():
    model, reason = choose("student")
    assert model.name == "student"
    assert "student was asked for" in reason


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("offlin", ["did you mean offline", "replay:FILE", "claude-"]),
        ("minee", ["did you mean mine", "mine"]),
        ("gpt", ["Model object"]),
        ("df", ["dict", "reply"]),
        ("Cls", ["class", "ScriptedModel("]),
        ("replay:nowhere.jsonl", ["nowhere.jsonl"]),
        ("odd", ["not a model"]),
    ],
)
def test_what_is_no_model_is_one_line(name, words):
    class Odd:
        def __getattr__(self, attribute):
            raise RuntimeError("no")

    odd = Odd()
    namespace = {"mine": ScriptedModel([]), "df": {}, "Cls": ScriptedModel}
    if name == "odd":
        namespace["odd"] = 5
    else:
        namespace["odd"] = odd
    with pytest.raises(SettingError) as caught:
        choose(name, namespace)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_name_and_credentials_the_rules_answer():
    model, reason = choose(None)
    assert model.name == "offline"
    assert "no credentials" in reason


def profile(folder, name="default", active=None):
    (folder / "configs").mkdir(parents=True, exist_ok=True)
    (folder / "configs" / f"{name}.json").write_text(json.dumps({"authentication": {"type": "user_oauth"}}))
    if active is not None:
        (folder / "active_config").write_text(active + "\n")


FEDERATION = {
    "ANTHROPIC_FEDERATION_RULE_ID": "r",
    "ANTHROPIC_ORGANIZATION_ID": "o",
    "ANTHROPIC_IDENTITY_TOKEN": "t",
}


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, "ANTHROPIC_API_KEY"),
        ({"ANTHROPIC_API_KEY": ""}, ""),
        ({"ANTHROPIC_AUTH_TOKEN": "k"}, "ANTHROPIC_AUTH_TOKEN"),
        ({"ANTHROPIC_PROFILE": "work"}, "ANTHROPIC_PROFILE"),
        (FEDERATION, "workload identity"),
        (FEDERATION | {"ANTHROPIC_ORGANIZATION_ID": ""}, ""),
        ({"ANTHROPIC_CUSTOM_HEADERS": "x-a: b\nAuthorization: Bearer q"}, "ANTHROPIC_CUSTOM_HEADERS"),
        ({"ANTHROPIC_CUSTOM_HEADERS": "x-a: b"}, ""),
        ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, ""),
    ],
)
def test_credentials_of_the_environment(monkeypatch, variables, found):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert credentials_found() == found
    assert name_of(choose()) == ("claude-sonnet-5-5" if found else "offline")
    if found:
        assert found in choose()[1]


def test_credentials_on_disk(monkeypatch, bare):
    folder = bare / ".config" / "anthropic"
    profile(folder, "work")
    assert credentials_found() == ""
    profile(folder, "work", active="work")
    assert credentials_found() == "profile work"
    profile(folder, active="../../etc/passwd")
    assert credentials_found() == ""
    other = bare / "other"
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(other))
    assert credentials_found() == ""
    profile(other)
    assert credentials_found() == "profile default"


def test_the_sdk_finds_credentials_where_we_do(monkeypatch, bare):
    """The SDK's own chain, on the same places."""
    from anthropic.lib.credentials import default_credentials

    assert (default_credentials() is None) == (credentials_found() == "")
    profile(bare / ".config" / "anthropic", "default")
    assert (default_credentials() is None) == (credentials_found() == "")
    for name, value in FEDERATION.items():
        monkeypatch.setenv(name, value)
    assert default_credentials() is not None
    assert credentials_found() == "workload identity"


def test_the_reason_names_another_server_without_its_password(monkeypatch):
    assert choose("claude-x")[1] == "claude-x was asked for"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://me:secret@localhost:8080/v1")
    assert choose("claude-x")[1] == "claude-x was asked for, at localhost:8080"


def configure(bare, text):
    (bare / "home").mkdir(exist_ok=True)
    (bare / "home" / "config.toml").write_text(text, encoding="utf-8")


def test_the_configured_default(monkeypatch, bare):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    configure(bare, 'other = 1\nmodel = "claude-haiku-5-5"\n')
    model, reason = choose()
    assert model.name == "claude-haiku-5-5"
    assert "config.toml" in reason
    assert name_of(choose("offline")) == "offline"
    configure(bare, "[section]\n")
    assert name_of(choose()) == "claude-sonnet-5-5"


@pytest.mark.parametrize("text", ["model = ", "model = 7\n", 'model = "nobody"\n', "\x00"])
def test_a_broken_config_is_one_line(bare, text):
    configure(bare, text)
    with pytest.raises(SettingError, match=r"config\.toml") as caught:
        choose()
    assert "\n" not in str(caught.value)
    assert choose("claude-x")[0].name == "claude-x"


def test_choosing_imports_no_sdk_opens_no_socket_and_writes_nothing(bare):
    code = (
        "import socket, sys\n"
        "def no(*a, **k): raise AssertionError('a socket was opened')\n"
        "socket.socket.connect = no\n"
        "from agent_nb.models import choose\n"
        "assert choose()[0].name == 'claude-sonnet-5-5'\n"
        "assert not {'anthropic', 'httpx2', 'httpx'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"ANTHROPIC_API_KEY": "k"})
    assert list(bare.iterdir()) == []
