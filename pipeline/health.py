"""How a process that keeps syncing says it is alive: a small file beside the state, renewed by its loop."""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.errors import SetupError
from pipeline.process import is_alive
from pipeline.when import printed

FILE = "run.json"
EVERY_S = 20.0
"""Seconds between two beats."""

STALE_S = 120.0
"""Seconds without a beat after which the process counts as stuck."""

OVERDUE_S = 60.0
"""Seconds past its time from which a source is called overdue."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What the file says.

    Attributes:
        pid: The process.
        host: Where it runs.
        since: When it began.
        beat: When its loop last came by.
        line: How its sources stand, in one line.
        syncing: The sources that were synced just then.
    """

    pid: int
    host: str
    since: float
    beat: float
    line: str
    syncing: tuple[str, ...] = ()

    def trouble(self, now: float) -> str | None:
        """Say why the process does not keep anything up to date; `None` when it does."""
        if self.host == socket.gethostname() and not is_alive(self.pid):
            return f"`brain run` ended without a word (pid {self.pid}); start it again"
        if now - self.beat > STALE_S:
            return f"`brain run` (pid {self.pid}) is stuck since {printed(self.beat)}; restart it"
        return None


class Pulse:
    """Writes the beats of this process.

    Args:
        data: The brain's data folder.
        since: When the process began.
    """

    def __init__(self, data: Path, since: float) -> None:
        self._file = data / FILE
        self._since = since

    def beat(self, now: float, line: str, syncing: tuple[str, ...] = ()) -> None:
        """Replace the file in one step.

        Raises:
            SetupError: The data folder cannot be written.
        """
        beat = Beat(os.getpid(), socket.gethostname(), self._since, now, line, syncing)
        fresh = self._file.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(asdict(beat)), encoding="utf-8")
            fresh.replace(self._file)
        except OSError as error:
            raise SetupError(f"cannot write {self._file}: {(error.strerror or str(error)).lower()}") from error

    def end(self) -> None:
        """Take the file away: nothing runs any more."""
        self._file.unlink(missing_ok=True)


def last_beat(data: Path) -> Beat | None:
    """Return the beat of the process that keeps this brain; `None` when none does, or the file is damaged."""
    try:
        found = json.loads((data / FILE).read_text(encoding="utf-8"))
        return Beat(**found) if isinstance(found, Mapping) else None
    except (OSError, ValueError, TypeError):
        return None


def is_overdue(next_run: float | None, now: float) -> bool:
    """Whether a scheduled sync is late: nobody keeps the schedule, or the sources before it take long."""
    return next_run is not None and now - next_run > OVERDUE_S
