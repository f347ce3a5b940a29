"""The client against a server that speaks bytes."""

import gzip
import logging
import socket
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpcore
import httpx
import pytest

from connectors.errors import AuthError, ConfigError, DocumentError, DocumentGone, Unavailable
from connectors.http import (
    AddressRefused,
    BodyRefused,
    Client,
    CutShort,
    Limits,
    Pace,
    Pacer,
    RetryPolicy,
    Stopped,
    TooManyRedirects,
    Unreachable,
)

if TYPE_CHECKING:
    from tests.unit.connectors.http.conftest import Hours, Server

Whole = Callable[..., bytes]
ONCE = RetryPolicy(attempts=1)


def allowed(server: "Server") -> list[str]:
    return [f"127.0.0.1:{server.port}"]


def test_reply_is_given_whole_whatever_its_status(server: "Server", client: Client, whole: Whole) -> None:
    url = server.tell("/a", whole(b"hello", headers={"Content-Type": "Text/Plain; charset=x", "ETag": '"1"'}))
    answer = client.get(url)
    assert (answer.status, answer.content, answer.media_type, answer.headers["etag"]) == (
        200,
        b"hello",
        "text/plain",
        '"1"',
    )
    assert client.get(f"{server.url}/missing").status == 404
    assert client.requests == 2


def test_base_url_is_what_relative_ones_are_appended_to(server: "Server", whole: Whole) -> None:
    server.tell("/api/v3/repos?page=2", whole(b"[]"))
    with Client(base_url=f"{server.url}/api/v3") as client:
        assert client.get("/repos", params={"page": 2}).json() == []


def test_private_address_is_refused_before_anything_is_sent(server: "Server") -> None:
    for url in (f"{server.url}/", f"http://localhost:{server.port}/", f"http://0x7f.1:{server.port}/"):
        with Client() as client, pytest.raises(AddressRefused, match=r"address|name"):
            client.get(url)
    assert server.asked == []


def test_redirect_to_a_private_address_is_refused(server: "Server", other_server: "Server", whole: Whole) -> None:
    url = server.tell("/r", whole(status=302, headers={"Location": f"{other_server.url}/secret"}))
    with Client(allow_private=allowed(server)) as client, pytest.raises(AddressRefused):
        client.get(url)
    assert other_server.asked == []


def test_name_that_changes_its_address_is_dialled_where_it_was_vetted(server: "Server", whole: Whole) -> None:
    """Rebinding: each look-up gives the next address; what was vetted is what is dialled, so nothing inside is."""
    server.tell("/s", whole(b"secret"))
    answers = ["93.184.216.34", "127.0.0.1"] * 20
    limits = Limits(connect_s=0.05)
    with Client(resolve=lambda _h, _p: [answers.pop(0)], limits=limits, retry=ONCE) as client:
        for _ in range(20):
            with pytest.raises((AddressRefused, Unreachable)):
                client.get(f"http://rebind.example:{server.port}/s")
    assert server.asked == []


def test_redirects_are_followed_and_told(server: "Server", client: Client, whole: Whole) -> None:
    server.tell("/1", whole(status=301, headers={"Location": "/2"}))
    server.tell("/2", whole(status=308, headers={"Location": "3?x=1#part"}))
    server.tell("/3?x=1", whole(b"end"))
    answer = client.get(f"{server.url}/1")
    assert (answer.url, answer.hops) == (f"{server.url}/3?x=1", (f"{server.url}/1", f"{server.url}/2"))
    assert answer.permanent
    assert client.get(f"{server.url}/1", follow=False).status == 301


def test_redirects_without_end_are_given_up(server: "Server", client: Client, whole: Whole) -> None:
    for number in range(9):
        server.tell(f"/{number}", whole(status=302, headers={"Location": f"/{number + 1}"}))
    server.tell("/a", whole(status=302, headers={"Location": "/b"}))
    server.tell("/b", whole(status=302, headers={"Location": "/a"}))
    with pytest.raises(TooManyRedirects, match="more than 5"):
        client.get(f"{server.url}/0")
    assert server.paths == [f"/{number}" for number in range(6)]
    with pytest.raises(TooManyRedirects, match="circle"):
        client.get(f"{server.url}/a")


def test_credentials_stay_with_their_origin(server: "Server", other_server: "Server", whole: Whole) -> None:
    server.tell("/r", whole(status=302, headers={"Location": f"{other_server.url}/x"}))
    other_server.tell("/x", whole(b"x"))
    secret = {"Authorization": "Bearer canary", "X-Api-Key": "canary"}
    with Client(allow_private=[*allowed(server), *allowed(other_server)], credentials={server.url: secret}) as client:
        client.get(f"{server.url}/r", headers={"X-Own": "canary", "If-None-Match": '"v"'})
        client.get(f"{other_server.url}/x")
    assert server.asked[0][2]["authorization"] == "Bearer canary"
    for _, _, headers in other_server.asked:
        assert "canary" not in str(headers)
    assert other_server.asked[0][2]["if-none-match"] == '"v"'


