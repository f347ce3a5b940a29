"""Which language a text is in, and the stems of its words.

A guess rests on function words, so it needs a sentence; a text without them has no language here, and its words are
taken as they are. English has none either: FTS5's own porter stems it. Stems are Snowball's (snowballstem.org).
"""

import re
from collections import Counter
from functools import lru_cache
from importlib import import_module
from typing import Protocol, cast

from corebrain.engines.local.function_words import FUNCTION_WORDS

ENGLISH = "en"
_SAMPLE = 300  # characters a guess looks at, from the beginning and again from the middle
_FEW = 12  # words of a text with letters beyond ASCII for which one function word tells
_LEAST = 2
_SHARE = 0.08  # of the words of a sample that must be function words of the language

_STEMMERS = {
    "en": "porter",
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "et": "estonian",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
STEMMED = frozenset(_STEMMERS) - {ENGLISH}
"""Languages whose words are stemmed here before they are indexed; FTS5 does it for English."""

_WORD = re.compile(r"[^\W\d_]+(?:[\u0900-\u0903\u093a-\u094f\u0bbe-\u0bcd][^\W\d_]*)*")
_PLAINLY_ENGLISH = (" the ", " and ", " of ", " to ")
_APART = 120  # characters of plain English, on average, between its commonest words at most
_SHORTEST = 2  # letters of a word that may tell: single letters stand in every language
_CONTRACTED = frozenset({"ll", "re", "ve"})
_NOT_ITS_OWN = {"nb": "no", "nn": "no"}


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802  # the library's name


def _voters() -> dict[str, tuple[str, ...]]:
    voters: dict[str, tuple[str, ...]] = {}
    for code, words in FUNCTION_WORDS.items():
        for word in words:
            if len(word) >= _SHORTEST and (code != ENGLISH or word not in _CONTRACTED):
                voters[word] = (*voters.get(word, ()), code)
    return voters


_VOTERS = _voters()


def language_of(text: str, declared: str | None = None) -> str:
    """Return the language of *text* as a code of ISO 639-1: as declared, else guessed; empty when nobody can tell.

    Only languages whose words are treated in their own way are told; a programming language is none.
    """
    code = (declared or "").lower().replace("_", "-").partition("-")[0]
    code = _NOT_ITS_OWN.get(code, code)
    return code if code in FUNCTION_WORDS else guessed(text)


def guessed(text: str) -> str:
    """Return the language whose function words *text* holds most of; empty without enough of them."""
    middle = len(text) // 2
    sample = text if len(text) <= 2 * _SAMPLE else f"{text[:_SAMPLE]} {text[middle : middle + _SAMPLE]}"
    if sample.isascii() and sum(map(sample.count, _PLAINLY_ENGLISH)) * _APART > len(sample):
        return ENGLISH
    words = _WORD.findall(sample.lower())
    votes = Counter(code for word in words for code in _VOTERS.get(word, ()))
    most = max(votes.values(), default=0)
    least = 1 if len(words) <= _FEW and not sample.isascii() else _LEAST
    if most < least or most < _SHARE * len(words):
        return ""
    best = [code for code, count in votes.items() if count == most]
    return ENGLISH if ENGLISH in best else best[0] if len(best) == 1 else ""


@lru_cache(maxsize=50_000)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case *word*; the word itself in a language without a stemmer."""
    return _stemmer(language).stemWord(word) if language in _STEMMERS else word


@lru_cache(maxsize=len(_STEMMERS))
def _stemmer(language: str) -> _Stemmer:
    name = _STEMMERS[language]
    module = import_module(f"snowballstemmer.{name}_stemmer")  # by name: the package's own lookup may take PyStemmer
    return cast("_Stemmer", getattr(module, f"{name.capitalize()}Stemmer")())
