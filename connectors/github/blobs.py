"""What a git blob is: its id proves its bytes, and a few blobs stand for something else.

Formats: gitformat-objects (`blob <size>NUL<bytes>`, SHA-1 or SHA-256), git-lfs `docs/spec.md` (pointer files).
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_POINTER = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v\d\n"
    rb"(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n(?:[^\n]*\n)*"
)
_POINTER_BYTES = 1024  # the most a pointer takes, by its specification
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class LfsPointer:
    """Stands in a blob for a file that git LFS keeps elsewhere.

    Attributes:
        oid: SHA-256 of the file, 64 hex digits.
        size: Bytes of the file.
    """

    oid: str
    size: int


def lfs_pointer(data: bytes) -> LfsPointer | None:
    """Read a blob as an LFS pointer; `None` when it is a file of its own."""
    if len(data) > _POINTER_BYTES:
        return None
    found = _POINTER.fullmatch(data)
    return LfsPointer(found[1].decode(), int(found[2])) if found else None


def is_blob(data: bytes | Path, sha: str) -> bool:
    """Whether *data* are the bytes of the blob *sha* (40 hex digits, or 64 in a SHA-256 repository)."""
    size = data.stat().st_size if isinstance(data, Path) else len(data)
    digest = hashlib.sha256() if len(sha) == 64 else hashlib.sha1(usedforsecurity=False)
    digest.update(b"blob %d\0" % size)
    for piece in _pieces(data):
        digest.update(piece)
    return digest.hexdigest() == sha


def _pieces(data: bytes | Path) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    with data.open("rb") as file:
        while piece := file.read(_CHUNK):
            yield piece
