"""What differs between Linux, macOS and Windows about files: links, hidden marks, and opening below a root.

Everything else of this package treats a file system the same everywhere.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_FOLDER_FLAGS = (
    getattr(os, "O_PATH", os.O_RDONLY)  # on Linux a folder may be searchable without being readable
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
# O_NONBLOCK: a pipe put in the file's place must not hang the reader. O_BINARY, O_NOINHERIT: Windows.
_FILE_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY", "O_NOINHERIT"):
    _FILE_FLAGS |= getattr(os, _flag, 0)


@dataclass(frozen=True, slots=True)
class Disk:
    """The calls through which a scan and a fetch meet the disk; a test puts its faults here.

    Attributes:
        list_names: Names of a folder, in any order.
        look_at: Status of an entry itself, links not followed.
        read: Bytes from a descriptor, at most as many as wanted, empty at the end.
    """

    list_names: Callable[[str], list[str]] = os.listdir
    look_at: Callable[[str], os.stat_result] = os.lstat
    read: Callable[[int, int], bytes] = os.read


class OutsideRootError(OSError):
    """The path leads out of the root it was opened below."""


def is_link(status: os.stat_result) -> bool:
    """Whether an `lstat` result is a symbolic link, or a junction on Windows."""
    if stat.S_ISLNK(status.st_mode):
        return True
    return sys.platform == "win32" and status.st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT


def is_marked_hidden(status: os.stat_result) -> bool:
    """Whether the system itself hides the entry (an attribute of Windows and macOS, not a dot in the name)."""
    if sys.platform == "win32":
        return bool(status.st_file_attributes & stat.FILE_ATTRIBUTE_HIDDEN)
    return bool(getattr(status, "st_flags", 0) & stat.UF_HIDDEN)


MARKS_HIDDEN = sys.platform in {"win32", "darwin"}
"""Whether `is_marked_hidden` can be true here; spares the call an entry elsewhere."""


def is_inside(real_root: str, real_path: str) -> bool:
    """Whether one resolved path is the other or lies below it."""
    return real_path == real_root or real_path.startswith(real_root.rstrip(os.sep) + os.sep)


@contextlib.contextmanager
def opened_below(root: str, raw_path: str) -> Iterator[int]:
    """Open a file for reading and yield its descriptor; closed afterwards.

    Links on the way are followed as long as the file they lead to lies below the root. Where the system can (not on
    Windows), the resolved path is then walked folder by folder without following anything, so that a link put in the
    way meanwhile fails instead of leading elsewhere.

    Args:
        root: An existing folder.
        raw_path: `/`-joined names as the system gave them.

    Raises:
        OutsideRootError: The path is absolute, holds `..`, or leads out of the root.
        OSError: As opening a file does.
    """
    parts = raw_path.split("/")
    if any(part in {"", ".", ".."} or "\0" in part for part in parts) or (os.sep != "/" and os.sep in raw_path):
        raise OutsideRootError(f"not a path below the root: {raw_path!r}")
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, *parts))
    if not is_inside(real_root, real):
        raise OutsideRootError(f"leads out of the root: {raw_path!r}")
    if os.open in os.supports_dir_fd:
        descriptor = _open_stepwise(real_root, os.path.relpath(real, real_root).split(os.sep))
    else:
        descriptor = os.open(real, _FILE_FLAGS)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_stepwise(real_root: str, names: list[str]) -> int:
    folder = os.open(real_root, _FOLDER_FLAGS)
    try:
        for name in names[:-1]:
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(names[-1], _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)
