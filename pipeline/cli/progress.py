"""How far a sync is: a bar a source on a terminal, plain lines elsewhere. All of it beside the result."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.host import Progress as Step

LINE_EVERY = 1_000
"""Documents between two plain lines."""

_DOING = {"scan": "listing", "fetch": "reading", "forget": "forgetting"}


@contextmanager
def shown(console: Console) -> Iterator[Callable[[Step], None]]:
    """Yield what a host is to tell its progress to."""
    if not console.tells_progress:
        yield _unheard
        return
    if not console.shows_progress:
        yield Lines(console.note).tell
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), _Count(), _Rate(), TimeRemainingColumn())
    with Progress(
        *columns, console=RichConsole(file=sys.stderr), redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield Bars(progress).tell


def _unheard(step: Step) -> None:
    """Nobody listens."""


class Lines:
    """A line when a source enters a phase, and one every thousand documents."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._phases: dict[str, str] = {}

    def tell(self, step: Step) -> None:
        """Say what is worth a line."""
        fresh = self._phases.get(step.source) != step.phase
        if fresh or step.done % LINE_EVERY == 0:
            self._phases[step.source] = step.phase
            total = f" of {step.total:,}" if step.total is not None else ""
            self._note(f"{printable(step.source)}: {_DOING[step.phase]} {step.done:,}{total}")


class Bars:
    """A bar for each source."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, tuple[TaskID, str]] = {}

    def tell(self, step: Step) -> None:
        """Move the source's bar; a new phase starts it anew."""
        task, phase = self._bars.get(step.source) or (self._progress.add_task("", total=None), "")
        if phase != step.phase:
            described = f"{printable(step.source)}: {_DOING[step.phase]}"
            self._progress.reset(task, total=step.total, description=described)
        self._bars[step.source] = task, step.phase
        self._progress.update(task, completed=step.done, total=step.total)


class _Count(ProgressColumn):
    """`120/300`, or `120` while the total is unknown."""

    def render(self, task: Task) -> Text:
        total = f"/{int(task.total):,}" if task.total is not None else ""
        return Text(f"{int(task.completed):,}{total}")


class _Rate(ProgressColumn):
    """Documents a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")
