"""Prepares documents on threads, a bounded number ahead of the one that stores."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, Self, TypeVar

_Step = TypeVar("_Step")
_Result = TypeVar("_Result")
AHEAD = 4
"""Results each thread may be ahead of the consumer: memory stays flat however slow storing is."""


class Workers(Generic[_Step, _Result]):
    """Threads that all have ended when the `with` block does, also when it is left by an error.

    Args:
        work: What each step is given to.
        threads: How many run at a time.
        stop: Once set, nothing more is begun.
    """

    def __init__(self, work: Callable[[_Step], _Result], *, threads: int, stop: threading.Event) -> None:
        self._work = work
        self._threads = threads
        self._stop = stop
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="sync")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, steps: Iterable[_Step]) -> Iterator[tuple[_Step, "Future[_Result]"]]:
        """Yield each step with its finished future, in the order of *steps*.

        What was begun is always yielded; once stopped, what only waits for a thread is not begun any more.
        """
        waiting: deque[tuple[_Step, Future[_Result]]] = deque()
        for step in steps:
            if self._stop.is_set():
                break
            waiting.append((step, self._pool.submit(self._work, step)))
            if len(waiting) >= self._threads * AHEAD:
                yield _finished(waiting)
        while waiting:
            if self._stop.is_set() and waiting[0][1].cancel():
                waiting.popleft()
            else:
                yield _finished(waiting)


def _finished(waiting: "deque[tuple[_Step, Future[_Result]]]") -> tuple[_Step, "Future[_Result]"]:
    step, future = waiting.popleft()
    future.exception()  # waits for it, whatever the outcome
    return step, future
