"""One run of one source, under its lease; what a crash leaves the next run finishes."""

from collections.abc import Callable

from connectors.contract import Stops
from connectors.errors import ConnectorError
from corebrain.errors import CorebrainError
from pipeline import events, metrics, traces
from pipeline.errors import AlreadyRunning, PipelineError, SetupError
from pipeline.heartbeat import Heartbeat
from pipeline.host import Host
from pipeline.report import SourceReport
from pipeline.source import Source
from pipeline.source_run import SourceRun
from pipeline.state.contract import StateStore

RUNNING_RETRY_S = 5.0
"""Seconds until a source that another process syncs is tried again."""


def with_builds(
    source: Source, state: StateStore, host: Host, work: Callable[[SourceRun], SourceReport]
) -> SourceReport:
    """Do *work* of a run whose lease is held, and keep the belief build it owes, also for a run that died before."""
    ledger = state.ledger(source.name)
    owed = ledger.is_touched()
    report = work(SourceRun(source, state, host))
    touched = owed or bool(report.stored or report.forgotten)
    builds = source.brain.builds([source.connector.source]) if touched else []
    ledger.keep_builds([build.to_json() for build in builds], host.now())
    return report.model_copy(update={"touched": touched})


class SourceSync:
    """One run. Make a new one for the next.

    Args:
        source: What is synced.
        state: Its books; a dry run works on a copy of them.
        host: Time, chance, stop and progress.
    """

    def __init__(self, source: Source, state: StateStore, host: Host) -> None:
        self._source = source
        self._state = state
        self._host = host
        self._options = source.options

    def run(self) -> SourceReport:
        """Sync the source under its lease; a failure ends in the report's `error`.

        Raises:
            SetupError: The state cannot be used.
        """
        if isinstance(self._source.connector, Stops):
            self._source.connector.stop = self._host.stop
        if self._options.dry_run:
            scratch = self._state.scratch()
            try:
                return self._timed(lambda: SourceRun(self._source, scratch, self._host).plan_only())
            finally:
                scratch.close()
        started = self._host.now()
        with traces.span("sync", source=self._source.name) as span:
            report = self._timed(self._leased)
            traces.tell(span, report)
        events.finished(report)
        metrics.record(report)
        if not self._options.scopes or report.stored or report.forgotten or report.error:
            kept = report.model_copy(update={"set_aside": ()})  # the books list those, with how often they were tried
            self._state.log_run(self._source.name, started, kept.to_json())
        if report.gone or report.forgotten:
            self._state.ledger(self._source.name).settle()
        return report

    def _leased(self) -> SourceReport:
        with Heartbeat(self._state, self._source.name, self._host.now):
            return with_builds(self._source, self._state, self._host, lambda run: run.whole())

    def _timed(self, run: Callable[[], SourceReport]) -> SourceReport:
        began = self._host.monotonic()
        try:
            report = run()
        except SetupError:
            raise
        except (PipelineError, ConnectorError, CorebrainError) as error:
            report = SourceReport(
                name=self._source.name,
                source=str(self._source.connector.source),
                error=str(error),
                retry_after_s=RUNNING_RETRY_S if isinstance(error, AlreadyRunning) else None,
            )
        return report.model_copy(update={"seconds": round(self._host.monotonic() - began, 3)})
