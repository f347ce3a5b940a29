"""The stand-in of GitHub as a real HTTP server on loopback over real git repositories, with a log and faults.

Made by hand, because nobody recorded them: truncated trees, 304s and node ids of today's form. Everything else has the
shapes of the recordings in `tests/recorded/github` and keeps the schema beside them.
"""

import base64
import hashlib
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from connectors.testing import github_git_api as git_api
from connectors.testing import github_git_http as git_http
from connectors.testing.github_git_api import ApiError
from connectors.testing.github_repository import Repository
from connectors.testing.github_routes import download, routed, side_door
from connectors.testing.loopback import ArmedFaults, LoopbackServer, Reply, Request

TOKEN = "ghp_standin"  # noqa: S105 - the token of a server that lives as long as a test


Tamper = Callable[[str, Reply], Reply]
"""Changes a reply, given `METHOD /path`: what no real repository can be made to answer."""


@dataclass(slots=True)
class Fault:
    """What goes wrong, for requests that match.

    Attributes:
        match: Searched in `METHOD /path`.
        status: Sent instead of the answer; 0 closes the connection without one.
        times: Requests that get it.
        message: In the body.
        headers: Sent along.
    """

    match: str
    status: int
    times: int = 1
    message: str = "Stand-in was told to fail."
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Budget:
    """The primary rate limit. A 304 is free when the request was authorised."""

    limit: int = 5000
    used: int = 0
    reset: int = field(default_factory=lambda: int(time.time()) + 3600)

    @property
    def left(self) -> int:
        """Requests until it is renewed."""
        return max(0, self.limit - self.used)

    def headers(self) -> dict[str, str]:
        """Return the headers that tell it."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.left),
            "X-RateLimit-Used": str(self.used),
            "X-RateLimit-Reset": str(self.reset),
            "X-RateLimit-Resource": "core",
        }

    def overview(self) -> dict[str, Any]:
        """Return what asking for it answers."""
        core = {"limit": self.limit, "remaining": self.left, "used": self.used, "reset": self.reset}
        return {"resources": {"core": core, "search": {**core, "limit": 30}}, "rate": core}


class GitHubServer(LoopbackServer):
    """A GitHub to talk to; use it as a context manager.

    Args:
        repositories: What it serves.
        port: 0 takes a free one.

    Attributes:
        repositories: By full name; may be changed at any time.
        log: `METHOD /path` of every request so far, with the status after it: `GET /repos/… 304`.
        faults: Armed faults.
        tokens: The tokens that are good; `None` takes any, and none at all.
        budget: The primary rate limit.
        moved: Old full name -> repository, answered with 301.
        archives: False answers 404 for archives.
        lfs: Contents of LFS by oid.
        installation_tokens: How many were given out.
        tamper: Changes replies on their way out.
    """

    def __init__(self, repositories: Iterable[Repository] = (), port: int = 0) -> None:
        super().__init__(self._reply, port)
        self.repositories = {repo.full_name: repo for repo in repositories}
        self.log: list[str] = []
        self.faults: ArmedFaults[Fault] = ArmedFaults()
        self.tokens: set[str] | None = None
        self.budget = Budget()
        self.moved: dict[str, Repository] = {}
        self.archives = True
        self.lfs: dict[str, bytes] = {}
        self.installation_tokens = 0
        self.tamper: Tamper = lambda _, reply: reply
        self._archives: dict[tuple[str, str], bytes] = {}
        self._lock = threading.Lock()

    def fail(self, match: str, status: int, times: int = 1, **more: Any) -> None:
        """Arm a fault."""
        self.faults.arm(Fault(match, status, times, **more))

    def rename(self, old: str, new: str) -> None:
        """Rename or transfer a repository; the old name redirects."""
        repo = self.repositories.pop(old)
        repo.owner, _, repo.name = new.partition("/")
        self.repositories[new] = repo
        self.moved[old] = repo

    def find(self, name: str) -> Repository:
        """Return a repository by its full name.

        Raises:
            ApiError: It is not there, or not to be seen.
        """
        return _visible(self.repositories.get(name))

    def numbered(self, number: str) -> Repository:
        """Return a repository by GitHub's id of it; raises as `find` does."""
        return _visible(next((one for one in self.repositories.values() if str(one.number) == number), None))

    def archive_of(self, repo: Repository, sha: str) -> bytes:
        """Return the archive of a commit, made once."""
        key = (repo.full_name, sha)
        if key not in self._archives:
            self._archives[key] = git_api.archive(repo, sha)
        return self._archives[key]

    def new_token(self) -> str:
        """Return a token of an app's installation; it is good from now on."""
        self.installation_tokens += 1
        token = f"ghs_{self.installation_tokens}"
        if self.tokens is not None:
            self.tokens.add(token)
        return token

    # -- answering

    def _reply(self, asked: Request) -> Reply | None:
        if asked.path.startswith("/_"):
            return side_door(self, asked)
        line = f"{asked.method} {unquote(asked.path)}"
        fault = self.faults.take(line)
        if fault is not None and fault.status == 0:
            self._note(f"{line} 0")
            return None
        if fault is not None:
            reply = Reply.json({"message": fault.message}, fault.status, fault.headers)
        else:
            reply = self.tamper(line, self._answer(asked))
        self._note(f"{line} {reply.status}")
        reply.headers = {**self.budget.headers(), **reply.headers}
        return reply

    def _answer(self, asked: Request) -> Reply:
        try:
            if asked.path.startswith("/codeload/"):
                return download(self, asked.path)
            self._authorise(asked)
            cloned = git_http.repository_in(unquote(asked.path))
            if cloned is not None:
                return self._git(*cloned, asked)
            self._spend()
            reply = routed(self, asked)
        except ApiError as error:
            told = {"message": error.message, "documentation_url": "https://docs.github.com/rest"}
            return Reply.json({**told, "status": str(error.status)}, error.status)
        if reply.status == 200 and asked.method == "GET":
            etag = reply.headers.setdefault("ETag", f'"{hashlib.sha256(reply.body).hexdigest()}"')
            if asked.headers.get("If-None-Match") == etag:
                self._refund()
                return Reply(304, b"", {"ETag": etag})
        return reply

    def _git(self, name: str, service: str, asked: Request) -> Reply:
        repo = self.moved.get(name) if name not in self.repositories else None
        if repo is not None:
            query = "&".join(f"{key}={value}" for key, value in asked.query.items())
            return Reply(301, b"", {"Location": f"{self.url}/{repo.full_name}.git/{service}?{query}"})
        return git_http.answer(self.find(name).path, service, asked)

    def _authorise(self, asked: Request) -> None:
        if self.tokens is None or asked.path.startswith("/app/") or asked.path.endswith("/installation"):
            return
        kind, token = asked.credential()
        if kind.lower() == "basic":  # of git and LFS
            token = base64.b64decode(token).decode("utf-8", "replace").partition(":")[2]
        if kind.lower() not in {"token", "bearer", "basic"} or token not in self.tokens:
            raise ApiError(401, "Bad credentials")

    def _note(self, line: str) -> None:
        with self._lock:
            self.log.append(line)

    def _spend(self) -> None:
        with self._lock:
            if self.budget.used >= self.budget.limit:
                raise ApiError(403, "API rate limit exceeded for user ID 1.")
            self.budget.used += 1

    def _refund(self) -> None:
        with self._lock:
            self.budget.used -= 1


def _visible(repo: Repository | None) -> Repository:
    if repo is None or not repo.visible:
        raise ApiError(404, "Not Found")
    return repo
