"""Copies of the SQLite state: for a backup at one moment with the engine's, back from one, and emptied to be rebuilt.

All of it goes through SQLite, so a process that has the state open sees each step whole.
"""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from corebrain.engines.local.copies import copy, pour
from pipeline.errors import AlreadyRunning, StateError
from pipeline.state import age
from pipeline.state.database import APPLICATION, BUSY_TIMEOUT_MS, told
from pipeline.state.leases import is_held, new_owner
from pipeline.state.schema import VERSION
from pipeline.state.values import Binding
from pipeline.when import printed

_TABLES = ("meta", "source", "note", "document", "item", "work", "intent", "doomed", "aside", "job", "run")


def copy_state(file: Path, target: Path, meanwhile: Callable[[], None]) -> None:
    """Write the state in *file* to *target* as it is now, and call *meanwhile* while nobody can change it.

    What *meanwhile* fixes of the engine and this copy belong together as after a crash: a sync writes what it is about
    to store before it stores, and what it stored after.

    Raises:
        StateError: The state is damaged or stays locked, or *target* cannot be written.
    """
    with told(str(file)), _open(file) as reader:
        with _open(file) as lock, _written(lock):
            reader.execute("BEGIN")
            reader.execute("SELECT 1 FROM meta LIMIT 1").fetchall()  # only now it is fixed
            meanwhile()
        copy(reader, target)


def binding_of(file: Path) -> Binding | None:
    """Return what the state in *file* belongs to; `None` for a new one.

    Raises:
        StateError: It is no state, damaged, or a newer version's.
    """
    with told(str(file)), _open(file) as connection:
        owner, version = int(connection.pragma("application_id")), int(connection.pragma("user_version"))
        if version and owner != APPLICATION:
            raise StateError(f"{file} is not a brain's state; name what `brain backup` wrote")
        if version > VERSION:
            raise StateError(f"{file} was written by a newer corebrain (state version {version}); upgrade corebrain")
        if connection.execute("PRAGMA quick_check(1)").get != "ok":
            raise StateError(f"{file} is damaged; move it away and the next sync rebuilds it")
        if not version:
            return None
        held = {str(name): str(value) for name, value in connection.execute("SELECT name, value FROM meta")}
        return Binding(held.get("root", ""), held.get("engine", ""), held.get("place", "")) if held else None


def empty_state(file: Path, now: float, *, kept: Path) -> None:
    """Drop all that the state in *file* says, but its leases, and keep a copy in *kept*: the next sync rebuilds it.

    Raises:
        AlreadyRunning: A sync, or `brain run`, holds a lease.
        StateError: The state cannot be written.
    """
    with told(str(file)), _open(file) as connection, _written(connection):
        _refuse_leases(connection, now)
        with _open(file) as reader:  # SQLite copies from no connection that holds the write lock
            copy(reader, kept)
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours


@contextmanager
def held_back(file: Path, names: Iterable[str], now: float) -> Iterator[None]:
    """Hold the leases of *names*, so that nobody syncs them meanwhile.

    Raises:
        AlreadyRunning: A sync, or `brain run`, holds a lease.
        StateError: The state cannot be written.
    """
    owner = new_owner()
    mine = [(name, owner, os.getpid(), socket.gethostname(), now, now) for name in names]
    with told(str(file)), _open(file) as connection, _written(connection):
        _refuse_leases(connection, now)
        connection.executemany("INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?, ?, ?)", mine)
    try:
        yield
    finally:
        with told(str(file)), _open(file) as connection, _written(connection):
            connection.execute("DELETE FROM lease WHERE owner = ?", (owner,))


def pour_state(source: Path, file: Path) -> None:
    """Make *file* hold what the state *source* holds, in one transaction, no lease among it.

    Raises:
        StateError: Either cannot be used.
    """
    with told(str(file)), _open(source) as held, _open(file) as connection:
        held.execute("DELETE FROM lease")  # *source* is our own copy; leases of a backup are long over
        pour(held, connection)
    age.mark_of(str(file)).unlink(missing_ok=True)  # the engine was put back with it


def refuse_leases(file: Path, now: float) -> None:
    """Look for leases in a state that may be of any version, as far as it has them where this one has.

    Raises:
        AlreadyRunning: A sync, or `brain run`, holds a lease.
        StateError: The state cannot be read.
    """
    with told(str(file)), _open(file) as connection, suppress(apsw.SQLError):  # no such table there
        _refuse_leases(connection, now)


def _refuse_leases(connection: apsw.Connection, now: float) -> None:
    host = socket.gethostname()
    rows = connection.execute("SELECT name, owner, pid, host, since, beat FROM lease")
    for name, owner, pid, held_host, since, beat in rows:
        mine = pid == os.getpid() and held_host == host
        if not mine and is_held(owner, pid, held_host, beat, now):
            raise AlreadyRunning(f"{name} is being synced by pid {pid} since {printed(since)}; stop it and try again")


@contextmanager
def _open(file: Path) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("synchronous", "full")
        connection.pragma("secure_delete", "on")
        yield connection


@contextmanager
def _written(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
