"""What a memory costs in each store: bytes, milliseconds, and a nearest-neighbour index on the server.

    python benchmarks/bench_stores.py [ROWS]      # 2,000 by default: under two minutes; needs the test extra

SQLite and a PostgreSQL server that is started for this run get the same records and vectors. Writes are durable on both
sides (synchronous=FULL, fsync on). Encoding is left out: vectors are made beforehand.
"""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import psycopg  # noqa: E402
from postgres_server import Server  # noqa: E402

from agent_nb.memory import Memory  # noqa: E402

DIMS = (384, 512)
SMALL_USER, SINGLE, QUESTIONS, CLUSTERS = 12, 100, 50, 50
WORDS = 5_000


class Made:
    """Clustered vectors, one for each text, always the same."""

    unrelated, same = 0.1, 0.9

    def __init__(self, dim: int) -> None:
        self.name, self.dim = f"made-{dim}", dim
        self.centres = np.random.default_rng(1).standard_normal((CLUSTERS, dim))

    def embed(self, texts: list[str], kind: str = "record") -> Any:
        """float32 (n, dim)."""
        seeds = [zlib.crc32(text.encode()) for text in texts]
        noise = np.stack([np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds])
        rows = self.centres[[seed % CLUSTERS for seed in seeds]] + 0.7 * noise
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def main(rows: int) -> None:
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("numpy", "psycopg"))
    server = Server(durable=True)
    try:
        with psycopg.connect(server.url()) as admin:
            versions += f", PostgreSQL {admin.execute('SHOW server_version').fetchone()[0]}"
        print(
            f"stores: {rows:,} records of one user and {SMALL_USER} of another, Python {platform.python_version()}"
        )
        print(f"{versions}, {os.cpu_count()} cores; ms are medians")
        for dim in DIMS:
            compared(rows, dim, server)
    finally:
        server.close()


def compared(rows: int, dim: int, server: Server) -> None:
    """Both stores with the same records."""
    chance = np.random.default_rng(dim)
    texts = [" ".join(f"w{n}" for n in chance.zipf(1.3, 12) % WORDS) + f" r{i}" for i in range(rows + SINGLE)]
    questions = [" ".join(text.split()[:4]) for text in texts[:QUESTIONS]]
    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE d{dim}")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "m.db"
        measured = {}
        for name, where in (("SQLite", file), ("PostgreSQL", server.url(database=f"d{dim}"))):
            measured[name] = used(where, texts, questions, dim, rows)
        measured["SQLite"]["bytes a record"] = file.stat().st_size / (rows + SINGLE + SMALL_USER)
    with psycopg.connect(server.url(database=f"d{dim}"), autocommit=True) as admin:
        size = admin.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'agent_nb'::regnamespace"
            " AND relkind = 'r'"
        ).fetchone()[0]
        measured["PostgreSQL"]["bytes a record"] = float(size) / (rows + SINGLE + SMALL_USER)
        print(f"\n{dim} dimensions{'':22}SQLite   PostgreSQL   ratio")
        for name in measured["SQLite"]:
            mine, theirs = measured["SQLite"][name], measured["PostgreSQL"][name]
            print(f"{name:32}{mine:10,.2f} {theirs:12,.2f} {theirs / mine:7.1f}")
        neighbours(admin, dim, rows + SINGLE)


def used(where: Any, texts: list[str], questions: list[str], dim: int, rows: int) -> dict[str, float]:
    """What one store takes to write, open and answer."""
    made = Made(dim)
    with Memory(where, "large", made) as memory, Memory(where, "small", made) as small:
        started = time.perf_counter()
        memory.add_many({"text": text, "type": "episode"} for text in texts[:rows])
        many = (time.perf_counter() - started) * 1000 / rows
        small.add_many({"text": f"small {text}", "type": "episode"} for text in texts[:SMALL_USER])
        one = timed(lambda text: memory.add(text, "episode"), texts[rows:])
    with Memory(where, "large", made) as memory:
        started = time.perf_counter()
        memory.recall(questions[0])
        first = (time.perf_counter() - started) * 1000
        recall = timed(memory.recall, questions)
    return {
        "add, ms": one,
        "add_many, ms a record": many,
        "open and first recall, ms": first,
        "recall, ms": recall,
    }


def timed(work: Callable[[str], Any], values: list[str]) -> float:
    """Median milliseconds of one call."""
    taken = []
    for value in values:
        started = time.perf_counter()
        work(value)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def neighbours(admin: Any, dim: int, rows: int) -> None:
    """An HNSW index over all users' vectors, and what it answers to the largest and to the smallest user."""
    admin.execute("SET search_path = agent_nb, public")
    started = time.perf_counter()
    admin.execute(
        f"CREATE INDEX nearest ON records USING hnsw ((vector::vector({dim})) vector_ip_ops)"
        f" WHERE embedder = 'made-{dim}'"
    )
    build = (time.perf_counter() - started) * 1000 / rows
    size = admin.execute("SELECT pg_relation_size('nearest')").fetchone()[0] / rows
    print(f"HNSW index: {build:.2f} ms and {size:,.0f} bytes a record to build")
    query = Made(dim).embed(["a question"])[0]
    for scan in ("off", "strict_order"):
        for user in ("large", "small"):
            found, ms = asked(admin, dim, user, query, scan)
            print(f"HNSW, iterative_scan={scan}, {user} user: {found} of 10 in {ms:.2f} ms")


def asked(admin: Any, dim: int, user: str, query: Any, scan: str) -> tuple[int, float]:
    """How many of ten the index finds, and how long it takes."""
    with admin.transaction():
        # The planner would take the exact way for so few rows; this measures the index.
        for setting in ("enable_sort = off", "enable_seqscan = off", f"hnsw.iterative_scan = {scan}"):
            admin.execute(f"SET LOCAL {setting}")
        admin.execute("SET LOCAL hnsw.max_scan_tuples = 2147483647")
        statement = (
            f"SELECT id FROM records WHERE \"user\" = %s AND embedder = 'made-{dim}' AND status = 'active'"
            f" ORDER BY vector::vector({dim}) <#> %s::vector({dim}) LIMIT 10"
        )
        values = (user, "[" + ",".join(map(str, query.tolist())) + "]")
        found = len(admin.execute(statement, values).fetchall())
        return found, timed(lambda _: admin.execute(statement, values).fetchall(), [""] * 20)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2_000)
