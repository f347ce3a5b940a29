"""Storing items: row, passages, word index, tags and counters in one transaction."""

from collections import Counter
from collections.abc import Iterable

import apsw

from corebrain.contract import Item
from corebrain.engines.local import facets, indexing, neighbours, rows
from corebrain.engines.local.indexing import Indexer
from corebrain.engines.local.nodes import Registry
from corebrain.model.item import Conversation

_INSERT = f"INSERT INTO items({', '.join(rows.WRITTEN)}) VALUES ({', '.join('?' * len(rows.WRITTEN))})"  # noqa: S608  # our own column names


def store(connection: apsw.Connection, registry: Registry, items: Iterable[tuple[str, Item]]) -> list[bool]:
    """Store *items* under their ids; return which of them were there already, whatever their `observed_at`."""
    batch = _Batch(connection, registry)
    replayed = [batch.is_held(item_id) or batch.add(item_id, item) for item_id, item in items]
    batch.finish()
    return replayed


class _Batch:
    """One write transaction's items. Conversations are indexed at the end, each once, when all neighbours stand."""

    def __init__(self, connection: apsw.Connection, registry: Registry) -> None:
        self._connection = connection
        self._registry = registry
        self._indexer = Indexer(connection, registry)
        self._deltas: facets.Deltas = Counter()
        self._turns: list[int] = []

    def is_held(self, item_id: str) -> bool:
        held = self._connection.execute("SELECT 1 FROM items WHERE id = ?", (bytes.fromhex(item_id),)).get
        return held is not None

    def add(self, item_id: str, item: Item) -> bool:
        """Add an item that is not held; return False, as nothing was replayed."""
        node = self._registry.node(item.meta.namespace)
        first, pieces = self._indexer.cut(item)
        spoken = indexing.spoken(item)
        row = rows.write(item, item_id, node=(node.number, node.area), passages=(first, len(pieces)), spoken=spoken)
        self._connection.execute(_INSERT, row)
        number = self._connection.last_insert_rowid()
        self._indexer.add(item, number, first, pieces, node, spoken)
        if isinstance(item, Conversation):
            self._turns.append(number)
        self._connection.executemany(
            "INSERT INTO tags VALUES (?, ?)", [(tag, number) for tag in dict.fromkeys(item.meta.tags)]
        )
        facets.tally(self._deltas, item.kind, item.meta, node.number, 1)
        return False

    def finish(self) -> None:
        """Index the conversations with their neighbours, and write the counters."""
        around = {number: neighbours.around(self._connection, number) for number in self._turns}
        neighbours.index(self._connection, self._registry, set(self._turns).union(*around.values()), around)
        facets.apply(self._connection, self._deltas)
        self._indexer.finish()
