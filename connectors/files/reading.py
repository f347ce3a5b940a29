"""Reading a file whole and unchanged: what stands in the blob is what lay on disk at one moment."""

import os
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from connectors.errors import DocumentError, DocumentGone, DocumentRefused, Unavailable
from connectors.files.filesystem import Disk, OutsideRootError, opened_below
from connectors.files.stamp import stamp

IN_MEMORY = 4 * 2**20
"""Bytes up to which a file is kept in memory; a larger one becomes a private copy on disk."""

ATTEMPTS = 3
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was at one moment; `data` is a private copy when it is a path."""

    data: bytes | Path
    status: os.stat_result


def read_below(
    root: str, raw_path: str, label: str, *, known: str | None, max_bytes: int, spool: Path | None, disk: Disk
) -> Content | None:
    """Read a file below *root*; `None` when its stamp still is *known*.

    The stamp before and after the read must agree, and the bytes must be as many as it says; otherwise the file is
    opened and read again, three times in all.

    Args:
        root: An existing folder.
        raw_path: Path below it, `/`-joined names as the system gave them.
        label: What messages call the file.
        known: A stamp at which reading is needless.
        max_bytes: Larger files are refused before a byte is read.
        spool: Folder for private copies of files over `IN_MEMORY`; `None` is the system's.
        disk: Reads from the descriptor.

    Raises:
        DocumentGone: There is no such file any more.
        DocumentRefused: It is too large, unreadable for this user, or leads out of the root.
        DocumentError: It kept changing, or the file system failed.
        Unavailable: There is no room for the private copy.
    """
    for _ in range(ATTEMPTS):
        try:
            with opened_below(root, raw_path) as descriptor:
                before = os.fstat(descriptor)
                _admit(before, label, max_bytes)
                if known is not None and stamp(before) == known:
                    return None
                data = _read_whole(descriptor, before.st_size, label, spool, disk)
                after = os.fstat(descriptor)
        except OSError as error:
            raise _as_document_error(error, label) from error
        if stamp(before) == stamp(after) and _size(data) == after.st_size:
            return Content(data, after)
        _discard(data)
    raise DocumentError(
        f"{label} changed each of the {ATTEMPTS} times it was read", "it is read again at the next sync"
    )


def _admit(status: os.stat_result, label: str, max_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise DocumentGone(f"{label} is no file any more")
    if status.st_size > max_bytes:
        raise DocumentRefused(
            f"{label} has {status.st_size:,} bytes, more than the {max_bytes:,} allowed",
            "split it, raise max_bytes of the source, or exclude it",
        )


def _read_whole(descriptor: int, size: int, label: str, spool: Path | None, disk: Disk) -> bytes | Path:
    """Read until the end, at most one byte more than *size*: a file that grows is noticed, not followed."""
    chunks: list[bytes] = []
    copy = _PrivateCopy(spool, label) if size > IN_MEMORY else None
    left = size + 1
    try:
        while left and (chunk := disk.read(descriptor, min(left, _CHUNK))):
            left -= len(chunk)
            if copy:
                copy.write(chunk)
            else:
                chunks.append(chunk)
    except BaseException:
        if copy:
            copy.discard()
        raise
    return copy.close() if copy else b"".join(chunks)


class _PrivateCopy:
    """A file only this user may read; its own failures are the disk's, not the document's."""

    def __init__(self, spool: Path | None, label: str) -> None:
        self._label = label
        try:
            self._descriptor, name = tempfile.mkstemp(prefix="corebrain-", dir=spool)
        except OSError as error:
            raise self._unavailable(error) from error
        self._path = Path(name)

    def write(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise self._unavailable(error) from error

    def close(self) -> Path:
        os.close(self._descriptor)
        return self._path

    def discard(self) -> None:
        os.close(self._descriptor)
        _discard(self._path)

    def _unavailable(self, error: OSError) -> Unavailable:
        return Unavailable(f"cannot keep a copy of {self._label}: {_reason(error)}; make room in the temporary folder")


def _size(data: bytes | Path) -> int:
    return data.stat().st_size if isinstance(data, Path) else len(data)


def _discard(data: bytes | Path) -> None:
    if isinstance(data, Path):
        with suppress(FileNotFoundError):
            data.unlink()


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _as_document_error(error: OSError, label: str) -> DocumentError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return DocumentGone(f"{label} is not there any more")
    if isinstance(error, OutsideRootError):
        return DocumentRefused(
            f"{label} leads out of its folder", "move what it leads to into the folder, or exclude it"
        )
    if isinstance(error, PermissionError):
        return DocumentRefused(
            f"{label} cannot be read: {_reason(error)}", "let the user that runs this read it, or exclude it"
        )
    return DocumentError(f"{label} cannot be read: {_reason(error)}", "it is read again at the next sync")
