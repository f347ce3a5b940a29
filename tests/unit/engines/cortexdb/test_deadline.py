"""A read with a deadline ends by it, over both wires: nothing is asked after it, and nothing is left running."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from corebrain.engines.cortexdb import deadline
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.errors import InvalidRequest, Unavailable
from corebrain.layout import MemoryLayout
from corebrain.lifecycle import AgentMemory, RecallPolicy
from corebrain.model.filter import MetaFilter
from corebrain.model.item import StoreItem
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    FetchMode,
    FetchRequest,
    GetRequest,
    ListRequest,
    RecallRequest,
)

REACH = Reach.subtree(Namespace.ROOT)
WHOLE = MetaFilter(reach=REACH)
READS: dict[str, Callable[[Any], object]] = {
    "fetch": lambda engine: engine.fetch(FetchRequest(query="x", mode=FetchMode.HYBRID, filter=WHOLE)),
    "recall": lambda engine: engine.recall(RecallRequest(question="x", filter=WHOLE)),
    "list": lambda engine: engine.list(ListRequest(filter=WHOLE)),
    "export": lambda engine: engine.export(ListRequest(filter=WHOLE)),
    "get": lambda engine: engine.get(GetRequest(ids=("0" * 40,), reach=REACH)),
    "beliefs": lambda engine: engine.beliefs(BeliefsRequest(reach=REACH, query="x")),
}
STUCK_MS = 60_000
"""Far longer than a test may take: who waits for the server fails by the clock of the suite."""


@pytest.fixture
def held(wire: tuple[CortexWriter, Any]) -> tuple[CortexWriter, Any]:
    engine, server = wire
    engine.store(StoreItem.document("x marks the spot"))
    server.seen.clear()
    return engine, server


@pytest.mark.parametrize("read", READS)
def test_read_whose_time_is_over_asks_nothing(held: tuple[CortexWriter, Any], read: str) -> None:
    engine, server = held
    with pytest.raises(Unavailable, match="the deadline is over"):
        READS[read](engine.within(0))
    assert server.seen.lines == []
    assert READS[read](engine.within(60)) == READS[read](engine)


@pytest.mark.parametrize("read", READS)
def test_request_under_way_is_cut_off_and_every_thread_ends(held: tuple[CortexWriter, Any], read: str) -> None:
    engine, server = held
    threads = set(threading.enumerate())
    server.knobs.delay_ms = STUCK_MS
    with pytest.raises(Unavailable):
        READS[read](engine.within(0.2))
    assert {thread for thread in threading.enumerate() if thread.name.startswith("cortexdb")} <= threads


def test_no_attempt_is_made_that_the_deadline_would_not_see(held: tuple[CortexWriter, Any]) -> None:
    engine, server = held
    server.knobs.fail_all = (503, "UNAVAILABLE")
    with deadline.until(0.0), pytest.raises(Unavailable, match="the deadline is over"):
        engine.list(ListRequest(filter=WHOLE))
    assert server.seen.lines == []


def test_view_of_a_view_never_has_longer_and_writes_are_not_bounded(held: tuple[CortexWriter, Any]) -> None:
    engine, _ = held
    over = engine.within(0).within(60)
    with pytest.raises(Unavailable):
        over.list(ListRequest(filter=WHOLE))
    assert not over.store(StoreItem.document("written all the same")).replayed
    with pytest.raises(InvalidRequest):
        engine.within(float("nan"))


def test_turn_on_a_stuck_server_is_a_pack_without_its_sections(held: tuple[CortexWriter, Any]) -> None:
    engine, server = held
    memory = AgentMemory(engine, MemoryLayout(), "support-01")
    server.knobs.delay_ms = STUCK_MS
    pack = memory.with_policy(RecallPolicy(section_timeout_s=0.3)).recall("x marks")
    assert (pack.markdown, pack.sections) == ("", ())
    assert len(pack.skipped) == 4
    assert all(skipped.reason.startswith("unavailable: ") for skipped in pack.skipped)
    server.knobs.delay_ms = 0
    assert "x marks the spot" in memory.recall("x marks").markdown


def test_pause_that_would_outlast_the_deadline_is_not_begun() -> None:
    deadline.check(10.0, 1_000.0)
    with deadline.until(12.0):
        deadline.check(10.0, 1.9)
        for now, pause_s in ((10.0, 2.0), (12.0, 0.0)):
            with pytest.raises(Unavailable):
                deadline.check(now, pause_s)
        assert deadline.ends() == 12.0
        with deadline.until(None):
            assert deadline.ends() == 12.0
    assert deadline.ends() is None


def test_read_with_time_left_is_tried_again_as_ever(held: tuple[CortexWriter, Any]) -> None:
    engine, server = held
    server.knobs.fail_all = (503, "UNAVAILABLE")
    view = engine.within(60)
    with pytest.raises(Unavailable, match="answered 503"):
        view.list(ListRequest(filter=WHOLE))
    assert len(server.seen.lines) >= 3
