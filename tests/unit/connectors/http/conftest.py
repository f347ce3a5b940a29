"""A loopback server that speaks bytes, and a client whose time is the test's."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import pytest

from connectors.http import Client, Pacer, Timing

Answer: TypeAlias = "bytes | Callable[[socket.socket], None]"


def reply(body: bytes = b"", *, status: int = 200, headers: dict[str, str] | None = None, length: bool = True) -> bytes:
    """A whole HTTP reply as bytes; without *length* only the end of the connection ends it."""
    lines = [f"HTTP/1.1 {status} Fine", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    lines.append(f"Content-Length: {len(body)}" if length else "Connection: close")
    return "\r\n".join((*lines, "", "")).encode() + body


@dataclass
class Server:
    """Answers each path as told; keeps what it was asked, headers by lower-case name."""

    port: int
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.asked]

    def tell(self, path: str, *answers: Answer) -> str:
        """The answers to *path*, in turn; the last one stays."""
        self.answers[path] = list(answers)
        return f"{self.url}{path}"

    def handle(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            while line := lines.readline():
                method, path, _ = line.decode().split(" ", 2)
                headers = {}
                while header := lines.readline().strip().decode():
                    name, _, value = header.partition(":")
                    headers[name.lower()] = value.strip()
                lines.read(int(headers.get("content-length", 0)))
                self.asked.append((method, path, headers))
                told = self.answers.get(path, [reply(status=404)])
                answer = told.pop(0) if len(told) > 1 else told[0]
                if callable(answer):
                    answer(connection)
                    return
                connection.sendall(answer)
                if b"Connection: close" in answer:
                    return


def serving(address: str) -> Iterator[Server]:
    listener = socket.create_server((address, 0))
    server = Server(listener.getsockname()[1])
    threads: list[threading.Thread] = []

    def hold(connection: socket.socket) -> None:
        try:
            server.handle(connection)
        except (OSError, ValueError):  # ValueError: no HTTP, such as the hello of TLS
            connection.close()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=hold, args=(connection,), daemon=True))
            threads[-1].start()

    threading.Thread(target=accept, daemon=True).start()
    yield server
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    yield from serving("127.0.0.1")


@pytest.fixture
def other_server() -> Iterator[Server]:
    yield from serving("127.0.0.1")


class Hours:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds

    def timing(self) -> Timing:
        start = datetime(2026, 1, 1, tzinfo=UTC)
        return Timing(
            clock=lambda: self.seconds,
            now=lambda: start + timedelta(seconds=self.seconds - 1_000),
            chance=lambda: 0.0,
            sleep=self.sleep,
        )


@pytest.fixture
def hours() -> Hours:
    return Hours()


@pytest.fixture
def client(server: Server, other_server: Server, hours: Hours) -> Iterator[Client]:
    """Allowed to ask both servers."""
    timing = hours.timing()
    allowed = [f"127.0.0.1:{server.port}", f"127.0.0.1:{other_server.port}"]
    with Client(allow_private=allowed, timing=timing, pacer=Pacer(timing.clock)) as made:
        yield made


@pytest.fixture
def whole() -> Callable[..., bytes]:
    return reply
