"""Storing items: row, passages, word index, tags and counters in one transaction."""

from collections import Counter
from collections.abc import Iterable

import apsw

from corebrain.contract import Item
from corebrain.engines.local import facets, neighbours, rows
from corebrain.engines.local.nodes import Node, Registry
from corebrain.engines.local.passages import Passage, split
from corebrain.model.item import Conversation, Document, Learning

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
        self._deltas: facets.Deltas = Counter()
        self._filled: Counter[int] = Counter()
        self._turns: list[int] = []
        self._passage = _last_passage(connection)

    def is_held(self, item_id: str) -> bool:
        held = self._connection.execute("SELECT 1 FROM items WHERE id = ?", (bytes.fromhex(item_id),)).get
        return held is not None

    def add(self, item_id: str, item: Item) -> bool:
        """Add an item that is not held; return False, as nothing was replayed."""
        node = self._registry.node(item.meta.namespace)
        shard = self._registry.shard(node, item.kind)
        pieces = split(item.text) if isinstance(item, Document) else [Passage("")]
        first = self._passage + 1
        self._passage += len(pieces)
        row = rows.write(item, item_id, node=node.number, passage=first, passages=len(pieces))
        self._connection.execute(_INSERT, row)
        number = self._connection.last_insert_rowid()
        self._add_passages(number, first, pieces)
        self._add_words(item, number, first, pieces, node, shard)
        self._connection.executemany(
            "INSERT INTO tags VALUES (?, ?)", [(tag, number) for tag in dict.fromkeys(item.meta.tags)]
        )
        facets.tally(self._deltas, item.kind, item.meta, node.number, 1)
        self._filled[shard] += len(pieces)
        return False

    def _add_passages(self, number: int, first: int, pieces: list[Passage]) -> None:
        if len(pieces) == 1:
            self._connection.execute("INSERT INTO passages(passage, item) VALUES (?, ?)", (first, number))
            return
        start = 0
        for offset, piece in enumerate(pieces):
            size = len(piece.text.encode())
            self._connection.execute(
                "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
                (first + offset, number, start, size, piece.first_page, piece.last_page, piece.section),
            )
            start += size

    def _add_words(self, item: Item, number: int, first: int, pieces: list[Passage], node: Node, shard: int) -> None:
        if isinstance(item, Conversation):
            self._turns.append(number)
            return
        self._connection.executemany(
            f"INSERT INTO text_{shard}(rowid, head, body, ctx, tag) VALUES (?, ?, ?, '', ?)",  # noqa: S608  # a number of ours
            [(first + offset, head, body, node.tags) for offset, (head, body) in enumerate(indexed(item, pieces))],
        )

    def finish(self) -> None:
        """Index the conversations with their neighbours, and write the counters."""
        around = {number: neighbours.around(self._connection, number) for number in self._turns}
        neighbours.index(self._connection, self._registry, set(self._turns).union(*around.values()), around)
        facets.apply(self._connection, self._deltas)
        for shard, filled in self._filled.items():
            self._connection.execute("UPDATE shards SET passages = passages + ? WHERE shard = ?", (filled, shard))


def indexed(item: Document | Learning, pieces: Iterable[Passage]) -> list[tuple[str, str]]:
    """Return head and body of each row of the word index that *item*, cut into *pieces*, comes to."""
    if isinstance(item, Document):
        return [(_head(item, piece), piece.text) for piece in pieces]
    return [("", item.text)]


def _head(item: Document, piece: Passage) -> str:
    return "\n".join(part for part in (item.title, piece.section) if part)


def _last_passage(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").get or 0)
