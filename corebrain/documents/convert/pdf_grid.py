"""Ruled tables of a PDF page: cells between crossing rulings, rows between parallel ones."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2.raw as pdfium_c

from corebrain.documents.convert.pdf_chars import clean_text, join_hyphens
from corebrain.documents.convert.pdf_columns import GridTable, between_table, columns_table
from corebrain.documents.convert.pdf_lines import Line, PageReader
from corebrain.documents.convert.pdf_rulings import Ruling, rulings
from corebrain.documents.tables import REPEATED_CELL_CHARS, markdown_table

MAX_PLACES = 20_000
"""Cells of one grid."""
MIN_OWN_SHARE = 0.6
"""Cells to places of a grid: boxes drawn at odd places (a diagram) leave most places to merged cells."""
MIN_DRAWN_SHARE = 0.45
"""Of the inner lines of a grid, in each direction; merged cells leave gaps, drawings are mostly gaps."""
MIN_FILLED = 0.2
"""Of a grid's places that hold text; squared paper and diagrams hold little."""
FRAME_HEIGHT = 60.0
"""Points; an undivided band at a grid's end that is higher frames text, and is no row."""

_NEAR = 3.0  # points: lines closer than this are one


@dataclass(slots=True)
class _Group:
    """Rulings that touch."""

    horizontal: list[Ruling]
    vertical: list[Ruling]

    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        xs = [x for line in self.horizontal for x in (line.start, line.end)] + [line.at for line in self.vertical]
        ys = [y for line in self.vertical for y in (line.start, line.end)] + [line.at for line in self.horizontal]
        return min(xs), min(ys), max(xs), max(ys)


def ruled_tables(reader: PageReader, lines: list[Line]) -> list[GridTable]:
    """Tables told by the page's rulings, in reading order."""
    horizontal, vertical = rulings(reader)
    if len(horizontal) < 2:
        return []
    parts = _groups(horizontal, vertical) if vertical else [_Group([line], []) for line in horizontal]
    found: list[GridTable] = []
    free: list[Ruling] = []
    for group in parts:
        table = _grid_table(reader, lines, group)
        if table is not None:
            found.append(table)
        elif len(_places([line.at for line in group.vertical])) <= 2:
            free.extend(group.horizontal)
    taken = {id(line) for table in found for line in table.lines}
    for left, top, right, bottom in _stacks(free):
        inside = [line for line in lines if id(line) not in taken and _within(line, left, top, right, bottom)]
        table = columns_table(reader, inside, ruled=True)
        if table is not None:
            found.append(table)
            taken.update(id(line) for line in table.lines)
    return found


