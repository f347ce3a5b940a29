"""The steps of one run of one source: scan and plan, fetch and store, forget, commit."""

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

from connectors.contract import within
from connectors.document import SetAside
from connectors.errors import ConnectorError, DocumentError, DocumentRefused, Unavailable
from corebrain.errors import CorebrainError, InvalidRequest, Refusal
from pipeline import collections, limits, rebuild, removal, traces, trust
from pipeline.backoff import is_over
from pipeline.errors import PipelineError, SetupError, SourcePaused
from pipeline.estimate import estimated
from pipeline.host import Host, Progress
from pipeline.moves import Mover
from pipeline.prepare import Preparer, Ready, Same
from pipeline.report import AsideReport, SourceReport, summed
from pipeline.scan import Listing, Scan
from pipeline.scrubbing import Scrubbing
from pipeline.source import Source
from pipeline.spool import Spool
from pipeline.state.contract import StateStore
from pipeline.state.values import Aside, SourceRow, Verdict, Work
from pipeline.store import Storer
from pipeline.when import printed
from pipeline.workers import Workers

FETCHED = (Verdict.NEW, Verdict.CHANGED, Verdict.REFILED, Verdict.DUE, Verdict.RECONVERT)
"""Verdicts whose documents are fetched, moved or filed anew; the one left is `GONE`."""


