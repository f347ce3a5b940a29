"""How long the engine waits for what."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds, and the clock they are counted by.

    Attributes:
        request_s: One request, from its first byte to the reply's last.
        connect_s: Reaching the host.
        backoff_s: Before the second attempt of a read; doubled after each.
        poll_s: Between two looks at whether a write can be read.
        slow_poll_s: What growing gaps grow to.
        listed_s: Until a write must be listed.
        ranked_s: Until waiting for a write to be ranked is given up.
        erased_s: Until an erasure must have ended.
    """

    request_s: float = 60.0
    connect_s: float = 10.0
    backoff_s: float = 0.25
    poll_s: float = 0.25
    slow_poll_s: float = 2.0
    listed_s: float = 30.0
    ranked_s: float = 10.0
    erased_s: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
