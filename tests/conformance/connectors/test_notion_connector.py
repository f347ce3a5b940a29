"""The Notion connector keeps the law of connectors, on its stand-in: with edits in one minute, and minutes apart."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from connectors.http import Client, Timing
from connectors.notion.connector import NotionConnector
from connectors.notion.selection import Selection
from connectors.notion.service import notion_http
from connectors.testing.conformance import CHECKS, Check
from connectors.testing.notion_server import TOKEN, NotionServer
from connectors.testing.notion_workspace import Workspace


class NotionHarness:
    """A workspace behind HTTP. A folder is a database, whose own document is left out; search does not know its rows.

    Args:
        step: How far the clock goes at every change.
    """

    tokens_are_listed = True  # markdown comes without a time

    def __init__(self, step: timedelta) -> None:
        self.now = datetime(2026, 12, 1, 9, 0, 30, tzinfo=UTC)
        self.step = step
        self.workspace = Workspace(lambda: self.now)
        self.server = NotionServer(self.workspace)
        self.keys: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self.clients: list[Client] = []

    def connector(self) -> NotionConnector:
        timing = Timing(sleep=lambda _: None, chance=lambda: 0.0)
        http = notion_http(self.server.url, requests_per_minute=0, timing=timing)
        http.get(f"{self.server.url}/_log")  # the server's thread for this connection lives before a check counts them
        self.clients.append(http)
        return NotionConnector(
            TOKEN,
            http=http,
            base_url=self.server.url,
            selection=Selection.of(exclude_titles=["folder *"]),
            now=lambda: self.now,
        )

    def put(self, name: str, text: str) -> str:
        if name not in self.keys:
            self.keys[name] = self.workspace.add_page(name.rpartition("/")[2], self.folder(name))
            self.hide(name)
        self.workspace.write(self.keys[name], [text])
        self.now += self.step
        return self.keys[name]

    def folder(self, name: str) -> str | None:
        folder = name.rpartition("/")[0]
        if not folder:
            return None
        if folder not in self.folders:
            self.folders[folder] = self.workspace.add_database(f"folder {folder}")
        return self.folders[folder]

    def hide(self, name: str) -> None:
        if "/" in name:
            self.workspace.unsearched.add(self.keys[name])

    def rename(self, key: str, name: str) -> str:
        self.keys = {**{old: held for old, held in self.keys.items() if held != key}, name: key}
        self.workspace.rename(key, name.rpartition("/")[2])
        self.workspace.move(key, self.folder(name))
        self.hide(name)
        self.now += self.step
        return key

    def remove(self, key: str) -> None:
        self.workspace.trash(key)
        self.now += self.step

    @contextmanager
    def unreadable(self, key: str) -> Iterator[None]:
        source = self.workspace.things[key]["parent"]["data_source_id"]
        self.server.fail(f"data_sources/{source}/query", 500, times=1_000)
        yield
        self.server.faults.clear()


@pytest.fixture(params=[timedelta(), timedelta(minutes=3)], ids=["in one minute", "minutes apart"])
def harness(request: pytest.FixtureRequest) -> Iterator[NotionHarness]:
    made = NotionHarness(request.param)
    with made.server:
        yield made
        for client in made.clients:
            client.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_notion_connector_keeps_the_law(check: Check, harness: NotionHarness) -> None:
    check(harness)
