"""How much of GitHub's hourly limit is left, with a reserve for everybody else who uses the same credential.

Headers: docs.github.com, "Rate limits for the REST API" (`x-ratelimit-limit`, `-remaining`, `-reset`, `-resource`).
"""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from connectors.github.errors import BudgetSpent
from connectors.http.retry import retry_after

RESERVE = 0.1
SECONDARY_S = 60.0
"""What to wait at a secondary limit that names no time, as GitHub's documentation asks."""

_WINDOW_S = 3600.0  # no limit lasts longer; some servers and proxies tell milliseconds
_LIMITED = frozenset({403, 429})


class Budget:
    """The limits as the last replies told them.

    Args:
        reserve: Part of each limit that is left to others, 0 to 1.
        now: The wall clock, aware.
    """

    def __init__(self, reserve: float = RESERVE, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._reserve = reserve
        self._now = now
        self._lock = threading.Lock()
        self._told: dict[str, tuple[int, int, int]] = {}

    def note(self, headers: Mapping[str, str]) -> None:
        """Learn from a reply."""
        try:
            told = tuple(int(float(headers[f"x-ratelimit-{name}"])) for name in ("limit", "remaining", "reset"))
        except (KeyError, ValueError):
            return
        with self._lock:
            self._told[headers.get("x-ratelimit-resource", "core")] = (told[0], told[1], told[2])

    def remaining(self, resource: str = "core") -> int | None:
        """Return what was left at the last reply; `None` when nothing was told."""
        with self._lock:
            told = self._told.get(resource)
        return told[1] if told else None

    def check(self, resource: str = "core", *, free: bool = False) -> None:
        """See whether another request may be sent.

        Args:
            resource: Which of GitHub's limits it counts against.
            free: Whether it most likely costs nothing (a conditional request): the reserve is open to it.

        Raises:
            BudgetSpent: Only the reserve is left, until the time its `retry_after_s` tells.
        """
        with self._lock:
            limit, remaining, reset = self._told.get(resource, (0, 1, 0))
        wait = min(reset - self._now().timestamp(), _WINDOW_S)
        floor = 0 if free else int(limit * self._reserve)
        if remaining <= floor and wait > 0:
            raise BudgetSpent(
                f"GitHub's limit of {limit:,} requests an hour is used up but for {remaining:,}"
                f" kept in reserve; it goes on at {_clock(self._now() + timedelta(seconds=wait))}",
                retry_after_s=wait,
            )


def asked(status: int, headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds a reply asks to wait, primary limit and secondary one; for `RetryPolicy.asked`."""
    if status not in _LIMITED:
        return retry_after(headers, now) if status == 503 else None
    told = retry_after(headers, now)
    if told is not None:
        return told
    if headers.get("x-ratelimit-remaining") == "0":
        return until_reset(headers, now)
    return SECONDARY_S if status == 429 else None


def until_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds until the primary limit is renewed, at least one."""
    try:
        return min(_WINDOW_S, max(1.0, float(headers["x-ratelimit-reset"]) - now.timestamp()))
    except (KeyError, ValueError):
        return None


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S} UTC"
