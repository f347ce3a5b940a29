"""What is remembered of each page between crawls: validators, out-links, and what it was."""

import json
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeAlias

from connectors.contract import Json, Notes

Was: TypeAlias = Literal["document", "other"]
"""A document of the source; or a page that is none itself but leads on (an alias, one that asks not to be kept)."""

_INLINE = 40_000
"""Characters of links, as JSON, up to which they lie in the page's own note."""
_SPILLED = 20
"""Most further notes of links a page may have: some 10,000 links."""


@dataclass(frozen=True, slots=True)
class PageNote:
    """One page as it was last seen.

    Attributes:
        url: Where it answered.
        was: What it was.
        rules: Fingerprint of the rules its links were chosen by; under others it is read again.
        etag: `ETag` of the reply.
        date: `Last-Modified` of the reply.
        token: Fingerprint of its bytes.
        media_type: As declared.
        modified: ISO 8601, when it says when it changed.
        size: Bytes.
        links: Addresses it leads to.
        alias: Address of the page that stands for it, when one does.
        changed: What a sitemap said of its last change.
        misses: Crawls in a row in which it was not there.
    """

    url: str
    was: Was = "document"
    rules: str = ""
    etag: str = ""
    date: str = ""
    token: str = ""
    media_type: str = ""
    modified: str = ""
    size: int = 0
    links: tuple[str, ...] = ()
    alias: str = ""
    changed: str = ""
    misses: int = 0

    @property
    def modified_at(self) -> datetime | None:
        """`modified` as a moment."""
        return datetime.fromisoformat(self.modified) if self.modified else None


_FIELDS = tuple(field.name for field in fields(PageNote) if field.name != "links")


class PageNotes:
    """The pages' notes.

    Args:
        notes: The connector's notes.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def get(self, key: str) -> PageNote | None:
        """Return what is remembered of a page."""
        value = self._notes.get(f"page:{key}")
        if not isinstance(value, dict) or not isinstance(value.get("url"), str):
            return None
        known: dict[str, Any] = {name: each for name, each in value.items() if name in _FIELDS}
        links = value.get("links")
        found = [str(link) for link in links] if isinstance(links, list) else []
        for number in range(_count(value.get("more"))):
            further = self._notes.get(f"links:{key}:{number}")
            found += [str(link) for link in further] if isinstance(further, list) else []
        return PageNote(**known, links=tuple(found))

    def put(self, key: str, note: PageNote) -> None:
        """Remember a page; links beyond some 10,000 are left out."""
        value: dict[str, Json] = {name: each for name in _FIELDS if (each := getattr(note, name))}
        value["url"] = note.url
        pieces = _pieces(note.links)
        value["links"] = pieces[0]
        if len(pieces) > 1:
            value["more"] = len(pieces) - 1
        for number, piece in enumerate(pieces[1:]):
            self._notes.put(f"links:{key}:{number}", piece)
        self._notes.put(f"page:{key}", value)

    def drop(self, key: str) -> None:
        """Forget a page."""
        value = self._notes.get(f"page:{key}")
        if isinstance(value, dict):
            for number in range(_count(value.get("more"))):
                self._notes.put(f"links:{key}:{number}", None)
            self._notes.put(f"page:{key}", None)


def _count(value: Json) -> int:
    return min(value, _SPILLED) if isinstance(value, int) and value > 0 else 0


def _pieces(links: tuple[str, ...]) -> list[list[Json]]:
    """Cut links into lists that fit a note each; always at least one."""
    pieces: list[list[Json]] = [[]]
    length = 0
    for link in links:
        length += len(json.dumps(link)) + 2
        if length > _INLINE and pieces[-1]:
            if len(pieces) > _SPILLED:
                break
            pieces.append([])
            length = len(json.dumps(link)) + 2
        pieces[-1].append(link)
    return pieces
