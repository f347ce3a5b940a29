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
_CHUNK = 1_024


def sketched(
    scales: "NDArray[np.float32]", codes: "NDArray[np.int8]", centre: "NDArray[np.float32]"
) -> "NDArray[np.uint64]":
    """Return the signs of vectors as seen from *centre*, a column a vector; some models' numbers are never negative."""
    parts = [
        _bits(codes[start : start + _CHUNK] > centre / scales[start : start + _CHUNK, None])
        for start in range(0, len(codes), _CHUNK)
    ]
    return np.ascontiguousarray(np.concatenate(parts or [_bits(codes > centre)]).T)


def estimated(
    sketch: "NDArray[np.uint64]", query: "NDArray[np.float32]", centre: "NDArray[np.float32]"
) -> "NDArray[np.float32]":
    """Return about the cosine of each vector of the sketch with *query*, both as seen from *centre*."""
    differing = np.zeros(sketch.shape[1], np.uint16)
    for words, asked in zip(sketch, _bits(query[None, :] > centre)[0], strict=True):
        differing += np.bitwise_count(words ^ asked)
    cosines: NDArray[np.float32] = np.cos(np.linspace(0, np.pi, len(query) + 1), dtype=np.float32)
    return cosines[differing]


def _bits(signs: "NDArray[np.bool_]") -> "NDArray[np.uint64]":
    bits = np.packbits(signs, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % _WORD))).view(np.uint64)
