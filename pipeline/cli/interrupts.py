"""Ctrl-C and SIGTERM while work is under way: finish the batch within seconds; at a second one end at once."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from pipeline.cli.console import Console

INTERRUPTED = 130

GRACE_S = 4.5
"""Seconds that what is under way is given to end; then the process ends without it, as in a crash."""


def _nothing() -> None:
    """Nothing is to be done before the end."""


@contextmanager
def heeded(stop: threading.Event, console: Console, *, at_last: Callable[[], None] = _nothing) -> Iterator[None]:
    """Until the context ends, set *stop* at the first signal; end the process at a second one, or after the grace.

    Args:
        stop: What the work heeds.
        console: Where it is said.
        at_last: Called before the process ends without the work, in another thread and not for long.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals
        return
    late = threading.Timer(GRACE_S, lambda: _end_without(console, at_last))
    late.daemon = True

    def heed(number: int, frame: FrameType | None) -> None:
        del number, frame
        if stop.is_set():
            os._exit(INTERRUPTED)
        stop.set()
        late.start()
        console.note("stopping after this batch; once more ends at once")

    before = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        late.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_without(console: Console, at_last: Callable[[], None]) -> None:
    """End the process beside work that hangs; the next run goes on where this one was."""
    console.note("what was under way did not end in time; the next run goes on where this one was")
    sys.stdout.flush()
    last = threading.Thread(target=at_last, daemon=True)
    last.start()
    last.join(0.4)
    os._exit(INTERRUPTED)
