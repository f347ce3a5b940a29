"""An end for reads: a statement that does not make it is interrupted by SQLite itself, so nothing is left running."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from corebrain.errors import InvalidRequest, Unavailable

_STEPS = 1_000  # SQLite instructions between two looks at the clock: some 30 microseconds


class Deadline:
    """A moment *seconds* from now by which reads end.

    Args:
        seconds: From now; 0 or less is over at once.
        now: Seconds of a monotonic clock.

    Raises:
        InvalidRequest: *seconds* is no number.
    """

    def __init__(self, seconds: float, now: Callable[[], float]) -> None:
        if seconds != seconds:  # noqa: PLR0124  # only NaN differs from itself
            raise InvalidRequest("a deadline needs a number of seconds")
        self._now = now
        self._end = now() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, negative when it is over."""
        return self._end - self._now()

    def is_over(self) -> bool:
        """Tell whether the moment has come."""
        return self._now() >= self._end

    @contextmanager
    def on(self, connection: apsw.Connection, busy_ms: int) -> Iterator[None]:
        """Interrupt whatever *connection* runs in this context once the deadline is over.

        Args:
            connection: Whose statements end; it waits no longer than is left for a file kept busy.
            busy_ms: How long it waits at other times.

        Raises:
            Unavailable: the deadline was over before; nothing was run.
        """
        left = self.left
        if left <= 0:
            raise Unavailable("the deadline is over: nothing was read")
        connection.set_progress_handler(self.is_over, _STEPS)
        connection.set_busy_timeout(max(1, min(busy_ms, int(left * 1000))))
        try:
            yield
        finally:
            connection.set_progress_handler(None)
            connection.set_busy_timeout(busy_ms)
