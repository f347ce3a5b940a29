"""What a file is: binary signatures, then the declared media type, the name, and its first bytes (spec 07 section 1).

Only binary content overrules a name: a `.docx` called `.doc` is a docx, a text called `.odt` stays an odt.
"""

import codecs
import io
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

from corebrain.documents import archive_names, ole
from corebrain.documents.charset import SAMPLE_BYTES, looks_like_text
from corebrain.documents.formats import FORMAT_OF_EXTENSION, FORMAT_OF_MIME
from corebrain.documents.languages import extension_of, language_for_path
from corebrain.documents.types import RawDocument
from corebrain.errors import Damaged

__all__ = ["check_container", "language_for_path", "sniff", "sniff_raw"]

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "pdf"),
    (b"{\\rtf", "rtf"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
)
_OFFICE_FOLDERS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))
_OFFICE = frozenset({"docx", "xlsx", "pptx"})
_ZIP_TYPES = frozenset({"odt", "ods", "odp", "epub"})
# The stream that only this program writes at the top of its files.
_OLE_STREAMS: tuple[tuple[str, str], ...] = (
    ("EncryptedPackage", "encrypted"),
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
    ("__properties_version1.0", "msg"),
)
_CONTAINERS: dict[str, tuple[bytes, ...]] = {
    **dict.fromkeys(("docx", "pptx", "odt", "odp", "epub"), (b"PK",)),
    **dict.fromkeys(("doc", "ppt", "msg"), (ole.SIGNATURE,)),
}
_HTML_STARTS = (b"<!doctype html", b"<html")


def sniff(data: bytes, filename: str | None = None, mime: str | None = None) -> str:
    """The format of a file: a name of `corebrain.documents.formats.FORMATS`, `unknown` when nothing tells.

    Args:
        data: The whole file; only its ends and its directory are looked at.
        filename: Name or path, when there is one.
        mime: Declared media type; parameters and case do not matter.
    """
    return _sniff(io.BytesIO(data), filename, mime)


def sniff_raw(raw: RawDocument) -> str:
    """The format of a document; a file named by its path is read only as far as needed."""
    opened = nullcontext(io.BytesIO(raw.data)) if isinstance(raw.data, bytes) else raw.data.open("rb")
    with opened as file:
        return _sniff(file, raw.filename or _own_name(raw.data), raw.mime)


def check_container(raw: RawDocument, found: str) -> None:
    """Refuse a file whose name promises a container and whose bytes are none; no parser is needed to tell.

    Raises:
        Damaged: The format is always a zip or an OLE file, and these bytes start with neither signature.
    """
    signatures = _CONTAINERS.get(found)
    if signatures and not raw.head(8).startswith(signatures):
        raise Damaged(f"the bytes are not in the {found} format", advice="give the file the name of its true format")


def _own_name(data: bytes | Path) -> str | None:
    return data.name if isinstance(data, Path) else None


def _sniff(file: BinaryIO, filename: str | None, mime: str | None) -> str:
    head = file.read(SAMPLE_BYTES)
    return _by_signature(file, head, filename, mime) or _by_mime(mime) or _by_name(filename) or _by_text(head)


def _by_signature(file: BinaryIO, head: bytes, filename: str | None, mime: str | None) -> str | None:
    if head.startswith((archive_names.SIGNATURE, b"PK\x05\x06")):
        return _kind_of_zip(file, filename, mime)
    if head.startswith(ole.SIGNATURE):
        return _kind_of_ole(ole.top_level_names(file), filename)
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return "bmp"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[4:12] in {b"ftypheic", b"ftypheix", b"ftypmif1"}:
        return "heic"
    return None


def _kind_of_zip(file: BinaryIO, filename: str | None, mime: str | None) -> str:
    declared = FORMAT_OF_MIME.get((archive_names.declared_type(file) or "").removesuffix("-template").lower())
    if declared is not None and declared in _ZIP_TYPES:
        return declared
    names = archive_names.member_names(file)
    if "xl/workbook.bin" in names:
        return "xlsb"
    for folder, name in _OFFICE_FOLDERS:
        if any(member.startswith(folder) for member in names):
            return name
    return _first(_OFFICE | _ZIP_TYPES, (_by_mime(mime), _by_name(filename))) or "zip"


def _kind_of_ole(streams: frozenset[str], filename: str | None) -> str:
    for stream, name in _OLE_STREAMS:
        if stream in streams:
            return name
    # A directory that cannot be read: the converter of the name says what is wrong with the rest.
    return _first({"doc", "ppt", "xls", "msg"}, (_by_name(filename),)) or "unknown"


def _first(wanted: Collection[str], names: tuple[str | None, ...]) -> str | None:
    return next((name for name in names if name is not None and name in wanted), None)


def _by_mime(mime: str | None) -> str | None:
    return FORMAT_OF_MIME.get(mime.partition(";")[0].strip().lower()) if mime else None


def _by_name(filename: str | None) -> str | None:
    if not filename:
        return None
    if language_for_path(filename):
        return "code"
    return FORMAT_OF_EXTENSION.get(extension_of(filename))


def _by_text(head: bytes) -> str:
    if head.removeprefix(codecs.BOM_UTF8)[:512].lstrip().lower().startswith(_HTML_STARTS):
        return "html"
    return "plain_text" if looks_like_text(head) else "unknown"
