"""`%memory` through a real shell, on a real store, and memory in the runs of cells."""

import pytest

from agent_nb import Memory, places

SETUP = "from agent_nb.models.scripted import ScriptedModel\nm = ScriptedModel(['fine'] * 30)"


@pytest.fixture
def cell(loaded, capsys, monkeypatch):
    # Words are enough here; loading an embedder takes seconds.
    from agent_nb.notebook.desk import Desk

    def memory(self, user="default"):
        if user not in self._memories:
            self._memories[user] = Memory(user=user, embedder=None)
        return self._memories[user]

    monkeypatch.setattr(Desk, "memory", memory)
    assert loaded.run_cell(SETUP).success

    def run(text):
        capsys.readouterr()
        done = loaded.run_cell(text)
        run.error = done.error_in_exec or done.error_before_exec
        run.told = capsys.readouterr().out
        return run.told

    run.names = loaded.user_ns
    yield run
    loaded.run_line_magic("unload_ext", "agent_nb")


@pytest.fixture
def store():
    with Memory(embedder=None) as memory:
        yield memory


def one_line_error(cell):
    assert cell.error is not None
    assert cell.told.strip().count("\n") == 0
    return cell.told.strip()


TEXT = 'A flight is late when {delay} > $15; it\'s "late"\\ enough?'


def test_add_show_edit_history_forget(cell, store):
    told = cell(f"%memory add --type preference {TEXT}")
    assert TEXT in told
    (record,) = store.search()
    assert record.text == TEXT
    assert record.type == "preference"
    assert record.source == "user_explicit"
    assert record.id in cell("%memory search late")
    assert "preference" in cell(f"%memory show {record.id}")
    cell(f"%memory edit {record.id} Late is over 20 minutes?")
    (changed,) = store.search()
    assert changed.text == "Late is over 20 minutes?"
    told = cell(f"%memory history {changed.id}")
    assert record.id in told
    assert "superseded" in told
    assert "Forgotten: Late" in cell(f"%memory forget {changed.id}")
    assert store.search() == []
    assert "revoked" in cell("%memory log") or "forgot" in cell.told


def test_add_takes_a_leading_dash(cell, store):
    cell("%memory add -- --approve is what I always want")
    assert store.search()[0].text == "--approve is what I always want"


def test_recall_and_why(cell, store):
    store.add("A flight is late when its departure delay is over 15 minutes.")
    store.add("The office is in Lyon.")
    told = cell("%memory recall when is a flight late?")
    assert "over 15 minutes" in told
    assert told.count("query") >= 1
    assert "budget" in told
    assert "late" in cell("%memory why when is a flight late?")
    assert cell.error is None
    assert "No memory is near enough" in cell("%memory recall zebra")


def test_conflicts_and_resolve(cell, store):
    store.add("The deadline is Friday.")
    store.add("The deadline is Monday.", source="tool")
    pending = store.search(status="pending")
    told = cell("%memory conflicts")
    assert cell.error is None
    for record in pending:
        assert record.id in told
        assert "active" in cell(f"%memory resolve {record.id} keep")
    assert pending, "the store sees these two as a conflict"
    assert "Nothing is contradicted" in cell("%memory conflicts")
    cell(f"%memory resolve {pending[0].id} maybe")
    assert "keep, drop or both" in one_line_error(cell)


def test_export_and_import(cell, store, tmp_path):
    store.add("One thing.")
    file = tmp_path / "all my memories.jsonl"
    assert "Wrote 1 memory" in cell(f"%memory export '{file}'")
    assert file.exists()
    cell(f"%memory export '{file}'")
    assert "exists already" in one_line_error(cell)
    cell("%memory export x.ipynb")
    one_line_error(cell)
    assert "0 of them new" in cell(f"%memory import '{file}'")
    cell("%memory import /nonexistent.jsonl")
    one_line_error(cell)


def test_stats_expire_log(cell, store):
    assert "Nothing was done" in cell("%memory log")
    assert "out of date" in cell("%memory expire --dry-run")
    assert "out of date" in cell("%memory expire")
    cell("%memory expire now")
    one_line_error(cell)
    store.add("One thing.")
    assert "active" in cell("%memory stats")
    assert "added" in cell("%memory log")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("show", "id is missing"),
        ("show nonesuch", "there is no memory 'nonesuch'"),
        ("edit", "missing"),
        ("forget zz", "there is no memory"),
        ("history zz", "there is no memory"),
        ("resolve zz keep", "there is no memory"),
        ("add", "missing"),
        ("add --type poem x", "--type"),
        ("recall", "missing"),
        ("why", "missing"),
        ("serach x", "did you mean search"),
        ("add my password is hunter2 and api_key=sk-ant-REDACTED", "secret"),
    ],
)
def test_wrong_lines_are_one_line(cell, line, words):
    cell(f"%memory {line}")
    assert words in one_line_error(cell)


def test_a_run_reads_memory_and_can_do_without(cell, store):
    store.add("A flight is late when its departure delay is over 15 minutes.")
    cell("%%agent -m m\nWhen is a flight late?")
    assert cell.error is None, cell.told
    assert "over 15 minutes" in str(cell.names["m"].requests[-1])
    cell("%%agent -m m --no-memory --new\nWhen is a flight late?")
    assert "over 15 minutes" not in str(cell.names["m"].requests[-1])
    cell("%%agent -m m --user someone --new\nWhen is a flight late?")
    assert "over 15 minutes" not in str(cell.names["m"].requests[-1])
    cell("%%agent -m m --new\nWhen is a flight late?")
    assert "over 15 minutes" in str(cell.names["m"].requests[-1])


def test_without_memory_nothing_is_opened(cell):
    cell("%%agent -m m --no-memory\nx")
    assert cell.error is None
    assert not (places.home() / "memory.db").exists()


def test_status(cell, store):
    store.add("One thing.")
    told = cell("%agent status")
    assert cell.error is None, told
    for words in ("offline", "none found", "1 memory of default", "query_sql", "save_memory", "12 steps"):
        assert words in told
    assert "save_memory" in cell("%agent tools")
    assert "asks first" in cell.told
