"""Words about text that the whole contract shares: what is blank, what is whitespace, what can be stored.

Whitespace is Unicode White_Space (spec 01): unlike `str.split`, U+001C to U+001F do not count.
"""

import re

from corebrain.errors import InvalidRequest

WHITESPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_RUN = re.compile(f"[{WHITESPACE}]+")


def is_blank(text: str) -> bool:
    """Tell whether *text* is empty or only whitespace."""
    return not text.strip(WHITESPACE)


def trim(text: str) -> str:
    """Return *text* without leading and trailing whitespace."""
    return text.strip(WHITESPACE)


def collapse(text: str) -> str:
    """Return *text* trimmed, every run of whitespace made one space."""
    return _RUN.sub(" ", text).strip(" ")


def fnv1a_32(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash of *data* (offset basis 0x811c9dc5, prime 0x01000193)."""
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def utf8(text: str) -> bytes:
    """Return *text* as UTF-8.

    Raises:
        InvalidRequest: *text* holds a lone surrogate, which no store can keep. Replace it first.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRequest("text holds a lone surrogate and cannot be stored") from error
