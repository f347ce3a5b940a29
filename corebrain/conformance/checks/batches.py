"""`store_many` and `store_with`: batches and the two ways to wait."""

from collections.abc import Callable, Sequence

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import expect_ids, ids
from corebrain.contract import Item
from corebrain.errors import InvalidRequest
from corebrain.model.requests import MAX_STORE_MANY, StoreReceipt, WriteOptions

_MANY = "store-many"
_WITH = "store-with"


def store_many(trial: Trial) -> None:
    """A batch is stored in order and listed on return; again it is all replays; a malformed batch stores nothing."""
    batch = [trial.document(f"batch {place}", tags=(_MANY,)) for place in ("one", "two", "three")]
    _expect_receipts(trial, "store_many", trial.engine.store_many(batch), batch, replayed=[False] * 3)
    wanted = trial.filter(tags_any=(_MANY,))
    held = [item.fingerprint() for item in batch]
    expect_ids(trial, "list after store_many", ids(trial, wanted), held)
    _expect_receipts(trial, "store_many again", trial.engine.store_many(batch), batch, replayed=[True] * 3)
    fourth = trial.document("batch four", tags=(_MANY,))
    receipts = trial.engine.store_many([fourth, fourth])
    _expect_receipts(trial, "store_many of one item twice", receipts, [fourth, fourth], replayed=[False, True])
    refused = trial.document("batch refused", tags=(_MANY,))
    blank = refused.model_copy(update={"body": refused.body.model_copy(update={"text": " "})})
    too_many = [refused] * (MAX_STORE_MANY + 1)
    for what, malformed in (("an empty", []), ("a half valid", [refused, blank]), ("a too long", too_many)):
        trial.refused(f"{what} batch", lambda: trial.engine.store_many(malformed), InvalidRequest)  # noqa: B023  # called at once
    expect_ids(trial, "list after refused batches", ids(trial, wanted), [*held, fourth.fingerprint()])


def _expect_receipts(
    trial: Trial, what: str, receipts: Sequence[StoreReceipt], batch: Sequence[Item], *, replayed: Sequence[bool]
) -> None:
    found = [receipt.id for receipt in receipts]
    due = [item.fingerprint() for item in batch]
    trial.expect(found == due, f"{what} answers the ids {found}, in order they are {due}")
    told = [receipt.replayed for receipt in receipts]
    trial.expect(told == list(replayed), f"{what} reports replays as {told}, they are {list(replayed)}")


def store_with(trial: Trial) -> None:
    """A visible store is listed on return and replays; an accepted one answers the item's own id. Batches likewise."""

    def one(item: Item, options: WriteOptions) -> StoreReceipt:
        return trial.engine.store_with(item, options)

    def many(item: Item, options: WriteOptions) -> StoreReceipt:
        return trial.engine.store_many_with([item], options)[0]

    _expect_waits(trial, "store_with", one)
    _expect_waits(trial, "store_many_with", many)


def _expect_waits(trial: Trial, what: str, store: Callable[[Item, WriteOptions], StoreReceipt]) -> None:
    item = trial.document(f"{what} visible", tags=(_WITH, what))
    receipt = store(item, WriteOptions.visible())
    due = item.fingerprint()
    trial.expect(receipt.id == due, f"a visible {what} answers {receipt.id}, the item's id is {due}")
    trial.expect(not receipt.replayed, f"the first visible {what} is reported as a replay")
    expect_ids(trial, f"list after a visible {what}", ids(trial, trial.filter(tags_any=(what,))), [due])
    again = store(item, WriteOptions.visible())
    trial.expect(again.replayed and again.id == due, f"a repeated visible {what} is not a replay of {due}")
    late = trial.document(f"{what} accepted", tags=(_WITH,))
    accepted = store(late, WriteOptions.accepted())
    due = late.fingerprint()
    trial.expect(accepted.id == due, f"an accepted {what} answers {accepted.id}, the item's id is {due}")
    trial.engine.store(late)  # waits until it can be read, so that nothing turns up after the cleanup
