"""Copying a whole database by SQLite's own backup, page for page, while others read and write it."""

import os
from pathlib import Path

import apsw

_PAGES = 2_000  # 8 MB between two chances to stop


def copy(source: apsw.Connection, target: Path) -> None:
    """Write what *source* sees to *target* (0600), replacing it; *target* is there whole, on disk, or not at all."""
    fresh = target.with_name(f"{target.name}.part")
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        into = apsw.Connection(str(fresh))
        try:
            pour(source, into)
        finally:
            into.close()
        fresh.replace(target)
    finally:
        for left in (fresh, *(fresh.with_name(fresh.name + suffix) for suffix in ("-wal", "-shm", "-journal"))):
            left.unlink(missing_ok=True)
    sync_folder(target.parent)


def pour(source: apsw.Connection, into: apsw.Connection) -> None:
    """Replace all that *into* holds by what *source* sees, in one transaction of *into*."""
    with into.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(_PAGES)


def sync_folder(folder: Path) -> None:
    """Wait until the names in *folder* are on disk, where a folder can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows: the rename is as durable as it gets
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
