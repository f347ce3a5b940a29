"""How an older memory file is brought up to date, and whose file it is.

Step n brings a file from version n to n + 1; an empty file is made at the newest version. All steps run in one
transaction, after a copy of the old file was laid beside it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from corebrain.engines.local import copies, indexing, schema, vector_tables
from corebrain.engines.local.nodes import Registry, area_of, service_depth
from corebrain.engines.local.select import select
from corebrain.errors import ConfigError
from corebrain.model.namespace import Namespace

Step = Callable[[apsw.Connection], None]


def _place_by_area(connection: apsw.Connection) -> None:
    """Version 2: items know their area, collections have tables of their own, and all words are indexed anew."""
    for (shard,) in select(connection, "SELECT shard FROM shards"):
        for table in (f"words_{shard}", f"text_{shard}"):
            connection.execute(f"DROP TABLE {table}")
    connection.execute("DROP TABLE text_beliefs")
    for table in ("shards", "placements", "branches", "passages"):
        connection.execute(f"DROP TABLE {table}")
    highest = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'items'").get
    for index in ("items_by_node", "items_by_kind", "items_by_thread"):
        connection.execute(f"DROP INDEX {index}")
    for table in ("nodes", "items"):
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    connection.execute(schema.TREE + vector_tables.TABLES)
    _take_over_nodes(connection)
    columns = ", ".join(row[1] for row in connection.execute("PRAGMA table_info(old_items)"))
    connection.execute(
        f"INSERT INTO items({columns}, area) SELECT {columns}, "  # noqa: S608  # our own column names
        "(SELECT area FROM nodes n WHERE n.node = o.node) FROM old_items o ORDER BY item"
    )
    for table in ("old_nodes", "old_items"):
        connection.execute(f"DROP TABLE {table}")
    if highest is not None:  # numbers are never reused, not even those of items that are gone
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'items'", (highest,))
    connection.execute(schema.word_index(schema.BELIEF_WORDS))
    indexing.again(connection, Registry(connection))


def _take_over_nodes(connection: apsw.Connection) -> None:
    registry = Registry(connection)
    numbers = {path: node for node, path in select(connection, "SELECT node, path FROM old_nodes")}
    for path, node in numbers.items():
        namespace = Namespace.parse(path)
        area = numbers[str(area_of(namespace))]
        connection.execute(
            "INSERT INTO nodes(node, path, depth, service, branch, area) VALUES (?, ?, ?, ?, ?, ?)",
            (node, path, namespace.depth, service_depth(namespace), registry.branch(namespace), area),
        )


STEPS: tuple[Step, ...] = (_place_by_area,)
"""`STEPS[n - 1]` brings a file from version n to n + 1."""

VERSION = len(STEPS) + 1
"""The version of files this module makes."""


def check_owner(application_id: int, version: int, file: Path, known: int = VERSION) -> None:
    """Raise `ConfigError` for another program's database or a newer version's; nothing has been written then."""
    if application_id != schema.APPLICATION_ID:
        raise ConfigError(f"{file} is a database of another program: name another file for the memory")
    if version > known:
        raise ConfigError(
            f"{file} has schema {version}, this version knows schemas up to {known}: "
            "update corebrain, or name another file"
        )


def bring_up(connection: apsw.Connection, file: Path, steps: Sequence[Step] = STEPS) -> None:
    """Create or migrate the schema in one transaction; a file that is up to date is not touched.

    Before a migration the old file is copied beside itself, as `<name>.v<version>`.
    """
    newest = len(steps) + 1
    if _held(connection, file, newest) == newest:
        return
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _held(connection, file, newest)  # again: another process may have been first
        if version == 0:
            connection.execute(schema.TREE + schema.REST + vector_tables.TABLES)
            connection.execute(schema.word_index(schema.BELIEF_WORDS))
        elif version < newest:
            back_up(connection, file.with_name(f"{file.name}.v{version}"))
            for step in steps[version - 1 :]:
                step(connection)
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def back_up(connection: apsw.Connection, target: Path) -> None:
    """Copy what the connection's file holds, as last committed, to *target* (0600), replacing it."""
    source = apsw.Connection(connection.filename, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        copies.copy(source, target)
    finally:
        source.close()


def _held(connection: apsw.Connection, file: Path, newest: int) -> int:
    """Return the version the file has, 0 for an empty one; refuse what is not ours to touch."""
    owner, version = int(connection.pragma("application_id")), int(connection.pragma("user_version"))
    if owner or version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get is not None:
        check_owner(owner, version, file, newest)
    return version
