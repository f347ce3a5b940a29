"""What an OLE file (compound file binary, [MS-CFB]) holds, read from its directory alone.

A bounded reader: it follows the directory chain for at most `MAX_SECTORS` sectors, never a stream, and treats every
number of the file as a possible lie.
"""

import struct
from typing import BinaryIO

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_SECTORS = 256
_END = 0xFFFFFFFA  # the first of the special sector numbers
_NO_ENTRY = 0xFFFFFFFF
_ENTRY_BYTES = 128
_HEADER = struct.Struct("<8s16xHHHHH6xIIIIIIIII")  # [MS-CFB] 2.2, up to the DIFAT


def top_level_names(file: BinaryIO) -> frozenset[str]:
    """Names of the streams and storages directly below the root; empty when the directory cannot be read."""
    file.seek(0)
    head = file.read(512)
    if len(head) < 512 or not head.startswith(SIGNATURE):
        return frozenset()
    shift, directory = _HEADER.unpack_from(head)[4], _HEADER.unpack_from(head)[8]
    if shift not in {9, 12}:  # 512 or 4096 bytes, the only sizes there are
        return frozenset()
    fat_sectors = struct.unpack_from("<109I", head, 76)
    entries = _directory(file, 1 << shift, directory, fat_sectors)
    return _children_of_root(entries)


def _directory(file: BinaryIO, size: int, first: int, fat_sectors: tuple[int, ...]) -> bytes:
    """The directory's bytes, along its chain in the file allocation table."""
    parts: list[bytes] = []
    sector = first
    seen: set[int] = set()
    while sector < _END and sector not in seen and len(seen) < MAX_SECTORS:
        seen.add(sector)
        file.seek((sector + 1) * size)
        parts.append(file.read(size))
        block, index = divmod(sector, size // 4)
        if block >= len(fat_sectors) or fat_sectors[block] >= _END:
            break
        file.seek((fat_sectors[block] + 1) * size + index * 4)
        cell = file.read(4)
        if len(cell) < 4:
            break
        (sector,) = struct.unpack("<I", cell)
    return b"".join(parts)


def _children_of_root(directory: bytes) -> frozenset[str]:
    """Walk the red-black tree that hangs below the root entry."""
    count = len(directory) // _ENTRY_BYTES
    if count == 0:
        return frozenset()
    names: set[str] = set()
    seen: set[int] = set()
    waiting = [struct.unpack_from("<I", directory, 76)[0]]
    while waiting:
        entry = waiting.pop()
        if entry >= count or entry == _NO_ENTRY or entry in seen:
            continue
        seen.add(entry)
        at = entry * _ENTRY_BYTES
        length, _, _, left, right = struct.unpack_from("<HBBII", directory, at + 64)
        raw = directory[at : at + max(0, min(length, 64) - 2)]
        names.add(raw.decode("utf-16-le", "replace"))
        waiting += [left, right]
    return frozenset(names)
