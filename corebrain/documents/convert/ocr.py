"""Words of pictures by tesseract: whole images, and the pages of a PDF that hold no text.

tesseract is a program of its own, started once a page; pdfium draws the page as a grey picture for it.
"""

import subprocess
from pathlib import Path
from typing import Protocol

from corebrain.documents.escape import escape_start, escape_tags
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge

NAME = "tesseract"
VERSION = 1

PAGE_MARK = "\n\f\n"
DOTS_PER_INCH = 300
MAX_PIXELS = 40_000_000
"""Of one page; a larger page is drawn coarser."""
MAX_PAGES = 500
"""Pages without text in one document."""


class _Page(Protocol):
    def get_size(self) -> tuple[float, float]: ...


def convert(raw: RawDocument, format: str, languages: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The words of an image, or of those pages of a PDF that hold no text; its other pages are empty here.

    Args:
        raw: The file.
        format: `pdf` or an image format.
        languages: tesseract's names of languages, joined by `+`: `eng`, `deu+eng`.

    Raises:
        Empty: It finds no words.
        Damaged: pdfium or tesseract cannot read it.
        Encrypted: It needs a password.
        TooLarge: More pages than `MAX_PAGES` hold no text.
    """
    data = raw.read()
    if format == "pdf":
        pages = _pages(data, raw.password, languages)
    else:
        picture = Path("picture")
        picture.write_bytes(data)
        pages = [_words(picture, languages)]
    if not any(pages):
        raise Empty("no words are found in its pictures")
    return ConvertedDocument(
        markdown=PAGE_MARK.join(pages),
        title=None,
        format=format,
        language=None,
        converter=NAME,
        pages=len(pages) if format == "pdf" else None,
        size=len(data),
    )


def _pages(data: bytes, password: str | None, languages: str) -> list[str]:
    import pypdfium2 as pdfium  # noqa: PLC0415 - images need none

    try:
        document = pdfium.PdfDocument(data, password=password)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise Encrypted("the document is protected with a password") from error
        raise Damaged("its pages cannot be drawn") from error
    pages: list[str] = []
    drawn = 0
    for number in range(len(document)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded()
        except pdfium.PdfiumError:
            pages.append("")
            continue
        if text.strip():
            pages.append("")
            continue
        drawn += 1
        if drawn > MAX_PAGES:
            raise TooLarge(f"more than {MAX_PAGES} pages hold no text")
        picture = Path("page.pgm")
        bitmap = page.render(scale=_scale(page), grayscale=True)
        _write_grey(picture, bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))
        pages.append(_words(picture, languages))
    return pages


def _scale(page: _Page) -> float:
    width, height = page.get_size()
    wanted = DOTS_PER_INCH / 72
    pixels = width * height * wanted * wanted
    return float(wanted if pixels <= MAX_PIXELS else wanted * (MAX_PIXELS / pixels) ** 0.5)


def _write_grey(path: Path, width: int, height: int, stride: int, buffer: bytes) -> None:
    """A portable grey map (PGM), which every picture library reads."""
    rows = buffer if stride == width else b"".join(buffer[at : at + width] for at in range(0, height * stride, stride))
    path.write_bytes(b"P5 %d %d 255\n" % (width, height) + rows)


def _words(picture: Path, languages: str) -> str:
    """What tesseract reads, its lines joined to paragraphs."""
    done = subprocess.run(  # noqa: S603 - the languages are checked, the name is ours
        ["tesseract", str(picture), "stdout", "-l", languages],  # noqa: S607 - found on the worker's own path
        capture_output=True,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Damaged(f"tesseract cannot read it: {reason[-1][:200] if reason else 'no reason given'}")
    text = done.stdout.decode("utf-8", "replace").replace("\f", "")
    paragraphs = (_joined(block.splitlines()) for block in text.replace("\r", "").split("\n\n"))
    return "\n\n".join(escape_start(escape_tags(paragraph)) for paragraph in paragraphs if paragraph)


def _joined(lines: list[str]) -> str:
    """One paragraph; a word broken at a line's end is joined."""
    text = ""
    for line in filter(None, map(str.strip, lines)):
        if text.endswith("-") and line[0].islower() and text[-2:-1].isalpha():
            text = text[:-1] + line
        else:
            text += f" {line}" if text else line
    return text
