"""Syncs sources: one call for people who embed it, and for the command line (design section 5)."""

from collections.abc import Iterable

from connectors.contract import Connector
from corebrain.brain import Brain
from corebrain.layout import BrainSource
from corebrain.model.namespace import Namespace
from pipeline.host import Host
from pipeline.report import SourceReport, SyncReport
from pipeline.source_sync import Source, SourceSync
from pipeline.state.contract import StateStore


def sync(connector: Connector, brain: Brain, state: StateStore, *, name: str | None = None) -> SyncReport:
    """Make the brain hold what one source holds.

    Afterwards every readable document of the source is stored, changed ones replaced, moved ones filed anew, gone
    ones forgotten. What could not be read stands in the report's `set_aside`, what failed as a whole in its `error`.
    Run the report's jobs when it suits.

    Args:
        connector: The source.
        brain: Where its documents go.
        state: What was synced before; keep it as long as the engine's data.
        name: The source's name; the connector's own, else its source's id.

    Raises:
        SetupError: The state cannot be used; nothing was touched.
    """
    called = name or getattr(connector, "name", "") or str(connector.source)
    return sync_all([Source(called, connector, brain)], state)


def sync_all(sources: Iterable[Source], state: StateStore, host: Host | None = None) -> SyncReport:
    """Sync sources one after the other; one that fails does not stop the others.

    Returns:
        One report a source, and one belief build a source node touched, in source order. The builds are kept in state
        until they are run; an engine that builds by itself gets none.

    Raises:
        SetupError: The state cannot be used; nothing more was touched.
    """
    host = host or Host()
    reports: list[SourceReport] = []
    touched: dict[tuple[BrainSource, Namespace], Brain] = {}
    dry_run = False
    for source in sources:
        if host.stop.is_set():
            break
        dry_run = dry_run or source.options.dry_run
        report = SourceSync(source, state, host).run()
        reports.append(report)
        if report.stored or report.forgotten:
            touched[source.connector.source, source.brain.layout.root] = source.brain
    jobs = [
        job for (node, _), brain in sorted(touched.items(), key=lambda pair: pair[0]) for job in brain.builds([node])
    ]
    for job in jobs:
        state.add_job(job.to_json(), host.now())
    return SyncReport(
        ok=all(report.error is None for report in reports) and not host.stop.is_set(),
        dry_run=dry_run,
        interrupted=host.stop.is_set(),
        sources=tuple(reports),
        jobs=tuple(jobs),
    )
