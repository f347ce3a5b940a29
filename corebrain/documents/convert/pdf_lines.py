"""Lines of a PDF page as pdfium reads them, with place, size and weight; everything upright and top first.

Two or three samples a line are all the geometry the text needs: asking pdfium for every character would cost five times
as much.
"""

import ctypes
import re
from dataclasses import dataclass
from functools import lru_cache

import pypdfium2.raw as pdfium_c

from corebrain.documents.convert.pdf_chars import clean_text

MAX_PAGE_CHARS = 400_000
"""Characters read of one page; a printed page holds about 5,000."""

HYPHEN = "\ufffe"
"""What pdfium writes for a hyphen at a line's end when it joins the two lines."""

_BOLD_WEIGHT = 600
_UNIT = 2.0  # points: programs that size text by its matrix leave the font's own size at 1
_FIXED_PITCH = 1  # font descriptor flag, ISO 32000-1 table 123
_LATEX_BOLD = re.compile(rb"(?:cm|sf|ec|lm)[a-z]{0,3}bx[a-z]*\d*$|^lm\w+-bold")
_SWAPPED = re.compile("[\u0627\u0623\u0625\u0622]\u0644")
_QUARTER = 0.35  # of a text matrix: below it an axis counts as turned by a quarter


@dataclass(slots=True)
class Line:
    """One line of text as pdfium breaks lines.

    Attributes:
        text: Its cleaned text, never blank; `HYPHEN` where two printed lines were joined.
        left: Left edge in points, from the left of the upright page.
        right: Right edge.
        top: Distance of its base line from the top of the upright page.
        last_top: The same for the last printed line in it.
        size: Font size in points, in steps of a half.
        bold: Whether its first and last characters are bold.
        mono: Whether they are of a fixed-pitch font.
        turned: Whether it runs up or down the page.
        first: Index of its first character in the page's text.
        count: Characters of the page's text it covers.
    """

    text: str
    left: float
    right: float
    top: float
    last_top: float
    size: float
    bold: bool
    mono: bool
    turned: bool
    first: int
    count: int


