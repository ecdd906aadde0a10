"""Exports: both forms come back exactly, whatever the memories hold, and never half."""

import datetime
import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_nb.errors import AgentError
from agent_nb.memory import Memory, MemoryRecord, ledger, store

NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)

TEXT = st.one_of(
    st.sampled_from(
        ["--> x", "<!-- {", "# What is remembered", "\x85\u2028 y", "\r\n- **fact**", "a\x00b", "\ud800 z"]
    ),
    st.text(st.characters(exclude_categories=()), min_size=1, max_size=40),
).filter(str.strip)


@settings(max_examples=25, deadline=None)
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


@pytest.mark.parametrize("suffix", ["md", "jsonl"])
def test_an_import_into_another_user_keeps_chains_and_statuses(tmp_path, suffix):
    """In one file an id is taken once: the copies get new ids, and the links follow them."""
    with Memory(tmp_path / "m.db", "ana", None) as ana, Memory(tmp_path / "m.db", "bob", None) as bob:
        for n in (14, 30, 14):
            ana.add(f"the refund window is {n} days")
        ana.add("the refund window is 60 days", source="tool")
        ana.forget(ana.add("tea is green").id)
        before = [
            record.to_dict() for status in ("active", "superseded") for record in ana.search(status=status)
        ]
        ana.export(tmp_path / f"x.{suffix}")
        assert bob.import_(tmp_path / f"x.{suffix}")["new"] == 5
        assert [
            record.to_dict() for status in ("active", "superseded") for record in ana.search(status=status)
        ] == before
        head = bob.recall("refund window").hits[0].record
        assert head.user == "bob"
        chain = bob.history(head.id)
        assert [record.text for record in chain] == [f"the refund window is {n} days" for n in (14, 30, 14)]
        assert [record.superseded_by for record in chain] == [chain[1].id, chain[2].id, ""]
        assert not {record.id for record in chain} & {row["id"] for row in before}
        assert [row["against"] for row in bob.conflicts()] == [head.id]
        assert (bob.stats()["pending"], bob.stats()["revoked"]) == (1, 1)
        written = [row for row in bob.log() if row["action"] == "imported"]
        assert len(written) == 5
        assert all(json.loads(row["detail"])["id_in_file"] for row in written)
        assert bob.history(before[0]["id"]) == []


def test_line_ends_of_other_kinds_inside_a_text_end_no_line(tmp_path):
    """Other programs write JSON Lines too: what is no control character may stand in a JSON text as it is."""
    with Memory(":memory:", embedder=None) as memory:
        row = memory.add("tea is green").to_dict()
    text = "one\u2028two\u2029three\x85four"
    lines = [json.dumps(row | {"id": f"m{n}", "text": f"{n} {text}"}, ensure_ascii=False) for n in range(2)]
    (tmp_path / "x.jsonl").write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8", newline="")
    with Memory(":memory:", embedder=None) as memory:
        assert memory.import_(tmp_path / "x.jsonl") == {"read": 2, "new": 2}
        assert memory.get("m1").text == f"1 {text}"


def test_a_line_of_a_megabyte_and_what_looks_like_markup_come_back(tmp_path):
    long = MemoryRecord(id="long", user="default", text="x -->" * 200_000, created=NOW, recorded=NOW)
    for suffix in ("md", "jsonl"):
        ledger.write(tmp_path / f"long.{suffix}", [long])
        assert ledger.read(tmp_path / f"long.{suffix}") == [long]
    texts = [
        "'; DROP TABLE records; --",
        "<script>alert(1)</script> <!-- {",
        "\x00\ud800\x1c\r",
    ]
    for suffix in ("md", "jsonl"):
        path = tmp_path / f"x.{suffix}"
        with Memory(":memory:", embedder=None) as memory, Memory(":memory:", embedder=None) as other:
            memory.add_many({"text": text, "type": "episode", "entities": (text[:9],)} for text in texts)
            memory.export(path)
            other.import_(path)
            assert _rows(other) == _rows(memory)


def test_an_import_that_breaks_in_the_middle_imports_nothing(tmp_path, monkeypatch):
    with Memory(":memory:", embedder=None) as memory, Memory(tmp_path / "m.db", embedder=None) as other:
        memory.add_many({"text": f"gate {n} is open", "type": "episode"} for n in range(9))
        memory.export(tmp_path / "x.jsonl")
        whole, written = store.put, []

        def broken(*values):
            written.append(values)
            if len(written) == 5:
                raise KeyboardInterrupt
            whole(*values)

        monkeypatch.setattr(store, "put", broken)
        with pytest.raises(KeyboardInterrupt):
            other.import_(tmp_path / "x.jsonl")
        monkeypatch.undo()
        assert other.search() == [] == other.log()
        assert other.import_(tmp_path / "x.jsonl") == {"read": 9, "new": 9}


def test_two_imports_at_once_bring_each_memory_once(tmp_path):
    with Memory(":memory:", embedder=None) as memory:
        memory.add_many({"text": f"gate {n} is open", "type": "episode"} for n in range(40))
        memory.export(tmp_path / "x.jsonl")
    told = []
    memories = [Memory(tmp_path / "m.db", embedder=None) for _ in range(3)]
    threads = [
        threading.Thread(target=lambda m=m: told.append(m.import_(tmp_path / "x.jsonl")["new"]))
        for m in memories
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == [0, 0, 40]
    assert len(memories[0].search()) == 40
    for memory in memories:
        memory.close()
