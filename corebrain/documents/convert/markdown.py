"""Markdown: stored exactly as written; its front matter gives title, tags and language."""

from corebrain.documents.charset import decode_text
from corebrain.documents.convert.front_matter import front_matter
from corebrain.documents.types import ConvertedDocument, RawDocument

NAME = "markdown"
VERSION = 1


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The text itself, front matter included; only a byte order mark is left out.

    Raises:
        Damaged: The bytes are not text.
    """
    data = raw.read()
    text = decode_text(data)
    head = front_matter(text)
    return ConvertedDocument(
        markdown=text,
        title=head.title,
        format=format,
        language=head.language,
        converter=NAME,
        pages=None,
        size=len(data),
        tags=head.tags,
    )
