"""Exports: both forms come back exactly, whatever the memories hold, and never half."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.errors import AgentError
from agent_nb.memory import Memory

TEXT = st.one_of(
    st.sampled_from(
        ["--> x", "<!-- {", "# What is remembered", "\x85\u2028 y", "\r\n- **fact**", "a\x00b", "\ud800 z"]
    ),
    st.text(st.characters(exclude_categories=()), min_size=1, max_size=40),
).filter(str.strip)


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=5), suffix=st.sampled_from([".md", ".jsonl"]))
def test_any_text_comes_back_exactly_in_either_form(texts, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / f"out{suffix}"
    with Memory(":memory:", embedder=None) as memory, Memory(":memory:", embedder=None) as other:
        for n, text in enumerate(texts):
            memory.add(text, "episode", tags=(text,), evidence=[{"text": text}], created=f"2026-01-0{n + 1}")
        assert memory.export(path) == len(memory.search())
        assert other.import_(path) == {"read": len(texts), "new": len(texts)}
        assert _rows(other) == _rows(memory)
        assert other.import_(path)["new"] == 0


def _rows(memory):
    return sorted((record.to_dict() for record in memory.search()), key=lambda row: row["id"])


@pytest.mark.parametrize("suffix", ["md", "jsonl"])
def test_chains_pending_and_revoked_ones_come_back(tmp_path, suffix):
    with Memory(":memory:", embedder=None) as memory, Memory(":memory:", embedder=None) as other:
        ids = [memory.add(f"the refund window is {n} days").id for n in (14, 30, 14)]
        memory.add("the refund window is 60 days", source="tool")
        memory.forget(memory.add("tea is green").id)
        memory.export(tmp_path / f"x.{suffix}")
        other.import_(tmp_path / f"x.{suffix}")
        assert [record.id for record in other.history(ids[0])] == ids
        assert other.stats() == memory.stats()
        assert other.conflicts() == memory.conflicts()
        assert [hit.record.id for hit in other.recall("refund window")] == ids[2:]


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", "1", '{"id": "x"}', '{"id": 1, "user": "a", "text": 3}', "hello"]
)
def test_a_line_that_is_no_memory_imports_nothing_and_names_itself(tmp_path, line):
    with Memory(":memory:", embedder=None) as memory:
        good = memory.add("tea is green").to_dict() | {"id": "mother"}
        (tmp_path / "x.jsonl").write_text(json.dumps(good) + "\n" + line + "\n")
        with pytest.raises(AgentError, match="line 2"):
            memory.import_(tmp_path / "x.jsonl")
        assert len(memory.search()) == 1


@pytest.mark.parametrize(
    "field",
    [
        {"status": "great"},
        {"type": "odd"},
        {"source": "me"},
        {"created": None},
        {"text": ""},
        {"weight": "x"},
    ],
)
def test_a_field_of_no_memory_imports_nothing(tmp_path, field):
    with Memory(":memory:", embedder=None) as memory:
        row = memory.add("tea is green").to_dict() | {"id": "mother"} | field
        (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n")
        with pytest.raises(AgentError, match="line 1"):
            memory.import_(tmp_path / "x.jsonl")
        assert len(memory.search()) == 1


def test_a_secret_in_an_import_is_refused(tmp_path):
    with Memory(":memory:", embedder=None) as memory:
        row = memory.add("tea is green").to_dict() | {"id": "mother", "text": "key sk-ant-" + "a1B2" * 8}
        (tmp_path / "x.jsonl").write_text(json.dumps(row) + "\n")
        with pytest.raises(AgentError, match="secret"):
            memory.import_(tmp_path / "x.jsonl")
        assert len(memory.search()) == 1


def test_a_file_that_is_missing_or_binary_is_one_line(tmp_path):
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    with Memory(":memory:", embedder=None) as memory:
        for name in ("none.jsonl", "b.jsonl"):
            with pytest.raises(AgentError, match=name.split(".")[0]):
                memory.import_(tmp_path / name)


def test_an_export_that_fails_leaves_the_old_file(tmp_path):
    with Memory(":memory:", embedder=None) as memory:
        memory.add("tea is green")
        with pytest.raises(AgentError):
            memory.export(tmp_path)
        with pytest.raises(AgentError):
            memory.export(tmp_path / "none" / ".." / "\0")
