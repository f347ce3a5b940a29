"""Ranked reads: a pack a scope, put together rank by rank (spec 04 section 7)."""

from collections.abc import Sequence

from corebrain.engines.cortexdb import believing
from corebrain.engines.cortexdb.concurrent_reads import each, each_early
from corebrain.engines.cortexdb.cursors import FetchCursor
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.labels import narrowing_labels
from corebrain.engines.cortexdb.looking_up import Parts, look_up
from corebrain.engines.cortexdb.ranking import interleaved, recall_body
from corebrain.engines.cortexdb.reach_scopes import ReachScopes
from corebrain.engines.cortexdb.recency import Recency
from corebrain.engines.cortexdb.replies import Held, Json, admitted, hit_of, objects, rebuilt
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.model.item import Document
from corebrain.model.meta import MemoryMeta
from corebrain.model.requests import FetchPage, FetchRequest, Hit

_MAX_EVENTS = 1000


def fetch(
    wire: DirectWire, layout: ScopeLayout, recency: Recency, reach: ReachScopes, request: FetchRequest
) -> FetchPage:
    """Return the page of a fetch over the scopes of its filter."""
    cursor = FetchCursor.read(request.cursor) if request.cursor is not None else FetchCursor(offset=0)

    def chosen_of(scopes: list[KindScope]) -> list[KindScope]:
        if cursor.scopes is not None:
            return [scope for scope in scopes if scope.path in cursor.scopes]
        return scopes if request.max_scopes is None else recency.chosen(scopes, request.query, request.max_scopes)

    first = request.cursor is None
    end = cursor.offset + request.limit
    limits = {"events": min((end + 1) * 3, _MAX_EVENTS)}
    if first and request.beliefs:
        limits["beliefs"] = request.beliefs
    labels = narrowing_labels(request.filter)

    def read(scope: KindScope) -> Json:
        return wire.recall(recall_body(scope.path, request.query, limits, labels))

    expected = chosen_of(reach.expected(request.filter))
    chosen, packs = each_early(read, expected, lambda: chosen_of(reach.of_filter(request.filter)))
    lists = [
        admitted(objects(pack["layers"], "events"), scope.path, scope.kind, request.filter)
        for scope, pack in zip(chosen, packs, strict=True)
    ]
    merged = interleaved(lists, key=lambda held: held.envelope.id)
    following = None
    if len(merged) > end:
        paths = tuple(scope.path for scope in chosen) if request.max_scopes is not None else None
        following = FetchCursor(offset=end, scopes=paths).write()
    hits = _hits(wire, {scope.path: scope for scope in chosen}, merged[cursor.offset : end], cursor.offset)
    beliefs = believing.merged(layout, [believing.layer(pack) for pack in packs], request.beliefs) if first else []
    return FetchPage(hits=tuple(hits), next_cursor=following, beliefs=tuple(beliefs))


def _hits(wire: DirectWire, scopes: dict[str, KindScope], page: Sequence[Held], offset: int) -> list[Hit]:
    """Long conversations and excerpts are put together, one lookup a scope; a long document is its best piece."""
    partial: dict[str, list[str]] = {}
    for held in page:
        if not held.whole and held.envelope.chunk is None:
            partial.setdefault(held.scope, []).append(held.envelope.id)

    def read(scope: str) -> Parts:
        return look_up(wire, scopes[scope], partial[scope])

    parts: Parts = {}
    for found in each(read, partial):
        parts |= found
    hits = []
    for rank, held in enumerate(page, offset):
        item_id = held.envelope.id
        score = 1 / (1 + rank)
        if held.envelope.chunk is not None:
            hits.append(piece_hit(held, score))
        elif (item := rebuilt(parts.get(item_id, [held]))) is not None:
            hits.append(hit_of(item_id, item, score))
    return hits


def piece_hit(held: Held, score: float) -> Hit:
    """Return the piece of a long document as a hit of the document, tagged with its pages and its section."""
    envelope = held.envelope
    piece = Document.model_validate(
        {"title": envelope.title, "body": {"text": envelope.text}, "mime": envelope.mime, "meta": piece_meta(held)}
    )
    return hit_of(envelope.id, piece, score)


def piece_meta(held: Held) -> MemoryMeta:
    """Return an event's metadata with the read-side tags of its piece."""
    chunk, meta = held.envelope.chunk, held.envelope.meta
    if chunk is None:
        return meta
    tags = [tag for tag in (chunk.page_tag, chunk.section_tag) if tag is not None]
    return meta.model_copy(update={"tags": (*meta.tags, *tags)})
