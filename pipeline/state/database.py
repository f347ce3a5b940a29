"""One SQLite file for the state: opened once, locked, owner-only, and never of the wrong version."""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from pipeline.errors import StateError
from pipeline.state.schema import MIGRATIONS, TABLES, VERSION

BUSY_TIMEOUT_MS = 10_000
SYNCHRONOUS = "full"
"""Every commit waits for the disk: what was recorded outlives a power loss."""

VFS: str | None = None  # SQLite's own; a test names one that records
APPLICATION = 0x62726E73  # "brns" in the file's header: a brain's state
MEMORY = ":memory:"


class Database:
    """A connection and its lock. Statements run one at a time; a transaction holds the lock to its end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._open = True
        self._in_transaction = False
        with told(path):
            if path != MEMORY:
                _create_private(Path(path))
            self._connection = apsw.Connection(path, vfs=VFS)
            self._connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            self._prepare()

    def _prepare(self) -> None:
        version = self._pragma("user_version")
        if version and self._pragma("application_id") != APPLICATION:
            raise StateError(f"{self.path} is not a brain's state; move it away or name another data folder")
        if version > VERSION:
            raise StateError(
                f"{self.path} was written by a newer corebrain (state version {version}, this one knows {VERSION});"
                " upgrade corebrain, or run `brain verify --fix` to read everything again into a state of this version"
            )
        self._pragma("journal_mode", "wal")
        self._pragma("synchronous", SYNCHRONOUS)
        self._pragma("secure_delete", "on")
        if version < VERSION:
            self._migrate(version)

    def _migrate(self, version: int) -> None:
        with self.transaction():
            if self._pragma("user_version") == version:  # nobody else was quicker
                for statements in [MIGRATIONS[step] for step in range(version, VERSION)] if version else [TABLES]:
                    self._connection.execute(statements)
                self._pragma("application_id", APPLICATION)
                self._pragma("user_version", VERSION)

    def copy_to(self, path: str) -> None:
        """Write a consistent copy to *path*, while others read and write."""
        with self._lock:
            target = apsw.Connection(path)
            with target.backup("main", self._connection, "main") as work:
                work.step()
            target.close()

    def _pragma(self, name: str, value: int | str | None = None) -> Any:
        return self._connection.pragma(name, value) if value is not None else self._connection.pragma(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; commit at the end, roll back when anything was raised."""
        with self._lock, told(self.path):
            if self._in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            self._in_transaction = True
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if not self._connection.get_autocommit():
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._in_transaction = False

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is open."""
        return self._in_transaction

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return all its rows."""
        with self._lock, told(self.path):
            return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Run one statement and return its first row."""
        with self._lock, told(self.path):
            row: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
            return row

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row, inside the current transaction or one of its own."""
        with self.transaction():
            self._connection.executemany(sql, rows)

    def truncate_log(self) -> None:
        """Write the log into the file and empty it, so that no old byte stays in it; not while others read it."""
        with self._lock, told(self.path):
            self._connection.set_busy_timeout(0)
            try:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except (apsw.BusyError, apsw.LockedError):
                pass  # the next sync that removes something does it, or the last to close the file
            finally:
                self._connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    def close(self) -> None:
        """Close the file; closing twice is safe."""
        with self._lock:
            if self._open:
                self._open = False
                self._connection.close()


def _create_private(path: Path) -> None:
    """Make the file before SQLite does, readable by its owner only; WAL and SHM take its mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


@contextmanager
def told(path: str) -> Iterator[None]:
    """Turn SQLite's errors, and the file system's, into ones that say what to do."""
    try:
        yield
    except apsw.NotADBError as error:
        raise StateError(f"{path} is not a database; move it away and the next sync rebuilds it") from error
    except apsw.CorruptError as error:
        raise StateError(f"{path} is damaged; move it away and the next sync rebuilds it") from error
    except apsw.FullError as error:
        raise StateError(f"no space left to write {path}; free some and run the command again") from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.IOError) as error:
        raise StateError(f"cannot write {path} ({error}); check its permissions and the disk") from error
    except apsw.BusyError as error:
        raise StateError(f"{path} stays locked by another process; wait for it to end and try again") from error
    except OSError as error:
        raise StateError(f"cannot open {path}: {error.strerror or error}; check the folder's permissions") from error
