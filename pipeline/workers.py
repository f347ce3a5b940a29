"""Prepares documents on threads, a bounded number ahead of the one that stores."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Step = TypeVar("_Step")
_Result = TypeVar("_Result")
AHEAD = 4
"""Results each thread may be ahead of the consumer: memory stays flat however slow storing is."""


def process(
    steps: Iterable[_Step], work: Callable[[_Step], _Result], *, threads: int, stop: threading.Event
) -> Iterator[tuple[_Step, "Future[_Result]"]]:
    """Yield each step with its finished future, in the order of *steps*.

    Nothing is begun once *stop* is set; what was begun is yielded. All threads have ended when the iteration ends,
    also when the consumer leaves early.
    """
    waiting: deque[tuple[_Step, Future[_Result]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="fetch") as pool:
        try:
            for step in steps:
                if stop.is_set():
                    break
                waiting.append((step, pool.submit(work, step)))
                if len(waiting) >= threads * AHEAD:
                    yield _finished(waiting)
            while waiting:
                yield _finished(waiting)
        finally:
            for _, future in waiting:
                future.cancel()


def _finished(waiting: "deque[tuple[_Step, Future[_Result]]]") -> tuple[_Step, "Future[_Result]"]:
    step, future = waiting.popleft()
    future.exception()  # waits for it, whatever the outcome
    return step, future
