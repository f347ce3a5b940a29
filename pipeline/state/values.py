"""What the pipeline remembers, as values: documents, plans, what is set aside, and where a state belongs."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from connectors.contract import Json, Ref


@dataclass(frozen=True, slots=True)
class Fact:
    """One stored item of a document, and what its conversion said, enough to file it elsewhere without converting.

    Attributes:
        id: The item's fingerprint.
        part: Name of the part below its document; empty for the document itself.
        title: The document's own title; `None` when it is called by its file name.
        mime: The media type it was stored with.
        language: As the document declares it; `None` when it was derived from the name, or unknown.
        tags: The author's own, from the conversion.
    """

    id: str
    part: str = ""
    title: str | None = None
    mime: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pinned:
    """What is fixed when a version is first stored and refreshed only when its raw bytes change.

    Attributes:
        commit: The commit the bytes were first read at.
        url: The url, when it holds that commit.
        tags: Breadcrumb and author tags of the source.
    """

    commit: str | None = None
    url: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A document that is stored.

    Attributes:
        ref: As last seen when it was stored or touched.
        token: Of the bytes that were stored; what the next listing is compared with.
        raw: SHA-256 of the raw bytes, hex.
        format: The detected format.
        converter: Who converted it, as `brain show` names it.
        filed: The collection node it is filed at; `None` is the source's own node.
        pinned: What stays while the bytes stay.
        facts: Its items, parent first.
        version: What converted it, format by format (`pipeline.versions`); empty when that was not kept.
    """

    ref: Ref
    token: str | None
    raw: str
    format: str
    converter: str
    filed: str | None
    pinned: Pinned
    facts: tuple[Fact, ...]
    version: str = ""


@dataclass(frozen=True, slots=True)
class Intent:
    """Ids about to be stored for a key, with the bytes and pinned fields they were made from."""

    key: str
    raw: str
    ids: tuple[str, ...]
    pinned: Pinned


class Known(NamedTuple):
    """What a listing is compared with: the token and filing of a record, by its row. A tuple, for there are many."""

    key: str
    row: int
    token: str | None
    filed: str | None


class Verdict(StrEnum):
    """What the plan says of one key."""

    NEW = "new"
    CHANGED = "changed"
    REFILED = "refiled"
    DUE = "due"
    RECONVERT = "reconvert"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Work:
    """One planned step; `spool` names the blob a listing already read."""

    verdict: Verdict
    ref: Ref
    spool: str | None = None


@dataclass(frozen=True, slots=True)
class Aside:
    """A document set aside: why, what to do, and when it is tried again.

    Attributes:
        key: Its key; a refused part is `key!/name`.
        ref: Where to fetch it again; `None` for a part, which is tried with its parent.
    """

    key: str
    ref: Ref | None
    error: str
    advice: str
    attempts: int
    next_try: float
    since: float


@dataclass(frozen=True, slots=True)
class Holding:
    """Where the books name an item: the configured source and the key of the document it belongs to."""

    id: str
    source: str
    key: str


@dataclass(frozen=True, slots=True)
class Binding:
    """What this state belongs to: another root or engine is another brain."""

    root: str
    engine: str
    place: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """What is kept of a source beside its documents.

    Attributes:
        cursor: Of the last committed checkpoint.
        split: `yes`, `no`, `moving`, or `None` while undecided (`pipeline.collections`).
        identity: Of the root as last synced, as the connector tells it.
        complete: Whether a complete scan was ever recorded with this state.
        last_success: When a run last ended without error.
        failing_since: When runs began to fail; `None` while they do not.
        error: Of the last run.
    """

    cursor: Json = None
    split: str | None = None
    identity: str | None = None
    complete: bool = False
    last_success: float | None = None
    failing_since: float | None = None
    error: str | None = None
