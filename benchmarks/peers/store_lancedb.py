"""LanceDB, embedded, with its full-text index and an index over the scope."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa

from benchmarks.peers.store_harness import HITS, Item, run


class Lance:
    def __init__(self, folder: Path) -> None:
        self._db = lancedb.connect(str(folder))
        self._table: Any = None

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        rows = pa.table(
            {
                "number": [item.number for item in items],
                "text": [item.text for item in items],
                "scope": [item.scope for item in items],
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1]),
            }
        )
        if self._table is None:
            self._table = self._db.create_table("items", rows)
        else:
            self._table.add(rows)

    def settle(self) -> None:
        self._table.optimize()
        self._table.create_fts_index("text")
        self._table.create_scalar_index("scope")

    def words(self, query: str, scope: str | None) -> list[int]:
        return self._found(self._table.search(query, query_type="fts"), scope)

    def near(self, question: int, vector: Any, scope: str | None) -> list[int]:
        del question
        return self._found(self._table.search(vector).distance_type("cosine"), scope)

    @staticmethod
    def _found(asked: Any, scope: str | None) -> list[int]:
        if scope is not None:
            asked = asked.where(f"scope = '{scope}'", prefilter=True)
        return [row["number"] for row in asked.limit(HITS).select(["number", "text"]).to_list()]

    def forget(self, scope: str) -> None:
        self._table.delete(f"scope = '{scope}'")

    def close(self) -> None:
        """Nothing to let go of."""


if __name__ == "__main__":
    run(Lance)
