"""An embedder that cannot harm who asks it: each call is bounded in time, and every number it gives is checked."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from corebrain.embed.contract import Embedder, EmbedsQueries
from corebrain.embed.missing import needs
from corebrain.errors import CorebrainError, EngineError, InvalidRequest, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

LOADING_S = 60.0
"""Seconds the first call may take when nobody is in a hurry: it often loads the model."""

ENDING_S = 10.0
"""Seconds that closing waits for a call under way: ending a process in the midst of one aborts it."""

REST_S = 30.0
"""Seconds for which questions are not embedded after a call that failed or hung: readers do not wait again."""


class Guarded:
    """Rows of unit length from an embedder, or a typed error in time.

    A call that hangs is left behind on its own thread, and until it ends no further one is made.

    Args:
        embedder: Whose.
        now: Seconds of a monotonic clock.

    Raises:
        ConfigError: numpy is not installed.
    """

    def __init__(self, embedder: Embedder, now: Callable[[], float] = time.monotonic) -> None:
        with needs("semantic"):
            import numpy  # noqa: F401, ICN001, PLC0415  # said here, not on the first read
        self.embedder = embedder
        self._now = now
        self._turn = threading.Lock()
        self._has_answered = False
        self._rests_until = float("-inf")

    @property
    def name(self) -> str:
        """The model, as it is recorded."""
        return self.embedder.name

    def texts(self, texts: Sequence[str], timeout_s: float) -> "NDArray[np.float32]":
        """Return a row a text.

        Raises:
            Unavailable: it took longer than *timeout_s*, an earlier call still hangs, or the embedder said so.
            CorebrainError: what the embedder raised; `EngineError` for anything else, and for rows that are none.
        """
        return self._checked(self._called(lambda: self.embedder.embed(texts), timeout_s), len(texts))

    def query(self, query: str, timeout_s: float, *, in_a_hurry: bool = False) -> "NDArray[np.float32]":
        """Return the row of a question; raises as `texts`, at once while the embedder rests after a failure.

        The first call may take `LOADING_S`, unless the asker is in a hurry.
        """
        if not self._has_answered and not in_a_hurry:
            timeout_s = max(timeout_s, LOADING_S)
        if self._now() < self._rests_until:
            raise Unavailable(f"{self.name} failed a moment ago: it is asked again in {REST_S:.0f} seconds at most")
        one = self.embedder.embed_query if isinstance(self.embedder, EmbedsQueries) else self._embed_one
        try:
            row: NDArray[np.float32] = self._checked(self._called(lambda: one(query), timeout_s), 1)[0]
        except CorebrainError as error:
            if not isinstance(error, InvalidRequest):  # that one is the question's own fault
                self._rests_until = self._now() + REST_S
            raise
        return row

    def _embed_one(self, query: str) -> "ArrayLike":
        return self.embedder.embed([query])

    def _called(self, call: "Callable[[], ArrayLike]", timeout_s: float) -> "ArrayLike":
        if not self._turn.acquire(timeout=max(0.0, timeout_s)):
            raise Unavailable(f"{self.name} is still busy with an earlier call")
        answers: list[ArrayLike] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                answers.append(call())
            except BaseException as error:  # noqa: BLE001  # carried to the thread that asked, which raises it
                errors.append(error)
            finally:
                self._turn.release()

        thread = threading.Thread(target=run, name="corebrain-embed", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread can be had
            self._turn.release()
            raise Unavailable(f"{self.name} cannot be asked: {error}") from error
        thread.join(max(0.0, timeout_s))
        if errors:
            raise _typed(errors[0], self.name) from errors[0]
        if not answers:
            raise Unavailable(f"{self.name} took longer than {timeout_s:.1f} seconds")
        self._has_answered = True
        return answers[0]

    def close(self) -> None:
        """Wait for a call under way, but not for one that hangs."""
        if self._turn.acquire(timeout=ENDING_S):
            self._turn.release()

    def _checked(self, rows: "ArrayLike", count: int) -> "NDArray[np.float32]":
        import numpy  # noqa: ICN001, PLC0415  # heavy, of an extra

        try:
            held: NDArray[np.float32] = numpy.array(rows, dtype=numpy.float32)
        except (TypeError, ValueError) as error:
            raise EngineError(f"{self.name} gave rows of different lengths, or no numbers") from error
        if held.ndim == 1 and count == 1:
            held = held[None, :]
        if held.ndim != 2 or held.shape[0] != count or not held.shape[1]:
            raise EngineError(f"{self.name} gave vectors of shape {held.shape} for {count} texts")
        if not numpy.isfinite(held).all():
            raise EngineError(f"{self.name} gave numbers that are not finite")
        held /= numpy.maximum(numpy.abs(held).max(axis=1, keepdims=True), 1e-30)  # else a square may overflow
        held /= numpy.maximum(numpy.linalg.norm(held, axis=1, keepdims=True), 1e-12)
        return held


def _typed(error: BaseException, name: str) -> CorebrainError:
    if isinstance(error, CorebrainError):
        return error
    return EngineError(f"{name} failed ({type(error).__name__}): see its cause")
