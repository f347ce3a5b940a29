"""Backups: a copy of one commit while others write, and putting such a copy back under the feet of whoever reads.

A restore goes through SQLite too. It is one transaction on the file, so another process that has it open sees all of it
or nothing, and a crash leaves the old memory or the new one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from corebrain.engines.local import copies, migration, place
from corebrain.engines.local.connection import BUSY_MS, Database
from corebrain.engines.local.failures import translated
from corebrain.errors import ConfigError, EngineError

_LOGS = ("-wal", "-shm")


class Snapshot:
    """The memory as it was when this was made, until it is closed. The log grows while it is held."""

    def __init__(self, database: Database) -> None:
        database.ensure_usable()
        self._file = database.file
        with translated(self._file):
            self._connection = apsw.Connection(str(self._file), flags=apsw.SQLITE_OPEN_READONLY)
            self._connection.set_busy_timeout(BUSY_MS)
            self._connection.execute("BEGIN")
            self._connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()  # only now it is fixed

    def copy_to(self, target: Path) -> None:
        """Write it to *target* (0600), whole or not at all, replacing what was there.

        Raises:
            EngineError: the disk is full or cannot be written.
            ConfigError: *target* is the memory itself, or its folder cannot be used.
        """
        if target.exists() and target.samefile(self._file):
            raise ConfigError(f"{target} is the memory itself: name another file for its backup")
        with translated(target), _usable(target):
            copies.copy(self._connection, target)

    def close(self) -> None:
        """Let go of it; closing twice is safe."""
        self._connection.close(True)


@contextmanager
def snapshot(database: Database) -> Iterator[Snapshot]:
    """Hold a snapshot of *database*."""
    held = Snapshot(database)
    try:
        yield held
    finally:
        held.close()


def check(backup: Path) -> None:
    """Refuse what is no whole memory of this version or an older one; nothing is changed.

    Raises:
        ConfigError: there is no such file, it is another program's, or a newer version's.
        EngineError: it is damaged or cut short.
    """
    with _opened(backup):
        pass


@contextmanager
def _opened(backup: Path) -> Iterator[apsw.Connection]:
    """Lend a connection to a checked backup."""
    if not backup.is_file() or not backup.stat().st_size:
        raise ConfigError(f"there is no backup at {backup}: name the file that a backup wrote")
    log = backup.with_name(f"{backup.name}-wal")
    alone = not log.exists() or not log.stat().st_size
    uri = f"{backup.absolute().as_uri()}?mode=ro" + ("&immutable=1" if alone else "")  # a folder may be read-only
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        with translated(backup):
            try:
                owner, version = int(connection.pragma("application_id")), int(connection.pragma("user_version"))
            except apsw.NotADBError as error:
                raise ConfigError(f"{backup} is not a corebrain memory: name the file that a backup wrote") from error
            migration.check_owner(owner, version, backup)
            found = str(connection.execute("PRAGMA quick_check(1)").get)
        if found != "ok":
            raise EngineError(f"{backup} is damaged ({found.splitlines()[-1]}): use another backup")
        yield connection
    finally:
        connection.close(True)


def restore(backup: Path, file: Path) -> Path | None:
    """Make *file* hold what *backup* holds; return where the old memory is kept, `None` when there was none.

    Engines that have the file open, in this process and others, see the restored memory from their next call on.

    Raises:
        ConfigError: *backup*, or *file*, is another program's or a newer version's, or cannot be used.
        EngineError: *backup* is damaged, or the disk failed; the old memory is as it was.
        Unavailable: another process kept writing for too long.
    """
    with _opened(backup) as source:
        if file.exists() and file.samefile(backup):
            raise ConfigError(f"{backup} is the memory itself: name a backup of it")
        place.prepare(file)
        with translated(file), _usable(file):
            kept = _kept(file)
            into = apsw.Connection(str(file))
            try:
                into.set_busy_timeout(BUSY_MS)
                into.execute("PRAGMA synchronous = full")
                copies.pour(source, into)
                migration.bring_up(into, file)
            finally:
                into.close()
    return kept


def _kept(file: Path) -> Path | None:
    """Keep the memory in *file* under a name of its own; one that is damaged is moved there with its log."""
    if not file.stat().st_size:
        return None
    aside = _free_name(file)
    connection = apsw.Connection(str(file))
    try:
        connection.set_busy_timeout(BUSY_MS)
        owner, version = int(connection.pragma("application_id")), int(connection.pragma("user_version"))
        if (owner, version) == (0, 0) and connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is None:
            return None
        migration.check_owner(owner, version, file)
        sound = connection.execute("PRAGMA quick_check(1)").get == "ok"
        if sound:
            copies.copy(connection, aside)
    except (apsw.CorruptError, apsw.NotADBError):
        sound = False
    finally:
        connection.close(True)
    if not sound:
        _move(file, aside)
    return aside


def _move(file: Path, aside: Path) -> None:
    """Move a damaged file away with its log, which holds its last writes, and leave an empty one."""
    for suffix in ("", *_LOGS):
        part = file.with_name(file.name + suffix)
        if part.exists():
            part.replace(aside.with_name(aside.name + suffix))
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))


def _free_name(file: Path) -> Path:
    number = 1
    while (aside := file.with_name(f"{file.name}.before-restore-{number}")).exists():
        number += 1
    return aside


@contextmanager
def _usable(target: Path) -> Iterator[None]:
    """Turn what the file system refuses into a typed error."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise ConfigError(f"cannot write {target}: {reason}; name a place this user may write") from error
