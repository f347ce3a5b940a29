"""Ctrl-C and SIGTERM while work is under way: finish the batch; at a second one end at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pipeline.cli.console import Console

INTERRUPTED = 130


@contextmanager
def heeded(stop: threading.Event, console: Console) -> Iterator[None]:
    """Set *stop* at the first signal and end the process at the second, until the context ends."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may take signals
        return

    def heed(number: int, frame: FrameType | None) -> None:
        del number, frame
        if stop.is_set():
            os._exit(INTERRUPTED)
        stop.set()
        console.note("stopping after this batch; once more ends at once")

    before = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
