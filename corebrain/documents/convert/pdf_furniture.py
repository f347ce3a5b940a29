"""Headers and footers of a PDF: lines that come back at the same place on many pages."""

import re
from collections import Counter

from corebrain.documents.convert.pdf_lines import Line

MIN_PAGES = 3
"""Fewer pages cannot show what repeats."""
EDGE = 0.13
"""Share of a page's height at its top and at its bottom where furniture stands."""
EDGE_LINES = 4
"""Lines at each edge that are looked at."""

_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_STEP = 6.0  # points: lines in the same step stand at the same place


def drop_furniture(pages: list[list[Line]], heights: list[float]) -> list[list[Line]]:
    """The pages without the lines that repeat in their margins; numbers in them may count up.

    A line goes when its words come back, at the same height, on at least a fifth of the pages (left, right and
    first pages may differ) and on three. A page's only lines are never all dropped from a document of that one line.
    """
    if len(pages) < MIN_PAGES:
        return pages
    seen: Counter[tuple[str, int]] = Counter()
    keys: list[dict[int, tuple[str, int]]] = []
    for lines, height in zip(pages, heights, strict=True):
        page_keys = {index: _key(lines[index]) for index in _edge_lines(lines, height)}
        seen.update(set(page_keys.values()))
        keys.append(page_keys)
    filled = sum(bool(lines) for lines in pages)
    wanted = max(MIN_PAGES, 0.2 * filled)
    # A step's neighbour counts too: rounding may split one place into two.
    repeated = {key for key in seen if seen[key] + max(seen[key[0], key[1] - 1], seen[key[0], key[1] + 1]) >= wanted}
    kept = [
        [line for index, line in enumerate(lines) if page_keys.get(index) not in repeated]
        for lines, page_keys in zip(pages, keys, strict=True)
    ]
    return kept if any(kept) else pages


def _edge_lines(lines: list[Line], height: float) -> list[int]:
    order = sorted(range(len(lines)), key=lambda index: lines[index].top)
    upper = [index for index in order[:EDGE_LINES] if lines[index].top <= EDGE * height]
    lower = [index for index in order[-EDGE_LINES:] if lines[index].top >= (1 - EDGE) * height]
    return upper + lower


def _key(line: Line) -> tuple[str, int]:
    return _NUMBER.sub("#", line.text).lower().strip(" .|-\u2013\u2014"), round(line.top / _STEP)
