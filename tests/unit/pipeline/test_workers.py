"""Workers run ahead of the one that stores, by so many results and so much weight."""

import threading

import pytest

from pipeline.workers import AHEAD, Workers


def same(step: int) -> int:
    return step


def test_results_come_in_order_and_a_slow_one_holds_up_no_other() -> None:
    others = threading.Semaphore(0)

    def work(step: int) -> int:
        if step == 0:
            for _ in range(20):
                assert others.acquire(timeout=30), "the others wait for the slow one"
        else:
            others.release()
        return step

    with Workers(work, threads=2, stop=threading.Event()) as workers:
        assert [future.result() for _, future in workers.run(range(50))] == list(range(50))


def test_heavy_results_are_not_piled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.workers.MOST_HELD", 25)
    begun: list[int] = []

    def work(step: int) -> int:
        begun.append(step)
        return step

    ahead = []
    with Workers(work, threads=2, stop=threading.Event(), weigh=lambda _: 10) as workers:
        for taken, (_, future) in enumerate(workers.run(range(60))):
            assert future.result() == taken
            ahead.append(len(begun) - taken)
    assert len(begun) == 60
    assert max(ahead) <= 3 + 2 + 1 < AHEAD, "three weigh more than is held, and two threads had begun"


def test_an_error_of_the_consumer_ends_threads_that_are_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.workers.MOST_HELD", 5)
    before = threading.active_count()

    def consume() -> None:
        workers: Workers[int, int] = Workers(same, threads=3, stop=threading.Event(), weigh=lambda _: 10)
        with workers:
            for _ in workers.run(range(200)):
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        consume()
    assert threading.active_count() == before


def test_stop_begins_nothing_more_and_gives_what_was_begun() -> None:
    stop, begun = threading.Event(), []

    def work(step: int) -> int:
        begun.append(step)
        if step > 0:
            assert stop.wait(30)
        return step

    taken = []
    with Workers(work, threads=2, stop=stop) as workers:
        for step, _ in workers.run(range(10_000)):
            taken.append(step)
            stop.set()
    assert taken == sorted(begun)
    assert len(taken) <= 1 + 2, "not what was only to be begun"
