"""Sends one request to GitHub and says in our own errors what went wrong."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from connectors.errors import AuthError, ConnectorError, DocumentError, Unavailable
from connectors.github.budget import SECONDARY_S, Budget, until_reset
from connectors.github.credentials import Credential
from connectors.github.errors import AccessRefused, BudgetSpent, EmptyRepository, NotThere, RefMissing
from connectors.github.library import ANSWERED_BY, requester_over
from connectors.http.retry import retry_after

if TYPE_CHECKING:
    from github.Requester import Requester

    from connectors.http.client import Client

_SECONDARY = ("secondary rate limit", "abuse detection", "please retry your request again later", "please wait a few")
_DOWNLOAD_S = 900.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply of the API.

    Attributes:
        status: 200, or 304 when what was asked for is as it was.
        headers: By name in lower case.
        text: The body.
        url: The address that answered, after redirects.
    """

    status: int
    headers: Mapping[str, str]
    text: str
    url: str

    @property
    def unchanged(self) -> bool:
        """Whether it is still at the validator that was sent."""
        return self.status == 304

    def json(self) -> Any:
        """Parse the body.

        Raises:
            Unavailable: It is no JSON: something else answers in GitHub's place.
        """
        try:
            return json.loads(self.text)
        except ValueError:
            raise Unavailable("what answers for GitHub is not its api; check base_url and the network") from None


