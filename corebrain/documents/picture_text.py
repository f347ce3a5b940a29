"""Adds the words of pictures to what the parsers found, when OCR is wanted and tesseract is installed."""

import re
from dataclasses import replace
from typing import Final

from corebrain.documents.formats import IMAGES
from corebrain.documents.pool import ParserMissing, ParserPool
from corebrain.documents.registry import OCR
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import ConfigError, NeedsOcr, Refusal

PAGE_MARK: Final = "\n\f\n"
PATIENCE: Final = 10
"""OCR of a document may take that many times what other parsers may."""
FORMATS: Final = IMAGES | {"pdf"}

_LANGUAGES = re.compile(r"[A-Za-z]{3}[A-Za-z_]{0,12}(?:\+[A-Za-z]{3}[A-Za-z_]{0,12}){0,9}\Z")


class PictureText:
    """Reads pictures in the workers of a pool.

    Args:
        pool: Where tesseract runs.
        languages: tesseract's names of languages, joined by `+`, such as `deu+eng`; empty for no OCR.

    Raises:
        ConfigError: `languages` are no such names.
    """

    def __init__(self, pool: ParserPool, languages: str) -> None:
        if languages and not _LANGUAGES.match(languages):
            raise ConfigError(
                f"[documents] ocr = {languages!r}: name languages as tesseract does, such as eng or deu+eng"
            )
        self._pool = pool
        self._parser = replace(OCR, argument=languages)
        self._wanted = bool(languages)

    def version(self, format: str) -> str:  # noqa: A002 - the contract's word
        """What reads the pictures of this format; empty when nothing does."""
        parser = self._parser
        return f"{parser.name}/{parser.version}:{parser.argument}" if format in FORMATS and self._ready() else ""

    def instead(self, raw: RawDocument, format: str, refusal: NeedsOcr) -> ConvertedDocument:  # noqa: A002 - see above
        """A document of pictures only.

        Raises:
            NeedsOcr: OCR is not wanted or not installed; the advice says which.
            Refusal: OCR finds no words, or cannot read it.
        """
        if not self._wanted:
            advice = 'set ocr = "eng" in [documents], with tesseract installed, or save a searchable copy'
            raise NeedsOcr(refusal.message, advice=advice)
        if not self._ready():
            raise NeedsOcr(refusal.message, advice=f"{self._parser.advice()}, or save a searchable copy")
        return self._read(raw, format)

    def added(self, raw: RawDocument, format: str, converted: ConvertedDocument) -> ConvertedDocument:  # noqa: A002 - see above
        """A document with the words of its pictures: an image's below its head, a page's in its place.

        What OCR cannot read is left as it was.
        """
        pictured = format in IMAGES or (format == "pdf" and "pages_without_text" in converted.metadata)
        if not pictured or not self._ready():
            return converted
        try:
            read = self._read(raw, format)
        except Refusal as refusal:
            return replace(converted, metadata={**converted.metadata, "ocr": refusal.message})
        markdown = f"{converted.markdown}\n\n{read.markdown}"
        if format == "pdf":
            markdown = _paged(converted.markdown, read.markdown)
        return replace(converted, markdown=markdown, converter=f"{converted.converter}+{read.converter}")

    def _ready(self) -> bool:
        return self._wanted and not self._parser.missing()

    def _read(self, raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - see above
        try:
            return self._pool.convert(self._parser, raw, format, wall_s=PATIENCE * self._pool.limits.wall_s)
        except ParserMissing as error:
            raise NeedsOcr(f"OCR needs {error}, not installed here") from None


def _paged(text: str, read: str) -> str:
    """The pages of a text, its blank ones taken from what was read."""
    pages, found = text.split(PAGE_MARK), read.split(PAGE_MARK)
    found += [""] * (len(pages) - len(found))
    return PAGE_MARK.join(page if page.strip() else words for page, words in zip(pages, found, strict=False))
