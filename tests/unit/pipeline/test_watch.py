"""Listening to a source on a thread."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from connectors.errors import Unavailable
from pipeline import watch
from pipeline.watch import Watcher


class Telling:
    """A source whose watch does as it is told."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.say = print

    def watch(self, stop: threading.Event) -> Iterator[str]:
        while self.steps and not stop.is_set():
            step = self.steps.pop(0)
            if isinstance(step, BaseException):
                raise step
            if step == "speak":
                self.say("it is polled")
                continue
            yield step
        stop.wait()


@pytest.fixture
def heard() -> "SimpleQueue[Any]":
    return SimpleQueue()


def started(source: Telling, stop: threading.Event, heard: "SimpleQueue[Any]") -> Watcher:
    watcher = Watcher("inbox", source, stop, changed=heard.put, say=heard.put, failed=heard.put)
    watcher.start()
    return watcher


def test_scopes_are_passed_on_and_the_thread_ends_with_the_stop(heard: "SimpleQueue[Any]") -> None:
    stop, before = threading.Event(), threading.active_count()
    watcher = started(Telling("", "a.md"), stop, heard)
    assert [heard.get(timeout=10), heard.get(timeout=10)] == ["", "a.md"]
    stop.set()
    watcher.join(10)
    assert threading.active_count() == before


def test_a_watch_that_fails_is_told_and_begun_again(heard: "SimpleQueue[Any]", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "AGAIN_S", 0.01)
    stop = threading.Event()
    watcher = started(Telling(Unavailable("the line is cut"), "a.md"), stop, heard)
    assert "inbox: cannot be watched: the line is cut" in heard.get(timeout=10)
    assert heard.get(timeout=10) == "a.md"
    stop.set()
    watcher.join(10)


def test_an_error_nobody_foresaw_is_carried_out_of_the_thread(heard: "SimpleQueue[Any]") -> None:
    stop = threading.Event()
    watcher = started(Telling(KeyError("x")), stop, heard)
    assert isinstance(heard.get(timeout=10), KeyError)
    stop.set()
    watcher.join(10)


def test_what_a_source_says_is_told_with_its_name(heard: "SimpleQueue[Any]") -> None:
    stop = threading.Event()
    watcher = started(Telling("speak"), stop, heard)
    assert heard.get(timeout=10) == "inbox: it is polled"
    stop.set()
    watcher.join(10)
