"""Ranking by words and meaning together, or by meaning alone.

The two scores are brought to one range and added, weighted. Ranks are not fused: reciprocal rank fusion loses 5 to 12
points of LoCoMo recall@10 to this when one side is weak (measured).
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import apsw

from corebrain.engines.local import ordering, ranking
from corebrain.engines.local.ranking import Found
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_search import Likenesses
from corebrain.model.filter import MetaFilter

WORDS_WEIGHT = 0.6
"""Of the keyword score, spread between 0 and the best; the rest is the likeness's, spread between what is ordinary in
the reach and the best. Leaving out one LoCoMo conversation or Cranfield after the other, the others choose 0.6 to 0.7,
and half a point lies between these (benchmarks/fusion_weights.py)."""

_POOL = ordering.WINDOW + 4
"""Items by words, and four times as many by meaning, that the first so many places are decided among; later places
among four times as many."""

_NEAR = 4
_LEAST = 1e-3
_ANY_WAITS = (
    "SELECT 1 FROM unembedded UNION ALL SELECT 1 FROM unembeddable "
    "UNION ALL SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM embedding) LIMIT 1"
)


def by_meaning(
    connection: apsw.Connection, likenesses: Likenesses, query: str, wanted: MetaFilter, most: int
) -> list[Found]:
    """Return items by likeness, then those not embedded yet, ranked by words."""
    found = likenesses.nearest(connection, wanted, most)
    if len(found) == most or not _any_waits(connection):
        return found
    depth = 4 * most
    while True:
        ranked = ranking.rank(connection, query, wanted, depth)
        waiting = _waiting(connection, [each.item for each in ranked])
        rest = [each for each in ranked if each.item in waiting]
        if len(found) + len(rest) >= most or len(ranked) < depth:
            break
        depth *= 4
    best = max((each.score for each in rest), default=1.0)
    followers = [Found(each.item, each.passage, each.score / best - 2.0) for each in rest]  # below every cosine
    return [*found, *followers][:most]


def by_both(
    connection: apsw.Connection, likenesses: Likenesses, query: str, wanted: MetaFilter, most: int
) -> list[Found]:
    """Return items by words and likeness together; one not embedded yet counts as if its likeness agreed."""
    return list(islice(_fused(connection, likenesses, query, wanted), most))


def _fused(connection: apsw.Connection, likenesses: Likenesses, query: str, wanted: MetaFilter) -> Iterator[Found]:
    """Yield all items in their order, whatever page is asked for: pools grow at fixed places."""
    given: set[int] = set()
    score = float("inf")
    pool = _POOL
    while True:
        by_words = ranking.rank(connection, query, wanted, pool)
        near = likenesses.nearest(connection, wanted, _NEAR * pool)
        is_last = len(by_words) < pool and len(near) < _NEAR * pool
        floor = likenesses.ordinary if is_last else max(likenesses.ordinary, near[-1].score if near else 0.0)
        fresh = [place for place in _pooled(connection, by_words, near, floor) if place[1] not in given]
        for negated, item, passage in fresh if is_last else fresh[: max(0, pool - len(given))]:
            given.add(item)
            score = min(score, -negated)  # a later pool may know more of an item, its place is taken
            yield Found(item, passage, score)
        if is_last:
            return
        pool *= 4


def _pooled(
    connection: apsw.Connection, by_words: Sequence[Found], near: Sequence[Found], floor: float
) -> list[tuple[float, int, int]]:
    """Return negated score, item and passage of what either side found, in that order."""
    worded = {each.item: each for each in by_words}
    likened = {each.item: each for each in near}
    waiting = _waiting(connection, [item for item in worded if item not in likened])
    words, likes = _Spread(by_words, 0.0), _Spread(near, floor)
    fused = []
    for item, like in likened.items():
        by_like = (1 - WORDS_WEIGHT) * likes.of(like)
        word = worded.pop(item, None)
        if word is None:
            fused.append((-by_like, item, like.passage))
        else:
            by_word = WORDS_WEIGHT * words.of(word)
            fused.append((-by_word - by_like, item, like.passage if by_like > by_word else word.passage))
    for item, word in worded.items():
        fused.append((-words.of(word) * (1.0 if item in waiting else WORDS_WEIGHT), item, word.passage))
    return sorted(fused)


class _Spread:
    """Brings scores, best first, to the range from 0 to 1; *floor* and what is below it keep next to nothing."""

    def __init__(self, found: Sequence[Found], floor: float) -> None:
        best = found[0].score if found else 1.0
        self._floor = floor if floor < best else best - 1e-6  # then the best alone counts
        self._span = best - self._floor

    def of(self, each: Found) -> float:
        over = (each.score - self._floor) / self._span
        return over if over > _LEAST else _LEAST / (1 - over + _LEAST)  # still in their order


def _waiting(connection: apsw.Connection, items: Sequence[int]) -> set[int]:
    """Return which of the items have no vector at all."""
    if not _any_waits(connection):
        return set()
    found = select(
        connection,
        "SELECT i.item FROM items i WHERE i.item IN (SELECT value FROM json_each(?)) AND NOT EXISTS "
        "(SELECT 1 FROM vectors v WHERE v.passage >= i.passage AND v.passage < i.passage + i.passages)",
        (f"[{','.join(map(str, items))}]",),
    )
    return {row[0] for row in found}


def _any_waits(connection: apsw.Connection) -> bool:
    """Tell whether a passage may have no vector: one waits, one was refused, or no model has come yet."""
    return connection.execute(_ANY_WAITS).get is not None