class PageReader:
    """Reads one page's text.

    Args:
        page: The raw page handle.
        text_page: The raw text page handle.
    """

    def __init__(self, page: object, text_page: object) -> None:
        self.page = page
        self.text_page = text_page
        self.rotation = pdfium_c.FPDFPage_GetRotation(page)
        # The size pdfium gives is of the page as shown; characters and paths are placed before rotation.
        shown = pdfium_c.FPDF_GetPageWidthF(page), pdfium_c.FPDF_GetPageHeightF(page)
        self.width, self.height = shown
        self._left, self._bottom, self._right, self._top = self._box()
        self._edges = tuple(ctypes.c_double() for _ in range(4))
        self._matrix = pdfium_c.FS_MATRIX()
        self._name = ctypes.create_string_buffer(96)
        self._flags = ctypes.c_int()
        self._aligned = False
        self._raw = -1.0
        self.buffer = (ctypes.c_ushort * 1)()
        self.words: dict[int, list[tuple[float, float, float, str, float]]] = {}

    def _box(self) -> tuple[float, float, float, float]:
        edges = [ctypes.c_float() for _ in range(4)]
        turned = self.rotation % 2 == 1
        width, height = (self.height, self.width) if turned else (self.width, self.height)
        get = pdfium_c.FPDFPage_GetCropBox
        if not get(self.page, *edges) and not pdfium_c.FPDFPage_GetMediaBox(self.page, *edges):
            return 0.0, 0.0, width, height
        left, bottom = edges[0].value, edges[1].value
        return left, bottom, left + width, bottom + height

    def text(self) -> str:
        """The page's text as pdfium orders it, line ends as CR LF."""
        count = min(pdfium_c.FPDFText_CountChars(self.text_page), MAX_PAGE_CHARS)
        if count <= 0:
            return ""
        self.buffer = buffer = (ctypes.c_ushort * (count + 1))()
        written = pdfium_c.FPDFText_GetText(self.text_page, 0, count, buffer)
        self._aligned = written == count + 1  # no character is without a place in the text
        return bytes(buffer)[: max(written - 1, 0) * 2].decode("utf-16-le", "replace")

    def upright(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """A box in the page's own space as (left, top, right, bottom) on the upright page, top down."""
        if self.rotation == 1:
            return bottom - self._bottom, left - self._left, top - self._bottom, right - self._left
        if self.rotation == 2:
            return self._right - right, bottom - self._bottom, self._right - left, top - self._bottom
        if self.rotation == 3:
            return self._top - top, self._right - right, self._top - bottom, self._right - left
        return left - self._left, self._top - top, right - self._left, self._top - bottom

    def placed(self, x: float, y: float) -> tuple[float, float]:
        """A point of the upright page in the page's own space: the inverse of `upright`."""
        if self.rotation == 1:
            return y + self._left, x + self._bottom
        if self.rotation == 2:
            return self._right - x, y + self._bottom
        if self.rotation == 3:
            return self._right - y, self._top - x
        return x + self._left, self._top - y

    def raw_text(self, line: Line) -> str:
        """A line's text as pdfium gives it, one character a UTF-16 unit, for finding its characters' places."""
        buffer = (ctypes.c_ushort * (line.count + 1))()
        written = pdfium_c.FPDFText_GetText(self.text_page, self.char_index(line.first), line.count, buffer)
        return "".join(map(chr, buffer[: max(written - 1, 0)]))

    def char_box(self, index: int) -> tuple[float, float, float, float] | None:
        """The box of a character by its index in pdfium's characters, upright; None when it has none."""
        left, right, bottom, top = self._edges
        if not pdfium_c.FPDFText_GetCharBox(self.text_page, index, left, right, bottom, top):
            return None
        return self.upright(left.value, bottom.value, right.value, top.value)

    def origin(self, index: int) -> tuple[float, float]:
        """Where a character stands on its base line, on the upright page."""
        x, y = self._edges[:2]
        if not pdfium_c.FPDFText_GetCharOrigin(self.text_page, index, x, y):
            return 0.0, 0.0
        box = self.upright(x.value, y.value, x.value, y.value)
        return box[0], box[1]

    def char_index(self, text_index: int) -> int:
        """Index among pdfium's characters of a place in `text()`."""
        if self._aligned:
            return text_index
        found = pdfium_c.FPDFText_GetCharIndexFromTextIndex(self.text_page, text_index)
        return int(found) if found >= 0 else text_index

    def lines(self) -> list[Line]:
        """The page's lines in pdfium's order."""
        found: list[Line] = []
        start = 0
        for raw in self.text().split("\r\n"):
            line = self._line(raw, start)
            if line is not None:
                found.append(line)
            start += _units(raw) + 2
        return found

    def _line(self, raw: str, start: int) -> Line | None:
        if not raw.isascii() and _SWAPPED.search(raw):
            raw = self._in_order(raw, start)
        text = clean_text(raw)
        if not text:
            return None
        lead = len(raw) - len(raw.lstrip())
        first = self.char_index(start + lead)
        last = self.char_index(start + _units(raw.rstrip()) - 1)
        left, top = self.origin(first)
        end = self.char_box(last) or (left, top, left, top)
        size, turned = self._size(first)
        end_size = size if pdfium_c.FPDFText_GetFontSize(self.text_page, last) == self._raw else self._size(last)[0]
        bold, mono, symbol = self._font(first)
        if (symbol and text[1:2] == " ") or (lead and self._is_nameless(self.char_index(start))):
            text = f"\u2022 {text[1:] if symbol else text}"
        if end_size != size:  # a raised number, a label, a small capital: two of three decide
            size = sorted((size, end_size, self._middle_size(raw, start)))[1]
        if bold or mono:
            end_bold, end_mono, _ = self._font(last)
            bold, mono = bold and end_bold, mono and end_mono
        last_top = self.origin(last)[1] if HYPHEN in raw else top
        return Line(
            text=text,
            left=min(left, end[0]),
            right=max(left, end[2]),
            top=top,
            last_top=last_top,
            size=size,
            bold=bold,
            mono=mono,
            turned=turned,
            first=start,
            count=_units(raw),
        )

    def _in_order(self, raw: str, start: int) -> str:
        """Lam-alef ligatures in their order: pdfium takes the two letters of the one sign from left to right."""
        for match in list(_SWAPPED.finditer(raw)):
            at = self.char_index(start + _units(raw[: match.start()]))
            if self.char_box(at) == self.char_box(at + 1):
                raw = f"{raw[: match.start()]}{match[0][::-1]}{raw[match.end() :]}"
        return raw

    def _size(self, index: int) -> tuple[float, bool]:
        """Font size as shown, and whether the text is turned by a quarter on the upright page."""
        self._raw = size = pdfium_c.FPDFText_GetFontSize(self.text_page, index)
        if size <= _UNIT:
            self._raw = -1.0  # the matrix tells the size, which may differ within the line
        matrix, turned = self._matrix, False
        if pdfium_c.FPDFText_GetMatrix(self.text_page, index, matrix):
            scale = (matrix.b * matrix.b + matrix.d * matrix.d) ** 0.5 or (matrix.a**2 + matrix.c**2) ** 0.5
            size *= scale or 1.0
            along = abs(matrix.a) < _QUARTER * abs(matrix.b)
            turned = along != (self.rotation % 2 == 1)
        return round(size * 2) / 2, turned

    def _middle_size(self, raw: str, start: int) -> float:
        middle = len(raw) // 2
        place = next((at for at in range(middle, len(raw)) if not raw[at].isspace()), middle)
        return self._size(self.char_index(start + _units(raw[:place])))[0]

    def _is_nameless(self, index: int) -> bool:
        """Whether a blank is a sign drawn by a nameless (Type 3) font: how some programs make bullets."""
        length = pdfium_c.FPDFText_GetFontInfo(self.text_page, index, self._name, 96, self._flags)
        drawn = pdfium_c.FPDFText_GetFontWeight(self.text_page, index) < 0
        return length <= 1 and drawn and not pdfium_c.FPDFText_IsGenerated(self.text_page, index)

    def _font(self, index: int) -> tuple[bool, bool, bool]:
        """Whether a character is bold, of fixed pitch, and a sign of a symbol font."""
        length = pdfium_c.FPDFText_GetFontInfo(self.text_page, index, self._name, 96, self._flags)
        name = self._name.raw[: max(min(length, 96) - 1, 0)] if length else b""
        bold, mono, symbol = _named_style(name)
        if not bold:
            bold = pdfium_c.FPDFText_GetFontWeight(self.text_page, index) >= _BOLD_WEIGHT
        return bold, mono or bool(self._flags.value & _FIXED_PITCH), symbol


@lru_cache(maxsize=4096)
def _named_style(name: bytes) -> tuple[bool, bool, bool]:
    """Bold, fixed pitch and symbol font as a font's name tells (pdfium's weight is often unset)."""
    lower = name.rpartition(b"+")[2].lower()
    bold = any(word in lower for word in (b"bold", b"black", b"heavy", b"demi", b"-bd"))
    bold = bold or _LATEX_BOLD.search(lower) is not None
    medium = lower.endswith((b"-b", b"medi", b"-medium"))
    mono = any(word in lower for word in (b"courier", b"mono", b"consol", b"cmtt", b"sftt", b"typewriter", b"menlo"))
    symbol = any(word in lower for word in (b"dingbat", b"wingding", b"webding", b"symbol"))
    return bold or medium, mono, symbol


def _units(text: str) -> int:
    """Length in UTF-16 units, which pdfium counts in."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
