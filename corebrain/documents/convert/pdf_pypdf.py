"""What pypdf adds to pdfium: form fields, attachments, odd encryption, and a second try at what pdfium refuses."""

import io
from dataclasses import dataclass, field

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError
from pypdf.generic import IndirectObject

from corebrain.documents.convert.pdf_chars import clean_text
from corebrain.documents.escape import escape_start, escape_tags
from corebrain.documents.types import ConvertedDocument, Json, Part
from corebrain.errors import Damaged, Empty, Encrypted, NeedsOcr, Refusal, TooLarge

MAX_PAGES = 2_000
"""Pages read by pypdf, which takes twelve times pdfium's time."""
MAX_CHARS = 20_000_000
MAX_FIELDS = 5_000
MAX_EMPTY_FIELDS = 60
"""Names of fields without a value are listed up to this many."""
MAX_PARTS = 100
MAX_PARTS_BYTES = 64 * 1024 * 1024

_PASSWORD = 4  # FPDF_ERR_PASSWORD
_UNCHECKED = frozenset({"Off", ""})


@dataclass(frozen=True, slots=True)
class Extras:
    """What stands beside the text.

    Attributes:
        form: Markdown of the form's fields, empty without a form.
        parts: Attached files.
        metadata: More about the document.
        used: Whether pypdf read it.
    """

    form: str = ""
    parts: tuple[Part, ...] = ()
    metadata: dict[str, Json] = field(default_factory=dict)
    used: bool = False


def read_extras(data: bytes, password: str | None) -> Extras:
    """Form fields with their values, and attachments.

    Raises:
        Damaged: pypdf cannot read the document.
        Encrypted: The password does not open it.
    """
    reader = _reader(data, password)
    try:
        form, parts = _form(reader), _parts(reader)
    except Exception as error:
        raise Damaged("the form or the attachments cannot be read") from error
    names: list[Json] = [part.name for part in parts]
    return Extras(form, parts, {"attachments": names} if names else {}, used=True)


def convert_whole(
    data: bytes, password: str | None, format_name: str, *, refused: Exception | None
) -> ConvertedDocument:
    """The document by pypdf alone: plain paragraphs, pages joined by a form feed.

    Args:
        data: The file.
        password: What may open it.
        format_name: The format to record.
        refused: What pdfium raised, None when it merely found no text.

    Raises:
        Encrypted: It needs another password.
        NeedsOcr: Its pages hold pictures and no text.
        Empty: It holds no text.
        Damaged: pypdf cannot read it either.
        TooLarge: It has more pages or text than the limits of this module.
    """
    if not data:
        raise Empty("the file has no bytes")
    reader = _reader(data, password, locked=getattr(refused, "err_code", None) == _PASSWORD)
    try:
        return _whole(reader, data, format_name)
    except Refusal:
        raise
    except Exception as error:
        raise Damaged("the pdf is broken beyond what its readers can repair") from error


def _reader(data: bytes, password: str | None, *, locked: bool = False) -> PdfReader:
    """An opened reader.

    Raises:
        Encrypted: The password does not open it.
        Damaged: It cannot be opened.
    """
    try:
        reader = PdfReader(io.BytesIO(data))
        opened = not reader.is_encrypted or bool(reader.decrypt(password or ""))
    except DependencyError as error:
        raise Encrypted("the pdf is encrypted in a way that cannot be read here") from error
    except Exception as error:
        if locked:
            raise Encrypted("the pdf is protected with a password") from error
        raise Damaged("the file is not a readable pdf") from error
    if not opened:
        known = "and the one given does not open it" if password else "that was not given"
        raise Encrypted(f"the pdf is protected with a password {known}")
    return reader


def _whole(reader: PdfReader, data: bytes, format_name: str) -> ConvertedDocument:
    count = len(reader.pages)
    if count > MAX_PAGES:
        raise TooLarge(f"the document has {count:,} pages, over the limit of {MAX_PAGES:,} for the slower reader")
    texts: list[str] = []
    pictured: list[int] = []
    for number, page in enumerate(reader.pages, 1):
        texts.append(_page_text(page.extract_text()))
        if not texts[-1] and "/XObject" in (page.get("/Resources") or {}):
            pictured.append(number)
        if sum(map(len, texts)) > MAX_CHARS:
            raise TooLarge(f"the document holds more than {MAX_CHARS:,} characters")
    form, parts = _form(reader), _parts(reader)
    if not any(texts) and not form:
        if pictured:
            raise NeedsOcr(f"{len(pictured)} of {count} pages hold pictures and no text")
        raise Empty("the pages hold no text")
    if form and texts:
        texts[-1] = f"{texts[-1]}\n\n{form}".strip()
    title = _title(reader)
    return ConvertedDocument(
        markdown="\n\f\n".join(texts) if texts else form,
        title=title,
        format=format_name,
        language=None,
        converter="pdf:pypdf",
        pages=count,
        size=len(data),
        parts=parts,
        metadata={"encrypted": True} if reader.is_encrypted else {},
    )


def _page_text(text: str) -> str:
    lines = (clean_text(line) for line in text.split("\n"))
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(escape_start(escape_tags(line)))
        elif blocks[-1]:
            blocks.append([])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _title(reader: PdfReader) -> str | None:
    try:
        title = reader.metadata.title if reader.metadata else None
    except PyPdfError:
        return None
    return " ".join(title.split()) or None if title else None


def _form(reader: PdfReader) -> str:
    fields = reader.get_fields() or {}
    lines: list[str] = []
    empty: list[str] = []
    for key, each in list(fields.items())[:MAX_FIELDS]:
        if each.get("/Kids") and "/V" not in each and "/FT" not in each:
            continue  # a group of fields
        label = " ".join(str(each.get("/TU") or key).split())
        value = _value(each.get("/V"))
        if value:
            lines.append(f"- {label}: {value}")
        else:
            empty.append(label)
    if len(empty) <= MAX_EMPTY_FIELDS:
        lines.extend(f"- {label}: (empty)" for label in empty)
    return "## Form fields\n\n" + "\n".join(lines) if lines else ""


def _value(value: object) -> str:
    if isinstance(value, IndirectObject):
        value = value.get_object()
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(text for each in value if (text := _value(each)))
    text = " ".join(str(value).split())
    if text.startswith("/"):  # the state of a button
        text = text[1:]
        return "" if text in _UNCHECKED else text
    return escape_tags(text)


def _parts(reader: PdfReader) -> tuple[Part, ...]:
    parts: list[Part] = []
    left = MAX_PARTS_BYTES
    for name, contents in reader.attachments.items():
        for content in contents:
            left -= len(content)
            if len(parts) >= MAX_PARTS or left < 0:
                return tuple(parts)
            parts.append(Part(str(name), "application/octet-stream", bytes(content)))
    return tuple(parts)
