"""What a conformance check works with: a source under control, and what a scan of it said."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from connectors.contract import (
    Blob,
    Checkpoint,
    Complete,
    Confirms,
    Connector,
    Event,
    Failed,
    Gone,
    Json,
    Ref,
    Seen,
    absent,
)
from connectors.notes import MemoryNotes
from connectors.pull import delete_copies


class Harness(Protocol):
    """A source under the test's control, empty at first.

    Names are what a person would call a document (`plan.md`, `team/plan.md`); the source makes a key of each, which
    may be the name or an id of its own. A source without folders files `team/…` wherever it likes.
    """

    def connector(self) -> Connector:
        """Return a connector of the source as it would be made after a restart, without notes or state."""
        ...

    def put(self, name: str, text: str) -> str:
        """Create the document, or replace its text, and return its key."""
        ...

    def rename(self, key: str, name: str) -> str:
        """Give the document another name, text untouched, and return the key it has now, which may be the old one."""
        ...

    def remove(self, key: str) -> None:
        """Delete the document."""
        ...

    def unreadable(self, key: str) -> AbstractContextManager[None] | None:
        """Make the part of the listing that shows *key* fail for a while; `None` when the source cannot be made to."""
        ...


class Violation(AssertionError):
    """A connector broke the law."""


Check: TypeAlias = Callable[[Harness], None]


@dataclass(frozen=True, slots=True)
class Listing:
    """What one scan said.

    Attributes:
        events: As they came.
    """

    events: tuple[Event, ...]

    @property
    def refs(self) -> dict[str, Ref]:
        """Every ref seen by its key, the last of each."""
        return {event.ref.key: event.ref for event in self.events if isinstance(event, Seen)}

    @property
    def completed(self) -> list[str]:
        """Scopes said to be complete."""
        return [event.scope for event in self.events if isinstance(event, Complete)]

    @property
    def failed(self) -> list[str]:
        """Scopes that could not be listed."""
        return [event.scope for event in self.events if isinstance(event, Failed)]

    @property
    def cursor(self) -> Json:
        """The last cursor."""
        return next((event.cursor for event in reversed(self.events) if isinstance(event, Checkpoint)), None)

    def loses(self, key: str, connector: Connector, ref: Ref) -> bool:
        """Whether a pipeline that holds *key* would forget it after this scan."""
        if key in self.refs:
            return False
        if any(event == Gone(key) for event in self.events):
            return True
        if not absent(key, self.completed, self.failed):
            return False
        return not isinstance(connector, Confirms) or list(connector.confirm([ref])) == [Gone(key)]


def scan(connector: Connector, cursor: Json = None, scope: str = "", notes: MemoryNotes | None = None) -> Listing:
    """Scan to the end."""
    return Listing(tuple(connector.scan(cursor, notes or MemoryNotes(), scope)))


def expect(kept: object, rule: str) -> None:
    """Raise `Violation` with *rule* unless *kept*."""
    if not kept:
        raise Violation(rule)


def read(connector: Connector, ref: Ref) -> tuple[bytes, str | None]:
    """Fetch without a known token; return bytes and token."""
    blob = connector.fetch(ref, None)
    if not isinstance(blob, Blob):
        raise Violation(f"fetch of {ref.key} answered unchanged though no token was known")
    data = blob.data.read_bytes() if isinstance(blob.data, Path) else blob.data
    delete_copies(blob)
    return data, blob.token


def holds(connector: Connector, ref: Ref, text: str) -> None:
    """Expect the document to hold *text*, in whatever form the source gives it."""
    expect(text.encode() in read(connector, ref)[0], f"fetch of {ref.key} does not give its text {text!r}")
