"""A stand-in site, and a connector of it that waits for nothing."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pytest

from connectors.contract import Event, Json, Seen
from connectors.http import Pacer, RetryPolicy, Timing
from connectors.notes import MemoryNotes
from connectors.testing.harness import Listing
from connectors.testing.web import WebStandIn
from connectors.web.connector import WebConnector
from connectors.web.scope import Scope
from connectors.web.site import Habits

Crawl: TypeAlias = "Callable[..., Listing]"


@pytest.fixture
def site() -> Iterator[WebStandIn]:
    with WebStandIn() as made:
        yield made


@pytest.fixture
def connect(site: WebStandIn) -> Iterator[Callable[..., WebConnector]]:
    """Make a connector of the stand-in: keywords are those of `Habits`, `Scope` and `WebConnector`."""
    made: list[WebConnector] = []

    def run(*start: str, private: list[str] | None = None, **settings: Any) -> WebConnector:
        scope = {name: settings.pop(name) for name in ("include", "exclude", "reach", "query") if name in settings}
        habits = {name: settings.pop(name) for name in list(settings) if name in Habits.__dataclass_fields__}
        seconds = [0.0]
        timing = Timing(
            clock=lambda: seconds[0],
            now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            chance=lambda: 0.0,
            sleep=lambda wait: seconds.__setitem__(0, seconds[0] + wait),
        )
        connector = WebConnector(
            Scope([f"{site.url}{path}" if path.startswith("/") else path for path in (start or ("/",))], **scope),
            Habits(**{"interval_s": 0.0, **habits}),
            allow_private=[site.place] if private is None else private,
            timing=timing,
            pacer=Pacer(timing.clock),
            retry=RetryPolicy(attempts=2),
            **settings,
        )
        made.append(connector)
        return connector

    yield run
    for connector in made:
        connector.close()


@pytest.fixture
def crawl() -> Crawl:
    """Scan to the end."""

    def run(connector: WebConnector, notes: MemoryNotes | None = None, cursor: Json = None, scope: str = "") -> Listing:
        return Listing(tuple(connector.scan(cursor, notes or MemoryNotes(), scope)))

    return run


@pytest.fixture
def seen() -> Callable[[Listing, WebStandIn], list[str]]:
    """The paths of the documents that a crawl saw, in order."""

    def run(listing: Listing, site: WebStandIn) -> list[str]:
        events: list[Event] = [event for event in listing.events if isinstance(event, Seen)]
        return [event.ref.key.removeprefix(site.place) or "/" for event in events if isinstance(event, Seen)]

    return run
