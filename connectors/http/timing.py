"""Time and chance, as the client takes them; a test brings its own."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Timing:
    """Where time and chance come from.

    Attributes:
        clock: Seconds that only grow.
        now: The wall clock, aware; `Retry-After` may be a date.
        chance: A number in [0, 1) for jitter.
        sleep: Waits some seconds; `None` waits on the client's stop event, so that a stop ends it at once.
    """

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _now
    chance: Callable[[], float] = field(default=random.random)
    sleep: Callable[[float], None] | None = None
