"""Stores what was prepared, in batches of at most 100 items: intend, ingest, record."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from connectors.contract import Ref
from connectors.document import SetAside
from connectors.errors import DocumentRefused
from corebrain.brain import Brain
from corebrain.errors import CorebrainError, InvalidRequest
from corebrain.model.requests import MAX_STORE_MANY
from pipeline import events, traces
from pipeline.backoff import delay_s
from pipeline.host import Host
from pipeline.prepare import Ready, Same
from pipeline.state.contract import Ledger
from pipeline.state.values import Aside, Intent

_PAGE = 500
"""Touched or refused documents written at a time."""


@dataclass(slots=True)
class Counts:
    """What happened to a source's documents."""

    new: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    stored: int = 0
    replayed: int = 0
    forgotten: int = 0
    bytes_fetched: int = 0
    redactions: int = 0


class Storer:
    """The one writer of a source: engine and books change here and nowhere else while documents come in.

    Args:
        brain: Stores the items.
        ledger: The source's books.
        host: Time and chance for what is set aside.
        told: Called with each key that is stored.
    """

    def __init__(self, brain: Brain, ledger: Ledger, host: Host, told: Callable[[str, bool], None]) -> None:
        self._brain = brain
        self._ledger = ledger
        self._host = host
        self._told = told
        self._batch: list[Ready] = []
        self._items = 0
        self._same: list[Same] = []
        self._asides: list[Aside] = []
        self._attempts = {aside.key: aside for aside in ledger.asides()}
        self.counts = Counts()

    def take(self, result: Ready | Same) -> None:
        """Add a prepared document; a full batch is stored at once.

        Raises:
            CorebrainError: The engine failed; what was recorded stays, the rest is done again by the next run.
        """
        if isinstance(result, Same):
            self._same.append(result)
            if len(self._same) >= _PAGE:
                self._touch()
            return
        if self._items and self._items + len(result.documents) > MAX_STORE_MANY:
            self._store_batch()
        self._batch.append(result)
        self._items += len(result.documents)
        if self._items >= MAX_STORE_MANY:
            self._store_batch()

    def flush(self) -> None:
        """Store what is left."""
        self._store_batch()
        self._touch()
        self._write_asides()

    def refuse(self, ref: Ref | None, refused: SetAside) -> None:
        """Set a document, or a part of one, aside; it is tried again with growing pauses."""
        now = self._host.now()
        earlier = self._attempts.get(refused.key)
        attempts = earlier.attempts + 1 if earlier else 1
        aside = Aside(
            key=refused.key,
            ref=ref,
            error=_reason(refused),
            advice=refused.advice,
            attempts=attempts,
            next_try=now + delay_s(attempts, self._host.chance()),
            since=earlier.since if earlier else now,
        )
        self._asides.append(aside)
        events.item(self._ledger.name, refused.key, "set aside", aside.error)
        self._told(refused.key, False)
        if len(self._asides) >= _PAGE:
            self._write_asides()

    def _write_asides(self) -> None:
        """Keep what was refused; after the records, which take refused parts of an earlier version off the list."""
        if self._asides:
            self._ledger.set_aside(self._asides)
            self._asides = []

    def _touch(self) -> None:
        if not self._same:
            return
        self._ledger.touch([(same.ref, same.token, same.raw, same.version) for same in self._same])
        self.counts.unchanged += len(self._same)
        self.counts.bytes_fetched += sum(same.fetched for same in self._same)
        for same in self._same:
            events.item(self._ledger.name, same.ref.key, "unchanged")
            self._told(same.ref.key, False)
        self._same = []

    def _store_batch(self) -> None:
        batch, self._batch, self._items = self._batch, [], 0
        if batch:
            self._ledger.intend([_intent(ready) for ready in batch])
            self._ingest(batch)

    def _ingest(self, batch: Sequence[Ready]) -> None:
        """Store *batch*; the engine's refusal of one document costs only that one."""
        try:
            documents = [document for ready in batch for document in ready.documents]
            with traces.span("sync.batch", items=len(documents)):
                receipts = self._brain.ingest_many(documents).receipts
        except InvalidRequest as error:
            self._without_poison(batch, error)
            return
        self.counts.stored += sum(not receipt.replayed for receipt in receipts)
        self.counts.replayed += sum(receipt.replayed for receipt in receipts)
        self._record(batch)

    def _without_poison(self, batch: Sequence[Ready], error: InvalidRequest) -> None:
        if len(batch) == 1:
            key = batch[0].record.ref.key
            self._ledger.abandon([key])
            refusal = DocumentRefused(f"the engine refused it: {error.message}", "exclude it, and report this")
            self.refuse(batch[0].record.ref, SetAside.of(key, refusal))
            self._release(batch[0])
            return
        middle = len(batch) // 2
        self._ingest(batch[:middle])
        self._ingest(batch[middle:])

    def _release(self, ready: Ready) -> None:
        if ready.moved_from is not None:
            self._ledger.release_twin(ready.moved_from)

    def _record(self, batch: Sequence[Ready]) -> None:
        moved = [(ready.moved_from, ready.record.ref.key) for ready in batch if ready.moved_from is not None]
        self._ledger.record([ready.record for ready in batch], moved)
        for ready in batch:
            for part in ready.refused:
                self.refuse(None, part)
            self._count(ready)
            self._told(ready.record.ref.key, True)

    def _count(self, ready: Ready) -> None:
        counts = self.counts
        counts.bytes_fetched += ready.fetched
        counts.redactions += ready.redactions
        if ready.moved_from is not None or ready.refiled:
            counts.moved += 1
            outcome = "moved"
        elif ready.is_new:
            counts.new += 1
            outcome = "new"
        else:
            counts.changed += 1
            outcome = "changed"
        events.item(self._ledger.name, ready.record.ref.key, outcome)


def _intent(ready: Ready) -> Intent:
    record = ready.record
    return Intent(record.ref.key, record.raw, tuple(fact.id for fact in record.facts), record.pinned)


def _reason(refused: SetAside) -> str:
    error = refused.error
    return error.message if isinstance(error, CorebrainError) else str(error)
