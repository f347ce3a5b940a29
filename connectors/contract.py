"""What every connector is: two methods, five events, optional powers.

A connector says what a source holds (`scan`) and hands over the bytes (`fetch`). It knows nothing of memory, holds no
state but its notes, and neither retries, sleeps nor logs: the pipeline and `connectors.http` own those. A connector
that keeps the law written here cannot make the brain lose a document, however badly its source behaves.

**When a held document counts as gone.** A key the pipeline holds and a scan did not see is *absent* when it lies
below a `Complete` of that scan and below no `Failed` of it (`absent` is the rule as code). Absence then counts as
gone, except with `Confirms`, and always under the pipeline's delete ceiling. "I did not see it" alone is never "it is
gone".

**Scopes.** `""` is the whole source, a text ending in `/` everything whose key starts with it, any other text the one
key it equals (`within`).
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from connectors.errors import ConnectorError, Unavailable
from corebrain.layout import BrainSource

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What cursors and notes are made of: it survives `json.dumps` and `json.loads` unchanged."""


@dataclass(frozen=True, slots=True)
class Ref:
    """One document as a listing shows it: cheap, nothing has been read. Every field is kept in state.

    Attributes:
        key: What names the document within its source for good: NFC, relative, parts joined by `/`, never ending in
            `/`, unique in a scan.
        token: Changes whenever the content may have; opaque, compared with `==` only. `None` is unknown: fetch to know.
        content: A content id the source itself gives (a blob's SHA); equal ids mean equal bytes, wherever they lie.
        collection: The natural key of the part of the source it belongs to (a top folder, `owner/name`), the same
            whether or not anybody splits by it; `None` lies at the source's own node.
        locator: What `fetch` opens when the key is not enough; opaque to everybody else.
        title: As the listing names it; empty when it does not.
        url: Where a person can open it; empty when nowhere.
        media_type: As the source declares it; empty when it does not.
        size: Bytes, when known without reading.
        modified: When it last changed, aware and in UTC, as the source says.
    """

    key: str
    token: str | None
    content: str | None = None
    collection: str | None = None
    locator: str = ""
    title: str = ""
    url: str = ""
    media_type: str = ""
    size: int | None = None
    modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of a document and what reading them told.

    Attributes:
        data: The bytes, or a private copy on disk (mode 0600) that the pipeline deletes when it is done.
        media_type: As the source declares it, parameters allowed; empty when it does not.
        filename: Name with extension; decides the format of textual content. Empty when there is none.
        token: That of exactly these bytes; it replaces the ref's. `None`: the next scan has to fetch again.
        title: The source's own title; empty leaves it to the document.
        url: Canonical address for people; empty keeps the ref's.
        modified: Aware and in UTC; `None` keeps the ref's.
        language: As the source declares it; empty when it does not.
        repo: `owner/name`, for repositories.
        commit: The commit the bytes were read at, for repositories.
        path: The breadcrumb: titles from the outermost folder or page down to the parent, not the document itself.
        tags: The author's own labels, in the source's order; nothing volatile.
        parts: Attachments, in the source's order; they come and go with the document. `filename` names a part.
    """

    data: bytes | Path
    media_type: str = ""
    filename: str = ""
    token: str | None = None
    title: str = ""
    url: str = ""
    modified: datetime | None = None
    language: str = ""
    repo: str = ""
    commit: str = ""
    path: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    parts: tuple["Blob", ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The document is still as it was at the token `fetch` was told; everything recorded of it stays.

    Attributes:
        token: Recorded from now on (a source may renew a validator without changing the content).
    """

    token: str | None


@dataclass(frozen=True, slots=True)
class Seen:
    """The document exists.

    Attributes:
        blob: Its content, only when listing had to read it anyway (a crawl); `fetch` is then not called.
    """

    ref: Ref
    blob: Blob | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """The source itself vouches that the document exists no more. Needs no `Complete`."""

    key: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A scope that could not be listed, wholly or in part; nothing below it counts as absent. `""` is everything."""

    scope: str
    error: ConnectorError

    @property
    def retry_after_s(self) -> float | None:
        """Seconds the source asked to wait, when it said so."""
        return self.error.retry_after_s if isinstance(self.error, Unavailable) else None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything before it may be committed.

    Attributes:
        cursor: What a later scan gets to go on from here; `None` when the source can only be listed from the start.
    """

    cursor: Json


@dataclass(frozen=True, slots=True)
class Complete:
    """Every key of the scope that exists has been listed (or lies below a `Failed`)."""

    scope: str


Event: TypeAlias = Seen | Gone | Failed | Checkpoint | Complete


class Notes(Protocol):
    """A connector's only memory beside its cursor: small JSON values by name, private to one configured source.

    For validators, out-links, frontier marks. A value is at most 64 KiB as JSON. What a scan puts is visible to its own
    `get` at once and kept in the transaction of its next `Checkpoint`; a scan that ends before one loses it. Notes of a
    scan with a scope are kept when it ends well. `fetch` has no notes: it may run in several threads.
    """

    def get(self, key: str) -> Json:
        """Return the value last put, `None` when there is none."""
        ...

    def put(self, key: str, value: Json) -> None:
        """Replace the value; `None` removes it."""
        ...


