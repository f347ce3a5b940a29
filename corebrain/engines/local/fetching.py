"""Ranked reads: hits with the best passage of a long document as their text."""

from collections.abc import Callable, Sequence

import apsw

from corebrain.engines.local import cursors, listing, rows
from corebrain.engines.local.ranking import Found, rank
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import FetchRequest, Hit

Ranker = Callable[[apsw.Connection, str, MetaFilter, int], list[Found]]
"""Ranks what a filter admits for a question, best first, at most so many."""


def fetch(connection: apsw.Connection, request: FetchRequest, rank: Ranker = rank) -> tuple[list[Hit], str | None]:
    """Return one page of hits, as *rank* has them, and the cursor of the next."""
    bound_to = (request.query, request.mode, request.filter)
    start = cursors.read(request.cursor, *bound_to) or 0
    ranked = rank(connection, request.query, request.filter, start + request.limit + 1)
    end = start + request.limit
    hits = hits_of(connection, ranked[start:end])
    return hits, cursors.write(end, *bound_to) if len(ranked) > end else None


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
