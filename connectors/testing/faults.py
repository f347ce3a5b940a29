"""What a scripted source does wrong, armed by a test and off again with `heal`."""

from collections.abc import Callable

from connectors.contract import within
from connectors.errors import ConnectorError, Unavailable


class Armed:
    """What is armed, as the scripted connector asks for it."""

    def __init__(self) -> None:
        self._poisoned: dict[str, ConnectorError] = {}
        self._failed: dict[str, ConnectorError] = {}
        self._repeated: set[str] = set()
        self._overlooked: set[str] = set()
        self._hooks: dict[str, Callable[[], None]] = {}
        self._broken_fetches: dict[int, ConnectorError] = {}
        self._stop: tuple[int, ConnectorError] | None = None
        self.epoch = 0

    def copies(self, key: str) -> int:
        """How often a listing shows *key*."""
        if key in self._overlooked:
            return 0
        return 2 if key in self._repeated else 1

    def failures(self, scope: str) -> dict[str, ConnectorError]:
        """The armed failures that touch *scope*, wider ones narrowed to it."""
        return {
            failed if within(scope, failed) else scope: error
            for failed, error in self._failed.items()
            if within(scope, failed) or within(failed, scope)
        }

    def take_stop(self) -> tuple[int, ConnectorError] | None:
        """The armed break of a scan; disarmed by asking."""
        stop, self._stop = self._stop, None
        return stop

    def at_fetch(self, key: str, number: int) -> None:
        """Do what is armed for this fetch.

        Raises:
            ConnectorError: the fetch was broken or the key poisoned.
        """
        self._hooks.pop(key, lambda: None)()
        error = self._broken_fetches.get(number) or self._poisoned.get(key)
        if error is not None:
            raise error


class Faults(Armed):
    """The faults of one `ScriptedConnector`, as a test arms them."""

    def fail(self, scope: str, error: ConnectorError | None = None) -> None:
        """Listings say `Failed(scope, error)` instead of what lies below it, until healed."""
        self._failed[scope] = error or Unavailable(f"cannot list {scope or 'anything'}")

    def poison(self, key: str, error: ConnectorError) -> None:
        """Every fetch of *key* raises *error*, until healed."""
        self._poisoned[key] = error

    def repeat(self, key: str) -> None:
        """Listings show *key* twice, as overlapping pages do, until healed."""
        self._repeated.add(key)

    def stop_scan(self, *, after: int, error: ConnectorError | None = None) -> None:
        """The next scan raises *error* after that many documents; once."""
        self._stop = after, error or Unavailable("the listing broke off")

    def break_fetch(self, number: int, error: ConnectorError) -> None:
        """The fetch of that number (the first ever is 1) raises *error*."""
        self._broken_fetches[number] = error

    def before_fetch(self, key: str, action: Callable[[], None]) -> None:
        """Run *action* between the listing and the next fetch of *key*; once. It may edit, rename or remove."""
        self._hooks[key] = action

    def expire_cursors(self) -> None:
        """Cursors handed out so far are worth nothing any more: a scan with one lists everything."""
        self.epoch += 1

    def overlook(self, key: str) -> None:
        """Listings leave *key* out though it exists, as an eventually consistent search does, until healed."""
        self._overlooked.add(key)

    def heal(self) -> None:
        """Disarm everything; expired cursors stay expired."""
        for armed in (
            self._poisoned,
            self._failed,
            self._repeated,
            self._overlooked,
            self._hooks,
            self._broken_fetches,
        ):
            armed.clear()
        self._stop = None
