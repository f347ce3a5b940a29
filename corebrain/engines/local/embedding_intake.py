"""What a store does for search by meaning: it never waits for a model, it only notes what waits."""

import apsw

from corebrain.contract import Item
from corebrain.engines.local import embedding_text, vector_tables
from corebrain.engines.local.passages import Passage
from corebrain.engines.local.schema import KIND_CODES


class Intake:
    """Notes the passages of a write transaction for the backlog; nothing in a file that no embedder was given for."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._is_on = vector_tables.recorded(connection) is not None

    def add(self, item: Item, node: int, first: int, pieces: list[Passage]) -> None:
        """Let a new item's passages wait for vectors, but take over those of equal texts: a move embeds nothing."""
        if not self._is_on:
            return
        for passage, text in enumerate(embedding_text.of_item(item, pieces), start=first):
            digest = embedding_text.digest(text)
            code = self._connection.execute("SELECT code FROM vectors WHERE digest = ? LIMIT 1", (digest,)).get
            if code is None:
                self._connection.execute("INSERT INTO unembedded VALUES (?)", (passage,))
            else:
                row = vector_tables.Row(node, KIND_CODES[item.kind], passage, digest, code)
                vector_tables.add(self._connection, [row])
