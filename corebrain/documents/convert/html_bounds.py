"""Markup no browser page holds, refused before the parser spends minutes on it (its cost grows with the square)."""

import re
from collections.abc import Iterator

from corebrain.errors import TooLarge

MAX_NESTING = 15_000
"""Elements open at once. Real pages stay under 100; the parser takes a fifth of a second for this many."""
MAX_ATTRIBUTES = 4_000
"""Attributes of one tag; and of many tags as many as compare as often with each other."""
MAX_OPTIONS = 20_000
"""Entries of all select boxes together."""

_LONG_TAG = 800
_FEW = 100  # attributes that cost nothing worth counting
_TAG_START = re.compile(r"</?[A-Za-z]")
_QUOTED = re.compile(r"\"[^\"]*\"?|'[^']*'?")
_QUOTED_MARKUP = re.compile(r"=\s{0,8}(?:\"[^\"<>]*[<>][^\"]*\"|'[^'<>]*[<>][^']*')")
_CODE = re.compile(r"<(script|style)\b.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE)
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
    if _too_many_attributes(text) and _too_many_attributes(_CODE.sub("", text)):
        raise TooLarge(f"the tags of the page have more than {MAX_ATTRIBUTES:,} attributes")
    if text.count("<") <= MAX_NESTING:
        return
    if text.count("<opt") + text.count("<OPT") > MAX_OPTIONS:
        raise TooLarge(f"the page offers more than {MAX_OPTIONS:,} options")
    depth = 0
    for match in _TAG.finditer(text):
        if match[2].lower() in _FLAT:
            continue
        depth = max(depth - 1, 0) if match[1] else depth + 1
        if depth > MAX_NESTING:
            raise TooLarge(f"the page nests more than {MAX_NESTING:,} elements")


def _too_many_attributes(text: str) -> bool:
    """Whether the attributes, each compared with the others of its tag, are more than the parser can take."""
    if _compared(text):
        return True
    closing = text.count('>"') + text.count(">'")  # a value that holds markup hides the tag it stands in
    return closing >= _FEW and _compared(_QUOTED_MARKUP.sub('=""', text))


def _compared(text: str) -> bool:
    left = MAX_ATTRIBUTES * MAX_ATTRIBUTES
    for tag in _long_tags(text):
        count = len(_QUOTED.sub(" ", tag).replace("/", " ").split())
        left -= count * count if count > _FEW else 0
        if left < 0:
            return True
    return False


def _long_tags(text: str) -> Iterator[str]:
    """Tags long enough to hold many attributes, the last perhaps without an end."""
    for piece in text.split(">"):
        if len(piece) > _LONG_TAG and (start := _TAG_START.search(piece)):
            yield piece[start.start() :]
