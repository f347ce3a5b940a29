"""Holds a source's lease for as long as a run takes."""

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from pipeline.errors import StateError
from pipeline.state.contract import Lease, StateStore

EVERY_S = 20.0
"""Seconds between two beats; a lease outlives several missed ones."""


class Heartbeat:
    """The lease of a source, kept alive by a thread that ends with it.

    Raises:
        AlreadyRunning: On entering, when a live owner holds the lease.
    """

    def __init__(self, state: StateStore, name: str, now: Callable[[], float]) -> None:
        self._state = state
        self._name = name
        self._now = now
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lease-{name}", daemon=True)
        self._lease: Lease | None = None

    def __enter__(self) -> None:
        self._lease = self._state.lease(self._name, self._now())
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if self._lease is not None:
            self._lease.release()

    def _beat(self) -> None:
        while not self._ended.wait(EVERY_S):
            if self._lease is not None:
                with suppress(StateError):  # a lease outlives missed beats; the run itself tells what is wrong
                    self._lease.beat(self._now())
