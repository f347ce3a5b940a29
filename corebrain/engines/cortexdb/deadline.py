"""An end for everything a read asks of the server, handed on to the threads it starts."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from corebrain.errors import InvalidRequest, Unavailable

_END: ContextVar[float | None] = ContextVar("corebrain_cortexdb_end", default=None)


def end_in(seconds: float, now: float, end: float | None) -> float:
    """Return the moment *seconds* from *now*, at most *end*; `InvalidRequest` when it is no number."""
    if math.isnan(seconds):
        raise InvalidRequest("a deadline needs a number of seconds")
    return now + seconds if end is None else min(now + seconds, end)


@contextmanager
def until(end: float | None) -> Iterator[None]:
    """End what this context asks at *end*, by the clock of `Timing`; without one nothing changes."""
    if end is None:
        yield
        return
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


def ends() -> float | None:
    """Return when this context's read ends; `None` when it may take what it takes."""
    return _END.get()


def check(now: float, pause_s: float = 0.0) -> None:
    """Raise `Unavailable` when the read ends before *pause_s* seconds from *now* have passed."""
    end = _END.get()
    if end is not None and now + pause_s >= end:
        raise Unavailable("the deadline is over: no more is asked")
