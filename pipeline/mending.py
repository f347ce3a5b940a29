"""Proving sources against the engine, mending what differs, and rebuilding the books of another root (design 5)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from corebrain.engines.local.engine import LocalEngine
from corebrain.engines.local.verification import Finding
from corebrain.layout import MemoryLayout
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import MAX_GET_IDS, ForgetTarget
from pipeline.archive import emptied
from pipeline.assembly import STATE_FILE, OpenBrain, binding, state_file
from pipeline.config.models import Config
from pipeline.errors import AlreadyRunning, StateError
from pipeline.heartbeat import Heartbeat
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.rebuild import strangers
from pipeline.report import SourceReport
from pipeline.state.copies import binding_of
from pipeline.state.values import Binding
from pipeline.syncing import sync_all
from pipeline.verify import Verification, mend, verify

FEW = 50
"""Missing documents that are read again one by one; more of them, and the source is listed whole."""


@dataclass(frozen=True, slots=True)
class Proof:
    """How one source stands.

    Attributes:
        name: The source.
        found: What differed.
        mended: Whether nothing differs any more.
        error: Why it could not be mended.
    """

    name: str
    found: Verification
    mended: bool = False
    error: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether books and engine agree now."""
        return self.found.agrees or self.mended


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Books that were made anew.

    Attributes:
        before: What the old books belonged to; `None` when they could not be read.
        kept: Where the old books are.
        reports: One a source that was read again.
    """

    before: Binding | None
    kept: str
    reports: tuple[SourceReport, ...] = field(default=())


def documents_of(brain: OpenBrain, name: str) -> MetaFilter:
    """Return the filter of a source's documents: by its id, below the node they were stored at."""
    node = brain.held_node(name)
    if node is None and name in brain.sources.by_name:
        node = brain.sources.layout(brain.sources.by_name[name]).brain(brain.sources.node(name))
    criterion = brain.sources.layout().brain_filter()
    return criterion.model_copy(update={"reach": Reach.subtree(node) if node else criterion.reach, "source_id": name})


def engine_findings(brain: OpenBrain, *, deep: bool) -> list[Finding]:
    """Return what is wrong with the engine's own file; an engine that proves nothing has no findings."""
    return list(brain.engine.verify(deep=deep)) if isinstance(brain.engine, LocalEngine) else []


def proved(brain: OpenBrain, name: str) -> Proof:
    """Compare the books of a source with the engine; nothing is changed."""
    return Proof(name, verify(brain.state.ledger(name), brain.engine, documents_of(brain, name)))


def mended(brain: OpenBrain, name: str, host: Host) -> Proof:
    """Make books and engine agree: what the engine lost is read again, what no book knows is forgotten.

    Only what differs is read; the rest of the source is left alone. A failure stands in the proof.
    """
    first = proved(brain, name)
    if first.found.agrees:
        return first
    try:
        with Heartbeat(brain.state, name, time.time):
            found = verify(brain.state.ledger(name), brain.engine, documents_of(brain, name))  # nobody writes now
            mend(brain.state.ledger(name), found)
    except AlreadyRunning as error:
        return Proof(name, first.found, error=error.message)
    if name not in brain.sources.by_name:
        return Proof(name, found, error=f"it is configured no more: run `brain forget {name}`")
    few = len(found.missing) <= FEW
    scopes = tuple(dict.fromkeys(key.partition("!/")[0] for key in found.missing)) if few else ()
    report = _synced(brain, [name], host, full=not few, scopes=scopes)[0]
    if report.error is not None:
        return Proof(name, found, error=report.error)
    after = proved(brain, name).found
    return Proof(name, found, mended=after.agrees, error=None if after.agrees else "it still differs; run it again")


def _synced(
    brain: OpenBrain, names: list[str], host: Host, *, full: bool, scopes: tuple[str, ...] = ()
) -> tuple[SourceReport, ...]:
    with brain.converter() as converter:
        run = SyncOptions(full=full, scopes=scopes)
        keys = {name: brain.sources.by_name[name].keys for name in names}
        sources = [brain.source(name, keys[name].options(run), converter) for name in names]
        return sync_all(sources, brain.state, host).sources


def is_foreign(config: Config) -> bool:
    """Tell whether the state is a newer version's, belongs to another root or engine, or cannot be read.

    Only a rebuild helps then.
    """
    state = state_file(config)
    if state is None or not state.exists():
        return False
    try:
        held = binding_of(state)
    except StateError:
        return True
    return held is not None and held != binding(config)


def rebuild(config: Config, open_brain: Callable[[], OpenBrain], host: Host) -> Rebuilt:
    """Make the books anew for the root and engine that are configured now.

    Everything is read again; what is stored already is a replay. Afterwards what the sources had below the old root is
    forgotten, but what belongs to a document that could not be read this time.

    Args:
        config: What is configured.
        open_brain: Opens it once its state can be opened.
        host: Time, stop and progress.

    Raises:
        AlreadyRunning: A sync is under way.
    """
    state = config.data / STATE_FILE
    try:
        before = binding_of(state)
    except StateError:
        before = None
    kept = emptied(state, host.now())
    with open_brain() as brain:
        reports = _synced(brain, list(brain.sources.by_name), host, full=True) if brain.sources.by_name else ()
        if before is not None and before.root:
            for report in reports:
                if report.error is None:
                    _forget_below(brain, Namespace.parse(before.root), report)
    return Rebuilt(before, str(kept), reports)


def _forget_below(brain: OpenBrain, root: Namespace, report: SourceReport) -> None:
    """Forget what a source has below another root and no book knows."""
    old = MemoryLayout(root).brain_filter(brain.sources.node(report.name))
    if old.reach == documents_of(brain, report.name).reach:
        return
    failed = [aside.key for aside in report.set_aside]
    ids, _ = strangers(brain.state.ledger(report.name), brain.engine, old, failed)
    for start in range(0, len(ids), MAX_GET_IDS):
        brain.engine.forget(ForgetTarget.of_ids(*ids[start : start + MAX_GET_IDS]))