def test_credentials_never_travel_unencrypted() -> None:
    with (
        Client(credentials={"http://api.example": {"X-Key": "canary"}}) as client,
        pytest.raises(ConfigError) as caught,
    ):
        client.get("http://api.example/x")
    assert "canary" not in str(caught.value)


def test_limit_with_retry_after_is_waited_for(server: "Server", client: Client, hours: "Hours", whole: Whole) -> None:
    limit = whole(status=429, headers={"Retry-After": "90"})
    url = server.tell("/a", limit, whole(b"fine"))
    assert client.get(url).content == b"fine"
    assert sum(hours.slept) == 90.0
    assert client.requests == 2


def test_longer_pause_than_patience_is_told_and_kept(server: "Server", client: Client, whole: Whole) -> None:
    url = server.tell("/a", whole(status=429, headers={"Retry-After": "3600"}))
    answer = client.get(url)
    assert (answer.status, answer.asked_s) == (429, 3600.0)
    with pytest.raises(Unavailable) as caught:
        client.get(f"{server.url}/other")
    assert caught.value.retry_after_s == 3600.0
    assert server.paths == ["/a"]  # nothing is sent while the host is held


def test_failures_that_may_pass_are_tried_again(server: "Server", client: Client, hours: "Hours", whole: Whole) -> None:
    def resets(connection: socket.socket) -> None:
        connection.close()

    url = server.tell("/a", whole(status=502), resets, whole(b"fine"))
    assert client.get(url).content == b"fine"
    assert hours.slept == [0.25, 0.5]


def test_last_reply_stands_when_all_attempts_fail(server: "Server", client: Client, whole: Whole) -> None:
    url = server.tell("/a", whole(status=503))
    answer = client.get(url)
    assert answer.status == 503
    assert len(server.asked) == 4
    with pytest.raises(Unavailable):
        answer.expect_ok()


def test_post_is_not_sent_twice_unless_it_only_reads(server: "Server", whole: Whole, hours: "Hours") -> None:
    url = server.tell("/q", whole(status=502))
    for methods, sent in ((frozenset({"GET"}), 1), (frozenset({"GET", "POST"}), 3)):
        server.asked.clear()
        policy = RetryPolicy(attempts=3, methods=methods)
        with Client(allow_private=allowed(server), retry=policy, timing=hours.timing()) as client:
            assert client.request("POST", url, json={"a": 1}).status == 502
        assert len(server.asked) == sent


