"""Tables of a PDF page, looked for only where rulings or aligned gaps suggest one."""

from math import inf

from corebrain.documents.convert.pdf_columns import GridTable, aligned_tables
from corebrain.documents.convert.pdf_grid import ruled_tables
from corebrain.documents.convert.pdf_lines import Line, PageReader
from corebrain.documents.convert.pdf_text import Table


def with_tables(reader: PageReader, lines: list[Line]) -> list[Line | Table] | None:
    """The page's lines with each table put behind the line above it, None when the page has no table."""
    if len(lines) < 3:
        return None
    found = ruled_tables(reader, lines)
    taken = {id(line) for table in found for line in table.lines}
    found += aligned_tables(reader, [line for line in lines if id(line) not in taken])
    if not found:
        return None
    inside = {id(line) for table in found for line in table.lines}
    placed: list[Line | Table] = [line for line in lines if id(line) not in inside]
    for table in sorted(found, key=lambda table: -min(line.top for line in table.lines)):
        placed.insert(_place(placed, table), Table(table.markdown))
    return placed


def _place(placed: list[Line | Table], table: GridTable) -> int:
    """Where a table goes: behind the nearest line above it in its column; programs often draw tables last."""
    top = min(line.top for line in table.lines)
    left, right = min(line.left for line in table.lines), max(line.right for line in table.lines)
    best, place = -inf, 0
    for index, line in enumerate(placed, 1):
        if isinstance(line, Line) and best < line.last_top < top and line.left < right and line.right > left:
            best, place = line.last_top, index
    return place
