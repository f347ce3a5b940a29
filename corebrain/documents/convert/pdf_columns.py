"""Tables without rulings on a PDF page: rows whose words leave the same gaps one below the other."""

import re
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from corebrain.documents.convert.pdf_chars import clean_text, join_hyphens
from corebrain.documents.convert.pdf_lines import HYPHEN, Line, PageReader
from corebrain.documents.tables import markdown_table

MIN_ROWS = 3
SURE_COLUMNS = 4
"""From this many columns two rows without a blank cell are a table."""
MAX_COLUMNS = 30
MAX_LINES = 400
"""Lines of one candidate whose characters are read."""
WIDE_GAP = 1.0
"""A gap between words, in font sizes, that may part cells; a justified line's spaces stay under 0.8."""
MIN_FILLED = 0.5
"""Of the places of a table without ruled columns that hold text; formulas set in lines leave most of them blank."""
PROSE_CHARS = 42
"""Mean length of a cell over which aligned text is two columns of prose, not a table."""

_WORD = re.compile(f"[^ {HYPHEN}]+{HYPHEN}?")


@dataclass(slots=True)
class GridTable:
    """A table found on a page: the lines it takes out of the text, and its markdown."""

    lines: list[Line]
    markdown: str
    columns: int


@dataclass(slots=True)
class _Cell:
    text: str
    left: float
    right: float


@dataclass(slots=True)
class _Row:
    cells: list[_Cell]
    top: float
    size: float


def aligned_tables(reader: PageReader, lines: list[Line]) -> list[GridTable]:
    """Tables told by alignment alone, from runs of lines that look wider than their words."""
    found: list[GridTable] = []
    for start, end in _runs(lines):
        run = lines[start:end]
        if any(line.mono for line in run):
            continue  # program text lines up too
        table = columns_table(reader, run, ruled=False)
        if table is not None:
            headed = columns_table(reader, _head(lines, start) + run, ruled=False)
            found.append(headed if headed is not None and headed.columns == table.columns else table)
    return found


def _head(lines: list[Line], start: int) -> list[Line]:
    """Short lines just above a run, and beside the run's left end: the column heads."""
    top, left = lines[start].top, lines[start].left
    head: list[Line] = []
    for line in reversed(lines[max(0, start - 8) : start]):
        near = 0 < top - line.top < 4 * max(line.size, 1.0) and not line.turned
        if not near or line.left < left + 4 * line.size or line.right - line.left > 14 * line.size:
            break
        head.insert(0, line)
    return head


def between_table(reader: PageReader, lines: list[Line], edges: list[float]) -> GridTable | None:
    """The table of lines whose columns stand between ruled edges and whose rows are the printed ones."""
    if any(line.turned for line in lines) or len(lines) > MAX_LINES:
        return None
    rows = _rows(reader, lines, edges)
    columns = list(pairwise(edges))
    grid, _ = _grid(rows, columns)
    cells = [cell for row in grid for cell in row if cell]
    several = sum(sum(map(bool, row)) >= 2 for row in grid)
    if several < max(2, 0.5 * len(grid)) or sum(map(len, cells)) > PROSE_CHARS * len(cells):
        return None
    return GridTable(lines, markdown_table(_without_wraps(grid, rows)), len(columns))


def _runs(lines: list[Line]) -> list[tuple[int, int]]:
    """Start and end of runs of lines that suggest cells: gappy, or several on a row; one plain line may be between."""
    marks = [_is_gappy(line) for line in lines]
    for index in range(1, len(lines)):
        before, line = lines[index - 1], lines[index]
        apart = line.left > before.right + WIDE_GAP * line.size
        if abs(before.last_top - line.top) < 0.3 * max(line.size, 1.0) and apart and not line.turned:
            marks[index - 1] = marks[index] = True
    runs: list[tuple[int, int]] = []
    start, misses = -1, 0
    for index, (line, mark) in enumerate(zip(lines, marks, strict=True)):
        if start >= 0 and _joins(lines[start], lines[index - 1], line) and (mark or (misses < 2 and not line.bold)):
            misses = 0 if mark else misses + 1
            continue
        if start >= 0:
            runs.append((start, index - misses))
        start, misses = (index, 0) if mark else (-1, 0)
    if start >= 0:
        runs.append((start, len(lines) - misses))
    return [(start, end) for start, end in runs if 2 <= end - start <= MAX_LINES]