def test_slow_replies_end_at_the_deadline(server: "Server") -> None:
    stop = threading.Event()

    def drips(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not stop.wait(0.02):
            connection.sendall(b"x")

    def drips_headers(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not stop.wait(0.02):
            connection.sendall(b"X-More: 1\r\n")

    def is_silent(connection: socket.socket) -> None:
        connection.recv(1)
        stop.wait(20)

    limits = Limits(deadline_s=0.3)
    with Client(allow_private=allowed(server), limits=limits, retry=ONCE) as client:
        for answer in (drips, drips_headers, is_silent):
            began = time.monotonic()
            with pytest.raises(Unreachable, match="in time"):
                client.get(server.tell("/slow", answer))
            assert time.monotonic() - began < 15  # without a deadline: for ever, and until the read times out
    stop.set()


def test_bodies_over_the_limit_are_refused(server: "Server", client: Client, whole: Whole) -> None:
    bomb = gzip.compress(bytes(20 * 2**20))
    for body, headers in ((b"x" * 3000, {}), (bomb, {"Content-Encoding": "gzip"})):
        url = server.tell("/big", whole(body, headers=headers))
        with pytest.raises(BodyRefused, match="over 2,000 bytes"):
            client.get(url, max_bytes=2000)


def test_replies_cut_short_are_never_taken_for_whole(server: "Server", whole: Whole) -> None:
    cut_chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n"
    endings = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello",
        cut_chunks,
        whole(b'{"a": [1, 2', headers={"Content-Type": "application/json"}, length=False),
        whole(gzip.compress(b"hello")[:-5], headers={"Content-Encoding": "gzip"}, length=False),
        whole(b"<html><body>half a pa", headers={"Content-Type": "text/html"}, length=False),
    ]
    with Client(allow_private=allowed(server), retry=ONCE) as client:
        for ending in endings:
            with pytest.raises(CutShort):
                client.get(server.tell("/cut", ending))


def test_download_leaves_a_private_file(server: "Server", client: Client, whole: Whole, tmp_path: Path) -> None:
    body = bytes(range(256)) * 2000
    answer = client.download(server.tell("/zip", whole(body)), tmp_path)
    assert answer.file is not None
    assert (answer.file.read_bytes(), answer.size, answer.content) == (body, len(body), b"")
    assert stat.S_IMODE(answer.file.stat().st_mode) == 0o600


def test_download_that_fails_leaves_nothing(server: "Server", client: Client, whole: Whole, tmp_path: Path) -> None:
    assert client.download(server.tell("/no", whole(b"not here", status=404)), tmp_path).content == b"not here"
    with pytest.raises(BodyRefused):
        client.download(server.tell("/big", whole(b"x" * 5000)), tmp_path, max_bytes=100)
    assert list(tmp_path.iterdir()) == []


def test_libraries_ride_on_the_transport(server: "Server", client: Client, whole: Whole) -> None:
    url = server.tell("/a", whole(status=503), whole(b"fine"))
    with httpx.Client(transport=client.transport) as library:
        assert library.get(url).text == "fine"
        with pytest.raises(AddressRefused):
            library.get("http://127.0.0.1:1/")
    assert client.requests == 2


def test_hosts_are_paced_between_clients(server: "Server", whole: Whole, hours: "Hours") -> None:
    url = server.tell("/a", whole(b"x"))
    timing = hours.timing()
    pacer = Pacer(timing.clock)
    for _ in range(3):
        with Client(allow_private=allowed(server), pace=Pace(2.0), pacer=pacer, timing=timing) as client:
            client.get(url)
    assert hours.slept == [2.0, 2.0]


def test_stop_ends_a_wait_and_sends_nothing(server: "Server", whole: Whole) -> None:
    url = server.tell("/a", whole(status=429, headers={"Retry-After": "60"}))
    stop = threading.Event()
    with Client(allow_private=allowed(server), stop=stop, pacer=Pacer(time.monotonic)) as client:
        threading.Timer(0.1, stop.set).start()
        with pytest.raises(Stopped):
            client.get(url)
    assert len(server.asked) == 1


def test_stop_ends_a_request_under_way(server: "Server") -> None:
    stop, over = threading.Event(), threading.Event()
    resolving = threading.Event()

    def is_silent(connection: socket.socket) -> None:
        connection.recv(1)
        over.wait(60)

    def drips(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not over.wait(0.05):
            connection.sendall(b"x")

    def hangs(_host: str, _port: int) -> list[str]:
        resolving.wait(60)
        return []

    slow = [server.tell("/silent", is_silent), server.tell("/drips", drips), "http://docs.example/"]
    with Client(allow_private=allowed(server), resolve=hangs, pacer=Pacer(time.monotonic)) as client:
        for url in slow:
            client.stop = stop = threading.Event()
            timer = threading.Timer(0.1, stop.set)
            timer.start()
            with pytest.raises(
                Stopped
            ):  # without the stop: after the read's 20 s, the deadline's 60 s, the look-up's 10 s
                client.get(url, deadline_s=60)
            timer.join()
            assert client.stop is stop
    over.set()
    resolving.set()


def test_stop_ends_a_connection_that_does_not_come_about(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, stop = threading.Event(), threading.Event()

    def never(*_arguments: object, **_named: object) -> None:
        stop.set()
        answer.wait(60)

    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", never)
    with (
        Client(resolve=lambda _host, _port: ["93.184.216.34"], stop=stop, pacer=Pacer(time.monotonic)) as client,
        pytest.raises(Stopped),
    ):
        client.get("http://docs.example/")
    answer.set()


def test_statuses_become_the_errors_of_connectors(server: "Server", client: Client, whole: Whole) -> None:
    kinds = {401: AuthError, 403: AuthError, 404: DocumentGone, 410: DocumentGone, 418: DocumentError, 500: Unavailable}
    for status, kind in kinds.items():
        with pytest.raises(kind, match="the plan"):
            client.get(server.tell("/a", whole(status=status))).expect_ok("the plan")


def test_tls_to_a_server_without_it_is_unreachable(server: "Server") -> None:
    with (
        Client(allow_private=allowed(server), retry=ONCE) as client,
        pytest.raises(Unreachable, match="cannot connect"),
    ):
        client.get(f"https://127.0.0.1:{server.port}/")


def test_no_secret_is_shown_anywhere(server: "Server", client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = server.tell("/a?token=canary", b"nonsense\r\n\r\n")
    with pytest.raises(Unreachable) as caught:
        client.get(url, headers={"Authorization": "Bearer canary"})
    answer = client.get(f"{server.url}/b?token=canary", headers={"X-Key": "canary"})
    shown = f"{caught.value} {caught.value!r} {client!r} {answer.error()}"
    assert "canary" not in shown
    own = [record for record in caplog.records if not record.name.startswith("httpcore")]
    assert "canary" not in str([record.getMessage() for record in own])
