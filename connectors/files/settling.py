"""Waits until what changed is at rest: no event for a while, and size and time of change equal on two looks.

A file that is being copied shows up long before its last byte; an editor's save is several events on several names.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from connectors.contract import within
from connectors.files.scopes import collapsed

QUIET_S = 1.0
"""Seconds without an event, and between the two looks."""

LONGEST_S = 60.0
"""Seconds after which a scope is given though it never rests, such as the log of something that runs."""

MANY = 1_000
"""Scopes waited for one by one; more are one wait for everything."""

Look = tuple[int, int]
"""Size and time of change in nanoseconds."""


def look_at(path: str) -> Look | None:
    """Return what a file looks like now; `None` when it is none, or cannot be looked at."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


@dataclass(slots=True)
class _Wait:
    path: str
    since: float
    due: float
    look: Look | None


class Settling:
    """The scopes that changed and are not yet at rest.

    Args:
        quiet_s: Seconds without an event.
        longest_s: Seconds after which a scope is given all the same.
        look: What a path looks like now.
    """

    def __init__(
        self,
        quiet_s: float = QUIET_S,
        longest_s: float = LONGEST_S,
        look: Callable[[str], Look | None] = look_at,
    ) -> None:
        self._quiet_s = quiet_s
        self._longest_s = longest_s
        self._look = look
        self._waits: dict[str, _Wait] = {}

    @property
    def is_for_everything(self) -> bool:
        """Whether everything is to be scanned again, so that single events say nothing new."""
        return "" in self._waits

    def changed(self, scope: str, path: str, now: float) -> None:
        """Take an event; *path* is looked at when the scope is a file, and empty for one that is not."""
        everything = self._waits.get("")
        if everything is not None and scope:
            everything.due = now + self._quiet_s
            return
        wait = self._waits.get(scope)
        if wait is not None:
            wait.due = now + self._quiet_s
        elif len(self._waits) >= MANY:
            since = min(wait.since for wait in self._waits.values())
            self._waits = {"": _Wait("", since, now + self._quiet_s, None)}
        else:
            self._waits[scope] = _Wait(path, now, now + self._quiet_s, self._seen(path))

    def at_rest(self, now: float) -> list[str]:
        """Return and drop the scopes that are at rest, the few that cover them."""
        rests = {scope for scope, wait in self._waits.items() if self._rests(wait, now)}
        restless = [scope for scope in self._waits if scope not in rests]
        late = {scope for scope in rests if now - self._waits[scope].since >= self._longest_s}
        given = [scope for scope in rests if scope in late or not any(within(scope, inner) for inner in restless)]
        for scope in given:
            del self._waits[scope]
        return collapsed(given)

    def _rests(self, wait: _Wait, now: float) -> bool:
        if now - wait.since >= self._longest_s:
            return True
        if now < wait.due:
            return False
        look = self._seen(wait.path)
        if look == wait.look:
            return True
        wait.look, wait.due = look, now + self._quiet_s
        return False

    def _seen(self, path: str) -> Look | None:
        return self._look(path) if path else None
