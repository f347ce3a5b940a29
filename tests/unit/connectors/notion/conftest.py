"""A made-up workspace behind HTTP, a clock that tests turn, and connectors of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from connectors.contract import Blob, Checkpoint, Complete, Event, Failed, Json, Ref, Seen
from connectors.http import Client, Pacer, Timing
from connectors.notes import MemoryNotes
from connectors.notion.connector import NotionConnector
from connectors.notion.service import notion_http
from connectors.testing.notion_server import TOKEN, NotionServer
from connectors.testing.notion_workspace import Workspace


@dataclass
class Office:
    """A workspace, its server, and what a pipeline would keep.

    Attributes:
        slept: Seconds that were waited.
    """

    workspace: Workspace
    server: NotionServer
    now: datetime = datetime(2026, 12, 1, 9, 0, 30, tzinfo=UTC)
    slept: list[float] = field(default_factory=list)
    notes: MemoryNotes = field(default_factory=MemoryNotes)
    clients: list[Client] = field(default_factory=list)

    def http(self, **more: Any) -> Client:
        timing = Timing(clock=self.seconds, sleep=self.sleep, chance=lambda: 0.0, now=lambda: self.now)
        made = notion_http(self.server.url, requests_per_minute=more.pop("pace", 0), timing=timing, **more)
        made._patient._pacer = Pacer(self.seconds)
        self.clients.append(made)
        return made

    def seconds(self) -> float:
        return self.now.timestamp()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def connector(self, token: str = TOKEN, pace: int = 0, **more: Any) -> NotionConnector:
        http = self.http(pace=pace)
        return NotionConnector(token, http=http, base_url=self.server.url, now=lambda: self.now, **more)

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)

    def scan(self, connector: NotionConnector, cursor: Json = None, scope: str = "") -> "Listing":
        return Listing(list(connector.scan(cursor, self.notes, scope)))

    def text(self, connector: NotionConnector, key: str) -> str:
        return str(self.document(connector, key).data.decode())

    def document(self, connector: NotionConnector, key: str) -> Any:
        blob = connector.fetch(self.scan(connector).refs[key], None)
        assert isinstance(blob, Blob)
        return blob

    def requests(self, *, of: str = "") -> int:
        return sum(of in line for line in self.server.log)


@dataclass(frozen=True)
class Listing:
    events: list[Event]

    @property
    def refs(self) -> dict[str, Ref]:
        return {event.ref.key: event.ref for event in self.events if isinstance(event, Seen)}

    @property
    def blobs(self) -> dict[str, Blob]:
        return {event.ref.key: event.blob for event in self.events if isinstance(event, Seen) and event.blob}

    @property
    def cursor(self) -> Json:
        return [event.cursor for event in self.events if isinstance(event, Checkpoint)][-1]

    @property
    def failed(self) -> list[Failed]:
        return [event for event in self.events if isinstance(event, Failed)]

    @property
    def complete(self) -> bool:
        return Complete("") in self.events


@pytest.fixture
def office() -> Iterator[Office]:
    workspace = Workspace()
    server = NotionServer(workspace)
    made = Office(workspace, server)
    workspace.clock = lambda: made.now
    with server:
        yield made
        for client in made.clients:
            client.close()
