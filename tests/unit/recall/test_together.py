import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from corebrain.recall.together import both, together


def test_results_come_in_the_order_of_the_calls() -> None:
    assert together([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]
    assert together([]) == []
    assert both(lambda: 1, lambda: "two") == (1, "two")


def test_one_call_runs_in_the_callers_thread() -> None:
    assert together([threading.get_ident]) == [threading.get_ident()]


def test_without_threads_all_run_in_order_in_the_callers_thread_and_all_end() -> None:
    ran: list[str] = []

    def failing() -> int:
        ran.append("failing")
        raise ValueError("first")

    def good() -> int:
        ran.append("good")
        return threading.get_ident()

    with pytest.raises(ValueError, match="first"):
        together([failing, good], threads=False)
    assert ran == ["failing", "good"]
    assert both(good, good, threads=False) == (threading.get_ident(), threading.get_ident())


def test_first_failed_call_is_raised_after_all_have_ended() -> None:
    ended: list[str] = []

    def slow() -> None:
        released.wait(30)
        ended.append("slow")

    def failing() -> None:
        released.set()
        raise ValueError("first")

    def also_failing() -> None:
        raise KeyError("second")

    released = threading.Event()
    with pytest.raises(ValueError, match="first"):
        together([failing, slow, also_failing])
    assert ended == ["slow"]


def test_interrupt_in_the_callers_call_still_joins_the_others() -> None:
    before = set(threading.enumerate())

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together([interrupted, lambda: None, lambda: None])
    assert set(threading.enumerate()) <= before


def test_threads_see_the_callers_context() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    name.set("somebody")
    assert together([name.get, name.get]) == ["somebody", "somebody"]


def test_calls_run_in_the_callers_thread_when_the_system_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoThread(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading, "Thread", NoThread)
    calls: list[Callable[[], Any]] = [threading.get_ident] * 3
    assert together(calls) == [threading.get_ident()] * 3
