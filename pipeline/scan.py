"""Runs a connector's scan and writes down what is to be done; reads no document."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from connectors.contract import Checkpoint, Complete, Confirms, Connector, Failed, Gone, Json, Ref, Seen, absent, within
from connectors.errors import ConnectorError, Unavailable
from pipeline.marks import Marks
from pipeline.spool import Spool
from pipeline.state.contract import Ledger
from pipeline.state.values import Aside, Known, Verdict, Work

_PAGE = 500
_NOTE_BYTES = 64 * 1024


class ScanNotes:
    """A connector's notes during a scan: its own puts are seen at once, and kept with the next checkpoint."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pending: dict[str, Json] = {}
        self.settled: dict[str, Json] = {}

    def get(self, key: str) -> Json:
        for notes in (self._pending, self.settled):
            if key in notes:
                return notes[key]
        return self._ledger.note(key)

    def put(self, key: str, value: Json) -> None:
        if len(json.dumps(value)) > _NOTE_BYTES:
            raise ConnectorError(f"note {key[:60]!r} is over 64 KiB; the connector must keep less")
        self._pending[key] = value

    def settle(self) -> None:
        """Keep what was put so far."""
        self.settled.update(self._pending)
        self._pending.clear()


@dataclass(slots=True)
class Listing:
    """What a scan found.

    Attributes:
        marks: The records it has seen.
        unchanged: Records seen as they were.
        listed: Documents seen, repeated ones counted each time.
        cursor: Of the last checkpoint; `None` when there was none.
        completed: Scopes listed wholly.
        failed: Scopes that could not be listed, each with the error.
        error: What ended the scan early.
    """

    marks: Marks = field(default_factory=Marks)
    unchanged: int = 0
    listed: int = 0
    cursor: Json = None
    completed: list[str] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    error: ConnectorError | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every key of the source was listed."""
        return "" in self.completed and not self.failed and self.error is None


class Scan:
    """One scan of one source, in pages of 500: a page costs one look-up and, when anything changed, one transaction.

    A scan of scopes lists one after the other into one plan, so that what moved from one into another is a move.

    Args:
        ledger: The source's books.
        connector: What is listed.
        due: Tells whether a document that is set aside is tried again now.
        split: Whether documents are filed by collection; `None` while undecided.
        spool: Where blobs go that the listing had to read.
        at_checkpoint: Called when everything listed so far is planned.
        scopes: What to list; empty for everything. Checkpoints of a scoped scan are not kept.
        stop: Ends the listing early when set, as if the source had broken off.
    """

    def __init__(
        self,
        ledger: Ledger,
        connector: Connector,
        *,
        due: Callable[[Aside], bool],
        spool: Spool,
        at_checkpoint: Callable[["Scan"], None],
        scopes: tuple[str, ...] = (),
        stop: threading.Event | None = None,
    ) -> None:
        self._ledger = ledger
        self._connector = connector
        self._due = due
        self._spool = spool
        self._at_checkpoint = at_checkpoint
        self._stop = stop or threading.Event()
        self.scopes = scopes
        self._asides = {
            aside.key: aside for aside in ledger.asides() if aside.ref is not None and self.covers(aside.key)
        }
        self._seen_asides: set[str] = set()
        self._held = ledger.held()
        self._marked = 0
        self._newest = ledger.newest()  # records made while we scan are seen, of course
        self.notes = ScanNotes(ledger)
        self.listing = Listing()
        self.split: bool | None = None

    def covers(self, key: str) -> bool:
        """Whether a key, or a whole scope, lies in what is listed."""
        return not self.scopes or any(within(scope, key) for scope in self.scopes)

    def run(self, cursor: Json, told: Callable[[int], None]) -> Listing:
        """Plan everything the connector lists; a scan that raises keeps what came before."""
        for scope in self.scopes or ("",):
            self._run(None if scope else cursor, told, scope)
            if self.listing.error is not None:
                return self.listing
        if self.scopes:
            self.notes.settle()
        return self.listing

    def _run(self, cursor: Json, told: Callable[[int], None], scope: str) -> None:
        page: list[Seen] = []
        try:
            for event in self._connector.scan(cursor, self.notes, scope):
                if isinstance(event, Seen):
                    page.append(event)
                if not isinstance(event, Seen) or len(page) >= _PAGE:
                    self._take(page)
                    told(self.listing.listed)
                    page.clear()
                    self._check_stop()
                if not isinstance(event, Seen):
                    self._heed(event)
        except ConnectorError as error:
            self.listing.error = error
        self._take(page)

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise Unavailable("stopped while it was listed; the next sync goes on")

    def _heed(self, event: Gone | Failed | Checkpoint | Complete) -> None:
        listing = self.listing
        match event:
            case Gone(key):
                if self._ledger.known([key]):
                    self._ledger.plan([Work(Verdict.GONE, Ref(key, None))])
                self._ledger.restore([key])
            case Failed():
                listing.failed.append(event)
            case Complete(scope):
                listing.completed += [scope] if self.covers(scope) else self.scopes
            case Checkpoint(cursor) if not self.scopes:
                listing.cursor = cursor
                self.notes.settle()
                self._at_checkpoint(self)
            case Checkpoint():
                pass  # of a scoped scan: not kept

    def _take(self, page: list[Seen]) -> None:
        if not page:
            return
        listing, asides, split = self.listing, self._asides, self.split
        listing.listed += len(page)
        known = self._ledger.known([event.ref.key for event in page])
        work = []
        for event in page:
            ref = event.ref
            held = known.get(ref.key)
            first = held is not None and listing.marks.add(held.row)
            if first and held is not None and held.row <= self._newest:
                self._marked += 1
            if (  # by far the most frequent case, without a call
                held is not None
                and held.token == ref.token is not None
                and (split is None or held.filed == (ref.collection if split else None))
                and not asides
            ):
                listing.unchanged += first
                continue
            verdict = self._verdict(ref, held)
            if verdict is not None:
                work.append(self._step(verdict, event))
            elif first and ref.key not in self._seen_asides:
                listing.unchanged += 1
        if work:
            self._ledger.plan(work)

    def _verdict(self, ref: Ref, held: Known | None) -> Verdict | None:
        aside = self._asides.get(ref.key) if self._asides else None
        if aside is not None:
            self._seen_asides.add(ref.key)
            if aside.ref is not None and aside.ref.token == ref.token:  # an unknown token tells nothing new
                return Verdict.DUE if self._due(aside) else None
        if held is None:
            return Verdict.NEW
        if _differs(held.token, ref.token):
            return Verdict.CHANGED
        if self.split is not None and held.filed != (ref.collection if self.split else None):
            return Verdict.REFILED
        return None

    def _step(self, verdict: Verdict, event: Seen) -> Work:
        return Work(verdict, event.ref, self._spool.put(event.blob) if event.blob is not None else None)

    def finish(self) -> None:
        """Plan what the listing's end tells: absent records, and set-aside documents that are due or vanished."""
        listing = self.listing
        failed = [failure.scope for failure in listing.failed]
        if listing.error is None:
            self._plan_absent(failed)
        vanished, due = [], []
        for key, aside in self._asides.items():
            if key in self._seen_asides or aside.ref is None:
                continue
            if listing.error is None and absent(key, listing.completed, failed):
                vanished.append(key)
            elif self._due(aside):
                due.append(Work(Verdict.DUE, aside.ref))
        self._ledger.restore(vanished)
        self._ledger.plan(due)

    def _plan_absent(self, failed: list[str]) -> None:
        listing = self.listing
        if not listing.completed or self._marked >= self._held:
            return
        missing = (key for key in self._unmarked() if absent(key, listing.completed, failed))
        if isinstance(self._connector, Confirms):
            self._ledger.plan(self._confirmed(self._connector, missing))
        else:
            self._ledger.plan(Work(Verdict.GONE, Ref(key, None)) for key in missing)

    def _unmarked(self) -> Iterator[str]:
        for scope in self.scopes or ("",):
            yield from self._ledger.unmarked(self.listing.marks.bits, self._newest, scope)

    def _confirmed(self, connector: Confirms, missing: Iterator[str]) -> Iterator[Work]:
        held: dict[str, str | None] = {}

        def refs() -> Iterator[Ref]:
            for key in missing:
                record = self._ledger.record_of(key)
                if record is not None:
                    held[key] = record.token
                    yield record.ref

        for answer in connector.confirm(refs()):
            if isinstance(answer, Gone):
                yield Work(Verdict.GONE, Ref(answer.key, None))
            elif isinstance(answer, Seen) and (
                answer.ref.token is None or held.get(answer.ref.key) != answer.ref.token
            ):
                yield self._step(Verdict.CHANGED, answer)


def _differs(held: str | None, listed: str | None) -> bool:
    return listed is None or held != listed
