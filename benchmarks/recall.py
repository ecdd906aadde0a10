"""How well recall finds the evidence of questions: R@5, R@10 and MRR@10, one memory a turn.

    python benchmarks/recall.py DATA.json.gz [--embedder hashing|sentences|none]

DATA: gzipped JSON of {"stores": [{"memories": [{"id", "speaker", "text", "caption", "iso", "session"}],
"questions": [{"question", "category", "evidence": [ids]}]}]}; category 5 (wrong premise) is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from typing import Any

from agent_nb.memory import Memory

DEPTH = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--embedder", default="hashing", choices=("hashing", "sentences", "none"))
    given = parser.parse_args()
    with gzip.open(given.data, "rt", encoding="utf-8") as file:
        stores = json.load(file)["stores"]
    rows = [row for store in stores for row in scored(store, given.embedder)]
    r5, r10, mrr, ms = (statistics.mean(column) for column in zip(*rows, strict=True))
    print(
        f"{given.embedder}: R@5 {r5:.3f}  R@10 {r10:.3f}  MRR@10 {mrr:.3f}  n={len(rows)}  mean {ms:.1f} ms"
    )


def scored(store: dict[str, Any], embedder: str) -> list[tuple[float, float, float, float]]:
    """(recall at 5, recall at 10, reciprocal rank, ms) of every question of one store."""
    with Memory(":memory:", embedder=None if embedder == "none" else embedder) as memory:
        records = memory.add_many(turn(row) for row in store["memories"])
        ids = {record.id: row["id"] for record, row in zip(records, store["memories"], strict=True)}
        return [score(memory, ids, q) for q in store["questions"] if q["category"] != 5 and q["evidence"]]


def turn(row: dict[str, Any]) -> dict[str, Any]:
    """One turn of a conversation as arguments of Memory.add."""
    shown = f" [shared a photo of {row['caption']}]" if row.get("caption") else ""
    text = f"{row['speaker']}: {row['text']}{shown}"
    return {"text": text, "type": "episode", "created": row.get("iso"), "session": str(row["session"])}


def score(memory: Memory, ids: dict[str, str], q: dict[str, Any]) -> tuple[float, float, float, float]:
    """How well one question was answered."""
    started = time.perf_counter()
    got = [ids[hit.record.id] for hit in memory.recall(q["question"], DEPTH, 100_000, threshold=0)]
    ms = (time.perf_counter() - started) * 1000
    evidence = set(q["evidence"])
    at = [len(evidence & set(got[:k])) / len(evidence) for k in (5, 10)]
    rank = next((1 / n for n, id in enumerate(got, 1) if id in evidence), 0.0)
    return at[0], at[1], rank, ms


if __name__ == "__main__":
    main()
