"""Faults of reading."""

from corebrain.conformance.faults.fault import Fault
from corebrain.conformance.wrappers import BareEngine, WholeEngine
from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach, SegmentKind
from corebrain.model.requests import (
    ExplorePage,
    ExploreRequest,
    Exported,
    ExportPage,
    FetchMode,
    FetchPage,
    FetchRequest,
    GetRequest,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
)


class Down(BareEngine):
    """Serves and says that it does not."""

    def health(self) -> EngineHealth:
        return EngineHealth.down("out of order")


class DropsMetadata(BareEngine):
    """Lists items without their source and tags."""

    def list(self, request: ListRequest) -> ListPage:
        page = self.inner.list(request)
        bare = [
            hit.model_copy(update={"meta": hit.meta.model_copy(update={"source": MemoryMeta().source, "tags": ()})})
            for hit in page.items
        ]
        return page.model_copy(update={"items": tuple(bare)})


class DropsConfidence(BareEngine):
    """Lists learnings without their confidence."""

    def list(self, request: ListRequest) -> ListPage:
        page = self.inner.list(request)
        return page.model_copy(
            update={"items": tuple(hit.model_copy(update={"confidence": None}) for hit in page.items)}
        )


class RepeatsCursor(WholeEngine):
    """Starts again under one cursor for ever."""

    def list(self, request: ListRequest) -> ListPage:
        page = self.inner.list(request.model_copy(update={"cursor": None}))
        return page.model_copy(update={"next_cursor": "again"})


class ScoresListing(BareEngine):
    """Gives listed items a score."""

    def list(self, request: ListRequest) -> ListPage:
        page = self.inner.list(request)
        return page.model_copy(update={"items": tuple(hit.model_copy(update={"score": 0.5}) for hit in page.items)})


class ListsTwice(BareEngine):
    """Lists the last item of a page again on the next."""

    def list(self, request: ListRequest) -> ListPage:
        page = self.inner.list(request)
        if page.next_cursor is None and request.cursor is not None:
            first = self.inner.list(request.model_copy(update={"cursor": None})).items[:1]
            return page.model_copy(update={"items": (*first, *page.items)[: request.limit]})
        return page


class AltersExport(WholeEngine):
    """Exports items without their tags."""

    def export(self, request: ListRequest) -> ExportPage:
        page = self.inner.export(request)
        altered = [
            Exported(id=each.id, item=each.item.with_meta(each.item.meta.model_copy(update={"tags": ()})))
            for each in page.items
        ]
        return page.model_copy(update={"items": tuple(altered)})


class ExportsInPart(WholeEngine):
    """Exports documents by name only."""

    def export(self, request: ListRequest) -> ExportPage:
        page = self.inner.export(request)
        whole = tuple(each for each in page.items if each.item.kind is not ItemKind.DOCUMENT)
        named = tuple(each.id for each in page.items if each.item.kind is ItemKind.DOCUMENT)
        return page.model_copy(update={"items": whole, "incomplete": named})


class CountsShort(BareEngine):
    """Counts every bucket one short."""

    def explore(self, request: ExploreRequest) -> ExplorePage:
        page = super().explore(request)
        short = tuple(bucket.model_copy(update={"count": bucket.count - 1}) for bucket in page.buckets)
        return page.model_copy(update={"buckets": short})


class SmallestFirst(BareEngine):
    """Orders buckets the wrong way round."""

    def explore(self, request: ExploreRequest) -> ExplorePage:
        page = super().explore(request)
        return page.model_copy(update={"buckets": page.buckets[::-1]})


class OwnOrder(BareEngine):
    """Gets items in the order of its listing."""

    def get(self, request: GetRequest) -> Hits:
        return [hit for hit in self._walk(MetaFilter(reach=request.reach)) if hit.id in request.ids]


class ReachlessGet(BareEngine):
    """Gets items wherever they lie, sandboxes left out."""

    def get(self, request: GetRequest) -> Hits:
        return super().get(request.model_copy(update={"reach": None}))


class UnfilteredFetch(BareEngine):
    """Fetches from the whole memory, whatever the filter."""

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self.inner.fetch(request.model_copy(update={"filter": MetaFilter()}))


