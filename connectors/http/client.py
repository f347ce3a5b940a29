"""The one HTTP client of the connectors."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from connectors.errors import ConfigError, Unavailable
from connectors.http import patience, redirects
from connectors.http.errors import AddressRefused
from connectors.http.guard import Guard, Resolver, origin_of, plain_host, port_of, system_resolver
from connectors.http.pacing import Pace, Pacer
from connectors.http.patience import PatientTransport
from connectors.http.redaction import shown
from connectors.http.response import Response
from connectors.http.retry import RetryPolicy
from connectors.http.timing import Timing
from connectors.http.transport import CAPS, GuardedTransport, Limits

USER_AGENT = "corebrain/0.1"

SHARED_PACER = Pacer(time.monotonic)
"""The pacer of every client that is given none: sources that ask the same host keep one pace."""

_PEEK = 64 * 2**10  # of the body of a download that failed: enough for its error


class Client:
    """Guarded, paced, patient HTTP for one source; safe to share between threads, connecting at its first request.

    Every request, redirects included, goes through the guard (`connectors.http.guard`), waits for its turn at the host,
    is bounded by `Limits` and tried again as the `RetryPolicy` says. No cookie is kept, nothing is read from the
    environment, and neither errors nor representations hold headers, queries or credentials.

    Args:
        base_url: What relative URLs are appended to (an API). Its host may lie on this machine.
        allow_private: `host:port` pairs that may lie on a private network.
        allow_loopback_base: False holds *base_url* to the public internet too.
        headers: Sent with every request, to every host: nothing secret.
        credentials: Headers per origin (`{"https://api.example": {"Authorization": …}}`): sent there and nowhere else,
            never over plain http beyond this machine and `allow_private`.
        ca: File of certificates to trust beside the usual ones.
        proxy: Address of a proxy; the environment is never asked for one.
        limits: What one request may take.
        pace: How fast each host is asked.
        pacer: Who keeps the paces; all clients share one by default.
        retry: What is tried again.
        timing: Clock, chance and sleep.
        stop: Set it to end every wait and every request under way, within a second; requests then raise `Stopped`.
        resolve: How names become addresses.

    Raises:
        ConfigError: An address or a `host:port` is malformed.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        allow_private: Iterable[str] = (),
        allow_loopback_base: bool = True,
        headers: Mapping[str, str] | None = None,
        credentials: Mapping[str, Mapping[str, str]] | None = None,
        ca: str | Path | None = None,
        proxy: str | None = None,
        limits: Limits | None = None,
        pace: Pace | None = None,
        pacer: Pacer | None = None,
        retry: RetryPolicy | None = None,
        timing: Timing | None = None,
        stop: threading.Event | None = None,
        resolve: Resolver = system_resolver,
    ) -> None:
        self._base = _base(base_url) if base_url else None
        loopback = [_place(self._base)] if self._base is not None and allow_loopback_base else []
        self._guard = Guard(allow_private=allow_private, allow_loopback=loopback, resolve=resolve)
        self._headers = {"User-Agent": USER_AGENT, **(headers or {})}
        self._credentials = {origin_of(_base(origin)): dict(own) for origin, own in (credentials or {}).items()}
        self._limits = limits or Limits()
        self._timing = timing or Timing()
        self._policy = retry or RetryPolicy()
        self._patient = PatientTransport(
            GuardedTransport(self._guard, limits=self._limits, ca=ca, proxy=proxy),
            pacer=pacer or SHARED_PACER,
            pace=pace or Pace(),
            policy=self._policy,
            timing=self._timing,
            stop=stop or threading.Event(),
            deadline_s=self._limits.deadline_s,
        )

    def __repr__(self) -> str:
        return f"Client(base_url={shown(self._base) if self._base else None!r}, requests={self.requests})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def requests(self) -> int:
        """Requests sent so far, retries and redirects counted."""
        return self._patient.requests

    @property
    def stop(self) -> threading.Event:
        """The event that ends every wait; another one may be put in its place."""
        return self._patient.stop

    @stop.setter
    def stop(self, event: threading.Event) -> None:
        self._patient.stop = event

    @property
    def transport(self) -> httpx.BaseTransport:
        """Everything but redirects and credentials, for libraries: `httpx.Client(transport=client.transport)`.

        It raises the errors of `connectors.http.errors` and returns every status as it is.
        """
        return self._patient

    def close(self) -> None:
        """Close the connections; the client opens new ones when it is used again."""
        self._patient.close()

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        follow: bool = True,
        max_bytes: int | None = None,
        deadline_s: float | None = None,
        pace: Pace | None = None,
    ) -> Response:
        """`request` with GET."""
        return self.request(
            "GET",
            url,
            params=params,
            headers=headers,
            follow=follow,
            max_bytes=max_bytes,
            deadline_s=deadline_s,
            pace=pace,
        )

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        content: bytes | None = None,
        follow: bool = True,
        max_bytes: int | None = None,
        deadline_s: float | None = None,
        pace: Pace | None = None,
    ) -> Response:
        """Send a request and return the reply, whatever its status; `Response.expect_ok` raises.

        Args:
            method: Upper case.
            url: Absolute, or the rest of one that starts with `base_url`.
            params: Added to the query.
            headers: For this request; across origins only harmless ones go along with a redirect.
            json: Body to send as JSON.
            content: Body to send as it is.
            follow: Whether redirects are followed, 5 at most by default.
            max_bytes: Most bytes of the body, on the wire and decoded, instead of the limits'.
            deadline_s: Seconds for one attempt, instead of the limits'.
            pace: For this request, instead of the client's.

        Raises:
            AddressRefused: The guard refused the URL or a redirect.
            Unreachable: No reply, after every attempt; `retry_after_s` when the host asked for a long pause.
            CutShort: No whole reply, after every attempt.
            BodyRefused: The body is over a limit.
            TooManyRedirects: The redirects do not end.
            ConfigError: A credential would go over plain http, or a header cannot be sent.
            Stopped: The client was stopped.
        """
        extensions = self._extensions(max_bytes, deadline_s, pace)
        request = self._built(method, url, params, headers, json, content, extensions)
        return self._followed(request, self._whole, follow=follow)

    def download(
        self,
        url: str,
        folder: Path | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        deadline_s: float | None = None,
        pace: Pace | None = None,
    ) -> Response:
        """GET a large body into a private file (mode 0600) of *folder*, the system's temporary one when left out.

        A success has the file in `Response.file`, which the caller deletes; any other status leaves no file and has
        the beginning of its body in `content`. Arguments and errors are those of `request`; memory stays flat.

        Raises:
            Unavailable: Also when there is no room for the file.
        """
        extensions = self._extensions(max_bytes, deadline_s, pace)
        request = self._built("GET", url, None, headers, None, None, extensions)
        return self._followed(request, lambda response: self._stored(response, folder), follow=True)

    def _followed(
        self, request: httpx.Request, consume: Callable[[httpx.Response], Response], *, follow: bool
    ) -> Response:
        hops: list[str] = []
        permanent = True
        while True:
            response = self._patient.attempt(request, consume)
            target = redirects.target(response, request) if follow else None
            if target is None:
                return replace(response, hops=tuple(hops), permanent=permanent)
            hops.append(str(request.url))
            permanent = permanent and response.status in {301, 308}
            redirects.check(target, hops, self._limits.redirects)
            following = redirects.next_request(request, target, response.status)
            self._authorise(following)
            request = following

    def _whole(self, response: httpx.Response) -> Response:
        patience.read_whole(response)
        return self._made(response, content=response.content)

    def _stored(self, response: httpx.Response, folder: Path | None) -> Response:
        if not response.is_success:
            beginning = b""
            for piece in response.iter_raw():
                beginning += piece
                if len(beginning) >= _PEEK:
                    break
            return self._made(response, content=beginning[:_PEEK])
        try:
            with tempfile.NamedTemporaryFile(prefix="corebrain-", dir=folder, delete=False) as file:
                path = Path(file.name)
                try:
                    for piece in response.iter_raw():
                        file.write(piece)
                    size = file.tell()
                except BaseException:
                    path.unlink(missing_ok=True)
                    raise
        except OSError as error:
            what = shown(response.request.url)
            raise Unavailable(f"cannot keep a copy of {what}; make room in the temporary folder") from error
        return self._made(response, file=path, size=size)

    def _made(
        self, response: httpx.Response, *, content: bytes = b"", file: Path | None = None, size: int | None = None
    ) -> Response:
        asked = self._policy.asked(response.status_code, response.headers, self._timing.now())
        return Response(
            status=response.status_code,
            url=str(response.request.url),
            headers=response.headers,
            content=content,
            asked_s=asked,
            file=file,
            size=len(content) if size is None else size,
        )

    def _extensions(self, max_bytes: int | None, deadline_s: float | None, pace: Pace | None) -> dict[str, Any]:
        given = {
            CAPS: None if max_bytes is None else (max_bytes, max_bytes),
            patience.DEADLINE: deadline_s,
            patience.PACE: pace,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _built(
        self,
        method: str,
        url: str,
        params: Mapping[str, str | int] | None,
        headers: Mapping[str, str] | None,
        json: object,
        content: bytes | None,
        extensions: dict[str, Any],
    ) -> httpx.Request:
        try:
            target = self._absolute(url)
            if params:
                target = target.copy_merge_params(params)
            request = httpx.Request(
                method,
                target.copy_with(fragment=None) if target.fragment else target,
                headers={**self._headers, **(headers or {})},
                json=json,
                content=content,
                extensions=extensions,
            )
        except (httpx.InvalidURL, ValueError) as error:  # ValueError: a header that no line can hold
            raise AddressRefused(f"{shown(url)} cannot be asked for: {error}", "correct the link") from None
        self._authorise(request)
        return request

    def _absolute(self, url: str) -> httpx.URL:
        if self._base is None or url.startswith(("http://", "https://")):
            return httpx.URL(url)
        return httpx.URL(f"{str(self._base).rstrip('/')}/{url.removeprefix('/')}")

    def _authorise(self, request: httpx.Request) -> None:
        """Add the credentials of the request's origin, where they may travel."""
        url = request.url
        for name, value in self._credentials.get(origin_of(url), {}).items():
            request.headers[name] = value
        secret = "authorization" in request.headers or origin_of(url) in self._credentials
        if secret and url.scheme == "http" and not self._guard.knows(url):
            raise ConfigError(f"a credential for {plain_host(url.host)} would travel unencrypted; write https")


def _base(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(f"{shown(url)!r} is no http or https address; write such as https://api.example.com")
    if parsed.userinfo:
        raise ConfigError(f"{shown(url)} holds a user name; give credentials apart from the address")
    return parsed


def _place(url: httpx.URL) -> str:
    host = plain_host(url.host)
    return f"[{host}]:{port_of(url)}" if ":" in host else f"{host}:{port_of(url)}"
