"""What a zip archive says it holds, read from its directory alone and bounded: nothing is ever inflated here."""

import struct
from typing import BinaryIO

SIGNATURE = b"PK\x03\x04"
_EMPTY = b"PK\x05\x06"
_CENTRAL = b"PK\x01\x02"
MAX_DIRECTORY_BYTES = 256 * 1024
_TAIL_BYTES = 22 + 0xFFFF  # end record and the longest comment (APPNOTE 4.3.16)


def member_names(file: BinaryIO) -> list[str]:
    """Names in the central directory, in order, from its first 256 KiB.

    A damaged or cut archive has none there; then the names of the local headers in its first 64 KiB.
    """
    end = file.seek(0, 2)
    start = max(0, end - _TAIL_BYTES)
    file.seek(start)
    tail = file.read(_TAIL_BYTES)
    at = tail.rfind(_EMPTY)
    if at >= 0 and len(tail) >= at + 22:
        size, _ = struct.unpack_from("<II", tail, at + 12)
        # The directory ends where the end record starts, whatever offset is claimed (archives may have a prefix).
        file.seek(max(0, start + at - size))
        names = _names(file.read(min(size, MAX_DIRECTORY_BYTES)), _CENTRAL, name_length=28, name=46)
        if names:
            return names
    file.seek(0)
    return _names(file.read(64 * 1024), SIGNATURE, name_length=26, name=30)


def declared_type(file: BinaryIO) -> str | None:
    """The text of a first, stored member called `mimetype` (ODF and EPUB), else `None`."""
    file.seek(0)
    head = file.read(30 + 8 + 256)
    if len(head) < 38 or not head.startswith(SIGNATURE) or head[30:38] != b"mimetype":
        return None
    method, size, extra = struct.unpack_from("<8xH8xI6xH", head)
    # A stored member whose size follows it (bit 3) says 0 here: then the next header ends it.
    text = head[38 + extra : 38 + extra + size] if size else head[38 + extra :].split(b"PK")[0]
    return None if method else text.decode("ascii", "replace").strip()


def _names(block: bytes, signature: bytes, *, name_length: int, name: int) -> list[str]:
    names: list[str] = []
    at = block.find(signature)
    while at >= 0 and at + name <= len(block):
        (length,) = struct.unpack_from("<H", block, at + name_length)
        names.append(block[at + name : at + name + length].decode("utf-8", "replace"))
        at = block.find(signature, at + name + length)
    return names
