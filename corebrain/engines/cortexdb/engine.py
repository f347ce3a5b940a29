"""CortexDB as a memory engine, over its own surface (spec 04)."""

from collections.abc import Sequence

from corebrain.contract import Item, Receipts, validate_batch
from corebrain.engines.cortexdb import believing, removing
from corebrain.engines.cortexdb.reach_scopes import EVERY_KIND
from corebrain.engines.cortexdb.reader import CortexReader
from corebrain.model.requests import (
    ConsolidateReceipt,
    ConsolidateRequest,
    EraseReport,
    EraseRequest,
    ForgetReport,
    ForgetTarget,
    StoreReceipt,
    WaitFor,
    WriteOptions,
)


class CortexEngine(CortexReader):
    """Memory on a CortexDB server. Local paths and phone numbers never leave this machine.

    Args:
        credential: An API key, or a `Credential` that is asked at every attempt.
        endpoint: Where the server is; blank is CortexDB's managed API.
        scope_root: A host's root such as `org:42`, for the v3 layout; the legacy layout without one.
        consolidation: What the descriptor declares; by default automatic on the managed API, else on demand.
        timing: How long to wait for what.

    Raises:
        ConfigError: the endpoint, the credential or the root is malformed, or a key would travel unencrypted.
    """

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
        receipts = self._storing.store(items, visible=options.wait is WaitFor.VISIBLE)
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
        return believing.build(self._wire, self._scopes.held(request.reach, request.kinds or EVERY_KIND))
