"""Finding by meaning: every vector that a read reaches is compared, so nothing near is missed."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apsw
import numpy as np

from corebrain.engines.local import filters
from corebrain.engines.local.filters import Where
from corebrain.engines.local.ranking import Found
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_groups import Scope
from corebrain.model.filter import MetaFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT = 8_000
"""Vectors in reach up to which all are compared exactly: some 1 ms."""

LOOKED_AT = 2_000
"""Vectors of a larger reach that are compared exactly."""

DEVIATIONS = 1.0
"""How far above the mean of its reach, in standard deviations, a likeness begins to count: five of six lie below."""

_SURELY = 2  # the best of the rows compared exactly are surely the best of all when no more than this part is asked for
_MORE = 4  # how many times as many passages are looked at each further time


class Likenesses:
    """How near each embedded passage in reach is to a question.

    A large scope is looked over by its sketch, and only its likeliest rows are compared exactly, unless more are asked
    for than these can answer.

    Args:
        scope: What is in reach.
        query: The question's vector, of unit length.
    """

    def __init__(self, scope: Scope, query: "NDArray[np.float32]") -> None:
        self._scope = scope
        self._query = query
        self._rows: NDArray[np.int64] | None = None
        if len(scope.passages) > EXACT:
            self._rows, self._scores = self._looked_over()
        else:
            self._scores = self._compared()

    @property
    def ordinary(self) -> float:
        """The likeness up to which one tells nothing: that of most that is in reach."""
        return float(self._scores.mean() + DEVIATIONS * self._scores.std()) if len(self._scores) else 0.0

    def _compared(self) -> "NDArray[np.float32]":
        own = self._scope.cosines(self._query)
        return own if self._scope.mixture is None else self._scope.mixture.of(own)

    def _looked_over(self) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
        """Return the likeliest rows, ascending, and how near they are."""
        mixture = self._scope.mixture
        estimates = self._scope.estimates(self._query)
        mixed = estimates if mixture is None else mixture.of(estimates)
        rows = np.sort(np.argpartition(mixed, len(mixed) - LOOKED_AT)[len(mixed) - LOOKED_AT :])
        if mixture is None:
            return rows, self._scope.cosines_of(rows, self._query)
        needed = mixture.needed(rows)
        estimates[needed] = self._scope.cosines_of(needed, self._query)
        return rows, mixture.of(estimates, rows)

    def nearest(self, connection: apsw.Connection, wanted: MetaFilter, most: int) -> list[Found]:
        """Return at most *most* items the filter admits, nearest first; an item is as near as its nearest passage."""
        found: dict[int, Found] = {}
        for each in self._descending(connection, filters.fields(wanted), 2 * most):
            found.setdefault(each.item, each)
            if len(found) == most:
                break
        return list(found.values())

    def _descending(self, connection: apsw.Connection, where: Where, size: int) -> Iterator[Found]:
        """Yield the passages whose items meet the conditions, nearest first; *size* are looked at first."""
        start = 0
        while start < len(self._scope.passages):
            rows, scores = self._best(start + size)
            rows, scores = rows[start : start + size], scores[start : start + size]
            items = self._scope.items[rows].tolist()
            admitted = _admitted(connection, items, where) if where.conditions else None
            places = zip(items, self._scope.passages[rows].tolist(), scores.tolist(), strict=True)
            yield from (Found(*place) for place in places if admitted is None or place[0] in admitted)
            start, size = start + size, size * _MORE

    def _best(self, most: int) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
        """Return the *most* best rows or a few more, best first, with their scores; equals in the order of passages."""
        if self._rows is not None and most > LOOKED_AT // _SURELY:
            self._rows, self._scores = None, self._compared()
        places = np.arange(len(self._scores))
        if most < len(places):
            edge = np.partition(self._scores, len(places) - most)[len(places) - most]
            places = np.flatnonzero(self._scores >= edge)
        rows = places if self._rows is None else self._rows[places]
        order = np.lexsort((self._scope.passages[rows], -self._scores[places]))
        return rows[order], self._scores[places[order]]


def _admitted(connection: apsw.Connection, items: Sequence[int], where: Where) -> set[int]:
    """Return which of the items meet the conditions; reach and kinds are true of all."""
    found = select(
        connection,
        f"SELECT i.item FROM items i WHERE i.item IN (SELECT value FROM json_each(?)){where.sql}",  # noqa: S608  # values are bound
        (f"[{','.join(map(str, items))}]", *where.values),
    )
    return {row[0] for row in found}
