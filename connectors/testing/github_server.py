"""The stand-in of GitHub as a real HTTP server on loopback over real git repositories, with a log and faults.

Made by hand, because nobody recorded them: truncated trees and 304s. Everything else has the shapes of the recordings
in `tests/recorded/github`.
"""

import hashlib
import json
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from connectors.testing import github_git_api as git_api
from connectors.testing import github_talk_api as talk
from connectors.testing.github_git_api import ApiError
from connectors.testing.github_repository import Repository

TOKEN = "ghp_standin"  # noqa: S105 - the token of a server that lives as long as a test


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

    def headers(self) -> dict[str, str]:
        """Return the headers that tell it."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "X-RateLimit-Used": str(self.used),
            "X-RateLimit-Reset": str(self.reset),
            "X-RateLimit-Resource": "core",
        }


@dataclass(slots=True)
class Reply:
    """An answer."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> "Reply":
        """Answer with JSON."""
        return cls(
            status, json.dumps(value).encode(), {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
        )


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, owner: "GitHubServer") -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.owner = owner
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        for request in tuple(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


class GitHubServer:
    """A GitHub to talk to; use it as a context manager.

    Args:
        repositories: What it serves.
        port: 0 takes a free one.

    Attributes:
        log: `METHOD /path` of every request so far, with the status after it: `GET /repos/… 304`.
        faults: Armed faults.
        tokens: The tokens that are good; `None` takes any, and none at all.
        budget: The primary rate limit.
        moved: Old full name -> repository, answered with 301.
        archives: False answers 404 for archives.
        lfs: Contents of LFS by oid.
        app_keys: Whether app tokens are given out.
    """

    def __init__(self, repositories: Iterable[Repository] = (), port: int = 0) -> None:
        self.repositories = {repo.full_name: repo for repo in repositories}
        self.log: list[str] = []
        self.faults: deque[Fault] = deque()
        self.tokens: set[str] | None = None
        self.budget = Budget()
        self.moved: dict[str, Repository] = {}
        self.archives = True
        self.lfs: dict[str, bytes] = {}
        self.installation_tokens = 0
        self._lock = threading.Lock()
        self._http = _Listener(port, self)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.close_all()
        self._http.server_close()
        self._thread.join()

    def serve(self) -> None:
        """Serve in this thread until interrupted."""
        self._http.serve_forever()

    def fail(self, match: str, status: int, times: int = 1, **more: Any) -> None:
        """Arm a fault."""
        self.faults.append(Fault(match, status, times, **more))

    def rename(self, old: str, new: str) -> None:
        """Rename or transfer a repository; the old name redirects."""
        repo = self.repositories.pop(old)
        repo.owner, _, repo.name = new.partition("/")
        self.repositories[new] = repo
        self.moved[old] = repo

    def note(self, line: str) -> None:
        """Add to the log."""
        with self._lock:
            self.log.append(line)

    def take_fault(self, line: str) -> Fault | None:
        """Return the fault that hits a request."""
        with self._lock:
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.match, line):
                    fault.times -= 1
                    return fault
            return None

    def spend(self) -> None:
        """Count a request against the budget.

        Raises:
            ApiError: There is none left.
        """
        with self._lock:
            if self.budget.used >= self.budget.limit:
                raise ApiError(403, "API rate limit exceeded for user ID 1.")
            self.budget.used += 1

    def refund(self) -> None:
        """A 304 was free."""
        with self._lock:
            self.budget.used -= 1

    def find(self, name: str) -> Repository:
        """Return a repository by its full name.

        Raises:
            ApiError: It is not there, or not to be seen.
        """
        repo = self.repositories.get(name)
        if repo is None or not repo.visible:
            raise ApiError(404, "Not Found")
        return repo


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other's acknowledgement, 40 ms a reply
    disable_nagle_algorithm = True
    server: _Listener

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Say nothing: tests read `log`."""

    def _serve(self) -> None:
        owner = self.server.owner
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        line = f"{self.command} {unquote(parts.path)}"
        if parts.path.startswith("/_"):
            self._send(_side_door(owner, self.command, parts.path, raw))
            return
        fault = owner.take_fault(line)
        if fault is not None and fault.status == 0:
            owner.note(f"{line} 0")
            self.close_connection = True
            return
        if fault is not None:
            reply = Reply.json({"message": fault.message}, fault.status, fault.headers)
        else:
            reply = self._answer(owner, parts.path, dict(parse_qsl(parts.query)), raw)
        owner.note(f"{line} {reply.status}")
        reply.headers = {**owner.budget.headers(), **reply.headers}
        self._send(reply)

    def _answer(self, owner: GitHubServer, path: str, query: dict[str, str], raw: bytes) -> Reply:
        try:
            if path.startswith("/codeload/"):
                return _download(owner, path)
            self._authorise(owner, path)
            owner.spend()
            reply = _routed(owner, self.command, path, query, raw, self.headers.get("Accept") or "")
        except ApiError as error:
            return Reply.json(
                {"message": error.message, "documentation_url": "https://docs.github.com/rest"}, error.status
            )
        if reply.status == 200 and self.command == "GET":
            etag = f'"{hashlib.sha256(reply.body).hexdigest()}"'
            reply.headers["ETag"] = etag
            if self.headers.get("If-None-Match") == etag:
                owner.refund()
                return Reply(304, b"", {"ETag": etag})
        return reply

    def _authorise(self, owner: GitHubServer, path: str) -> None:
        if owner.tokens is None or path.startswith("/app/") or path.endswith("/installation"):
            return
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        if kind.lower() == "basic":
            return
        if kind.lower() not in {"token", "bearer"} or token not in owner.tokens:
            raise ApiError(401, "Bad credentials")

    def _send(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)


def _download(owner: GitHubServer, path: str) -> Reply:
    _, _, account, name, sha = path.split("/")
    data = git_api.archive(owner.find(f"{account}/{name}"), sha)
    return Reply(200, data, {"Content-Type": "application/x-gzip"})


def _routed(owner: GitHubServer, method: str, path: str, query: dict[str, str], raw: bytes, accept: str) -> Reply:
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "graphql":
        return Reply.json(talk.discussions(owner.repositories, json.loads(raw)))
    if parts[:2] == ["app", "installations"] or parts[-1] == "installation":
        return _installation(owner, parts)
    if parts[0] in {"orgs", "users"} and parts[-1] == "repos":
        return _listing(owner, parts[1], path, query)
    if parts[0] == "repositories" and len(parts) > 1:
        repo = next((each for each in owner.repositories.values() if str(each.number) == parts[1]), None)
        if repo is None or not repo.visible:
            raise ApiError(404, "Not Found")
        return _of_repository(owner, repo, parts[2:], query, accept)
    if parts[-3:] == ["lfs", "objects", "batch"] and method == "POST":
        return talk_lfs(owner, json.loads(raw))
    if parts[0] == "lfs":
        return Reply(200, owner.lfs[parts[1]], {"Content-Type": "application/octet-stream"})
    if parts[0] != "repos" or len(parts) < 3:
        raise ApiError(404, "Not Found")
    name = f"{parts[1]}/{parts[2]}"
    if name in owner.moved and name not in owner.repositories:
        rest = "/".join(["", *path.strip("/").split("/")[3:]])
        asked = f"?{'&'.join(f'{key}={value}' for key, value in query.items())}" if query else ""
        where = f"{owner.url}/repositories/{owner.moved[name].number}{rest}{asked}"
        return Reply.json({"message": "Moved Permanently", "url": where}, 301, {"Location": where})
    return _of_repository(owner, owner.find(name), parts[3:], query, accept)


def _of_repository(owner: GitHubServer, repo: Repository, rest: list[str], query: dict[str, str], accept: str) -> Reply:
    match rest:
        case []:
            return Reply.json(git_api.repository(repo, owner.url))
        case ["commits"]:
            return Reply.json(git_api.last_commits(repo, git_api.head(repo, query.get("sha", "HEAD")), query["path"]))
        case ["commits", *ref]:
            sha = git_api.head(repo, "/".join(ref))
            if "sha" in accept:
                return Reply(200, sha.encode(), {"Content-Type": "application/vnd.github.sha"})
            return Reply.json({"sha": sha})
        case ["git", "trees", sha]:
            return Reply.json(git_api.tree(repo, sha, recursive="recursive" in query, base=owner.url))
        case ["git", "blobs", sha] if "raw" in accept:
            return Reply(200, git_api.blob(repo, sha), {"Content-Type": "application/vnd.github.raw"})
        case ["git", "blobs", sha]:
            return Reply.json(git_api.blob_json(repo, sha))
        case ["tarball", sha] if owner.archives:
            return Reply(302, b"", {"Location": f"{owner.url}/codeload/{repo.full_name}/{sha}"})
        case _:
            return Reply.json(*talk.answer(repo, rest, query, owner.url))


def _listing(owner: GitHubServer, login: str, path: str, query: dict[str, str]) -> Reply:
    found = [repo for repo in owner.repositories.values() if repo.owner == login and repo.visible]
    if not found:
        raise ApiError(404, "Not Found")
    size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
    shown = found[(page - 1) * size : page * size]
    more = {}
    if len(found) > page * size:
        more["Link"] = f'<{owner.url}{path}?per_page={size}&page={page + 1}>; rel="next"'
    return Reply.json([git_api.repository(repo, owner.url) for repo in shown], headers=more)


def _installation(owner: GitHubServer, parts: list[str]) -> Reply:
    if parts[-1] == "installation":
        return Reply.json({"id": 7, "account": {"login": parts[1]}})
    owner.installation_tokens += 1
    expires = datetime.fromtimestamp(time.time() + 3600, UTC).isoformat()
    token = f"ghs_{owner.installation_tokens}"
    if owner.tokens is not None:
        owner.tokens.add(token)
    return Reply.json({"token": token, "expires_at": expires}, 201)


def talk_lfs(owner: GitHubServer, asked: Any) -> Reply:
    """Answer a batch request of git LFS."""
    objects = []
    for one in asked["objects"]:
        oid = one["oid"]
        if oid in owner.lfs:
            objects.append({**one, "actions": {"download": {"href": f"{owner.url}/lfs/{oid}"}}})
        else:
            objects.append({**one, "error": {"code": 404, "message": "Object does not exist"}})
    return Reply.json({"transfer": "basic", "objects": objects})


def _side_door(owner: GitHubServer, method: str, path: str, raw: bytes) -> Reply:
    if path == "/_log":
        return Reply.json(list(owner.log))
    if path == "/_fail" and method == "POST":
        try:
            owner.fail(**json.loads(raw))
        except (TypeError, ValueError) as error:
            return Reply.json({"error": repr(error)}, 400)
        return Reply.json({"armed": json.loads(raw)})
    return Reply.json({"error": "there is GET /_log and POST /_fail"}, 404)
