"""Lists of pages: sitemaps (XML, text, compressed, indexes of them) and feeds.

A document type is refused before anything else is read, so no entity can be defined: the parser is expat, and feeds go
through feedparser only after they passed it or are no XML at all.
"""

import io
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.parsers import expat

from connectors.errors import DocumentError

MAX_BYTES = 50 * 2**20
"""Largest list once decoded (sitemaps.org's own limit)."""
MAX_ENTRIES = 50_000
"""Entries of one list (sitemaps.org's own limit)."""

Kind: TypeAlias = Literal["sitemap", "index", "feed", "text"]

_ROOTS: dict[str, Kind] = {"urlset": "sitemap", "sitemapindex": "index", "rss": "feed", "feed": "feed", "rdf": "feed"}
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Entry:
    """One page, or one further list, of a list.

    Attributes:
        url: As written.
        changed: When it changed, as the list says: any text that differs when it did.
        is_list: Whether it is a list itself.
        language: Its language where the list gives one.
    """

    url: str
    changed: str = ""
    is_list: bool = False
    language: str = ""


def kind_of(data: bytes) -> Kind | None:
    """Tell a list from a page by its beginning; `None` is no list.

    A text is one when every line of it is a web address.
    """
    if data.startswith(_GZIP):
        data = _unpacked(data, 64 * 2**10)
    root = _root(data[: 64 * 2**10])
    if root:
        return _ROOTS.get(root)
    lines = [
        line.strip() for line in data[: 64 * 2**10].removeprefix(b"\xef\xbb\xbf").splitlines()[:-1] or [data.strip()]
    ]
    told = [line for line in lines if line]
    return "text" if told and all(line.startswith((b"http://", b"https://")) for line in told) else None


def entries(data: bytes, what: str) -> list[Entry]:
    """Return what a list names, at most `MAX_ENTRIES`.

    Raises:
        DocumentError: It is no list, holds a document type, or cannot be parsed and names nothing until there.
    """
    kind = kind_of(data)
    if data.startswith(_GZIP):
        data = _unpacked(data, MAX_BYTES + 1)
    if kind is None or len(data) > MAX_BYTES:
        raise DocumentError(f"{what} is no sitemap and no feed that can be read", "name a sitemap, a feed or a page")
    if kind == "text":
        lines = data.decode("utf-8-sig", "replace").splitlines()
        return [Entry(line.strip()) for line in lines if line.strip()][:MAX_ENTRIES]
    if kind == "feed":
        return list(_feed(data))[:MAX_ENTRIES]
    return _SitemapReader(what).read(data)


def _unpacked(data: bytes, limit: int) -> bytes:
    """Inflate at most *limit* bytes; what is damaged gives what came before."""
    out = b""
    while data.startswith(_GZIP) and len(out) < limit:
        stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            out += stream.decompress(data, limit - len(out))
        except zlib.error:
            break
        data = stream.unused_data
    return out


def _root(head: bytes) -> str:
    """Return the local name of the root element, lower case; empty when this is no XML."""
    found: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(name: str, _attributes: dict[str, str]) -> None:
        if not found:
            found.append(name.rpartition(" ")[2].lower())

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = _give_up
    with suppress(expat.ExpatError, ValueError, LookupError):  # what came before the fault counts
        parser.Parse(head.lstrip(), False)
    return found[0] if found else ""


def _give_up(*_declared: object) -> None:
    """Read no further: a list has no document type, and one may define entities without end."""
    raise ValueError


class _SitemapReader:
    """Reads one sitemap or index of sitemaps."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._found: list[Entry] = []
        self._text: list[str] | None = None
        self._loc = self._changed = ""
        self._twins: list[Entry] = []

    def read(self, data: bytes) -> list[Entry]:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(data.lstrip(), True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            if not self._found:
                raise DocumentError(f"{self._what} cannot be read as a sitemap: {error}", "correct it") from error
        return self._found[:MAX_ENTRIES]

    def _refuse(self, *_declared: object) -> None:
        raise DocumentError(f"{self._what} declares a document type", "a sitemap needs none; leave it out")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        if local in {"url", "sitemap"}:
            self._loc = self._changed = ""
            self._twins = []
        elif local in {"loc", "lastmod"}:
            self._text = []
        elif local == "link" and attributes.get("rel") == "alternate" and attributes.get("href"):
            self._twins.append(Entry(attributes["href"], language=attributes.get("hreflang", "").lower()))

    def _characters(self, text: str) -> None:
        if self._text is not None and len(self._text) < 1000:
            self._text.append(text)

    def _end(self, name: str) -> None:
        local = name.rpartition(" ")[2]
        if local in {"loc", "lastmod"} and self._text is not None:
            value, self._text = "".join(self._text).strip(), None
            if local == "loc":
                self._loc = self._loc or value
            else:
                self._changed = value
        elif local in {"url", "sitemap"} and self._loc and len(self._found) < MAX_ENTRIES:
            self._found.append(Entry(self._loc, self._changed, is_list=local == "sitemap"))
            self._found += self._twins


def _feed(data: bytes) -> Iterator[Entry]:
    import feedparser  # noqa: PLC0415 - a big module, for those who read feeds

    parsed = feedparser.parse(io.BytesIO(data), sanitize_html=False)  # bytes alone might be taken for a file's name
    for entry in parsed.entries:
        moment = dict.get(entry, "updated_parsed") or dict.get(entry, "published_parsed")  # its own get warns
        changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", moment) if moment else ""
        if entry.get("link"):
            yield Entry(str(entry["link"]), changed)
