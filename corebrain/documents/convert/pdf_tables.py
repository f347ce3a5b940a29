"""Tables of a PDF page, looked for only where rulings or aligned gaps suggest one."""

from corebrain.documents.convert.pdf_columns import aligned_tables
from corebrain.documents.convert.pdf_grid import GridTable, ruled_tables
from corebrain.documents.convert.pdf_lines import Line, PageReader
from corebrain.documents.convert.pdf_text import Table


def with_tables(reader: PageReader, lines: list[Line]) -> list[Line | Table] | None:
    """The page's lines with each table put where its first line stood, None when the page has no table."""
    if len(lines) < 3:
        return None
    found = ruled_tables(reader, lines)
    taken = {id(line) for table in found for line in table.lines}
    found += aligned_tables(reader, [line for line in lines if id(line) not in taken])
    if not found:
        return None
    owner: dict[int, GridTable] = {id(line): table for table in found for line in table.lines}
    placed: list[Line | Table] = []
    written: set[int] = set()
    for line in lines:
        table = owner.get(id(line))
        if table is None:
            placed.append(line)
        elif id(table) not in written:
            written.add(id(table))
            placed.append(Table(table.markdown))
    return placed
