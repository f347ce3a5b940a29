"""Equal questions at the same moment are asked once; reads begin while what to read is being settled."""

import threading
import time
from collections.abc import Callable

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.engines.cortexdb.concurrent_reads import each, each_early
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.sharing import Shared
from corebrain.errors import Unavailable
from corebrain.model.item import StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace
from corebrain.model.requests import FetchRequest

WAIT_S = 20.0


class Asked:
    """A question that is answered when it is told to be."""

    def __init__(self) -> None:
        self.shared: Shared[int] = Shared()
        self.count = 0
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        self.answers: list[int] = []
        self.threads: list[threading.Thread] = []

    def answer(self) -> int:
        self.count += 1
        self.begun.release()
        assert self.go.wait(WAIT_S)
        return self.count

    def ask(self) -> None:
        thread = threading.Thread(target=lambda: self.answers.append(self.shared.ask("q", self.answer)))
        thread.start()
        self.threads.append(thread)

    def await_joined(self, number: int) -> None:
        """Wait until this many threads wait for the one that asks."""
        (future,) = self.shared._under_way.values()
        end = time.monotonic() + WAIT_S
        while len(future._condition._waiters) < number:  # type: ignore[attr-defined]  # who waits is told nowhere else
            assert time.monotonic() < end
            time.sleep(0.001)

    def end(self) -> list[int]:
        self.go.set()
        for thread in self.threads:
            thread.join(WAIT_S)
        return self.answers


def test_who_asks_while_it_is_asked_joins_and_who_asks_later_asks_anew() -> None:
    asked = Asked()
    asked.ask()
    assert asked.begun.acquire(timeout=WAIT_S)
    asked.ask()
    asked.ask()
    asked.await_joined(2)
    assert asked.end() == [1, 1, 1]
    assert asked.shared.ask("q", asked.answer) == 2


def test_who_asks_after_a_write_joins_no_question_from_before_it() -> None:
    asked = Asked()
    asked.ask()
    assert asked.begun.acquire(timeout=WAIT_S)
    asked.shared.passed()
    asked.ask()
    assert asked.begun.acquire(timeout=WAIT_S)
    assert len(asked.end()) == asked.count == 2


def test_a_failure_is_everybodys_and_is_not_kept() -> None:
    shared: Shared[int] = Shared()

    def fail() -> int:
        raise Unavailable("not now")

    with pytest.raises(Unavailable):
        shared.ask("q", fail)
    assert shared.ask("q", lambda: 7) == 7


def test_reads_of_the_expected_begin_before_it_is_settled() -> None:
    begun = threading.Event()

    def read(one: int) -> int:
        begun.set()
        return one * 10

    def settled() -> list[int]:
        assert begun.wait(WAIT_S)  # would never end if reading waited for this
        return [3, 1, 2]

    assert each_early(read, [1, 9], settled) == ([3, 1, 2], [30, 10, 20])


def test_what_was_expected_in_vain_fails_nobody_and_what_is_wanted_does() -> None:
    def read(one: int) -> int:
        if one == 9:
            raise Unavailable("gone")
        return one

    assert each_early(read, [9], lambda: [1]) == ([1], [1])
    for expected in ([9], [1], []):
        with pytest.raises(Unavailable):
            each_early(read, expected, lambda: [1, 9])
    with pytest.raises(Unavailable):
        each(read, [1, 9, 2])


def test_a_failure_is_raised_when_nothing_runs_any_more() -> None:
    running = threading.Semaphore(0)

    def read(one: int) -> int:
        if one == 9:
            assert running.acquire(timeout=WAIT_S)
            raise Unavailable("gone")
        running.release()
        time.sleep(0.05)
        return one

    for call in (lambda: each(read, [9, 1, 2]), lambda: each_early(read, [9, 1], lambda: [9, 1])):
        with pytest.raises(Unavailable):
            call()
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("cortexdb")]


def test_a_scope_that_another_host_made_meanwhile_is_read_at_once(
    engine: CortexEngine, make: Callable[..., CortexEngine], double: DirectDouble
) -> None:
    engine.store(StoreItem.document("refunds here"))
    assert len(engine.fetch(FetchRequest(query="refunds")).hits) == 1
    there = MemoryMeta(namespace=Namespace.agent("new"))
    make().store(StoreItem.document("refunds there", there))
    assert {hit.text for hit in engine.fetch(FetchRequest(query="refunds")).hits} == {"refunds here", "refunds there"}
    double.log.erase("app:tinymemory/agent:new/app:documents")
    assert [hit.text for hit in engine.fetch(FetchRequest(query="refunds")).hits] == ["refunds here"]
