"""PDF to markdown: pdfium draws the text, pypdf reads what pdfium does not (forms, attachments, odd encryption)."""

import contextlib
import ctypes
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from corebrain.documents.convert import pdf_pypdf
from corebrain.documents.convert.pdf_chars import hyphenated_words
from corebrain.documents.convert.pdf_furniture import drop_furniture
from corebrain.documents.convert.pdf_lines import HYPHEN, Line, PageReader
from corebrain.documents.convert.pdf_links import Link, page_links, write_links
from corebrain.documents.convert.pdf_tables import with_tables
from corebrain.documents.convert.pdf_text import PageWriter, Table, document_shape, title_key
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty, NeedsOcr, Refusal, TooLarge

NAME = "pdf"
VERSION = 2

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000
"""Characters of a whole document."""
MAX_OUTLINE = 5_000
"""Entries of the outline that are read."""
MAX_SECOND_LOOK = 200
"""Pages of a document without text that pypdf looks at once more."""
PAGE_MARK = "\n\f\n"

_TITLES_OF_PROGRAMS = (
    "microsoft word -", "untitled", "powerpoint presentation", "slide 1", "print", "document", "anonymous",
    "(anonymous)",
)  # fmt: skip


@dataclass(slots=True)
class _Reading:
    """What pdfium read of a document."""

    pages: list[list[Line | Table]] = field(default_factory=list)
    lines: list[list[Line]] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    pictured: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    chars: int = 0


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Markdown of a PDF, its pages joined by a form feed (U+000C) on a line of its own.

    Repeated headers and footers are left out, words broken at a line's end are joined, tables are markdown tables, form
    fields stand at the end under `## Form fields`, attachments are `parts`. Pages without text are empty, and listed in
    `metadata` when pictures fill them.

    Raises:
        Encrypted: It needs a password, and `raw.password` is not it.
        NeedsOcr: It holds pictures and no text; the message gives the pages.
        Empty: It holds neither.
        TooLarge: It has more pages or text than the limits of this module.
        Damaged: Neither pdfium nor pypdf can read it.
    """
    data = raw.data.read_bytes() if isinstance(raw.data, Path) else raw.data
    try:
        document = pdfium.PdfDocument(data, password=raw.password)
    except pdfium.PdfiumError as error:
        return pdf_pypdf.convert_whole(data, raw.password, format, refused=error)
    try:
        return _converted(document, data, raw.password, format)
    finally:
        document.close()


def _converted(document: pdfium.PdfDocument, data: bytes, password: str | None, format_name: str) -> ConvertedDocument:
    count = len(document)
    if count > MAX_PAGES:
        raise TooLarge(f"the document has {count:,} pages, over the limit of {MAX_PAGES:,}")
    reading = _read(document, count)
    if not any(reading.lines):
        return _without_text(reading, data, password, format_name)
    extras = _extras(document, data, password)
    shape = document_shape(reading.lines, _outline(document), _hyphenated(reading.lines))
    write_links(reading.links)
    writer = PageWriter(shape)
    texts = [writer.write(page) for page in reading.pages]
    if not extras.form and not any(texts):  # signs of fonts that do not tell their characters
        return _without_text(reading, data, password, format_name)
    if extras.form:
        texts[-1] = f"{texts[-1]}\n\n{extras.form}".strip()
    return ConvertedDocument(
        markdown=PAGE_MARK.join(texts),
        title=_title(document),
        format=format_name,
        language=_language(document),
        converter=f"{NAME}:pypdfium2+pypdf" if extras.used else f"{NAME}:pypdfium2",
        pages=count,
        size=len(data),
        parts=extras.parts,
        metadata=_metadata(document, reading, extras.metadata),
    )


def _read(document: pdfium.PdfDocument, count: int) -> _Reading:
    """Every page's lines, furniture dropped, and its tables in their places."""
    reading = _Reading()
    tables: list[list[Line | Table] | None] = []
    for number in range(1, count + 1):
        lines, height, placed = _read_page(document, number, reading)
        reading.lines.append(lines)
        reading.heights.append(height)
        tables.append(placed)
    kept = drop_furniture(reading.lines, reading.heights)
    for lines, placed in zip(kept, tables, strict=True):
        if placed is None:
            reading.pages.append(list(lines))
        else:
            stay = {id(line) for line in lines}
            reading.pages.append([line for line in placed if isinstance(line, Table) or id(line) in stay])
    reading.lines = kept
    return reading


def _read_page(
    document: pdfium.PdfDocument, number: int, reading: _Reading
) -> tuple[list[Line], float, list[Line | Table] | None]:
    """Lines and height of a page, and its lines with tables put in when it has any."""
    try:
        page = document[number - 1]
        text_page = page.get_textpage()
    except pdfium.PdfiumError:
        reading.unreadable.append(number)
        return [], 0.0, None
    try:
        reader = PageReader(page.raw, text_page.raw)
        lines = reader.lines()
        reading.chars += sum(len(line.text) for line in lines)
        if reading.chars > MAX_CHARS:
            raise TooLarge(f"the document holds more than {MAX_CHARS:,} characters")
        if not lines and _has_picture(page.raw):
            reading.pictured.append(number)
        reading.links += page_links(document.raw, reader, lines)
        return lines, reader.height, with_tables(reader, lines)
    finally:
        text_page.close()
        page.close()


