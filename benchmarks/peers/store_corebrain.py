"""The local engine, at full durability, its vectors given."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.store_harness import HITS, Item, read, run
from corebrain.engines.local import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Document
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import EraseRequest, FetchMode, FetchRequest


class Given:
    """An embedder that is given every vector."""

    name = "given"

    def __init__(self, texts: Sequence[str], vectors: Any) -> None:
        self._rows = dict(zip(texts, vectors, strict=True))
        self.dimension = len(vectors[0])

    def embed(self, texts: Sequence[str]) -> Any:
        return [self._rows[text] if text in self._rows else [0.0] * self.dimension for text in texts]


class Corebrain:
    def __init__(self, folder: Path) -> None:
        items, vectors, questions, asked = DATA
        given = Given([*(item.text for item in items), *questions], [*vectors, *asked])
        self._questions = questions
        self._engine = LocalEngine(folder / "memory.db", embedder=given)
        self._numbers: dict[str, int] = {}

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        del vectors
        receipts = self._engine.store_many(
            [
                Document(title=None, body=Body(text=item.text), meta=MemoryMeta(namespace=_node(item.scope)))
                for item in items
            ]
        )
        self._numbers |= {receipt.id: item.number for receipt, item in zip(receipts, items, strict=True)}

    def settle(self) -> None:
        while self._engine.maintain(10.0).left:
            pass

    def words(self, query: str, scope: str | None) -> list[int]:
        return self._fetch(query, FetchMode.KEYWORD, scope)

    def near(self, question: int, vector: Any, scope: str | None) -> list[int]:
        del vector
        return self._fetch(self._questions[question], FetchMode.VECTOR, scope)

    def _fetch(self, query: str, mode: FetchMode, scope: str | None) -> list[int]:
        reach = Reach.subtree(Namespace.source("files")) if scope is None else Reach.exact(_node(scope))
        page = self._engine.fetch(FetchRequest(query=query, mode=mode, filter=MetaFilter(reach=reach), limit=HITS))
        return [self._numbers[hit.id] for hit in page.hits]

    def forget(self, scope: str) -> None:
        self._engine.erase(EraseRequest(reach=Reach.exact(_node(scope))))

    def close(self) -> None:
        self._engine.close()


def _node(scope: str) -> Namespace:
    return Namespace.parse(f"source:files/project:{scope}")


if __name__ == "__main__":
    import sys

    DATA = read(Path(sys.argv[1]))
    run(Corebrain)
