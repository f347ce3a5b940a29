"""SQLite's errors, told in the contract's words."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from corebrain.errors import CorebrainError, EngineError, Unavailable


def told(error: apsw.Error, file: Path) -> CorebrainError:
    """Return the typed error for *error*: only a busy file, or a read that was cut short, may be tried again."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return Unavailable(f"{file} is busy: another process has been writing to it for too long")
        case apsw.InterruptError():
            return Unavailable(f"reading {file.name} took longer than its deadline allows and was ended")
        case apsw.FullError():
            return EngineError(f"no space left for {file}: free some and try again")
        case apsw.CorruptError() | apsw.NotADBError():
            return EngineError(f"{file} is damaged: restore a backup, or move it away and sync again")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return EngineError(f"{file} cannot be written: check its permissions and those of its folder")
        case apsw.IOError():
            return EngineError(f"the disk of {file} failed ({error}): check its space and health")
        case _:
            return EngineError(f"SQLite failed on {file} ({type(error).__name__}: {error})")


@contextmanager
def translated(file: Path) -> Iterator[None]:
    """Turn any SQLite error of the block into a typed one."""
    try:
        yield
    except apsw.Error as error:
        raise told(error, file) from error
