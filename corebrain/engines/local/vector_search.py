"""Finding by meaning: every vector that a read reaches is compared, so nothing near is missed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw
import numpy as np

from corebrain.engines.local import filters
from corebrain.engines.local.filters import Where
from corebrain.engines.local.ranking import Found
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_groups import Group
from corebrain.model.filter import MetaFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MORE = 4  # how many times as many passages are looked at each further time


class Likenesses:
    """How near each embedded passage in reach is to a question.

    Args:
        groups: What is in reach.
        query: The question's vector, of unit length.
    """

    def __init__(self, groups: Sequence[Group], query: "NDArray[np.float32]") -> None:
        none = [np.empty(0, np.float32)]
        self.scores: NDArray[np.float32] = np.concatenate([group.likeness(query) for group in groups] or none)
        numbers = [np.empty(0, np.int64)]
        self._passages: NDArray[np.int64] = np.concatenate([group.passages for group in groups] or numbers)
        self._items: NDArray[np.int64] = np.concatenate([group.items for group in groups] or numbers)

    @property
    def ordinary(self) -> float:
        """The likeness that five of six do not exceed, were they spread evenly about their mean: it tells nothing."""
        return float(self.scores.mean() + self.scores.std()) if len(self.scores) else 0.0

    def nearest(self, connection: apsw.Connection, wanted: MetaFilter, most: int) -> list[Found]:
        """Return at most *most* items the filter admits, nearest first; an item is as near as its nearest passage."""
        where = filters.fields(wanted)
        found: dict[int, Found] = {}
        start, size = 0, 2 * most
        while start < len(self.scores) and len(found) < most:
            rows = self._best(start + size)[start : start + size]
            items = self._items[rows].tolist()
            admitted = _admitted(connection, items, where) if where.conditions else None
            likeness = zip(items, self._passages[rows].tolist(), self.scores[rows].tolist(), strict=True)
            for item, passage, score in likeness:
                if item not in found and (admitted is None or item in admitted):
                    found[item] = Found(item, passage, score)
            start, size = start + size, size * _MORE
        return list(found.values())[:most]

    def _best(self, most: int) -> "NDArray[np.int64]":
        """Return the positions of the *most* best rows or a few more, best first; equals in the order of passages."""
        rows = np.arange(len(self.scores))
        if most < len(rows):
            edge = np.partition(self.scores, len(rows) - most)[len(rows) - most]
            rows = np.flatnonzero(self.scores >= edge)
        order: NDArray[np.int64] = rows[np.lexsort((self._passages[rows], -self.scores[rows]))]
        return order


def _admitted(connection: apsw.Connection, items: Sequence[int], where: Where) -> set[int]:
    """Return which of the items meet the conditions; reach and kinds are true of all."""
    found = select(
        connection,
        f"SELECT i.item FROM items i WHERE i.item IN (SELECT value FROM json_each(?)){where.sql}",  # noqa: S608  # values are bound
        (f"[{','.join(map(str, items))}]", *where.values),
    )
    return {row[0] for row in found}
