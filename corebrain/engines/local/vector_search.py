"""Finding by meaning: every vector that a read reaches is compared, so nothing near is missed."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apsw
import numpy as np

from corebrain.engines.local import filters
from corebrain.engines.local.ranking import Found
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_groups import Group
from corebrain.model.filter import MetaFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_LOOK = 256  # nearest passages whose items are looked at first; four times as many each further time


class Likenesses:
    """How near each embedded passage in reach is to a question.

    Args:
        groups: What is in reach.
        query: The question's vector, of unit length.
    """

    def __init__(self, groups: Sequence[Group], query: "NDArray[np.float32]") -> None:
        none = [np.empty(0, np.float32)]
        self.scores: NDArray[np.float32] = np.concatenate([group.likeness(query) for group in groups] or none)
        self.passages: NDArray[np.int64] = np.concatenate([group.passages for group in groups] or none).astype(np.int64)
        self._best: NDArray[np.int64] = np.empty(0, np.int64)

    @property
    def ordinary(self) -> float:
        """The likeness that five of six do not exceed, were they spread evenly about their mean: it tells nothing."""
        return float(self.scores.mean() + self.scores.std()) if len(self.scores) else 0.0

    def nearest(self, connection: apsw.Connection, wanted: MetaFilter) -> Iterator[Found]:
        """Yield the items the filter admits, nearest first; an item is as near as its nearest passage."""
        seen: set[int] = set()
        for start, passages in self._descending():
            items = _items(connection, passages, wanted)
            for offset, passage in enumerate(passages):
                item = items.get(passage)
                if item is not None and item not in seen:
                    seen.add(item)
                    yield Found(item, passage, float(self.scores[self._best[start + offset]]))

    def _descending(self) -> Iterator[tuple[int, list[int]]]:
        start, size = 0, _FIRST_LOOK
        while start < len(self.passages):
            self._sort(start + size)
            yield start, self.passages[self._best[start : start + size]].tolist()
            start, size = start + size, size * 4

    def _sort(self, most: int) -> None:
        """Put the positions of the *most* best rows in order; equal scores in the order of passages."""
        rows = np.arange(len(self.scores))
        if most < len(rows):
            edge = np.partition(self.scores, len(rows) - most)[len(rows) - most]
            rows = np.flatnonzero(self.scores >= edge)
        self._best = rows[np.lexsort((self.passages[rows], -self.scores[rows]))]


def _items(connection: apsw.Connection, passages: Sequence[int], wanted: MetaFilter) -> dict[int, int]:
    """Return, by passage, the items of those that the filter admits; reach and kinds are true of all."""
    where = filters.fields(wanted)
    joined = "JOIN items i USING (item)" if where.conditions else ""
    found = select(
        connection,
        f"SELECT p.passage, p.item FROM passages p {joined} "  # noqa: S608  # our own columns; values are bound
        f"WHERE p.passage IN (SELECT value FROM json_each(?)){where.sql}",
        (_json(passages), *where.values),
    )
    return dict(found)


def _json(numbers: Sequence[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
