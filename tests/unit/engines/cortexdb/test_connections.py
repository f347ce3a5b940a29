"""Connections: kept while replies end where they say, left as soon as one does not."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.timing import Timing

Script = Callable[[Sequence[bytes]], tuple[str, list[int]]]
BODY = b'{"success":true,"data":{"items":[]}}'
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
FOREIGN = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"


def _answer(taken: socket.socket, replies: Iterator[bytes]) -> None:
    with taken:
        asked = b""
        while more := taken.recv(65_536):
            asked += more
            if asked.endswith(b"\r\n\r\n"):
                asked = b""
                taken.sendall(next(replies))


@pytest.fixture
def scripted() -> Iterator[Script]:
    """Start a server that says the given replies, one a request, and never hangs up; returns address and dials."""
    ends: list[Callable[[], None]] = []

    def start(replies: Sequence[bytes]) -> tuple[str, list[int]]:
        listening = socket.create_server(("127.0.0.1", 0))
        left, dialled, threads = iter(replies), [0], []

        def accept() -> None:
            while True:
                try:
                    taken, _ = listening.accept()
                except OSError:
                    return
                dialled[0] += 1
                threads.append(threading.Thread(target=_answer, args=(taken, left)))
                threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()

        def end() -> None:
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()
            for thread in (acceptor, *threads):
                thread.join()

        ends.append(end)
        return f"http://127.0.0.1:{listening.getsockname()[1]}", dialled

    yield start
    for end in ends:
        end()


@pytest.mark.parametrize(
    ("reply", "dials"),
    [(LENGTH, 1), (CHUNKED, 1), (LENGTH + FOREIGN, 3), (CHUNKED + FOREIGN, 3), (LENGTH + b"\r\n", 3)],
    ids=["length", "chunked", "length and more", "chunked and more", "length and a line"],
)
def test_what_follows_a_reply_is_never_taken_for_the_next(scripted: Script, reply: bytes, dials: int) -> None:
    endpoint, dialled = scripted([reply] * 3)
    with TinyHumansEngine(TOKEN, endpoint, timing=Timing(request_s=5.0)) as engine:
        assert [engine.health().is_serving for _ in range(3)] == [True] * 3
    assert dialled == [dials]
