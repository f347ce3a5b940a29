"""The change stamp of a file: what tells, without reading, that its content may be another.

A stamp holds size, mtime, inode and ctime, times in nanoseconds. Size and mtime alone miss an edit of equal size whose
mtime was put back (`cp -p`, `rsync -t`, unpacking, some editors); ctime moves with every write and cannot be put back,
and the inode shows another file renamed into the place. Stamps are compared with `==` only, never by order: a restored
older file is a change too. A needless difference (a share that renumbers inodes, a `chmod`) costs one read, after which
equal bytes are recognised. The device is left out because it changes with every mount.

What no stamp shows: a second edit of equal size within the same tick of the file system's clock as a read (up to 10 ms
on Linux before 6.13, none since; 2 s on FAT).
"""

import os
from datetime import UTC, datetime


def stamp(status: os.stat_result) -> str:
    """Return the stamp of a `stat` result."""
    return f"{status.st_size}.{status.st_mtime_ns}.{status.st_ino}.{status.st_ctime_ns}"


def modified(status: os.stat_result) -> datetime | None:
    """Return the mtime in UTC; `None` when it lies outside the years 1 to 9999, as damaged file systems say."""
    try:
        return datetime.fromtimestamp(status.st_mtime, UTC)
    except (OverflowError, ValueError, OSError):
        return None
