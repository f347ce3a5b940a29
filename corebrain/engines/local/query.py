"""From a person's question to words the index can look up, with nothing of FTS5's syntax left in it.

What a question may hold beside words: `"an exact phrase"`, a `beginn*` of a word, identifiers
(`test_handle_limit`, `getUserName`, `ap-south-1`), which match whole and in parts, and a time (`times`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import cast

import apsw

from corebrain.engines.local import languages, wording
from corebrain.engines.local.function_words import FUNCTION_WORDS
from corebrain.engines.local.nodes import MARK
from corebrain.engines.local.schema import CUT, WORDS

MAX_WORDS = 96
"""Distinct words of a query that are looked at; a question has a dozen, a pasted page thousands."""

MAX_TERMS = 32
"""Words of a query that are ranked by: the rarest."""

_MOST = 2 * MAX_WORDS  # of all kinds together
_LONGEST = 20_000  # characters of a query that are looked at
_MAX_PHRASES = 8
_LONGEST_PHRASE = 16  # words
STOP_WORDS = FUNCTION_WORDS[languages.ENGLISH]
"""English function words. Leaving them out raises LoCoMo recall@10 by 4.5 points and halves the time (measured)."""

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,400})[\"”“»]")
_IDENTIFIER = re.compile(r"[A-Za-z0-9]{3,60}")
_JOINED = re.compile(r"(?<!\w)[^\W_]++(?:[-_./:\\@]{1,2}[^\W_]++)+")
_BEGUN = re.compile(r"(?<![\w*])(\w{2,}+)\*(?!\S)")
_NAME = re.compile(r"[^\W_]*\d|[_./:\\@]|[a-z][A-Z]")  # tells an identifier from hyphenated words
_QUOTED_WEIGHT = 1.0  # of a phrase, for each word of it
_JOINED_WEIGHT = 0.5
_ELSEWHERE = 0.6  # weight of a word's form in a language the question is not in
_SHORTEST_STEM = 4
_ENDINGS = (
    *("ational", "ization", "izations", "fulness", "ousness", "iveness", "ements"),
    *("ances", "ences", "ations", "isms", "ities", "ingly", "edly"),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word, phrase or beginning of a word as it is asked for, and how the index is asked for it.

    Attributes:
        asked: What the question says.
        match: The MATCH expression, one phrase; it can hold no operator.
        stem: The word as the index holds it; `None` when it is several, or the beginning of one.
        weight: What finding it counts for, beside how rare it is.
    """

    asked: str
    match: str
    stem: str | None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the index is asked.

    Attributes:
        telling: What it is ranked by: its words without function words, unless there is nothing else.
        function: Its function words, for when the others find too little; empty when it has no others.
    """

    telling: tuple[Word, ...]
    function: tuple[Word, ...] = ()


_MOST_KNOWN = 32
_known: dict[tuple[str, tuple[str, ...]], Question] = {}


def question(connection: apsw.Connection, query: str) -> Question:
    """Read *query*, in the languages that the store holds texts of. The last ones are known: a pack asks each often."""
    held = tuple(row[0] for row in connection.execute("SELECT DISTINCT language FROM languages ORDER BY language"))
    text = query[:_LONGEST].replace(MARK, " ").replace("\0", " ").encode("utf-8", "replace").decode()
    known = _known.get((text, held))
    if known is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        known = _known[text, held] = _read(connection, text, held)
    return known


def _read(connection: apsw.Connection, text: str, held: Sequence[str]) -> Question:
    reader = _Reader(connection, text, held)
    asked = reader.tokens()
    telling = [word for word in asked if not reader.is_function(word)]
    beside = [*reader.parts(), *reader.pairs(), *reader.phrases(), *reader.beginnings()]
    if not telling and not beside:
        return Question(_distinct(reader.words(asked)))
    function = [word for word in asked if reader.is_function(word)]
    return Question(_distinct([*reader.words(telling), *beside]), _distinct(reader.words(function)))


def words(connection: apsw.Connection, query: str) -> list[Word]:
    """Return what *query* is ranked by."""
    return list(question(connection, query).telling)


class _Reader:
    """Finds in a question's text what the index can be asked for."""

    def __init__(self, connection: apsw.Connection, text: str, held: Sequence[str]) -> None:
        self._connection = connection
        self._text = text
        self._plain = _BEGUN.sub(" ", wording.without_unspaced(text))
        language = languages.guessed(text)
        self._forms = [("", 1.0), *((code, 1.0 if language in {"", code} else _ELSEWHERE) for code in held)]
        self._function_words = STOP_WORDS | FUNCTION_WORDS.get(language, frozenset())

    def is_function(self, word: str) -> bool:
        """Tell whether *word* is a function word of English or of the question's language."""
        return word in self._function_words

    def tokens(self) -> list[str]:
        """Return the question's words in lower case, each once, scripts without spaces aside."""
        raw = self._plain.encode("utf-8", "replace")
        cut = self._connection.fts5_tokenizer(CUT[0], list(CUT[1:]))(
            raw, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=True, include_colocated=False
        )
        spans = cast("list[tuple[int, int, str]]", cut)
        return list(dict.fromkeys(raw[start:end].decode("utf-8", "replace").lower() for start, end, _ in spans))

    def words(self, tokens: Iterable[str]) -> Iterator[Word]:
        """Yield words in every form that the index may hold them in."""
        for token in islice(tokens, MAX_WORDS):
            for language, weight in self._forms:
                form = wording.asked(token, language)
                stems = _tokens(self._connection, WORDS, form)
                if len(stems) == 1:
                    yield Word(token, f'"{form}"', stems[0], weight)

    def parts(self) -> Iterator[Word]:
        """Yield the parts of identifiers, and names that consist of signs."""
        named = [part for word in _IDENTIFIER.findall(self._plain)[:MAX_WORDS] for part in wording.parts_of(word)]
        return self.words([*named, *wording.numbers_of(self._plain), *wording.signs_of(self._plain)])

    def pairs(self) -> Iterator[Word]:
        """Yield the pairs of characters of scripts without spaces; a lone character as the beginning of a pair."""
        for run in wording.unspaced_runs(self._text)[:MAX_WORDS]:
            if len(run) == 1:
                yield Word(run[0], f'"{run[0]}" *', None)
            for one, other in pairwise(run[:MAX_WORDS]):
                yield Word(one + other, f'"{one}{other}"', one + other)

    def phrases(self) -> Iterator[Word]:
        """Yield what is quoted, and identifiers of several words, as phrases."""
        quoted = ((match[1], _QUOTED_WEIGHT) for match in _QUOTED.finditer(self._text))
        joined = ((match[0], _JOINED_WEIGHT) for match in _JOINED.finditer(self._text) if _NAME.search(match[0]))
        for text, weight in islice(chain(quoted, joined), _MAX_PHRASES):
            for language, share in self._forms:
                cut = _tokens(self._connection, CUT, wording.asked(text, language))[:_LONGEST_PHRASE]
                if len(cut) > 1:
                    yield Word(text, f'"{" ".join(cut)}"', None, share * weight * len(cut))

    def beginnings(self) -> Iterator[Word]:
        """Yield words of which only the beginning is asked for, with the stems that a longer word would have."""
        for match in islice(_BEGUN.finditer(self._text), _MAX_PHRASES):
            cut = _tokens(self._connection, CUT, wording.asked(match[1], ""))
            if len(cut) == 1:
                yield Word(match[0], f'"{cut[0]}" *', None)
                yield from (Word(match[0], f'"{stem}"', stem) for stem in _stems_of(cut[0]))


def _stems_of(begun: str) -> Iterator[str]:
    """Yield what may be the stem of the word that *begun* begins: what stands before the beginning of an ending."""
    for cut in range(_SHORTEST_STEM, len(begun)):
        if any(ending.startswith(begun[cut:]) for ending in _ENDINGS):
            yield begun[:cut]


def _distinct(found: Iterable[Word]) -> tuple[Word, ...]:
    """Return the words, those that the index is asked for alike once, with the most they count for."""
    kept: dict[str, Word] = {}
    for word in found:
        key = word.match if word.stem is None else word.stem
        if key not in kept or kept[key].weight < word.weight:
            kept[key] = word
    return tuple(islice(kept.values(), _MOST))


def _tokens(connection: apsw.Connection, tokenizer: Sequence[str], text: str) -> list[str]:
    """Return the tokens that FTS5's *tokenizer* makes of *text*."""
    name, *arguments = tokenizer
    cut = connection.fts5_tokenizer(name, arguments)
    raw = text.encode("utf-8", "replace")
    made = cut(raw, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
    return cast("list[str]", made)
