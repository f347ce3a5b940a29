"""Connections to the one file: a locked writer, and a pool of readers beside it.

The file is in WAL mode: readers see the last commit while a writer writes, and several processes share it. Writers
take turns through `BEGIN IMMEDIATE` and SQLite's busy timeout.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import apsw

from corebrain.engines.local import migration, place
from corebrain.engines.local.deadline import Deadline
from corebrain.engines.local.failures import told, translated
from corebrain.engines.local.nodes import Registry
from corebrain.errors import ConfigError, EngineError

Durability = Literal["power", "process"]
_opening = threading.Lock()
BUSY_MS = 10_000
VFS: str | None = None  # SQLite's own; a test names one that records or fails
CHECKPOINT_PAGES = 8_000  # 32 MB: a ceiling for hosts that never call maintain
_CACHE_KIB = {"writer": 65_536, "reader": 16_384}
_IDLE_READERS = 8
_STATEMENTS = 400  # cached statements a connection; a wide fetch has one per table

_opened: dict[tuple[int, int], list[int]] = {}
"""Processes that opened each file, once per open engine, by device and inode.

SQLite keeps its file locks in process memory, which a fork copies without the locks. A forked process that opened
the same file again would believe it held them, so it is refused.
"""


class Database:
    """One memory file. `reading` and `writing` are safe from any thread of the process that opened it.

    Args:
        file: The database file; made, with its folder, when missing.
        durability: `power` keeps every answered write through a power loss, `process` through a crash only.
    """

    def __init__(self, file: Path, *, durability: Durability = "power") -> None:
        self.file = file
        self._synchronous = {"power": "FULL", "process": "NORMAL"}[durability]
        self._pid = os.getpid()
        self._write_lock = threading.RLock()
        self._pool_lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._closed = False
        self._registry: Registry | None = None
        self._known_schema = 0
        with _opening, translated(file):
            place.prepare(file)
            self._holders = self._check()
            self._writer = self._connect("writer")
            try:
                migration.bring_up(self._writer, file)
            except BaseException:
                self._writer.close()
                raise
            self._holders.append(self._pid)

    def _check(self) -> list[int]:
        """Refuse what can be refused unopened; return the list of those who have the file open."""
        status = self.file.stat()
        holders = _opened.setdefault((status.st_dev, status.st_ino), [])
        if any(holder != self._pid for holder in holders):
            raise EngineError(f"{self.file} was open when this process was forked: open it only after the fork")
        if not holders:
            self._check_header()
        return holders

    def _check_header(self) -> None:
        try:
            header = place.read_header(self.file)
        except OSError as error:
            raise ConfigError(f"cannot read {self.file}: {(error.strerror or 'unreadable').lower()}") from error
        if header is None:
            return
        if header.application_id:  # else the log may hold what the header does not say yet
            migration.check_owner(header.application_id, header.user_version, self.file)
        if place.is_truncated(self.file, header):
            raise EngineError(f"{self.file} is cut short: restore a backup, or move it away and sync again")

    def _connect(self, role: Literal["writer", "reader"]) -> apsw.Connection:
        connection = apsw.Connection(
            str(self.file), flags=apsw.SQLITE_OPEN_READWRITE, vfs=VFS, statementcachesize=_STATEMENTS
        )
        connection.set_busy_timeout(BUSY_MS)
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB[role]}")
        connection.execute("PRAGMA temp_store = memory")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        if role == "writer":
            connection.wal_autocheckpoint(CHECKPOINT_PAGES)
        else:
            connection.execute("PRAGMA query_only = on")
        return connection

    def ensure_usable(self) -> None:
        """Raise `EngineError` when this was closed, or opened before a fork."""
        if self._pid != os.getpid():
            raise EngineError("this engine was opened before a fork: open it in the process that uses it")
        if self._closed:
            raise EngineError("this engine is closed: open a new one")

    @contextmanager
    def reading(self, deadline: Deadline | None = None) -> Iterator[apsw.Connection]:
        """Lend a connection inside one read transaction: every statement sees the same commit.

        Raises:
            Unavailable: *deadline* is over; the statement under way has ended.
        """
        connection = self._borrow()
        try:
            with _one_commit(connection), deadline.on(connection, BUSY_MS) if deadline else nullcontext():
                yield connection
        except apsw.Error as error:
            raise told(error, self.file) from error
        finally:
            self._give_back(connection)

    @contextmanager
    def apart(self) -> Iterator[apsw.Connection]:
        """Lend a connection of its own, that may hold temporary tables, inside one read transaction."""
        self.ensure_usable()
        with translated(self.file):
            connection = self._connect("reader")
            try:
                connection.execute("PRAGMA query_only = off")  # it holds for temporary tables too
                with _one_commit(connection):
                    yield connection
            finally:
                connection.close(True)

    def _borrow(self) -> apsw.Connection:
        self.ensure_usable()
        with self._pool_lock:
            if self._idle:
                return self._idle.pop()
        with translated(self.file):
            return self._connect("reader")

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._pool_lock:
            if not self._closed and len(self._idle) < _IDLE_READERS and not connection.in_transaction:
                self._idle.append(connection)
                return
        connection.close(True)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Lend the writer inside one write transaction: committed at the end, undone by any error."""
        self.ensure_usable()
        with self._write_lock:
            self.ensure_usable()
            with translated(self.file):
                self._writer.execute("BEGIN IMMEDIATE")
                try:
                    self._heed_schema()
                    yield self._writer
                    self._writer.execute("COMMIT")
                except BaseException:
                    self._registry = None
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
                    raise

    def _heed_schema(self) -> None:
        """Drop what is known of nodes when the schema has moved: another process may have restored a backup."""
        held = int(self._writer.pragma("schema_version"))
        if held != self._known_schema:
            self._registry = None
            self._known_schema = held

    @contextmanager
    def rewriting(self) -> Iterator[apsw.Connection]:
        """Lend the writer outside any transaction, overwriting what it deletes, for work on the whole file."""
        self.ensure_usable()
        with self._write_lock, translated(self.file):
            self.ensure_usable()
            before = self._writer.pragma("secure_delete")
            self._writer.pragma("secure_delete", "on")
            self._writer.pragma("temp_store", "file")  # a copy of the whole file may not fit in memory
            try:
                yield self._writer
            finally:
                self._registry = None
                self._writer.pragma("secure_delete", before)
                self._writer.pragma("temp_store", "memory")

    @property
    def registry(self) -> Registry:
        """The nodes as the writer knows them; use it only inside `writing`."""
        if self._registry is None:
            self._registry = Registry(self._writer)
        return self._registry

    def checkpoint(self) -> int:
        """Move what the log holds into the file; return the pages that readers still keep in the log."""
        self.ensure_usable()
        with self._write_lock, translated(self.file):
            self.ensure_usable()
            pages, moved = self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return max(0, pages - moved)

    def close(self) -> None:
        """Close every connection; a call under way in another thread ends first, or closes its own. Twice is safe."""
        if self._pid != os.getpid():
            return
        with self._write_lock:
            with self._pool_lock:
                if self._closed:
                    return
                self._closed = True
                idle, self._idle = self._idle, []
            for connection in (*idle, self._writer):
                connection.close(True)
            self._holders.remove(self._pid)


@contextmanager
def _one_commit(connection: apsw.Connection) -> Iterator[None]:
    """Hold a read transaction."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite itself ends one that met a failing disk
            connection.execute("COMMIT")
