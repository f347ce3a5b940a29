"""Markup no browser page holds, refused before the parser spends minutes on it (its cost grows with the square)."""

import re

from corebrain.errors import TooLarge

MAX_NESTING = 15_000
"""Elements open at once. Real pages stay under 100; the parser takes a fifth of a second for this many."""
MAX_ATTRIBUTES = 5_000
"""Attributes of one tag."""

_LONG_TAG = re.compile(r"<[A-Za-z][^<>]{10000,}>")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
# Void elements, and those another tag may end: they do not nest by being left open.
_FLAT = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    "p", "li", "td", "th", "tr", "dt", "dd", "option", "optgroup", "thead", "tbody", "tfoot", "colgroup", "rt", "rp",
    "a", "html", "head", "body", "script", "style",
})  # fmt: skip


def check_bounds(text: str) -> None:
    """Refuse a page whose tags nest or repeat attributes without end.

    Raises:
        TooLarge: It does.
    """
    for match in _LONG_TAG.finditer(text):
        if len(_QUOTED.sub("", match[0]).split()) > MAX_ATTRIBUTES:
            raise TooLarge(f"a tag of the page has more than {MAX_ATTRIBUTES:,} attributes")
    if text.count("<") <= MAX_NESTING:
        return
    depth = 0
    for match in _TAG.finditer(text):
        if match[2].lower() in _FLAT:
            continue
        depth = max(depth - 1, 0) if match[1] else depth + 1
        if depth > MAX_NESTING:
            raise TooLarge(f"the page nests more than {MAX_NESTING:,} elements")
