"""Ranked reads: hits with the best passage of a long document as their text."""

from collections.abc import Callable, Sequence

import apsw

from corebrain.engines.local import cursors, listing, ordering, rows, times
from corebrain.engines.local.ordering import Asked
from corebrain.engines.local.ranking import Found, rank
from corebrain.engines.local.times import Period
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.requests import FetchMode, FetchRequest, Hit

_LONGEST = 2_000  # characters of a question in which a time is looked for
_UNWORDED = 1e-6  # score of what is found by its time alone

Ranker = Callable[[apsw.Connection, str, MetaFilter, int], list[Found]]
"""Ranks what a filter admits for a question, best first, at most so many."""


def fetch(
    connection: apsw.Connection, request: FetchRequest, now: Instant, rank: Ranker = rank
) -> tuple[list[Hit], str | None]:
    """Return one page of hits, as *rank* and the time that the question names have them, and the cursor of the next.

    *now* is the moment from which `yesterday` is counted.
    """
    bound_to = (request.query, request.mode, request.filter)
    start = cursors.read(request.cursor, *bound_to) or 0
    end = start + request.limit
    ranked = _ranked(connection, request, now, rank, end + 1)
    hits = hits_of(connection, ranked[start:end])
    return hits, cursors.write(end, *bound_to) if len(ranked) > end else None


def _ranked(connection: apsw.Connection, request: FetchRequest, now: Instant, rank: Ranker, most: int) -> list[Found]:
    if request.mode is FetchMode.VECTOR:  # likeness alone decides
        return rank(connection, request.query, request.filter, most)
    by_words = request.mode is FetchMode.KEYWORD
    period = times.period(request.query[:_LONGEST], now)
    asked = Asked(request.query if period is None else period.without(request.query), period, by_words=by_words)
    found = rank(connection, asked.text, request.filter, max(most, ordering.WINDOW))
    within = [] if period is None else _within(connection, request.filter, asked.text, period, rank)
    return ordering.ordered(connection, asked, found, within)


def _within(connection: apsw.Connection, wanted: MetaFilter, query: str, period: Period, rank: Ranker) -> list[Found]:
    """Return the best of what was observed in the time named; the newest of it when no word of the query is found."""
    narrowed = ordering.inside(wanted, period)
    found = rank(connection, query, narrowed, ordering.WINDOW)
    if found or not period.is_asked:
        return found
    numbers, _ = listing.numbers(connection, narrowed, ordering.WINDOW, None)
    held = listing.read(connection, numbers, "i.passage")
    return [Found(number, row[0], _UNWORDED) for number, row in zip(numbers, held, strict=True)]


def hits_of(connection: apsw.Connection, found: Sequence[Found]) -> list[Hit]:
    """Return the hits of ranked items, in their order."""
    columns = f"i.passages, {rows.READ_WITHOUT_LONG_TEXT}"
    held = listing.read(connection, [each.item for each in found], columns)
    return [
        rows.hit(row, each.score) if passages == 1 else _long_hit(connection, row, each)
        for each, (passages, *row) in zip(found, held, strict=True)
    ]


def _long_hit(connection: apsw.Connection, row: rows.Row, found: Found) -> Hit:
    """Return a document of several passages as its best one, with its page and section as read-side tags."""
    first, last, section, raw = connection.execute(
        "SELECT p.first_page, p.last_page, p.section, substr(CAST(i.text AS BLOB), p.start + 1, p.size) "
        "FROM passages p JOIN items i USING (item) WHERE p.passage = ?",
        (found.passage,),
    ).get
    hit = rows.hit(row, found.score)
    text = raw.decode()
    tags = []
    if first is not None:
        tags.append(f"page:{first}" if first == last else f"page:{first}-{last}")
    if section is not None:
        tags.append(f"section:{section}")
    return hit.model_copy(
        update={
            "text": rows.titled(row[rows.TITLE], text),
            "meta": hit.meta.model_copy(update={"tags": (*hit.meta.tags, *tags)}),
        }
    )
