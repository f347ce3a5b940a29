"""Keyword ranking over the word-index tables a read reaches.

FTS5's bm25 weighs a word by how rare it is in *its* table, so scores of two tables do not compare, and in a tiny table
every word weighs nothing. Each word is therefore matched by itself, its table's weight divided out, and the weight over
all tables read put in its place: the sum is BM25 with the statistics of everything the read reaches.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate, chain
from typing import NamedTuple

import apsw

from corebrain.engines.local import filters, listing, nodes
from corebrain.engines.local.filters import Where
from corebrain.engines.local.nodes import Table
from corebrain.engines.local.query import MAX_TERMS, Word, words
from corebrain.engines.local.select import select
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import WHOLE_TREE

_COLUMNS = "1.5, 1.0, 0.45, 0.0"  # weights of head, body, ctx, tag
_LEAST = 1e-6  # what FTS5 takes for a weight that is not positive (ext/fts5/fts5_aux.c)
_FIRST_DEPTH = 60

BROAD = 50_000
"""Passages from which a read is broad: its rarest words choose the passages, and the others only rank those."""

CHOSEN = 2_000
"""Passages that choosing may look at in a broad read; those with the rarest word are looked at in any case.

Scoring a passage costs ten times what passing over it does (0.6 and 0.06 microseconds), and of the best ten of 100,000
some nine are among these (measured, Zipf's text). LoCoMo in one store, chosen so, is found as well as without.
"""


class Found(NamedTuple):
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
    """A word in one table, with the factor that puts the common weight in place of the table's own."""

    match: str
    factor: float


@dataclass(frozen=True, slots=True)
class _Asked:
    """A word of the query: how many passages of the tables hold it, and its term in those that do, by table."""

    passages: int
    terms: dict[int, _Term]


def rank(connection: apsw.Connection, query: str, wanted: MetaFilter, most: int) -> list[Found]:
    """Return the best items the filter admits, best first, at most *most*; an item scores as its best passage."""
    return rank_by(connection, words(connection, query), reached(connection, wanted), wanted, most)


def reached(connection: apsw.Connection, wanted: MetaFilter) -> Sequence[Table]:
    """Return the word-index tables that a filter reaches."""
    return nodes.tables(connection, wanted.reach or WHOLE_TREE, wanted.kinds)


def rank_by(
    connection: apsw.Connection, asked: Sequence[Word], tables: Sequence[Table], wanted: MetaFilter, most: int
) -> list[Found]:
    """Rank as `rank` does, by words already read from a question, over the tables the filter reaches."""
    if not tables or not asked:
        return []
    weighed = _weighed(connection, asked, tables)
    where = filters.fields(wanted)
    for choosing in range(_choosing(weighed, tables), len(weighed) + 1):
        found = _best(connection, tables, weighed[:choosing], weighed[choosing:], where, most)
        if len(found) == most:
            return found
    return found


def _best(
    connection: apsw.Connection,
    tables: Sequence[Table],
    choosing: Sequence[_Asked],
    adding: Sequence[_Asked],
    where: Where,
    most: int,
) -> list[Found]:
    """Return the best of the items that hold a word of *choosing*, ranked by all words."""
    depth = min(max(_FIRST_DEPTH, 4 * most), listing.ALL)
    while True:
        walked = {table: _walk(connection, table, _terms(choosing, table), where, depth) for table in tables}
        edges = [found[-1].order for found in walked.values() if len(found) == depth]
        chosen = _chosen(walked, depth) if adding else walked
        scored = (_completed(connection, table, _terms(adding, table), found) for table, found in chosen.items())
        best: dict[int, Found] = {}
        for each in sorted(chain.from_iterable(scored), key=lambda each: each.order):
            best.setdefault(each.item, each)
        ranked = list(best.values())[:most]
        if not edges or (len(ranked) == most and (adding or ranked[-1].order <= min(edges))):
            return ranked
        depth *= 4


def _chosen(walked: Mapping[Table, Sequence[Found]], most: int) -> Mapping[Table, Sequence[Found]]:
    """Return the best *most* passages of all tables together."""
    best = nlargest(most, (each.score for found in walked.values() for each in found))
    least = best[-1] if best else 0.0
    return {table: [each for each in found if each.score >= least] for table, found in walked.items()}


def _weighed(connection: apsw.Connection, asked: Sequence[Word], tables: Sequence[Table]) -> list[_Asked]:
    """Return the words that any of the tables holds, the rarest first, at most `MAX_TERMS`."""
    total = sum(table.passages for table in tables)
    found = []
    for word in asked:
        held = [(table, here) for table in tables if (here := _holding(connection, table, word))]
        everywhere = sum(here for _, here in held)
        common = word.weight * math.log(1 + (total - everywhere + 0.5) / (everywhere + 0.5))
        terms = {}
        for table, here in held:
            match = word.match if table.tags is None else f"{word.match} AND ({table.tags})"
            terms[table.shard] = _Term(match, -common / _own_weight(table.passages, here))
        if held:
            found.append(_Asked(everywhere, terms))
    return sorted(found, key=lambda each: each.passages)[:MAX_TERMS]


def _choosing(asked: Sequence[_Asked], tables: Sequence[Table]) -> int:
    """Return how many of the words choose the passages: all; in a broad read those that few of its passages hold."""
    if sum(table.passages for table in tables) <= BROAD:
        return len(asked)
    walked = accumulate(each.passages for each in asked)
    return max(min(1, len(asked)), sum(rows <= CHOSEN for rows in walked))


def _terms(asked: Sequence[_Asked], table: Table) -> list[_Term]:
    return [each.terms[table.shard] for each in asked if table.shard in each.terms]


def _holding(connection: apsw.Connection, table: Table, word: Word) -> int:
    """Return how many passages of the table hold the word."""
    if word.stem is None:
        counted = f"SELECT count(*) FROM {table.name} WHERE {table.name} MATCH ?"  # noqa: S608  # a name of ours
        return int(connection.execute(counted, (word.match,)).get)
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
    return [Found._make(row) for row in rows]


def _completed(
    connection: apsw.Connection, table: Table, terms: Sequence[_Term], found: Sequence[Found]
) -> Sequence[Found]:
    """Return *found* with what further terms add to their scores."""
    if not terms or not found:
        return found
    added = dict.fromkeys((each.passage for each in found), 0.0)
    passages = json.dumps(list(added))
    one = (
        f"SELECT rowid, ? * bm25({table.name}, {_COLUMNS}) FROM {table.name} WHERE {table.name} MATCH ? "  # noqa: S608  # our own names; values are bound
        "AND +rowid IN (SELECT value FROM json_each(?))"  # by the plus the term is walked once, not once a passage
    )
    for term in terms:
        for passage, score in select(connection, one, (term.factor, term.match, passages)):
            added[passage] += score
    return [Found(each.item, each.passage, each.score + added[each.passage]) for each in found]
