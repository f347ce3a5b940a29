"""Markdown tables: the one way every converter writes rows and columns."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

REPEATED_CELL_CHARS = 120
"""A merged cell is repeated in every row and column it covers up to this length; a longer one stands once."""

MAX_WIDTH = 400
"""Columns a row may reach by merged cells."""


def cell_text(text: str) -> str:
    """`text` as it may stand in one cell: one line, its line breaks as `<br>`, its bars escaped."""
    if "\n" in text:
        text = "<br>".join(line for line in map(str.strip, text.split("\n")) if line)
    return text.strip().replace("|", "\\|")


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """A markdown table whose first row is the head; blank rows and blank columns are left out.

    Args:
        rows: Cells as plain text; rows may differ in length.

    Returns:
        The table without a final newline, or an empty string when no cell holds text.
    """
    filled = [cells for row in rows if any(cells := [cell_text(cell) for cell in row])]
    if not filled:
        return ""
    width = max(map(len, filled))
    for row in filled:
        row.extend([""] * (width - len(row)))
    columns = [index for index in range(width) if any(row[index] for row in filled)]
    if len(columns) < width:
        filled = [[row[index] for index in columns] for row in filled]
    lines = [f"| {' | '.join(row)} |" for row in filled]
    lines.insert(1, "|" + " --- |" * len(columns))
    return "\n".join(lines)


def spread(rows: Iterable[Sequence[tuple[str, int, int]]], *, max_cells: int = 200_000) -> list[list[str]]:
    """Rows of (text, columns, rows) cells as a plain grid, merged cells written into each place they cover.

    A row then says by itself what it is about, which is what a search for it needs. Cells over
    `REPEATED_CELL_CHARS` stand once, at their top left. Spans past the last row end there.

    Args:
        rows: The cells of each row in order, without the places covered from above.
        max_cells: Places written in all; past it, spans count as one. No row grows wider than `MAX_WIDTH` by spans.
    """
    grid: list[list[str]] = []
    hanging: _Hanging = {}
    budget = max_cells
    for row in rows:
        line: list[str] = []
        below: _Hanging = {}
        for text, columns, height in row:
            _take_hanging(line, hanging, below)
            copies = max(1, min(columns, MAX_WIDTH - len(line))) if columns <= budget else 1
            shown = text if len(text) <= REPEATED_CELL_CHARS else ""
            if height > 1 and budget > 0:
                below.update({len(line) + offset: (shown, height - 1) for offset in range(copies)})
            line.append(text)
            line.extend([shown] * (copies - 1))
        for column in sorted(hanging):
            line.extend([""] * (column - len(line)))
            _take_hanging(line, hanging, below)
        budget -= len(line)
        grid.append(line)
        hanging = below
    return grid


_Hanging: TypeAlias = dict[int, tuple[str, int]]
"""Column to the text that reaches down into it and the number of rows it still covers."""


def _take_hanging(line: list[str], hanging: _Hanging, below: _Hanging) -> None:
    """Append what reaches down from the rows above, up to the first free place."""
    while (column := len(line)) in hanging:
        text, left = hanging.pop(column)
        line.append(text)
        if left > 1:
            below[column] = (text, left - 1)
