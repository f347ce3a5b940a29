"""What kind of source a scripted one is, and what may be said of its documents."""

from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypedDict, TypeVar

from connectors.contract import Blob, Ref


class Facts(TypedDict, total=False):
    """What may be said of a document beside its bytes: fields of `Ref` and `Blob` by their names."""

    token: str | None
    content: str | None
    collection: str | None
    title: str
    url: str
    media_type: str
    filename: str
    modified: datetime | None
    language: str
    repo: str
    commit: str
    path: tuple[str, ...]
    tags: tuple[str, ...]
    parts: tuple[Blob, ...]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What kind of source it is.

    Attributes:
        deltas: Scans with a cursor report only what changed since, without `Complete`, as a change feed does.
        tokens: False lists every document with an unknown token.
        contents: Whether refs carry a content id (the SHA-256 of the bytes).
        unchanged: Whether `fetch` answers `Unchanged` at the known token.
        in_listing: Whether listing hands over the bytes, as a crawl does.
        checkpoint_every: Documents between two checkpoints.
    """

    deltas: bool = False
    tokens: bool = True
    contents: bool = False
    unchanged: bool = True
    in_listing: bool = False
    checkpoint_every: int = 100


_Kept = TypeVar("_Kept", Ref, Blob)


def with_facts(value: _Kept, facts: Facts) -> _Kept:
    """Set those fields that *facts* name."""
    own = {field.name for field in fields(value)}
    named: dict[str, Any] = {name: fact for name, fact in facts.items() if name in own}
    return replace(value, **named)
