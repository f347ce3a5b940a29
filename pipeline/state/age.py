"""Whether a state is an older copy of itself, put back beside an engine that went on without it.

Beside the state lies a small file with a number, its *mark*; the state holds the same number. Both grow by one when
documents begin to come or go, the state first. A state whose number is below the mark is older than what was synced
with it: it may not know of documents that were stored, and gone from their source, since. Its sources are listed whole
then, and what the engine holds of them is compared (`pipeline.rebuild`). A missing mark says nothing.
"""

import os
from pathlib import Path

from pipeline.state.database import MEMORY, Database, told

_NUMBER = "SELECT value FROM meta WHERE name = 'number'"


def mark_of(state: str) -> Path:
    """Return the file that holds the mark of a state."""
    return Path(f"{state}.mark")


def check(database: Database) -> None:
    """Make a state that is older than its mark doubt what it says of its sources; bring an older mark up to date."""
    mark = _read(database)
    if mark < _number(database):
        show(database)
    elif mark > _number(database):
        with database.transaction():
            database.rows("UPDATE source SET complete = 0, cursor = NULL")
            database.rows("INSERT OR REPLACE INTO meta VALUES ('number', ?)", (str(mark),))


def advance(database: Database) -> None:
    """Say that documents begin to come or go; part of the transaction that begins it. `show` it when that is over."""
    database.rows("INSERT OR REPLACE INTO meta VALUES ('number', ?)", (str(_number(database) + 1),))


def show(database: Database) -> None:
    """Write the state's number into its mark."""
    if database.path != MEMORY:
        number = _number(database)
        with told(database.path):
            _write(mark_of(database.path), number)


def _number(database: Database) -> int:
    found = database.one(_NUMBER)
    return int(found[0]) if found else 0


def _read(database: Database) -> int:
    if database.path == MEMORY:
        return 0
    try:
        return int(mark_of(database.path).read_text(encoding="ascii"))
    except (OSError, ValueError):  # none, or half written by a power loss
        return 0


def _write(mark: Path, number: int) -> None:
    """Write in place, at one length and in one go: sources are synced side by side, and each writes the mark."""
    handle = os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(handle, f"{number:020d}\n".encode("ascii"))
    finally:
        os.close(handle)
