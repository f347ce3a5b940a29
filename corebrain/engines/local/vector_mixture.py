"""The likeness of a turn with its neighbours': a reply seldom repeats what it answers.

The vector of a turn is taken as its own, half of those next to it in the thread, and a quarter of those beyond. Cosines
add up as vectors do, so only the length of that sum is kept beside the group. LoCoMo recall@10 of vectors alone went
from 45.4 to 56.2 by it, that of words and vectors from 78.2 to 81.3 (weights chosen by leaving one conversation out).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WEIGHTS = (0.5, 0.5, 0.25, 0.25)  # of the turns before, after, two before and two after
_CHUNK = 1_024


@dataclass(frozen=True, slots=True)
class Threads:
    """What orders turns, row by row: a number for the thread, 0 for none, the first turn, and the item."""

    threads: "NDArray[np.int64]"
    turns: "NDArray[np.int64]"
    items: "NDArray[np.int64]"

    @classmethod
    def of(cls, rows: Sequence[tuple[str | None, int]], items: "NDArray[np.int64]") -> "Threads":
        """Return the order of rows of thread and first turn."""
        threads = [0 if thread is None else hash(thread) or 1 for thread, _ in rows]
        return cls(np.array(threads, np.int64), np.array([turn for _, turn in rows], np.int64), items)

    def joined(self, later: "Threads") -> "Threads":
        """Return these and *later* ones."""
        pairs = ((self.threads, later.threads), (self.turns, later.turns), (self.items, later.items))
        return Threads(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class Mixture:
    """Where the neighbours of each row stand, the number of rows for none, and how long each mixed vector is."""

    around: "NDArray[np.int64]"
    lengths: "NDArray[np.float32]"

    @classmethod
    def made(cls, order: Threads, scales: "NDArray[np.float32]", codes: "NDArray[np.int8]") -> "Mixture":
        """Return the mixture of rows that stand at *order* in their threads."""
        around = _around(order)
        count = len(scales)
        lengths = np.empty(count, np.float32)
        for start in range(0, count, _CHUNK):
            rows = slice(start, start + _CHUNK)
            mixed = codes[rows] * scales[rows, None]
            for places, weight in zip(around[:, rows], _WEIGHTS, strict=True):
                held = np.flatnonzero(places < count)
                mixed[held] += np.float32(weight) * codes[places[held]] * scales[places[held], None]
            lengths[rows] = np.linalg.norm(mixed, axis=1)
        return cls(around, np.maximum(lengths, np.float32(1e-6)))

    @classmethod
    def none(cls, count: int) -> "Mixture":
        """Return the mixture of rows without neighbours."""
        return cls(np.full((4, count), count, np.int64), np.ones(count, np.float32))

    @classmethod
    def joined(cls, parts: "Sequence[Mixture]") -> "Mixture":
        """Return the mixture of all rows of *parts*, one after the other."""
        total = sum(len(part.lengths) for part in parts)
        arounds, start = [], 0
        for part in parts:
            count = len(part.lengths)
            arounds.append(np.where(part.around == count, total, part.around + start))
            start += count
        return cls(np.concatenate(arounds, axis=1), np.concatenate([part.lengths for part in parts]))

    def of(self, own: "NDArray[np.float32]", rows: "NDArray[np.int64] | slice" = slice(None)) -> "NDArray[np.float32]":
        """Return the cosines of the mixed vectors of *rows*, all by default, from the own ones of all."""
        padded = np.append(own, np.float32(0.0))  # what stands for a neighbour that there is not
        mixed = own[rows].copy()
        for places, weight in zip(self.around[:, rows], _WEIGHTS, strict=True):
            mixed += np.float32(weight) * padded[places]
        return mixed / self.lengths[rows]

    def needed(self, rows: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """Return the rows whose own cosines those of *rows* are mixed from, ascending."""
        wanted = np.unique(np.concatenate((rows, self.around[:, rows].ravel())))
        return wanted[: np.searchsorted(wanted, len(self.lengths))]


def _around(order: Threads) -> "NDArray[np.int64]":
    count = len(order.threads)
    around = np.full((4, count), count, np.int64)
    sequence = np.lexsort((order.items, order.turns, order.threads))
    sequence = sequence[order.threads[sequence] != 0]
    threads = order.threads[sequence]
    for distance in (1, 2):
        same = np.flatnonzero(threads[:-distance] == threads[distance:])
        earlier, later = sequence[same], sequence[same + distance]
        around[2 * distance - 2, later] = earlier
        around[2 * distance - 1, earlier] = later
    return around
