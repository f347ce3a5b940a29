"""tantivy, a search engine without vectors, committed after every batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tantivy

from benchmarks.peers.store_harness import HITS, Item, run


class Tantivy:
    def __init__(self, folder: Path) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("number", stored=True, indexed=True)
        builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
        builder.add_text_field("scope", tokenizer_name="raw")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, path=str(folder))
        self._writer = self._index.writer(128_000_000, 1)

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        del vectors
        for item in items:
            document = tantivy.Document()
            document.add_unsigned("number", item.number)
            document.add_text("text", item.text)
            document.add_text("scope", item.scope)
            self._writer.add_document(document)
        self._writer.commit()

    def settle(self) -> None:
        self._writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def words(self, query: str, scope: str | None) -> list[int]:
        asked = self._index.parse_query("".join(c if c.isalnum() else " " for c in query), ["text"])
        if scope is not None:
            within = tantivy.Query.const_score_query(tantivy.Query.term_query(self._schema, "scope", scope), 0.0)
            asked = tantivy.Query.boolean_query([(tantivy.Occur.Must, asked), (tantivy.Occur.Must, within)])
        found = self._searcher.search(asked, HITS).hits
        return [self._searcher.doc(address)["number"][0] for _, address in found]

    def near(self, question: int, vector: Any, scope: str | None) -> None:
        """It has no vectors."""

    def forget(self, scope: str) -> None:
        writer = self._index.writer(128_000_000, 1)
        writer.delete_documents("scope", scope)
        writer.commit()

    def close(self) -> None:
        """Nothing to let go of."""


if __name__ == "__main__":
    run(Tantivy)