def _has_picture(page: object) -> bool:
    count = min(pdfium_c.FPDFPage_CountObjects(page), 200)
    kinds = {pdfium_c.FPDFPageObj_GetType(pdfium_c.FPDFPage_GetObject(page, index)) for index in range(count)}
    return bool(kinds & {pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_FORM, pdfium_c.FPDF_PAGEOBJ_PATH})


def _without_text(reading: _Reading, data: bytes, password: str | None, format_name: str) -> ConvertedDocument:
    """What pypdf finds when pdfium found no text; refused as a scan or as empty when that is blank too."""
    count = len(reading.lines)
    if count <= MAX_SECOND_LOOK:
        # Told better below, from what pdfium saw.
        with contextlib.suppress(Damaged, Empty, NeedsOcr):
            return pdf_pypdf.convert_whole(data, password, format_name, refused=None)
    if reading.pictured:
        verb = "holds a picture" if len(reading.pictured) == 1 else "hold pictures"
        raise NeedsOcr(f"{_pages(reading.pictured)} of {count} {verb} and no text")
    if count and len(reading.unreadable) == count:
        raise Damaged("no page can be read")
    raise Empty("the pages hold no text")


def _pages(numbers: list[int]) -> str:
    """`pages 1-3, 7` for a list of page numbers."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    shown = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans[:20])
    more = ", ..." if len(spans) > 20 else ""
    return f"page{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _extras(document: pdfium.PdfDocument, data: bytes, password: str | None) -> pdf_pypdf.Extras:
    """Form fields and attachments by pypdf, when pdfium says there are any; their faults cost only them."""
    has_form = pdfium_c.FPDF_GetFormType(document.raw) != pdfium_c.FORMTYPE_NONE
    if not has_form and not pdfium_c.FPDFDoc_GetAttachmentCount(document.raw):
        return pdf_pypdf.Extras()
    try:
        return pdf_pypdf.read_extras(data, password)
    except Refusal as refusal:
        return pdf_pypdf.Extras(metadata={"extras_unread": refusal.message})


def _outline(document: pdfium.PdfDocument) -> dict[str, int]:
    """Titles of the outline and their levels, from 1; an ambiguous title keeps its first level."""
    found: dict[str, int] = {}
    try:
        for count, item in enumerate(document.get_toc(max_depth=6)):
            key = title_key(item.get_title() or "")
            if len(key) > 2:
                found.setdefault(key, item.level + 1)
            if count >= MAX_OUTLINE:
                break
    except pdfium.PdfiumError:
        return found
    return found


def _hyphenated(pages: list[list[Line]]) -> frozenset[str]:
    """Hyphenated words of the document, looked for only when some line end was joined."""
    if not any(HYPHEN in line.text for page in pages for line in page):
        return frozenset()
    return hyphenated_words("\n".join(line.text for page in pages for line in page))


def _title(document: pdfium.PdfDocument) -> str | None:
    title = " ".join(document.get_metadata_value("Title").replace("\x00", "").split())
    lower = title.lower()
    if not title or lower.startswith(_TITLES_OF_PROGRAMS) or lower.endswith((".doc", ".docx", ".indd", ".qxd", ".dvi")):
        return None
    return title


def _language(document: pdfium.PdfDocument) -> str | None:
    """The catalog's `Lang` (ISO 32000-1 14.9.2)."""
    size = pdfium_c.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < size <= 64:
        return None
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    pdfium_c.FPDFCatalog_GetLanguage(document.raw, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00").strip() or None


def _metadata(document: pdfium.PdfDocument, reading: _Reading, extras: dict[str, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, name in (("Author", "author"), ("Subject", "subject"), ("Keywords", "keywords")):
        value = " ".join(document.get_metadata_value(key).replace("\x00", "").split())
        if value:
            found[name] = value[:1000]
    if pdfium_c.FPDF_GetSecurityHandlerRevision(document.raw) != -1:
        found["encrypted"] = True
    labels = _labels(document, len(reading.lines))
    if labels:
        found["page_labels"] = labels
    if reading.pictured:
        found["pages_without_text"] = list[Json](reading.pictured)
    if reading.unreadable:
        found["pages_unreadable"] = list[Json](reading.unreadable)
    return {**found, **extras}


def _labels(document: pdfium.PdfDocument, count: int) -> list[Json]:
    """Page labels (ISO 32000-1 12.4.2) when they are not simply 1, 2, 3."""
    if not document.get_page_label(0):
        return []
    labels: list[Json] = [document.get_page_label(index) or str(index + 1) for index in range(count)]
    return [] if labels == [str(index + 1) for index in range(count)] else labels
