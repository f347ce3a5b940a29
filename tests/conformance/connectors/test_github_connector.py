"""The GitHub connector keeps the law of connectors, on its stand-in over a real repository: by API and by git."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unicodedata import normalize

import pytest

from connectors.github.connector import GitHubConnector
from connectors.github.kind import GitHubConfig, connector_over
from connectors.github.selection import Wanted
from connectors.github.service import github_http
from connectors.http import Client, Timing
from connectors.testing.conformance import CHECKS, Check
from connectors.testing.github_repository import Repository
from connectors.testing.github_server import GitHubServer

NAME = "acme/handbook"


class GitHubHarness:
    """One repository; every change is a commit, and an hour later.

    Args:
        root: Where repositories lie.
        transport: `api` or `git`.
        cut: Whether recursive trees are cut, so that folders are listed one by one.
    """

    def __init__(self, root: Path, transport: str, *, cut: bool) -> None:
        self.now = datetime(2026, 12, 1, 9, tzinfo=UTC)
        self.root = root
        self.transport = transport
        self.repo = Repository.create(root, NAME, truncate=1 if cut else 100_000)
        (root / f"{NAME}.git").symlink_to(self.repo.path)
        self.server = GitHubServer([self.repo])
        self.clients: list[Client] = []

    def connector(self) -> GitHubConnector:
        timing = Timing(sleep=lambda _: None, chance=lambda: 0.0)
        http = github_http(self.server.url, timing=timing)
        http.get(f"{self.server.url}/_log")  # the server's thread for this connection lives before a check counts them
        self.clients.append(http)
        config = GitHubConfig.model_validate(
            {
                "repo": NAME,
                "base_url": self.server.url,
                "transport": self.transport,
                "git_url": f"file://{self.root}",
            }
        )
        return connector_over(http, config, Wanted([NAME]), "github", lambda: self.now)

    def put(self, name: str, text: str) -> str:
        self.repo.put({name: text})
        return self.changed(name)

    def rename(self, key: str, name: str) -> str:
        path = self.repo.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.repo.path / key.removeprefix(f"{NAME}/")).rename(path)
        self.repo.commit()
        return self.changed(name)

    def remove(self, key: str) -> None:
        (self.repo.path / key.removeprefix(f"{NAME}/")).unlink()
        self.repo.commit()
        self.changed("")

    def changed(self, name: str) -> str:
        self.now += timedelta(hours=1)
        return f"{NAME}/{normalize('NFC', name)}"

    @contextmanager
    def hidden(self, key: str) -> Iterator[None]:
        folder = key.removeprefix(f"{NAME}/").rpartition("/")[0]
        sha = self.repo.git("rev-parse", f"HEAD:{folder}").decode().strip()
        self.server.fail(f"git/trees/{sha}", 500, times=1_000)
        yield
        self.server.faults.clear()

    def unreadable(self, key: str) -> AbstractContextManager[None] | None:
        return self.hidden(key) if self.repo.truncate == 1 else None

    def close(self) -> None:
        for client in self.clients:
            client.close()


WAYS: dict[str, Callable[[Path], GitHubHarness]] = {
    "api": lambda root: GitHubHarness(root, "api", cut=False),
    "api, trees cut": lambda root: GitHubHarness(root, "api", cut=True),
    "git": lambda root: GitHubHarness(root, "git", cut=False),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_github_connector_keeps_the_law(check: Check, way: str, tmp_path: Path) -> None:
    harness = WAYS[way](tmp_path)
    with harness.server:
        check(harness)
        harness.close()
