"""From a file to a document of the brain: detect, convert, name (spec 02 section 5, spec 07 section 1)."""

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from corebrain.documents.default_converter import default_converter
from corebrain.documents.formats import FORMATS
from corebrain.documents.headings import first_heading
from corebrain.documents.languages import language_for_path, last_component
from corebrain.documents.registry import refusal_for
from corebrain.documents.sniff import check_container, sniff_raw
from corebrain.documents.types import ConvertedDocument, DocumentConverter, RawDocument
from corebrain.errors import Empty, Refusal, TimedOut, TooLarge
from corebrain.layout import BrainDocument, BrainSource
from corebrain.model.meta import MemoryMeta
from corebrain.model.text import is_blank, trim

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_PARTS: Final = 1_000
MAX_PART_DEPTH: Final = 4
MAX_HELD_BYTES: Final = 128 * 1024 * 1024
"""Attachments in memory at one time: those of a document and of the attachments being read."""
MAX_HUNG: Final = 3
"""Attachments that may run into the time limit; the rest is then refused."""
# Their headings are names that the converter gives (sheets), not the author's title.
_OWN_HEADINGS: Final = frozenset({"xlsx", "xls", "xlsb", "ods", "csv", "tsv"})
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """An attachment that could not be converted; it costs only itself.

    Attributes:
        name: Its name below the parent, as in the part's `file_path`: `report.pdf`, or `mail.eml/report.pdf`.
        error: Why, with `.advice`.
    """

    name: str
    error: Refusal


@dataclass(frozen=True, slots=True)
class BrainDocuments:
    """A document and what was attached to it.

    Attributes:
        document: The document itself.
        parts: Attachments that could be read, in order, those of attachments after them.
        refused: Attachments that could not.
        converted: What the conversion of the document itself said: format, converter, pages, metadata.
    """

    document: BrainDocument
    parts: tuple[BrainDocument, ...]
    refused: tuple[RefusedPart, ...]
    converted: ConvertedDocument

    def __iter__(self) -> Iterator[BrainDocument]:
        """The document first, then its parts: what is stored."""
        yield self.document
        yield from self.parts


def brain_document(
    converter: DocumentConverter | None,
    raw: RawDocument,
    source: BrainSource | None = None,
    meta: MemoryMeta | None = None,
    *,
    max_bytes: int = MAX_BYTES,
) -> BrainDocument:
    """The brain document of a file: markdown, title, media type and language; attachments are left out.

    Args:
        converter: What converts; `None` is `default_converter()`.
        raw: The file.
        source: Where it is filed; `None` is what its format implies, `BrainSource.FILES`.
        meta: Kept as it is; an unset `language` is filled, the author's own tags go before its tags.
        max_bytes: A larger file is refused before anything reads it.

    Raises:
        Refusal: Why it cannot be converted: `Empty`, `TooLarge`, `Encrypted`, `NeedsOcr`, `Damaged`,
            `UnsupportedFormat`, `TimedOut` or `ParserDied`; `.advice` says what to do.
    """
    converted = convert_document(converter, raw, max_bytes=max_bytes)
    return document_of(converted, raw, source, meta)


def brain_documents(
    converter: DocumentConverter | None,
    raw: RawDocument,
    source: BrainSource | None = None,
    meta: MemoryMeta | None = None,
    *,
    max_bytes: int = MAX_BYTES,
) -> BrainDocuments:
    """The brain document of a file and one for each attachment, those of attachments included.

    An attachment's `file_path` is its parent's, `/` and its name (`name~2` for the second of that name; the path in it,
    when the parent is an archive); its `folder` is the part before the last `/`; all else of `meta` is the parent's. At
    most 1,000 attachments, four levels deep and 128 MiB at a time, are read; the others are refused, and so are all
    after three that ran into the time limit.

    Raises:
        Refusal: The file itself cannot be converted. A refused attachment is in `refused`.
    """
    converted = convert_document(converter, raw, max_bytes=max_bytes)
    document = document_of(converted, raw, source, meta)
    walk = _Parts(converter, document.source, max_bytes)
    walk.add(converted, raw, meta or MemoryMeta(), "", 1)
    return BrainDocuments(document, tuple(walk.documents), tuple(walk.refused), converted)


def convert_document(
    converter: DocumentConverter | None, raw: RawDocument, *, max_bytes: int = MAX_BYTES
) -> ConvertedDocument:
    """Check the size, detect the format, convert; the markdown is not blank and can be stored.

    Raises:
        Refusal: As `brain_document`.
    """
    size = raw.size()
    if size == 0:
        raise Empty("the file has no bytes")
    if size > max_bytes:
        raise TooLarge(f"{size} bytes, more than the limit of {max_bytes}")
    chosen = converter or default_converter()
    found = sniff_raw(raw)
    check_container(raw, found)
    if not chosen.supports(found):
        raise refusal_for(found)
    converted = chosen.convert(raw)
    if is_blank(converted.markdown):
        raise Empty("the file holds no text")
    return converted


