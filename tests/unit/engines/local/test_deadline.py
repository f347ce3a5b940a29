"""`within`: a read that does not make its end is ended inside SQLite, and nothing of it is left."""

import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from corebrain.contract import Item
from corebrain.engines.local import connection as connections
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import InvalidRequest, Unavailable
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Document
from corebrain.model.requests import (
    BeliefsRequest,
    ExploreRequest,
    FetchMode,
    FetchRequest,
    Hit,
    ListRequest,
    RecallRequest,
)
from corebrain.recall.holistic import holistic_recall
from corebrain.recall.powers import TakesDeadline, gains_by_threads
from corebrain.recall.types import Fetch, HolisticRecall, ScopeSection

LOOKS = 3
"""Looks at the clock until it stands beyond the deadline."""


class Clock:
    """Stands still, or moves one second at every look."""

    def __init__(self) -> None:
        self.moves = False
        self.looks = count()
        self.time = 0.0

    def __call__(self) -> float:
        next(self.looks)
        self.time += self.moves
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def slow(tmp_path: Path, clock: Clock, document: Callable[..., Document]) -> Iterator[LocalEngine]:
    """An engine with enough in it that every scan runs for thousands of SQLite's instructions."""
    with LocalEngine(tmp_path / "memory.db", durability="process", now=clock) as engine:
        for start in range(0, 2000, 100):
            engine.store_many(
                [document(f"refund number {n}", url=f"https://a.example/{n}") for n in range(start, start + 100)]
            )
        yield engine


READS: dict[str, Callable[[LocalEngine], Any]] = {
    "fetch": lambda engine: engine.fetch(FetchRequest(query="refund", mode=FetchMode.KEYWORD, limit=500)),
    "list": lambda engine: engine.list(ListRequest(filter=MetaFilter(url="https://a.example/none"))),
    "export": lambda engine: engine.export(ListRequest(limit=500)),
    "explore": lambda engine: engine.explore(ExploreRequest(facet=Facet.URL)),
    "recall": lambda engine: engine.recall(RecallRequest(question="refund", limit=200)),
}


@pytest.mark.parametrize("read", READS)
def test_a_read_that_takes_too_long_is_ended_midway(slow: LocalEngine, clock: Clock, read: str) -> None:
    view = slow.within(LOOKS)
    clock.moves = True
    before = next(clock.looks)
    with pytest.raises(Unavailable, match="longer than its deadline allows"):
        READS[read](view)
    assert next(clock.looks) - before <= LOOKS + 2, "it ran on"
    clock.moves = False
    READS[read](slow)
    with slow._database.reading() as connection:
        assert connection.pragma("busy_timeout") == connections.BUSY_MS


@pytest.mark.parametrize("read", READS)
def test_a_read_in_time_is_as_without_a_deadline(slow: LocalEngine, read: str) -> None:
    assert READS[read](slow.within(60)) == READS[read](slow)


def test_a_deadline_that_is_over_reads_nothing(slow: LocalEngine) -> None:
    for seconds in (0, -1):
        with pytest.raises(Unavailable, match="nothing was read"):
            slow.within(seconds).beliefs(BeliefsRequest())
    with pytest.raises(InvalidRequest):
        slow.within(float("nan"))


def test_a_view_of_a_view_keeps_the_nearer_end(slow: LocalEngine, clock: Clock) -> None:
    view = slow.within(5).within(60)
    clock.time = 5
    with pytest.raises(Unavailable):
        view.list(ListRequest())


def test_writes_through_a_view_are_not_bounded_and_closing_it_closes_nothing(
    slow: LocalEngine, clock: Clock, document: Callable[..., Document]
) -> None:
    view = slow.within(1)
    clock.time = 100
    assert not view.store(document("late")).replayed
    view.close()
    assert slow.list(ListRequest(limit=1)).items[0].text == "late"


def test_a_file_kept_busy_is_waited_for_no_longer_than_the_deadline(slow: LocalEngine) -> None:
    with slow._database.reading() as first:
        assert first.pragma("busy_timeout") == connections.BUSY_MS
        deadline = slow.within(0.25)._deadline
        with slow._database.reading(deadline) as second:
            assert second.pragma("busy_timeout") == 250


def test_a_section_that_is_too_slow_is_skipped_with_its_reason_and_nothing_runs_on(
    slow: LocalEngine, clock: Clock, sample: list[Item], listed: Callable[..., list[Hit]]
) -> None:
    slow.store_many(sample)
    assert isinstance(slow, TakesDeadline)
    assert not gains_by_threads(slow)
    quick = ScopeSection(heading="Quick", limit=1, query=Fetch(query="nights"))
    heavy = ScopeSection(heading="Heavy", limit=200, query=Fetch(query="refund"))
    before = threading.active_count()
    clock.moves = True
    pack = holistic_recall(slow, HolisticRecall(sections=(quick, heavy), section_timeout_s=6.0))
    clock.moves = False
    assert threading.active_count() == before
    assert [(skip.heading, "deadline" in skip.reason) for skip in pack.skipped if skip.heading == "Heavy"] == [
        ("Heavy", True)
    ]
    assert len(listed(slow)) == 2004


def test_an_interrupted_connection_is_lent_again_whole(slow: LocalEngine, clock: Clock) -> None:
    view = slow.within(LOOKS)
    clock.moves = True
    with pytest.raises(Unavailable):
        READS["explore"](view)
    (idle,) = slow._database._idle
    assert isinstance(idle, apsw.Connection)
    assert not idle.in_transaction
