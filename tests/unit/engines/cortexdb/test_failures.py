"""Every row of the failure table over both wires, and servers that lie, cut, drip, flood or are not there."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.contract import HealthState
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.failures import error_code, is_insufficient_credits, message_head
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.errors import (
    Conflict,
    CorebrainError,
    EngineError,
    InvalidRequest,
    NotFound,
    Unauthorized,
    Unavailable,
)
from corebrain.model.filter import MetaFilter
from corebrain.model.item import StoreItem
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchRequest, ListRequest, WriteOptions

Wire = tuple[CortexWriter, ServedDouble]
Make = Callable[..., CortexEngine]
MakeHosted = Callable[..., TinyHumansEngine]
ONE_SCOPE = ListRequest(
    filter=MetaFilter(reach=Reach.exact(Namespace.ROOT), kinds=(ItemKind.DOCUMENT,))
)  # one listing, one request
STATUSES: list[tuple[int, type[CorebrainError]]] = [
    (400, InvalidRequest),
    (401, Unauthorized),
    (402, EngineError),
    (403, Unauthorized),
    (404, NotFound),
    (405, EngineError),
    (408, Unavailable),
    (409, Conflict),
    (410, EngineError),
    (413, InvalidRequest),
    (418, EngineError),
    (422, InvalidRequest),
    (429, Unavailable),
    (500, Unavailable),
    (501, EngineError),
    (502, Unavailable),
    (503, Unavailable),
    (504, Unavailable),
]


def raises_exactly(kind: type[CorebrainError], call: Callable[[], object]) -> CorebrainError:
    with pytest.raises(CorebrainError) as raised:
        call()
    assert type(raised.value) is kind, raised.value
    return raised.value


@pytest.mark.parametrize(("status", "kind"), STATUSES)
def test_a_status_is_its_error_on_reads_and_on_writes(wire: Wire, status: int, kind: type[CorebrainError]) -> None:
    engine, double = wire
    double.knobs.fail_all = (status, "SOME_CODE")
    read = raises_exactly(kind, lambda: engine.list(ONE_SCOPE))
    assert f"at 127.0.0.1 answered {status} — " in read.message
    assert "scope=" not in read.message  # the route without its query
    assert "the double refuses" not in message_head(read)
    assert (error_code(read) == "SOME_CODE") is engine.descriptor.hosted
    raises_exactly(kind, lambda: engine.store_with(StoreItem.document("x"), WriteOptions.accepted()))
    health = engine.health()
    assert health.state is (HealthState.DEGRADED if kind is Unavailable else HealthState.DOWN)
    assert health.reason is not None
    assert "the double refuses" not in health.reason


def test_a_listing_of_scopes_that_is_not_found_is_no_scopes(wire: Wire) -> None:
    engine, double = wire
    double.knobs.lacks = frozenset({"v1/scopes/list", "memory/scopes"})
    assert engine.list(ListRequest()).items == ()


def test_a_hosted_account_without_credits_is_told_apart(make_hosted: MakeHosted, hosted: HostedDouble) -> None:
    hosted.knobs.fail_all = (402, "USER_INSUFFICIENT_CREDITS")
    error = raises_exactly(EngineError, lambda: make_hosted().list(ONE_SCOPE))
    assert is_insufficient_credits(error)


def test_a_hosted_rate_limit_needs_no_envelope(make_hosted: MakeHosted, hosted: HostedDouble) -> None:
    hosted.knobs.rate_limit_events = 3
    error = raises_exactly(Unavailable, lambda: make_hosted().list(ONE_SCOPE))
    assert error_code(error) == "RATE_LIMITED"
    assert "slow down" in error.message


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), b"Connection: close", *headers, b"", body]
    return b"\r\n".join(lines)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"items":[]}', EngineError),
        (b'{"success":true}', EngineError),
        (b'{"success":1,"data":{"items":[]}}', EngineError),
        (b'{"success":false,"error":"no","errorCode":"odd code!"}', EngineError),
        (b"[]", EngineError),
        (b"", EngineError),
        (b'{"success":true,"data":null}', EngineError),
        (b"\xff\xfe", EngineError),
        (b"<html>" + b"x" * 1000, EngineError),
        (b"[" * 100_000, EngineError),
    ],
)
def test_a_hosted_reply_without_its_envelope_is_an_engine_error(
    make_hosted: MakeHosted, hosted: HostedDouble, body: bytes, kind: type[CorebrainError]
) -> None:
    hosted.knobs.raw["memory/events"] = answer(body)
    error = raises_exactly(kind, lambda: make_hosted().list(ONE_SCOPE))
    assert len(error.message) < 500


def events_route(double: ServedDouble) -> str:
    return "memory/events" if isinstance(double, HostedDouble) else "v1/events"


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"307 Temporary", b"308 Permanent"])
def test_a_redirect_is_not_followed_and_takes_no_credential_anywhere(wire: Wire, status: bytes) -> None:
    engine, double = wire
    double.knobs.raw[events_route(double)] = answer(b"", b"Location: http://127.0.0.1:9/", status=status)
    raises_exactly(EngineError, lambda: engine.list(ONE_SCOPE))


def test_a_body_cut_off_is_unavailable(wire: Wire) -> None:
    engine, double = wire
    double.knobs.raw[events_route(double)] = b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"items":'
    error = raises_exactly(Unavailable, lambda: engine.list(ONE_SCOPE))
    assert "was cut off" in error.message


def test_a_body_longer_than_its_length_is_cut_there_and_spoils_nothing_after_it(wire: Wire) -> None:
    engine, double = wire
    route = events_route(double)
    body = b'{"items":[],"has_more":false}'
    if isinstance(double, HostedDouble):
        body = b'{"success":true,"data":%s}' % body
    double.knobs.raw[route] = answer(body) + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull"
    assert engine.list(ONE_SCOPE).items == ()
    assert engine.list(ONE_SCOPE).items == ()
    del double.knobs.raw[route]
    engine.store(StoreItem.document("hello"))
    assert len(engine.list(ONE_SCOPE).items) == 1


def test_more_than_64_mib_is_an_engine_error_whether_announced_or_not(wire: Wire) -> None:
    engine, double = wire
    sent = []

    def flood() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        for _ in range(200):
            sent.append(1)
            yield b" " * 1_048_576

    double.knobs.raw[events_route(double)] = flood
    error = raises_exactly(EngineError, lambda: engine.list(ONE_SCOPE))
    assert "67108864 bytes" in error.message
    assert len(sent) < 100  # nobody reads on
    double.knobs.raw[events_route(double)] = b"HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n"
    raises_exactly(EngineError, lambda: engine.list(ONE_SCOPE))


def test_an_endless_error_body_is_read_to_64_kib(wire: Wire) -> None:
    engine, double = wire
    sent = []

    def endless() -> Iterator[bytes]:
        yield b"HTTP/1.1 422 No\r\n\r\n"
        for _ in range(3_000):
            sent.append(1)
            yield b"x" * 65_536

    double.knobs.raw[events_route(double)] = endless
    error = raises_exactly(InvalidRequest, lambda: engine.list(ONE_SCOPE))
    assert len(error.message) < 500
    assert len(sent) < 3_000


def dripping(first: bytes) -> Callable[[], Iterator[bytes]]:
    def drip() -> Iterator[bytes]:
        yield first
        for _ in range(500):
            time.sleep(0.02)
            yield b"a"

    return drip


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b""],
    ids=["headers", "body", "status line"],
)
def test_a_server_that_drips_is_left_at_the_deadline(make: Make, double: DirectDouble, first: bytes) -> None:
    sent: list[bytes] = []

    def counted() -> Iterator[bytes]:
        for piece in dripping(first)():
            sent.append(piece)
            yield piece

    double.knobs.raw["v1/experience"] = counted
    engine = make(timing=Timing(request_s=0.15, backoff_s=0.001, poll_s=0.001))
    error = raises_exactly(Unavailable, lambda: engine.store_with(StoreItem.document("x"), WriteOptions.accepted()))
    assert "timed out" in error.message
    assert double.seen.lines[-1] == "POST /v1/experience"
    assert len(sent) < 400


def test_nobody_listening_is_unavailable(timing: Timing) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with CortexEngine(TOKEN, f"http://127.0.0.1:{port}", timing=timing) as engine:
        error = raises_exactly(Unavailable, lambda: engine.list(ONE_SCOPE))
        assert "could not be reached (ConnectError)" in error.message
        assert engine.health().state is HealthState.DEGRADED


def test_an_unknown_host_is_named_as_such(timing: Timing) -> None:
    with CortexEngine(TOKEN, "https://nowhere.invalid", timing=timing) as engine:
        error = raises_exactly(Unavailable, lambda: engine.list(ONE_SCOPE))
    assert "nowhere.invalid could not be reached" in error.message
    assert "(DNS)" in error.message


def test_a_server_that_speaks_no_tls_is_named_as_such(double: DirectDouble, timing: Timing) -> None:
    with CortexEngine(TOKEN, double.endpoint.replace("http:", "https:"), timing=timing) as engine:
        error = raises_exactly(Unavailable, lambda: engine.list(ONE_SCOPE))
    assert "(TLS)" in error.message
    assert double.seen.lines == []


def test_a_connection_that_is_closed_at_once_is_unavailable(timing: Timing) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            for _ in range(6):
                try:
                    taken, _ = listening.accept()
                except OSError:
                    return
                taken.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with CortexEngine(TOKEN, f"http://127.0.0.1:{listening.getsockname()[1]}", timing=timing) as engine:
            raises_exactly(Unavailable, lambda: engine.list(ONE_SCOPE))
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_text_no_request_can_carry_is_an_engine_error(wire: Wire) -> None:
    engine, _ = wire
    wanted = MetaFilter(reach=Reach.exact(Namespace.ROOT), kinds=(ItemKind.DOCUMENT,))
    error = raises_exactly(EngineError, lambda: engine.fetch(FetchRequest(query="half \ud83d", filter=wanted)))
    assert "the request cannot be built" in error.message


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"id": 7, "content": {"text": "x"}},
        {"id": "e", "content": "x", "context": []},
        {"id": "e", "content": {"text": None}, "context": {"labels": None}},
        {"id": "e", "content": {"text": "\ud800"}, "context": {"labels": ["tm:e:00:\ud800"]}},
        {"id": "e", "content": {"text": '{"v":2,"id":"x","kind":"document","text":"\ud800","meta":{}}'}, "context": {}},
        {"id": "e", "content": {"text": '{"v":2,"id":"x","kind":"learning","text":"","meta":{}}'}, "context": {}},
        {"id": "e", "content": {"text": '{"v":9,"id":"x","kind":"document","text":"","meta":{}}'}, "context": {}},
        {"id": "e", "content": {"text": "x"}, "context": {"labels": [1, None, "tm:e:0:{", "tm:e:00:{}"]}},
    ],
)
def test_an_event_that_is_not_ours_is_passed_over(wire: Wire, event: dict[str, Any]) -> None:
    engine, double = wire
    data: object = {"items": [event, event], "has_more": False}
    if isinstance(double, HostedDouble):
        data = {"success": True, "data": data}
    double.knobs.raw[events_route(double)] = answer(json.dumps(data).encode())
    assert engine.list(ONE_SCOPE).items == ()
    assert engine.export(ONE_SCOPE).items == ()


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ([b"Retry-After: 3"], 3),
        ([b"Retry-After: 3600"], 10),
        ([b"RateLimit-Reset: 4"], 4),
        ([b"Retry-After: 2", b"RateLimit-Reset: 9"], 2),
        ([b"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT", b"RateLimit-Reset: 5"], 5),
        ([b"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT"], 0),
        ([b"Retry-After: -1"], 0),
        ([b"Retry-After: 1.5"], 0),
        ([], 0),
    ],
)
def test_a_rate_limit_holds_back_every_later_request(
    make: Make, double: DirectDouble, timing: Timing, headers: list[bytes], pause: int
) -> None:
    slept: list[float] = []
    engine = make(timing=replace(timing, sleep=slept.append, now=lambda: 100.0))
    engine.list(ONE_SCOPE)
    slept.clear()
    double.knobs.raw["v1/events"] = answer(b"{}", *headers, status=b"429 Slow")
    with pytest.raises(Unavailable):
        engine.list(ONE_SCOPE)
    slept.clear()
    del double.knobs.raw["v1/events"]
    engine.health()
    assert slept == ([pause] if pause else [])


def test_a_read_that_recovers_waits_twice_as_long_each_time(make: Make, double: DirectDouble, timing: Timing) -> None:
    slept: list[float] = []
    engine = make(timing=replace(timing, backoff_s=0.25, sleep=slept.append))
    double.knobs.raw["v1/events"] = answer(b"no", status=b"503 Down")
    with pytest.raises(Unavailable):
        engine.list(ONE_SCOPE)
    assert slept == [0.25, 0.5]
    slept.clear()
    body = b'{"error_code":"AUTHORIZATION_STATE_CHANGED"}'
    double.knobs.raw["v1/events"] = answer(body, status=b"503 Changing")
    with pytest.raises(Unavailable, match=r"\[AUTHORIZATION_STATE_CHANGED\] GET v1/events"):
        engine.list(ONE_SCOPE)
    assert slept == [0.25, 0.5, 1.0, 2.0, 4.0]
