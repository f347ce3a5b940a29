"""What the system tells of changes below a folder, through watchdog: hints, some of which get lost.

Two signs of lost hints are heeded: the warning that watchdog logs when the queue of inotify overflowed (it has no other
way to tell), and more events within a second than fit a queue that did not nearly overflow.
"""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

FLOOD = 4_096
"""Events within a second that may have been more: a quarter of the queue Linux keeps (inotify(7))."""

_WANTED: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]


@dataclass(frozen=True, slots=True)
class Changed:
    """A path something happened to; an empty one stands for hints that were lost."""

    path: str
    is_folder: bool


LOST = Changed("", is_folder=True)


class Events:
    """The events below one folder, from `start` to `stop`.

    Args:
        root: Resolved path of the folder; it is watched with everything below it.
        clock: Seconds that only grow.
    """

    def __init__(self, root: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._clock = clock
        self._queue: SimpleQueue[Changed] = SimpleQueue()
        self._observer: BaseObserver | None = None
        self._listener = _OverflowListener(lambda: self._queue.put(LOST))
        self._second, self._count = 0.0, 0

    def start(self) -> None:
        """Arm the watches.

        Raises:
            OSError: The system has no more watches to give, or the folder cannot be watched.
        """
        logging.getLogger(_OverflowListener.LOGGER).addHandler(self._listener)
        self._observer = _started(self._root, _Handler(self._queue), recursive=True)

    def stop(self) -> None:
        """Disarm the watches; all threads have ended afterwards. Stopping twice is safe."""
        logging.getLogger(_OverflowListener.LOGGER).removeHandler(self._listener)
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()

    def next(self, timeout_s: float) -> list[Changed]:
        """Return what came in, waiting up to *timeout_s* seconds for the first; `LOST` when some may be missing."""
        found: list[Changed] = []
        try:
            found.append(self._queue.get(timeout=timeout_s))
            while len(found) < FLOOD:
                found.append(self._queue.get_nowait())
        except Empty:
            pass
        now = self._clock()
        if now - self._second >= 1:
            self._second, self._count = now, 0
        self._count += len(found)
        return [LOST, *found] if self._count >= FLOOD else found


def has_watches_left(root: str) -> bool:
    """Whether the system gives one more watch; watchdog keeps silent about subfolders that got none."""
    try:
        observer = _started(root, FileSystemEventHandler(), recursive=False)
    except OSError:
        return False
    observer.stop()
    observer.join()
    return True


def _started(root: str, handler: FileSystemEventHandler, *, recursive: bool) -> "BaseObserver":
    observer = Observer()
    try:
        observer.schedule(handler, root, recursive=recursive, event_filter=_WANTED)
        observer.start()
    except OSError:
        observer.stop()
        raise
    return observer


class _Handler(FileSystemEventHandler):
    """Passes paths on."""

    def __init__(self, queue: "SimpleQueue[Changed]") -> None:
        self._queue = queue

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                self._queue.put(Changed(os.fsdecode(path), event.is_directory))


class _OverflowListener(logging.Handler):
    """Listens, and changes nothing about what is logged where."""

    LOGGER = "watchdog.observers"

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            self._lost()
