"""One deadline over a whole request: connecting, sending, and every byte of the reply; and a stop that ends each wait.

Timeouts of a socket bound one read each, so a server that sends a byte now and then would hold a request for ever.
The running request's deadline and its stop are context variables; the network streams of `connectors.http.network` ask
them, and wait in steps of at most `STEP_S` so that a stop is heeded within one.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from connectors.http.errors import Stopped

STEP_S = 0.5
"""Longest wait in one go, in seconds."""


class DeadlinePassed(Exception):
    """The request took longer than it may as a whole."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    clock: Callable[[], float]
    end: float
    stop: threading.Event


_BOUNDS: ContextVar[_Bounds | None] = ContextVar("_BOUNDS", default=None)


@contextmanager
def deadline(seconds: float, clock: Callable[[], float], stop: threading.Event) -> Iterator[None]:
    """Bound everything that this thread reads and writes in the block by *seconds* from now, and by *stop*."""
    token = _BOUNDS.set(_Bounds(clock, clock() + seconds, stop))
    try:
        yield
    finally:
        _BOUNDS.reset(token)


def time_left(timeout: float | None) -> float | None:
    """Return how long the next step may take: *timeout*, or less when the deadline is nearer.

    Raises:
        DeadlinePassed: No time is left.
        Stopped: The caller wants to end.
    """
    bounds = _BOUNDS.get()
    if bounds is None:
        return timeout
    if bounds.stop.is_set():
        raise Stopped("stopped within a request; the next sync goes on")
    left = bounds.end - bounds.clock()
    if left <= 0:
        raise DeadlinePassed
    return left if timeout is None else min(timeout, left)


def steps(timeout: float | None) -> Iterator[float]:
    """Yield waits of at most `STEP_S` that fill *timeout* or what is left of the deadline, whichever ends first.

    Raises:
        DeadlinePassed: No time is left.
        Stopped: The caller wants to end.
    """
    waited = 0.0
    while (left := time_left(None if timeout is None else timeout - waited)) is None or left > 0:
        step = STEP_S if left is None else min(STEP_S, left)
        yield step
        waited += step


def joined(thread: threading.Thread, timeout: float | None) -> bool:
    """Wait for a thread's end, no longer than *timeout*, the deadline and a stop; returns whether it ended.

    Raises:
        DeadlinePassed, Stopped: As `steps`.
    """
    for step in steps(timeout):
        thread.join(step)
        if not thread.is_alive():
            return True
    return False
