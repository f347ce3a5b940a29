"""What can be made to go wrong on a CortexDB double."""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from email.message import Message

from corebrain.conformance.doubles.event_log import Json, Refused

TOKEN = "tiny_live_test"  # noqa: S105  # the doubles' own word, no secret
STATE_CHANGED = "AUTHORIZATION_STATE_CHANGED"
SCOPE_TYPES = frozenset(
    ("org", "dept", "team", "app", "user", "agent", "service", "ws", "project", "global", "system", "source")
)
"""The scope types a server has registered unless told otherwise."""


@dataclass
class Knobs:
    """Counters are how many requests are still to go wrong; set them while nothing is under way.

    Attributes:
        fail_all: Status and code with which every request fails.
        accept_token: The only token accepted.
        hide_listing_for: Listings that come back empty.
        rate_limit_events: Listings refused with 429.
        state_change_events: Listings refused with 503 `AUTHORIZATION_STATE_CHANGED`.
        rate_limit_experience: Writes refused with 429 before anything.
        apply_then_fail: Writes applied, then answered with 503.
        claim_then_fail: Hosted writes claimed, not applied, answered with 502.
        fail_nth_experience: The write, counted from 1, that is refused with 400.
        rate_limit_forget: Forgets refused with 429.
        recall_down: Recalls fail with 500.
        excerpt_bytes: Beyond how many bytes a pack shows only the beginning of an event's text.
        expire_packs: Answers that find no pack: 404.
        whoami_caller: The caller `whoami` names; without it the route is missing.
        listing_delay_ms: Milliseconds a listing takes, to see how many run at once.
        delay_ms: Milliseconds every request takes beside its work.
        index_ms: Milliseconds until an event that was only accepted can be read.
        erasure_status: What an erasure's answer says of its state.
        fail_registration: Registrations of a scope refused with 500.
        erasure_incomplete: Hosted erasures refused with 502 `ERASURE_INCOMPLETE`.
        erase_all_missing: Whether the hosted surface lacks the route that erases everything.
        scope_types: The scope types that are registered.
        lacks: Routes this server is too old for: 404.
        raw: Route prefix -> the bytes of a whole reply (status line, headers, body) sent instead of an honest one, or
            what yields them piece by piece.
    """

    fail_all: tuple[int, str] | None = None
    accept_token: str = TOKEN
    hide_listing_for: int = 0
    rate_limit_events: int = 0
    state_change_events: int = 0
    rate_limit_experience: int = 0
    apply_then_fail: int = 0
    claim_then_fail: int = 0
    fail_nth_experience: int = 0
    rate_limit_forget: int = 0
    recall_down: bool = False
    excerpt_bytes: int | None = None
    expire_packs: int = 0
    whoami_caller: str | None = None
    listing_delay_ms: int = 0
    delay_ms: int = 0
    index_ms: int = 0
    erasure_status: str | None = "completed"
    fail_registration: int = 0
    erasure_incomplete: int = 0
    erase_all_missing: bool = False
    scope_types: frozenset[str] = SCOPE_TYPES
    lacks: frozenset[str] = frozenset()
    raw: dict[str, bytes | Callable[[], Iterable[bytes]]] = field(default_factory=dict)
    _armed: tuple[int, int] = (0, 0)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm_after_write(self, limited: int, hidden: int) -> None:
        """Once the next write is applied, refuse *limited* listings with 429 and bring *hidden* back empty."""
        self._armed = limited, hidden

    def wrote(self) -> None:
        """Note an applied write."""
        with self._lock:
            limited, hidden = self._armed
            self.rate_limit_events += limited
            self.hide_listing_for += hidden
            self._armed = 0, 0

    def take(self, name: str) -> bool:
        """Count one of the knob *name* down; tell whether there was one."""
        with self._lock:
            left: int = getattr(self, name)
            if left > 0:
                setattr(self, name, left - 1)
            return left > 0

    def refuse(self, name: str, status: int, code: str) -> None:
        """Refuse the request when the knob *name* still has one to refuse."""
        if self.take(name):
            raise Refused(status, code)


@dataclass
class Seen:
    """Every request in order: line, authorization, actor and claim headers, all headers; and the bodies with lines."""

    lines: list[str] = field(default_factory=list)
    tokens: list[str | None] = field(default_factory=list)
    actors: list[str | None] = field(default_factory=list)
    claims: list[str | None] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[tuple[str, Json]] = field(default_factory=list)
    listings_at_once: int = 0
    most_listings_at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, line: str, headers: Message, body: Json | None) -> None:
        """Note a request."""
        with self._lock:
            self.lines.append(line)
            self.tokens.append(headers.get("Authorization"))
            self.actors.append(headers.get("X-Cortex-Actor"))
            self.claims.append(headers.get("Idempotency-Key"))
            self.headers.append(dict(headers.items()))
            if body is not None:
                self.bodies.append((line, body))

    @contextlib.contextmanager
    def listing(self) -> Iterator[None]:
        """Count a listing while it is under way."""
        with self._lock:
            self.listings_at_once += 1
            self.most_listings_at_once = max(self.most_listings_at_once, self.listings_at_once)
        try:
            yield
        finally:
            with self._lock:
                self.listings_at_once -= 1

    def clear(self) -> None:
        """Forget every request so far."""
        with self._lock:
            for held in (self.lines, self.tokens, self.actors, self.claims, self.headers, self.bodies):
                held.clear()

    def of(self, route: str) -> list[Json]:
        """Return the bodies sent to a route, its query left out."""
        return [body for line, body in self.bodies if line.split(" ")[1].partition("?")[0].lstrip("/") == route]
