"""Temporary files of a sync: in one private folder beside the brain, and gone even after a process was killed.

Private copies of large files, what a listing spooled and the parsers' folders hold text of documents. In the system's
temporary folder a killed process would leave them to whoever reads it, long after the documents were deleted.
"""

import hashlib
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from os import getpid
from pathlib import Path
from uuid import uuid4

from pipeline.process import is_alive

FOLDER = "tmp"
OLD_S = 7 * 86_400.0
"""Seconds after which what another machine left is old; whether its processes live cannot be asked here."""


@contextmanager
def temporary_files_in(data: Path) -> Iterator[None]:
    """Put every temporary file of this process into a folder of its own below *data* until the context ends.

    First removes what dead processes left there. For programs, not for libraries: it sets `tempfile.tempdir`. Where
    there is no folder *data* nothing is changed and nothing made.
    """
    if not data.is_dir():
        yield
        return
    _sweep(data / FOLDER)
    mine = data / FOLDER / f"{_machine()}-{getpid()}-{uuid4().hex[:8]}"
    mine.mkdir(mode=0o700, parents=True)
    before, tempfile.tempdir = tempfile.tempdir, str(mine)
    try:
        yield
    finally:
        tempfile.tempdir = before
        shutil.rmtree(mine, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for left in folder.glob("*-*-*"):
        machine, pid, _ = left.name.split("-")
        ours = machine == _machine() and pid.isdecimal()
        if not is_alive(int(pid)) if ours else _age(left) > OLD_S:
            shutil.rmtree(left, ignore_errors=True)


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:  # its owner was quicker
        return 0.0


def _machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