class UndeclaredModes(BareEngine):
    """Declares hybrid fetch alone and serves every mode."""

    @property
    def descriptor(self) -> EngineDescriptor:
        return super().descriptor.model_copy(update={"fetch_modes": (FetchMode.HYBRID,)})

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self.inner.fetch(request.model_copy(update={"mode": self.inner.descriptor.best_mode}))


class ReachlessList(BareEngine):
    """Lists items wherever they lie, sandboxes left out."""

    def list(self, request: ListRequest) -> ListPage:
        return self.inner.list(request.model_copy(update={"filter": _unreached(request.filter)}))


class ReachlessFetch(BareEngine):
    """Fetches items wherever they lie, sandboxes left out."""

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self.inner.fetch(request.model_copy(update={"filter": _unreached(request.filter)}))


def _unreached(wanted: MetaFilter) -> MetaFilter:
    return wanted.model_copy(update={"reach": None})


class EntersSandboxes(BareEngine):
    """Lists what lies in sandboxes under no reach."""

    def __init__(self, inner: MemoryEngine) -> None:
        super().__init__(inner)
        self._sandboxes: dict[Namespace, None] = {}

    def store(self, item: Item) -> StoreReceipt:
        node = item.meta.namespace
        if any(segment.kind is SegmentKind.SERVICE for segment in node.segments):
            self._sandboxes[node] = None
        return self.inner.store(item)

    def list(self, request: ListRequest) -> ListPage:
        page = self.inner.list(request)
        if request.filter.reach is not None or page.next_cursor is not None:
            return page
        found = list(page.items)
        for node in self._sandboxes:
            inside = request.filter.model_copy(update={"reach": Reach.exact(node)})
            found += self.inner.list(ListRequest(filter=inside)).items
        return page.model_copy(update={"items": tuple(found)})


class CitesUnknown(BareEngine):
    """Cites ids nobody holds."""

    def recall(self, request: RecallRequest) -> RecallAnswer:
        answer = self.inner.recall(request)
        made_up = tuple(each.model_copy(update={"id": f"unknown-{each.id}"}) for each in answer.citations)
        return answer.model_copy(update={"citations": made_up})


class CitesNothing(BareEngine):
    """Answers without a citation."""

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self.inner.recall(request).model_copy(update={"citations": ()})


class SaysNothing(BareEngine):
    """Answers with a blank."""

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self.inner.recall(request).model_copy(update={"answer": " "})


_LISTED = (
    *("erase", "replay", "explore", "get", "store_many", "store_with", "fetch_filters", "namespaces"),
    *("empty_forget", "forget_by_id", "forget_by_filter", "recall"),
)
"""The checks that list."""

_LISTED_ON_PAGES = tuple(
    name for name in _LISTED if name not in {"replay", "store_with", "empty_forget", "forget_by_id"}
)
"""Those of them that list more than one page."""

READING: tuple[Fault, ...] = (
    Fault("reports itself down", "health", Down),
    Fault("lists items without their metadata", "round_trip", DropsMetadata),
    Fault("lists learnings without their confidence", "round_trip", DropsConfidence),
    Fault("repeats a cursor", "round_trip", RepeatsCursor, also=(*_LISTED, "cleanup")),
    Fault("gives listed items a score", "round_trip", ScoresListing, also=_LISTED),
    Fault("lists an item twice", "round_trip", ListsTwice, also=_LISTED_ON_PAGES),
    Fault("exports altered items", "export", AltersExport),
    Fault("exports items in part", "export", ExportsInPart),
    Fault("counts every bucket one short", "explore", CountsShort, also=("namespaces",)),
    Fault("orders buckets smallest first", "explore", SmallestFirst),
    Fault("gets items in its own order", "get", OwnOrder, also=("namespaces",)),
    Fault("fetches whatever the filter", "fetch_filters", UnfilteredFetch, also=("namespaces",)),
    Fault("serves modes it does not declare", "unsupported_modes", UndeclaredModes),
    Fault("lists whatever the reach", "namespaces", ReachlessList),
    Fault("gets whatever the reach", "namespaces", ReachlessGet),
    Fault("fetches whatever the reach", "namespaces", ReachlessFetch),
    Fault("enters sandboxes under no reach", "namespaces", EntersSandboxes),
    Fault("cites unknown ids", "recall", CitesUnknown),
    Fault("cites nothing", "recall", CitesNothing),
    Fault("answers with a blank", "recall", SaysNothing),
)
