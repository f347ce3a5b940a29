"""Beliefs: statements drawn from items, kept apart from them and gone with them.

A belief hangs on one item: whatever removes the item removes its beliefs in the same transaction. A build looks only
at items no build has seen.
"""

from collections.abc import Callable, Iterable, Sequence

import apsw

from corebrain.contract import Item
from corebrain.engines.local import filters, indexing, listing, nodes, ordering, rows
from corebrain.engines.local.connection import Database
from corebrain.engines.local.nodes import Registry
from corebrain.engines.local.ordering import Asked, Seen
from corebrain.engines.local.query import words
from corebrain.engines.local.ranking import Found
from corebrain.engines.local.select import select
from corebrain.model.filter import MetaFilter
from corebrain.model.first_sentence import belief_of
from corebrain.model.item import Learning, read_item
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import WHOLE_TREE, Reach
from corebrain.model.requests import BELIEF_TAG, ConsolidateReceipt, ConsolidateRequest, ConsolidateStatus, Hit

Distiller = Callable[[Item], Iterable[Learning]]
"""A host's own way to draw statements from an item; their metadata is set to the item's."""

_PAGE = 100  # items distilled between two write transactions
_SOURCES = (ItemKind.DOCUMENT, ItemKind.CONVERSATION)


def first_sentences(item: Item) -> list[Learning]:
    """Return what the deterministic build draws from *item*: its first sentence, or nothing."""
    belief = belief_of(item)
    return [] if belief is None else [belief]


def build(database: Database, request: ConsolidateRequest, distill: Distiller) -> ConsolidateReceipt:
    """Draw beliefs from every document and conversation in reach that no build has seen.

    Items that ask for it (`derive` false) are left alone. The distiller runs outside any transaction; an item
    forgotten meanwhile gets no belief, and one that another build reached first gets none twice.
    """
    kinds = tuple(kind for kind in (request.kinds or _SOURCES) if kind in _SOURCES)
    if not kinds:
        return ConsolidateReceipt(status=ConsolidateStatus.COMPLETED, built=0)
    wanted = MetaFilter(reach=request.reach, kinds=kinds)
    with database.reading() as connection:
        scopes, unseen = _survey(connection, wanted)
    built = 0
    for start in range(0, len(unseen), _PAGE):
        numbers = unseen[start : start + _PAGE]
        with database.reading() as connection:
            held = listing.read(connection, numbers, f"i.item, {rows.READ}")
        drawn = []
        for number, *row in held:
            item = rows.read_item(row)
            drawn.append((number, item, [] if item.meta.derive is False else list(distill(item))))
        with database.writing() as connection:
            built += sum(_keep(connection, database.registry, *each) for each in drawn)
    return ConsolidateReceipt(status=ConsolidateStatus.COMPLETED, scopes=scopes, built=built)


def _survey(connection: apsw.Connection, wanted: MetaFilter) -> tuple[int, list[int]]:
    where = filters.everything(wanted)
    scopes = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT i.node, i.kind FROM items i "  # noqa: S608  # values are bound
        f"INDEXED BY items_by_node WHERE true{where.sql})",
        where.values,
    ).get
    unseen = select(
        connection,
        "SELECT i.item FROM items i INDEXED BY items_by_node LEFT JOIN distilled d USING (item) "  # noqa: S608  # values are bound
        f"WHERE d.item IS NULL{where.sql} ORDER BY i.item",
        where.values,
    )
    return scopes, [row[0] for row in unseen]


def _keep(connection: apsw.Connection, registry: Registry, number: int, item: Item, drawn: Sequence[Learning]) -> int:
    """Write the beliefs of one item; return how many, 0 when it is gone or another build was faster."""
    still = connection.execute("SELECT 1 FROM items WHERE item = ? AND id = ?", (number, _raw(item))).get
    if still is None or connection.execute("SELECT 1 FROM distilled WHERE item = ?", (number,)).get is not None:
        return 0
    connection.execute("INSERT INTO distilled VALUES (?)", (number,))
    node = registry.node(item.meta.namespace)
    for learning in drawn:
        belief = _as_belief(learning, item)
        belief.validate()
        connection.execute(
            "INSERT INTO beliefs(item, node, confidence, observed_s, observed_ns, learning) VALUES (?, ?, ?, ?, ?, ?)",
            (number, node.number, belief.confidence, *rows.instant_columns(item.meta.observed_at), belief.to_json()),
        )
        indexing.add_belief(connection, connection.last_insert_rowid(), belief.text, node)
    return len(drawn)


def _raw(item: Item) -> bytes:
    return bytes.fromhex(item.fingerprint())


def _as_belief(learning: Learning, item: Item) -> Learning:
    """Give a drawn learning the item's metadata, what tags it brought, the belief tag, and the item as evidence."""
    tags = tuple(dict.fromkeys((*item.meta.tags, *learning.meta.tags, BELIEF_TAG)))
    return learning.model_copy(
        update={
            "meta": item.meta.model_copy(update={"tags": tags}),
            "evidence": learning.evidence or item.fingerprint(),
        }
    )


def read(connection: apsw.Connection, reach: Reach | None, query: str | None, limit: int) -> list[Hit]:
    """Return beliefs in reach: ranked for *query*, or the most confident first and then the newest."""
    if query is None:
        condition, values = nodes.reach_sql(reach or WHOLE_TREE)
        found = select(
            connection,
            "SELECT belief, learning, 0.0 FROM beliefs b "  # noqa: S608  # values are bound
            f"WHERE b.node IN (SELECT node FROM nodes WHERE {condition}) ORDER BY b.confidence DESC, "
            "b.observed_s DESC NULLS LAST, b.observed_ns DESC, b.belief DESC LIMIT ?",
            (*values, limit),
        )
        return [_hit(*row) for row in found]
    expression = nodes.tag_expression(connection, reach or WHOLE_TREE)
    asked = words(connection, query)
    if expression is None or not asked:
        return []
    match = f"({' OR '.join(word.match for word in asked)}) AND ({expression})"
    found = select(
        connection,
        "SELECT b.belief, b.learning, b.observed_s, b.observed_ns, score FROM (SELECT rowid AS r, "
        "-bm25(text_beliefs, 0.0, 1.0, 0.0, 0.0) AS score FROM text_beliefs WHERE text_beliefs MATCH ? "
        "ORDER BY score DESC, r LIMIT ?) CROSS JOIN beliefs b ON b.belief = r ORDER BY score DESC, r",
        (match, max(limit, ordering.WINDOW)),
    )
    return _arranged(query, found)[:limit]


def _arranged(query: str, found: Sequence[rows.Row]) -> list[Hit]:
    """Return ranked beliefs so that a newer one comes before the older that it may correct."""
    if not found:
        return []
    hits = {row[0]: _hit(row[0], row[1], row[-1]) for row in found}
    seen = [
        Seen(
            found=Found(belief, belief, score),
            at=None if seconds is None else (seconds, nanoseconds),
            opening=hits[belief].text.lower(),
        )
        for belief, _, seconds, nanoseconds, score in found
    ]
    return [hits[each.item].model_copy(update={"score": each.score}) for each in ordering.arranged(Asked(query), seen)]


def _hit(belief: int, learning: str, score: float) -> Hit:
    held = read_item(learning)
    return Hit(
        id=f"belief-{belief}",
        kind=ItemKind.LEARNING,
        text=held.render_text(),
        meta=held.meta,
        score=score,
        confidence=held.confidence_or_none,
    )
