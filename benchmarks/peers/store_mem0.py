"""mem0's default store, Qdrant in a folder through mem0's own class; its models are left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mem0.vector_stores.qdrant import Qdrant as Mem0Qdrant

from benchmarks.peers.store_harness import HITS, Item, run


class Mem0:
    def __init__(self, folder: Path) -> None:
        self._held = Mem0Qdrant("items", 384, path=str(folder), on_disk=True)

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        self._held.insert(
            vectors=vectors.tolist(),
            payloads=[{"data": item.text, "user_id": item.scope} for item in items],
            ids=[item.number for item in items],
        )

    def settle(self) -> None:
        """Nothing is due."""

    def words(self, query: str, scope: str | None) -> None:
        """Its search by words needs a model."""

    def near(self, question: int, vector: Any, scope: str | None) -> list[int]:
        del question
        filters = None if scope is None else {"user_id": scope}
        return [int(point.id) for point in self._held.search("", vector.tolist(), top_k=HITS, filters=filters)]

    def forget(self, scope: str) -> None:
        found, *_ = self._held.list(filters={"user_id": scope}, top_k=100_000)
        for point in found:
            self._held.delete(point.id)

    def close(self) -> None:
        self._held.client.close()


if __name__ == "__main__":
    run(Mem0)
