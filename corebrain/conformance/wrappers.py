"""Engines around an engine: one that offers only what the law requires, and one that passes everything on.

Override one method of either to change what an engine does, and leave the rest as it is.
"""

from collections.abc import Sequence

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine, Receipts
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateReceipt,
    ConsolidateRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    ExplorePage,
    ExploreRequest,
    ExportPage,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)


class BareEngine(MemoryEngine):
    """The inner engine with every optional method at its default: no export, no erase, no belief builds."""

    def __init__(self, inner: MemoryEngine) -> None:
        self.inner = inner

    @property
    def descriptor(self) -> EngineDescriptor:
        return self.inner.descriptor.model_copy(update={"consolidation": Consolidation.NONE})

    def health(self) -> EngineHealth:
        return self.inner.health()

    def store(self, item: Item) -> StoreReceipt:
        return self.inner.store(item)

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self.inner.fetch(request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self.inner.recall(request)

    def list(self, request: ListRequest) -> ListPage:
        return self.inner.list(request)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        return self.inner.forget(target)

    def close(self) -> None:
        self.inner.close()


class WholeEngine(BareEngine):
    """The inner engine, every method passed on."""

    @property
    def descriptor(self) -> EngineDescriptor:
        return self.inner.descriptor

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        return self.inner.store_with(item, options)

    def store_many(self, items: Sequence[Item]) -> Receipts:
        return self.inner.store_many(items)

    def store_many_with(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        return self.inner.store_many_with(items, options)

    def get(self, request: GetRequest) -> Hits:
        return self.inner.get(request)

    def explore(self, request: ExploreRequest) -> ExplorePage:
        return self.inner.explore(request)

    def erase(self, request: EraseRequest) -> EraseReport:
        return self.inner.erase(request)

    def export(self, request: ListRequest) -> ExportPage:
        return self.inner.export(request)

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        return self.inner.consolidate(request)

    def beliefs(self, request: BeliefsRequest) -> Hits:
        return self.inner.beliefs(request)
