"""Prepares documents on threads, a bounded number and size ahead of the one that stores."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, Self, TypeVar

_Step = TypeVar("_Step")
_Result = TypeVar("_Result")
AHEAD = 32
"""Results each thread may be ahead of the consumer: enough to go on behind a slow document or a batch being stored."""

MOST_HELD = 64 * 2**20
"""What results that wait for the consumer may weigh before nothing more is begun: memory stays flat."""


class Workers(Generic[_Step, _Result]):
    """Threads that all have ended when the `with` block does, also when it is left by an error.

    Args:
        work: What each step is given to.
        threads: How many run at a time.
        stop: Once set, nothing more is begun.
        weigh: Tells what a result weighs, in bytes or so, while it waits.
    """

    def __init__(
        self,
        work: Callable[[_Step], _Result],
        *,
        threads: int,
        stop: threading.Event,
        weigh: Callable[[_Result], int] = lambda _: 0,
    ) -> None:
        self._work = work
        self._threads = threads
        self._stop = stop
        self._weigh = weigh
        self._held = _Held(MOST_HELD)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="sync")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.open()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, steps: Iterable[_Step]) -> Iterator[tuple[_Step, "Future[_Result]"]]:
        """Yield each step with its finished future, in the order of *steps*; what was begun is always yielded."""
        waiting: deque[tuple[_Step, Future[_Result]]] = deque()
        for number, step in enumerate(steps):
            if self._stop.is_set():
                break
            waiting.append((step, self._pool.submit(self._done, number, step)))
            if len(waiting) >= self._threads * AHEAD:
                yield from self._finished(waiting)
        while waiting:
            yield from self._finished(waiting)

    def _done(self, number: int, step: _Step) -> _Result:
        self._held.wait(number)
        if self._stop.is_set():
            raise _NotBegun
        result = self._work(step)
        self._held.add(self._weigh(result))
        return result

    def _finished(self, waiting: "deque[tuple[_Step, Future[_Result]]]") -> Iterator[tuple[_Step, "Future[_Result]"]]:
        """Wait for the first and yield it, unless a stop came before it was begun."""
        step, future = waiting.popleft()
        error = future.exception()
        self._held.take(self._weigh(future.result()) if error is None else 0)
        if not isinstance(error, _NotBegun):
            yield step, future


class _NotBegun(Exception):
    """A stop came first."""


class _Held:
    """What waits for the consumer; the one step it needs next is never held up, whatever the others weigh."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._needed = 0
        self._is_open = False
        self._changed = threading.Condition()

    def add(self, weight: int) -> None:
        """Let a finished result wait."""
        with self._changed:
            self._weight += weight

    def take(self, weight: int) -> None:
        """Give the consumer the one it needed; the next is needed now."""
        with self._changed:
            self._weight -= weight
            self._needed += 1
            self._changed.notify_all()

    def wait(self, number: int) -> None:
        """Return when the step of that number may begin."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_open or self._weight <= self._most or number <= self._needed,
            )

    def open(self) -> None:
        """Hold nobody up any more."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()