def _joins(first: Line, before: Line, line: Line) -> bool:
    """Whether a line may be of the same table as those before it: near, and not set larger."""
    size = max(line.size, 1.0)
    return -2 * size < line.top - before.last_top < 3 * size and line.size <= 1.1 * first.size


def _is_gappy(line: Line) -> bool:
    """Whether a line is much wider than its characters: somewhere in it is a gap."""
    if line.turned or " " not in line.text:
        return False
    if line.text.isascii():
        wide = 0.53 * len(line.text)
    else:
        wide = sum(1.0 if ord(character) > 0x2E7F else 0.53 for character in line.text)
    width = line.right - line.left
    return width > 1.25 * wide * line.size and width - wide * line.size > 1.5 * line.size


def columns_table(reader: PageReader, lines: list[Line], *, ruled: bool) -> GridTable | None:
    """The table a set of lines makes, None when their gaps do not line up.

    Args:
        reader: The page.
        lines: Candidate lines in reading order.
        ruled: Whether rulings stand around them; then two rows are enough.
    """
    if not 2 <= len(lines) <= MAX_LINES or any(line.turned for line in lines):
        return None
    rows = _rows(reader, lines)
    columns = _columns(rows, ruled=ruled)
    if not 2 <= len(columns) <= MAX_COLUMNS:
        return None
    grid, used = _grid(rows, columns)
    full = [row for row in grid if sum(map(bool, row)) >= max(2, (len(columns) + 1) // 2)]
    whole = len(columns) >= SURE_COLUMNS and len(grid) == 2 and all(cell for row in grid for cell in row)
    if len(full) < (2 if ruled or whole else MIN_ROWS) or used < 0.6 * len(rows):
        return None
    cells = [cell for row in grid for cell in row if cell]
    if len(cells) < MIN_FILLED * len(grid) * len(columns):
        return None
    mean = sum(map(len, cells)) / len(cells)
    if mean > (2 * PROSE_CHARS if ruled else PROSE_CHARS) or _is_contents(grid):
        return None
    if not ruled and len(columns) == 2 and not _is_pairs(grid):
        return None
    markdown = markdown_table(_without_wraps(grid, rows))
    return GridTable(lines, markdown, len(columns)) if markdown else None


def _rows(reader: PageReader, lines: list[Line], edges: list[float] | None = None) -> list[_Row]:
    """Printed rows from top to bottom, each split at its wide gaps, or at the edges given."""
    words: list[tuple[float, float, float, str, float]] = []
    for line in lines:
        words.extend(_words(reader, line))
    words.sort(key=lambda word: (word[0], word[1]))
    rows: list[_Row] = []
    bucket: list[tuple[float, float, float, str, float]] = []
    for word in words:
        if bucket and word[0] - bucket[0][0] > 0.45 * max(word[4], 1.0):
            rows.append(_row(bucket, edges))
            bucket = []
        bucket.append(word)
    if bucket:
        rows.append(_row(bucket, edges))
    return rows


def _row(words: list[tuple[float, float, float, str, float]], edges: list[float] | None) -> _Row:
    words = sorted(words, key=lambda word: word[1])
    size = median(word[4] for word in words)
    cells: list[_Cell] = []
    for _, left, right, text, _size in words:
        crossed = edges is not None and any(cells and cells[-1].right - 1 <= edge <= left + 1 for edge in edges)
        if cells and not crossed and (edges is not None or left - cells[-1].right < WIDE_GAP * max(size, 1.0)):
            cells[-1].text += f" {text}"
            cells[-1].right = max(cells[-1].right, right)
        else:
            cells.append(_Cell(text, left, right))
    return _Row(cells, words[0][0], size)


def _words(reader: PageReader, line: Line) -> list[tuple[float, float, float, str, float]]:
    """The words of a line as (top, left, right, text, size)."""
    known = reader.words.get(line.first)
    if known is not None:
        return known
    found: list[tuple[float, float, float, str, float]] = []
    for match in _WORD.finditer(reader.raw_text(line)):
        text = clean_text(match[0])
        first = reader.char_index(line.first + match.start())
        last = reader.char_index(line.first + match.end() - 1 - match[0].endswith(HYPHEN))
        begin, end = reader.char_box(first), reader.char_box(last)
        if text and begin and end:
            left, right = min(begin[0], end[0]), max(begin[2], end[2])
            found.append((reader.origin(first)[1], left, right, text, line.size))
    reader.words[line.first] = found
    return found


def _columns(rows: list[_Row], *, ruled: bool) -> list[tuple[float, float]]:
    """The columns' left and right edges: what the rows with several cells leave blank, row after row."""
    several = [row for row in rows if len(row.cells) >= 2]
    if len(several) < 2 or (len(several) < MIN_ROWS and not ruled and len(several[0].cells) < SURE_COLUMNS):
        return []
    counts: dict[int, int] = {}
    for row in several:
        counts[len(row.cells)] = counts.get(len(row.cells), 0) + 1
    most = max(counts, key=lambda count: (counts[count], count))
    model = [row for row in several if len(row.cells) >= most]
    spans = sorted((cell.left, cell.right) for row in model for cell in row.cells)
    columns: list[list[float]] = []
    for left, right in spans:
        if columns and left < columns[-1][1] + 1.0:
            columns[-1][1] = max(columns[-1][1], right)
        else:
            columns.append([left, right])
    return [(left, right) for left, right in columns]


def _grid(rows: list[_Row], columns: list[tuple[float, float]]) -> tuple[list[list[str]], int]:
    """The rows' cells by column, and how many rows have more than one. A wide cell stands in each column it covers."""
    grid: list[list[str]] = []
    used = 0
    for index, row in enumerate(rows):
        line = [""] * len(columns)
        for cell in row.cells:
            covered = [at for at, (left, right) in enumerate(columns) if cell.left < right and cell.right > left]
            if not covered:
                middle = (cell.left + cell.right) / 2
                covered = [min(range(len(columns)), key=lambda at: abs(sum(columns[at]) / 2 - middle))]
            # A head may stand over several columns; further down a wide cell is one whose gap was narrow.
            places = covered if index < 2 and len(cell.text) <= PROSE_CHARS else covered[:1]
            for at in places:
                line[at] = f"{line[at]} {cell.text}".strip()
        used += len(row.cells) > 1 or bool(row.cells and len(row.cells[0].text) < PROSE_CHARS)
        grid.append([join_hyphens(cell.replace(f"{HYPHEN} ", HYPHEN), frozenset()) for cell in line])
    return grid, used


def _without_wraps(grid: list[list[str]], rows: list[_Row]) -> list[list[str]]:
    """Rows that only go on with the row above (first column blank, close below) are joined to it."""
    out: list[list[str]] = []
    for index, line in enumerate(grid):
        close = index > 0 and rows[index].top - rows[index - 1].top < 1.35 * max(rows[index].size, 1.0)
        wraps = out and close and not line[0] and sum(map(bool, line)) <= max(1, len(line) // 2)
        heads = len(out) == 1 and not out[0][0]
        if wraps and (index > 1 or heads) and all(out[-1][at] for at, cell in enumerate(line) if cell):
            out[-1] = [f"{above} {cell}".strip() for above, cell in zip(out[-1], line, strict=True)]
        else:
            out.append(line)
    return out


def _is_contents(grid: list[list[str]]) -> bool:
    """A table of contents: dotted leaders before page numbers."""
    dotted = sum(any(". . ." in cell or "...." in cell for cell in row) for row in grid)
    return dotted > 0.4 * len(grid)


def _is_pairs(grid: list[list[str]]) -> bool:
    """Two columns are a table when one of them is short throughout: names and values."""
    short = [max(len(row[at]) for row in grid) for at in range(2)]
    both = sum(bool(row[0] and row[1]) for row in grid)
    return min(short) <= 28 and both >= 0.6 * len(grid)
