"""Removing items with all that hangs on them: passages, index rows, tags, counters, beliefs; neighbours rewritten."""

from collections import Counter
from collections.abc import Iterable, Sequence

import apsw

from corebrain.engines.local import facets, listing, neighbours, rows, vector_tables
from corebrain.engines.local.nodes import Registry
from corebrain.engines.local.schema import KINDS
from corebrain.engines.local.select import select
from corebrain.model.filter import MetaFilter

_BATCH = 400  # items removed by one statement


def numbers_of(connection: apsw.Connection, ids: Iterable[bytes]) -> list[int]:
    """Return the numbers of the items that are held, each once."""
    found = (connection.execute("SELECT item FROM items WHERE id = ?", (item_id,)).get for item_id in ids)
    return list(dict.fromkeys(number for number in found if number is not None))


def admitted(connection: apsw.Connection, wanted: MetaFilter) -> list[int]:
    """Return the numbers of all items the filter admits."""
    return listing.numbers(connection, wanted, listing.ALL, None)[0]


def remove(connection: apsw.Connection, registry: Registry, items: Sequence[int]) -> int:
    """Remove the numbered items, all of them held; return in how many (node, kind) scopes they were."""
    around: set[int] = set()
    for item in items:
        around.update(neighbours.around(connection, item))
    scopes: set[tuple[int, int]] = set()
    for start in range(0, len(items), _BATCH):
        scopes |= _remove_batch(connection, items[start : start + _BATCH])
    neighbours.index(connection, registry, around.difference(items), {})
    return len(scopes)


def _remove_batch(connection: apsw.Connection, items: Sequence[int]) -> set[tuple[int, int]]:
    _uncount(connection, items)
    marks = ", ".join("?" * len(items))
    held = select(
        connection,
        "SELECT p.shard, i.node, i.kind, i.passage, i.passages FROM items i JOIN nodes n USING (node) "  # noqa: S608  # values are bound
        f"JOIN placements p ON p.branch = n.branch AND p.kind = i.kind WHERE i.item IN ({marks})",
        items,
    )
    is_embedded = vector_tables.recorded(connection) is not None
    emptied: Counter[int] = Counter()
    for shard, _, _, first, count in held:
        connection.executemany(
            f"DELETE FROM text_{shard} WHERE rowid = ?",  # noqa: S608  # a number of ours
            [(passage,) for passage in range(first, first + count)],
        )
        connection.execute("DELETE FROM passages WHERE passage >= ? AND passage < ?", (first, first + count))
        if is_embedded:
            vector_tables.remove(connection, first, count)
        emptied[shard] += count
    for shard, count in emptied.items():
        connection.execute("UPDATE shards SET passages = passages - ? WHERE shard = ?", (count, shard))
    beliefs = connection.execute(f"SELECT belief FROM beliefs WHERE item IN ({marks})", items).fetchall()  # noqa: S608  # values are bound
    connection.executemany("DELETE FROM text_beliefs WHERE rowid = ?", beliefs)
    for table in ("beliefs", "distilled", "items"):
        connection.execute(f"DELETE FROM {table} WHERE item IN ({marks})", items)  # noqa: S608  # values are bound
    return {(node, kind) for _, node, kind, _, _ in held}


def _uncount(connection: apsw.Connection, items: Sequence[int]) -> None:
    deltas: facets.Deltas = Counter()
    gone_tags: list[tuple[str, int]] = []
    for item, (node, *row) in zip(items, listing.read(connection, items, f"i.node, {rows.READ}"), strict=True):
        meta = rows.read_meta(row)
        facets.tally(deltas, KINDS[row[1]], meta, node, -1)
        gone_tags += [(tag, item) for tag in dict.fromkeys(meta.tags)]
    facets.apply(connection, deltas)
    connection.executemany("DELETE FROM tags WHERE tag = ? AND item = ?", gone_tags)
