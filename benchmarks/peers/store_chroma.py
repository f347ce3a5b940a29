"""Chroma, persistent; its only search by words is a substring."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb

from benchmarks.peers.store_harness import HITS, Item, run


class Chroma:
    def __init__(self, folder: Path) -> None:
        client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
        self._held = client.create_collection("items", metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        self._held.add(
            ids=[item.name for item in items],
            documents=[item.text for item in items],
            embeddings=vectors,
            metadatas=[{"scope": item.scope} for item in items],
        )

    def settle(self) -> None:
        """Nothing is due."""

    def words(self, query: str, scope: str | None) -> None:
        """Chroma ranks nothing by words."""

    def near(self, question: int, vector: Any, scope: str | None) -> list[int]:
        del question
        where = None if scope is None else {"scope": scope}
        found = self._held.query(query_embeddings=[vector], n_results=HITS, where=where)
        return [int(name.removeprefix("item-")) for name in found["ids"][0]]

    def forget(self, scope: str) -> None:
        self._held.delete(where={"scope": scope})

    def close(self) -> None:
        """Nothing to let go of."""


if __name__ == "__main__":
    run(Chroma)
