"""Ranking by words that goes further when the telling words find next to nothing.

A question may share no word with its answer, only a relative of one (`per month`, `monthly`), or nothing but function
words. An agent's small memory is better read by those than not at all; in a large one they would find everything.
"""

from collections.abc import Iterator, Sequence

import apsw

from corebrain.engines.local import ranking
from corebrain.engines.local.query import Word, question
from corebrain.engines.local.ranking import Found
from corebrain.model.filter import MetaFilter

ENOUGH = 3
"""Items found from which on nothing further is looked for."""

_SMALL = 5_000  # passages reached, up to which function words are looked for
_BELOW = 0.5  # the best of what is found further scores this part of the worst found before
_SHORTEST = 4  # letters of a root
_DERIVED = ("ment", "ness", "abl", "ful", "ist", "ion", "er", "or", "al", "li", "i")
"""Endings of derived words that porter leaves, longest first."""


def rank(connection: apsw.Connection, query: str, wanted: MetaFilter, most: int) -> list[Found]:
    """Return the best items as `ranking.rank` does; when they are few, those found by relatives of the words follow."""
    asked = question(connection, query)
    tables = ranking.reached(connection, wanted)
    found = ranking.rank_by(connection, asked.telling, tables, wanted, most)
    further: list[Sequence[Word]] = [list(_relatives(asked.telling))]
    if sum(table.passages for table in tables) <= _SMALL:
        further.append(asked.function)
    for words in further:
        if len(found) >= min(most, ENOUGH):
            break
        found += _behind(found, ranking.rank_by(connection, words, tables, wanted, most))
    return found[:most]


def _relatives(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the beginnings that words derived from the same root share."""
    for word in words:
        if word.stem is not None and word.stem.isalpha() and word.stem.isascii():
            ending = next((end for end in _DERIVED if word.stem.endswith(end)), "")
            root = word.stem.removesuffix(ending)
            root = root if len(root) >= _SHORTEST else word.stem
            if len(root) >= _SHORTEST:
                yield Word(word.asked, f'"{root}" *', None, word.weight)


def _behind(before: Sequence[Found], further: Sequence[Found]) -> list[Found]:
    """Return what is new of *further*, scored below everything found before."""
    known = {each.item for each in before}
    fresh = [each for each in further if each.item not in known]
    if not before or not fresh:
        return fresh
    scale = _BELOW * before[-1].score / fresh[0].score
    return [Found(each.item, each.passage, each.score * scale) for each in fresh]
