"""How often a host is asked: one pace per host, kept by everybody who shares the pacer.

The pace is the generic cell rate algorithm: a host is asked every `interval_s` on average, with at most `burst`
requests at once after a pause. `hold` stops all requests to a host until a moment, as `Retry-After` asks.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast one may ask.

    Attributes:
        interval_s: Seconds between two requests on average; 0 is as fast as it goes.
        burst: Requests that may follow each other at once after a pause.
    """

    interval_s: float = 0.0
    burst: int = 1


class Pacer:
    """The paces of all hosts, for all clients and threads that share it.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._due: dict[str, float] = {}
        self._held: dict[str, float] = {}

    def reserve(self, host: str, pace: Pace) -> float:
        """Take the next turn at a host and return the seconds to wait for it, 0 or more."""
        with self._lock:
            now = self._clock()
            start = max(now, self._held.get(host, now))
            due = max(start, self._due.get(host, start))
            turn = max(start, due - pace.interval_s * (pace.burst - 1))
            self._due[host] = due + pace.interval_s
            return max(0.0, turn - now)

    def hold(self, host: str, seconds: float) -> None:
        """Ask nothing of a host for *seconds*; a shorter hold never ends a longer one."""
        with self._lock:
            until = self._clock() + seconds
            self._held[host] = max(until, self._held.get(host, until))

    def held_s(self, host: str) -> float:
        """Return for how many more seconds a host is held, 0 when it is not."""
        with self._lock:
            return max(0.0, self._held.get(host, 0.0) - self._clock()) if host in self._held else 0.0
