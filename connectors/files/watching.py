"""Watches a folder: says which parts to scan again, soon after they changed.

Events are hints (`connectors.files.events`), given when what changed is at rest (`connectors.files.settling`). Whatever
they miss is made up for by scanning everything again: once watching begins, when events were lost, when the root or a
mount below it changed, and every `RESCAN_S` anyway. File systems that send no events, and everything once the system
has no watches left, are scanned every `POLL_S`.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from connectors.files.events import LOST, Changed, Events, has_watches_left
from connectors.files.mounts import Mount, mounts_at
from connectors.files.scopes import Scopes, collapsed
from connectors.files.selection import Selection
from connectors.files.settling import LONGEST_S, QUIET_S, Settling

POLL_S = 30.0
"""Seconds between two scans of what sends no events."""

RESCAN_S = 15 * 60.0
"""Seconds between two scans of everything."""

_TICK_S = 0.2
_CHECK_S = 1.0
_PROBE_S = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How a folder is watched.

    Attributes:
        quiet_s: Seconds without an event before a change is told.
        longest_s: Seconds after which a change is told though it goes on.
        poll_s: Seconds between two scans of what sends no events.
        rescan_s: Seconds between two scans of everything.
    """

    quiet_s: float = QUIET_S
    longest_s: float = LONGEST_S
    poll_s: float = POLL_S
    rescan_s: float = RESCAN_S


@dataclass(frozen=True, slots=True)
class Ground:
    """The calls through which a watch meets the system; a test puts its faults here.

    Attributes:
        clock: Seconds that only grow.
        mounts: File systems at and below a folder.
        events: Makes the events of a folder.
        has_watches_left: Whether the system gives one more watch.
    """

    clock: Callable[[], float] = time.monotonic
    mounts: Callable[[str], tuple[Mount, ...]] = mounts_at
    events: Callable[[str], Events] = Events
    has_watches_left: Callable[[str], bool] = has_watches_left


Place = tuple[str, tuple[int, int], tuple[Mount, ...]]
"""The root's resolved path, its device and inode, and what is mounted at and below it."""


class FolderWatch:
    """One watch of one folder.

    Args:
        root: Path of the folder; it need not exist, and may come and go.
        selection: Which names are documents.
        say: Told once what a person should know.
        pace: How long it waits for what.
        ground: The system.
    """

    def __init__(
        self,
        root: str,
        selection: Selection,
        say: Callable[[str], None],
        pace: Pace | None = None,
        ground: Ground | None = None,
    ) -> None:
        self._root = root
        self._selection = selection
        self._say = say
        self._said: set[str] = set()
        self._pace = pace or Pace()
        self._ground = ground or Ground()
        self._settling = Settling(self._pace.quiet_s, self._pace.longest_s)
        self._place: Place | None = None
        self._is_lost = False  # the root itself was deleted: another may have its inode already
        self._scopes: Scopes | None = None
        self._events: Events | None = None
        self._polled: list[str] = []
        now = self._ground.clock()
        self._checked = self._probed = -_PROBE_S
        self._polled_at = self._scanned_at = now

    def scopes(self, stop: threading.Event) -> Iterator[str]:
        """Yield scopes until *stop* is set; the first is everything, when the folder is there."""
        try:
            while not stop.is_set():
                self._check_place()
                self._take_events(stop)
                yield from self._due()
        finally:
            self._disarm()

    # -- the root, and what is armed

    def _check_place(self) -> None:
        """Notice a root that went, came or was replaced, and mounts below it; arm anew."""
        now = self._ground.clock()
        if now - self._checked < _CHECK_S:
            return
        self._checked = now
        place = self._place_now()
        if place != self._place or self._is_lost:
            self._disarm()
            self._place, self._is_lost = place, False
            if place is not None:
                self._arm(place)
            self._settling.changed("", "", now - self._pace.longest_s)  # tell at once
        elif place is not None and self._events is not None and now - self._probed >= _PROBE_S:
            self._probed = now
            if not self._ground.has_watches_left(place[0]):
                self._poll_everything("the system has no file watches left")

    def _place_now(self) -> Place | None:
        real = os.path.realpath(self._root)
        try:
            status = os.stat(real)
        except OSError:
            return None
        return real, (status.st_dev, status.st_ino), self._ground.mounts(real)

    def _arm(self, place: Place) -> None:
        real, _, mounts = place
        self._scopes = Scopes(real, self._selection)
        silent = [mount for mount in mounts if mount.is_silent]
        self._polled = collapsed(
            scope
            for mount in silent
            if (scope := "" if mount is mounts[0] else self._scopes.of(mount.path, folder=True)) is not None
        )
        for mount in silent:
            self._say_once(f"{mount.path} is {mount.kind}, which tells of no changes: {self._listed_every()}")
        if self._polled == [""]:
            return
        self._events = self._ground.events(real)
        try:
            self._events.start()
        except OSError as error:
            self._disarm()
            self._poll_everything((error.strerror or str(error)).lower())

    def _disarm(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.stop()

    def _poll_everything(self, why: str) -> None:
        self._polled = [""]
        self._say_once(f"cannot watch all of {self._root}, {why}: {self._listed_every()}")

    def _listed_every(self) -> str:
        return f"it is listed every {self._pace.poll_s:g} s instead"

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._say(line)

    # -- changes

    def _take_events(self, stop: threading.Event) -> None:
        if self._events is None:
            stop.wait(_TICK_S)
            return
        for change in self._events.next(_TICK_S):
            self._take(change)

    def _take(self, change: Changed) -> None:
        now = self._ground.clock()
        if change is LOST or self._settling.is_for_everything:
            self._settling.changed("", "", now)
            return
        scope = self._scopes.of(change.path, folder=change.is_folder) if self._scopes else None
        if scope == "" and self._place is not None and change.path == self._place[0]:
            self._is_lost = True
        elif scope is not None:
            is_file = scope and not scope.endswith("/")
            self._settling.changed(scope, change.path if is_file else "", now)

    def _due(self) -> list[str]:
        now = self._ground.clock()
        due = self._settling.at_rest(now)
        if self._polled and now - self._polled_at >= self._pace.poll_s:
            self._polled_at = now
            due += self._polled
        if now - self._scanned_at >= self._pace.rescan_s:
            due.append("")
        if "" in due:
            self._scanned_at = now
        return collapsed(due)
