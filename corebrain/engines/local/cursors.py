"""Cursors: where a page ended, bound to the request it belongs to."""

import hashlib
import re

from corebrain.errors import InvalidRequest

_FORM = re.compile(r"([0-9a-f]{1,16})\.([0-9a-f]{12})", re.ASCII)


def write(position: int, *request: object) -> str:
    """Return a cursor for *position* in the answers to *request*."""
    return f"{position:x}.{_digest(request)}"


def read(cursor: str | None, *request: object) -> int | None:
    """Return the position, `None` without a cursor.

    Raises:
        InvalidRequest: the cursor is not ours, or belongs to another filter, query or mode.
    """
    if cursor is None:
        return None
    match = _FORM.fullmatch(cursor)
    if match is None:
        raise InvalidRequest(f"unknown cursor {cursor[:40]!r}")
    if match[2] != _digest(request):
        raise InvalidRequest("the cursor belongs to another request: pass it back with the same filter, query and mode")
    return int(match[1], 16)


def _digest(request: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(request).encode("utf-8", "backslashreplace")).hexdigest()[:12]
