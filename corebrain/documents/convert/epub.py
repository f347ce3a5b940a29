"""EPUB 2 and 3: the chapters in reading order, each through the HTML converter (EPUB 3.3 sections 4 and 5).

Nothing is fetched; a chapter is unpacked under a cap; what the book lists and does not hold is passed over.
"""

import io
import posixpath
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from corebrain.documents.convert.html import html_document
from corebrain.documents.convert.html_charset import decode_html
from corebrain.documents.convert.ooxml import Element, parse_xml
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge

NAME = "epub"
VERSION = 1

MAX_CHAPTERS = 5_000
MAX_CHAPTER_BYTES = 16 * 1024 * 1024
MAX_TOTAL_BYTES = 128 * 1024 * 1024
MAX_MEMBERS = 20_000
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document"})
_UNZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, struct.error)


@dataclass(frozen=True, slots=True)
class _Package:
    """What the package document says; chapters are member names in reading order."""

    chapters: list[str]
    title: str | None
    language: str | None
    metadata: dict[str, Json]


class _Book:
    """The archive, read under one total cap."""

    def __init__(self, data: bytes | Path) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
        except _UNZIP_ERRORS as error:
            raise Damaged("the file is not a whole zip archive") from error
        self._members = dict.fromkeys(self._zip.namelist()[: MAX_MEMBERS + 1])
        if len(self._members) > MAX_MEMBERS:
            raise TooLarge(f"the book holds more than {MAX_MEMBERS} files")
        self._left = MAX_TOTAL_BYTES

    def read(self, name: str) -> bytes | None:
        """A member's bytes, `None` when it is missing or broken."""
        if name not in self._members:
            return None
        try:
            with self._zip.open(name) as member:
                data = member.read(MAX_CHAPTER_BYTES + 1)
        except _UNZIP_ERRORS:
            return None
        self._left -= len(data)
        if len(data) > MAX_CHAPTER_BYTES or self._left < 0:
            raise TooLarge("a chapter, or the whole book, unpacks to more than any text has")
        return data

    def xml(self, name: str) -> Element | None:
        """The root of an XML member."""
        data = self.read(name)
        return parse_xml(data, name) if data else None


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The book's text, chapter after chapter; title, language and authors from its package document.

    Raises:
        Damaged: Not a zip, or without a package document.
        Encrypted: Its chapters are under a reader's lock (DRM).
        Empty: No chapter holds text.
        TooLarge: It unpacks to more than the limits of this module.
    """
    book = _Book(raw.data)
    package = _package(book)
    locked = _locked(book)
    if locked.intersection(package.chapters):
        raise Encrypted("the chapters are locked (DRM)", advice="get a copy without a lock, or exclude the file")
    texts = [text for name in package.chapters if (text := _chapter(book, name))]
    if not texts:
        raise Empty("no chapter holds text")
    return ConvertedDocument(
        markdown="\n\n".join(texts) + "\n",
        title=package.title,
        format=format,
        language=package.language,
        converter=f"{NAME}:selectolax",
        pages=None,
        size=raw.size(),
        metadata=package.metadata,
    )


def _chapter(book: _Book, name: str) -> str:
    data = book.read(name)
    if not data:
        return ""
    try:
        return html_document(decode_html(data, "application/xhtml+xml"), None)[0].strip()
    except Empty:
        return ""


def _package(book: _Book) -> _Package:
    container = book.xml("META-INF/container.xml")
    files = [] if container is None else container.findall(".//{*}rootfile")
    place = next((str(file.get("full-path")) for file in files if file.get("full-path")), "")
    root = book.xml(place)
    if root is None:
        raise Damaged("the book has no package document")
    folder = posixpath.dirname(place)
    items = {
        str(item.get("id")): posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href")))))
        for item in root.iterfind(".//{*}manifest/{*}item")
        if item.get("media-type") in _CHAPTER_TYPES and "nav" not in (item.get("properties") or "").split()
    }
    order = [items.get(str(entry.get("idref"))) for entry in root.iterfind(".//{*}spine/{*}itemref")]
    chapters = list(dict.fromkeys(name for name in order if name)) or list(items.values())
    if len(chapters) > MAX_CHAPTERS:
        raise TooLarge(f"the book has more than {MAX_CHAPTERS} chapters")
    said = {name: _said(root, name) for name in ("title", "language", "creator", "publisher", "date")}
    shown: dict[str, Json] = {name: ", ".join(said[name]) for name in ("creator", "publisher", "date") if said[name]}
    return _Package(chapters, next(iter(said["title"]), None), next(iter(said["language"]), None), shown)


def _said(root: Element, name: str) -> list[str]:
    """The values of one Dublin Core element."""
    texts = (" ".join(str(node.text or "").split()) for node in root.iterfind(".//{*}metadata/{*}" + name))
    return [text for text in texts if text]


def _locked(book: _Book) -> frozenset[str]:
    """Members that are encrypted; fonts alone often are, without a lock on the text."""
    root = book.xml("META-INF/encryption.xml")
    places = [] if root is None else root.findall(".//{*}CipherReference")
    return frozenset(posixpath.normpath(unquote(str(place.get("URI")))) for place in places)
