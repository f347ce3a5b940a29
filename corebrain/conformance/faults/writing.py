"""Faults of storing."""

from collections.abc import Sequence

from corebrain.conformance.faults.fault import Fault
from corebrain.conformance.wrappers import BareEngine
from corebrain.contract import Item, Receipts, validate_batch
from corebrain.errors import InvalidRequest
from corebrain.model.requests import ForgetTarget, StoreReceipt, WaitFor, WriteOptions


class NeverReplays(BareEngine):
    """Reports every store as new."""

    def store(self, item: Item) -> StoreReceipt:
        return StoreReceipt(id=self.inner.store(item).id, replayed=False)


class AlwaysReplays(BareEngine):
    """Reports every store as a replay."""

    def store(self, item: Item) -> StoreReceipt:
        return StoreReceipt(id=self.inner.store(item).id, replayed=True)


class ReceiptsReversed(BareEngine):
    """Answers a batch's receipts in the wrong order."""

    def store_many(self, items: Sequence[Item]) -> Receipts:
        return super().store_many(items)[::-1]


class LosesTheLast(BareEngine):
    """Acknowledges the last item of a batch of several and does not keep it."""

    def store_many(self, items: Sequence[Item]) -> Receipts:
        receipts = super().store_many(items)
        if len(items) > 2:
            self.inner.forget(ForgetTarget.of_ids(receipts[-1].id))
        return receipts


class TakesEmptyBatch(BareEngine):
    """Serves a batch of nothing."""

    def store_many(self, items: Sequence[Item]) -> Receipts:
        return super().store_many(items) if items else []


class TakesBatchesOfAnyLength(BareEngine):
    """Serves a batch of more than 100 items."""

    def store_many(self, items: Sequence[Item]) -> Receipts:
        if not items:
            raise InvalidRequest("a batch holds no items")
        for item in items:
            item.validate()
        return [self.store(item) for item in items]


class StoresHalfABatch(BareEngine):
    """Stores what comes before an invalid item of a batch, and refuses only then."""

    def store_many(self, items: Sequence[Item]) -> Receipts:
        validate_batch(items[:1])
        return [self.store(item) for item in items] if len(items) < 101 else super().store_many(items)


class AcceptedUnderAnotherId(BareEngine):
    """Answers an accepted store with an id of its own."""

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        receipt = self.store(item)
        if options.wait is WaitFor.ACCEPTED:
            return receipt.model_copy(update={"id": f"accepted-{receipt.id}"})
        return receipt


class BatchAcceptedUnderAnotherId(BareEngine):
    """Answers an accepted batch with ids of its own."""

    def store_many_with(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        receipts = self.store_many(items)
        if options.wait is WaitFor.ACCEPTED:
            return [receipt.model_copy(update={"id": f"accepted-{receipt.id}"}) for receipt in receipts]
        return receipts


class VisibleNotListed(BareEngine):
    """Acknowledges a visible store before it is held."""

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        if options.wait is WaitFor.VISIBLE:
            return StoreReceipt(id=item.fingerprint(), replayed=False)
        return self.store(item)


class OneIdForAll(BareEngine):
    """Answers every store with the same id."""

    def store(self, item: Item) -> StoreReceipt:
        return self.inner.store(item).model_copy(update={"id": "one"})


_IDS_STORED = (
    *("erase", "replay", "store_many", "store_with", "fetch_filters", "namespaces"),
    *("empty_forget", "forget_by_id", "forget_by_filter"),
)
"""The checks that rely on the ids of receipts."""

WRITING: tuple[Fault, ...] = (
    Fault("answers every store with one id", "round_trip", OneIdForAll, also=_IDS_STORED),
    Fault("reports every store as a replay", "round_trip", AlwaysReplays, also=("replay", "store_many", "store_with")),
    Fault("never reports a replay", "replay", NeverReplays, also=("store_many", "store_with")),
    Fault("answers a batch's receipts reversed", "store_many", ReceiptsReversed, also=("namespaces",)),
    Fault("acknowledges an item of a batch that it does not keep", "store_many", LosesTheLast, also=("namespaces",)),
    Fault("serves an empty batch", "store_many", TakesEmptyBatch),
    Fault("serves a batch of more than 100", "store_many", TakesBatchesOfAnyLength),
    Fault("stores half of an invalid batch", "store_many", StoresHalfABatch),
    Fault("accepts a store under another id", "store_with", AcceptedUnderAnotherId),
    Fault("accepts a batch under other ids", "store_with", BatchAcceptedUnderAnotherId),
    Fault("acknowledges a visible store that does not list", "store_with", VisibleNotListed),
)
