"""Writing rows as a markdown table (GitHub's)."""

import re
from collections.abc import Sequence

_BREAKS = re.compile(r"\s*[\r\n\x0b\x0c\x85\u2028\u2029]\s*")
_MAX_PADDED_CELLS = 2_000_000


def cell(text: str) -> str:
    """Text that stays within its cell: a line break becomes `<br>`, a bar is escaped."""
    return _BREAKS.sub("<br>", text.strip()).replace("|", "\\|")


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the head; ragged rows are filled up with empty cells.

    A table that would hold more than two million cells for that is left ragged: renderers fill rows up themselves.
    """
    width = max((len(row) for row in rows), default=0)
    if width == 0:
        return ""
    padded = width if width * len(rows) <= _MAX_PADDED_CELLS else 0
    lines = [_line(rows[0], width), "|" + " - |" * width]
    lines += [_line(row, padded) for row in rows[1:]]
    return "\n".join(lines)


def _line(row: Sequence[str], width: int) -> str:
    cells = [cell(text) for text in row]
    cells += [""] * (width - len(cells))
    return "| " + " | ".join(cells) + " |"
