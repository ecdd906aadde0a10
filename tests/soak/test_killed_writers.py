"""Two processes write while a third is killed, again and again: what was acknowledged is there, nothing is half there.

AGENT_NB_SOAK=N kills N writers of each store; `make soak` a hundred, `make test` three.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agent_nb.memory import Memory, store

ROUNDS = min(int(os.environ.get("AGENT_NB_SOAK", "3")), 1000)
SECONDS = 60 + 10 * ROUNDS

TOY = """
class Toy:
    name, dim, quick = "toy", 4, True

    def embed(self, texts, kind="record"):
        rows = np.array([[len(text), text.count("e"), text.count("1"), 1] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
"""
WRITER = (
    """
import json, sys, time
import numpy as np
from agent_nb.memory import Memory
"""
    + TOY
    + """
memory, name, n = Memory(sys.argv[1], embedder=Toy()), sys.argv[2], 0
while n < 2_000:
    n += 1
    if n % 3:
        made = memory.add(f"the limit of gate {n % 7} is {n}")
    else:
        made = memory.add(f"{name} saw {n} things", "episode")
    if n % 5 == 0:
        memory.mark_used([made.id])
    print(json.dumps([made.id, made.text]), flush=True)
    time.sleep(float(sys.argv[3]))
"""
)
exec(TOY, made := {"np": np})
Toy = made["Toy"]


def start(place, name, pause):
    command = [sys.executable, "-c", WRITER, str(place), name, str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def said(process, told):
    """Take in what a process that has ended acknowledged; a last line may be torn, and then was not told."""
    for line in process.stdout.read().split("\n")[:-1]:
        id, text = json.loads(line)
        told[id] = text
    process.wait()
    process.stdout.close()


def whole(memory, told):
    """Everything acknowledged is there as it was given, with its vector and its terms, and nothing without."""
    with memory._store.reading() as db:
        rows = db.execute(
            "SELECT id, data, terms, embedder, vector, status FROM records WHERE user='default'"
        ).fetchall()
    there = {row[0]: json.loads(row[1]) for row in rows}  # one statement: one state, while the others go on
    assert told.items() <= {id: record["text"] for id, record in there.items()}.items()
    for id, _, terms, embedder, vector, status in rows:
        assert json.loads(terms)
        assert (embedder, len(vector)) == ("toy" + store.FORM, 16)
        assert status == there[id]["status"]
    active = [
        r["text"].rpartition(" is ")[0]
        for r in there.values()
        if (r["status"], r["type"]) == ("active", "fact")
    ]
    assert len(active) == len(set(active))  # one head for each gate
    assert all(r["superseded_by"] in there for r in there.values() if r["status"] == "superseded")


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("kind", ["file", "pickle", "server"])
def test_nothing_acknowledged_is_lost_and_nothing_is_half_written(kind, tmp_path, request):
    place = (
        request.getfixturevalue("database")
        if kind == "server"
        else tmp_path / {"file": "m.db", "pickle": "m.pkl"}[kind]
    )
    rounds = min(ROUNDS, 3) if "AGENT_NB_SOAK" not in os.environ else ROUNDS
    chance, told = random.Random(5), {}
    pause = 0.02 if kind == "pickle" else 0.01
    others = [start(place, name, pause) for name in ("ana", "bob")]
    try:
        with Memory(place, embedder=Toy()) as memory:
            for number in range(rounds):
                killed = start(place, f"killed{number}", 0)
                first = json.loads(killed.stdout.readline())
                told[first[0]] = first[1]
                time.sleep(chance.random() * 0.05)
                killed.send_signal(signal.SIGKILL)
                said(killed, told)
                whole(memory, told)
                for at, other in enumerate(others):
                    if other.poll() is not None:
                        assert other.returncode == 0
                        said(other, told)
                        others[at] = start(place, f"again{number}{at}", pause)
    finally:
        for other in others:
            other.send_signal(signal.SIGKILL)
            said(other, told)
    with Memory(place, embedder=Toy()) as memory:
        whole(memory, told)
        assert len(memory.recall("limit", k=5, threshold=0)) == 5
        assert memory.check() == []
        with memory._store.reading() as db:
            kept = db.execute("SELECT count(*) FROM records WHERE user='default'").fetchone()[0]
        counts = memory.stats()
        assert sum(counts[status] for status in ("active", "superseded", "revoked", "pending")) == kept
        if kind == "file":
            with memory._store.reading() as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert (
        not list(tmp_path.glob("*.part")) or kind == "pickle"
    )  # a killed pickle writer leaves one, the next overwrites
