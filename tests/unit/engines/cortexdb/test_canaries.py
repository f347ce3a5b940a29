"""A credential is in no message, no log, no repr and no exception, whatever goes wrong, also at debug level."""

import io
import logging
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.errors import CorebrainError
from corebrain.model.item import Conversation, LearningKind, Role, StoreItem, Turn
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateRequest,
    EraseRequest,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
    WriteOptions,
)

CANARY = "canary-7f3a9c-secret"
TENANT = "canary-tenant-8"
ROOT = Reach.subtree(Namespace.ROOT)
ECHO = b'{"error":"Bearer %s is no key","errorCode":"X","message":"%s"}' % ((CANARY.encode(),) * 2)
Break = Callable[[ServedDouble], None]


def saying(reply: bytes) -> Break:
    def lie(double: ServedDouble) -> None:
        double.knobs.raw[""] = reply

    return lie


def failing(status: int) -> Break:
    def fail(double: ServedDouble) -> None:
        double.knobs.fail_all = (status, "NO")

    return fail


def refusing(double: ServedDouble) -> None:
    double.knobs.accept_token = "another"


def flooding(double: ServedDouble) -> None:
    def flood() -> Iterator[bytes]:
        yield b"HTTP/1.1 500 No\r\n\r\n"
        yield ECHO * 2_000

    double.knobs.raw[""] = flood


BROKEN: dict[str, Break] = {
    "well": lambda _: None,
    "refused": refusing,
    "flooded": flooding,
    "echoed 401": saying(b"HTTP/1.1 401 No\r\nContent-Length: %d\r\n\r\n%s" % (len(ECHO), ECHO)),
    "echoed 422": saying(b"HTTP/1.1 422 No\r\nContent-Length: %d\r\n\r\n%s" % (len(ECHO), ECHO)),
    "echoed success": saying(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ECHO), ECHO)),
    "hosted no": saying(
        b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n{"success":false,%s' % (len(ECHO) + 16, ECHO[1:])
    ),
    "cut": saying(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"items":'),
    "html": saying(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"),
    "nonsense": saying(b"\x00\x01 nonsense"),
    "nothing": saying(b""),
    "too long": saying(b"HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n"),
    "elsewhere": saying(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    **{str(status): failing(status) for status in (400, 402, 404, 408, 409, 413, 418, 429, 500, 503)},
}


def calls(engine: CortexWriter) -> list[Callable[[], object]]:
    turn = Conversation(turns=(Turn(role=Role.USER, text="hello"),))
    return [
        engine.health,
        lambda: engine.store(StoreItem.document("a text")),
        lambda: engine.store_with(turn, WriteOptions.accepted()),
        lambda: engine.store_many([StoreItem.learning("b", LearningKind.FACT, 0.5), StoreItem.document("c")]),
        lambda: engine.fetch(FetchRequest(query="text", beliefs=3, max_scopes=1)),
        lambda: engine.recall(RecallRequest(question="text")),
        lambda: engine.list(ListRequest()),
        lambda: engine.export(ListRequest()),
        lambda: engine.get(GetRequest(ids=("0" * 40,))),
        lambda: engine.consolidate(ConsolidateRequest(reach=ROOT)),
        lambda: engine.beliefs(BeliefsRequest(reach=ROOT)),
        lambda: engine.beliefs(BeliefsRequest(reach=ROOT, query="text")),
        lambda: engine.forget(ForgetTarget.of_ids("0" * 40)),
        lambda: engine.erase(EraseRequest(reach=ROOT, whole_tree=True)),
    ]


def shown(value: Any, depth: int = 4) -> str:
    """Everything a debugger or a log of an object would print: its repr, and those of what it holds."""
    held = getattr(value, "__dict__", {}) if depth else {}
    return repr(value) + "".join(shown(each, depth - 1) for each in held.values())


@pytest.mark.parametrize("broken", list(BROKEN))
@pytest.mark.parametrize("surface", ["direct", "hosted"])
def test_the_credential_shows_nowhere(
    surface: str, broken: str, timing: Timing, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    monkeypatch.setattr(logging.getLogger(), "level", logging.DEBUG)
    for name in list(logging.root.manager.loggerDict):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.NOTSET)
    logging.getLogger().manager._clear_cache()  # type: ignore[attr-defined]  # the levels were set behind its back
    double: ServedDouble = DirectDouble() if surface == "direct" else HostedDouble()
    made = CortexEngine if surface == "direct" else TinyHumansEngine
    with double, made(CANARY, double.endpoint, timing=timing, headers={"X-Tenant": TENANT}) as engine:
        double.knobs.accept_token = CANARY
        engine.store(StoreItem.document("a text"))
        BROKEN[broken](double)
        raised = 0
        for call in calls(engine):
            try:
                said.write(repr(call()))
            except CorebrainError as error:
                raised += 1
                said.write("".join(traceback.format_exception(error)) + repr(error) + repr(vars(error)))
        said.write(repr(engine) + shown(engine._wire._transport._credential))
    assert raised or broken == "well"
    told = said.getvalue()
    assert "receive_response_headers" in told  # the HTTP library did log at debug level
    assert CANARY not in told
    assert TENANT not in told


def test_a_failing_source_says_nothing_of_what_it_knew(timing: Timing, double: DirectDouble) -> None:
    def source() -> str:
        raise RuntimeError(f"cannot refresh {CANARY}")

    with CortexEngine(Credential(source), double.endpoint, timing=timing) as engine, pytest.raises(CorebrainError) as e:
        engine.list(ListRequest())
    assert CANARY not in "".join(traceback.format_exception(e.value))
    assert double.seen.lines == []


@pytest.mark.parametrize("caller", ["a\r\nX-Evil: 1", "naïve", " ", "", 7, None])
def test_a_caller_no_header_can_carry_is_not_sent(timing: Timing, double: DirectDouble, caller: Any) -> None:
    double.knobs.whoami_caller = caller
    with CortexEngine(CANARY, double.endpoint, timing=timing) as engine:
        double.knobs.accept_token = CANARY
        assert engine.health().is_serving
    assert set(double.seen.actors) == {None}
