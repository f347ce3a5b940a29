"""One deadline over a whole request: connecting, sending, and every byte of the reply.

Timeouts of a socket bound one read each, so a server that sends a byte now and then would hold a request for ever.
The running request's deadline is a context variable; the network streams of `connectors.http.network` ask it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class DeadlinePassed(Exception):
    """The request took longer than it may as a whole."""


_ENDS: ContextVar[tuple[Callable[[], float], float] | None] = ContextVar("_ENDS", default=None)


@contextmanager
def deadline(seconds: float, clock: Callable[[], float]) -> Iterator[None]:
    """Bound everything that this thread reads and writes in the block by *seconds* from now."""
    token = _ENDS.set((clock, clock() + seconds))
    try:
        yield
    finally:
        _ENDS.reset(token)


def time_left(timeout: float | None) -> float | None:
    """Return how long the next step may take: *timeout*, or less when the deadline is nearer.

    Raises:
        DeadlinePassed: No time is left.
    """
    ends = _ENDS.get()
    if ends is None:
        return timeout
    clock, end = ends
    left = end - clock()
    if left <= 0:
        raise DeadlinePassed
    return left if timeout is None else min(timeout, left)
