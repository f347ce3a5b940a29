"""The blocks of a DOCX: headings, paragraphs, lists, code and tables in document order."""

from dataclasses import dataclass

from corebrain.documents.convert.docx_numbering import Numbering
from corebrain.documents.convert.docx_runs import RunReader
from corebrain.documents.convert.docx_styles import VAL, Styles, W, numbering_of, whole
from corebrain.documents.convert.ooxml import Element, OoxmlPackage, Relation
from corebrain.documents.escape import escape_start
from corebrain.documents.tables import REPEATED_CELL_CHARS, markdown_table

MAX_DEPTH = 40
"""Nesting of tables, text boxes and content controls that is followed."""
MAX_COLUMNS = 200
LONG_CELL_CHARS = 2000
"""A table of at most two columns with a longer cell places text on the page; its cells are written as blocks."""

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_THROUGH = frozenset({W + "sdt", W + "sdtContent", W + "customXml", W + "ins", W + "moveTo", W + "body",
                      _MC + "AlternateContent", _MC + "Choice"})  # fmt: skip


@dataclass(slots=True)
class _ListState:
    """The list being written: its lines, and the levels open from the outside in."""

    lines: list[str]
    levels: list[int]
    number_id: str


class Body:
    """Turns the block content of one part into markdown blocks.

    Args:
        package: The document.
        relations: What the part points to.
        styles: The document's styles.
        numbering: Its lists; one object for all parts, as their counters run on.
        notes: See `RunReader`.
        comments: See `RunReader`.
    """

    def __init__(
        self,
        package: OoxmlPackage,
        relations: dict[str, Relation],
        styles: Styles,
        numbering: Numbering,
        notes: dict[str, int],
        *,
        comments: bool = False,
    ) -> None:
        self._styles = styles
        self._numbering = numbering
        self._runs = RunReader(package, relations, self.blocks, notes, comments=comments)
        self._depth = 0
        self._in_cell = 0
        self._title_above = False
        self._headings = 0

    def blocks(self, node: Element) -> list[str]:
        """The blocks below `node`, none of them blank."""
        out: list[str] = []
        if self._depth >= MAX_DEPTH:
            text = " ".join(text for each in node.iter(W + "t") if (text := each.text))
            return [text] if text.strip() else []
        self._depth += 1
        state = _Writer(out)
        self._fill(node, state)
        state.close()
        self._depth -= 1
        return out

    def _fill(self, node: Element, state: "_Writer", depth: int = 0) -> None:
        for child in node:
            tag = child.tag
            if tag == W + "p":
                self._paragraph(child, state)
            elif tag == W + "tbl":
                state.close()
                state.out.extend(self._table(child))
            elif tag in _THROUGH and depth < MAX_DEPTH:
                self._fill(child, state, depth + 1)

    def _paragraph(self, node: Element, state: "_Writer") -> None:
        properties = node.find(W + "pPr")
        style_node = properties.find(W + "pStyle") if properties is not None else None
        style = self._styles.of(style_node.get(VAL) if style_node is not None else None)
        number_id, number_level = numbering_of(properties) if properties is not None else (None, None)
        number_id = style.number_id if number_id is None else number_id
        level = style.number_level if number_level is None else number_level
        if style.code:
            state.code(self._runs.code(node))
            return
        heading = style.level if style.level is not None else _outline(properties)
        line = self._runs.read(node, emphasis=heading is None)
        label = self._numbering.next(number_id, level) if number_id and self._numbering.knows(number_id) else None
        if not line.text:
            pass
        elif heading is not None and not self._in_cell:
            state.block(self._heading(heading, f"{_number(label)}{line.text}"))
        elif label is not None and number_id:
            state.item(number_id, level, label.marker, f"{label.text} {line.text}" if label.text else line.text)
        else:
            state.block("  \n".join(escape_start(part.strip()) for part in line.text.split("\n") if part.strip()))
        for block in line.after:
            state.block(block)

    def _heading(self, level: int, text: str) -> str:
        """Below a title that opens the document, every heading is one level deeper than its style says."""
        if level == 0 and not self._headings:
            self._title_above = True
        self._headings += 1
        depth = 1 if level == 0 else level + self._title_above
        return f"{'#' * min(depth, 6)} {' '.join(text.split())}"

    def _table(self, node: Element) -> list[str]:
        found = _rows(node, 0)
        if len(found) == 1 and len(cells := _cells(found[0], 0)) == 1:
            return self.blocks(cells[0])  # a frame around its content
        self._in_cell += 1
        rows = [self._row(row) for row in found]
        self._in_cell -= 1
        grid = _merged([row for row in rows if row])
        width = max(map(len, grid), default=0)
        if self._in_cell:  # a table in a cell cannot be a table of its own
            text = "; ".join(" ".join(cell for cell in row if cell) for row in grid)
            return [text.replace("\n", " ")] if text.strip("; ") else []
        longest = max((len(cell) for row in grid for cell in row), default=0)
        if width <= 2 and longest > LONG_CELL_CHARS:
            return [cell for row in grid for cell in row if cell]
        table = markdown_table(grid)
        return [table] if table else []

    def _row(self, node: Element) -> "list[_Cell]":
        properties = node.find(W + "trPr")
        before = properties.find(W + "gridBefore") if properties is not None else None
        skipped = min(whole(before.get(VAL)), MAX_COLUMNS) if before is not None else 0
        row = [_Cell("", skipped, merged=False)] if skipped else []
        for cell in _cells(node, 0):
            properties = cell.find(W + "tcPr")
            span = properties.find(W + "gridSpan") if properties is not None else None
            columns = min(max(whole(span.get(VAL), 1), 1), MAX_COLUMNS) if span is not None else 1
            merge = properties.find(W + "vMerge") if properties is not None else None
            goes_on = merge is not None and merge.get(VAL, "continue") == "continue"
            row.append(_Cell("" if goes_on else "\n".join(self.blocks(cell)), columns, merged=goes_on))
        return row


