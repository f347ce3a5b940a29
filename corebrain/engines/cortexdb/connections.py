"""Connections kept open to one server, none slower than the request that uses it may be."""

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpcore
import httpx

from corebrain.engines.cortexdb import deadline
from corebrain.engines.cortexdb.timing import Timing

Left = Callable[[float | None], float]
_MOST, _IDLE, _IDLE_S = 100, 20, 5.0
_PIECE = 65_536
_HEAD_END, _LAST_CHUNK = b"\r\n\r\n", b"0\r\n\r\n"


class _Deadline(threading.local):
    """When the request that runs on this thread must have ended; a request runs on one thread."""

    until: float = 0.0


class Connections(httpx.BaseTransport):
    """Sends requests over kept connections; its errors are those of httpcore, which names them.

    A request ends by `Timing.request_s` after it began, or with the read it is part of, whatever its server sends how
    slowly: a time limit on each single read would let a server that sends a byte now and then hold a thread for ever.

    Args:
        timing: How long, and by which clock.
        secure: Whether the server speaks TLS.
    """

    def __init__(self, timing: Timing, *, secure: bool) -> None:
        self._timing = timing
        self._deadline = _Deadline()
        trusted = httpx.create_ssl_context(trust_env=False) if secure else None
        self._pool = httpcore.ConnectionPool(
            ssl_context=trusted,
            max_connections=_MOST,
            max_keepalive_connections=_IDLE,
            keepalive_expiry=_IDLE_S,
            network_backend=_Network(self.left),
        )

    def left(self, timeout: float | None) -> float:
        """Return how long the next step may take; `ReadTimeout` once the request's time is over."""
        left = self._deadline.until - self._timing.now()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left if timeout is None else min(timeout, left)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        timing = self._timing
        self._deadline.until = deadline.end_in(timing.request_s, timing.now(), deadline.ends())
        waits = {"connect": timing.connect_s, "pool": timing.request_s}
        url = request.url
        reply = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions={"timeout": waits},
            )
        )
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply), extensions=reply.extensions)

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, reply: httpcore.Response) -> None:
        self._reply = reply

    def __iter__(self) -> Iterator[bytes]:
        yield from self._reply.iter_stream()

    def close(self) -> None:
        stream = self._reply.extensions.get("network_stream")
        if isinstance(stream, _Stream) and not stream.ends_with(self._reply):
            stream.close()  # before the pool may hand it on
        self._reply.close()


class _Network(httpcore.NetworkBackend):
    """Dials as httpcore does, its streams under the deadline."""

    def __init__(self, left: Left) -> None:
        self._left = left
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        inner = self._inner.connect_tcp(host, port, self._left(timeout), local_address, socket_options)
        return _Stream(inner, self._left)


class _Stream(httpcore.NetworkStream):
    """One connection. What a server sends beyond a reply's end must never be taken for the next one's beginning."""

    def __init__(self, inner: httpcore.NetworkStream, left: Left) -> None:
        self._inner = inner
        self._left = left
        self._unsent = bytearray()
        self._head = bytearray()
        self._received = 0
        self._tail = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with contextlib.suppress(httpcore.WriteError):  # a server may have answered before it heard everything
            self._send(timeout)
        data = self._inner.read(max_bytes, self._left(timeout))
        if _HEAD_END not in self._head:
            self._head += data
        self._received += len(data)
        self._tail = (self._tail + data)[-len(_LAST_CHUNK) :]
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._received:
            self._head, self._received, self._tail = bytearray(), 0, b""
        self._unsent += buffer  # a small request travels in one piece, its head and its body
        if len(self._unsent) > _PIECE:
            self._send(timeout)

    def _send(self, timeout: float | None) -> None:
        unsent, self._unsent = bytes(self._unsent), bytearray()
        if unsent:
            self._inner.write(unsent, self._left(timeout))

    def ends_with(self, reply: httpcore.Response) -> bool:
        """Tell whether what was received ends where *reply* does."""
        headers = httpx.Headers(reply.headers)
        if headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self._tail == _LAST_CHUNK
        length = headers.get("Content-Length", "0")
        head = self._head.find(_HEAD_END) + len(_HEAD_END)
        return length.isdecimal() and self._received == head + int(length)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, self._left(timeout)), self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
