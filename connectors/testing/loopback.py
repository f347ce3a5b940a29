"""What the stand-ins of JSON APIs share: a real HTTP server on a free loopback port, a log and armed faults."""

import json
import re
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Generic, Protocol, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked.

    Attributes:
        method: Such as `GET`.
        path: As it came, still quoted, without the query.
        query: The last value of each name.
        headers: Found in any letter case by `get`.
        body: Its bytes.
    """

    method: str
    path: str
    query: dict[str, str]
    headers: Message
    body: bytes

    def credential(self) -> tuple[str, str]:
        """Return the scheme of its `Authorization` and what comes after; twice `""` without one."""
        scheme, _, value = (self.headers.get("Authorization") or "").partition(" ")
        return scheme, value


@dataclass(slots=True)
class Reply:
    """What is answered."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Self:
        """Answer with JSON."""
        told = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
        return cls(status, json.dumps(value).encode(), told)


Answer = Callable[[Request], Reply | None]
"""Gives the reply of a request; `None` closes the connection without one."""


class LoopbackServer:
    """Answers in threads of its own while it is a context; what clients keep open is cut at the end.

    Args:
        answer: Gives the replies, called from several threads at once.
        port: 0 takes a free one.

    Attributes:
        url: Its address, without a last slash.
    """

    def __init__(self, answer: Answer, port: int = 0) -> None:
        self._http = _Listener(port, answer)
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


class _Limited(Protocol):
    match: str
    times: int


_Fault = TypeVar("_Fault", bound=_Limited)


class ArmedFaults(Generic[_Fault]):
    """Faults armed for requests to come; safe for threads."""

    def __init__(self) -> None:
        self._armed: deque[_Fault] = deque()
        self._lock = threading.Lock()

    def arm(self, fault: _Fault) -> None:
        """Let *fault* hit the next requests that match; of several the one armed first."""
        self._armed.append(fault)

    def take(self, line: str) -> _Fault | None:
        """Return the fault that hits `METHOD /path`, if one does."""
        with self._lock:
            for fault in self._armed:
                if fault.times > 0 and re.search(fault.match, line):
                    fault.times -= 1
                    return fault
            return None

    def clear(self) -> None:
        """Disarm everything."""
        self._armed.clear()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, answer: Answer) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.answer = answer
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other's acknowledgement, 40 ms a reply
    disable_nagle_algorithm = True
    server: _Listener

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Say nothing: tests read the log."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        asked = Request(self.command, parts.path, dict(parse_qsl(parts.query)), self.headers, body)
        reply = self.server.answer(asked)
        if reply is None:
            self.close_connection = True
            return
        self.send_response_only(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
