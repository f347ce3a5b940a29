"""Every format there is: name, media type, extensions. Names and types are stored, so a golden test freezes them.

The first nine rows are spec 07's table; the others use their IANA media type where one is registered.
"""

from dataclasses import dataclass
from typing import Final

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    Attributes:
        name: What `ConvertedDocument.format` and `brain.toml` call it.
        mime: What is stored as the document's media type.
        extensions: Lower-case, without the dot; the usual one first.
        textual: Whether the file itself is text that a person reads.
        claims: Further media types that a source may declare for it.
    """

    name: str
    mime: str
    extensions: tuple[str, ...]
    textual: bool = False
    claims: tuple[str, ...] = ()


_ALL: Final = (
    Format("markdown", "text/markdown", ("md", "markdown", "mdown"), True, ("text/x-markdown",)),
    Format("plain_text", "text/plain", ("txt", "text", "log"), True),
    Format("html", "text/html", ("html", "htm", "xhtml"), True, ("application/xhtml+xml",)),
    Format("code", "text/x-source", (), True),
    Format("pdf", "application/pdf", ("pdf",)),
    Format("docx", _OFFICE + "wordprocessingml.document", ("docx", "docm", "dotx", "dotm")),
    Format("xlsx", _OFFICE + "spreadsheetml.sheet", ("xlsx", "xlsm", "xltx", "xltm")),
    Format("pptx", _OFFICE + "presentationml.presentation", ("pptx", "pptm", "ppsx", "ppsm", "potx")),
    Format("unknown", "application/octet-stream", ("bin",)),
    Format("csv", "text/csv", ("csv",), True),
    Format("tsv", "text/tab-separated-values", ("tsv", "tab"), True),
    Format("ipynb", "application/x-ipynb+json", ("ipynb",), True),
    Format("eml", "message/rfc822", ("eml",), True),
    Format("msg", "application/vnd.ms-outlook", ("msg",)),
    Format("rtf", "application/rtf", ("rtf",), True, ("text/rtf",)),
    Format("rst", "text/prs.fallenstein.rst", ("rst", "rest"), True, ("text/x-rst",)),
    Format("org", "text/org", ("org",), True),
    Format("epub", "application/epub+zip", ("epub",)),
    Format("odt", _OPEN + "text", ("odt", "ott")),
    Format("ods", _OPEN + "spreadsheet", ("ods", "ots")),
    Format("odp", _OPEN + "presentation", ("odp", "otp")),
    Format("xlsb", "application/vnd.ms-excel.sheet.binary.macroEnabled.12", ("xlsb",)),
    # The three old Office types are not claimed: browsers declare them for CSV and for OOXML as well (spec 07).
    Format("xls", "application/vnd.ms-excel", ("xls", "xlt")),
    Format("doc", "application/msword", ("doc", "dot")),
    Format("ppt", "application/vnd.ms-powerpoint", ("ppt", "pps")),
    Format("zip", "application/zip", ("zip",)),
    Format("png", "image/png", ("png",)),
    Format("jpeg", "image/jpeg", ("jpg", "jpeg")),
    Format("gif", "image/gif", ("gif",)),
    Format("tiff", "image/tiff", ("tif", "tiff")),
    Format("bmp", "image/bmp", ("bmp",)),
    Format("webp", "image/webp", ("webp",)),
    Format("heic", "image/heic", ("heic", "heif")),
    # An Office document under a password: an OLE file that holds one encrypted stream ([MS-OFFCRYPTO] 2.3).
    Format("encrypted", "application/x-ole-storage", ()),
)
_UNCLAIMED = frozenset({"xls", "doc", "ppt", "unknown", "encrypted", "code"})

FORMATS: Final[dict[str, Format]] = {entry.name: entry for entry in _ALL}
IMAGES: Final = frozenset({"png", "jpeg", "gif", "tiff", "bmp", "webp", "heic"})
FORMAT_OF_EXTENSION: Final = {extension: entry.name for entry in _ALL for extension in entry.extensions}
FORMAT_OF_MIME: Final = {
    mime.lower(): entry.name for entry in _ALL if entry.name not in _UNCLAIMED for mime in (entry.mime, *entry.claims)
}
