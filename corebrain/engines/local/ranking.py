"""Keyword ranking over the word-index tables a read reaches.

FTS5's bm25 weighs a word by how rare it is in *its* table, so scores of two tables do not compare, and in a tiny table
every word weighs nothing. Each word is therefore matched by itself, its table's weight divided out, and the weight over
all tables read put in its place: the sum is BM25 with the statistics of everything the read reaches.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from corebrain.engines.local import filters, listing, nodes
from corebrain.engines.local.filters import Where
from corebrain.engines.local.nodes import Table
from corebrain.engines.local.query import MAX_TERMS, Word, words
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import WHOLE_TREE

_COLUMNS = "1.5, 1.0, 0.3, 0.0"  # weights of head, body, ctx, tag
_LEAST = 1e-6  # what FTS5 takes for a weight that is not positive (ext/fts5/fts5_aux.c)
_FIRST_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Found:
    """An item, its best passage, and its score, which is positive."""

    item: int
    passage: int
    score: float

    @property
    def order(self) -> tuple[float, int]:
        """Best first; equal scores in the order of storing."""
        return (-self.score, self.item)


@dataclass(frozen=True, slots=True)
class _Term:
    match: str
    factor: float


def rank(connection: apsw.Connection, query: str, wanted: MetaFilter, most: int) -> list[Found]:
    """Return the best items the filter admits, best first, at most *most*; an item scores as its best passage."""
    tables = nodes.tables(connection, wanted.reach or WHOLE_TREE, wanted.kinds)
    if not tables:
        return []
    terms = _weighed(connection, words(connection, query), tables)
    where = filters.fields(wanted)
    depth = min(max(_FIRST_DEPTH, 4 * most), listing.ALL)
    while True:
        best: dict[int, Found] = {}
        edges = []
        for table in tables:
            found = _walk(connection, table, terms[table.shard], where, depth)
            if len(found) == depth:
                edges.append(found[-1].order)
            for each in found:
                if each.item not in best or each.order < best[each.item].order:
                    best[each.item] = each
        ranked = sorted(best.values(), key=lambda each: each.order)[:most]
        if not edges or (len(ranked) == most and ranked[-1].order <= min(edges)):
            return ranked
        depth *= 4


def _weighed(connection: apsw.Connection, asked: Sequence[Word], tables: Sequence[Table]) -> dict[int, list[_Term]]:
    """Return, per table, the terms it holds with the factor that puts the common weight in place of its own."""
    held = {word: [_holding(connection, table, word) for table in tables] for word in asked}
    total = sum(table.passages for table in tables)
    rarest = sorted((word for word in asked if any(held[word])), key=lambda word: sum(held[word]))[:MAX_TERMS]
    terms: dict[int, list[_Term]] = {table.shard: [] for table in tables}
    for word in rarest:
        everywhere = sum(held[word])
        common = math.log(1 + (total - everywhere + 0.5) / (everywhere + 0.5))
        for table, here in zip(tables, held[word], strict=True):
            if here:
                match = word.match if table.tags is None else f"{word.match} AND ({table.tags})"
                terms[table.shard].append(_Term(match, -common / _own_weight(table.passages, here)))
    return terms


def _holding(connection: apsw.Connection, table: Table, word: Word) -> int:
    """Return how many passages of the table hold the word."""
    return connection.execute(f"SELECT doc FROM words_{table.shard} WHERE term = ?", (word.stem,)).get or 0  # noqa: S608  # a number of ours


def _own_weight(passages: int, holding: int) -> float:
    weight = math.log((passages - holding + 0.5) / (holding + 0.5))
    return weight if weight > 0 else _LEAST


def _walk(connection: apsw.Connection, table: Table, terms: Sequence[_Term], where: Where, depth: int) -> list[Found]:
    if not terms:
        return []
    one = f"SELECT rowid AS r, ? * bm25({table.name}, {_COLUMNS}) AS score FROM {table.name} WHERE {table.name} MATCH ?"  # noqa: S608  # our own names; values are bound
    summed = f"SELECT r, sum(score) AS score FROM ({' UNION ALL '.join([one] * len(terms))}) GROUP BY r"  # noqa: S608  # as above
    if len(terms) == 1:
        summed = one  # FTS5 gives no bm25 inside the GROUP BY that a single SELECT would be folded into
    cut = f"ORDER BY score DESC, r LIMIT {depth}"
    items = "" if not where.conditions else f"CROSS JOIN items i ON i.item = p.item WHERE true{where.sql}"
    inner = summed if where.conditions else f"{summed} {cut}"
    rows = connection.execute(
        f"SELECT p.item, r, score FROM ({inner}) CROSS JOIN passages p ON p.passage = r {items} {cut}",  # noqa: S608  # as above
        [*(value for term in terms for value in (term.factor, term.match)), *where.values],
    )
    return [Found(*row) for row in rows]
