"""The reading half of the CortexDB engine, and what both halves are made of (spec 04)."""

from collections.abc import Sequence
from copy import copy
from typing import Self

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine
from corebrain.engines.cortexdb import answering, believing, deadline, fetching
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.failures import message_head
from corebrain.engines.cortexdb.looking_up import Parts, look_up
from corebrain.engines.cortexdb.reach_scopes import EVERY_KIND, ReachScopes
from corebrain.engines.cortexdb.recency import Recency
from corebrain.engines.cortexdb.replies import hit_of, is_complete, rebuilt
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.walking import Walk, Walked, resume
from corebrain.errors import CorebrainError, Unavailable
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import (
    BeliefsRequest,
    Exported,
    ExportPage,
    FetchPage,
    FetchRequest,
    GetRequest,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
)


class CortexReader(MemoryEngine):
    """What a CortexDB server is asked for over either surface.

    Args:
        descriptor: What the engine is.
        wire: How its surface is spoken to; closed with this.
        layout: Where nodes lie.
        timing: How long to wait for what.
    """

    def __init__(self, descriptor: EngineDescriptor, wire: DirectWire, layout: ScopeLayout, timing: Timing) -> None:
        self._descriptor = descriptor
        self._wire = wire
        self._layout = layout
        self._scopes = ReachScopes(wire, layout)
        self._recency = Recency(wire, timing.now)
        self._now = timing.now
        self._end: float | None = None

    def within(self, seconds: float) -> Self:
        """Return a view of this engine whose reads all end within *seconds* from now, or raise `Unavailable`.

        Requests are cut off then, so nothing of a read is left running. Writes are not bounded. Closing the view closes
        this engine.
        """
        view = copy(self)
        view._end = deadline.end_in(seconds, self._now(), self._end)  # noqa: SLF001  # a copy of our own
        return view

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._descriptor

    def close(self) -> None:
        self._wire.close()

    def health(self) -> EngineHealth:
        try:
            self._wire.health()
        except Unavailable as error:
            return EngineHealth.degraded(message_head(error))
        except CorebrainError as error:
            return EngineHealth.down(message_head(error))
        return EngineHealth.ok()

    def fetch(self, request: FetchRequest) -> FetchPage:
        self._descriptor.ensure_mode(request.mode)
        request.validate()
        with deadline.until(self._end):
            return fetching.fetch(self._wire, self._layout, self._recency, self._scopes, request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        request.validate()
        with deadline.until(self._end):
            return answering.recall(self._wire, self._answering(request.filter), request)

    def _answering(self, wanted: MetaFilter) -> list[KindScope]:
        if wanted.reach is not None:
            return self._scopes.of_filter(wanted)
        kinds = tuple(kind for kind in EVERY_KIND if wanted.admits_kind(kind))
        return self._scopes.held(WHOLE_TREE, kinds)

    def list(self, request: ListRequest) -> ListPage:
        walked = self._walked(request)
        found = [(item_id, rebuilt(parts)) for item_id, parts in walked.items]
        hits = tuple(hit_of(item_id, item) for item_id, item in found if item is not None)
        return ListPage(items=hits, next_cursor=walked.next_cursor)

    def export(self, request: ListRequest) -> ExportPage:
        walked = self._walked(request, complete=True)
        found = [(item_id, rebuilt(parts) if is_complete(parts) else None) for item_id, parts in walked.items]
        return ExportPage(
            items=tuple(Exported(id=item_id, item=item) for item_id, item in found if item is not None),
            incomplete=(*(item_id for item_id, item in found if item is None), *walked.headless),
            next_cursor=walked.next_cursor,
        )

    def _walked(self, request: ListRequest, *, complete: bool = False) -> Walked:
        request.validate()
        resume(self._layout, [], request.cursor)  # a foreign cursor is refused before anything is asked
        with deadline.until(self._end):
            scopes = self._scopes.of_filter(request.filter, complete=complete)
            left, start = resume(self._layout, scopes, request.cursor)
            return Walk(self._wire, self._layout, left, request.filter, headless=complete).page(start, request.limit)

    def get(self, request: GetRequest) -> Hits:
        request.validate()
        wanted = list(dict.fromkeys(request.ids))
        with deadline.until(self._end):
            found = self._looked_up(request, wanted)
        return [hit_of(item_id, found[item_id]) for item_id in wanted if item_id in found]

    def _looked_up(self, request: GetRequest, wanted: Sequence[str]) -> dict[str, Item]:
        found: dict[str, Item] = {}
        for scope in self._scopes.of_reach(request.reach):
            missing = [item_id for item_id in wanted if item_id not in found]
            if not missing:
                break
            parts: Parts = look_up(self._wire, scope, missing)
            found |= {item_id: item for item_id, held in parts.items() if (item := rebuilt(held)) is not None}
        return found

    def beliefs(self, request: BeliefsRequest) -> Hits:
        request.validate()
        with deadline.until(self._end):
            scopes = self._scopes.held(request.reach)
            if request.query is not None:
                return believing.ranked(self._wire, self._layout, scopes, request.query, request.limit)
            return believing.newest(self._wire, self._layout, scopes, request.limit)
