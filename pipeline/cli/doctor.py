"""`brain doctor`: what works, what does not, what to do."""

import os
import platform
import shutil
import stat
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from connectors.errors import ConfigError as SourceConfigError
from corebrain.documents.registry import PARSERS
from corebrain.engines.cortexdb.advice import advice_for
from corebrain.engines.cortexdb.failures import message_head
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import CorebrainError
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import Reach
from corebrain.model.requests import FetchMode, ListRequest
from pipeline.assembly import OpenBrain, memory_file, state_file, was_synced
from pipeline.cli.console import Console
from pipeline.cli.failures import told
from pipeline.cli.printable import counted, printable
from pipeline.config.engine_tables import RemoteEngineTable
from pipeline.config.load import load
from pipeline.config.models import Config
from pipeline.errors import PipelineError
from pipeline.source_set import SourceSet, place_of
from pipeline.unembedded import unembedded

State = Literal["works", "note", "fails"]
LITTLE_ROOM = 1 << 30
"""Bytes of free disk below which the data folder is said to be nearly full."""

_LIBRARIES = ("apsw", "pypdf", "pypdfium2", "selectolax", "lxml", "python-calamine", "unstructured", "watchdog")
_MARKS = {"works": "ok   ", "note": "note ", "fails": "FAILS"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    Attributes:
        state: Whether it works, is worth knowing, or fails.
        what: What was looked at.
        detail: What was found.
        advice: What to do; empty when there is nothing to do.
    """

    state: State
    what: str
    detail: str
    advice: str = ""


def run(options: Namespace, console: Console) -> int:
    """Look at everything; exit 1 when something fails."""
    config = load(options.config)
    findings = [
        *_versions(),
        _config(config),
        *_brain(config),
        *_disk(config),
        *_permissions(config),
        *_formats(),
    ]
    for finding in findings:
        advice = f"; {printable(finding.advice)}" if finding.advice else ""
        console.say(f"{_MARKS[finding.state]}  {finding.what}: {printable(finding.detail)}{advice}")
    fails = [finding for finding in findings if finding.state == "fails"]
    console.say()
    console.say(f"{len(fails)} of {len(findings)} checks fail" if fails else f"all {len(findings)} checks pass")
    console.answer(ok=not fails, findings=[asdict(finding) for finding in findings])
    return 1 if fails else 0


def _versions() -> Iterator[Finding]:
    system = f"Python {platform.python_version()} on {platform.system()}"
    yield Finding("works", "corebrain", f"{_version('corebrain') or 'from a checkout'}, {system}")
    held = {name: _version(name) for name in _LIBRARIES}
    sqlite = ".".join((held["apsw"] or "").split(".")[:3])
    yield Finding("works", "libraries", f"SQLite {sqlite}, " + ", ".join(f"{n} {v}" for n, v in held.items() if v))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _config(config: Config) -> Finding:
    if config.file is None:
        return Finding(
            "note", "config", "none here or above; the defaults hold", "run `brain init` for several sources"
        )
    return Finding("works", "config", f"{config.file}, {counted(len(config.sources), 'source')}")


def _brain(config: Config) -> Iterator[Finding]:
    try:
        with OpenBrain(SourceSet(config), trial=True) as brain:
            yield _engine(brain)
            yield from _meaning(brain)
            yield _state(brain)
            yield from _sources(brain)
    except (PipelineError, CorebrainError, SourceConfigError) as error:
        yield Finding("fails", "brain", told(error))


def _engine(brain: OpenBrain) -> Finding:
    descriptor = brain.engine.descriptor
    if isinstance(brain.config.engine, RemoteEngineTable):
        return _remote(brain)
    if not was_synced(brain.config):
        kind = brain.config.engine.kind
        return Finding("note", "engine", f"{kind}, holds nothing yet", "run `brain sync`")
    health = brain.engine.health()
    modes = ", ".join(mode.value for mode in descriptor.fetch_modes)
    where = f"{descriptor.label} at {memory_file(brain.config)}, {modes} search"
    if not health.is_serving:
        return Finding("fails", "engine", f"{where}: {health.reason}", "move its file away and sync again")
    state: State = "works" if health.reason is None else "note"
    return Finding(state, "engine", f"{where}{f': {health.reason}' if health.reason else ''}")


def _meaning(brain: OpenBrain) -> Iterator[Finding]:
    """Tell how far the memory is embedded, when it is to be."""
    engine = brain.engine
    if not isinstance(engine, LocalEngine) or not engine.descriptor.supports(FetchMode.HYBRID):
        return
    held, waiting = engine.embedding(), unembedded(engine)
    refused = f", {held.refused:,} that the model cannot take" if held.refused else ""
    detail = f"{held.embedded:,} of {held.passages:,} passages embedded by {held.model or 'no model yet'}{refused}"
    advice = "`brain jobs run` embeds them, `brain run` does it while idle" if waiting else ""
    yield Finding("note" if waiting else "works", "meaning", f"{detail}, {waiting:,} waiting", advice)


def _remote(brain: OpenBrain) -> Finding:
    """Read one item where each source, an agent and the shared learnings lie: what a sync or a turn would need."""
    layout = brain.sources.layout()
    nodes = {layout.learnings(), layout.conversations("doctor")}
    nodes |= {
        brain.sources.layout(each).brain(brain.sources.node(name)) for name, each in brain.sources.by_name.items()
    }
    where = f"{brain.engine.descriptor.label} at {brain.config.engine.place}"
    try:
        for node in sorted(nodes):
            brain.engine.list(ListRequest(filter=MetaFilter(reach=Reach.exact(node)), limit=1))
    except CorebrainError as error:
        return Finding("fails", "engine", f"{where}: {message_head(error)}", advice_for(error))
    health = brain.engine.health()
    if health.reason is not None:
        return Finding("note" if health.is_serving else "fails", "engine", f"{where}: {health.reason}")
    return Finding("works", "engine", where)


def _state(brain: OpenBrain) -> Finding:
    names = brain.books()
    jobs = len(brain.state.jobs())
    asides = sum(len(brain.state.ledger(name).asides()) for name in names)
    detail = f"{counted(len(names), 'source')}, {counted(asides, 'item')} set aside, {counted(jobs, 'job')} waiting"
    advice = "`brain status` says why, `brain jobs run` runs the jobs" if asides or jobs else ""
    return Finding("note" if advice else "works", "state", detail, advice)


def _sources(brain: OpenBrain) -> Iterator[Finding]:
    for name, connector in brain.sources.connectors.items():
        place = place_of(connector)
        if place is None:
            yield Finding("note", f"source {name}", "not asked; `brain sync` tells")
        elif not Path(place).is_dir():
            yield Finding("fails", f"source {name}", f"{place} is missing", "mount or create it, or correct its path")
        elif not os.access(place, os.R_OK | os.X_OK):
            yield Finding("fails", f"source {name}", f"{place} cannot be read", "give this user the right to read it")
        else:
            yield Finding("works", f"source {name}", place)


def _disk(config: Config) -> Iterator[Finding]:
    there = next(folder for folder in (config.data, *config.data.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    gigabytes = f"{free / 1e9:,.1f} GB free at {there}"
    if not os.access(there, os.W_OK):
        yield Finding("fails", "disk", f"{there} cannot be written", "permit it, or name another [brain] data")
    elif free < LITTLE_ROOM:
        yield Finding("fails", "disk", gigabytes, "free some space, or name another [brain] data")
    else:
        yield Finding("works", "disk", gigabytes)


def _permissions(config: Config) -> Iterator[Finding]:
    if os.name != "posix":
        return
    shared = False
    for path in (config.data, memory_file(config), state_file(config)):
        if path is None or not path.exists():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            shared = True
            wanted = "700" if path.is_dir() else "600"
            yield Finding("fails", "permissions", f"{path} is {mode:o}: others may read it", f"chmod {wanted} {path}")
    if config.data.exists() and not shared:
        yield Finding("works", "permissions", f"{config.data} is readable by its owner alone")


def _formats() -> Iterator[Finding]:
    missing = {name: parsers[0].advice() for name, parsers in PARSERS.items() if all(p.missing() for p in parsers)}
    there = ", ".join(name for name in PARSERS if name not in missing)
    yield Finding("works", "formats", there)
    for advice in dict.fromkeys(missing.values()):
        named = ", ".join(name for name, other in missing.items() if other == advice)
        yield Finding("note", "formats", f"{named} cannot be read", f"{advice}, if you have such files")
