"""Plain text and code: stored exactly as written, once its charset is known (spec 07 section 1)."""

from corebrain.documents.charset import decode_text
from corebrain.documents.languages import language_for_path
from corebrain.documents.types import ConvertedDocument, RawDocument

NAME = "text"
VERSION = 1


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The text itself; only a byte order mark is left out.

    Raises:
        Damaged: The bytes are not text.
    """
    data = raw.read()
    return ConvertedDocument(
        markdown=decode_text(data),
        title=None,
        format=format,
        language=language_for_path(raw.filename or ""),
        converter=NAME,
        pages=None,
        size=len(data),
    )
