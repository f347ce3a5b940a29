"""The grid of one sheet to markdown: values as shown, merged cells, one table for each block of filled rows."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from python_calamine import CalamineSheet

from corebrain.documents.convert.xlsx_formats import Display
from corebrain.documents.escape import escape_start
from corebrain.documents.tables import REPEATED_CELL_CHARS, markdown_table

MAX_CELLS = 400_000
"""Filled cells written of one workbook."""
MAX_CHARS = 8_000_000
"""Characters of cells written of one workbook."""
MAX_MERGED = 20_000
"""Places filled from merged cells in one sheet."""

Value: TypeAlias = float | str | bool | dt.time | dt.date | dt.timedelta


@dataclass(slots=True)
class Budget:
    """What may still be written of a workbook, and the rows that no longer could be."""

    cells: int = MAX_CELLS
    chars: int = MAX_CHARS
    left_out: int = 0

    def takes(self, row: list[str]) -> bool:
        """Whether a row still fits; it is counted either way."""
        if self.cells <= 0 or self.chars <= 0:
            self.left_out += 1
            return False
        self.cells -= len(row) - row.count("")
        self.chars -= sum(map(len, row))
        return True


def sheet_blocks(
    sheet: CalamineSheet, budget: Budget, displays: Mapping[tuple[int, int], Display] | None = None
) -> list[str]:
    """The blocks of a sheet. A row with one value above a table is a line of text, as is a block of one cell.

    Args:
        sheet: The sheet.
        budget: What may still be written; it is used up.
        displays: Cells, by row and column from 0, whose numbers are shown in a way of their own.
    """
    before = budget.left_out
    grid: list[list[str]] = []
    left = sheet.start[1] if sheet.start else 0
    for at, row in enumerate(sheet.iter_rows()):  # from the sheet's first row, but from its first filled column
        shown = _displayed(row, at, left, displays) if displays else [value_text(value) for value in row]
        if not any(shown):
            grid.append([])
        elif budget.takes(shown):
            grid.append(shown)
    _fill_merged(sheet, grid)
    blocks: list[str] = []
    start = 0
    for end in [*(index for index, row in enumerate(grid) if not row), len(grid)]:
        blocks.extend(_block(grid[start:end]))
        start = end + 1
    if budget.left_out > before:
        blocks.append(f"({budget.left_out - before:,} more rows are not shown)")
    return blocks


def _displayed(row: list[Value], at: int, left: int, displays: Mapping[tuple[int, int], Display]) -> list[str]:
    return [
        display.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and (display := displays.get((at, column)))
        else value_text(value)
        for column, value in enumerate(row, left)
    ]


def value_text(value: Value) -> str:
    """A cell's value as text: ISO dates, whole numbers without a fraction, fifteen digits as Excel holds them."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return str(int(value)) if value == value // 1 and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time.min
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="auto").split(".")[0]
    if isinstance(value, dt.timedelta):
        seconds = round(value.total_seconds())
        sign = "-" if seconds < 0 else ""
        hours, rest = divmod(abs(seconds), 3600)
        return f"{sign}{hours}:{rest // 60:02d}:{rest % 60:02d}"
    return value.isoformat()


def _fill_merged(sheet: CalamineSheet, grid: list[list[str]]) -> None:
    """Write a merged cell into the places it covers, where its row holds more than that cell."""
    ranges, origin = sheet.merged_cell_ranges, sheet.start
    if not ranges or origin is None:
        return
    places = 0
    for (top, left), (bottom, right) in ranges:
        row, column = top, left - origin[1]
        if not (0 <= row < len(grid) and 0 <= column < len(grid[row])):
            continue
        text = grid[row][column]
        alone = len(grid[row]) - grid[row].count("") == 1
        if not text or alone or len(text) > REPEATED_CELL_CHARS:
            continue
        for line in grid[row : bottom + 1]:
            width = min(right - origin[1] + 1, len(line))
            for at in range(column, width):
                line[at] = line[at] or text
            places += max(width - column, 0)
        if places > MAX_MERGED:
            return


def _block(rows: list[list[str]]) -> list[str]:
    """A block of filled rows: leading rows of one value as text, the rest as a table."""
    lines: list[str] = []
    start = 0
    while start < len(rows) and len(rows[start]) - rows[start].count("") == 1:
        lines.append(next(cell for cell in rows[start] if cell))
        start += 1
    if start == len(rows) and len(rows) > 1:  # a single column, or a staircase
        start, lines = 0, []
    text = ["  \n".join(escape_start(part.strip()) for part in line.split("\n") if part.strip()) for line in lines]
    table = markdown_table(rows[start:])
    return [block for block in (*text, table) if block]
