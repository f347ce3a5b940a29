"""The company brain: documents shared by every agent, one node per source (spec 02 section 4)."""

from collections.abc import Iterable, Sequence

from corebrain.contract import MemoryEngine
from corebrain.errors import InvalidRequest
from corebrain.jobs import BuildBeliefs
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Document
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Reach
from corebrain.model.requests import (
    MAX_STORE_MANY,
    ConsolidateRequest,
    Consolidation,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    Hit,
    StoreReceipt,
    WaitFor,
    WriteOptions,
)
from corebrain.model.value import Value


class Ingested(Value):
    """One document's receipt and the build it calls for."""

    receipt: StoreReceipt
    job: BuildBeliefs | None = None


class BrainBatch(Value):
    """Receipts in the order of the documents, and one build per source touched, in source order."""

    receipts: tuple[StoreReceipt, ...] = ()
    jobs: tuple[BuildBeliefs, ...] = ()


class Brain:
    """Stores, searches and forgets documents of one layout on one engine. Holds no state of its own."""

    def __init__(self, engine: MemoryEngine, layout: MemoryLayout | None = None) -> None:
        self.engine = engine
        self.layout = layout or MemoryLayout()

    def ingest(self, document: BrainDocument) -> Ingested:
        """Store one document, readable on return."""
        return self.ingest_with(document, WriteOptions.visible())

    def ingest_with(self, document: BrainDocument, options: WriteOptions) -> Ingested:
        """Store one document; see `MemoryEngine.store_with` for what *options* promise."""
        receipt = self.engine.store_with(document.into_item(self.layout), options)
        return Ingested(receipt=receipt, job=None if self._builds_itself else self.build(document.source))

    def ingest_many(self, documents: Iterable[BrainDocument]) -> BrainBatch:
        """Store documents in order, in batches of at most 100.

        All are converted first: one that is invalid refuses all, and nothing is stored; the error's `index` says
        which. When the engine fails
        midway, the earlier batches stay; storing them again is a replay.
        """
        return self.ingest_many_with(documents, WriteOptions.visible())

    def ingest_many_with(self, documents: Iterable[BrainDocument], options: WriteOptions) -> BrainBatch:
        """Store documents like `ingest_many`, with a choice of wait."""
        held = list(documents)
        items = self._filed(held)
        receipts: list[StoreReceipt] = []
        for start in range(0, len(items), MAX_STORE_MANY):
            batch = items[start : start + MAX_STORE_MANY]
            if options.wait is WaitFor.VISIBLE:
                receipts += self.engine.store_many(batch)
            else:
                receipts += self.engine.store_many_with(batch, options)
        sources = sorted({document.source for document in held})
        return BrainBatch(receipts=tuple(receipts), jobs=tuple(self.builds(sources)))

    def _filed(self, documents: Sequence[BrainDocument]) -> list[Document]:
        """Convert all, the text's encoding included: an engine looks only at its own batch of 100."""
        items = []
        for index, document in enumerate(documents):
            try:
                item = document.into_item(self.layout)
                item.fingerprint()
            except InvalidRequest as error:
                raise InvalidRequest(error.message, index=index) from error
            items.append(item)
        return items

    def search(self, query: str, source: BrainSource | None = None, limit: int = 10) -> list[Hit]:
        """Return the best hits in one source, or in the whole brain.

        Raises:
            Unsupported: the engine declares no fetch mode.
        """
        mode = self.engine.descriptor.best_mode
        request = FetchRequest(query=query, mode=mode, filter=self.layout.brain_filter(source), limit=limit)
        return list(self.engine.fetch(request).hits)

    def forget(self, source: BrainSource) -> ForgetReport:
        """Forget every document of a source, its collections included."""
        wanted = MetaFilter(reach=Reach.subtree(self.layout.brain(source)), kinds=(ItemKind.DOCUMENT,))
        return self.engine.forget(ForgetTarget.of_filter(wanted))

    def build(self, source: BrainSource) -> BuildBeliefs:
        """Return the belief build of a source, for any engine; running it is the host's choice."""
        reach = Reach.subtree(self.layout.brain(source))
        return BuildBeliefs(request=ConsolidateRequest(reach=reach, kinds=(ItemKind.DOCUMENT,)))

    def builds(self, touched: Sequence[BrainSource]) -> list[BuildBeliefs]:
        """Return the builds that *touched* sources call for: none on an engine that builds by itself."""
        return [] if self._builds_itself else [self.build(source) for source in touched]

    @property
    def _builds_itself(self) -> bool:
        return self.engine.descriptor.consolidation is Consolidation.AUTOMATIC
