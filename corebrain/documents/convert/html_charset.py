"""Bytes of a web page to text: byte order mark, HTTP header, `<meta>`, then a guess; what decodes wins."""

import re
from email.message import Message

from corebrain.documents.charset import decode_text, marked_encoding, wide_encoding

_META = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE
)
_META_WINDOW = 4096
# https://encoding.spec.whatwg.org/#names-and-labels: what a browser reads for these labels.
_LABELS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "ascii": "cp1252", "us-ascii": "cp1252",
    "iso-8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "shift-jis": "cp932", "x-sjis": "cp932", "ks_c_5601-1987": "cp949", "euc-kr": "cp949",
    "tis-620": "cp874", "iso-8859-11": "cp874", "big5": "big5hkscs",
}  # fmt: skip


def decode_html(data: bytes, mime: str | None) -> str:
    """Text of an HTML file or reply, without NULs.

    Valid UTF-8 is UTF-8 whatever was declared, and a declaration the bytes contradict is not believed.

    Args:
        data: The bytes as received.
        mime: The media type with its parameters, such as `text/html; charset=koi8-r`.

    Raises:
        Damaged: The bytes are not text.
    """
    declared = None
    if not marked_encoding(data) and not wide_encoding(data):
        labels = [label for label in (_header_charset(mime), _meta_charset(data)) if label]
        declared = next((encoding for label in labels if (encoding := _believable(data, label))), None)
    if declared and declared.startswith("iso-2022") and data.isascii():
        text = data.decode(declared, "replace")  # seven-bit: it would pass for UTF-8
    else:
        text = decode_text(data, declared=declared)
    return text.replace("\x00", "")


def _header_charset(mime: str | None) -> str | None:
    if not mime or ";" not in mime:
        return None
    message = Message()
    message["content-type"] = mime
    return message.get_content_charset()


def _meta_charset(data: bytes) -> str | None:
    match = _META.search(data[:_META_WINDOW])
    return match[1].decode("ascii").lower() if match else None


def _believable(data: bytes, label: str) -> str | None:
    """The encoding a label means, or None when it is unknown, not for bytes, or contradicted by the bytes."""
    encoding = _LABELS.get(label, label)
    if encoding.startswith(("utf-16", "utf16", "utf-32", "utf32", "utf-7", "utf7")):
        return None  # wide text shows by its NULs; UTF-7 only ever hid scripts
    try:
        data.decode(encoding)
    except (LookupError, ValueError):  # UnicodeError is a ValueError
        return None
    return encoding
