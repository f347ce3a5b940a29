"""LangMem's store without a server: LangGraph's, in memory, so nothing of it survives the process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from benchmarks.peers.store_harness import HITS, Item, read, run


class LangMem:
    def __init__(self, folder: Path) -> None:
        del folder
        items, vectors, questions, asked = DATA
        self._rows = dict(
            zip([*(i.text for i in items), *questions], [*vectors.tolist(), *asked.tolist()], strict=True)
        )
        self._questions = questions
        self._held = InMemoryStore(index={"dims": 384, "embed": self._embed, "fields": ["text"]})

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._rows[text] for text in texts]

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        del vectors
        self._held.batch(
            [PutOp(("items", item.scope), item.name, {"text": item.text, "number": item.number}) for item in items]
        )

    def settle(self) -> None:
        """Nothing is due."""

    def words(self, query: str, scope: str | None) -> None:
        """It ranks nothing by words."""

    def near(self, question: int, vector: Any, scope: str | None) -> list[int]:
        del vector
        where = ("items",) if scope is None else ("items", scope)
        return [
            found.value["number"] for found in self._held.search(where, query=self._questions[question], limit=HITS)
        ]

    def forget(self, scope: str) -> None:
        for found in self._held.search(("items", scope), limit=100_000):
            self._held.delete(found.namespace, found.key)

    def close(self) -> None:
        """Nothing to let go of."""


if __name__ == "__main__":
    import sys

    DATA = read(Path(sys.argv[1]))
    run(LangMem)