class SourceRun:
    """The steps of one run, and what they share."""

    def __init__(self, source: Source, state: StateStore, host: Host) -> None:
        self._source = source
        self._state = state
        self._host = host
        self._options = source.options
        self._ledger = state.ledger(source.name)
        self._row = self._ledger.row()
        self._held = self._ledger.held()
        self._split = collections.decided(self._row.split, source.options, source.connector.source)
        self._spool = Spool((source.spool or Path(gettempdir())) / f"corebrain-{uuid4().hex}")
        self._storer = Storer(source.brain, self._ledger, host, self._told_stored)
        self._preparer = Preparer(
            source.connector,
            source.name,
            self._ledger,
            layout=source.brain.layout,
            mover=Mover(source.brain.engine, source.connector.source),
            converter=source.converter,
            spool=self._spool,
            max_bytes=source.max_bytes,
            scrubbing=Scrubbing.at(source.scrub),
            reconvert=source.options.reconvert,
        )
        self._identity = trust.identity_of(source.connector)
        self._error: str | None = None
        self._retry_after_s: float | None = None
        self._gone = 0
        self._done = 0
        self._total: int | None = None

    def whole(self) -> SourceReport:
        """Do everything."""
        try:
            scan = self._scanned()
            too_large = limits.over_size(self._ledger, self._options)
            if too_large is not None:
                raise SourcePaused(too_large)
            stored = self._store()
            deleted = stored and self._end_gone() and self._find_strangers(scan.listing)
            if stored:
                self._ledger.abandon([key for key in self._ledger.intents() if scan.covers(key)])
            self._forget()
            self._commit(scan, stored=stored, settled=deleted)
            return self._report(scan.listing)
        except (PipelineError, ConnectorError, CorebrainError) as error:
            if not self._is_stopped_by(error):
                self._fail(error)
                self._note_failure()
            if isinstance(error, SetupError):
                raise
            return self._report(Listing())
        finally:
            self._spool.close()

    def split(self) -> SourceReport:
        """Give the collections nodes of their own and move there what is held; nothing is listed.

        Afterwards every document that is not set aside lies at its collection's node. The decision is kept first, as
        `MOVING`: whatever ends this run, the next split or sync moves the rest.
        """
        try:
            self._split = True
            self._ledger.update(replace(self._row, split=collections.MOVING))
            self._ledger.begin()
            self._plan_misfiled(split=True)
            moved = self._store()
            self._forget()
            if moved:
                self._ledger.update(replace(self._ledger.row(), split=collections.YES))
        except (PipelineError, ConnectorError, CorebrainError) as error:
            if isinstance(error, SetupError):
                raise
            if not self._is_stopped_by(error):
                self._fail(error)
        finally:
            self._spool.close()
        return self._report(Listing())

    def plan_only(self) -> SourceReport:
        """Scan and plan, then tell what it would cost."""
        try:
            scan = self._scanned()
            counts = self._ledger.counts()
            estimate = estimated(self._source, self._state, self._ledger)
            planned = self._report(scan.listing)
            new = counts[Verdict.NEW] + counts[Verdict.DUE]
            too_many = removal.over_ceiling(counts[Verdict.GONE], self._held, self._options)
            error = limits.over_size(self._ledger, self._options) or too_many or planned.error
            update = {
                "new": new,
                "changed": counts[Verdict.CHANGED] + counts[Verdict.RECONVERT],
                "moved": counts[Verdict.REFILED],
                "gone": counts[Verdict.GONE],
                "estimate": estimate,
                "error": error,
            }
            return summed(planned.model_copy(update=update))
        finally:
            self._spool.close()

    # -- scan

    def _scanned(self) -> Scan:
        scopes = self._trusted_scopes()
        scan = self._listed(scopes)
        if scopes and self._ledger.counts()[Verdict.GONE] * 2 > self._held:
            scan = self._listed(())
        listing = scan.listing
        if listing.error is not None and not self._is_stopped_by(listing.error):
            self._fail(listing.error)
        self._set_failures_aside(scan)
        if self._options.reconvert:
            self._plan_outdated(scan)
        if scan.scopes:
            return scan
        if self._split is None:
            self._split = collections.decide(listing.listed, self._options, whole=listing.is_complete)
        if self._split is not None and self._kept_split() != self._row.split:
            self._plan_misfiled(split=self._split)
        return scan

    def _plan_outdated(self, scan: Scan) -> None:
        """Plan what would be converted otherwise today, but what could not be listed just now."""
        failed = [failure.scope for failure in scan.listing.failed]
        refs = self._ledger.of_versions(self._outdated())
        steps = [
            Work(Verdict.RECONVERT, ref)
            for ref in refs
            if scan.covers(ref.key) and not any(within(scope, ref.key) for scope in failed)
        ]
        self._ledger.plan(steps)
        scan.listing.unchanged -= len(steps)

    def _outdated(self) -> list[str]:
        return [version for version in self._ledger.versions() if not self._preparer.versions.is_current(version)]

    def _plan_misfiled(self, *, split: bool) -> None:
        self._ledger.plan(Work(Verdict.REFILED, ref) for ref in self._ledger.misfiled(split=split))

    def _trusted_scopes(self) -> tuple[str, ...]:
        """The scopes asked for, or none: what was never synced, or lies elsewhere now, is listed whole."""
        known = self._row.last_success is not None and self._split is not None
        return () if not known or trust.is_replaced(self._identity, self._row) else self._options.scopes

    def _listed(self, scopes: tuple[str, ...]) -> Scan:
        """List *scopes*, or everything, into a fresh plan."""
        self._ledger.begin()
        scan = Scan(
            self._ledger,
            self._source.connector,
            due=self._is_due,
            spool=self._spool,
            at_checkpoint=self._at_checkpoint,
            scopes=scopes,
            stop=self._host.stop,
        )
        scan.split = self._split
        with traces.span("sync.scan"):
            listing = scan.run(None if self._options.full else self._row.cursor, self._told_listed)
        if not scopes and not self._options.allow_deletes:
            trust.check_whole(listing, self._identity, self._row, self._held)
        scan.finish()
        return scan

    def _at_checkpoint(self, scan: Scan) -> None:
        """Store as we go while the source was never whole: nothing recorded of it can have moved."""
        if self._row.complete or self._options.dry_run or self._options.limits_size or self._host.stop.is_set():
            return
        if self._split is None:
            self._split = collections.decide(scan.listing.listed, self._options, whole=False)
        if self._split is None:
            return
        if self._store():
            split = self._row.split or self._kept_split()  # another decision holds once everything is moved
            row = replace(self._ledger.row(), cursor=scan.listing.cursor, split=split)
            self._ledger.update(row, scan.notes.settled)

    def _is_due(self, aside: Aside) -> bool:
        return self._options.retry or self._options.reconvert or is_over(aside.next_try, self._host.now())

    def _set_failures_aside(self, scan: Scan) -> None:
        scopes = [aside.key for aside in self._ledger.asides() if aside.ref is None and not _is_part(aside.key)]
        if scan.listing.completed:
            self._ledger.restore([scope for scope in scopes if scan.covers(scope)])
        for failure in scan.listing.failed:
            if failure.scope == "":
                self._fail(failure.error)
            else:
                self._storer.refuse(None, SetAside.of(failure.scope, failure.error))
        self._storer.flush()

    # -- fetch and store

    def _store(self) -> bool:
        """Store what is planned; returns whether nothing is left to do."""
        self._preparer.split = bool(self._split)
        counts = self._ledger.counts()
        self._total = self._done + sum(counts[verdict] for verdict in FETCHED)
        with traces.span("sync.store"):
            try:
                self._take_all(self._ledger.planned(*FETCHED))
            except ConnectorError:  # the source failed, not the engine: keep what it gave
                self._storer.flush()
                raise
            self._storer.flush()
        return not self._host.stop.is_set()

    def _take_all(self, steps: Iterable[Work]) -> None:
        workers = Workers(self._preparer.prepare, threads=self._options.threads, stop=self._host.stop, weigh=_weight_of)
        with workers:
            for work, future in workers.run(steps):
                self._take(work, future)

    def _take(self, work: Work, future: "Future[Ready | Same]") -> None:
        error = future.exception()
        if error is None:
            self._storer.take(future.result())
        elif isinstance(error, DocumentError | Refusal):
            self._storer.refuse(work.ref, SetAside.of(work.ref.key, error))
        elif isinstance(error, InvalidRequest):
            refused = DocumentRefused(f"it cannot be stored: {error.message}", "exclude it, and report this")
            self._storer.refuse(work.ref, SetAside.of(work.ref.key, refused))
        else:
            raise error

    # -- forget

    def _end_gone(self) -> bool:
        """End what is gone; returns whether the ceiling allowed it."""
        gone = self._ledger.counts()[Verdict.GONE]
        if self._refused(removal.over_ceiling(gone, self._held, self._options)):
            return False
        self._gone = removal.end_gone(self._ledger)
        return True

    def _find_strangers(self, listing: Listing) -> bool:
        """Look for what the engine holds beyond the books, when they are new or were told of what they did not know."""
        surprised = self._storer.counts.replayed > 0  # the mark of lost or older books, and of a crash made up for
        if not listing.is_complete or (self._row.complete and not surprised):
            return True
        brain = self._source.brain
        failed = [aside.key for aside in self._ledger.asides()]
        documents = brain.layout.brain_filter(self._source.connector.source)
        strangers, held = rebuild.strangers(self._ledger, brain.engine, documents, failed)
        if self._refused(removal.over_ceiling(len(strangers), held, self._options)):
            return False
        self._ledger.doom(strangers)
        return True

    def _refused(self, why: str | None) -> bool:
        self._error = self._error or why
        return why is not None

    def _forget(self) -> None:
        engine = self._source.brain.engine
        with traces.span("sync.forget"):
            self._storer.counts.forgotten += removal.forget_doomed(self._ledger, engine, self._told_forgotten)

    # -- commit and report

    def _commit(self, scan: Scan, *, stored: bool, settled: bool) -> None:
        """Keep how far we are; the cursor moves only when everything before it is stored and forgotten."""
        listing = scan.listing
        split = self._kept_split() if stored and not scan.scopes else self._row.split
        row = replace(self._row, split=split, identity=self._identity or self._row.identity)
        if settled and listing.cursor is not None:
            row = replace(row, cursor=listing.cursor)
        if self._error is not None:
            row = self._failed(row)
        elif settled and scan.scopes:  # only a part was looked at: that is no sync of the source
            row = replace(row, failing_since=None, error=None)
        elif settled:
            complete = self._row.complete or listing.is_complete
            row = replace(row, complete=complete, last_success=self._host.now(), failing_since=None, error=None)
        self._ledger.update(row, scan.notes.settled if settled else None)

    def _is_stopped_by(self, error: Exception) -> bool:
        """Whether a wait or a listing ended because the run is to end: nothing failed then."""
        return self._host.stop.is_set() and isinstance(error, Unavailable)

    def _fail(self, error: Exception) -> None:
        self._error = str(error)
        self._retry_after_s = getattr(error, "retry_after_s", None)

    def _note_failure(self) -> None:
        self._ledger.update(self._failed(self._ledger.row()))

    def _failed(self, row: SourceRow) -> SourceRow:
        return replace(row, failing_since=row.failing_since or self._host.now(), error=self._error)

    def _kept_split(self) -> str | None:
        if self._split is None:
            return self._row.split
        return collections.YES if self._split else collections.NO

    def _report(self, listing: Listing) -> SourceReport:
        counts = self._storer.counts
        return summed(
            SourceReport(
                name=self._source.name,
                source=str(self._source.connector.source),
                new=counts.new,
                changed=counts.changed,
                moved=counts.moved,
                unchanged=self._unchanged(listing),
                gone=self._gone,
                stored=counts.stored,
                replayed=counts.replayed,
                forgotten=counts.forgotten,
                set_aside=tuple(map(_aside_report, self._ledger.asides())),
                requests=getattr(self._source.connector, "requests", 0),
                bytes_fetched=counts.bytes_fetched,
                redactions=counts.redactions,
                outdated=self._ledger.count_versions(self._outdated()),
                error=self._error,
                retry_after_s=self._retry_after_s,
            )
        )

    def _unchanged(self, listing: Listing) -> int:
        """Count what is as it was: what was listed so, or, of a source that tells only changes, the rest."""
        counts = self._storer.counts
        if listing.completed or listing.error is not None or self._error is not None:
            return counts.unchanged + listing.unchanged
        waiting = self._ledger.known([aside.key for aside in self._ledger.asides()])
        return self._ledger.held() - counts.new - counts.changed - counts.moved - len(waiting)

    # -- progress

    def _told_listed(self, count: int) -> None:
        self._host.tell(Progress(self._source.name, "scan", count))

    def _told_stored(self, key: str, stored: bool) -> None:
        self._done += 1
        self._host.tell(Progress(self._source.name, "fetch", self._done, self._total, key, stored))

    def _told_forgotten(self, count: int) -> None:
        self._host.tell(Progress(self._source.name, "forget", count))


def _weight_of(result: Ready | Same) -> int:
    return sum(len(document.text) for document in result.documents) if isinstance(result, Ready) else 0


def _aside_report(aside: Aside) -> AsideReport:
    return AsideReport(
        key=aside.key,
        error=aside.error,
        advice=aside.advice,
        attempts=aside.attempts,
        next_try=printed(aside.next_try),
    )


def _is_part(key: str) -> bool:
    """Whether a set-aside key without a ref is a document's part; else it is a key or scope that was not listed."""
    return "!/" in key and not key.endswith("/")
