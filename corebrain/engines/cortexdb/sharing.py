"""One answer for those who ask the same at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from corebrain.engines.cortexdb import deadline

_Answer = TypeVar("_Answer")


class Shared(Generic[_Answer]):
    """Joins equal questions that are under way at once: a pack's sections all list the same scopes.

    Nothing is remembered: who asks after an answer came asks anew. Who asks after `passed` joins no question from
    before it, so that a write that has returned is seen. A read with a deadline joins only those that end with it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[tuple[str, int, float | None], Future[_Answer]] = {}
        self._writes = 0

    def passed(self) -> None:
        """Note that what is asked about has changed."""
        with self._lock:
            self._writes += 1

    def ask(self, question: str, answer: Callable[[], _Answer]) -> _Answer:
        """Return *answer()*, or what another thread is about to learn by it; its failure is everybody's."""
        with self._lock:
            key = question, self._writes, deadline.ends()
            joined = self._under_way.get(key)
            mine: Future[_Answer] = Future()
            if joined is None:
                self._under_way[key] = mine
        if joined is not None:
            return joined.result()
        try:
            mine.set_result(answer())
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._under_way[key]
        return mine.result()
