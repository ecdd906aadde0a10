"""Long records: each piece has words and a vector of its own, in every store, early and late, and the best one counts."""

import dataclasses
import sqlite3
import time

import numpy as np
import pytest

from agent_nb.memory import Memory, block, chunks, draft, pieces, store
from agent_nb.memory.index import Index
from agent_nb.notebook.views import gates

SUBJECTS = ["harbour", "printer", "vineyard", "elevator", "orchestra", "greenhouse", "ferry", "library"]
DETAILS = {
    "en": ("The flamingo enclosure opens at seven with code heron.", "flamingo enclosure code"),
    "zh": ("火烈鸟馆的门禁口令是白鹭。", "火烈鸟馆的口令"),
}
FILLER = {
    "en": "Item {n}: the {a} committee discussed the {b} budget and moved on to other matters of the week.",
    "zh": "第{n}项：{a}小组讨论了{b}的预算，然后继续本周的其他事项。",
}


class Words:
    """An embedder of words alone: each is a direction, so that a long text is near to nothing and a piece to its own."""

    name, dim, unrelated, same, quick = "words-64", 64, 0.1, 0.9, True

    def __init__(self):
        self.seen = []

    def embed(self, texts, kind="record"):
        self.seen += texts
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").replace(":", " ").split():
                row[sum(map(ord, word)) * 31 % self.dim] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def long_text(detail, language="en", lines=400):
    """Many pages with one sentence in their middle."""
    rows = [
        FILLER[language].format(n=n, a=SUBJECTS[n % 8], b=SUBJECTS[(n * 3 + 1) % 8]) for n in range(lines)
    ]
    rows.insert(lines // 2, detail)
    return "\n".join(rows)


@pytest.fixture(params=["memory.db", "memory.pkl", ":memory:"])
def where(request, tmp_path):
    return request.param if request.param == ":memory:" else str(tmp_path / request.param)


@pytest.mark.parametrize("language", DETAILS)
@pytest.mark.parametrize("embedder", [None, "hashing"])
def test_a_detail_in_the_middle_of_twenty_pages_is_found_and_named(where, embedder, language):
    detail, question = DETAILS[language]
    with Memory(where, embedder=embedder) as memory:
        record = memory.add(long_text(detail, language))
        for n in range(60):
            memory.add(f"The {SUBJECTS[n % 8]} of note {n} has its own code")
        assert memory.wait()
        hit = memory.recall(question, budget=10**6).hits[0]
        assert hit.record.id == record.id
        parts = chunks.pieces(record.text)
        number = next(n for n, part in enumerate(parts, 1) if detail.rstrip(".") in part)
        assert f"piece {number} of {len(parts)}: “{' '.join(parts[number - 1].split())[:20]}" in hit.reason


@pytest.mark.parametrize("embedder", [None, "hashing"])
def test_a_long_record_does_not_stand_before_a_short_one_that_says_it(embedder):
    with Memory(":memory:", embedder=embedder) as memory:
        memory.add(long_text("Nothing of note."), "episode")
        said = "The {} is closed on day {} for repair"
        short = [memory.add(said.format(name, n), "episode") for n, name in enumerate(SUBJECTS)]
        assert memory.wait()
        for name, record in zip(SUBJECTS, short, strict=True):
            assert (
                memory.recall(f"when is the {name} closed for repair", budget=10**6).hits[0].record.id
                == record.id
            )


def test_a_long_record_changes_little_of_what_the_short_ones_score():
    with Memory(":memory:", embedder=None) as one, Memory(":memory:", embedder=None) as other:
        for memory in (one, other):
            for n in range(200):
                memory.add(f"The {SUBJECTS[n % 8]} number {n} was painted in spring")
        other.add(long_text("Nothing of note.", lines=3_000))
        for question in ("the ferry number 46", "painted greenhouse in spring"):
            before, after = (
                {h.record.text: h.similarity for h in m.recall(question, k=5, threshold=0)}
                for m in (one, other)
            )
            assert before.keys() & after.keys()
            assert all(abs(before[text] - after[text]) < 0.1 for text in before.keys() & after.keys())


def test_a_line_of_a_megabyte_is_found_by_what_stands_in_its_middle():
    words = " ".join(f"entry{n} {SUBJECTS[n % 8]}" for n in range(60_000))
    half = len(words) // 2
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add(f"{words[:half]} the zeppelin landed safely {words[half:]}", "episode")
        for n in range(20):
            memory.add(f"note {n} of the {SUBJECTS[n % 8]}")
        hits = memory.recall("where did the zeppelin land", budget=10**7).hits
        assert hits[0].record.id == record.id
        assert " piece " in hits[0].reason
        assert memory.recall("the unicorn of the castle", budget=10**7).hits == ()


def test_each_piece_has_a_vector_of_its_own_and_the_best_one_counts(tmp_path):
    detail, question = DETAILS["en"]
    embedder = Words()
    with Memory(tmp_path / "memory.db", embedder=embedder) as memory:
        record = memory.add(long_text(detail))
        memory.add("A short one about the ferry")
        assert memory.wait()
        parts = draft.embedded_of(record)
        with memory._store.reading() as db:
            first = db.execute("SELECT vector FROM records WHERE id=?", (record.id,)).fetchone()[0]
            more = db.execute(
                "SELECT at, vector FROM pieces WHERE record=? ORDER BY at", (record.id,)
            ).fetchall()
        kept = np.array([np.frombuffer(row, np.float32) for row in (first, *(row for _, row in more))])
        np.testing.assert_allclose(kept, embedder.embed(parts), atol=1e-6)
        assert [at for at, _ in more] == list(range(1, len(parts)))
        index, vector = memory._fresh_index(), embedder.embed([question], "query")[0]
        place = index.columns["number"].tolist().index(1)
        assert index.semantic(vector).upper[place] == pytest.approx(float((kept @ vector).max()), abs=1e-6)


def test_what_is_embedded_carries_type_and_tags():
    embedder = Words()
    with Memory(":memory:", embedder=embedder) as memory:
        memory.add("No invoices on Fridays", "constraint", tags=["billing", "月结"])
        record = memory.add(long_text("Nothing of note."), "decision", tags=["board"])
        assert memory.wait()
    assert "No invoices on Fridays (constraint, billing, 月结)" in embedder.seen
    assert all(text.endswith(" (decision, board)") for text in draft.embedded_of(record))
    assert set(draft.embedded_of(record)) <= set(embedder.seen)


@pytest.mark.parametrize("bulk", [1, 10**9])
@pytest.mark.parametrize("embedder", [None, Words])
def test_an_index_of_a_block_and_one_that_grew_say_the_same(tmp_path, monkeypatch, bulk, embedder):
    monkeypatch.setattr(Index, "bulk", bulk)
    made = embedder() if embedder else None
    path = tmp_path / "memory.db"
    questions = [DETAILS["en"][1], "the ferry budget", "code heron", "elevator committee 17"]

    def told(memory):
        found = [memory.recall(q, k=10, budget=10**7, threshold=0) for q in questions]
        return [[(h.record.id, round(h.similarity, 3), h.reason) for h in each] for each in found]

    with Memory(path, embedder=made) as grown:
        for n in range(30):
            grown.add(f"The {SUBJECTS[n % 8]} number {n} stands by the ferry")
            grown.recall("ferry")
            if n in (3, 17, 28):
                grown.add(long_text(f"{DETAILS['en'][0]} Copy {n}.", lines=60 + n))
        gone = grown.add(long_text("code heron of what goes", lines=80))
        assert grown.wait()
        grown.recall("ferry")
        grown.forget(gone.id)
        before = told(grown)
    with Memory(path, embedder=made) as opened:
        assert told(opened) == before
    monkeypatch.setattr(Index, "bulk", 1)
    with Memory(path, embedder=made) as mapped:
        assert told(mapped) == before


def test_the_pickle_store_ranks_long_records_as_the_file_does(tmp_path):
    found = []
    for name in ("memory.db", "memory.pkl"):
        with Memory(tmp_path / name, embedder=None) as memory:
            for n in range(40):
                memory.add(f"The {SUBJECTS[n % 8]} number {n} stands by the ferry")
            memory.add(long_text(DETAILS["en"][0], lines=120))
            hits = memory.recall("the flamingo of the ferry", k=10, budget=10**7, threshold=0)
            found.append([(hit.record.text[:40], hit.similarity, hit.reason) for hit in hits])
    assert found[0] == found[1]


def test_vectors_of_the_form_before_count_and_are_made_anew_in_the_background(tmp_path):
    path, embedder = tmp_path / "memory.db", Words()
    with Memory(path, embedder=embedder) as memory:
        short, long = memory.add("The ferry sails at noon"), memory.add(long_text(DETAILS["en"][0]))
        assert memory.wait()
    mean = embedder.embed([long.text])[0].tobytes()
    with sqlite3.connect(
        path
    ) as db:  # as an older version left it: one vector of the text alone, under the bare name
        db.execute("UPDATE records SET embedder=?", (embedder.name,))
        db.execute("UPDATE records SET vector=? WHERE id=?", (mean, long.id))
        db.execute("DELETE FROM pieces")
    db.close()

    class Later(Words):
        quick, each_s = False, 0.0

        def embed(self, texts, kind="record"):
            while kind == "record" and not release:
                time.sleep(0.005)
            return super().embed(texts, kind)

    release = []
    with Memory(path, embedder=Later()) as memory:
        memory.stats()
        memory._embedding.open()
        index = memory._fresh_index()
        assert index.columns["embedded"].tolist() == [True, True]
        np.testing.assert_allclose(index.semantic(np.frombuffer(mean, np.float32)).upper[1], 1.0, atol=1e-5)
        release.append(True)
        assert memory.wait()
        with memory._store.reading() as db:
            names = db.execute("SELECT DISTINCT embedder FROM records").fetchall()
            count = db.execute("SELECT count(*) FROM pieces WHERE record=?", (long.id,)).fetchone()[0]
        assert names == [(store.form(embedder.name),)]
        assert count == len(chunks.pieces(long.text)) - 1
        assert memory.get(short.id).embedder == embedder.name


def test_a_piece_that_the_embedder_refuses_keeps_the_others():
    class Picky(Words):
        quick = False

        def embed(self, texts, kind="record"):
            if any("flamingo" in text for text in texts):
                raise ValueError("no birds")
            return super().embed(texts, kind)

    with Memory(":memory:", embedder=Picky()) as memory:
        record = memory.add(long_text(DETAILS["en"][0]))
        assert memory.wait()
        with memory._store.reading() as db:
            rows = [row for (row,) in db.execute("SELECT vector FROM pieces").fetchall()]
        assert len(rows) == len(chunks.pieces(record.text)) - 1
        assert sum(not any(row) for row in rows) == 1


@pytest.mark.parametrize("way", ["erase", "forget"])
def test_what_is_erased_leaves_no_vector_of_a_piece(tmp_path, way):
    with Memory(tmp_path / "memory.db", user="ana", embedder=Words()) as memory:
        record, other = (
            memory.add(long_text(DETAILS["en"][0])),
            memory.add(long_text("Something else entirely.")),
        )
        assert memory.wait()
        memory.forget(record.id, **({"erase": True} if way == "erase" else {}))
        assert memory.recall(DETAILS["en"][1], budget=10**7, threshold=0).hits[0].record.id == other.id
        with memory._store.reading() as db:
            held = {id for (id,) in db.execute("SELECT DISTINCT record FROM pieces").fetchall()}
        assert held == ({other.id} if way == "erase" else {record.id, other.id})


def test_a_record_longer_than_the_budget_is_named_by_the_gate_and_the_next_enters():
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add(long_text(DETAILS["en"][0]))
        memory.add("The flamingo enclosure is painted pink")
        recall = memory.recall("the flamingo enclosure code")
        assert [hit.record.text for hit in recall] == ["The flamingo enclosure is painted pink"]
        gate = recall.gates[-1]
        assert [row["id"] for row in gate["skipped"]] == [record.id]
        assert f"{record.id} alone is {gate['skipped'][0]['tokens']:,} tokens" in gate["why"]
        assert "flamingo" not in memory.recall("committee elevator").text


def test_the_words_of_a_piece_are_escaped_in_views():
    with Memory(":memory:", embedder=None) as memory:
        memory.add(
            "\n".join(f"<script>alert({n})</script> row {n} of the zeppelin & co." for n in range(200))
        )
        recall = memory.recall("zeppelin row 77", budget=10**7)
        assert "<script>" in recall.hits[0].reason
        row = dict(recall.gates[2]["listed"][0])
        drawn = gates.gates_html(list(recall.gates), [row]) + recall._repr_html_()
        assert "<script" not in drawn
        assert "piece " in drawn


def test_terms_of_pieces_are_parted_again():
    with Memory(":memory:", embedder=None) as memory:
        record = memory.add(long_text(DETAILS["en"][0]), tags=["board"])
    terms = draft.terms_of(record)
    parts = pieces.parted(terms)
    assert len(parts) == terms.count(pieces.END) == len(chunks.pieces(record.text))
    assert all("board" in part for part in parts)
    assert pieces.length(terms) == len(pieces.words(terms)) // len(parts)
    short = dataclasses.replace(record, text="A short one")
    assert pieces.parted(draft.terms_of(short)) == []
    assert pieces.words(draft.terms_of(short)) == draft.terms_of(short)


def test_the_block_of_a_memory_without_long_records_has_no_pieces(tmp_path):
    with Memory(tmp_path / "memory.db", embedder=Words()) as memory:
        memory.add("short")
        with memory._store.reading() as db:
            assert not block.part(block.build(db, memory.user, Words()), "piece")
