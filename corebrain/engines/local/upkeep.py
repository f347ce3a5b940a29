"""Work that must not lie on a turn: merging the word index, embedding what waits, moving the log into the file."""

from collections.abc import Callable
from dataclasses import dataclass

import apsw

from corebrain.engines.local.connection import Database
from corebrain.engines.local.embedding import Meaning

_STEP = 300  # index pages merged between two looks at the clock


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What `maintain` left: pieces of work that wait for the next call; 0 when all is done."""

    left: int


def maintain(database: Database, budget_s: float, clock: Callable[[], float], meaning: Meaning | None = None) -> Upkeep:
    """Merge index segments table by table until *budget_s* seconds are over, embed, then move the log into the file.

    A step already begun is finished, so the budget is overrun by at most one step, one batch and one checkpoint.

    Raises:
        CorebrainError: the embedder failed; the rest was done.
    """
    deadline = clock() + budget_s
    with database.reading() as connection:
        waiting = [row[0] for row in connection.execute("SELECT shard FROM shards ORDER BY shard")]
    while waiting and clock() < deadline:
        with database.writing() as connection:
            if not _merge(connection, f"text_{waiting[0]}"):
                waiting.pop(0)
    try:
        unembedded = 0 if meaning is None else meaning.work(deadline, clock)
    finally:
        kept = database.checkpoint()
    return Upkeep(left=len(waiting) + (1 if kept else 0) + unembedded)


def _merge(connection: apsw.Connection, table: str) -> bool:
    """Merge a little; tell whether there may be more (fewer than two changes mean there is none, FTS5 manual 6.9)."""
    before = connection.total_changes()
    connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('merge', ?)", (_STEP,))  # noqa: S608  # a name of ours
    return connection.total_changes() - before >= 2
