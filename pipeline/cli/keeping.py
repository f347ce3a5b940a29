"""What `brain watch` and `brain run` share: the daemon of some sources, what is said of it, and how it ends."""

import os
import sys
import threading
from collections.abc import Callable, Sequence

from connectors.contract import Watches
from corebrain.documents.types import DocumentConverter
from pipeline.assembly import OpenBrain
from pipeline.cli import interrupts
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.config.complaints import nearest
from pipeline.daemon import Daemon, Listener, Tended
from pipeline.errors import SetupError
from pipeline.host import Host, Progress
from pipeline.report import SourceReport, line
from pipeline.source_set import SourceSet
from pipeline.temporary import temporary_files_in
from pipeline.upkeep import Upkeep
from pipeline.when import printed


def named(sources: SourceSet, names: Sequence[str]) -> list[str]:
    """Return the sources that are named, once each; all of them when none is.

    Raises:
        SetupError: One is not configured, or there is none at all.
    """
    if not sources.by_name:
        raise SetupError("there is nothing to sync; run `brain add files FOLDER` first")
    for name in names:
        if name not in sources.by_name:
            raise SetupError(f"there is no source {name!r}; {nearest(name, sources.by_name)}")
    return list(dict.fromkeys(names)) or list(sources.by_name)


def can_be_watched(sources: SourceSet, name: str) -> bool:
    """Whether a source tells of its changes."""
    return isinstance(sources.connectors[name], Watches)


def tended(
    brain: OpenBrain, name: str, converter: DocumentConverter, *, watched: bool, scheduled: bool = True
) -> Tended:
    """Return a source as its configuration says it is kept."""
    keys = brain.sources.by_name[name].keys
    source = brain.source(name, keys.options(), converter)
    return Tended(source, keys.schedule() if scheduled else None, watched=watched)


class Voice:
    """Says what happens, a line each, at once, from any thread.

    Args:
        console: Where.
        stop: Set when nobody reads any more.
        several: Whether lines name their source.
        summed: Whether every sync that changed something gets a line of its own, as schedules want it.
    """

    def __init__(self, console: Console, stop: threading.Event, *, several: bool, summed: bool = False) -> None:
        self._console = console
        self._stop = stop
        self._several = several
        self._summed = summed
        self._lock = threading.Lock()
        self._told_asides: dict[str, set[tuple[str, str]]] = {}
        self._begun: set[str] = set()

    def say(self, text: str) -> None:
        """Print a line of the result."""
        with self._lock:
            try:
                self._console.say(printable(text))
                sys.stdout.flush()
            except BrokenPipeError:
                self._stop.set()

    def note(self, text: str) -> None:
        """Print a line beside the result."""
        with self._lock:
            self._console.note(printable(text))

    def tell(self, progress: Progress) -> None:
        """Name a document that was just stored."""
        if progress.stored:
            self.say(f"stored {progress.key}{self._of(progress.source)}")

    def reported(self, report: SourceReport, scopes: tuple[str, ...]) -> None:
        """Say what a sync did beside storing: the whole line of a source's first, then only what is new."""
        summed = self._summed and report.touched and not scopes
        if not scopes and (report.name not in self._begun or (summed and report.error is None)):
            self._begun.add(report.name)
            self.say(line(report))
            if summed:
                self.say(f"{report.name}: 1 job")
        elif report.error is not None:
            self.note(f"{report.name}: {report.error}")
        elif report.gone:
            self.say(f"forgot {counted(report.gone, 'document')}{self._of(report.name)}")
        asides = {(aside.key, aside.error) for aside in report.set_aside}
        for aside in report.set_aside:
            if (aside.key, aside.error) not in self._told_asides.get(report.name, set()):
                reason = f"{aside.error}; {aside.advice}".rstrip("; ")
                self.say(f"set aside {aside.key}{self._of(report.name)}: {reason} (next try {aside.next_try})")
        self._told_asides[report.name] = asides

    def _of(self, name: str) -> str:
        return f" ({name})" if self._several else ""


def keep(
    brain: OpenBrain,
    console: Console,
    choose: Callable[[DocumentConverter], list[Tended]],
    *,
    upkeep: Callable[[Voice], Upkeep] | None = None,
    beat: Callable[[float, str, tuple[str, ...]], None] | None = None,
    summed: bool = False,
) -> int:
    """Keep sources true until a signal comes.

    Args:
        brain: What is kept.
        console: Where it is told.
        choose: Returns what is kept, with the converter it shares.
        upkeep: Makes the idle work.
        beat: Called as `pipeline.daemon.Listener` says.
        summed: As `Voice` says.

    Returns:
        The exit status: 0, or 130 when a sync was cut short.
    """
    stop = threading.Event()
    with (
        temporary_files_in(brain.config.data),
        brain.converter() as converter,
        interrupts.heeded(stop, console, at_last=converter.close),
    ):
        kept = choose(converter)
        voice = Voice(console, stop, several=len(kept) > 1, summed=summed)
        listener = Listener(say=voice.note, reported=voice.reported)
        if beat is not None:
            listener = Listener(say=voice.note, reported=voice.reported, beat=beat)
        daemon = Daemon(
            kept,
            brain.state,
            Host(stop=stop, tell=voice.tell),
            listener=listener,
            upkeep=upkeep(voice) if upkeep else None,
        )
        if not daemon.run():
            voice.note("a source did not end in time; the next run goes on where this one was")
            sys.stdout.flush()
            os._exit(interrupts.INTERRUPTED)
    return interrupts.INTERRUPTED if daemon.interrupted else 0


def described(brain: OpenBrain, one: Tended) -> str:
    """Say how a source is kept."""
    name = one.source.name
    keys = brain.sources.by_name[name].keys
    ways = ["watched"] if one.watched else []
    if one.schedule is not None:
        ways.append(f"every {keys.every}" if keys.every else f"cron {keys.cron} ({keys.time_zone or 'UTC'})")
        kept = brain.state.ledger(name).next_run()
        ways += [f"next {printed(kept)}"] if kept is not None else []
    return f"{name}: {', '.join(ways)}"
