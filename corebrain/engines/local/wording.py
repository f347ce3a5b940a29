"""A text as the word index takes it, and the words of a question in the same form.

FTS5 cuts a text at what is neither letter, mark nor digit, folds case and diacritics, and stems English. Before that:

- compatibility forms become plain ones (ligatures, full-width digits); what is written but not read goes (soft
  hyphens, zero-width joiners, vowel points of Arabic and Hebrew);
- words of a language with a stemmer of its own become stems (`languages`);
- scripts without spaces between words become overlapping pairs of characters, so that any part of two characters is
  found, and a longer one as a phrase;
- identifiers are written out beside the text: `getUserName` is found by `user`, `E5150` by `5150`, `64GB` by `64`, and
  `18,000` by `18000`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import pairwise

from corebrain.engines.local.languages import STEMMED, stem

_UNSPACED_BLOCKS = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF)),  # Thai, Lao, Burmese …
    *((0x3005, 0x3007), (0x3031, 0x3035), (0x3040, 0x318F), (0x31A0, 0x31BF), (0x31F0, 0x31FF)),  # kana, bopomofo
    *((0x1100, 0x11FF), (0xA960, 0xA97F), (0xAC00, 0xD7FF)),  # hangul
    *((0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)),
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def _of_blocks(categories: str) -> str:
    """Return the characters of the unspaced blocks in the given general categories, for a character class."""
    codes = (code for first, last in _UNSPACED_BLOCKS for code in range(first, last + 1))
    return "".join(chr(code) for code in codes if unicodedata.category(chr(code))[0] in categories)


_MARKS = _of_blocks("M")
_UNSPACED = re.compile(f"[{_HAN}{_of_blocks('LM')}]+")
_CLUSTER = re.compile(f".[{_MARKS}]*", re.DOTALL)
_UNREAD = re.compile(
    "[\u00ad\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670\u200b-\u200f\u2060\ufeff]"
)
_LETTERS = {"ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "đ": "d", "Đ": "d"}
_FOLDED = str.maketrans(_LETTERS | {"ł": "l", "Ł": "l", "ı": "i", "þ": "th", "Þ": "th", "ð": "d", "Ð": "d"})  # noqa: RUF001  # letters of languages
_STEMMABLE = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0bbe-\u0bcd])+")
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z]\d\d|\d\d[A-Za-z]{2}")
_GROUPED = re.compile(r"(?<![\w.,'])\d{1,3}(?:[,.'\u00a0\u2009\u202f]\d{3})+(?![\w.,'])")
_LOWER, _UPPER, _DIGIT = b"a", b"A", b"0"
_CLASSES = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", _LOWER * 26 + _UPPER * 26 + _DIGIT * 10
)
_MIXTURES = (
    *(_LOWER + _UPPER, 2 * _UPPER + 2 * _LOWER, _LOWER + 2 * _DIGIT, _UPPER + 2 * _DIGIT),
    *(2 * _DIGIT + 2 * _LOWER, 2 * _DIGIT + 2 * _UPPER),
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9]{3,60}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIGNS = re.compile(r"(?<!\w)(?:(c|f|j)#|(c|g)\+\+|\.net\b)", re.IGNORECASE)
_SPELLED = {"c#": "csharp", "f#": "fsharp", "j#": "jsharp", "c++": "cplusplus", "g++": "gplusplus", ".net": "dotnet"}
_SIGN_MARKS = ("#", "++", ".net", ".NET", ".Net")
_MOST_PARTS = 400  # of one text: what holds more is data, not names


def indexed(text: str, language: str | None) -> str:
    """Return *text* as the word index takes it, in *language* (`None` or empty: English or unknown)."""
    return f"{_spelled(text, language, _paired)}{_beside(text)}"


def asked(text: str, language: str) -> str:
    """Return words of a question as `indexed` writes them within a text of *language*."""
    return _spelled(text, language, _paired_within)


def _spelled(text: str, language: str | None, paired: Callable[[re.Match[str]], str]) -> str:
    if text.isascii():
        return _stemmed(text, language) if language and language in STEMMED else text
    plain = _readable(text)
    if language and language in STEMMED:
        plain = _stemmed(plain, language)
    return _UNSPACED.sub(paired, plain.translate(_FOLDED))


def _readable(text: str) -> str:
    return _UNREAD.sub("", unicodedata.normalize("NFKC", text))


def _stemmed(text: str, language: str) -> str:
    return _STEMMABLE.sub(lambda word: stem(word[0].lower(), language), text)


def _paired(run: re.Match[str]) -> str:
    """Write a run of an unspaced script as its overlapping pairs and its last character."""
    clusters = _CLUSTER.findall(run[0])
    return f" {' '.join([*(one + other for one, other in pairwise(clusters)), clusters[-1]])} "


def _paired_within(run: re.Match[str]) -> str:
    """Write a run as it stands within a longer one: its pairs alone."""
    clusters = _CLUSTER.findall(run[0])
    return f" {' '.join(one + other for one, other in pairwise(clusters)) or run[0]} "


def unspaced_runs(text: str) -> list[list[str]]:
    """Return the runs of unspaced script in *text*, each as its characters with their marks."""
    return [] if text.isascii() else [_CLUSTER.findall(run) for run in _UNSPACED.findall(_readable(text))]


def without_unspaced(text: str) -> str:
    """Return *text*, made readable, with a space in place of every run of unspaced script."""
    return text if text.isascii() else _UNSPACED.sub(" ", _readable(text))


def _beside(text: str) -> str:
    """Return what is written beside a text: parts of identifiers, numbers in one, names that consist of signs."""
    classes = text.encode("utf-8", "replace").translate(_CLASSES)
    parts: Iterable[str] = ()
    if any(mixture in classes for mixture in _MIXTURES):  # six times as fast as `_MIXED`, and most texts hold none
        parts = dict.fromkeys(part for word in dict.fromkeys(_IDENTIFIER.findall(text)) for part in parts_of(word))
    numbers = numbers_of(text) if 3 * _DIGIT in classes else ()
    beside = [*parts, *numbers, *signs_of(text)][:_MOST_PARTS]
    return f"\n{' '.join(beside)}" if beside else ""


def numbers_of(text: str) -> list[str]:
    """Return the numbers in *text* that are written in groups, in one: `18,000` as `18000`."""
    return list(dict.fromkeys(re.sub(r"\D", "", number) for number in _GROUPED.findall(text)))


def parts_of(word: str) -> list[str]:
    """Return the parts of an identifier written in one: by its capitals and digits; none of a plain word."""
    if not _MIXED.search(word):
        return []
    return [part.lower() for part in _PARTS.findall(word) if 1 < len(part) < len(word)]


def signs_of(text: str) -> list[str]:
    """Return the names in *text* that consist of signs, spelled out and each once: `c++` as `cplusplus`."""
    if not any(sign in text for sign in _SIGN_MARKS):
        return []
    return list(dict.fromkeys(_SPELLED[sign[0].lower()] for sign in _SIGNS.finditer(text)))