@dataclass(slots=True)
class _Cell:
    text: str
    columns: int
    merged: bool


class _Writer:
    """Collects blocks, keeping list items and code lines that follow each other in one block."""

    def __init__(self, out: list[str]) -> None:
        self.out = out
        self._list: _ListState | None = None
        self._code: list[str] = []

    def close(self) -> None:
        """End the list or the code block being written."""
        if self._list is not None:
            self.out.append("\n".join(self._list.lines))
            self._list = None
        if any(line.strip() for line in self._code):
            self.out.append("\n".join(["```", *self._code, "```"]))
        self._code = []

    def block(self, text: str) -> None:
        """Add a block of its own."""
        self.close()
        if text.strip():
            self.out.append(text)

    def code(self, line: str) -> None:
        """Add a line of program text."""
        if self._list is not None:
            self.close()
        self._code.append(line)

    def item(self, number_id: str, level: int, marker: str, text: str) -> None:
        """Add a list item; the level shown is the number of lower levels open above it."""
        if self._code or (
            self._list is not None and self._list.number_id != number_id and marker != "- " and not level
        ):
            self.close()
        if self._list is None:
            self._list = _ListState([], [], number_id)
        levels = self._list.levels
        while levels and levels[-1] >= level:
            levels.pop()
        pad = " " * (4 * len(levels))
        levels.append(level)
        self._list.number_id = number_id
        parts = [part.strip() for part in text.split("\n") if part.strip()]
        self._list.lines.append(pad + marker + f"  \n{pad}{' ' * len(marker)}".join(parts))


def _number(label: object) -> str:
    """A heading's own number, as `1.2 `; bullets before headings are left out."""
    marker = getattr(label, "text", "") or getattr(label, "marker", "").strip(" -")
    return f"{marker} " if marker else ""


def _outline(properties: Element | None) -> int | None:
    node = properties.find(W + "outlineLvl") if properties is not None else None
    level = whole(node.get(VAL), 9) if node is not None else 9
    return level + 1 if level < 9 else None


def _rows(node: Element, depth: int) -> list[Element]:
    found: list[Element] = []
    for child in node:
        if child.tag == W + "tr":
            found.append(child)
        elif child.tag in _THROUGH and depth < MAX_DEPTH:
            found.extend(_rows(child, depth + 1))
    return found


def _cells(node: Element, depth: int) -> list[Element]:
    found: list[Element] = []
    for child in node:
        if child.tag == W + "tc":
            found.append(child)
        elif child.tag in _THROUGH and depth < MAX_DEPTH:
            found.extend(_cells(child, depth + 1))
    return found


def _merged(rows: list[list[_Cell]]) -> list[list[str]]:
    """The grid with merged cells written into each place they cover (long ones once)."""
    grid: list[list[str]] = []
    above: list[str] = []
    for row in rows:
        line: list[str] = []
        for cell in row:
            if cell.merged:
                covered = above[len(line) : len(line) + cell.columns]
                line.extend(covered + [""] * (cell.columns - len(covered)))
                continue
            repeated = cell.text if len(cell.text) <= REPEATED_CELL_CHARS else ""
            line.extend([cell.text, *[repeated] * (cell.columns - 1)])
        grid.append(line)
        above = [text if len(text) <= REPEATED_CELL_CHARS else "" for text in line]
    return grid
