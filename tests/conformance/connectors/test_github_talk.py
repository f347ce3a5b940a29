"""The GitHub connector keeps the law of connectors for issues, releases, discussions and wikis, too."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar
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
from connectors.testing.github_talk_api import comment, discussion, issue, release

NAME = "acme/handbook"


class TalkHarness:
    """An empty repository that people talk about; every change comes a day later, as deletions are looked for daily.

    Args:
        root: Where repositories lie.
        kind: What is talked in.
    """

    def __init__(self, root: Path, kind: str) -> None:
        self.now = datetime(2026, 12, 1, 9, tzinfo=UTC)
        self.root = root
        self.kind = kind
        self.repo = Repository.create(root, NAME)
        self.server = GitHubServer([self.repo])
        self.clients: list[Client] = []
        self.count = 0

    def connector(self) -> GitHubConnector:
        http = github_http(self.server.url, timing=Timing(sleep=lambda _: None, chance=lambda: 0.0))
        http.get(f"{self.server.url}/_log")  # the server's thread for this connection lives before a check counts them
        self.clients.append(http)
        told = {"repo": NAME, "base_url": self.server.url, "git_url": f"file://{self.root}"}
        config = GitHubConfig.model_validate({**told, "also": (self.kind,), "token": "t"})
        return connector_over(http, config, Wanted([NAME]), "github", lambda: self.now)

    def unreadable(self, key: str) -> AbstractContextManager[None] | None:
        del key
        return None  # what people say has no folders

    def key(self, name: object) -> str:
        self.now += timedelta(days=1)
        return f"{NAME}!{self.kind}/{name}"

    def close(self) -> None:
        for client in self.clients:
            client.close()


class Listed(TalkHarness):
    """Talk that the server keeps in a list, each under a number of its own."""

    MAKE: ClassVar[dict[str, Callable[[int, str, str, str], dict[str, Any]]]] = {
        "issues": issue,
        "pulls": lambda number, title, text, at: issue(
            number, title, "", at, pull_request={}, _comments=[comment(number, text, at)]
        ),
        "releases": lambda number, title, text, at: release(number, f"v{number}", text, at, name=title),
        "discussions": discussion,
    }

    @property
    def things(self) -> list[dict[str, Any]]:
        return {"releases": self.repo.releases, "discussions": self.repo.discussions}.get(self.kind, self.repo.issues)

    def put(self, name: str, text: str) -> str:
        former = next((one for one in self.things if one["_name"] == name), None)
        if former is None:
            self.count += 1
        else:
            self.things.remove(former)
        number = former["_number"] if former else self.count
        one = self.MAKE[self.kind](number, name, text, f"{self.now:%Y-%m-%dT%H:%M:%SZ}")
        self.things.append({**one, "_name": name, "_number": number})
        return self.key(number)

    def rename(self, key: str, name: str) -> str:
        one = self._at(key)
        title = "name" if self.kind == "releases" else "title"
        one |= {title: name, "_name": name, "updated_at": f"{self.now:%Y-%m-%dT%H:%M:%SZ}"}
        return self.key(one["_number"])

    def remove(self, key: str) -> None:
        self.things.remove(self._at(key))
        self.key("")

    def _at(self, key: str) -> dict[str, Any]:
        return next(one for one in self.things if str(one["_number"]) == key.rpartition("/")[2])


class Pages(TalkHarness):
    """A wiki."""

    def __init__(self, root: Path, kind: str) -> None:
        super().__init__(root, kind)
        self.wiki = Repository.create(root, f"{NAME}.wiki")
        (root / f"{NAME}.wiki.git").symlink_to(self.wiki.path)

    def put(self, name: str, text: str) -> str:
        self.wiki.put({name: text})
        return self.key(normalize("NFC", name))

    def rename(self, key: str, name: str) -> str:
        path = self.wiki.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path(key).rename(path)
        self.wiki.commit()
        return self.key(name)

    def remove(self, key: str) -> None:
        self._path(key).unlink()
        self.wiki.commit()
        self.key("")

    def _path(self, key: str) -> Path:
        return self.wiki.path / key.partition("!wiki/")[2]


@pytest.mark.parametrize("kind", ["issues", "pulls", "releases", "discussions", "wiki"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_is_said_keeps_the_law(check: Check, kind: str, tmp_path: Path) -> None:
    harness = Pages(tmp_path, kind) if kind == "wiki" else Listed(tmp_path, kind)
    with harness.server:
        check(harness)
        harness.close()