def _groups(horizontal: list[Ruling], vertical: list[Ruling]) -> list[_Group]:
    """Rulings joined where a horizontal and a vertical one meet."""
    parent = list(range(len(horizontal) + len(vertical)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    order = sorted(range(len(horizontal)), key=lambda index: horizontal[index].at)
    tops = [horizontal[index].at for index in order]
    for number, line in enumerate(vertical, len(horizontal)):
        for place in range(_first_at(tops, line.start - _NEAR), len(order)):
            across = horizontal[order[place]]
            if across.at > line.end + _NEAR:
                break
            if across.start - _NEAR <= line.at <= across.end + _NEAR:
                parent[root(number)] = root(order[place])
    _join_stacked(vertical, len(horizontal), parent, root)
    groups: dict[int, _Group] = {}
    for number in range(len(parent)):
        group = groups.setdefault(root(number), _Group([], []))
        if number < len(horizontal):
            group.horizontal.append(horizontal[number])
        else:
            group.vertical.append(vertical[number - len(horizontal)])
    return sorted((group for group in groups.values() if group.horizontal), key=lambda group: group.box()[1])


def _join_stacked(vertical: list[Ruling], offset: int, parent: list[int], root: Callable[[int], int]) -> None:
    """Join vertical rulings that go on where another ends: a column's edge drawn row by row."""
    order = sorted(range(len(vertical)), key=lambda index: (round(vertical[index].at), vertical[index].start))
    for one, other in pairwise(order):
        same = abs(vertical[one].at - vertical[other].at) <= 1.5
        if same and vertical[other].start - vertical[one].end <= _NEAR:
            parent[root(offset + one)] = root(offset + other)


def _first_at(values: list[float], limit: float) -> int:
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


def _places(values: list[float]) -> list[float]:
    """Distinct places, in order."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _NEAR:
            found.append(value)
    return found


def _within(line: Line, left: float, top: float, right: float, bottom: float) -> bool:
    middle = line.top - 0.3 * line.size
    return top - 1 <= middle <= bottom + 1 and line.left >= left - _NEAR - 2 and line.left <= right + 1


def _grid_table(reader: PageReader, lines: list[Line], group: _Group) -> GridTable | None:
    """The table of a group with at least two rows and two columns of cells."""
    xs, ys = _places([line.at for line in group.vertical]), _places([line.at for line in group.horizontal])
    if len(xs) < 2 or len(ys) < 2:
        return None
    if len(xs) == 2 or len(ys) == 2 or (len(xs) - 1) * (len(ys) - 1) > MAX_PLACES:
        return None
    left, top, right, bottom = group.box()
    xs, ys = _with_edges(xs, left, right), _with_edges(ys, top, bottom)
    ys = _without_frames(group, xs, ys)
    group = _cut(group, ys[0], ys[-1])
    if len(ys) < 3 or not group.vertical:
        return None
    left, _, right, _ = group.box()
    xs = _with_edges(_places([line.at for line in group.vertical]), left, right)
    inside = [line for line in lines if _within(line, left, ys[0], right, ys[-1])]
    if len(inside) < 2 or (right - left) > 1.05 * reader.width:
        return None
    printed = len(_places([line.top for line in inside]))
    if printed >= 2 * (len(ys) - 1) and len(ys) <= 4 and len(xs) > 3:  # columns are ruled, rows are not
        return between_table(reader, inside, xs)
    grid = _filled(reader, group, xs, ys)
    if grid is None:
        return None
    rows = [row for row in grid if any(row)]
    filled = sum(bool(cell) for row in rows for cell in row)
    if _drawn_share(group, xs, ys) < MIN_DRAWN_SHARE or filled < MIN_FILLED * len(grid) * len(grid[0]):
        return None
    distinct = {cell for row in rows for cell in row if cell}
    divided = sum(len({cell for cell in row if cell}) >= 2 for row in rows)
    if len(rows) < 2 or len(distinct) < 4 or divided < 2:
        return None
    if max(len(cell) for row in rows for cell in row) > 1500:  # a frame around a page's text
        return None
    return GridTable(inside, markdown_table(rows), len(xs) - 1)


def _with_edges(places: list[float], low: float, high: float) -> list[float]:
    """`places` with the outer edges, where the outermost rulings are not drawn."""
    out = list(places)
    if out[0] - low > 4 * _NEAR:
        out.insert(0, low)
    if high - out[-1] > 4 * _NEAR:
        out.append(high)
    return out


def _without_frames(group: _Group, xs: list[float], ys: list[float]) -> list[float]:
    """`ys` without what reaches over a high undivided band at either end: text framed together with the table."""
    bands = list(pairwise(ys))
    inner = [line for x in xs[1:-1] for line in _at(group.vertical, x)]
    undivided = [not _covers(inner, (upper + lower) / 2) for upper, lower in bands]
    high = [lower - upper > FRAME_HEIGHT for upper, lower in bands]
    start, end = _run_over(undivided, high), len(ys) - _run_over(undivided[::-1], high[::-1])
    return ys[start:end]


def _run_over(undivided: list[bool], high: list[bool]) -> int:
    """Length of the first run of undivided bands up to its last high one, 0 when none of them is high."""
    length = 0
    for index, (plain, tall) in enumerate(zip(undivided, high, strict=True), 1):
        if not plain:
            break
        length = index if tall else length
    return length


def _cut(group: _Group, top: float, bottom: float) -> _Group:
    """The rulings of a group between two heights."""
    return _Group(
        [line for line in group.horizontal if top - _NEAR <= line.at <= bottom + _NEAR],
        [line for line in group.vertical if min(line.end, bottom) - max(line.start, top) > _NEAR],
    )


def _drawn_share(group: _Group, xs: list[float], ys: list[float]) -> float:
    """How much of the grid's inner lines is drawn, the sparser direction's share: a drawing leaves most of them out."""
    shares: list[float] = []
    for lines, places, (low, high) in (
        (group.vertical, xs[1:-1], (ys[0], ys[-1])),
        (group.horizontal, ys[1:-1], (xs[0], xs[-1])),
    ):
        lengths = [
            sum(max(0.0, min(line.end, high) - max(line.start, low)) for line in _once(_at(lines, place)))
            for place in places
        ]
        shares.append(sum(min(length / (high - low), 1.0) for length in lengths) / len(places) if places else 1.0)
    return min(shares)


def _once(lines: list[Ruling]) -> list[Ruling]:
    """Lines of one place without those that lie on another (the edges of neighbouring boxes)."""
    kept: list[Ruling] = []
    for line in sorted(lines, key=lambda line: (line.start, -line.end)):
        if not kept or line.end > kept[-1].end + 1:
            kept.append(Ruling(line.at, max(line.start, kept[-1].end) if kept else line.start, line.end))
    return kept


def _filled(reader: PageReader, group: _Group, xs: list[float], ys: list[float]) -> list[list[str]] | None:
    """Each place's text; a cell that covers several places is written into all of them. None for a drawing."""
    rows, columns = len(ys) - 1, len(xs) - 1
    uprights = [_at(group.vertical, x) for x in xs]
    levels = [_at(group.horizontal, y) for y in ys]
    owner = [[(row, column) for column in range(columns)] for row in range(rows)]
    for row in range(rows):
        middle = (ys[row] + ys[row + 1]) / 2
        for column in range(1, columns):
            if not _covers(uprights[column], middle):
                owner[row][column] = owner[row][column - 1]
    for column in range(columns):
        middle = (xs[column] + xs[column + 1]) / 2
        for row in range(1, rows):
            same_shape = owner[row][column] == (row, column) or owner[row][column][0] == row
            if same_shape and not _covers(levels[row], middle):
                owner[row][column] = owner[row - 1][column]
    boxes: dict[tuple[int, int], list[float]] = {}
    for row in range(rows):
        for column in range(columns):
            cell = (xs[column], ys[row], xs[column + 1], ys[row + 1])
            box = boxes.setdefault(owner[row][column], list(cell))
            box[0], box[1] = min(box[0], cell[0]), min(box[1], cell[1])
            box[2], box[3] = max(box[2], cell[2]), max(box[3], cell[3])
    if len(boxes) < MIN_OWN_SHARE * rows * columns:
        return None
    texts = {key: bounded_text(reader, *box) for key, box in boxes.items()}
    return [[_repeated(texts, owner[row][column], (row, column)) for column in range(columns)] for row in range(rows)]


def _repeated(texts: dict[tuple[int, int], str], owner: tuple[int, int], place: tuple[int, int]) -> str:
    """The text of a place: a long one stands only where its cell begins."""
    text = texts[owner]
    return text if owner == place or len(text) <= REPEATED_CELL_CHARS else ""


def _at(lines: list[Ruling], place: float) -> list[Ruling]:
    return [line for line in lines if abs(line.at - place) <= _NEAR]


def _covers(lines: list[Ruling], along: float) -> bool:
    return any(line.start - 1 <= along <= line.end + 1 for line in lines)


def bounded_text(reader: PageReader, left: float, top: float, right: float, bottom: float) -> str:
    """The text whose characters stand in a box of the upright page, on one line."""
    box = page_box(reader, left, top, right, bottom)
    count = pdfium_c.FPDFText_GetBoundedText(reader.text_page, *box, reader.buffer, len(reader.buffer))
    if count <= 0:
        return ""
    raw = bytes(memoryview(reader.buffer)[:count]).decode("utf-16-le", "replace").replace("\x00", "")
    joined = " ".join(text for part in raw.split("\r\n") if (text := clean_text(part)))
    return join_hyphens(joined, frozenset())


def page_box(
    reader: PageReader, left: float, top: float, right: float, bottom: float
) -> tuple[float, float, float, float]:
    """An upright box in the page's own space, as (left, top, right, bottom) with top above bottom."""
    corners = [reader.placed(left, top), reader.placed(right, bottom)]
    xs, ys = sorted(corner[0] for corner in corners), sorted(corner[1] for corner in corners)
    return xs[0], ys[1], xs[1], ys[0]


def _stacks(horizontal: list[Ruling]) -> list[tuple[float, float, float, float]]:
    """Boxes between parallel rules of one width: a table with rules over, under and below its head (booktabs)."""
    stacks: list[list[Ruling]] = []
    for line in sorted(horizontal, key=lambda line: line.at):
        if line.end - line.start < 60:
            continue
        for stack in stacks:
            last = stack[-1]
            if abs(last.start - line.start) < 6 and abs(last.end - line.end) < 6 and line.at - last.at < 400:
                stack.append(line)
                break
        else:
            stacks.append([line])
    boxes = []
    for stack in stacks:
        places = _places([line.at for line in stack])
        if len(places) >= 2:
            boxes.append((stack[0].start, places[0], stack[0].end, places[-1]))
    return boxes
