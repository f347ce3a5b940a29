"""Links of a PDF page: the words under a link annotation become a markdown link (ISO 32000-1 12.5.6.5)."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2.raw as pdfium_c

from corebrain.documents.convert.pdf_chars import clean_text
from corebrain.documents.convert.pdf_grid import page_box
from corebrain.documents.convert.pdf_lines import Line, PageReader

MAX_LINKS = 2_000
"""Of one page; more are left as plain text."""
MAX_URL = 2_000

_OUTSIDE = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class Link:
    """Words of a line that lead somewhere."""

    line: Line
    words: str
    url: str


def page_links(document: object, reader: PageReader, lines: list[Line]) -> list[Link]:
    """The page's links out of the document, each with the line its words stand in.

    Args:
        document: The raw document handle.
        reader: The page.
        lines: Its lines.
    """
    found: list[Link] = []
    for url, box in _annotations(document, reader):
        left, top, right, bottom = box
        for line in lines:
            middle = line.top - 0.3 * line.size
            if not (top <= middle <= bottom and line.left < right and line.right > left):
                continue
            high, low = max(top, line.top - line.size), min(bottom + 1, line.top + 0.4 * line.size)
            words = clean_text(_text_in(reader, (left, high, right, low))).rstrip(".,;")
            if words and words in line.text and not _is_same(words, url):
                found.append(Link(line, words, url))
    return found


def write_links(links: list[Link]) -> None:
    """Put the links into the text of their lines; words that stand twice in a line take theirs in order."""
    done: dict[int, int] = {}
    for link in links:
        line = link.line
        start = line.text.find(link.words, done.get(id(line), 0))
        if start < 0:
            continue
        written = f"[{link.words}]({link.url})"
        line.text = line.text[:start] + written + line.text[start + len(link.words) :]
        done[id(line)] = start + len(written)


def _annotations(document: object, reader: PageReader) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Address and upright box of each link that leads out, from the top of the page down."""
    place, handle = ctypes.c_int(0), pdfium_c.FPDF_LINK()
    rectangle = pdfium_c.FS_RECTF()
    found: list[tuple[str, tuple[float, float, float, float]]] = []
    for _ in range(MAX_LINKS):
        if not pdfium_c.FPDFLink_Enumerate(reader.page, place, handle):
            break
        url = _address(document, handle)
        if url and pdfium_c.FPDFLink_GetAnnotRect(handle, rectangle):
            box = reader.upright(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            found.append((url, box))
    return iter(sorted(found, key=lambda each: (each[1][1], each[1][0])))


def _address(document: object, link: object) -> str:
    action = pdfium_c.FPDFLink_GetAction(link)
    if not action or pdfium_c.FPDFAction_GetType(action) != pdfium_c.PDFACTION_URI:
        return ""
    size = pdfium_c.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= MAX_URL:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium_c.FPDFAction_GetURIPath(document, action, buffer, size)
    url = buffer.value.decode("utf-8", "replace").strip()
    if not url.lower().startswith(_OUTSIDE) or any(sign.isspace() or ord(sign) < 32 for sign in url):
        return ""
    return url.replace("(", "%28").replace(")", "%29")


def _text_in(reader: PageReader, box: tuple[float, float, float, float]) -> str:
    count = pdfium_c.FPDFText_GetBoundedText(
        reader.text_page, *page_box(reader, *box), reader.buffer, len(reader.buffer)
    )
    raw = bytes(memoryview(reader.buffer)[: max(count, 0)]).decode("utf-16-le", "replace")
    return raw.replace("\x00", "").partition("\r\n")[0]


def _is_same(words: str, url: str) -> bool:
    """Whether the words are the address itself."""
    bare = url.removeprefix("mailto:").rstrip("/").lower()
    return words.rstrip("/").lower() in {bare, bare.partition("://")[2]}
