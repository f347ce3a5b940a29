"""Listens to a source that tells of its changes, on a thread that ends with it."""

import threading
from collections.abc import Callable

from connectors.contract import Speaks, Watches
from connectors.errors import ConnectorError

AGAIN_S = 60.0
"""Seconds until a watch that failed is begun again."""


class Watcher:
    """The watch of one source.

    Args:
        connector: What is watched.
        stop: Ends the watch within a second.
        changed: Called with each scope to scan again, from the watch's own thread.
        say: Called with a line for people.
        failed: Called with an error that nobody foresaw; the watch has ended.
    """

    def __init__(
        self,
        name: str,
        connector: Watches,
        stop: threading.Event,
        *,
        changed: Callable[[str], None],
        say: Callable[[str], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._name = name
        self._connector = connector
        self._stop = stop
        self._changed = changed
        self._say = say
        self._failed = failed
        self._thread = threading.Thread(target=self._run, name=f"watch-{name}", daemon=True)
        if isinstance(connector, Speaks):
            connector.say = lambda line: say(f"{name}: {line}")

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait for the end, once *stop* is set."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._watch()
        except BaseException as error:  # noqa: BLE001 - carried to the thread that can raise it
            self._failed(error)

    def _watch(self) -> None:
        try:
            for scope in self._connector.watch(self._stop):
                self._changed(scope)
        except ConnectorError as error:
            self._say(f"{self._name}: cannot be watched: {error}; trying again in {AGAIN_S:g} s")
        self._stop.wait(AGAIN_S)
