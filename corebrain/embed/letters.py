"""An embedder without a model: texts are near that share runs of three letters. For tests and trying things out."""

import re
from collections.abc import Sequence
from functools import lru_cache

from corebrain.model.text import fnv1a_32

_WORD = re.compile(r"\w+")


class Letters:
    """Counts each word's runs of three letters in so many places; a run's place is its hash.

    It needs nothing installed, gives the same vectors everywhere, and knows no meaning.

    Args:
        dimension: Numbers of a vector.
    """

    def __init__(self, dimension: int = 256) -> None:
        self.name = f"letters/{dimension}"
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> list[float]:
        row = [0.0] * self.dimension
        for word in _WORD.findall(text.lower()):
            for run in _runs(word):
                row[run % self.dimension] += 1.0
        return row


@lru_cache(maxsize=10_000)
def _runs(word: str) -> tuple[int, ...]:
    padded = f" {word} "
    return tuple(
        fnv1a_32(padded[start : start + 3].encode("utf-8", "surrogatepass")) for start in range(len(padded) - 2)
    )
