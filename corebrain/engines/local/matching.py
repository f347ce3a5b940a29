"""Which words of a text a question is answered by: for showing, not for ranking.

Words match here as they do in the index (`wording`, `query`): in the forms of English and of the text's language,
without diacritics, by the parts of identifiers, by pairs of characters of scripts without spaces.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from corebrain.engines.local import languages, wording
from corebrain.engines.local.function_words import FUNCTION_WORDS

_LONGEST = 4_000  # characters of a question that are looked at
_MOST = 20_000  # words of a text that are looked at
_SHORTEST_ROOT = 4
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0bbe-\u0bcd])*")
_BEGUN = re.compile(r"(?<![\w*])(\w{2,}+)\*(?!\S)")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text, and the word of the question that stands there, in lower case."""

    start: int
    end: int
    word: str


class Matcher:
    """Finds a question's words in texts.

    Attributes:
        words: The words looked for, in lower case and their order: without function words, unless there are no others.
    """

    def __init__(self, question: str) -> None:
        text = question[:_LONGEST]
        self._begun = tuple(match[1].lower() for match in _BEGUN.finditer(text))
        plain = wording.without_unspaced(_BEGUN.sub(" ", text))
        function = FUNCTION_WORDS[languages.ENGLISH] | FUNCTION_WORDS.get(languages.guessed(text), frozenset())
        asked = dict.fromkeys(word.lower() for word in _WORD.findall(plain))
        telling = [word for word in asked if word not in function]
        self._pairs = tuple(
            dict.fromkeys(one + other for run in wording.unspaced_runs(text) for one, other in pairwise([*run, ""]))
        )
        self.words = (*(telling if telling or self._pairs or self._begun else asked), *self._begun)

    def spans(self, text: str, language: str | None = None) -> list[Span]:
        """Return where the question's words stand in *text*, in order; their relatives when none of them does.

        Args:
            text: The text.
            language: Its language as declared; guessed when not.
        """
        told = languages.language_of(text, language)
        found = sorted((*self._worded(text, told), *self._paired(text)), key=lambda span: (span.start, -span.end))
        return _apart(found or list(self._related(text)))

    def _worded(self, text: str, language: str) -> Iterator[Span]:
        asked = {key: word for word in reversed(self.words) for key in _keys(word, language)}
        for match in islice(_WORD.finditer(text), _MOST):
            word = match[0].lower()
            keys = (*_keys(word, language), *wording.parts_of(match[0]))
            begun = (begun for begun in self._begun if word.startswith(begun))
            matched = next((asked[key] for key in keys if key in asked), None) or next(begun, None)
            if matched is not None:
                yield Span(*match.span(), matched)

    def _paired(self, text: str) -> Iterator[Span]:
        for pair in self._pairs:
            yield from (Span(*match.span(), pair) for match in islice(re.finditer(re.escape(pair), text), _MOST))

    def _related(self, text: str) -> Iterator[Span]:
        roots = {root[: max(_SHORTEST_ROOT, len(root) - 2)]: word for word in self.words if (root := _folded(word))}
        roots = {root: word for root, word in roots.items() if len(root) >= _SHORTEST_ROOT}
        for match in islice(_WORD.finditer(text), _MOST):
            word = _folded(match[0].lower())
            asked = next((roots[root] for root in roots if word.startswith(root)), None)
            if asked is not None:
                yield Span(*match.span(), asked)


def _apart(spans: list[Span]) -> list[Span]:
    """Join spans that overlap, as pairs of characters do."""
    joined: list[Span] = []
    for span in spans:
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Span(last.start, max(last.end, span.end), last.word)
        else:
            joined.append(span)
    return joined


@lru_cache(maxsize=50_000)
def _keys(word: str, language: str) -> tuple[str, ...]:
    """Return the forms by which a lower-case word is known."""
    plain = _folded(word)
    return (plain, languages.stem(plain, languages.ENGLISH), _folded(languages.stem(word, language)))


def _folded(word: str) -> str:
    """Return a word without the diacritics that the index leaves out."""
    spelled = wording.asked(word, "").strip()
    if spelled.isascii():
        return spelled
    bare = "".join(each for each in unicodedata.normalize("NFD", spelled) if not "\u0300" <= each <= "\u036f")
    return unicodedata.normalize("NFC", bare)
