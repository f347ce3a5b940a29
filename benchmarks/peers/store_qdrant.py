"""Qdrant in its local mode, a folder without a server."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from benchmarks.peers.store_harness import HITS, Item, run


class Qdrant:
    def __init__(self, folder: Path) -> None:
        self._client = QdrantClient(path=str(folder))
        self._client.create_collection(
            "items", vectors_config=models.VectorParams(size=384, distance=models.Distance.COSINE)
        )

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        self._client.upsert(
            "items",
            models.Batch(
                ids=[item.number for item in items],
                vectors=vectors.tolist(),
                payloads=[{"text": item.text, "scope": item.scope} for item in items],
            ),
        )

    def settle(self) -> None:
        """Nothing is due."""

    def words(self, query: str, scope: str | None) -> None:
        """Qdrant's local mode ranks nothing by words without a model."""

    def near(self, question: int, vector: Any, scope: str | None) -> list[int]:
        del question
        found = self._client.query_points(
            "items", query=vector.tolist(), query_filter=None if scope is None else _of(scope), limit=HITS
        )
        return [int(point.id) for point in found.points]

    def forget(self, scope: str) -> None:
        self._client.delete("items", models.FilterSelector(filter=_of(scope)))

    def close(self) -> None:
        self._client.close()


def _of(scope: str) -> Any:
    return models.Filter(must=[models.FieldCondition(key="scope", match=models.MatchValue(value=scope))])


if __name__ == "__main__":
    run(Qdrant)
