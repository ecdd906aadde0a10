"""Other ways to recall, over the same texts and vectors as ours; each is built once, then asked.

`build(name, …)` gives a function question → ids of texts, or a line that says why there is none.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import os
import tempfile
import uuid
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from agent_nb.memory.text import tokens

Ask = Callable[[str], Any]
Lookup = Callable[[str], Any]

NEEDS = {
    "LangChain ensemble": ("langchain-classic", "langchain-community", "faiss-cpu", "rank-bm25"),
    "Chroma": ("chromadb",),
    "mem0": ("mem0ai", "faiss-cpu"),
}
MOST = {"mem0": 1_000}
"""Texts that a peer is given at most: each is written alone, which takes tens of milliseconds."""


def versions(name: str) -> str:
    """The packages of a peer with their versions; "" where one is not installed."""
    try:
        return ", ".join(f"{package} {importlib.metadata.version(package)}" for package in NEEDS[name])
    except importlib.metadata.PackageNotFoundError:
        return ""


def naive(texts: Sequence[str], vectors: Any, vector: Lookup) -> Ask:
    """What is usually built: rank_bm25, a matrix product, two full sorts, reciprocal rank fusion."""
    bm25 = BM25Okapi([tokens(text) for text in texts])

    def ask(question: str, k: int = 5) -> list[int]:
        orders = [np.argsort(-bm25.get_scores(tokens(question))), np.argsort(-(vectors @ vector(question)))]
        fused: dict[int, float] = {}
        for order in orders:
            for rank, place in enumerate(order[:100]):
                fused[int(place)] = fused.get(int(place), 0.0) + 1 / (60 + rank)
        return sorted(fused, key=lambda place: -fused[place])[:k]

    return ask


def build(name: str, texts: Sequence[str], vectors: Any, vector: Lookup) -> Ask:
    """A peer over the texts, asked for the five best."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.environ.update(ANONYMIZED_TELEMETRY="False", MEM0_TELEMETRY="False")
    return {"LangChain ensemble": _langchain, "Chroma": _chroma, "mem0": _mem0}[name](texts, vectors, vector)


def _langchain(texts: Sequence[str], vectors: Any, vector: Lookup) -> Ask:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS
    from langchain_core.embeddings import Embeddings

    class Made(Embeddings):
        def embed_query(self, text: str) -> list[float]:
            return vector(text).tolist()

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

    words = BM25Retriever.from_texts(list(texts), preprocess_func=tokens, k=5)
    near = FAISS.from_embeddings(zip(texts, vectors.tolist(), strict=True), Made())
    both = EnsembleRetriever(
        retrievers=[words, near.as_retriever(search_kwargs={"k": 5})], weights=[0.5, 0.5]
    )
    return both.invoke


def _chroma(texts: Sequence[str], vectors: Any, vector: Lookup) -> Ask:
    import chromadb

    kept = chromadb.EphemeralClient().create_collection(uuid.uuid4().hex, embedding_function=None)
    for start in range(0, len(texts), 5_000):
        some = slice(start, start + 5_000)
        ids = [str(n) for n in range(start, start + len(texts[some]))]
        kept.add(
            ids, embeddings=vectors[some], documents=list(texts[some]), metadatas=[{"user": "one"}] * len(ids)
        )
    return lambda question: kept.query(
        query_embeddings=[vector(question)], n_results=5, where={"user": "one"}
    )


def _mem0(texts: Sequence[str], vectors: Any, vector: Lookup) -> Ask:
    folder = tempfile.mkdtemp()
    os.environ.update(MEM0_DIR=folder)
    os.environ.setdefault("OPENAI_API_KEY", "none")  # its client is made, and never asked
    from mem0 import Memory

    class Made:
        config = type("Config", (), {"embedding_dims": vectors.shape[1]})()

        def embed(self, text: str, *_: Any) -> list[float]:
            return vector(text).tolist()

        def embed_batch(self, texts: list[str], *_: Any) -> list[list[float]]:
            return [self.embed(text) for text in texts]

    store = {"path": folder, "collection_name": "texts", "embedding_model_dims": vectors.shape[1]}
    memory = Memory.from_config(
        {"vector_store": {"provider": "faiss", "config": store}, "history_db_path": f"{folder}/history.db"}
    )
    memory.embedding_model = Made()
    for text in texts:
        memory.add(text, user_id="one", infer=False)
    return lambda question: memory.search(question, filters={"user_id": "one"}, top_k=5)
