"""Who may write a source's books: one process at a time, until it releases the lease, dies, or is not heard of."""

import os
import socket

from pipeline.errors import AlreadyRunning
from pipeline.process import identity_of, is_alive
from pipeline.state.database import Database
from pipeline.when import printed

LEASE_S = 120.0
"""Seconds without a beat after which a lease may be taken over, where its owner cannot be asked for."""


def new_owner() -> str:
    """Return a name for a new lease of this process, which tells the process from a later one with its number."""
    return f"{os.urandom(8).hex()}@{identity_of(os.getpid())}"


def is_held(owner: str, pid: int, host: str, beat: float, now: float) -> bool:
    """Whether a lease stands.

    Where the system tells processes apart, one of this machine holds its leases for as long as it lives: it may have
    slept, and goes on writing when it wakes. Elsewhere the last beat decides. A beat from the future was written before
    a clock was set back: of another machine it must not hold the source for years.
    """
    if host != socket.gethostname():
        return beat - LEASE_S < now < beat + LEASE_S
    identity = owner.partition("@")[2]
    if identity:
        return is_alive(pid) and identity_of(pid) == identity
    return now < beat + LEASE_S and is_alive(pid)


class SqliteLease:
    """A row that names its owner. A lease ends when it is released, or when `is_held` says so."""

    def __init__(self, database: Database, name: str, now: float) -> None:
        self._database = database
        self._name = name
        self._owner = new_owner()
        with database.transaction():
            held = database.one("SELECT owner, pid, host, since, beat FROM lease WHERE name = ?", (name,))
            if held is not None:
                owner, pid, host, since, beat = held
                if is_held(owner, pid, host, beat, now):
                    silent = f", without a sign of life since {printed(beat)}: end it if it hangs"
                    told = f"already running: pid {pid} since {printed(since)}"
                    raise AlreadyRunning(told + (silent if beat + LEASE_S <= now else ""))
            database.rows(
                "INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?, ?, ?)",
                (name, self._owner, os.getpid(), socket.gethostname(), now, now),
            )

    def beat(self, now: float) -> None:
        self._database.rows("UPDATE lease SET beat = ? WHERE name = ? AND owner = ?", (now, self._name, self._owner))

    def release(self) -> None:
        self._database.rows("DELETE FROM lease WHERE name = ? AND owner = ?", (self._name, self._owner))
