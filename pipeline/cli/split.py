"""`brain split`: gives the collections of a source nodes of their own, and moves what is there."""

import threading
from argparse import Namespace

from pipeline.assembly import OpenBrain
from pipeline.cli import interrupts, progress
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured
from pipeline.config.complaints import nearest
from pipeline.errors import SetupError
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.report import SyncReport
from pipeline.source_set import SourceSet
from pipeline.splitting import split
from pipeline.temporary import temporary_files_in


def run(options: Namespace, console: Console) -> int:
    """Split one source; repeat it to finish what was interrupted."""
    name: str = options.name
    with OpenBrain(SourceSet(configured(options)), trial=True) as brain:
        _check(brain, name)
        stop = threading.Event()
        with (
            temporary_files_in(brain.config.data),
            brain.converter() as converter,
            progress.shown(console) as tell,
            interrupts.heeded(stop, console),
        ):
            source = brain.source(name, SyncOptions(split="always"), converter)
            report = split(source, brain.state, Host(stop=stop, tell=tell))
    return _told(report, console)


def _check(brain: OpenBrain, name: str) -> None:
    source = brain.sources.by_name.get(name)
    if source is None:
        raise SetupError(f"there is no source {name!r}; {nearest(name, brain.sources.by_name)}")
    if source.keys.split == "never":
        raise SetupError(f'[sources.{name}] says split = "never"; set it to "auto" or take it out, then split')
    if name not in brain.books():
        raise SetupError(f'{name} was never synced; run `brain sync {name}` first, or set split = "always" for it')


def _told(report: SyncReport, console: Console) -> int:
    (source,) = report.sources
    console.answer(**report.to_dict())
    moved = counted(source.moved, "document")
    tail = f"; stopped: {printable(source.error)}" if source.error else ""
    console.say(f"{printable(source.name)}: {moved} moved to {_place(source.moved)}{tail}")
    if report.interrupted:
        if not console.as_json:
            console.note(f"brain: interrupted: run `brain split {printable(source.name)}` again to go on")
        return interrupts.INTERRUPTED
    return 0 if report.ok else 1


def _place(moved: int) -> str:
    return "the node of its collection" if moved == 1 else "the nodes of their collections"
