"""Tables of web pages: data tables as markdown, layout tables as the blocks they hold."""

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborNode

from corebrain.documents.convert.html_inline import one_line
from corebrain.documents.tables import markdown_table, spread

if TYPE_CHECKING:
    from corebrain.documents.convert.html_walk import HtmlWalk

MAX_ROWS = 50_000
"""Rows written of one table."""
MAX_SPAN = 200
"""Columns one cell may cover (HTML allows 1000)."""
LONG_CELL_CHARS = 500
"""A cell with tables or headings in it and more text than this places a part of the page."""

_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_GUTTERS = ("lineno", "linenos", "gutter", "line-number", "blob-num")


def table_blocks(walk: "HtmlWalk", table: LexborNode, depth: int) -> list[str]:
    """The blocks a table makes: its caption and one markdown table, or the content of a layout table."""
    rows = _rows(table)
    caption_node = _caption_node(table)
    caption = walk.blocks(caption_node, depth) if caption_node is not None else []
    cells = [_cells(walk, row) for row in rows]
    if _is_layout(walk, table, cells):
        return caption + [block for row in cells for cell in row for block in walk.blocks(cell, depth)]
    nested = walk.in_cell
    walk.in_cell = True
    grid = spread(
        [(_cell(walk, cell, depth), _span(cell, "colspan"), _span(cell, "rowspan")) for cell in row] for row in cells
    )
    walk.in_cell = nested
    if nested:  # a table in a cell cannot be a table of its own
        return [one_line(" ".join(cell for row in grid for cell in row))]
    shown = markdown_table(grid)
    return [*caption, shown] if shown else caption


def _rows(table: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = table.child
    while child is not None and len(found) < MAX_ROWS:
        if child.tag == "tr":
            found.append(child)
        elif child.tag in _SECTIONS:
            found.extend(_rows(child))
        child = child.next
    return found


def _cells(walk: "HtmlWalk", row: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = row.child
    while child is not None:
        if child.tag in {"td", "th"} and child.mem_id not in walk.skipped and not _is_gutter(child):
            found.append(child)
        child = child.next
    return found


def _is_gutter(cell: LexborNode) -> bool:
    """Whether a cell holds the line numbers of a code listing."""
    name = cell.attributes.get("class")
    return name is not None and any(word in name for word in _GUTTERS)


def _is_layout(walk: "HtmlWalk", table: LexborNode, cells: list[list[LexborNode]]) -> bool:
    """Whether the table only places things on the page, and is no grid of data."""
    role = table.attributes.get("role")
    if role in {"presentation", "none", "table", "grid"}:
        return role in {"presentation", "none"}
    headed = any(cell.tag == "th" for row in cells for cell in row) or _caption_node(table) is not None
    if headed and len(cells) > 1:
        return False
    widths = {len(row) for row in cells}
    if table.css_first("td table, td h1, td h2, td h3, th table") is not None:
        # A grid may hold small tables and headings; a page in a table has few rows of unlike width, or long cells.
        return len(cells) < 2 or len(widths) > 1 or max(widths) < 2 or _has_long_cell(walk, cells)
    return max(widths, default=0) <= 1 and not headed


def _has_long_cell(walk: "HtmlWalk", cells: list[list[LexborNode]]) -> bool:
    return any(len(one_line(walk.inline.plain(cell))) > LONG_CELL_CHARS for row in cells for cell in row)


def _caption_node(table: LexborNode) -> LexborNode | None:
    child = table.child
    while child is not None and child.tag != "caption":
        child = child.next
    return child


def _cell(walk: "HtmlWalk", cell: LexborNode, depth: int) -> str:
    """A cell's blocks as lines; code blocks become code lines."""
    lines: list[str] = []
    for block in walk.blocks(cell, depth):
        if block.startswith("```"):
            lines.extend(f"`{line.strip()}`" for line in block.split("\n")[1:-1] if line.strip())
        else:
            lines.append(block.lstrip("#").lstrip() if block.startswith("#") else block)
    return "\n".join(lines)


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name)
    try:
        return min(max(int(value), 1), MAX_SPAN if name == "colspan" else MAX_ROWS) if value else 1
    except ValueError:
        return 1