class Sender:
    """Sends requests within the budget, as the credential says.

    Args:
        base_url: Where the API is.
        http: Carries the requests.
        credential: Proves the source.
        budget: Keeps the limits.
    """

    def __init__(self, base_url: str, http: "Client", credential: Credential, budget: Budget) -> None:
        self._base_url = base_url.rstrip("/")
        self.http = http
        self._credential = credential
        self._budget = budget
        self._requester: Requester | None = None
        self._lock = threading.Lock()

    @property
    def requests(self) -> int:
        """Requests sent so far, repeated ones and redirects included."""
        return self.http.requests

    def get(
        self,
        path: str,
        what: str,
        *,
        params: dict[str, str | int] | None = None,
        etag: str | None = None,
        accept: str = "application/vnd.github+json",
    ) -> Answer:
        """GET what the API has at *path*, or at a full address of its own.

        Args:
            path: From the API's root.
            what: Named in errors.
            params: The query.
            etag: Validator of what is known: the answer may be 304, which is free.
            accept: Media type.

        Raises:
            AuthError: The credential is refused.
            BudgetSpent: A limit is reached.
            NotThere: 404.
            EmptyRepository: 409.
            RefMissing: 422.
            AccessRefused: The credential may not read this.
            Unavailable: GitHub is out of reach or fails.
            DocumentError: Anything else that fails.
        """
        self._budget.check(free=etag is not None)
        headers = {"Accept": accept, **self._credential.headers()}
        if etag is not None:
            headers["If-None-Match"] = etag
        return self._answered("GET", path, what, headers, params)

    def graphql(self, query: str, variables: dict[str, Any], what: str) -> Any:
        """Send a GraphQL query and return its `data`; errors are those of `get`."""
        self._budget.check("graphql")
        headers = self._credential.headers()
        if not headers:
            raise AuthError(f"{what} need a credential: GitHub answers no GraphQL to nobody; give a token")
        url = self._base_url.removesuffix("/v3") + "/graphql"
        body = {"query": query, "variables": variables}
        said = self._answered("POST", url, what, headers, None, body).json()
        with understood(what):
            errors = [(str(error.get("type")), str(error.get("message"))) for error in said.get("errors") or ()]
            data = said["data"] if not errors else None
        if not errors:
            return data
        message = f"{what}: {errors[0][1]}"
        if any(kind == "NOT_FOUND" for kind, _ in errors):
            raise NotThere(message)
        if any(kind == "RATE_LIMITED" for kind, _ in errors):
            raise BudgetSpent(f"GitHub's hourly limit of GraphQL is reached: {message}", retry_after_s=SECONDARY_S)
        raise AccessRefused(message, "give the credential read access to discussions")

    def call(self, verb: str, path: str, what: str, headers: dict[str, str]) -> Any:
        """Send a request with a credential of its own, outside the budget; errors are those of `get`."""
        return self._answered(verb, path, what, headers, None, {} if verb == "POST" else None).json()

    def download(self, path: str, what: str, *, accept: str, max_bytes: int) -> Path:
        """Stream what lies at *path* into a private file; errors are those of `get`."""
        self._budget.check()
        headers = {"Accept": accept, **self._credential.headers()}
        response = self.http.download(
            f"{self._base_url}{path}", headers=headers, max_bytes=max_bytes, deadline_s=_DOWNLOAD_S
        )
        self._budget.note(response.headers)
        if response.file is None:
            raise failure(what, response.status, response.headers, response.content.decode("utf-8", "replace"))
        return response.file

    def fetch(self, path: str, what: str, *, accept: str, max_bytes: int) -> bytes:
        """Return the bytes at *path*; errors are those of `get`."""
        self._budget.check()
        headers = {"Accept": accept, **self._credential.headers()}
        response = self.http.get(
            f"{self._base_url}{path}", headers=headers, max_bytes=max_bytes, deadline_s=_DOWNLOAD_S
        )
        self._budget.note(response.headers)
        if not response.ok:
            raise failure(what, response.status, response.headers, response.content.decode("utf-8", "replace"))
        return response.content

    def authorisation(self) -> dict[str, str]:
        """Return the credential's headers, for the git side of the same host."""
        return self._credential.headers()

    def _answered(
        self,
        verb: str,
        path: str,
        what: str,
        headers: dict[str, str],
        params: dict[str, str | int] | None,
        body: object = None,
    ) -> Answer:
        status, told, text = self._opened().requestJson(verb, path, params, headers, body)
        self._budget.note(told)
        if status != 304 and not 200 <= status < 300:
            raise failure(what, status, told, text)
        return Answer(status, told, text, str(told.get(ANSWERED_BY, "")))

    def _opened(self) -> "Requester":
        with self._lock:
            if self._requester is None:
                self._requester = requester_over(self.http, self._base_url)
            return self._requester


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Say of a reply that is not what GitHub's are, and of nothing else, that it is none.

    Raises:
        Unavailable: What was read within lacks what it must have, or is of another type.
    """
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise Unavailable(
            f"what answers for GitHub about {what} is not its api ({type(error).__name__});"
            " check base_url and the network"
        ) from error


def failure(what: str, status: int, headers: Mapping[str, Any], text: str) -> ConnectorError:
    """Return our error for a reply that is one; no credential is in its message."""
    said = _said(text)
    if status in {403, 429} and _is_limit(headers, said):
        return _limit(headers, said)
    if status == 401:
        return AuthError("GitHub refuses the credential: it is wrong, expired or was revoked; renew it")
    if status == 403 and headers.get("x-github-sso"):
        return AccessRefused(
            f"{what} asks for single sign-on", "authorise the token for the organisation in GitHub's token settings"
        )
    if status in {403, 451}:
        return AccessRefused(f"{what} is refused: {said}", "give the credential read access to contents and metadata")
    if status in {404, 410}:
        return NotThere(f"{what} is not there: deleted, or the credential may not see it")
    if status == 409:
        return EmptyRepository(f"{what} is empty")
    if status == 422:
        return RefMissing(f"{what}: {said}", "correct the branch in the configuration, or leave it out")
    if status >= 500:
        return Unavailable(f"GitHub fails on {what} with status {status}; it is asked again at the next sync")
    return DocumentError(f"GitHub answers {what} with status {status}: {said}")


def _is_limit(headers: Mapping[str, Any], said: str) -> bool:
    spent = str(headers.get("x-ratelimit-remaining")) == "0" and "rate limit" in said.lower()
    return bool(headers.get("retry-after")) or spent or any(word in said.lower() for word in _SECONDARY)


def _limit(headers: Mapping[str, Any], said: str) -> BudgetSpent:
    now = datetime.now(UTC)
    wait = retry_after(headers, now)
    if wait is None and str(headers.get("x-ratelimit-remaining")) == "0":
        wait = until_reset(headers, now)
    wait = SECONDARY_S if wait is None else wait
    kind = "secondary" if any(word in said.lower() for word in _SECONDARY) else "hourly"
    return BudgetSpent(f"GitHub's {kind} limit is reached; it goes on in {wait:.0f} s", retry_after_s=wait)


def _said(text: str) -> str:
    try:
        message = str(json.loads(text).get("message") or "no reason given")
    except (ValueError, AttributeError):
        message = "no reason given"
    return f"{message[:1].lower()}{message[1:]}".rstrip(".")[:300]