@runtime_checkable
class Connector(Protocol):
    """One configured source: what it holds, and the bytes.

    Construction reads nothing and connects to nothing; it raises `ConfigError` for arguments that cannot be right. An
    attribute `name`, where there is one, is the source's name for people and the `source.id` of its documents.

    Attributes:
        source: The node of the brain its documents belong to.
    """

    @property
    def source(self) -> BrainSource:
        """The node of the brain its documents belong to; the same for the connector's whole life."""
        ...

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        """Say what the source holds, or what changed since *cursor*, streaming: memory must not grow with the source.

        `cursor=None` asks for a full listing. A scan with a *scope* always gets `None`, and its checkpoints are not
        kept; it says nothing about keys outside its scope.

        - **Repetition.** A key may be seen twice when the source's pages overlap; the last one counts. Scanning an
          unchanged source again yields equal refs, tokens included.
        - **Order.** Free, but the same for the same source wherever that is cheap. `Complete(scope)` follows the last
          key of its scope; a delta that only reports changes sends none.
        - **Failure.** A part that cannot be listed is `Failed` and costs only that part. Raising ends the scan: what
          came before the last `Checkpoint` stands, and nothing counts as absent.
        - **Threads.** One scan of a connector at a time; it may run beside fetches. The caller may stop iterating at
          any event; the generator then frees what it holds.

        Raises:
            AuthError: The credential was refused; the source is stopped.
            Unavailable: The source cannot be reached; it is paused. An unusable cursor is not an error: list fully.
        """
        ...

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one document as it is now.

        *known* is the token of the last recorded success, `None` when there is none. A connector that can tell
        cheaply returns `Unchanged` when the document still is at it. Fetching twice gives equal blobs for an unchanged
        document. Called from several threads at once, also for the same ref, and long after the scan.

        Raises:
            DocumentGone: It vanished since the listing.
            DocumentRefused: It cannot be taken as it is; the advice says what to do.
            DocumentError: It could not be read whole this time; it is tried again.
            AuthError: The credential was refused; the source is stopped.
            Unavailable: The source cannot be reached; it is paused.
        """
        ...


@runtime_checkable
class Confirms(Protocol):
    """A source whose listings may miss documents: it loses one only by `Gone`."""

    def confirm(self, refs: Iterable[Ref]) -> Iterator[Seen | Gone | Failed]:
        """Look at held documents that a scan did not see, one answer each, in any order.

        `Seen` keeps the document (with the ref's fields as they are now), `Gone` forgets it, `Failed(key, …)` and no
        answer at all keep it until the next sync.
        """
        ...


@runtime_checkable
class Watches(Protocol):
    """A source that can tell when something may have changed."""

    def watch(self, stop: threading.Event) -> Iterator[str]:
        """Yield scopes to scan again until *stop* is set; hints only, a scan is the truth.

        Repeated and needless scopes are harmless, lost ones are made up by the next scheduled scan; when it knows it
        lost some it yields `""`. Returns within a second of *stop*.
        """
        ...


@runtime_checkable
class Stops(Protocol):
    """A source that may wait: for its turn, for a pause that a host asked for, for a reply.

    Attributes:
        stop: Once set, every wait ends within a second and what waited raises `Unavailable`. Who runs the source puts
            an event of its own in the place of the one that is there.
    """

    stop: threading.Event


@runtime_checkable
class Speaks(Protocol):
    """A source with something to say to people that is no failure, such as that a limit ended its listing.

    Attributes:
        say: Called with one line, from any thread; who runs the source sets it to listen.
    """

    say: Callable[[str], None]


@runtime_checkable
class Closes(Protocol):
    """A source that holds connections."""

    def close(self) -> None:
        """Give them back; a later call opens them again. Closing twice is safe."""
        ...


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """One HTTP request as it arrived, not yet trusted.

    Attributes:
        method: Upper case.
        path: With the query, as sent.
        headers: Names in lower case.
        body: Raw, at most what the server allows.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@runtime_checkable
class Hooked(Protocol):
    """A source that calls back over HTTP."""

    def on_webhook(self, request: WebhookRequest) -> Iterable[str]:
        """Return the scopes the request says to scan again; nothing for what does not concern this source.

        Raises:
            AuthError: The signature is missing or wrong; the request is refused and nothing is scanned.
        """
        ...


def within(scope: str, key: str) -> bool:
    """Whether *key* lies in *scope*; also whether one scope lies wholly in another (pass it as *key*).

    >>> within("", "a/b.md"), within("a/", "a/b.md"), within("a", "a/b.md"), within("a/", "a/")
    (True, True, False, True)
    """
    return not scope or key == scope or (scope.endswith("/") and key.startswith(scope))


def absent(key: str, completed: Iterable[str], failed: Iterable[str]) -> bool:
    """Whether a held key that a scan did not see is absent: below a `Complete` of it and below no `Failed` of it.

    *completed* and *failed* are the scopes of that one scan. `Failed("")` voids every `Complete`.
    """
    return any(within(scope, key) for scope in completed) and not any(within(scope, key) for scope in failed)
