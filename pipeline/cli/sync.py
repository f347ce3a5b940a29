"""`brain sync`: makes the brain hold what its sources hold."""

import threading
from argparse import Namespace
from pathlib import Path

from connectors.contract import Speaks
from pipeline.assembly import OpenBrain
from pipeline.cli import interrupts, progress
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.config.complaints import nearest
from pipeline.config.load import load
from pipeline.errors import SetupError
from pipeline.folders import folder_source, name_for, remember
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.report import SourceReport, SyncReport, line
from pipeline.source import Source
from pipeline.source_set import SOURCE_IDS, SourceSet, place_of
from pipeline.syncing import sync_all
from pipeline.temporary import temporary_files_in
from pipeline.unembedded import unembedded

SHOWN_ASIDES = 10
"""Items set aside that are shown of each source; `brain status NAME` shows them all."""


def run(options: Namespace, console: Console) -> int:
    """Sync what is named, or everything."""
    sources = SourceSet(load(options.config))
    names = [_source_named(sources, what) for what in options.what] or list(sources.by_name)
    if not names:
        raise SetupError("there is nothing to sync; run `brain add files FOLDER`, or `brain sync FOLDER`")
    with OpenBrain(sources, trial=options.dry_run) as brain:
        if not options.dry_run and any(name in sources.folders for name in names):
            remember(sources.config, sources.folders.values())
        report = _synced(brain, list(dict.fromkeys(names)), options, console)
        waiting = unembedded(brain.engine)
    return _told(report, waiting, options, console)


def _synced(brain: OpenBrain, names: list[str], options: Namespace, console: Console) -> SyncReport:
    stop = threading.Event()
    said: list[str] = []
    with (
        temporary_files_in(brain.config.data),
        brain.converter() as converter,
        progress.shown(console) as tell,
        interrupts.heeded(stop, console, at_last=converter.close),
    ):
        sources: list[Source] = [brain.source(name, _sync_options(brain, name, options), converter) for name in names]
        for source in sources:
            _listen(source, said)
        report = sync_all(sources, brain.state, Host(stop=stop, tell=tell))
    for line_said in dict.fromkeys(said):
        console.note(printable(line_said))
    return report


def _listen(source: Source, said: list[str]) -> None:
    """Keep what a source has to say until the progress is over."""
    if isinstance(source.connector, Speaks):
        source.connector.say = lambda what: said.append(f"{source.name}: {what}")


def _sync_options(brain: OpenBrain, name: str, options: Namespace) -> SyncOptions:
    return brain.sources.by_name[name].keys.options(
        SyncOptions(
            dry_run=options.dry_run,
            full=options.full,
            retry=options.retry,
            reconvert=options.reconvert,
            allow_deletes=options.allow_deletes,
        )
    )


def _source_named(sources: SourceSet, what: str) -> str:
    """Return the source that an argument means: one of that name, else the folder at that path."""
    if what in sources.by_name:
        return what
    folder = Path(what).expanduser()
    if not folder.is_dir():
        if folder.exists():
            raise SetupError(f"{what} is a file; name the folder it lies in")
        raise SetupError(f"{what!r} is no source and no folder; {nearest(what, sources.by_name)}")
    place = str(folder.resolve())
    for name, connector in sources.connectors.items():
        if place_of(connector) == place:
            return name
    name = name_for(folder, [kind for kind in SOURCE_IDS if kind != "files"])
    if name in sources.by_name:
        other = place_of(sources.connectors[name]) or "a source"
        raise SetupError(
            f"the name {name} is taken by {other}; run `brain init` and `brain add files {what} --name ANOTHER`"
        )
    sources.add_folder(folder_source(name, place))
    return name


def _told(report: SyncReport, waiting: int, options: Namespace, console: Console) -> int:
    aside = any(source.set_aside for source in report.sources)
    fails = options.strict and aside
    console.answer(**{**report.to_dict(), "ok": report.ok and not fails})
    for source in report.sources:
        _tell_source(source, console)
    if report.jobs:
        console.say(f"{counted(len(report.jobs), 'belief build')} waiting; `brain jobs run` runs them")
    if waiting:
        console.say(
            f"{counted(waiting, 'passage')} found by words alone until `brain jobs run` or `brain run` embeds them"
        )
    if report.interrupted:
        if not console.as_json:
            console.note("brain: interrupted: run `brain sync` again to go on")
        return interrupts.INTERRUPTED
    return 0 if report.ok and not fails else 1


def _tell_source(source: SourceReport, console: Console) -> None:
    console.say(printable(line(source)))
    for aside in source.set_aside[:SHOWN_ASIDES]:
        console.say(f"  set aside: {printable(aside.key)}: {printable(f'{aside.error}; {aside.advice}'.rstrip('; '))}")
    if len(source.set_aside) > SHOWN_ASIDES:
        more = len(source.set_aside) - SHOWN_ASIDES
        console.say(f"  and {more:,} more; `brain status {printable(source.name)}` shows them")
    if source.outdated:
        console.say(
            f"  {counted(source.outdated, 'document')} may be converted otherwise today: `brain sync"
            f" {printable(source.name)} --reconvert` does it"
        )
    if source.estimate is not None:
        cost = source.estimate
        console.say(
            f"  would take about {cost.seconds:,.0f} s, {counted(cost.bytes, 'byte')} and"
            f" {counted(cost.requests, 'request')}; nothing was changed"
        )
