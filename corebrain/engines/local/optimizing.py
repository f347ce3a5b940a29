"""Making the file small and quick, and what was forgotten unreadable in it."""

from dataclasses import dataclass

import apsw

from corebrain.engines.local.connection import Database
from corebrain.engines.local.select import select
from corebrain.model.namespace import Namespace


@dataclass(frozen=True, slots=True)
class Optimized:
    """What optimizing came to.

    Attributes:
        before: Bytes of the file and its log before.
        after: Bytes of both after.
        is_settled: Whether all is in the file. Else somebody still read: run it again when they have ended, for the
            old bytes lie in the log's way.
    """

    before: int
    after: int
    is_settled: bool


def optimize(database: Database) -> Optimized:
    """Merge every table of the word index into one piece, drop nodes without items, and write the file anew.

    Deleting overwrites nothing by itself: forgotten text stays in free pages, in the log and in old pieces of the
    index. Afterwards none of it is in the file or its log. Needs free room of twice the file; others read meanwhile,
    writers wait.
    """
    before = _size(database)
    with database.rewriting() as connection:
        tables = [f"text_{row[0]}" for row in connection.execute("SELECT shard FROM shards ORDER BY shard").fetchall()]
        for table in (*tables, "text_beliefs"):
            connection.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")  # noqa: S608  # a name of ours
        _prune(connection)
        connection.execute("VACUUM")
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            settled = False
        else:
            settled = True
    return Optimized(before, _size(database), settled)


def _prune(connection: apsw.Connection) -> None:
    """Drop the nodes that hold nothing, at or below them: their names may be those of people who were forgotten.

    The schema's version moves with it, so that whoever knew the nodes by number asks again before the next write.
    """
    with connection:
        held = select(connection, "SELECT path FROM nodes WHERE node IN (SELECT node FROM items)")
        kept = {str(above) for (path,) in held for above in Namespace.parse(path).ancestors_and_self()}
        nodes = select(connection, "SELECT node, path FROM nodes")
        connection.executemany(
            "DELETE FROM nodes WHERE node = ?", [(node,) for node, path in nodes if path not in kept]
        )
        connection.execute("DELETE FROM placements WHERE branch NOT IN (SELECT branch FROM nodes)")
        connection.execute("DELETE FROM branches WHERE branch NOT IN (SELECT branch FROM nodes)")
        connection.execute("DELETE FROM vector_groups WHERE NOT held")
        connection.pragma("schema_version", int(connection.pragma("schema_version")) + 1)


def _size(database: Database) -> int:
    log = database.file.with_name(f"{database.file.name}-wal")
    return database.file.stat().st_size + (log.stat().st_size if log.exists() else 0)
