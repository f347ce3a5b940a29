"""Runs calls at once on threads that end before it returns: concurrency without anything left running."""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any, Generic, TypeVar

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


class _Task(Generic[T]):
    """One call and how it ended."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: T | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._call()
        except BaseException as error:  # noqa: BLE001  # kept and raised again in the caller's thread by result()
            self._error = error

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # run() has ended without an error, so it was set


def together(calls: Sequence[Callable[[], T]], *, threads: bool = True) -> list[T]:
    """Run *calls* at once and return their results in order.

    All have ended when this returns or raises. The first runs in the caller's own thread, each other in a thread of
    its own, with a copy of the caller's context variables; one for which no thread can be had runs in the caller's.

    Without *threads* all run one after the other in the caller's.

    Raises:
        BaseException: what the first call that failed raised, after every call has ended.
    """
    tasks = [_Task(call) for call in calls]
    _run(tasks, threads=threads)
    return [task.result() for task in tasks]


def both(first: Callable[[], A], second: Callable[[], B], *, threads: bool = True) -> tuple[A, B]:
    """Run two calls of different kinds as `together` does."""
    one, other = _Task(first), _Task(second)
    _run((one, other), threads=threads)
    return one.result(), other.result()


def _run(tasks: Sequence[_Task[Any]], *, threads: bool) -> None:
    started: list[threading.Thread] = []
    own = list(tasks[:1] if threads else tasks)
    for task in tasks[len(own) :]:
        thread = threading.Thread(target=copy_context().run, args=(task.run,), name="corebrain-read")
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads
            own.append(task)
        else:
            started.append(thread)
    try:
        for task in own:
            task.run()
    finally:
        for thread in started:
            thread.join()
