"""PDF by pypdf alone: what `[documents] pdf = "pypdf"` chooses, and the fallback when pdfium hangs or dies."""

from corebrain.documents.convert.pdf_pypdf import convert_whole
from corebrain.documents.types import ConvertedDocument, RawDocument

NAME = "pypdf"
VERSION = 1


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Plain paragraphs, form fields and attachments; no headings, no tables.

    Raises:
        Refusal: As `convert_whole` says.
    """
    return convert_whole(raw.read(), raw.password, format, refused=None)
