"""Syncs sources: one call for people who embed it, and for the command line (design section 5)."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from connectors.contract import Connector
from corebrain.brain import Brain
from corebrain.layout import BrainSource
from corebrain.model.namespace import Namespace
from pipeline.host import Host, Progress
from pipeline.report import SourceReport, SyncReport
from pipeline.source import Source
from pipeline.source_sync import SourceSync
from pipeline.state.contract import StateStore
from pipeline.workers import Workers

AT_ONCE = 16
"""Sources synced side by side: slow ones must not hold up a quick one."""


def sync(
    connector: Connector,
    brain: Brain,
    state: StateStore,
    *,
    name: str | None = None,
    stop: threading.Event | None = None,
) -> SyncReport:
    """Make the brain hold what one source holds.

    Afterwards every readable document of the source is stored, changed ones replaced, moved ones filed anew, gone
    ones forgotten. What could not be read stands in the report's `set_aside`, what failed as a whole in its `error`.
    Run the report's jobs when it suits.

    Args:
        connector: The source.
        brain: Where its documents go.
        state: What was synced before; keep it as long as the engine's data.
        name: The source's name; the connector's own, else its source's id.
        stop: Set it to end after the batch under way; the next call goes on there. A connector that waits is given it.

    Raises:
        SetupError: The state cannot be used; nothing was touched.
    """
    called = name or getattr(connector, "name", "") or str(connector.source)
    return sync_all([Source(called, connector, brain)], state, Host() if stop is None else Host(stop=stop))


def sync_all(
    sources: Sequence[Source], state: StateStore, host: Host | None = None, *, at_once: int = AT_ONCE
) -> SyncReport:
    """Sync sources, some side by side: a slow one holds up no quick one, a failing one stops no other.

    Args:
        sources: What is synced, in the order of the reports.
        state: Their books.
        host: Time, chance, stop and progress; `tell` is called by one thread at a time.
        at_once: Sources at a time.

    Returns:
        One report a source begun, and one belief build a source node touched, in source order. The builds are kept in
        state until they are run; an engine that builds by itself gets none.

    Raises:
        SetupError: The state cannot be used; nothing more was begun.
    """
    host = _one_at_a_time(host or Host())
    reports: list[SourceReport] = []
    touched: dict[tuple[BrainSource, Namespace], Brain] = {}
    workers: Workers[Source, SourceReport] = Workers(
        lambda source: SourceSync(source, state, host).run(), threads=at_once, stop=host.stop
    )
    with workers:
        for source, run in workers.run(sources):
            report = run.result()
            reports.append(report)
            if report.touched:
                touched[source.connector.source, source.brain.layout.root] = source.brain
    ordered = sorted(touched.items(), key=lambda pair: pair[0])
    jobs = [job for (node, _), brain in ordered for job in brain.builds([node])]
    return SyncReport(
        ok=all(report.error is None for report in reports) and not host.stop.is_set(),
        dry_run=any(source.options.dry_run for source in sources),
        interrupted=host.stop.is_set(),
        sources=tuple(reports),
        jobs=tuple(jobs),
    )


def _one_at_a_time(host: Host) -> Host:
    """Let one thread tell at a time, so that listeners need no lock."""
    lock = threading.Lock()

    def tell(progress: Progress) -> None:
        with lock:
            host.tell(progress)

    return replace(host, tell=tell)
