"""A GitHub on loopback with one repository, and connectors of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from connectors.contract import Blob, Checkpoint, Complete, Event, Failed, Json, Ref, Seen
from connectors.github.connector import GitHubConnector
from connectors.github.kind import GitHubConfig, connector_over
from connectors.github.selection import Wanted
from connectors.github.service import github_http
from connectors.http import Client, Timing
from connectors.http.pacing import Pacer
from connectors.notes import MemoryNotes
from connectors.testing.github_repository import Repository
from connectors.testing.github_server import GitHubServer


@dataclass
class World:
    """The stand-in, a clock, and one sync after another.

    Attributes:
        slept: What the client waited, in seconds.
    """

    root: Path
    server: GitHubServer
    now: datetime = datetime(2026, 12, 1, 9, tzinfo=UTC)
    slept: list[float] = field(default_factory=list)
    notes: MemoryNotes = field(default_factory=MemoryNotes)
    cursor: Json = None
    clients: list[Client] = field(default_factory=list)

    def repository(self, name: str = "acme/api", **more: Any) -> Repository:
        repo = Repository.create(self.root, name, len(self.server.repositories) + 1, **more)
        (self.root / f"{name}.git").symlink_to(repo.path)
        self.server.repositories[name] = repo
        return repo

    def connector(self, *repos: str, **config: Any) -> GitHubConnector:
        pacer = Pacer(lambda: 0.0)
        timing = Timing(sleep=self.slept.append, chance=lambda: 0.0, now=lambda: self.now)
        given = {"repos": repos or ("acme/api",), "base_url": self.server.url, "git_url": self.server.url, **config}
        http = github_http(self.server.url, timing=timing)
        http._patient._pacer = pacer  # a pause told to one test is not another's
        self.clients.append(http)
        checked = GitHubConfig.model_validate(given)
        wanted = Wanted(checked.repos, checked.exclude_repos)
        return connector_over(http, checked, wanted, "github", lambda: self.now)

    def scan(self, connector: GitHubConnector, scope: str = "") -> "Scanned":
        self.now += timedelta(hours=1)
        self.server.log.clear()
        events = list(connector.scan(None if scope else self.cursor, self.notes, scope))
        cursors = [event.cursor for event in events if isinstance(event, Checkpoint)]
        self.cursor = cursors[-1] if cursors and not scope else self.cursor
        return Scanned(events)


@dataclass
class Scanned:
    """What a scan said."""

    events: list[Event]

    @property
    def refs(self) -> dict[str, Ref]:
        return {event.ref.key: event.ref for event in self.events if isinstance(event, Seen)}

    @property
    def complete(self) -> list[str]:
        return [event.scope for event in self.events if isinstance(event, Complete)]

    @property
    def failed(self) -> dict[str, str]:
        return {event.scope: event.error.message for event in self.events if isinstance(event, Failed)}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with GitHubServer() as server:
        world = World(tmp_path, server)
        yield world
        for client in world.clients:
            client.close()


@pytest.fixture
def text() -> Callable[[GitHubConnector, Ref], str]:
    def read(connector: GitHubConnector, ref: Ref) -> str:
        blob = connector.fetch(ref, None)
        assert isinstance(blob, Blob)
        assert isinstance(blob.data, bytes)
        return blob.data.decode()

    return read
