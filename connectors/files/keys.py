"""Names on disk and the keys that stand for them.

A key is the path below the root as a person reads it: NFC, `/` between folders, bytes that are not UTF-8 shown as
U+FFFD. Several names of one folder may then read alike (`é` in two Unicode forms, two different broken bytes); the
first in byte order keeps the plain reading, each later one gets `~` and eight hex digits of the 32-bit FNV-1a of its
raw bytes. A name of ASCII always is its own key: whatever reads like it has a higher first differing byte.

The locator keeps the raw path beside the key, percent-encoded from its bytes, wherever the two differ; opening a file
always goes by it.
"""

import os
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote_from_bytes, unquote_to_bytes

from corebrain.model.text import fnv1a_32


def name_keys(names: Iterable[str]) -> dict[str, str]:
    """Give every raw name of one folder its key, each key once, in byte order of the raw names.

    Args:
        names: All entries of the folder as `os.listdir` gives them (undecodable bytes as surrogates).
    """
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names, key=os.fsencode):
        key = readable(name)
        while key in taken:
            key = f"{key}~{fnv1a_32(os.fsencode(name)):08x}"
        taken.add(key)
        keys[name] = key
    return keys


def readable(name: str) -> str:
    """Return the name in NFC with U+FFFD for every byte that is not UTF-8."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "replace"))


def locator_for(raw_path: str, key: str) -> str:
    """Return the locator of a file: empty when the key itself is the raw path."""
    return "" if raw_path == key else quote_from_bytes(os.fsencode(raw_path))


def raw_path_of(locator: str, key: str) -> str:
    """Return the raw path below the root that `locator_for` was given."""
    return os.fsdecode(unquote_to_bytes(locator)) if locator else key
