"""The sockets of the client: dialled only where the guard says, and never slower than the request's deadline."""

import ssl
import threading
from collections.abc import Iterable
from typing import Any

import httpcore

from connectors.http.deadline import joined, steps, time_left
from connectors.http.guard import Guard, plain_host

ADDRESSES = 4
"""Addresses of one host that are tried, one after the other."""


_HEAD_END, _LAST_CHUNK = b"\r\n\r\n", b"0\r\n\r\n"
_MOST_HEAD = 128 * 1024  # more than a head may have (h11): what comes later is not looked at
_BODILESS = frozenset({204, 304})


class BoundStream(httpcore.NetworkStream):
    """A stream whose every step ends at the deadline, or at the stop, of the request that runs in this thread.

    It counts what a reply brings: httpcore takes what a server sends beyond a reply's end for the next reply's
    beginning.
    """

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._head = bytearray()
        self._received = 0
        self._tail = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        late: httpcore.ReadTimeout | None = None
        for step in steps(timeout):
            try:
                return self._noted(self._stream.read(max_bytes, step))
            except httpcore.ReadTimeout as error:  # nothing came in this step, and nothing was lost
                late = error
        raise late or httpcore.ReadTimeout("no time to read")

    def _noted(self, data: bytes) -> bytes:
        if len(self._head) < _MOST_HEAD and _HEAD_END not in self._head:
            self._head += data
        self._received += len(data)
        self._tail = (self._tail + data[-len(_LAST_CHUNK) :])[-len(_LAST_CHUNK) :]
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._received:  # the next request begins
            self._head, self._received, self._tail = bytearray(), 0, b""
        self._stream.write(buffer, time_left(timeout))

    def ends_with(self, method: str, reply: httpcore.Response) -> bool:
        """Tell whether what was received ends where *reply* to *method* does: else nothing more may come from here."""
        headers = {name.lower(): value for name, value in reply.headers}
        head = self._head.find(_HEAD_END) + len(_HEAD_END)
        if method == "HEAD" or reply.status in _BODILESS:
            return self._received == head
        if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
            return self._tail == _LAST_CHUNK
        length = headers.get(b"content-length", b"")
        return length.isdigit() and self._received == head + int(length)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return BoundStream(self._stream.start_tls(ssl_context, server_hostname, time_left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class GuardedNetwork(httpcore.NetworkBackend):
    """Dials the very address that was vetted, so that a name cannot point elsewhere in between.

    Args:
        guard: Vets.
        proxy: Host and port of a configured proxy, which is dialled unvetted; with one, nothing else is dialled.
    """

    def __init__(self, guard: Guard, proxy: tuple[str, int] | None = None) -> None:
        self._guard = guard
        self._proxy = proxy
        self._dialler = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        if self._proxy == (plain_host(host), port):
            addresses = [host]
        else:
            addresses = self._guard.addresses(host, port, time_left(timeout))
        failure: Exception | None = None
        for address in addresses[:ADDRESSES]:
            try:
                return BoundStream(self._dialled(address, port, timeout, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError("no address")

    def _dialled(
        self,
        address: str,
        port: int,
        timeout: float | None,
        local_address: str | None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None,
    ) -> httpcore.NetworkStream:
        """Connect in a thread of its own, so that a stop need not wait for an address that does not answer."""
        streams: list[httpcore.NetworkStream] = []
        failures: list[Exception] = []
        left = time_left(timeout)

        def dial() -> None:
            try:
                streams.append(self._dialler.connect_tcp(address, port, left, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failure:
                failures.append(failure)

        thread = threading.Thread(target=dial, name=f"connect {address}", daemon=True)
        thread.start()
        joined(thread, None if left is None else left + 1)  # the dialler's own timeout ends it first
        if streams:
            return streams[0]
        raise failures[0] if failures else httpcore.ConnectTimeout("no connection in time")
