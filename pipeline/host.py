"""What a sync takes from the program around it: time, chance, a way to stop and someone to tell."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a source is.

    Attributes:
        source: Its configured name.
        phase: `scan`, `fetch` or `forget`.
        done: Items behind us in this phase.
        total: Items of this phase; `None` while unknown.
        key: The item last finished; empty for none.
        stored: Whether that item was just stored.
    """

    source: str
    phase: str
    done: int
    total: int | None = None
    key: str = ""
    stored: bool = False


def _unheard(progress: Progress) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Host:
    """Injected by tests, defaulted for everybody else.

    Attributes:
        now: Seconds since the epoch.
        monotonic: Seconds that never go back, for durations.
        chance: A number from 0 to 1, for jitter.
        stop: Set to end after the current batch.
        tell: Called with progress, from the threads that sync, one at a time.
    """

    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    stop: threading.Event = field(default_factory=threading.Event)
    tell: Callable[[Progress], None] = _unheard
