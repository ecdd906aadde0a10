"""The inspector over many memories: its answers beside pandas' `str.contains` on the same data, in the same run.

    python benchmarks/bench_inspector.py [100000]

What is timed is what the page waits for: a message of the page in, the rows of one screen out. The pandas side filters
a frame that is in memory already and takes the first rows of it. No drawing of the browser is in either.
"""

from __future__ import annotations

import datetime
import pathlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

from agent_nb.memory import Memory, draft, store
from agent_nb.notebook import inspector

COUNT, TURNS = 50, 15
TYPES = ("fact", "preference", "decision", "experience", "episode")
HAN = "航班延误客户退款地区销售额增长下降原因天气机场城市季度报告"


def main(arguments: list[str]) -> None:
    size = int(arguments[0]) if arguments else 100_000
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(pathlib.Path(folder) / "many.db", embedder=None)
        rows = fill(memory, size)
        desk = inspector.Inspector(memory)
        first = timed(lambda: desk.answer({"type": "find", "seq": 0, "from": 0, "count": COUNT}), 1)
        print(f"{size:,} memories, median of {TURNS}; the first look, which reads all: {first:.0f} ms")
        frame = pd.DataFrame(rows).sort_values("created", ascending=False, kind="stable")
        for label, text, type, start in (
            ("all of them", "", "", 0),
            ("a rare word", "word4711", "", 0),
            ("a word of every fifth", "word7", "", 0),
            ("in half of them, at the middle", "word", "", size // 4),
            ("Chinese", "航班", "", 0),
            ("two words and a type", "word7 word8", "fact", 0),
            ("none", "zebra", "", 0),
        ):
            report(label, desk, frame, text, type, start)
        memory.close()


def fill(memory: Any, size: int) -> list[dict[str, Any]]:
    """Write so many records past the rules that look for contradictions, which would take minutes."""
    dice = random.Random(3)
    words = [f"word{i}" for i in range(5_000)]
    rows = []
    for i in range(size):
        said = " ".join(dice.choices(words, k=dice.randint(6, 14)))
        if i % 3 == 0:
            said = "".join(dice.choices(HAN, k=24))
        moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(minutes=5 * i)
        rows.append({"text": f"{said} {i}", "type": TYPES[i % 5], "created": moment.isoformat()})
    with memory._store.writing(memory.user) as db:
        for row in rows:
            record = draft.new(memory.user, {**row, "source": "user_explicit"})
            store.put(db, record, draft.normal_of(record), "", [], None)
    return rows


def report(label: str, desk: Any, frame: Any, text: str, type: str, start: int) -> None:
    """One line: ours, pandas' and the ratio."""
    asked = {"type": "find", "from": start, "count": COUNT, "text": text, "kind": type, "seq": 1}

    def ours() -> Any:
        # Another word between two looks: what is timed is a search, not the list that the last one left.
        desk.memory._catalogue._last = None
        return desk.answer(asked)

    def theirs() -> Any:
        held = frame
        if type:
            held = held[held["type"] == type]
        for word in text.split():
            held = held[held["text"].str.contains(word, case=False, regex=False)]
        return len(held), held.iloc[start : start + COUNT]

    total = ours()["total"]
    assert total == theirs()[0], (label, total, theirs()[0])
    mine, peer = timed(ours, TURNS), timed(theirs, TURNS)
    print(
        f"  {label:<32}{total:>8,} found   {mine:6.1f} ms   pandas {peer:6.1f} ms   ratio {peer / mine:5.1f}x"
    )


def timed(work: Callable[[], Any], turns: int) -> float:
    """Median milliseconds."""
    taken = []
    for _ in range(turns):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


if __name__ == "__main__":
    main(sys.argv[1:])
