"""Precision and recall of what write-back reads in sentences: conflicts, duplicates, triples.

The pairs and sentences are our own, in English and Chinese, written before the rules were run on them; the third that
is marked as held out was kept aside at first, but its results were seen while the rules grew: new sentences will score
lower. The peer is what a memory without such rules does: two texts that share six of ten words are about one thing,
and contradict where their numbers differ.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections import Counter
from typing import Any

from agent_nb.memory import claims
from agent_nb.memory.relations import triples
from agent_nb.memory.text import tokens

DATA = pathlib.Path(__file__).parent / "data"
OVERLAP = 0.6


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def ours(pair: dict[str, Any]) -> str:
    verdict = claims.compare(pair["a"], pair["b"])
    return "duplicate" if verdict == claims.SAME else verdict


def naive(pair: dict[str, Any]) -> str:
    one, other = (re.findall(r"\d+(?:[.,]\d+)*", pair[side]) for side in "ab")
    words = [set(tokens(re.sub(r"\d+(?:[.,]\d+)*", "", pair[side]))) for side in "ab"]
    if len(words[0] & words[1]) < OVERLAP * max(1, len(words[0] | words[1])):
        return "both"
    return "duplicate" if one == other else "conflict"


def line(name: str, counts: Counter[str]) -> str:
    precision = counts["right"] / counts["said"] if counts["said"] else 1.0
    recall = counts["right"] / counts["wanted"] if counts["wanted"] else 1.0
    return f"{name:34} {precision:9.2f} {recall:7.2f} {counts['wanted']:6}"


def pairs_report(label: str) -> None:
    print(f"\n{label + 's':34} precision  recall  wanted")
    for language in ("en", "zh"):
        for part in (False, True):
            some = [
                p for p in rows("conflict_pairs.jsonl") if p["lang"] == language and p["held_out"] == part
            ]
            for name, judge in (("ours", ours), ("naive overlap", naive)):
                counts: Counter[str] = Counter()
                for pair in some:
                    said = judge(pair)
                    counts["wanted"] += pair["label"] == label
                    counts["said"] += said == label
                    counts["right"] += said == label == pair["label"]
                print(line(f"{language} {'held out' if part else 'seen'} · {name}", counts))


def kinds_report() -> None:
    print(f"\n{'right verdicts by kind':34}      ours   naive   pairs")
    pairs = rows("conflict_pairs.jsonl")
    for language in ("en", "zh"):
        for kind in dict.fromkeys(p["kind"] for p in pairs):
            some = [p for p in pairs if p["kind"] == kind and p["lang"] == language]
            right = [sum(judge(p) == p["label"] for p in some) / len(some) for judge in (ours, naive)]
            print(f"{language + ' ' + kind:34} {right[0]:9.2f} {right[1]:7.2f} {len(some):6}")


def triples_report() -> None:
    print(f"\n{'triples':34} precision  recall  wanted")
    for language in ("en", "zh"):
        for part in (False, True):
            counts: Counter[str] = Counter()
            for row in rows("triples.jsonl"):
                if row["lang"] == language and row["held_out"] == part:
                    wanted = {tuple(triple) for triple in row["triples"]}
                    found = {(t.subject, t.relation, t.object) for t in triples(row["text"])}
                    counts += Counter(right=len(wanted & found), said=len(found), wanted=len(wanted))
            print(line(f"{language} {'held out' if part else 'seen'}", counts))


if __name__ == "__main__":
    pairs_report("conflict")
    pairs_report("duplicate")
    kinds_report()
    triples_report()
