"""The signs of a vector's numbers as bits: what a large scope is looked over with before its best are compared exactly.

Two vectors at an angle of a half turn's share p differ in about that share of signs (Charikar 2002, "Similarity
estimation techniques from rounding algorithms"). 100,000 vectors of 384 numbers are looked over in some
2 ms, in place of 20. Nothing is built or kept on disk for it, so nothing can be lost or stale.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = 8  # bytes of a word of bits


def sketched(numbers: "NDArray[np.int8] | NDArray[np.float32]") -> "NDArray[np.uint64]":
    """Return the signs of the rows of *numbers*, a column a row."""
    bits = np.packbits(numbers > 0, axis=1)
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % _WORD)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def estimated(sketch: "NDArray[np.uint64]", query: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return about the cosine of each row of the sketch with *query*."""
    differing = np.zeros(sketch.shape[1], np.uint16)
    for words, asked in zip(sketch, sketched(query[None, :])[:, 0], strict=True):
        differing += np.bitwise_count(words ^ asked)
    cosines: NDArray[np.float32] = np.cos(np.linspace(0, np.pi, len(query) + 1), dtype=np.float32)
    return cosines[differing]
