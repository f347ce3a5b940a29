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

Place = tuple[str | None, int, int]
"""Thread, first turn and item: what orders turns, and the thread alone what keeps them apart."""

_WEIGHTS = (0.5, 0.5, 0.25, 0.25)  # of the turns before, after, two before and two after
_CHUNK = 1_024


@dataclass(frozen=True, slots=True)
class Mixture:
    """Where the neighbours of each row stand, the number of rows for none, and how long each mixed vector is."""

    around: "NDArray[np.int64]"
    lengths: "NDArray[np.float32]"

    @classmethod
    def made(cls, order: Sequence[Place], scales: "NDArray[np.float32]", codes: "NDArray[np.int8]") -> "Mixture":
        """Return the mixture of rows that stand at *order* in their threads."""
        around = _around(order)
        lengths = np.empty(len(order), np.float32)
        for start in range(0, len(order), _CHUNK):
            rows = slice(start, start + _CHUNK)
            mixed = codes[rows] * scales[rows, None]
            for places, weight in zip(around[:, rows], _WEIGHTS, strict=True):
                held = np.flatnonzero(places < len(order))
                mixed[held] += weight * codes[places[held]] * scales[places[held], None]
            lengths[rows] = np.linalg.norm(mixed, axis=1)
        return cls(around, np.maximum(lengths, np.float32(1e-6)))

    def of(self, own: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return the cosines of the mixed vectors from the rows' own."""
        padded = np.append(own, np.float32(0.0))  # what stands for a neighbour that there is not
        mixed = own.copy()
        for places, weight in zip(self.around, _WEIGHTS, strict=True):
            mixed += np.float32(weight) * padded[places]
        return mixed / self.lengths


def _around(order: Sequence[Place]) -> "NDArray[np.int64]":
    count = len(order)
    threaded = ((thread, turn, item, row) for row, (thread, turn, item) in enumerate(order) if thread is not None)
    sequence = [(place[0], place[3]) for place in sorted(threaded)]
    around = np.full((4, count), count, np.int64)
    for distance in (1, 2):
        pairs = zip(sequence, sequence[distance:], strict=False)
        near = [(earlier, later) for (thread, earlier), (other, later) in pairs if thread == other]
        if near:
            earlier, later = np.array(near, np.int64).T
            around[2 * distance - 2, later] = earlier
            around[2 * distance - 1, earlier] = later
    return around
