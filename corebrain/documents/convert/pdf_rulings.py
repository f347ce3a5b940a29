"""The straight lines drawn on a PDF page: rules, edges of boxes and of filled cells."""

import ctypes
from dataclasses import dataclass

import pypdfium2.raw as pdfium_c

from corebrain.documents.convert.pdf_lines import PageReader

MAX_OBJECTS = 20_000
"""Objects of a page that are looked at; maps and drawings have more."""
MAX_RULINGS = 3_000
"""A page with more straight lines is a drawing."""
MAX_SEGMENTS = 400
"""Segments of one path that are followed."""

_THIN = 2.6  # points: a filled box thinner than this is a rule
_SHORT = 8.0  # points: a shorter line is a tick or part of a sign


_ITEM_AT, _KIND_OF = pdfium_c.FPDFPage_GetObject, pdfium_c.FPDFPageObj_GetType
_EDGES = tuple(ctypes.c_float() for _ in range(4))  # one thread at a time: pdfium allows no more


@dataclass(slots=True)
class Ruling:
    """A horizontal or vertical line on the upright page, in points from its top left.

    Attributes:
        at: Distance from the top (horizontal) or from the left (vertical).
        start: Where it begins along its direction.
        end: Where it ends.
    """

    at: float
    start: float
    end: float


def rulings(reader: PageReader) -> tuple[list[Ruling], list[Ruling]]:
    """The page's horizontal and vertical lines; none for a page that is a drawing."""
    horizontal: list[Ruling] = []
    vertical: list[Ruling] = []
    page, kind_of, item_at, path = reader.page, _KIND_OF, _ITEM_AT, pdfium_c.FPDF_PAGEOBJ_PATH
    count = pdfium_c.FPDFPage_CountObjects(page)
    if count > MAX_OBJECTS:
        return [], []
    for index in range(count):
        item = item_at(page, index)
        if kind_of(item) != path:
            continue
        for box in _boxes(reader, item):
            _sort_in(box, horizontal, vertical)
        if len(horizontal) + len(vertical) > MAX_RULINGS:
            return [], []
    return horizontal, vertical


def _sort_in(box: tuple[float, float, float, float], horizontal: list[Ruling], vertical: list[Ruling]) -> None:
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    if height <= _THIN and width >= _SHORT:
        horizontal.append(Ruling((top + bottom) / 2, left, right))
    elif width <= _THIN and height >= _SHORT:
        vertical.append(Ruling((left + right) / 2, top, bottom))
    elif width >= _SHORT and height >= _SHORT:
        horizontal.extend((Ruling(top, left, right), Ruling(bottom, left, right)))
        vertical.extend((Ruling(left, top, bottom), Ruling(right, top, bottom)))


def _boxes(reader: PageReader, item: object) -> list[tuple[float, float, float, float]]:
    """The upright boxes of a path: its own when it is one line or one rectangle, else those of its segments."""
    if not pdfium_c.FPDFPageObj_GetBounds(item, *_EDGES):
        return []
    left, bottom, right, top = (edge.value for edge in _EDGES)
    width, height = right - left, top - bottom
    if width < _SHORT and height < _SHORT:
        return []
    box = reader.upright(left, bottom, right, top)
    if width <= _THIN or height <= _THIN:  # a rule, whatever it is drawn with
        return [box]
    segments = pdfium_c.FPDFPath_CountSegments(item)
    if segments > MAX_SEGMENTS:
        return []
    if segments <= 5:
        full = (box[2] - box[0]) > 0.97 * reader.width and (box[3] - box[1]) > 0.9 * reader.height
        return [] if full else [box]
    return _segment_boxes(reader, item, segments)


def _segment_boxes(reader: PageReader, item: object, count: int) -> list[tuple[float, float, float, float]]:
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(item, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    boxes: list[tuple[float, float, float, float]] = []
    last = start = (0.0, 0.0)
    for index in range(count):
        segment = pdfium_c.FPDFPath_GetPathSegment(item, index)
        kind = pdfium_c.FPDFPathSegment_GetType(segment)
        pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium_c.FPDF_SEGMENT_LINETO:
            boxes.append(_upright_segment(reader, last, point))
        last = point
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            boxes.append(_upright_segment(reader, last, start))
            last = start
    # A slanted segment's box is no line of a table.
    return [box for box in boxes if box[2] - box[0] <= _THIN or box[3] - box[1] <= _THIN]


def _upright_segment(
    reader: PageReader, one: tuple[float, float], other: tuple[float, float]
) -> tuple[float, float, float, float]:
    return reader.upright(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))
