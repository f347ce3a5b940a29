"""When a request is sent again, and how long to wait before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias

Asked: TypeAlias = Callable[[int, Mapping[str, str], datetime], float | None]
"""Seconds that a reply (status, headers, received at) asks to wait; `None` when it is no limit."""

TRANSIENT = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses that may be gone at the next attempt; 529 is Notion's overload."""

_LIMITS = frozenset({429, 503, 529})


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds of a `Retry-After` (a number, or a date: RFC 9110 §10.2.3), `None` without a readable one."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value)) if float(value) < float("inf") else None
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def usual_limits(status: int, headers: Mapping[str, str], now: datetime) -> float | None:
    """Heed `Retry-After` of 429, 503 and 529."""
    return retry_after(headers, now) if status in _LIMITS else None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """What is tried again, how often and how patiently.

    Attributes:
        attempts: Requests sent in all, at least 1.
        first_s: Wait before the second attempt; it doubles with each, and a random half of it is left out.
        most_s: Longest wait that nobody asked for.
        patience_s: Longest wait a server may ask for; what asks for more is not waited for but told.
        statuses: Replies that are tried again, for `methods`; 429 is for all, for it was not acted on.
        methods: What may be sent twice. Add POST where it only reads.
        asked: What a reply asks; give your own for a service with headers of its own.
    """

    attempts: int = 4
    first_s: float = 0.5
    most_s: float = 30.0
    patience_s: float = 120.0
    statuses: frozenset[int] = TRANSIENT
    methods: frozenset[str] = frozenset({"GET", "HEAD", "OPTIONS"})
    asked: Asked = field(default=usual_limits)

    def backoff(self, attempt: int, chance: float) -> float:
        """Return the wait after failed attempt number *attempt* (the first is 1); *chance* lies in [0, 1)."""
        full = min(self.most_s, self.first_s * float(2 ** min(attempt - 1, 30)))
        return full * (0.5 + chance / 2)

    def repeats(self, method: str, status: int) -> bool:
        """Whether this reply to this method may be gone at the next attempt."""
        return status == 429 or (status in self.statuses and method in self.methods)
