"""Moves what is held of a source to the nodes of its collections: `brain split` (design section 5, "Collections").

The source itself is not listed: the books know each document's collection, and the engine its text. Only a text that
the engine has lost is fetched again. Every document is stored at its new node before it is forgotten at the old one, so
nothing is unfindable in between.
"""

from pipeline.heartbeat import Heartbeat
from pipeline.host import Host
from pipeline.report import SyncReport
from pipeline.source import Source
from pipeline.source_sync import with_builds
from pipeline.state.contract import StateStore


def split(source: Source, state: StateStore, host: Host | None = None) -> SyncReport:
    """Keep the decision that the source splits, and move what is there.

    Afterwards every held document that is not set aside lies at its collection's node, and later syncs file there.
    A run that was stopped, failed or killed is finished by the next one, or by the next whole sync.

    Args:
        source: What is split; its `options.split` is not `never`.
        state: Its books.
        host: Time, chance, stop and progress.

    Returns:
        A report of this source: `moved` counts documents, `stored` and `forgotten` items. It holds one belief build
        when anything moved, kept in state.

    Raises:
        AlreadyRunning: Another process works on the source.
        SetupError: The state cannot be used.
    """
    host = host or Host()
    began = host.monotonic()
    with Heartbeat(state, source.name, host.now):
        report = with_builds(source, state, host, lambda run: run.split())
    report = report.model_copy(update={"seconds": round(host.monotonic() - began, 3)})
    jobs = source.brain.builds([source.connector.source]) if report.touched else []
    stopped = host.stop.is_set()
    return SyncReport(ok=report.error is None and not stopped, interrupted=stopped, sources=(report,), jobs=tuple(jobs))
