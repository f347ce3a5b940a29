"""Made-up text for benchmarks, with the word frequencies of English."""

import random
from itertools import accumulate, islice

from corebrain.engines.local.query import STOP_WORDS

VOCABULARY = 50_000
COMMONEST = (
    *("the", "of", "and", "to", "a", "in", "is", "it", "you", "that", "he", "was", "for", "on", "are", "with", "as"),
    *("his", "they", "be", "at", "this", "have", "from", "or", "had", "by", "but", "not", "what", "all", "were", "we"),
)
"""The commonest words of English, commonest first."""


class Words:
    """Made-up text, the same every time: word frequencies of English by Zipf and Mandelbrot, 1 / (rank + 2.7)."""

    def __init__(self, seed: int = 11) -> None:
        self._random = random.Random(seed)  # noqa: S311  # the same made-up text every time
        syllables = [first + vowel for first in "bdfghjklmnprstvz" for vowel in "aiou"]
        content = (a + b + c + "k" for a in syllables for b in syllables for c in syllables)
        rarer = sorted(STOP_WORDS.difference(COMMONEST))
        self._words = [*COMMONEST, *rarer, *islice(content, VOCABULARY)]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(1, len(self._words) + 1)))

    def __call__(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))
