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


def test_browse_is_a_list_in_a_terminal(cell, store):
    assert "Nothing is remembered yet." in cell("%memory browse")
    store.add_many({"text": f"Gate {i} was closed.", "type": "episode"} for i in range(40))
    record = store.add("The deadline is Friday.")
    store.add("The deadline is Monday.", source="tool")
    store.add("A \x1b[31mred one.")
    told = cell("%memory browse")
    assert cell.error is None
    assert "memory of default: 42 active, 43 records in all" in told
    assert "the latest 30 of 42; %memory search WORDS finds the others" in told
    assert "1 conflict to settle: %memory conflicts" in told
    assert "%memory show ID opens one" in told
    assert record.id in cell("%memory browse deadline")
    assert record.id in cell(f"%memory browse {record.id}")
    assert "\x1b" not in cell("%memory browse red")
    assert "of ana: 0 active" in cell("%memory browse --user ana")


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


def test_forget_erase_prints_where_it_still_stands(cell, store, own_home):
    record = store.add("The zyzzyva lives in gate 7.")
    (own_home / "sessions").mkdir(exist_ok=True)
    (own_home / "sessions" / "old.jsonl").write_text(
        '{"event": "Answered", "text": "The zyzzyva lives in gate 7."}\n'
    )
    told = cell(f"%memory forget {record.id} --erase")
    assert "old.jsonl" in told
    assert "%agent delete" in told
    assert store.get(record.id) is None
    assert b"zyzzyva" not in (own_home / "memory.db").read_bytes()
    cell("%memory forget --erase")
    assert "id is missing" in one_line_error(cell)


@pytest.mark.parametrize(
    "verb", ["search", "recall late", "stats", "log", "memo", "conflicts", "why late", "graph"]
)
def test_another_users_memory_is_looked_at_by_name(cell, store, verb):
    store.add("The default canary is late.", "constraint")
    with Memory(user="ana ", embedder=None) as other:
        other.add("x is y")
    cell("%memory add --user ana Late is over 20 minutes.")
    name, _, rest = verb.partition(" ")
    told = cell(f"%memory {name} --user ana {rest}")
    assert cell.error is None
    assert "canary" not in told
    assert "canary" not in cell(f"%memory {name} --user 'ana ' {rest}")
    if name in ("search", "recall", "why"):
        assert "20 minutes" in cell(f"%memory {name} --user=ana {rest}")
        assert "20 minutes" not in cell(f"%memory {verb}")


def test_user_needs_a_name(cell):
    cell("%memory search --user")
    assert "needs a name" in one_line_error(cell)


def test_team_is_joined_written_and_left(cell, store):
    cell("%memory add --team x is y")
    assert "team=NAME" in one_line_error(cell)
    cell("%memory team sales")
    cell("%memory add --team --type constraint The refund window is 14 days")
    assert store.search() == []
    assert "14 days" in cell("%memory team")
    assert "team sales" in cell("%memory recall how long is the refund window?")
    cell("%memory team off")
    assert "No memory is near enough" in cell("%memory recall how long is the refund window?")


def test_decay_ledger_memo_and_graph(cell, store, tmp_path):
    assert "0.07" in cell("%memory decay")
    assert "0.02" in cell("%memory decay slow")
    cell("%memory decay quick")
    assert "slow, normal, fast" in one_line_error(cell)
    assert "No ledger" in cell("%memory ledger")
    assert str(tmp_path / "l.md") in cell(f"%memory ledger {tmp_path / 'l.md'}")
    assert "no longer kept" in cell("%memory ledger off")
    assert "No ledger" in cell("%memory ledger")
    cell("%memory ledger x.txt")
    assert "ends in .md" in one_line_error(cell)
    assert "No constraint" in cell("%memory memo")
    assert "No relation" in cell("%memory graph")
    record = store.add("I don't like coffee", "preference")
    assert record.id in cell("%memory memo")
    told = cell("%memory graph coffee")
    assert "dislikes" in told
    assert record.id in told
    assert "Nothing is linked to tea" in cell("%memory graph tea")


def test_the_log_tells_details_in_words(cell, store):
    store.add("The deadline is Friday.")
    store.add("The deadline is Monday.")
    told = cell("%memory log")
    assert "{" not in told
    assert "by m" in told


def test_why_looks_at_the_last_run_that_asked_the_same(cell, store):
    record = store.add("The refund window is 14 days.")
    assert "ignored" not in cell("%memory why how long is the refund window?")
    cell("%%agent -m m\nhow long is the refund window?")
    told = cell("%memory why how long is the refund window?")
    assert "The break: ignored" in told
    assert record.id in told
    assert "ignored" not in cell("%memory why what is a zebra?")


def test_help_names_every_verb_with_an_id_that_looks_like_one(cell):
    told = cell("%memory")
    for verb in ("team", "graph", "ledger", "decay", "memo", "undo", "--erase"):
        assert verb in told
    assert "m12" not in told


def test_what_a_new_memory_takes_the_place_of_is_said(cell, store):
    cell("%memory add The deadline is Friday.")
    told = cell("%memory add The deadline is Monday.")
    assert "in place of: The deadline is Friday." in told
    told = cell("%memory add The deadline is Monday.")
    assert "Known already" in told
    assert "2 times" in told


@pytest.mark.parametrize("verb", ["stats", "log", "memo", "check", "repair", "conflicts"])
def test_a_verb_that_takes_nothing_says_so(cell, verb):
    cell(f"%memory {verb} now")
    assert "takes nothing more" in one_line_error(cell)


@pytest.mark.parametrize("line", ["search tea", "recall tea", "show m12", "history m12", "why tea?"])
def test_a_user_named_too_late_is_not_searched_for(cell, line):
    cell(f"%memory {line} --user bea")
    assert f"right after the verb: %memory {line.split()[0]} --user bea" in one_line_error(cell)
    cell("%memory add I wrote a letter --user bea")
    assert cell.error is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("remember tea", "did you mean add"),
        ("delete m12", "did you mean forget"),
        ("list", "did you mean search"),
        ("queue retry 99", "no turn 99 waits"),
        ("synonyms --remove tea", "no synonyms hold 'tea'"),
        ("import nowhere.jsonl", "there is no file 'nowhere.jsonl'"),
    ],
)
def test_a_wrong_line_says_what_to_do(cell, line, words):
    cell(f"%memory {line}")
    assert words in one_line_error(cell)
    assert "Errno" not in cell.told


def test_stats_are_words(cell, store):
    told = cell("%memory stats")
    assert "words alone" in told
    assert "failed:" not in told
    assert "--user NAME" in cell("%memory")


def test_the_teams_memories_are_marked(cell, store):
    cell("%memory add I start at nine.")
    cell("%memory team sales")
    assert "for team sales" in cell("%memory add --team The week of sales ends on Sunday.")
    told = cell("%memory search")
    assert "scope" in told
    assert "team sales" in told
    assert "own" in told


def test_times_are_the_readers_own(cell, store, monkeypatch):
    import time

    record = store.add("One thing.")
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        shown = f"{record.recorded.astimezone():%Y-%m-%d %H:%M}"
        assert shown != f"{record.recorded:%Y-%m-%d %H:%M}"
        assert shown in cell("%memory search")
        assert shown in cell("%memory log")
        assert "+00:00" not in cell.told
    finally:
        monkeypatch.undo()
        time.tzset()
