"""Connections are kept while replies end where they say, and left as soon as one does not."""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from connectors.http import Client

Script = Callable[[Sequence[bytes]], tuple[str, list[int]]]
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmine\r\n0\r\n\r\n"
UNCHANGED = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n"
FOREIGN = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nothers"


def _answer(taken: socket.socket, replies: Iterator[bytes]) -> None:
    with taken:
        while taken.recv(65_536):
            taken.sendall(next(replies))


@pytest.fixture
def scripted() -> Iterator[Script]:
    """Start a server that says the given replies, one a request, and never hangs up; returns place and dials."""
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
                threads.append(threading.Thread(target=_answer, args=(taken, left), daemon=True))
                threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()

        def end() -> None:
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()
            for thread in (acceptor, *threads):
                thread.join()

        ends.append(end)
        return f"127.0.0.1:{listening.getsockname()[1]}", dialled

    yield start
    for end in ends:
        end()


@pytest.mark.parametrize(
    ("reply", "dials"),
    [
        (LENGTH, 1),
        (CHUNKED, 1),
        (UNCHANGED, 1),
        (LENGTH + FOREIGN, 3),
        (CHUNKED + FOREIGN, 3),
        (UNCHANGED + FOREIGN, 3),
        (LENGTH + b"\r\n", 3),
    ],
    ids=["length", "chunked", "unchanged", "length and more", "chunked and more", "unchanged and more", "and a line"],
)
def test_what_follows_a_reply_is_never_taken_for_the_next(scripted: Script, reply: bytes, dials: int) -> None:
    place, dialled = scripted([reply] * 3)
    with Client(allow_private=[place]) as client:
        answers = [client.get(f"http://{place}/{number}") for number in range(3)]
        assert {answer.status for answer in answers} == {304 if reply.startswith(UNCHANGED[:12]) else 200}
        assert b"others" not in b"".join(answer.content for answer in answers)
    assert dialled == [dials]
