"""The guarded transport: one attempt at one request, without redirects, as httpx and libraries built on it take it.

What it adds to a plain transport: the guard decides where it goes, TLS is always verified, nothing is read from the
environment, bodies are bounded on the wire and decoded, and every failure is one of `connectors.http.errors`.
"""

import ssl
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpcore
import httpx

from connectors.errors import ConfigError
from connectors.http import body
from connectors.http.deadline import DeadlinePassed
from connectors.http.errors import CutShort, TooSlow, Unreachable
from connectors.http.guard import Guard, plain_host, port_of
from connectors.http.network import BoundStream, GuardedNetwork
from connectors.http.redaction import Shown

CAPS = "corebrain.caps"
"""Request extension: (bytes on the wire, bytes decoded) for this request alone."""
UNMEASURED = "corebrain.unmeasured"
"""Response extension: True when only the end of the connection ends the body."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take.

    Attributes:
        wire: Bytes of a body as they travel.
        decoded: Bytes of a body once decoded.
        deadline_s: Seconds for the whole attempt, from the look-up of the name to the last byte.
        connect_s: Seconds to connect.
        read_s: Seconds without a byte.
        redirects: Hops followed.
        connections: Connections open at once, to all hosts.
    """

    wire: int = 32 * 2**20
    decoded: int = 64 * 2**20
    deadline_s: float = 60.0
    connect_s: float = 10.0
    read_s: float = 20.0
    redirects: int = 5
    connections: int = 16


class GuardedTransport(httpx.BaseTransport):
    """Sends a request once. The pool is made at the first one; `close` ends it.

    Args:
        guard: Decides where requests may go.
        limits: What one may take.
        ca: File of certificates to trust beside the usual ones.
        proxy: `http://…` or `https://…` of a proxy. It looks names up itself, so the guard then checks the text of a
            URL and what the name means *here*, when it means anything here.

    Raises:
        ConfigError: The proxy is no http or https URL.
    """

    def __init__(self, guard: Guard, *, limits: Limits, ca: str | Path | None = None, proxy: str | None = None) -> None:
        self._guard = guard
        self._limits = limits
        self._ca = ca
        self._proxy = _proxy(proxy) if proxy else None
        self._pool: httpcore.ConnectionPool | None = None
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._guard.check(request.url)
        if self._proxy is not None:
            self._check_behind_proxy(request.url)
        wire, decoded = request.extensions.get(CAPS, (self._limits.wire, self._limits.decoded))
        what = Shown(request.url)
        with _typed(what, Unreachable):
            reply = self._opened().handle_request(self._core(request))
        headers = httpx.Headers(reply.headers)
        coding = headers.pop("content-encoding", "")
        unmeasured = "content-length" not in headers and "transfer-encoding" not in headers
        if coding.strip():
            headers.pop("content-length", None)
        stream = _Body(request.method, reply, coding, (wire, decoded), what)
        return httpx.Response(
            reply.status,
            headers=headers,
            stream=stream,
            request=request,
            extensions={"http_version": reply.extensions.get("http_version", b"HTTP/1.1"), UNMEASURED: unmeasured},
        )

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    def _core(self, request: httpx.Request) -> httpcore.Request:
        headers = [pair for pair in request.headers.raw if pair[0].lower() != b"accept-encoding"]
        limits = self._limits
        waits = {"connect": limits.connect_s, "read": limits.read_s, "write": limits.read_s, "pool": limits.deadline_s}
        url = request.url
        return httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=[*headers, (b"Accept-Encoding", body.ACCEPTED.encode())],
            content=request.stream,
            extensions={"timeout": waits},
        )

    def _opened(self) -> httpcore.ConnectionPool:
        with self._lock:
            if self._pool is None:
                self._pool = self._made_pool()
                weakref.finalize(self, self._pool.close)  # connectors come and go without being told to end
            return self._pool

    def _made_pool(self) -> httpcore.ConnectionPool:
        proxy = self._proxy
        return httpcore.ConnectionPool(
            ssl_context=_trust(self._ca),
            proxy=_core_proxy(proxy) if proxy else None,
            max_connections=self._limits.connections,
            max_keepalive_connections=self._limits.connections,
            keepalive_expiry=15.0,
            network_backend=GuardedNetwork(self._guard, (plain_host(proxy.host), port_of(proxy)) if proxy else None),
        )

    def _check_behind_proxy(self, url: httpx.URL) -> None:
        with (
            suppress(Unreachable),
            _typed(Shown(url), Unreachable),
        ):  # a name only the proxy can look up: its rules hold
            self._guard.addresses(url.host, port_of(url), self._limits.connect_s)


class _Body(httpx.SyncByteStream):
    """The decoded, bounded body of one reply."""

    def __init__(self, method: str, reply: httpcore.Response, coding: str, caps: tuple[int, int], what: object) -> None:
        self._method = method
        self._reply = reply
        self._coding = coding
        self._caps = caps
        self._what = what

    def __iter__(self) -> Iterator[bytes]:
        wire, most = self._caps
        with _typed(self._what, CutShort):
            travelled = body.counted(self._reply.iter_stream(), wire, self._what)
            yield from body.counted(body.decoded(travelled, self._coding, self._what), most, self._what)

    def close(self) -> None:
        stream = self._reply.extensions.get("network_stream")
        if isinstance(stream, BoundStream) and not stream.ends_with(self._method, self._reply):
            stream.close()  # before the pool hands it on
        self._reply.close()


@contextmanager
def _typed(what: object, broken: type[Unreachable | CutShort]) -> Iterator[None]:
    """Turn the network's errors into ours; *broken* is what a connection that ends early means at this point."""
    try:
        yield
    except (httpcore.TimeoutException, DeadlinePassed) as error:
        reached = broken is CutShort or isinstance(error, httpcore.ReadTimeout)
        raise (TooSlow if reached else Unreachable)(
            f"{what} gave no whole answer in time; it is tried again later"
        ) from error
    except httpcore.LocalProtocolError as error:
        raise ConfigError(f"the request for {what} cannot be sent: a header or the address is malformed") from error
    except httpcore.ProxyError as error:
        raise Unreachable(f"the proxy refused to reach {what}; check the proxy and its credentials") from error
    except (httpcore.ConnectError, ssl.SSLError) as error:
        raise Unreachable(f"cannot connect to {what}: {_reason(error)}") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        raise broken(f"the connection broke off within {what}; it is read again at the next sync") from error


def _reason(error: BaseException) -> str:
    """Say why a connection failed; a certificate that is not trusted gets advice."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({cause.verify_message}); if it is your own, give its ca file"
        cause = cause.__cause__ or cause.__context__
    return (str(error) or "no connection").lower().rstrip(".")


def _trust(ca: str | Path | None) -> ssl.SSLContext:
    context = httpx.create_ssl_context(trust_env=False)
    if ca is not None:
        try:
            context.load_verify_locations(cafile=ca)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"the ca file {ca} holds no certificates that can be read; correct its path") from error
    return context


def _proxy(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host or "%" in parsed.host:
        raise ConfigError("the proxy is no http or https address; write such as http://proxy.acme.example:3128")
    return parsed


def _core_proxy(proxy: httpx.URL) -> httpcore.Proxy:
    auth = (proxy.username, proxy.password) if proxy.userinfo else None
    return httpcore.Proxy(str(proxy.copy_with(username=None, password=None)), auth=auth)
