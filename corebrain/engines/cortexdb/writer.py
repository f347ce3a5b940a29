"""The writing half of the CortexDB engines (spec 04)."""

from collections.abc import Sequence

from corebrain.contract import EngineDescriptor, Item, Receipts, validate_batch
from corebrain.engines.cortexdb import believing, removing
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.owning import RootOwner
from corebrain.engines.cortexdb.reach_scopes import EVERY_KIND
from corebrain.engines.cortexdb.reader import CortexReader
from corebrain.engines.cortexdb.scopes import ScopeLayout
from corebrain.engines.cortexdb.storing import Storing
from corebrain.engines.cortexdb.timing import Timing
from corebrain.errors import Unsupported
from corebrain.model.requests import (
    ConsolidateReceipt,
    ConsolidateRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    ForgetReport,
    ForgetTarget,
    StoreReceipt,
    WaitFor,
    WriteOptions,
)


class CortexWriter(CortexReader):
    """What a CortexDB server is told over either surface, and asked for.

    Args:
        descriptor: What the engine is.
        wire: How its surface is spoken to; closed with this.
        layout: Where nodes lie.
        timing: How long to wait for what.
        owner: Registers the layout's root before the first write.
    """

    def __init__(
        self,
        descriptor: EngineDescriptor,
        wire: DirectWire,
        layout: ScopeLayout,
        timing: Timing,
        owner: RootOwner | None = None,
    ) -> None:
        super().__init__(descriptor, wire, layout, timing)
        self._storing = Storing(wire, layout, timing)
        self._owner = owner

    def store(self, item: Item) -> StoreReceipt:
        return self.store_with(item, WriteOptions.visible())

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        item.validate()
        return self._stored([item], options)[0]

    def store_many(self, items: Sequence[Item]) -> Receipts:
        return self.store_many_with(items, WriteOptions.visible())

    def store_many_with(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        validate_batch(items)
        return self._stored(items, options)

    def _stored(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        if self._owner is not None:
            self._owner.ensure()
        visible = options.wait is WaitFor.VISIBLE
        receipts = self._storing.store(items, visible=visible)
        if visible:
            self._scopes.changed()
        for item, receipt in zip(items, receipts, strict=True):
            if not receipt.replayed:
                self._recency.written(self._layout.path(item.meta.namespace, item.kind))
        return receipts

    def forget(self, target: ForgetTarget) -> ForgetReport:
        target.validate()
        if target.filter is not None:
            scopes = self._scopes.of_filter(target.filter)
            return ForgetReport(forgotten=removing.forget_matching(self._wire, scopes, target.filter))
        ids = list(dict.fromkeys(target.ids or ()))
        return ForgetReport(forgotten=removing.forget_ids(self._wire, self._scopes.everywhere(), ids))

    def erase(self, request: EraseRequest) -> EraseReport:
        request.validate()
        reach = request.reach.model_copy(update={"inherit": False})
        scopes = self._scopes.held(reach, request.kinds or EVERY_KIND, complete=True)
        receipts = removing.erase(self._wire, scopes)
        return EraseReport(erased_scopes=len(scopes), receipts=tuple(receipts))

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        request.validate()
        declared = self._descriptor.consolidation
        if declared is Consolidation.NONE:
            raise Unsupported("belief builds are switched off for this engine")
        if declared is Consolidation.SCHEDULED:
            return ConsolidateReceipt.scheduled()
        return believing.build(self._wire, self._scopes.held(request.reach, request.kinds or EVERY_KIND))