def document_of(
    converted: ConvertedDocument,
    raw: RawDocument,
    source: BrainSource | None = None,
    meta: MemoryMeta | None = None,
) -> BrainDocument:
    """The brain document of something already converted."""
    filled = meta or MemoryMeta()
    language = converted.language or language_for_path(raw.filename or "")
    if filled.language is None and language:
        filled = filled.model_copy(update={"language": language})
    if converted.tags:
        filled = filled.model_copy(update={"tags": tuple(dict.fromkeys((*converted.tags, *filled.tags)))})
    return BrainDocument(
        source=source or BrainSource.for_format(converted.format),
        title=_title(converted, raw),
        text=_storable(converted.markdown),
        mime=FORMATS[converted.format].mime if converted.format in FORMATS else FORMATS["unknown"].mime,
        meta=filled,
    )


def _storable(text: str) -> str:
    """Text without NUL and lone surrogates, which no store takes."""
    return _UNSTORABLE.sub("\ufffd", text)


def _title(converted: ConvertedDocument, raw: RawDocument) -> str | None:
    """The converter's title, else the first heading (never of code), else the file name or the origin."""
    own = converted.title
    if not own and converted.format != "code" and converted.format not in _OWN_HEADINGS:
        own = first_heading(converted.markdown)
    named = last_component(raw.filename.rstrip("/\\")) if raw.filename else ""
    title = trim(_storable(own or "")) or trim(_storable(named)) or trim(raw.origin or "")
    return title or None


class _Parts:
    """Collects the attachments below one document."""

    def __init__(self, converter: DocumentConverter | None, source: BrainSource, max_bytes: int) -> None:
        self._converter = converter
        self._source = source
        self._max_bytes = max_bytes
        self._held = 0
        self._hung = 0
        self.documents: list[BrainDocument] = []
        self.refused: list[RefusedPart] = []

    def add(self, parent: ConvertedDocument, raw: RawDocument, meta: MemoryMeta, above: str, depth: int) -> None:
        """Convert the parts of `parent`, which lies `depth - 1` levels below the document, and theirs."""
        taken: set[str] = set()
        size = sum(len(part.data) for part in parent.parts)
        self._held += size
        for part in parent.parts:
            name = _free_name(part.name, taken, folders=parent.format == "zip")
            taken.add(name)
            below = RawDocument(part.data, part.name, part.media_type, raw.origin)
            try:
                self._check(depth)
                converted = convert_document(self._converter, below, max_bytes=self._max_bytes)
            except Refusal as error:
                self._hung += isinstance(error, TimedOut)
                self.refused.append(RefusedPart(above + name, error))
                continue
            placed = _below(meta, name)
            self.documents.append(document_of(converted, below, self._source, placed))
            self.add(converted, below, placed, f"{above}{name}/", depth + 1)
        self._held -= size

    def _check(self, depth: int) -> None:
        """Refuse one more attachment when there were enough."""
        if depth > MAX_PART_DEPTH:
            raise TooLarge("attachments are nested too deeply", advice="save the inner one by itself")
        if len(self.documents) + len(self.refused) >= MAX_PARTS:
            raise TooLarge(f"more than {MAX_PARTS:,} attachments", advice="save the attachment by itself")
        if self._held > MAX_HELD_BYTES:
            raise TooLarge("attachments within attachments are too large", advice="save the inner one by itself")
        if self._hung >= MAX_HUNG:
            raise TimedOut(f"not tried, after {MAX_HUNG} other attachments took too long")


def _free_name(given: str, taken: set[str], *, folders: bool) -> str:
    """A name for a path: NFC, `_` for `/` unless it may hold folders, `part` when nameless, `~2`, `~3` … when taken."""
    named = unicodedata.normalize("NFC", _storable(given))
    plain = trim(named if folders else named.replace("/", "_")) or "part"
    candidates = itertools.chain([plain], (f"{plain}~{count}" for count in itertools.count(2)))
    return next(name for name in candidates if name not in taken)


def _below(meta: MemoryMeta, name: str) -> MemoryMeta:
    """The parent's metadata at the attachment's place; its language is its own."""
    path = f"{meta.file_path}/{name}"
    where = {"file_path": path, "folder": path.rpartition("/")[0]} if meta.file_path else {}
    return meta.model_copy(update={**where, "language": None})
